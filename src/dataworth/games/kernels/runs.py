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
at `growth` times the rank at which it starts. So p_0 is at least about (growth + 1.2)^-K, and would
come near the smallest numbers with a growth of 4 and many more than 256 neighbours. The value of a
point is a difference of sums over its block, and loses as many bits as the growth has.
"""

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.compiled import compiled, inlined, uint64

BLOCK = 256  # so many ranks are computed side by side
GROWTH = 4  # how many times as far a block of ranks reaches as the one before
CHUNK = 512  # so many ranks are searched for changes of weight at a time


@compiled()
def runs_of(weights: Array, first: int, growth: int) -> tuple[Ints, Ints]:
    """Find the runs from rank first+1 on.

    Parameters
    ----------
    weights : (n,) array
        The weights of the ranked points, nearest first.
    first : int
        Where the first block of ranks starts, counted from 0.
    growth : int
        How many times as far each block reaches as the one before.

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
        stop *= growth
    starts, blocks = np.empty(changes + 1, np.int64), np.empty(changes, np.int64)
    count, block = 0, 0
    start, stop = first, min(growth * first, n)
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
        start, stop, block = stop, min(growth * stop, n), block + 1
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
