r"""Weighted means: exact values of games that divide one sum by another.

The utility is, up to its sign, a ratio Z^p / T^p of two sums over the K nearest members of S: T is
the sum of their weights w_j, and Z the sum of their contributions zeta_j. In the soft game, p = 1,
and zeta_j is w_j if the label is right and 0 otherwise. In regression, p = 2, and zeta_j is w_j
times the difference between the target and the truth. A sum of exponentials turns the division into
products,

    1 / T^p = sum_r s_r * prod_j z_{j,r},     z_{j,r} = factor of weight w_j at node r,

to rounding for whole weights, and to a chosen accuracy for real ones, with z = exp(-rate * w)
(`games.quadrature`). At a fixed node, the mean over
the l-subsets of the first m points needs p + 1 numbers per level l,

    M_{l,q} = s_r * E[ Z^q prod_j z_j ],   q = 0..p,

and adding a point changes them by way of g_q = z * sum_k (q choose k) zeta^(q-k) M_k:

    M_{l,q} <- (1 - l/m) M_{l,q} + (l/m) g_{l-1,q}.

A set with T = 0 has the utility of the empty set. If there are points of weight 0, one more node
stands for such sets: its factor z is 1 for weight 0 and 0 for any other weight, M_{0,p} starts at
U(empty set), and the other moments start at 0.

The downdate by point i is a polynomial in z_i and zeta_i. With c_j as in the walk, the gain of i
over the displaced point m is the sum over the nodes of

    sum_t z_i^t sum_q (p choose q) (t zeta_i)^(p-q) e_{t,q},
    e_{t,q} = c_{t-1} M_{K-t,q} - c_t g_{K-1-t,q}          (g is that of point m),

so running sums of e_{t,q}, (K+1) (p+1) of them per node, hold the gains of all points at once. The
first sum of the identity is the same expression with a point m that changes nothing.

Points of equal weight are passed as one run (`kernels.runs`): the members of S from the run add
their factor and, in the mean, their part of the sum of zeta, so that M is needed only at the start
of the run.

Cost: O(n K + R K^2 J) for n points in R runs and J nodes, and never more than O(n K J), plus
O(K^3 J) for the first 2K ranks; memory O(K J + n).
"""

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, inlined, uint64
from dataworth.games.kernels.adding import Levels, add_at
from dataworth.games.kernels.coefficients import Coefficients
from dataworth.games.kernels.coefficients import room as room_of
from dataworth.games.kernels.interpolation import (
    MANY,
    POINTS,
    add_interpolated,
    chebyshev_point,
    similar,
)
from dataworth.games.kernels.mean_runs import is_cheaper, pass_ranks, pass_ranks_squared
from dataworth.games.kernels.runs import BLOCK, GROWTH, runs_of
from dataworth.games.kernels.subset_moments import (
    Points,
    Shape,
    add_room,
    add_run,
    added,
    advance,
    advance_run,
    has_table,
    powers_of,
    read,
    set_downdate,
    set_ends,
    step,
    step_square,
)
from dataworth.games.kernels.walk import NEAR, downdate_terms

# With so few neighbours, the downdate can be used as soon as there are K points: it multiplies
# rounding errors by 2^K - 1 at most.
FEW = 6
# So few points take as long as their runs, of which fewer blocks make fewer. Their values are large
# enough to spare the bits that this costs.
SMALL, FAST_GROWTH, FAST_NEIGHBORS = 4096, 64, 64


@inlined
def _is_new(points: Points, m: int) -> bool:
    """Say whether point m has another weight than the point before it."""
    if has_table(points):
        return points.ids[m] != points.ids[m - 1]
    return points.weights[m] != points.weights[m - 1]


@compiled()
def _kinds(points: Points, near: int) -> Ints:
    """Return, for each of the first ranks, the first point with the same weight and zeta."""
    kinds = np.arange(near)
    for m in range(near):
        for i in range(m):
            if points.zeta[i] == points.zeta[m] and (
                points.ids[i] == points.ids[m]
                if has_table(points)
                else points.weights[i] == points.weights[m]
            ):
                kinds[m] = i
                break
    return kinds


@compiled(fastmath=True)
def _near_ranks(
    kinds: Ints,
    factors: Floats,
    zeta: Floats,
    whole: bool,
    shape: Shape,
    room: Floats,
    displace: Floats,
    moments: Floats,
    out: Floats,
) -> None:
    """Value the first ranks, and set the moments to those of all of them.

    The first point of each kind is left out in turn, and a walk over the later ranks values it and
    all points like it. The first sum of the identity is added only if these ranks are the `whole`
    game.

    Parameters
    ----------
    kinds : (n,) array of int
        For each point, the first one like it.
    factors : (n * J,) array
        The factors of the points.
    zeta : (n,) array
        Their contributions.
    whole : bool
        Whether there are no other points.
    shape : Shape
        The sizes.
    room, displace : array
        As in `values`.
    moments : ((p+1) K J,) array
        The moments of the empty set.
    out : array
        Receives the values.
    """
    near, levels, order = zeta.size, shape.levels, shape.order
    nodes = uint64(shape.nodes)
    half = uint64(levels) * nodes
    top = half - nodes
    old, new = np.empty_like(moments), np.empty_like(moments)
    displaces = whole or near > levels  # else nobody displaces anybody here
    out[:near] = 0.0
    for point in range(near):
        own = uint64(point) * nodes
        if displaces and kinds[point] == point:
            for i in range(uint64(moments.size)):
                old[i] = moments[i]
            total = 0.0
            for m in range(point + 1, near):
                at = uint64(m) * nodes
                if kinds[m] == point:
                    out[m] = -total
                elif m >= levels:
                    gain = added(old, top, factors, own, zeta[point], half, nodes, order)
                    lost = added(old, top, factors, at, zeta[m], half, nodes, order)
                    total += displace[m + 1] * (gain - lost)
                if m + 1 < near or whole:
                    advance(old, factors, at, zeta[m], m, levels, nodes, order, new)
                    old, new = new, old
            if whole:
                for level in range(levels):
                    low = uint64(level) * nodes
                    plain = 0.0
                    for r in range(nodes):
                        plain += old[uint64(order) * half + low + r]
                    gain = added(old, low, factors, own, zeta[point], half, nodes, order)
                    total += room[level] * (gain - plain)
            for m in range(point, near):
                if kinds[m] == point:
                    out[m] += total
        advance(moments, factors, own, zeta[point], point + 1, levels, nodes, order, new)
        for i in range(uint64(moments.size)):
            moments[i] = new[i]


@compiled(fastmath=True)
def _far_ranks(
    starts: Ints,
    blocks: Ints,
    points: Points,
    shape: Shape,
    room: Floats,
    displace: Floats,
    inverse: Floats,
    moments: Floats,
    sums: Floats,
    read_off: Floats,
    scratch: Floats,
    out: Floats,
) -> None:
    """Pass the runs beyond the first ranks and gather sums, one set for each block of ranks.

    The moments must be those of the first ranks. `read_off` receives, for each run, what its points
    must not gain because they come later than points before them in their block.
    """
    levels, order = shape.levels, shape.order
    c = np.zeros(levels + 2)
    ends, gains = np.empty((order, levels)), np.empty((2 * order + 1, levels))
    block_scratch = np.empty((6, BLOCK))
    parts = np.empty(3)
    terms = 0
    for run in range(blocks.size):
        first, stop = starts[run], starts[run + 1]
        if run == 0 or blocks[run] != blocks[run - 1]:
            terms = downdate_terms(first, levels - 1)
        block_sums = sums[blocks[run]]
        if not is_cheaper(stop - first, levels):
            powers = powers_of(points, first, terms, scratch)
            for m in range(first, stop):
                read(block_sums, powers, shape, terms, parts)
                value = 0.0
                for q in range(order + 1):
                    value = value * points.zeta[m] + parts[q]
                out[m] = -value
                set_downdate(displace[m + 1], m, levels - 1, terms, inverse, c)
                if order == 2:
                    step_square(moments, block_sums, powers, points.zeta[m], c, shape, terms, m + 1)
                step(moments, block_sums, powers, points.zeta[m], c, shape, terms, m + 1)
            read_off[run] = 0.0
            continue
        powers = powers_of(points, first, levels, scratch)
        most = min(levels, stop - first)
        set_ends(moments, powers, shape, most, ends)
        if order == 2:
            total, squares = pass_ranks_squared(
                first, stop, levels, points.zeta, displace, inverse, ends, block_scratch, gains, out
            )
        else:
            total, squares = pass_ranks(
                first, stop, levels, points.zeta, displace, inverse, ends, block_scratch, gains, out
            )
        add_run(moments, block_sums, powers, gains, most, first, shape, inverse, c)
        read(block_sums, powers, shape, levels, read_off[run])
        advance_run(moments, powers, first, stop, total, squares, shape, c)
    add_room(moments, shape, points.zeta.size, room, inverse, c, sums[-1])


@compiled(fastmath=True)
def _add_polynomial(parts: Floats, zeta: Floats, out: Floats) -> None:
    """Add to each value a polynomial of its zeta, whose highest power comes first."""
    if parts.size == 2:
        linear, constant = parts[0], parts[1]
        for i in range(uint64(zeta.size)):
            out[i] += linear * zeta[i] + constant
    else:
        square, linear, constant = parts[0], parts[1], parts[2]
        for i in range(uint64(zeta.size)):
            out[i] += (square * zeta[i] + linear) * zeta[i] + constant


@compiled(fastmath=True)
def _add_interpolated(
    sums: Floats,
    points: Points,
    first: int,
    stop: int,
    shape: Shape,
    less: float,
    scratch: Floats,
    out: Floats,
) -> None:
    """Do what `_add_reading` does for points whose weights are all different but alike.

    What the sums give to a point is a smooth function of its weight for each power of its zeta, and
    a polynomial through its values at some weights equals it.
    """
    terms = shape.levels
    some = Points(points.ids, points.table, np.empty(1), points.rates, points.zeta)
    weights = points.weights[first:stop]
    least, most = weights.min(), weights.max()
    parts, values = np.empty(shape.order + 1), np.empty((shape.order + 1, POINTS))
    for k in range(POINTS):
        some.weights[0] = chebyshev_point(k, least, most)
        read(sums, powers_of(some, 0, terms, scratch), shape, terms, parts)
        parts[-1] -= less
        values[:, k] = parts
    add_interpolated(values, least, most, weights, points.zeta[first:stop], out[first:stop])


@compiled(fastmath=True)
def _add_reading(
    starts: Ints,
    blocks: Ints,
    points: Points,
    shape: Shape,
    sums: Floats,
    read_off: Floats,
    less: float,
    scratch: Floats,
    out: Floats,
) -> None:
    """Add to the value of each point what the sums of its block and of all later ones give it.

    `less` is taken off all values.
    """
    terms = shape.levels
    parts = np.empty(shape.order + 1)
    m = 0
    while m < starts[0]:
        stop = m + 1
        while stop < starts[0] and not _is_new(points, stop):
            stop += 1
        read(sums[0], powers_of(points, m, terms, scratch), shape, terms, parts)
        parts[-1] -= less
        _add_polynomial(parts, points.zeta[m:stop], out[m:stop])
        m = stop
    run = 0
    while run < blocks.size:
        alike = 0 if has_table(points) else similar(starts, blocks, points.weights, run)
        if alike >= MANY:
            _add_interpolated(
                sums[blocks[run]], points, starts[run], starts[run + alike], shape, less, scratch,
                out,
            )  # fmt: skip
            run += alike
            continue
        for each in range(run, run + max(alike, 1)):
            m, stop = starts[each], starts[each + 1]
            read(sums[blocks[each]], powers_of(points, m, terms, scratch), shape, terms, parts)
            for q in range(parts.size):
                parts[q] -= read_off[each, q]
            parts[-1] -= less
            _add_polynomial(parts, points.zeta[m:stop], out[m:stop])
        run += max(alike, 1)


@compiled(fastmath=True)
def values(
    points: Points,
    start: Floats,
    empty: float,
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
    empty : float
        U(empty set), or 0 if a node stands for it.
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
    n, levels, nodes = points.zeta.size, room.size, start.shape[1]
    shape = Shape(levels, nodes, start.shape[0] - 1, np.arange(levels + 1) * nodes)
    near = min(n, levels if levels <= FEW else NEAR * levels)
    moments = np.zeros(start.shape[0] * levels * nodes)
    for q in range(start.shape[0]):
        for r in range(nodes):
            moments[q * levels * nodes + r] = start[q, r]
    scratch = np.empty(0 if has_table(points) else (levels + 2) * nodes)
    factors = np.empty(near * nodes)
    for m in range(near):
        powers = powers_of(points, m, 1, scratch)
        for r in range(nodes):
            factors[m * nodes + r] = powers[nodes + r]
    _near_ranks(
        _kinds(points, near), factors, points.zeta[:near], near == n, shape, room, displace,
        moments, out,
    )  # fmt: skip
    if near < n:
        if has_table(points):
            growth = FAST_GROWTH if n <= SMALL and levels <= FAST_NEIGHBORS else GROWTH
            starts, blocks = runs_of(points.ids, near, growth)
        else:
            starts, blocks = runs_of(points.weights, near, GROWTH)
        sums = np.zeros((blocks[-1] + 1, start.shape[0] * (levels + 1) * nodes))
        read_off = np.empty((blocks.size, start.shape[0]))
        _far_ranks(
            starts, blocks, points, shape, room, displace, inverse, moments, sums, read_off,
            scratch, out,
        )  # fmt: skip
        for block in range(blocks[-1] - 1, -1, -1):
            for i in range(uint64(sums.shape[1])):
                sums[block, i] += sums[block + 1, i]
        _add_reading(starts, blocks, points, shape, sums, read_off, room[0] * empty, scratch, out)
    else:
        for m in range(n):
            out[m] -= room[0] * empty
    if outside.size > 0:
        for q in range(start.shape[0]):
            for r in range(nodes):
                total = 0.0
                for level in range(levels):
                    total += outside[level] * moments[(q * levels + level) * nodes + r]
                tail[q, r] = total


@compiled(fastmath=True)
def soft_rows(
    codes: Ints,
    order: Ints,
    weights: Levels,
    sizes: Ints,
    labels: Ints,
    factors: Floats,
    empty: float,
    neighbors: int,
    table: Floats,
    start: Floats,
    c: Coefficients,
    into: Ints,
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
    factors : (r,) array
        By which the values of each row are multiplied.
    empty : float
        U(empty set).
    neighbors : int
        K, the number of neighbours.
    table, start : array
        As in `Points` and `values`, without a node for the empty set.
    c : Coefficients
        The coefficients of the identity.
    into : (r,) array of int
        To which sums each row is added.
    sums : (blocks, n_train) array
        Receives the values.
    """
    tail, nothing = np.empty((0, 0)), np.empty(0)
    zeta, out = np.empty(order.shape[1]), np.empty(order.shape[1])
    # Single bytes are looked up one by one; processors are slow at looking up several large ones.
    right, of = np.empty(codes.size, np.int8), -1
    for r in range(sizes.size):
        n = sizes[r]
        if n == 0:
            continue
        if labels[r] != of:
            of = labels[r]
            for i in range(uint64(codes.size)):
                right[i] = codes[i] == of
        for i in range(uint64(n)):
            zeta[i] = float(weights[r, i] * right[uint64(order[r, i])])
        inside, outside, _, _ = room_of(c, n, n, min(neighbors, n))
        points = Points(weights[r, :n], table, nothing, nothing, zeta[:n])
        values(points, start, empty, inside, outside[:0], c.displace, c.inverse, out[:n], tail)
        add_at(order[r, :n], out, factors[r], sums[into[r]])


@compiled(fastmath=True)
def behind(points: Points, tail: Floats, plain: float, out: Floats) -> None:
    """Value the points behind the ranked ones.

    Parameters
    ----------
    points : Points
        The points to value.
    tail : (p+1, J) array
        What `values` has left for them.
    plain : float
        What the sets without the point are worth beyond `tail`: that of the empty set, if it has no
        node.
    out : (n,) array
        Receives the values.
    """
    nodes = tail.shape[1]
    order = tail.shape[0] - 1
    parts = np.empty(order + 1)
    scratch = np.empty(0 if has_table(points) else 3 * nodes)
    plain += tail[order].sum()
    for m in range(points.zeta.size):
        if m == 0 or _is_new(points, m):
            z = powers_of(points, m, 1, scratch)[nodes : 2 * nodes]
            for q in range(order + 1):
                parts[q] = (z * tail[q]).sum()
        zeta = points.zeta[m]
        if order == 2:
            out[m] = parts[2] + zeta * (2.0 * parts[1] + zeta * parts[0]) - plain
        else:
            out[m] = parts[1] + zeta * parts[0] - plain
