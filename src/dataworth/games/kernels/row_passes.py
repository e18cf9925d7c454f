"""Passes over one row of training points that numpy would need several of."""

import numpy as np
from numpy.typing import NDArray

from dataworth.compiled import compiled
from dataworth.games.kernels.walk import Floats, Ints

Levels = NDArray[np.int16]


@compiled()
def levels(distances: Floats, bounds: Floats, out: Levels) -> None:
    """Integer weights from the falling distances up to which each of them, 1 and up, is reached.

    `out[i]` is how many of `bounds` are at least `distances[i]`.
    """
    if bounds.size <= 64:  # the compiler vectorises this; beyond, a binary search is faster
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
def add_at(places: Ints, values: Floats, out: Floats) -> None:
    """`out[places] += values`; no place comes twice."""
    for i in range(places.size):
        out[places[i]] += values[i]


@compiled()
def add_behind(
    behind: Levels,
    codes: Ints,
    table: Floats,
    below: Floats,
    above: Floats,
    sums: Floats,
) -> None:
    """Add the values of points that were not ranked, and their lower and upper ends, to the sums.

    `behind` holds their integer weights and -1 for all other points; `table` the values by class
    and weight; `below` and `above` how far the ends are from them, by class.
    """
    for i in range(behind.size):
        if behind[i] >= 0:
            value = table[codes[i], behind[i]]
            sums[0, i] += value
            sums[1, i] += value - below[codes[i]]
            sums[2, i] += value + above[codes[i]]
