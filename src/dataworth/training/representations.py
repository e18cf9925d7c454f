"""Representations: a run plays one game for each encoder, and its values are their mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dataworth.errors import InputError
from dataworth.settings import Settings
from dataworth.training.folds import CrossFold, Fold, folds
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
        The folds of the run. Those of all representations have the same points.
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
    made: list[Representation] = []
    for settings, training in zip(now, trained, strict=True):
        settings.check_size(training.n_points, training.targets.n_classes)
        partial = training.is_partial(X_val, settings.limited)
        settings.check_partial(partial)
        parts = folds(training, X_val, y_val, cv)
        made.append(Representation(settings, training, parts, partial))
        if isinstance(parts[0], CrossFold):  # a splitter may draw others the next time
            cv = [(fold.judged, fold.positions) for fold in parts]
    return made
