"""Computes the integer weights of all distances of a row, in one pass."""

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled

Levels = NDArray[np.int16]


@compiled()
def levels(distances: Floats, bounds: Floats, out: Levels) -> None:
    """Write the integer weight of each distance into `out`.

    `bounds` holds, for each weight from 1 up, the largest distance that still has it. So the weight
    of a distance is the number of bounds that are at least as large.
    """
    if bounds.size <= 64:  # vectorised; with more bounds, a binary search is faster
        for i in range(distances.size):
            level = 0
            for q in range(bounds.size):
                level += distances[i] <= bounds[q]
            out[i] = level
    else:
        for i in range(distances.size):
            low, high = 0, bounds.size
            while low < high:
                middle = (low + high) // 2
                if distances[i] <= bounds[middle]:
                    low = middle + 1
                else:
                    high = middle
            out[i] = low


@compiled()
def fill(ends: Ints, out: Levels) -> None:
    """Write the integer weights of ranked points into the rows of `out`.

    ends[r, w-1] is how many points of row r have at least the weight w.
    """
    for r in range(ends.shape[0]):
        start = 0
        for level in range(ends.shape[1], 0, -1):
            stop = ends[r, level - 1]
            out[r, start:stop] = level
            start = max(start, stop)


@compiled()
def runs(rows: Floats, order: Ints, sizes: Ints, bounds: Floats, out: Levels) -> None:
    """Write the integer weights of ranked distances into `out`.

    Parameters
    ----------
    rows : (r, n) array
        Distances.
    order : (r, n) array of int
        Positions, nearest first.
    sizes : (r,) array of int
        How many of them are ranked in each row; none of these lies beyond the first bound.
    bounds : (r, top) array
        As in `levels`, for each row.
    out : (r, n) array of int16
        Receives the weights.
    """
    for r in range(rows.shape[0]):
        row, ranks = rows[r], order[r]
        start = 0
        for level in range(bounds.shape[1], 0, -1):
            low, stop = start, sizes[r]  # the first rank beyond the bound of this level
            while low < stop:
                middle = (low + stop) // 2
                if row[ranks[middle]] <= bounds[r, level - 1]:
                    low = middle + 1
                else:
                    stop = middle
            out[r, start:stop] = level
            start = stop
