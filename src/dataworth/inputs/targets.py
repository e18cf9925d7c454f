"""Training targets: class labels or numbers, and everything that depends on which they are."""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputTypeError
from dataworth.inputs import checks


class Targets(Protocol):
    """The targets of training points."""

    @property
    def codes(self) -> Array:
        """Class codes, or numbers, as a game takes them."""

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 for numbers."""

    @property
    def stratified(self) -> bool:
        """Whether each fold should have the same shares of the classes."""

    def given(self) -> Array:
        """Return the targets as they were given."""

    def read(self, y_val: Any, n_points: int) -> Array:
        """Check validation targets and return their codes."""

    def names(self, codes: Array) -> Array:
        """Return the targets that these codes stand for."""

    def part(self, index: Ints) -> "Targets":
        """Return the targets of some of the points; codes count only the classes among them."""

    def suggested(self, index: Ints, weights: Floats) -> Any:
        """Return what the points at these positions predict with these weights."""


@dataclass(frozen=True)
class Labels:
    """Class labels."""

    codes: Ints
    classes: Array
    stratified = True

    @classmethod
    def of(cls, y: Any, n_points: int | None) -> Self:
        """Check the labels given to `fit`; `n_points` is the number of rows of X, if known."""
        if y is None:  # in words that scikit-learn looks for
            came, hint = "got None", "In fit, y should be a 1d array."
            raise InputTypeError("y", "be an array of labels", came, hint)
        labels = checks.labels(y, "y", n_points=n_points, of="X")
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(codes.astype(np.int64), classes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.classes.size

    def given(self) -> Array:
        """Return the labels as they were given."""
        return self.classes[self.codes]

    def read(self, y_val: Any, n_points: int) -> Ints:
        """Check validation labels, which must be known classes, and return their codes."""
        labels = checks.labels(y_val, "y_val", n_points=n_points, of="X_val")
        return checks.encode(labels, self.classes, "y_val")

    def names(self, codes: Array) -> Array:
        """Return the labels that these codes stand for."""
        return self.classes[codes]

    def part(self, index: Ints) -> "Labels":
        """Return the labels of some of the points; codes count only the classes among them."""
        present, codes = np.unique(self.codes[index], return_inverse=True)
        return Labels(codes.astype(np.int64), self.classes[present])

    def suggested(self, index: Ints, weights: Floats) -> Any:
        """Return the label with the most weight, the first in sorted order if there are several."""
        votes = np.bincount(self.codes[index], weights, self.n_classes)
        return self.classes[int(votes.argmax())]


@dataclass(frozen=True)
class Numbers:
    """Numeric targets."""

    codes: Floats
    n_classes = 0
    stratified = False

    @classmethod
    def of(cls, y: Any, n_points: int | None) -> Self:
        """Check the numbers given to `fit`; `n_points` is the number of rows of X, if known."""
        return cls(checks.targets(y, "y", n_points=n_points, of="X"))

    def given(self) -> Floats:
        """Return the numbers as they were given."""
        return self.codes

    def read(self, y_val: Any, n_points: int) -> Floats:
        """Check validation targets and return them."""
        return checks.targets(y_val, "y_val", n_points=n_points, of="X_val")

    def names(self, codes: Array) -> Array:
        """Return the codes, which are the targets themselves."""
        return codes

    def part(self, index: Ints) -> "Numbers":
        """Return the targets of some of the points."""
        return Numbers(self.codes[index])

    def suggested(self, index: Ints, weights: Floats) -> float:
        """Return the weighted mean."""
        return float(weights @ self.codes[index] / weights.sum())
