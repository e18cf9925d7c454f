"""Weighted means by runs: the passes over the ranks of a run, for means and for squared means."""

import numpy as np

from dataworth.arrays import Floats
from dataworth.compiled import compiled, inlined, uint64
from dataworth.games.kernels.runs import BLOCK, start_chances

MOST_NEIGHBORS = 256  # the chances of more neighbours could vanish


@inlined
def is_cheaper(length: int, levels: int) -> bool:
    """Say whether a run of this length is cheaper at once than rank by rank.

    Passing a run at once costs as much as passing K/2 points one by one.
    """
    return levels <= MOST_NEIGHBORS and length > 1 and 2 * length >= levels


@compiled(fastmath=True)
def pass_ranks(
    first: int,
    stop: int,
    neighbors: int,
    zeta: Floats,
    displace: Floats,
    inverse: Floats,
    ends: Floats,
    scratch: Floats,
    gains: Floats,
    out: Floats,
) -> tuple[float, float]:
    """Sum over the ranks of a run what earlier points gain, and value the run against itself.

    This is for means (p = 1 in `kernels.weighted_mean`). Returns the sum of zeta, and 0.

    Parameters
    ----------
    first, stop : int
        The run: ranks first+1 to stop, so `first` points lie before it.
    neighbors : int
        K, the number of neighbours.
    zeta : (n,) array
        The contributions of all ranked points.
    displace, inverse : array
        As in `values`.
    ends : (1, K) array
        By j, the mean over sets T of K-1-j points before the run of 1 / (W_T + (j+1) u).
    scratch : (6, 256) array
        Is written to.
    gains : (3, K) array
        Receives by j the sums over m of displace_m p_j times 1, times the mean zeta of j points of
        the run before m, and times that mean plus the zeta of m.
    out : (n,) array
        Receives, for the points of the run, what they gain by displacing points of the run.
    """
    p, n, per, mean = scratch[0], scratch[1], scratch[2], scratch[3]
    most = min(neighbors, stop - first)
    gains[:, :most] = 0.0
    total = 0.0
    for start in range(first, stop, BLOCK):
        size = min(BLOCK, stop - start)
        here = zeta[start : start + size]
        gain = out[start : start + size]
        for i in range(size):
            mean[i] = total
            total += here[i]
        for i in range(uint64(size)):
            n[i] = float(uint64(start - first) + i)
            per[i] = inverse[uint64(start - first) + i]
            mean[i] *= per[i]
            gain[i] = 0.0
        start_chances(start, size, first, neighbors, displace, inverse, p)
        for chosen in range(most):
            j = float(chosen)
            end = ends[0, chosen] * first / (first - neighbors + 1.0 + j)
            ratio = (neighbors - 1.0 - j) / ((j + 1.0) * (first - neighbors + 1.0 + j))
            all_, own, others = 0.0, 0.0, 0.0
            for i in range(uint64(size)):
                chance = p[i]
                all_ += chance
                own += chance * here[i]
                others += chance * mean[i]
                gain[i] += chance * (end - end * j * per[i])
                p[i] = chance * (n[i] - j) * ratio
            gains[0, chosen] += all_
            gains[1, chosen] += j * others
            gains[2, chosen] += j * others + own
    chances = lost = 0.0
    for m in range(stop - 1, first - 1, -1):
        gained = out[m]
        out[m] = zeta[m] * chances - lost
        chances += gained
        lost += gained * zeta[m]
    return total, 0.0


@compiled(fastmath=True)
def pass_ranks_squared(
    first: int,
    stop: int,
    neighbors: int,
    zeta: Floats,
    displace: Floats,
    inverse: Floats,
    ends: Floats,
    scratch: Floats,
    gains: Floats,
    out: Floats,
) -> tuple[float, float]:
    """Do what `pass_ranks` does for squared means (p = 2); return the sum of squares as well.

    `ends` has a second row, the means of Z_T / (W_T + (j+1) u)^2 (the first has that of
    1 / (W_T + (j+1) u)^2), and `gains` two more, for the mean square of the sum of zeta: without m,
    and with it.
    """
    p, n, per, mean = scratch[0], scratch[1], scratch[2], scratch[3]
    square, pair = scratch[4], scratch[5]
    most = min(neighbors, stop - first)
    gains[:, :most] = 0.0
    length = stop - first
    gain, gain_mixed, gain_pair = np.zeros((3, length))
    sums = np.empty(length)  # of zeta, over the points of the run before each
    total = total_square = 0.0
    for start in range(first, stop, BLOCK):
        size = min(BLOCK, stop - start)
        here = zeta[start : start + size]
        at = start - first
        for i in range(size):
            per[i] = inverse[at + i]
            n[i] = at + i
            sums[at + i] = total
            mean[i] = total * per[i]
            square[i] = total_square * per[i]
            left = inverse[max(at + i - 1, 0)]
            pair[i] = (total * total - total_square) * per[i] * left
            total += here[i]
            total_square += here[i] * here[i]
        start_chances(start, size, first, neighbors, displace, inverse, p)
        for j in range(most):
            scale = first / (first - neighbors + 1.0 + j)
            end, mixed = ends[0, j] * scale, ends[1, j] * scale
            ratio = (neighbors - 1.0 - j) / ((j + 1.0) * (first - neighbors + 1.0 + j))
            all_ = own = others = squares = pairs = own_square = product = 0.0
            for i in range(uint64(size)):
                chance = p[i]
                here_i = here[i]
                all_ += chance
                own += chance * here_i
                others += chance * mean[i]
                squares += chance * square[i]
                pairs += chance * pair[i]
                own_square += chance * here_i * here_i
                product += chance * here_i * mean[i]
                kept = chance * (1.0 - j * per[i])
                k = uint64(at) + i
                gain[k] += kept * end
                gain_mixed[k] += kept * mixed
                gain_pair[k] += kept * (end * j)
                p[i] = chance * (n[i] - j) * ratio
            gains[0, j] += all_
            gains[1, j] += j * others
            gains[2, j] += j * others + own
            inside = j * squares + j * (j - 1.0) * pairs
            gains[3, j] += inside
            gains[4, j] += inside + 2.0 * j * product + own_square
    constant = linear = quadratic = 0.0
    for m in range(stop - 1, first - 1, -1):
        rank = m - first
        z = zeta[m]
        out[m] = constant + z * (linear + z * quadratic)
        spread = 2.0 * gain_pair[rank] * inverse[max(rank - 1, 0)]
        bracket = 2.0 * gain_mixed[rank] + spread * sums[rank]
        constant -= z * (bracket + z * gain[rank])
        linear += bracket + spread * z
        quadratic += gain[rank] - spread
    return total, total_square
