"""Computes the integer weights of all distances of a row, in one pass."""

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Floats
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
