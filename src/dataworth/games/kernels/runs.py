r"""Runs: many points of equal weight are passed at once.

Let the points at ranks mu+1, mu+2, ... have the same weight u, and let m be one of them, with n
points of the run before it. The (K-1)-subsets S of the points before m fall apart by the number j
of members from the run. The other K-1-j members are a subset of the mu points before the run, and
their law is the same for every m of the run. So each expectation is a sum over j of a constant of
the run times a hypergeometric chance. If i, which S must not contain, is one of the mu points,

    p_j = (n choose j) (mu-1 choose K-1-j) / (m-2 choose K-1),

and if i is one of the n points, it is

    p'_j = (n-1 choose j) (mu choose K-1-j) / (m-2 choose K-1) = p_j (1 - j/n) mu / (mu-K+1+j).

The chances of all ranks of a run are computed side by side, in blocks: p_0 is a product of K-1
ratios, and each later one follows by

    p_{j+1} = p_j (n-j) (K-1-j) / ((j+1) (mu-K+1+j)).

A run here is a stretch of ranks with the same weight inside one block of ranks, each of which ends
at four times the rank at which it starts. So p_0 is at least about 5.2^-K. With more than
`MOST_NEIGHBORS` it would come near the smallest numbers, and the kernels go rank by rank instead.
"""

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.compiled import compiled, inlined, uint64

BLOCK = 256  # so many ranks are computed side by side
CHUNK = 512  # so many ranks are searched for changes of weight at a time
MOST_NEIGHBORS = 256
GROWTH = 4  # how many times as far a block of ranks reaches as the one before


@compiled()
def runs_of(weights: Array, first: int) -> tuple[Ints, Ints]:
    """Find the runs from rank first+1 on.

    Returns
    -------
    starts : (R+1,) array of int
        Where each run starts, counted from 0, and where the last one ends.
    blocks : (R,) array of int
        The block of ranks that each run lies in.
    """
    n = weights.size
    changes = 0
    for m in range(uint64(first + 1), uint64(n)):
        changes += weights[m] != weights[m - uint64(1)]
    stop = first
    while stop < n:
        changes += 1
        stop *= GROWTH
    starts, blocks = np.empty(changes + 1, np.int64), np.empty(changes, np.int64)
    count, block = 0, 0
    start, stop = first, min(GROWTH * first, n)
    while start < n:
        starts[count], blocks[count] = start, block
        count += 1
        for at in range(start + 1, stop, CHUNK):  # in chunks, most of which hold no change
            end = min(at + CHUNK, stop)
            changes = 0
            for m in range(uint64(at), uint64(end)):
                changes += weights[m] != weights[m - uint64(1)]
            if changes > 0:
                for m in range(at, end):
                    if weights[m] != weights[m - 1]:
                        starts[count], blocks[count] = m, block
                        count += 1
        start, stop, block = stop, min(GROWTH * stop, n), block + 1
    starts[count] = n
    return starts[: count + 1], blocks[:count]


@inlined
def start_chances(
    first: int, size: int, mu: int, neighbors: int, displace: Floats, inverse: Floats, p: Floats
) -> None:
    """Write displace_m * p_0 for the ranks after `first`, `size` of them, into `p`."""
    for i in range(uint64(size)):
        p[i] = displace[uint64(first + 1) + i]
    for t in range(0, neighbors - 2, 2):  # two ratios at a time
        top = (mu - 1.0 - t) * (mu - 2.0 - t)
        one, two = uint64(first - 1 - t), uint64(first - 2 - t)
        for i in range(uint64(size)):
            p[i] *= top * (inverse[one + i] * inverse[two + i])
    if neighbors % 2 == 0:
        top = float(mu - neighbors + 1)
        for i in range(uint64(size)):
            p[i] *= top * inverse[uint64(first - neighbors + 1) + i]


@compiled()
def shares(level: int, before: int, length: int, out: Floats) -> int:
    """Write the chances that j of `level` random points of before + length are in a run.

    The run has `length` points. Returns how many chances there are, for j = 0, 1, ...
    """
    p = 1.0
    for t in range(level):
        p *= (before - t) / (before + length - t)
    most = min(level, length)
    for j in range(most + 1):
        out[j] = p
        p *= (length - j) * (level - j) / ((j + 1.0) * (before - level + j + 1.0))
    return most + 1


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
