"""Integer weights of all distances of a row, in one pass."""

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Floats
from dataworth.compiled import compiled

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
