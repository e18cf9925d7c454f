"""Adds the values of one validation point to the sums, in one pass over the points."""

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled

Levels = NDArray[np.int16]


@compiled()
def add_at(places: Ints, values: Floats, factor: float, out: Floats) -> None:
    """Do `out[places] += factor * values`, where no place occurs twice."""
    for i in range(places.size):
        out[places[i]] += factor * values[i]


@compiled()
def add_behind(
    behind: Levels,
    codes: Ints,
    table: Floats,
    below: Floats,
    above: Floats,
    sums: Floats,
) -> None:
    """Add the values of the points that were not ranked, and the ends of their intervals.

    Parameters
    ----------
    behind : (n_train,) array of int16
        The integer weight of each point that was not ranked, and -1 for every other point.
    codes : (n_train,) array of int
        Class codes.
    table : (C, top+1) array
        Values by class and weight.
    below, above : (C,) array
        How far the lower and upper ends are from the value, by class.
    sums : (3, n_train) array
        Rows of values, lower ends and upper ends, to which the points are added.
    """
    for i in range(behind.size):
        if behind[i] >= 0:
            value = table[codes[i], behind[i]]
            sums[0, i] += value
            sums[1, i] += value - below[codes[i]]
            sums[2, i] += value + above[codes[i]]
