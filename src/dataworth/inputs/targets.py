"""Training targets: class labels or numbers, and what follows from which of the two they are."""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.inputs import checks


class Targets(Protocol):
    """The targets of training points."""

    @property
    def codes(self) -> Array:
        """What a game takes: class codes, or numbers."""

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 for numbers."""

    @property
    def stratified(self) -> bool:
        """Whether folds are to keep the shares of the classes."""

    def given(self) -> Array:
        """The targets as they were given."""

    def read(self, y_val: Any, n_points: int) -> Array:
        """The codes of validation targets."""

    def names(self, codes: Array) -> Array:
        """The targets behind codes."""

    def part(self, index: Ints) -> "Targets":
        """The targets of some of the points; classes are numbered among those that these have."""

    def suggested(self, index: Ints, weights: Floats) -> Any:
        """What points at these positions predict with these weights."""


@dataclass(frozen=True)
class Labels:
    """Class labels."""

    codes: Ints
    classes: Array
    stratified = True

    @classmethod
    def of(cls, y: Any, n_points: int | None) -> Self:
        """The labels given to `fit`; `n_points` is the number of rows of X, if there is an X."""
        labels = checks.labels(y, "y", n_points=n_points, of="X")
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(codes.astype(np.int64), classes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.classes.size

    def given(self) -> Array:
        """The labels as they were given."""
        return self.classes[self.codes]

    def read(self, y_val: Any, n_points: int) -> Ints:
        """The codes of validation labels, each of which must be a class here."""
        labels = checks.labels(y_val, "y_val", n_points=n_points, of="X_val")
        return checks.encode(labels, self.classes, "y_val")

    def names(self, codes: Array) -> Array:
        """The labels behind codes."""
        return self.classes[codes]

    def part(self, index: Ints) -> "Labels":
        """The labels of some of the points; classes are numbered among those that these have."""
        present, codes = np.unique(self.codes[index], return_inverse=True)
        return Labels(codes.astype(np.int64), self.classes[present])

    def suggested(self, index: Ints, weights: Floats) -> Any:
        """The label with the most weight; the first of the sorted labels where several have it."""
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
        """The numbers given to `fit`; `n_points` is the number of rows of X, if there is an X."""
        return cls(checks.targets(y, "y", n_points=n_points, of="X"))

    def given(self) -> Floats:
        """The numbers as they were given."""
        return self.codes

    def read(self, y_val: Any, n_points: int) -> Floats:
        """Validation targets."""
        return checks.targets(y_val, "y_val", n_points=n_points, of="X_val")

    def names(self, codes: Array) -> Array:
        """The targets behind codes: themselves."""
        return codes

    def part(self, index: Ints) -> "Numbers":
        """The targets of some of the points."""
        return Numbers(self.codes[index])

    def suggested(self, index: Ints, weights: Floats) -> float:
        """The weighted mean."""
        return float(weights @ self.codes[index] / weights.sum())
