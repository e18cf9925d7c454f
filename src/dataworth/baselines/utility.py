"""What the baselines have in common: checks of their input, and the utility of a set."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dataworth.arrays import Array, Flags, Floats, Ints
from dataworth.compiled import compiled
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import checks

GameName = Literal["soft", "hard"]


class Rules(NamedTuple):
    """The rules of a game.

    Attributes
    ----------
    soft : bool
        Whether it is the soft game.
    empty : float
        U(empty set).
    neighbors : int
        K, at most the number of points.
    """

    soft: bool
    empty: float
    neighbors: int


def check_ranked(right: ArrayLike, weights: ArrayLike) -> tuple[Flags, Array]:
    """Check which points are right and their weights, and return both as arrays."""
    flags = np.asarray(right)
    if flags.dtype != bool or flags.ndim != 1 or flags.size == 0:
        raise InputError(
            "right",
            "be a non-empty one-dimensional array of booleans",
            f"got dtype {flags.dtype}, shape {flags.shape}",
        )
    numbers = np.asarray(weights)
    if numbers.shape != flags.shape:
        raise InputError(
            "weights", f"hold one number per point, {flags.size}", f"got shape {numbers.shape}"
        )
    if numbers.dtype.kind not in "iuf":
        raise InputTypeError("weights", "hold real numbers", f"got dtype {numbers.dtype}")
    if not np.all((numbers >= 0) & np.isfinite(numbers)):
        raise InputError("weights", "hold finite numbers of at least 0")
    return flags, numbers


def check_game(game: str, n_classes: int, n_neighbors: int, n_points: int) -> Rules:
    """Check the name of a game and its numbers, and return its rules."""
    checks.choice(game, "game", ("soft", "hard"))
    classes = checks.integer(n_classes, "n_classes", least=2)
    neighbors = min(checks.integer(n_neighbors, "n_neighbors", least=1), n_points)
    return Rules(game == "soft", 1.0 / classes if game == "soft" else 1.0, neighbors)


@compiled()
def utility(members: Ints, right: Flags, weights: Floats, soft: bool, empty: float) -> float:
    """Return U of a set of at most K ranks, in any order."""
    good = bad = 0.0
    for j in members:
        if right[j]:
            good += weights[j]
        else:
            bad += weights[j]
    if soft:
        return good / (good + bad) if good + bad > 0.0 else empty
    return 1.0 if good >= bad else 0.0
