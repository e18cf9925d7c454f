"""The ruler of a run: errors are planted, and everything is valued and scored again."""

from collections.abc import Callable, Sequence

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.errors import InputError
from dataworth.inputs import checks
from dataworth.inputs.targets import Targets
from dataworth.suspects.ruler import Ruler, n_planted, ranks
from dataworth.training.representations import Representation, with_targets

SEED = 20  # each repeat has a generator of its own, so that more repeats do not change the first

# Values training points with other targets, and returns their scores; the number is the repeat's.
Scoring = Callable[[int, Sequence[Representation]], Floats]


def plantings(
    repeats: int, targets: Targets, shown: Sequence[Representation]
) -> list[tuple[Targets, Ints]]:
    """Plan what is planted in each repeat: targets with errors, and where they are.

    A class keeps a point in each fold, as the folds stay those of the run itself.
    """
    parts = [fold for one in shown for fold in one.folds]
    repeats = checks.integer(repeats, "ruler", least=1, or_else=" or None")
    if not parts[0].inside:
        raise InputError(
            "ruler",
            "be left out with X_val and y_val",
            f"got {repeats}",
            "It is for training points that judge each other, as in value(ruler=3).",
        )
    n = n_planted(targets.codes.size)
    if not n:
        raise InputError("ruler", "be left out with fewer than 4 training points", f"got {repeats}")
    judged = [fold.judged for fold in parts]
    made = [
        targets.with_errors(n, judged, np.random.default_rng([SEED, number]))
        for number in range(repeats)
    ]
    if not all(planted.size for _, planted in made):
        raise InputError(
            "ruler",
            "be left out if no error can be planted",
            "some two classes need points in all folds, and one of them needs two",
        )
    return made


def measured(
    planned: Sequence[tuple[Targets, Ints]], shown: Sequence[Representation], scoring: Scoring
) -> Ruler:
    """Value the training points once more for each repeat, and see where the planted ones land."""
    found = [
        ranks(scoring(number, with_targets(shown, targets)), planted)
        for number, (targets, planted) in enumerate(planned)
    ]
    first = shown[0].training
    return Ruler(first.n_points, first.targets.n_classes, tuple(found))
