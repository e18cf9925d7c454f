"""The hard-label game of several classes at once: does any class outweigh the right one?

U(S) = 1 if the label y has more weight among the K nearest of S than every other class, and 0 if
some class has more weight than y. If y shares the largest weight with another class, as it does in
the empty set, U(S) is `tie` (1 in the paper). The state is the lead of y over each rival, one axis
per rival: a point labelled y adds its weight on every axis, and a rival subtracts its weight on its
own axis. With two classes this is the binary game.

Cost: O(n T) by the walk, where T grows as (K Q)^(C-1) for C classes and integer weights up to Q.
"""

import itertools
from functools import lru_cache

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled
from dataworth.games.kernels.coefficients import Coefficients, room
from dataworth.games.kernels.walk import NEAR, UPDATE, Lattice, walk

MOST_CLASSES = 4


def table_bytes(n_classes: int, neighbors: int, top: int) -> int:
    """Return how many bytes the table of the walk takes."""
    return 8 * neighbors * (2 * neighbors * top + 1) ** (n_classes - 1)


def seconds(n: int, n_classes: int, neighbors: int, top: int) -> float:
    """Return roughly how long n points take: a table for each of the first kinds, then one."""
    entries = table_bytes(n_classes, neighbors, top) / 8 / 2 ** (n_classes + 1)
    near = min(n, NEAR * neighbors)
    kinds = min(near, n_classes * top)
    return UPDATE * 1e-9 * entries * (n + 0.5 * kinds * near)


@lru_cache(maxsize=8)
def lattice(n_classes: int, neighbors: int, top: int, tie: float) -> Lattice:
    """Return the lattice of the direct vote; ids are class * (top + 1) + weight, y is class 0."""
    axes = n_classes - 1
    side = 2 * neighbors * top + 1
    shape = (side,) * axes
    lead = np.full(shape, neighbors * top)  # the smallest lead over a rival decides
    along = np.arange(side) - neighbors * top
    for axis in range(axes):
        np.minimum(lead, along.reshape([-1 if a == axis else 1 for a in range(axes)]), out=lead)
    utility = np.where(lead == 0, tie, (lead > 0).astype(np.float64))
    strides = np.array([side ** (axes - 1 - axis) for axis in range(axes)], dtype=np.int64)
    weight = np.arange(top + 1)
    shifts = np.concatenate([weight * strides.sum(), *(-weight * s for s in strides)])
    origin = int(neighbors * top * strides.sum())
    slices = []
    for level in range(neighbors - 1, 0, -1):
        for row, start, stop in _reachable(axes, (neighbors - level) * top):
            at = origin + int(np.dot(row, strides[:-1]))
            slices.append((level, at + start, at + stop))
    return Lattice(shifts, utility.ravel(), origin, np.array(slices, np.int64).reshape(-1, 3))


def _reachable(axes: int, budget: int) -> list[tuple[tuple[int, ...], int, int]]:
    """List the leads that points of at most this total weight can reach, row by row.

    A row runs along the last axis: (leads on the other axes, first lead, one past the last lead).
    """
    rows: dict[tuple[int, ...], tuple[int, int]] = {}
    for own in range(budget + 1):
        for rivals in itertools.product(range(budget - own + 1), repeat=axes - 1):
            left = budget - own - sum(rivals)
            if left >= 0:
                key = tuple(own - r for r in rivals)
                start, stop = rows.get(key, (own - left, own + 1))
                rows[key] = (min(start, own - left), max(stop, own + 1))
    return [(key, start, stop) for key, (start, stop) in sorted(rows.items())]


@compiled()
def values(
    ids: Ints,
    game: Lattice,
    players: int,
    neighbors: int,
    c: Coefficients,
    out: Floats,
    tail: Floats,
) -> tuple[float, float]:
    """Value the nearest of `players` points, nearest first, in a game on any lattice.

    Parameters
    ----------
    ids : (n,) array of int
        The ids of the points: indices into `game.shifts`.
    game : Lattice
        The game, made for `neighbors` neighbours.
    players : int
        The number of points in the game.
    neighbors : int
        K, at most `players`.
    c : Coefficients
        The coefficients of the identity.
    out : (n,) array
        Receives the values.
    tail : (V,) array
        Receives the values of the points behind the ranked ones, by id.

    Returns
    -------
    margin_in, margin_out : float
        How far off the values of the ranked points, and of those behind, can be at most.
    """
    inside, outside, margin_in, margin_out = room(c, players, ids.size, neighbors)
    if ids.size == players:
        outside = outside[:0]
    walk(ids, game, inside, outside, c.displace, c.inverse, out, tail)
    return margin_in, margin_out
