"""Representations: a run plays one game for each encoder, and its values are their mean."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats
from dataworth.errors import InputError
from dataworth.inputs.targets import Targets
from dataworth.settings import Settings
from dataworth.training.folds import Fold, again, check_own_folds, folds
from dataworth.training.training_set import TrainingSet


@dataclass(frozen=True)
class Representation:
    """The training points as one encoder shows them, and who judges them.

    Attributes
    ----------
    settings : Settings
        The parameters of the run, with this encoder.
    training : TrainingSet
        The training points.
    folds : sequence of Fold
        The folds of the run. Those of all representations have the same validation points, though
        not always in the same order.
    partial : bool
        Whether a search finds only some neighbours.
    """

    settings: Settings
    training: TrainingSet
    folds: Sequence[Fold]
    partial: bool

    @property
    def height(self) -> int:
        """How many sums a training point needs: the value, and both ends if it has bounds."""
        return 3 if self.settings.is_bounded(self.partial) else 1

    @property
    def seconds(self) -> float:
        """Roughly how long a validation point takes after its distances, on one core."""
        return self.settings.seconds(self.training.n_points, self.training.targets.n_classes)


def check_unchanged(now: Sequence[Settings], trained: Sequence[TrainingSet]) -> None:
    """Refuse parameters that changed after `fit`, and must not."""
    if len(now) != len(trained):
        raise InputError("encoder", "not change after fit", hint="Call fit again.")
    for settings, training in zip(now, trained, strict=True):
        training.settings.check_change(settings)


def represented(
    now: Sequence[Settings], trained: Sequence[TrainingSet], X_val: Any, y_val: Any, cv: Any
) -> list[Representation]:
    """Check a run and return its representations.

    Parameters
    ----------
    now : sequence of Settings
        The parameters of the run, one entry for each encoder.
    trained : sequence of TrainingSet
        What `fit` made of the training points.
    X_val, y_val, cv
        As in `KNNShapley.value`.

    Returns
    -------
    list of Representation
        One for each encoder.
    """
    check_unchanged(now, trained)
    if X_val is None and y_val is None and cv is None:
        for training in trained:
            check_own_folds(training)
    made: list[Representation] = []
    for settings, training in zip(now, trained, strict=True):
        settings.check_size(training.n_points, training.targets.n_classes)
        partial = training.is_partial(X_val, settings.limited)
        settings.check_partial(partial)
        parts = folds(training, X_val, y_val, cv)
        made.append(Representation(settings, training, parts, partial))
        if cv is not None:  # a splitter may draw others the next time
            cv = [(fold.judged, fold.positions) for fold in parts]
    return made


def with_targets(shown: Sequence[Representation], targets: Targets) -> list[Representation]:
    """Return representations of the same points with other targets, in the same folds."""
    trained = [one.training.with_targets(targets) for one in shown]
    return [
        replace(one, training=training, folds=again(training, one.folds))
        for one, training in zip(shown, trained, strict=True)
    ]


def shares_of(gains: Sequence[float]) -> Floats:
    """Return how much each representation counts, by what points gain in its game.

    Representations count by its fourth power, so that one in which neighbours mislead does no harm
    to the others, and alike if no points gain anything in any of them.

    Parameters
    ----------
    gains : sequence of float
        How much better than chance all points together do in each game: the mean agreement less
        that of chance, or U(all) - U(none), the sum of the values.

    Returns
    -------
    array
        The shares, which add up to 1.

    Examples
    --------
    >>> from dataworth.training.representations import shares_of
    >>> shares_of([0.3, 0.3, -0.1])
    array([0.5, 0.5, 0. ])
    """
    some = np.maximum(gains, 0.0)
    if not some.any():
        return np.full(some.size, 1.0 / some.size)
    powers = (some / some.max()) ** 4
    shares: Floats = powers / powers.sum()
    return shares


def mean_of(arrays: Sequence[Array], shares: Floats) -> Floats:
    """Return the mean over the representations, added up in order so that its bits are the same."""
    total: Floats = shares[0] * arrays[0]
    for array, share in zip(arrays[1:], shares[1:], strict=True):
        total += share * array
    return total
