r"""Weighted means: exact values of games that divide one sum by another.

The utility is, up to its sign, a ratio Z^p / T^p of two sums over the K nearest members of S: T is
the sum of their weights w_j, and Z the sum of their contributions zeta_j. In the soft game, p = 1,
and zeta_j is w_j if the label is right and 0 otherwise. In regression, p = 2, and zeta_j is w_j
times the difference between the target and the truth. A sum of exponentials turns the division into
products,

    1 / T^p = sum_r s_r * prod_j z_{j,r},     z_{j,r} = factor of weight w_j at node r,

exactly for integer weights (Gaussian quadrature of an integral of x^(T-1) over [0, 1], with
z = x^w) and to a chosen accuracy for real ones (z = exp(-rate * w)). At a fixed node, the mean over
the l-subsets of the first m points needs p + 1 numbers per level l,

    M_{l,q} = s_r * E[ Z^q prod_j z_j ],   q = 0..p,

and adding a point changes them by way of g_q = z * sum_k (q choose k) zeta^(q-k) M_k:

    M_{l,q} <- (1 - l/m) M_{l,q} + (l/m) g_{l-1,q}.

A set with T = 0 has the utility of the empty set. One more node stands for such sets: its factor z
is 1 for weight 0 and 0 for any other weight, M_{0,p} starts at U(empty set), and the other moments
start at 0.

The downdate by point i is a polynomial in z_i and zeta_i. With c_j as in the walk, the gain of i
over the displaced point m is the sum over the nodes of

    sum_t z_i^t sum_q (p choose q) (t zeta_i)^(p-q) e_{t,q},
    e_{t,q} = c_{t-1} M_{K-t,q} - c_t g_{K-1-t,q}          (g is that of point m),

so running sums of e_{t,q}, K (p+1) of them per node, hold the gains of all points at once. The
first sum of the identity is the same expression with a point m that changes nothing.

Cost: O(n K J) for n points and J nodes; memory O(K J + n).
"""

import numpy as np

from numba import uint64

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, inlined
from dataworth.games.kernels.adding import Levels, add_at
from dataworth.games.kernels.coefficients import Coefficients
from dataworth.games.kernels.coefficients import room as room_of
from dataworth.games.kernels.runs import pass_ranks, pass_ranks_squared, runs_of
from dataworth.games.kernels.subset_moments import (
    Points,
    add_room,
    add_run,
    added,
    advance,
    advance_run,
    begin,
    is_new,
    read,
    set_downdate,
    set_ends,
    set_factors,
    set_powers,
    step,
    step_square,
)
from dataworth.games.kernels.walk import NEAR, downdate_terms


@inlined
def _alike(points: Points, a: int, b: int) -> bool:
    """Say whether two points have the same factors and contribution, and so the same downdate."""
    if points.zeta[a] != points.zeta[b]:
        return False
    if points.table.shape[0] > 0:
        return points.ids[a] == points.ids[b]
    return points.weights[a] == points.weights[b]


@compiled(fastmath=True)
def _near_ranks(
    stop: int,
    point: int,
    points: Points,
    start: Floats,
    room: Floats,
    displace: Floats,
    moments: Floats,
    out: Floats,
) -> None:
    """Value `point` and all points like it by a walk over the first `stop` ranks without it.

    `point` must be the first of its kind. The first sum of the identity is added only if there are
    no points beyond these ranks.
    """
    levels = room.size
    nodes = start.shape[1]
    own, z = np.empty(nodes), np.empty(nodes)
    set_factors(points, point, own)
    begin(moments, start)
    total = 0.0
    passed = 0
    for m in range(stop):
        if m == point:
            out[m] = 0.0
            continue
        set_factors(points, m, z)
        if _alike(points, point, m):
            out[m] = -total
        elif m > point and m >= levels:
            gain = added(moments, levels - 1, own, points.zeta[point])
            total += displace[m + 1] * (gain - added(moments, levels - 1, z, points.zeta[m]))
        passed += 1
        advance(moments, z, points.zeta[m], passed)
    if stop == points.zeta.size:
        for level in range(levels):
            plain = moments[-1, level * nodes : (level + 1) * nodes].sum()
            total += room[level] * (added(moments, level, own, points.zeta[point]) - plain)
    for m in range(point, stop):
        if _alike(points, point, m):
            out[m] += total


@compiled(fastmath=True)
def _far_ranks(
    starts: Ints,
    blocks: Ints,
    points: Points,
    start: Floats,
    room: Floats,
    displace: Floats,
    inverse: Floats,
    moments: Floats,
    sums: Floats,
    read_off: Floats,
    out: Floats,
) -> None:
    """Walk all ranks and gather sums beyond the first ranks, one set for each doubling block.

    What a point must not gain, from points before it in its block, is taken off at once if it is
    in a short run. For a long run, the numbers that say it are left in `read_off`.
    """
    levels = room.size
    nodes = start.shape[1]
    order = start.shape[0] - 1
    z = np.empty(nodes)
    powers = np.empty((order + 1, (levels + 1) * nodes))
    c = np.zeros(levels + 2)
    ends, gains = np.empty((order, levels)), np.empty((2 * order + 1, levels))
    begin(moments, start)
    for m in range(starts[0]):
        set_factors(points, m, z)
        advance(moments, z, points.zeta[m], m + 1)
    terms = 0
    for run in range(blocks.size):
        first, stop = starts[run], starts[run + 1]
        if run == 0 or blocks[run] != blocks[run - 1]:
            terms = downdate_terms(first, levels - 1)
        block_sums = sums[blocks[run]]
        set_factors(points, first, z)
        if 2 * (stop - first) < levels or stop - first == 1:
            set_powers(z, terms, powers)
            read_off[run] = 0.0
            for m in range(first, stop):
                out[m] = -read(block_sums, powers, (terms + 1) * nodes, points.zeta[m])
                set_downdate(displace[m + 1], m, levels - 1, terms, inverse, c)
                if order == 2:
                    step_square(moments, block_sums, z, points.zeta[m], c, terms, m + 1)
                step(moments, block_sums, z, points.zeta[m], c, terms, m + 1)
            continue
        set_powers(z, levels, powers)
        most = min(levels, stop - first)
        set_ends(moments, powers, nodes, most, ends)
        if order == 2:
            pass_ranks_squared(first, stop, levels, points.zeta, displace, inverse, ends, gains, out)
        else:
            pass_ranks(first, stop, levels, points.zeta, displace, inverse, ends, gains, out)
        add_run(moments, block_sums, powers, gains, most, first, inverse, c)
        for q in range(order + 1):
            read_off[run, q] = (block_sums[q] * powers[q]).sum()
        advance_run(moments, powers, points.zeta[first:stop], first, c)
    add_room(moments, nodes, points.zeta.size, room, inverse, c, sums[-1])


@compiled(fastmath=True)
def _add_reading(
    starts: Ints, blocks: Ints, points: Points, sums: Floats, read_off: Floats, out: Floats
) -> None:
    """Add to the value of each point what the sums of its block and of all later ones give it."""
    size = sums.shape[2]
    orders = sums.shape[1]
    z = np.empty(max(points.table.shape[1], points.rates.size))
    powers = np.empty((orders, size))
    parts = np.empty(3)
    for run in range(-1, blocks.size):  # the first ranks come before all runs
        first, stop = (0, starts[0]) if run < 0 else (starts[run], starts[run + 1])
        m = first
        while m < stop:
            set_factors(points, m, z)
            set_powers(z, size // z.size - 1, powers)
            end = stop
            if run < 0:
                end = m + 1
                while end < stop and not is_new(points, end):
                    end += 1
            parts[0] = 0.0
            for q in range(orders):
                part = (sums[max(blocks[run], 0) if run >= 0 else 0, q] * powers[q]).sum()
                parts[q + 3 - orders] = part - (read_off[run, q] if run >= 0 else 0.0)
            square, linear, constant = parts[0], parts[1], parts[2]
            if orders == 2:
                for i in range(uint64(m), uint64(end)):
                    out[i] += linear * points.zeta[i] + constant
            else:
                for i in range(uint64(m), uint64(end)):
                    out[i] += (square * points.zeta[i] + linear) * points.zeta[i] + constant
            m = end


@compiled(fastmath=True)
def values(
    points: Points,
    start: Floats,
    room: Floats,
    outside: Floats,
    displace: Floats,
    inverse: Floats,
    out: Floats,
    tail: Floats,
) -> None:
    """Write the value of each ranked point into `out`, by the identity of the kernels.

    Parameters
    ----------
    points : Points
        The n ranked points, nearest first.
    start : (p+1, J) array
        Moments of the empty set; p is the power of the ratio, 1 or 2.
    room : (K,) array
        Coefficients of the first sum; its length is the number of neighbours.
    outside : (K,) array
        The same for the points behind the ranked ones; empty if there are none.
    displace : (n+1,) array, or longer
        Coefficients of the second sum, by rank counted from 1.
    inverse : (n+1,) array, or longer
        1/m by m.
    out : (n,) array
        Receives the values.
    tail : (p+1, J) array
        Receives what `behind` needs to value the points behind the ranked ones, if there are any.
    """
    n = points.zeta.size
    levels = room.size
    nodes = start.shape[1]
    near = min(n, NEAR * levels)
    moments = np.empty((start.shape[0], levels * nodes))
    done = np.zeros(near, np.bool_)
    for m in range(near):
        if not done[m]:
            for j in range(m, near):
                done[j] = done[j] or _alike(points, m, j)
            _near_ranks(near, m, points, start, room, displace, moments, out)
    if near < n:
        if points.table.shape[0] > 0:
            starts, blocks = runs_of(points.ids, near)
        else:
            starts, blocks = runs_of(points.weights, near)
        sums = np.zeros((blocks[-1] + 1, start.shape[0], (levels + 1) * nodes))
        read_off = np.empty((blocks.size, start.shape[0]))
        _far_ranks(
            starts, blocks, points, start, room, displace, inverse, moments, sums, read_off, out
        )
        for block in range(blocks[-1] - 1, -1, -1):
            sums[block] += sums[block + 1]
        _add_reading(starts, blocks, points, sums, read_off, out)
    elif outside.size > 0:  # each set of moments so far lacks a point
        z = np.empty(nodes)
        begin(moments, start)
        for m in range(n):
            set_factors(points, m, z)
            advance(moments, z, points.zeta[m], m + 1)
    if outside.size > 0:
        tail[:] = 0.0
        for level in range(levels):
            tail += outside[level] * moments[:, level * nodes : (level + 1) * nodes]


@compiled(fastmath=True)
def soft_rows(
    codes: Ints,
    order: Ints,
    weights: Levels,
    sizes: Ints,
    labels: Ints,
    empty: float,
    neighbors: int,
    table: Floats,
    factors: Floats,
    c: Coefficients,
    sums: Floats,
) -> None:
    """Add the values of the soft game for several validation points to the sums.

    Parameters
    ----------
    codes : (n_train,) array of int
        Class codes of all training points.
    order, weights : (r, n) arrays of int
        The ranked points of each validation point, and their weights.
    sizes : (r,) array of int
        How many entries of each row count.
    labels : (r,) array of int
        The right class codes.
    empty : float
        U(empty set).
    neighbors : int
        K, the number of neighbours.
    table, factors : array
        The nodes of the quadrature.
    c : Coefficients
        The coefficients of the identity.
    sums : (n_train,) array
        Receives the values.
    """
    start = np.zeros((2, factors.size + 1))
    start[0, :-1] = factors
    start[1, -1] = empty
    tail, nothing = np.empty((0, 0)), np.empty(0)
    zeta, out = np.empty(order.shape[1]), np.empty(order.shape[1])
    for r in range(sizes.size):
        n = sizes[r]
        if n == 0:
            continue
        for i in range(uint64(n)):
            zeta[i] = weights[r, i] * (codes[order[r, i]] == labels[r])
        inside, outside, _, _ = room_of(c, n, n, min(neighbors, n))
        points = Points(weights[r, :n], table, nothing, nothing, zeta[:n])
        values(points, start, inside, outside[:0], c.displace, c.inverse, out[:n], tail)
        add_at(order[r, :n], out, sums)


@compiled(fastmath=True)
def behind(
    points: Points,
    tail: Floats,
    out: Floats,
) -> None:
    """Value the points behind the ranked ones.

    Parameters
    ----------
    points : Points
        The points to value.
    tail : (p+1, J) array
        What `values` has left for them.
    out : (n,) array
        Receives the values.
    """
    nodes = tail.shape[1]
    order = tail.shape[0] - 1
    z = np.empty(nodes)
    parts = np.empty(order + 1)
    plain = tail[order].sum()
    for m in range(points.zeta.size):
        if m == 0 or is_new(points, m):
            set_factors(points, m, z)
            for q in range(order + 1):
                parts[q] = (z * tail[q]).sum()
        if order == 2:
            out[m] = (
                parts[2] + points.zeta[m] * (2.0 * parts[1] + points.zeta[m] * parts[0]) - plain
            )
        else:
            out[m] = parts[1] + points.zeta[m] * parts[0] - plain
