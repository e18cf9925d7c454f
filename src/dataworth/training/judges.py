"""Judges: how much each validation point counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError
from dataworth.inputs import checks
from dataworth.inputs.targets import Targets
from dataworth.settings import Settings
from dataworth.training.folds import Fold


@dataclass(frozen=True)
class Judges:
    """How much the validation points of a run count, in the order of the first folds.

    Attributes
    ----------
    factors : (n_val,) array
        By how much what each of them says is multiplied. All are 1 unless the user gave weights.
    positions : (n_val,) array of int
        Their positions, as in `Fold`.
    """

    factors: Floats
    positions: Ints

    @classmethod
    def of(
        cls, settings: Settings, targets: Targets, folds: Sequence[Fold], sample_weight: Any
    ) -> "Judges":
        """Check the weights of a run, and multiply those of points and of classes.

        Parameters
        ----------
        settings : Settings
            The parameters of the run, of which `class_weight` is used.
        targets : Targets
            The targets of the training points.
        folds : sequence of Fold
            Its folds.
        sample_weight : array or None
            One number per validation point or, if training points judge each other, per training
            point.

        Returns
        -------
        Judges
            How much each validation point counts.
        """
        labels = np.concatenate([fold.labels() for fold in folds])
        factors = np.ones(labels.size)
        if sample_weight is not None:
            factors = _largest_1(_checked(sample_weight, folds), "sample_weight")
        if settings.class_weight is not None:
            codes, classes = targets.read(labels, labels.size), np.arange(targets.n_classes)
            if settings.class_weight == "balanced":
                each = _balanced(codes[factors > 0.0], classes.size)
            else:
                each = _given(settings.class_weight, targets.names(classes))
            factors = _largest_1(factors * each[codes], "class_weight")
        return cls(factors, positions_of(folds))

    def places(self, folds: Sequence[Fold]) -> Ints:
        """Return where each validation point of these folds is among the judges.

        They are the same points, in another order only if each of them judges once.
        """
        positions = positions_of(folds)
        if np.array_equal(positions, self.positions):
            return np.arange(positions.size)
        place = np.empty(folds[0].n_sources, np.int64)
        place[self.positions] = np.arange(positions.size)
        return place[positions]

    @property
    def total(self) -> float:
        """What they count together."""
        return float(self.factors.sum())

    @property
    def number(self) -> int:
        """How many of them count."""
        return int(np.count_nonzero(self.factors))

    @property
    def effective(self) -> float:
        """How many judges of equal weight would give a mean that varies as much."""
        return self.total**2 / self.squares

    @property
    def squares(self) -> float:
        """The sum of the squares of the factors."""
        return float(self.factors @ self.factors)


def positions_of(folds: Sequence[Fold]) -> Ints:
    """Return the positions of the validation points of all folds, one after the other."""
    return np.concatenate([fold.positions for fold in folds])


def _checked(sample_weight: Any, folds: Sequence[Fold]) -> Floats:
    """Return the weights of the points that judge."""
    n_points, of = folds[0].n_sources, "X" if folds[0].inside else "X_val"
    weights = checks.targets(sample_weight, "sample_weight", n_points=n_points, of=of)
    if weights.min() < 0.0:
        came = f"got {float(weights.min())!r}"
        raise InputError("sample_weight", "hold no negative numbers", came)
    return weights[positions_of(folds)]


def _largest_1(factors: Floats, name: str) -> Floats:
    """Return factors in units of the largest, so that no sum of them overflows."""
    if not factors.any():
        raise InputError(name, "let some validation point count", "all weights are 0")
    return factors / factors.max()


def _balanced(codes: Ints, n_classes: int) -> Floats:
    """Return weights with which all classes among these count the same."""
    counts = np.bincount(codes, minlength=n_classes)
    return np.divide(
        codes.size, np.count_nonzero(counts) * counts, where=counts > 0, out=0.0 * counts
    )


def _given(by_label: Mapping[Any, float], classes: Array) -> Floats:
    """Return the weight of each class, which is 1 if it is not given."""
    if by_label:
        checks.encode(checks.labels(list(by_label), "class_weight"), classes, "class_weight")
    return np.array([float(by_label.get(label, 1.0)) for label in classes.tolist()])
