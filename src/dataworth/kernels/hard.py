"""The hard-label game: is the weighted vote of the K nearest right?

Binary: U(S) = 1 if the weight of label y among the K nearest of S is at least that of the rival
label, else 0. A tie counts as right and U(empty set) = 1. The state is the sum of signed integer
weights: +w for label y, -w for the rival.

Several classes (one-vs-one): U is the mean over the rivals c of the binary game played by the
points labelled y or c alone. K counts inside each of these subgames.

Cost: O(n K^2 Q) for one subgame of n points with integer weights 0..Q, by the walk.
"""

import numpy as np

from dataworth.kernels.compiled import compiled
from dataworth.kernels.walk import Floats, Ints, walk


@compiled()
def _signed_sum_lattice(neighbors: int, top: int) -> tuple[Floats, int, Ints]:
    """Utility, origin and slices of the binary game for weights up to `top`.

    Level l needs offsets of up to (K - l) * top, and only those of up to l * top can still change:
    beyond them the sign is decided whatever l points are drawn.
    """
    lane = 16  # slices of whole vector registers, so that no loop ends in scalar steps
    origin = neighbors * top + lane
    utility = np.zeros(2 * origin + 1)
    utility[origin:] = 1.0
    slices = np.empty((neighbors - 1, 3), np.int64)
    for row in range(neighbors - 1):
        level = neighbors - 1 - row
        reach = min(level, neighbors - level) * top
        slices[row, 0] = level
        slices[row, 1] = origin - reach
        slices[row, 2] = origin - reach + (2 * reach // lane + 1) * lane
    return utility, origin, slices


@compiled()
def binary(
    ids: Ints, top: int, neighbors: int, displace: Floats, inverse: Floats, out: Floats
) -> None:
    """Values of one binary game, nearest point first.

    `ids` are signed weights plus `top`, so 0..2*top; `displace` and `inverse` as in the walk.
    """
    n = ids.size
    k = min(neighbors, n)  # with fewer points than neighbours, all of them vote
    utility, origin, slices = _signed_sum_lattice(k, top)
    room = np.full(k, 1.0 / n)
    shifts = np.arange(-top, top + 1)
    walk(ids, shifts, utility, origin, slices, room, displace, inverse, out)


@compiled()
def one_vs_one(
    labels: Ints,
    weights: Ints,
    label: int,
    n_classes: int,
    top: int,
    neighbors: int,
    displace: Floats,
    inverse: Floats,
    out: Floats,
) -> None:
    """Mean over the rivals of `label` of the binary game's values, nearest point first.

    `labels` are class codes below `n_classes`, `weights` integers in 0..top.
    """
    n = labels.size
    out[:] = 0.0
    starts = np.zeros(n_classes + 1, np.int64)
    for i in range(n):
        starts[labels[i] + 1] += 1
    starts = np.cumsum(starts)
    ranks = np.empty(n, np.int64)  # ranks grouped by class, nearest first within a class
    fill = starts[:-1].copy()
    for i in range(n):
        ranks[fill[labels[i]]] = i
        fill[labels[i]] += 1
    own = ranks[starts[label] : starts[label + 1]]
    members = np.empty(n, np.int64)
    ids = np.empty(n, np.int64)
    values = np.empty(n)
    for rival in range(n_classes):
        other = ranks[starts[rival] : starts[rival + 1]]
        if rival == label or other.size == 0:
            continue  # without rivals the vote is always right, and every value is 0
        size = own.size + other.size
        a = b = 0
        for i in range(size):
            if b == other.size or (a < own.size and own[a] < other[b]):
                members[i] = own[a]
                ids[i] = top + weights[own[a]]
                a += 1
            else:
                members[i] = other[b]
                ids[i] = top - weights[other[b]]
                b += 1
        binary(ids[:size], top, neighbors, displace, inverse, values[:size])
        for i in range(size):
            out[members[i]] += values[i] / (n_classes - 1)
