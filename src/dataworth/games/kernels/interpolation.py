r"""A smooth function of the weight, read at a few weights for many.

With real weights, what the sums of `kernels.weighted_mean` give to a point is

    f(w) = sum_{t,r} s_{t,r} exp(-t rate_r w),

a function that is analytic, and each of its terms no larger than |s_{t,r}|, where w has no negative
real part. On an interval from a to 2a, the polynomial through the values of a term at D Chebyshev
points is therefore off by less than about 6 * 5.8^-D |s_{t,r}| (Trefethen, Approximation Theory
and Approximation Practice, chapter 8, with the ellipse that touches 0), or 3e-18 of it for D = 24.
The sums s grow no faster than the rates, and contributions no faster than weights, while terms of
large rates vanish on the whole interval: for R a exp(-R w) and any R, 2e-15 was seen at most.

Cost: D readings of O(K J) numbers, and O(D) for each point.
"""

import math

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, inlined, uint64

POINTS = 24  # D, the number of Chebyshev points
WIDEST = 2.0  # how many times the least weight the largest may be
SMALLEST = 1e-290  # below this weight, one over the distance of two weights may be infinite
MANY = 3 * POINTS  # from so many points on, it is cheaper than reading for each
BLOCK = 256  # so many points are computed side by side


@compiled()
def similar(starts: Ints, blocks: Ints, weights: Floats, run: int) -> int:
    """Count the runs of one point each, from `run` on, of one block and of similar weights."""
    least = most = weights[starts[run]]
    count = 0
    while run + count < blocks.size and blocks[run + count] == blocks[run]:
        m = starts[run + count]
        least, most = min(least, weights[m]), max(most, weights[m])
        if starts[run + count + 1] - m > 1 or not most <= WIDEST * least or least < SMALLEST:
            break
        count += 1
    return count


@inlined
def chebyshev_point(k: int, least: float, most: float) -> float:
    """Return Chebyshev point k of the interval."""
    x = math.cos(math.pi * (k + 0.5) / POINTS)
    return 0.5 * (least + most) + 0.5 * (most - least) * x


@compiled(fastmath=True)
def add_interpolated(
    values: Floats, least: float, most: float, weights: Floats, zeta: Floats, out: Floats
) -> None:
    """Add to each value a polynomial of its zeta, whose coefficients are functions of the weight.

    Parameters
    ----------
    values : (p+1, D) array
        The coefficients, highest power first, at the Chebyshev points of the interval.
    least, most : float
        The interval that holds the weights.
    weights, zeta : (n,) array
        The weights and contributions of the points.
    out : (n,) array
        The values that are added to.
    """
    coefficients = np.zeros_like(values)
    for q in range(values.shape[0]):
        for j in range(POINTS):
            total = 0.0
            for k in range(POINTS):
                total += values[q, k] * math.cos(math.pi * j * (k + 0.5) / POINTS)
            coefficients[q, j] = total * (1.0 if j == 0 else 2.0) / POINTS
    x, before, now, result = np.empty((4, BLOCK))
    middle, stretch = 0.5 * (least + most), 2.0 / (most - least) if most > least else 0.0
    for start in range(0, weights.size, BLOCK):
        size = uint64(min(BLOCK, weights.size - start))
        at = uint64(start)
        for i in range(size):
            # Rounding may pass the ends.
            x[i] = min(max((weights[at + i] - middle) * stretch, -1.0), 1.0)
            result[i] = 0.0
        for q in range(values.shape[0]):  # Clenshaw's sum, and Horner's rule for zeta
            now[:] = 0.0
            before[:] = 0.0
            for j in range(POINTS - 1, 0, -1):
                c = coefficients[q, j]
                for i in range(size):
                    after = 2.0 * x[i] * now[i] - before[i] + c
                    before[i] = now[i]
                    now[i] = after
            c = coefficients[q, 0]
            for i in range(size):
                result[i] = result[i] * zeta[at + i] + (x[i] * now[i] - before[i] + c)
        for i in range(size):
            out[at + i] += result[i]
