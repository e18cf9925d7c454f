"""The hard-label game: is the weighted vote of the K nearest right?

Two classes: U(S) = 1 if label y has more weight among the K nearest of S than the rival label has,
and 0 if it has less. A tie, and so the empty set, is worth `tie` (1 in the paper). The state is the
sum of signed integer weights: +w for label y, -w for the rival.

Several classes (one-vs-one): U is the mean, over the rivals c, of the two-class game played only by
the points labelled y or c. K counts within each of these subgames.

Cost: O(n K^2 Q) for one subgame of n points with integer weights 0..Q, by the walk.
"""

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.compiled import compiled
from dataworth.games.kernels import vote_runs
from dataworth.games.kernels.adding import add_at
from dataworth.games.kernels.coefficients import Coefficients, room
from dataworth.games.kernels.vote_runs import vote
from dataworth.games.kernels.walk import Lattice


@compiled()
def signed_sum_lattice(neighbors: int, top: int, tie: float) -> Lattice:
    """Return the lattice of the binary game; the id of a point is its signed weight plus `top`.

    Level l needs offsets of up to (K - l) * top, and only those of up to l * top can still change:
    beyond them the sign is decided whichever l points are drawn.
    """
    lane = 16  # slices fill whole vector registers, so that no loop ends in scalar steps
    origin = neighbors * top + lane
    utility = np.zeros(2 * origin + 1)
    utility[origin] = tie
    utility[origin + 1 :] = 1.0
    slices = np.empty((neighbors - 1, 3), np.int64)
    for row in range(neighbors - 1):
        level = neighbors - 1 - row
        reach = min(level, neighbors - level) * top
        slices[row, 0] = level
        slices[row, 1] = origin - reach
        slices[row, 2] = origin - reach + (2 * reach // lane + 1) * lane
    return Lattice(np.arange(-top, top + 1), utility, origin, slices)


@compiled()
def binary(
    weights: Array,
    right: Floats,
    players: int,
    top: int,
    neighbors: int,
    tie: float,
    c: Coefficients,
    out: Floats,
    tail: Floats,
) -> tuple[float, float]:
    """Value the points of one binary game, nearest first.

    Parameters
    ----------
    weights : (n,) array of int
        The weights of the nearest n of `players` points, in 0..top.
    right : (n,) array
        1 for those with the right label and 0 for the others.
    players : int
        The number of points in the game.
    top : int
        The largest weight.
    neighbors : int
        K, the number of neighbours.
    tie : float
        What a tied vote, and so the empty set, is worth.
    c : Coefficients
        The coefficients of the identity.
    out : (n,) array
        Receives the values.
    tail : (2*top+1,) array
        Receives the values of the points behind the ranked ones, by signed weight plus `top`.

    Returns
    -------
    margin_in, margin_out : float
        How far off the values of the ranked points, and of those behind, can be at most.
    """
    k = min(neighbors, players)  # with fewer points than neighbours, all of them vote
    inside, outside, margin_in, margin_out = room(c, players, weights.size, k)
    if weights.size == players:
        outside = outside[:0]
    game = signed_sum_lattice(k, top, tie)
    vote(weights, right, game, inside, outside, c.displace, c.inverse, out, tail)
    return margin_in, margin_out


def seconds(n: int, neighbors: int, top: int) -> float:
    """Return roughly how long one binary game of n points takes."""
    return vote_runs.seconds(n, min(neighbors, n), top)


@compiled()
def _by_class(labels: Ints, n_classes: int) -> tuple[Ints, Ints]:
    """Return where each class starts, and the ranks grouped by class, nearest first."""
    starts = np.zeros(n_classes + 1, np.int64)
    for i in range(labels.size):
        starts[labels[i] + 1] += 1
    starts = np.cumsum(starts)
    ranks = np.empty(labels.size, np.int64)
    fill = starts[:-1].copy()
    for i in range(labels.size):
        ranks[fill[labels[i]]] = i
        fill[labels[i]] += 1
    return starts, ranks


@compiled()
def _merge(own: Ints, other: Ints, members: Ints, right: Floats) -> None:
    """Merge the ranks of two classes into `members`, and say which are right."""
    a = b = 0
    for i in range(own.size + other.size):
        mine = b == other.size or (a < own.size and own[a] < other[b])
        members[i] = own[a] if mine else other[b]
        right[i] = mine
        a += mine
        b += not mine


@compiled()
def _share(
    share: float,
    near: float,
    far: float,
    label: int,
    rival: int,
    behind: Floats,
    tail: Floats,
    margins: Floats,
) -> None:
    """Add this share of what a binary game says about points behind, and of its margins."""
    top = behind.size // 2
    for kind, sign in ((label, 1), (rival, -1)):
        margins[0, kind] += share * near
        margins[1, kind] += share * far
        for w in range(top + 1):
            tail[kind, w] += share * behind[top + sign * w]


@compiled()
def one_vs_one(
    labels: Ints,
    weights: Array,
    label: int,
    players: Ints,
    top: int,
    neighbors: int,
    tie: float,
    c: Coefficients,
    out: Floats,
    tail: Floats,
    margins: Floats,
) -> None:
    """Value the points of the game of several classes, nearest first.

    Each value is the mean of the values in the binary games against the rivals of `label`.

    Parameters
    ----------
    labels : (n,) array of int
        Class codes of the ranked points.
    weights : (n,) array of int
        Their weights, in 0..top.
    label : int
        The class code of the validation point.
    players : (C,) array of int
        The number of points of each class, without null players.
    top : int
        The largest weight.
    neighbors : int
        K, the number of neighbours.
    tie : float
        What a tied vote, and so the empty set, is worth.
    c : Coefficients
        The coefficients of the identity.
    out : (n,) array
        Receives the values.
    tail : (C, top+1) array
        Receives the values of the points behind the ranked ones, by class and weight.
    margins : (2, C) array
        Receives, by class, how far off the values of the ranked points, and of those behind, can be
        at most.
    """
    n = labels.size
    n_classes = players.size
    out[:] = 0.0
    tail[:] = 0.0
    margins[:] = 0.0
    right, behind = np.empty(n), np.zeros(2 * top + 1)
    if n_classes == 2:
        for i in range(n):
            right[i] = labels[i] == label
        if players[1 - label] > 0 or (tie < 1.0 and players[label] > 0):
            near, far = binary(
                weights, right, players[0] + players[1], top, neighbors, tie, c, out, behind
            )
            _share(1.0, near, far, label, 1 - label, behind, tail, margins)
        return
    starts, ranks = _by_class(labels, n_classes)
    own = ranks[starts[label] : starts[label + 1]]
    members, chosen, values = np.empty(n, np.int64), np.empty(n, weights.dtype), np.empty(n)
    for rival in range(n_classes):
        if rival == label or (players[rival] == 0 and tie == 1.0):
            continue  # nobody votes against the label, which always wins or ties
        if players[label] + players[rival] == 0:
            continue
        other = ranks[starts[rival] : starts[rival + 1]]
        size = own.size + other.size
        _merge(own, other, members, right)
        for i in range(size):
            chosen[i] = weights[members[i]]
        near, far = binary(
            chosen[:size], right[:size], players[label] + players[rival], top, neighbors, tie, c,
            values[:size], behind,
        )  # fmt: skip
        share = 1.0 / (n_classes - 1)
        for i in range(size):
            out[members[i]] += share * values[i]
        _share(share, near, far, label, rival, behind, tail, margins)


@compiled()
def rows(
    codes: Ints,
    n_classes: int,
    order: Ints,
    weights: Array,
    sizes: Ints,
    labels: Ints,
    factors: Floats,
    top: int,
    neighbors: int,
    tie: float,
    c: Coefficients,
    into: Ints,
    sums: Floats,
) -> None:
    """Add the values of `one_vs_one` for several validation points to the sums.

    `order` and `weights` have a row for each validation point, of which the first `sizes` entries
    count. The values of a row are multiplied by its factor, and added to the sums that `into`
    names.
    """
    n = order.shape[1]
    kinds, out = np.empty(n, np.int64), np.empty(n)
    tail, margins = np.empty((n_classes, top + 1)), np.empty((2, n_classes))
    players = np.empty(n_classes, np.int64)
    for r in range(sizes.size):
        size = sizes[r]
        players[:] = 0
        for i in range(size):
            kinds[i] = codes[order[r, i]]
            players[kinds[i]] += 1
        one_vs_one(
            kinds[:size], weights[r, :size], labels[r], players, top, neighbors, tie, c, out[:size],
            tail, margins,
        )  # fmt: skip
        add_at(order[r, :size], out, factors[r], sums[into[r]])
