"""Ranking one row of distances; equal distances are ranked by the position of the point."""

import math

import numpy as np
from numpy.typing import NDArray

from dataworth.compiled import compiled
from dataworth.errors import InputError


@compiled()
def _sort_ties(sorted_distances: NDArray[np.float64], order: NDArray[np.int64]) -> None:
    """Put training indices in ascending order within each run of equal distances."""
    n = order.size
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and sorted_distances[stop] == sorted_distances[start]:
            stop += 1
        if stop - start > 1:
            order[start:stop].sort()
        start = stop


def rank(row: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return training indices, nearest first, and their distances; ties go by training index.

    Examples
    --------
    >>> import numpy as np
    >>> order, ranked = rank(np.array([2.0, 1.0, 2.0, 0.5]))
    >>> order
    array([3, 1, 0, 2])
    """
    order = np.argsort(row)
    ranked = row[order]
    _check_distances(ranked[0], ranked[-1])
    _sort_ties(ranked, order)
    return order, ranked


def nearest(row: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the first `limit` training indices of `rank`, without a full sort.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([2.0, 1.0, 2.0, 0.5]), 3)
    array([3, 1, 0])
    """
    edge = np.partition(row, limit - 1)[limit - 1]
    inner = np.flatnonzero(row < edge)
    tied = np.flatnonzero(row == edge)[: limit - inner.size]
    chosen = np.sort(np.concatenate([inner, tied]))
    return chosen[rank(row[chosen])[0]]


def extent(row: NDArray[np.float64]) -> tuple[float, float]:
    """Return the smallest and the largest distance."""
    near, far = float(row.min()), float(row.max())
    _check_distances(near, far)
    return near, far


def median(row: NDArray[np.float64]) -> float:
    """Return the median distance."""
    low, high = (row.size - 1) // 2, row.size // 2
    parted = np.partition(row, high)
    below = parted[high] if low == high else parted[:high].max()
    return float(0.5 * (below + parted[high]))


def _check_distances(least: float, largest: float) -> None:
    if not (least >= 0.0 and math.isfinite(largest)):
        bad = least if least < 0.0 else largest
        raise InputError(
            "metric",
            "give distances that are finite and not negative",
            f"metric gave a distance of {bad}",
            "Scale the features, or use another metric.",
        )
