"""Adding the values of one validation point to the sums, in one pass over the points."""

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled

Levels = NDArray[np.int16]


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
