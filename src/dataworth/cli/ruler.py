"""How often a command plants errors, to say how many labels look wrong, and how long it takes."""

from pathlib import Path
from typing import Any

import numpy as np
import typer

from dataworth.cli import terminal
from dataworth.estimator import KNNShapley
from dataworth.inputs import frames
from dataworth.result import is_numeric
from dataworth.run.announcement import duration

# Errors are planted this many times by default, if training points are not too few to tell anything
# and it is expected to take less than two minutes; more than ten seconds are worth a word.
REPEATS, FEWEST = 3, 100
PATIENCE, WORTH_A_WORD = 120.0, 10.0
# Seconds for each pair of points, for each pair and feature, and, with a forest, for each point and
# each pair: what one core of a few years ago takes.
PAIR, PAIR_AND_FEATURE = 2.5e-8, 6e-10
GROWN, WEIGHED = 2e-3, 1.5e-7
SLOWER = 10.0  # times as long, at most, with another metric than the usual one or real weights


def check(ruler: int | None, validation: Path | None) -> None:
    """Refuse a ruler where points from outside judge."""
    if ruler and validation is not None:
        raise typer.BadParameter(
            "--ruler must be left out with --validation: it is for training points that judge each "
            "other."
        )


def repeats(valuator: KNNShapley, X: Any, y: Any, *, forest: bool) -> int:
    """How often to plant errors if nobody says: a few times, if that does not take long.

    Parameters
    ----------
    valuator : KNNShapley
        What values the points.
    X, y : data frame or array, and labels
        The training points.
    forest : bool
        Whether a forest encodes them.

    Returns
    -------
    int
        The number of times; 0 for never.
    """
    targets = np.asarray(frames.entries(y, "y"))
    n, different = targets.size, np.unique(targets).size
    fits = different > 1 and (is_numeric(valuator.game) or 4 * different <= n)
    if not fits or n < FEWEST:
        return 0
    what = "targets" if is_numeric(valuator.game) else "labels"
    more = REPEATS * _expected(valuator, X, n, n, forest=forest)
    if more >= PATIENCE:
        terminal.note(
            f"--ruler {REPEATS} says how many {what} look wrong, and may take {duration(more)} "
            "more."
        )
        return 0
    if more >= WORTH_A_WORD:
        terminal.note(
            f"to say how many {what} look wrong may take {duration(more)} more; --ruler 0 leaves "
            "it out."
        )
    return REPEATS


def tell_time(
    valuator: KNNShapley, X: Any, y: Any, y_val: Any, repeats: int, *, forest: bool
) -> None:
    """Say how long a run may take with a ruler of so many repeats, if it is worth a word."""
    sizes = [len(frames.entries(labels, "y")) for labels in (y, y_val)]
    whole = (1 + repeats) * _expected(valuator, X, *sizes, forest=forest)
    if whole >= WORTH_A_WORD:
        terminal.note(f"this may take {duration(whole)}.")


def _expected(valuator: KNNShapley, X: Any, n: int, n_val: int, *, forest: bool) -> float:
    """Return the seconds that one run is expected to take, roughly."""
    table = frames.frame(X)
    width = np.shape(X)[1] if table is None else len(table.columns)
    plain = valuator.metric in (None, "euclidean") and valuator.n_bits is not None
    return seconds(n, n_val, width, forest=forest, plain=plain)


def seconds(n: int, n_val: int, n_features: int, *, forest: bool, plain: bool) -> float:
    """How long a run is expected to take, roughly.

    Parameters
    ----------
    n, n_val, n_features : int
        The numbers of training points, of validation points and of features.
    forest : bool
        Whether a forest encodes the points.
    plain : bool
        Whether distances and weights are the usual ones.

    Examples
    --------
    >>> from dataworth.cli.ruler import seconds
    >>> round(seconds(8_000, 8_000, 10, forest=False, plain=True), 1)
    2.0
    >>> round(seconds(8_000, 8_000, 10, forest=True, plain=True))
    28
    """
    pairs = n * n_val
    taken = pairs * (PAIR + PAIR_AND_FEATURE * n_features) * (1.0 if plain else SLOWER)
    return taken + (n * GROWN + pairs * WEIGHED if forest else 0.0)
