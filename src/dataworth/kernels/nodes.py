r"""Weighted means: exact values of games that divide one sum by another.

The utility is a ratio, Z^p / T^p, of two sums over the K nearest members of S: T = sum of weights,
Z = sum of contributions zeta_j (soft label: p = 1 and zeta_j = w_j where the label is right, else
0; regression: p = 2 and zeta_j = w_j times the target's distance from the truth). A sum of
exponentials turns the division into products,

    1 / T^p = sum_r s_r * prod_j z_{j,r},     z_{j,r} = factor of weight w_j at node r,

exactly for integer weights (Gaussian quadrature of an integral of x^(T-1) over [0, 1], with
z = x^w) and to a chosen accuracy for real ones (z = exp(-rate * w)). At a fixed node the mean over
l-subsets of the first m points needs p + 1 numbers per level l,

    M_{l,q} = s_r * E[ Z^q prod_j z_j ],   q = 0..p,

and adding a point moves them by  g_q = z * sum_k (q choose k) zeta^(q-k) M_k:

    M_{l,q} <- (1 - l/m) M_{l,q} + (l/m) g_{l-1,q}.

T = 0, where the utility is that of the empty set, is one more node with z = 1 for weight 0 and 0
otherwise: there M_{0,p} starts at U(empty set) and the other moments at 0.

The downdate by point i is a polynomial in z_i and zeta_i: with c_j as in the walk, the gain of i
over the displaced point m is sum over the nodes of

    sum_t z_i^t sum_q (p choose q) (t zeta_i)^(p-q) e_{t,q},
    e_{t,q} = c_{t-1} M_{K-t,q} - c_t g_{K-1-t,q}          (g moved by point m),

so running sums of e_{t,q}, K (p+1) of them per node, hold the gains of all points at once. The
first sum of the identity is the same expression with a point m that moves nothing.

Cost: O(n K J) for n points and J nodes; memory O(K J + n).
"""

from typing import NamedTuple

import numpy as np
from numba import uint64

from dataworth.kernels.compiled import compiled, inlined
from dataworth.kernels.walk import NEAR, Floats, Ints, downdate_terms


class Points(NamedTuple):
    """Points as the kernel takes them.

    ids : (n,) row of `table` that holds each point's factors.
    table : (rows, J) factors by node. With no rows, the factors are exp(-rates * weight).
    weights, rates : (n,) and (J,), read only where `table` has no rows.
    zeta : (n,) contributions to Z.
    """

    ids: Ints
    table: Floats
    weights: Floats
    rates: Floats
    zeta: Floats


@inlined
def _is_new(points: Points, m: int) -> bool:
    """Whether the factors of point m may differ from those of the point before it."""
    return points.table.shape[0] == 0 or points.ids[m] != points.ids[m - 1]


@inlined
def _set_factors(points: Points, m: int, z: Floats) -> None:
    """The factors of point m: a row of the table, or exp(-rate * weight) where there is none."""
    if points.table.shape[0] > 0:
        for r in range(z.size):
            z[r] = points.table[points.ids[m], r]
    else:
        for r in range(z.size):
            z[r] = np.exp(-points.rates[r] * points.weights[m])


@inlined
def _set_powers(z: Floats, terms: int, powers: Floats) -> None:
    """powers[q, t * J + r] = (p choose q) t^(p-q) z_r^t: what the running sums are read with."""
    nodes = z.size
    order = powers.shape[0] - 1
    for r in range(nodes):
        powers[order, r] = 1.0
    for t in range(1, terms + 1):
        for r in range(nodes):
            powers[order, t * nodes + r] = powers[order, (t - 1) * nodes + r] * z[r]
    for q in range(order):
        for t in range(terms + 1):
            factor = float(t) ** (order - q) * (order if q == 1 else 1)
            for r in range(nodes):
                powers[q, t * nodes + r] = factor * powers[order, t * nodes + r]


@inlined
def _read(sums: Floats, powers: Floats, size: int, zeta: float) -> float:
    """The running sums at a point's factors and contribution, by Horner's rule in zeta."""
    total = 0.0
    for q in range(sums.shape[0]):
        part = 0.0
        for i in range(size):
            part += sums[q, i] * powers[q, i]
        total = total * zeta + part
    return total


@inlined
def _step_square(
    moments: Floats, sums: Floats, z: Floats, zeta: float, c: Floats, terms: int, m: int
) -> None:
    """The part of `_step` that the second power of Z adds; it runs before `_step`."""
    none, one, two, out = moments[0], moments[1], moments[2], sums[2]
    nodes = z.size
    levels = none.size // nodes
    for t in range(levels):
        low, up, e = (levels - 1 - t) * nodes, (levels - t) * nodes, t * nodes
        gain, loss = c[t], c[t + 1]
        take = (levels - t) / m
        keep = 1.0 - take
        for r in range(uint64(nodes)):
            i = uint64(low) + r
            moved = z[r] * (two[i] + zeta * (2.0 * one[i] + zeta * none[i]))
            if t == 0:
                out[r] -= loss * moved
            else:
                old = two[uint64(up) + r]
                if t <= terms:
                    out[uint64(e) + r] += gain * old - loss * moved
                two[uint64(up) + r] = keep * old + take * moved
    if terms == levels:
        for r in range(nodes):
            out[levels * nodes + r] += c[levels] * two[r]


@inlined
def _step(
    moments: Floats, sums: Floats, z: Floats, zeta: float, c: Floats, terms: int, m: int
) -> None:
    """Pass point m: add its e_{t,q}, t <= terms, to the sums and move the moments q = 0 and 1.

    c[t] is c_{t-1}, with zeros beyond the terms. Levels fall as t rises, so each one is read as it
    was before the point and written once.
    """
    none, one = moments[0], moments[1]
    out, out_one = sums[0], sums[1]
    nodes = uint64(z.size)
    levels = none.size // z.size
    low = uint64((levels - 1) * z.size)
    loss = c[1]
    for r in range(nodes):
        moved = z[r] * none[low + r]
        out[r] -= loss * moved
        out_one[r] -= loss * (z[r] * one[low + r] + zeta * moved)
    for t in range(1, levels):
        up = low
        low = up - nodes
        take = (levels - t) / m
        keep = 1.0 - take
        gain, loss = c[t], c[t + 1]
        if t <= terms:
            e = uint64(t) * nodes
            for r in range(nodes):
                moved = z[r] * none[low + r]
                moved_one = z[r] * one[low + r] + zeta * moved
                old, old_one = none[up + r], one[up + r]
                out[e + r] += gain * old - loss * moved
                out_one[e + r] += gain * old_one - loss * moved_one
                none[up + r] = keep * old + take * moved
                one[up + r] = keep * old_one + take * moved_one
        else:
            for r in range(nodes):
                moved = z[r] * none[low + r]
                moved_one = z[r] * one[low + r] + zeta * moved
                none[up + r] = keep * none[up + r] + take * moved
                one[up + r] = keep * one[up + r] + take * moved_one
    if terms == levels:
        e = uint64(levels) * nodes
        for r in range(nodes):
            out[e + r] += c[levels] * none[r]
            out_one[e + r] += c[levels] * one[r]


@compiled(fastmath=True)
def _advance(moments: Floats, z: Floats, zeta: float, m: int) -> None:
    """Pass point m without gathering anything; the plain form of `_step`."""
    nodes = z.size
    order = moments.shape[0] - 1
    levels = moments.shape[1] // nodes
    for level in range(min(levels - 1, m), 0, -1):
        take = level / m
        keep = 1.0 - take
        for r in range(nodes):
            low, up = (level - 1) * nodes + r, level * nodes + r
            moved = z[r] * moments[0, low]
            moved_one = z[r] * moments[1, low] + zeta * moved
            if order == 2:
                moved_two = z[r] * (moments[2, low] + zeta * moments[1, low]) + zeta * moved_one
                moments[2, up] = keep * moments[2, up] + take * moved_two
            moments[1, up] = keep * moments[1, up] + take * moved_one
            moments[0, up] = keep * moments[0, up] + take * moved


@compiled(fastmath=True)
def _add_room(moments: Floats, nodes: int, n: int, room: Floats, c: Floats, sums: Floats) -> None:
    """Add the first sum of the identity: e_{t,q} against a point that moves nothing."""
    for level in range(room.size):
        terms = downdate_terms(n, level)
        _set_downdate(room[level], n, level, terms, c)
        for q in range(moments.shape[0]):
            for t in range(terms + 1):
                for r in range(nodes):
                    e = t * nodes + r
                    if t > 0:
                        sums[q, e] += c[t] * moments[q, (level + 1 - t) * nodes + r]
                    if t <= level:
                        sums[q, e] -= c[t + 1] * moments[q, (level - t) * nodes + r]


@inlined
def _set_downdate(scale: float, n: int, level: int, terms: int, out: Floats) -> None:
    """Write scale * c_{j-1} into out[j] for 0 < j <= terms, and zeros around them."""
    out[0] = 0.0
    product = scale
    for j in range(terms):
        share = 1.0 / (n - level + j)
        out[j + 1] = product * n * share
        product *= -(level - j) * share
    out[terms + 1] = 0.0


@inlined
def _begin(moments: Floats, start: Floats) -> None:
    moments[:] = 0.0
    moments[:, : start.shape[1]] = start


@compiled(fastmath=True)
def _added(moments: Floats, level: int, z: Floats, zeta: float) -> float:
    """Mean utility of l-subsets with one point added, summed over the nodes."""
    order = moments.shape[0] - 1
    total = 0.0
    for r in range(z.size):
        i = level * z.size + r
        at = moments[1, i] + zeta * moments[0, i]
        if order == 2:
            at = moments[2, i] + zeta * (moments[1, i] + at)
        total += z[r] * at
    return total


@inlined
def _alike(points: Points, a: int, b: int) -> bool:
    """Whether two points have the same factors and contribution, and so the same downdate."""
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
    """Value `point` and all that are like it by a walk over the first `stop` ranks without it.

    `point` must be the first of its kind. The first sum of the identity belongs to the values when
    these are all the points there are.
    """
    levels = room.size
    nodes = start.shape[1]
    own, z = np.empty(nodes), np.empty(nodes)
    _set_factors(points, point, own)
    _begin(moments, start)
    total = 0.0
    passed = 0
    for m in range(stop):
        if m == point:
            out[m] = 0.0
            continue
        _set_factors(points, m, z)
        if _alike(points, point, m):
            out[m] = -total
        elif m > point and m >= levels:
            gain = _added(moments, levels - 1, own, points.zeta[point])
            total += displace[m + 1] * (gain - _added(moments, levels - 1, z, points.zeta[m]))
        passed += 1
        _advance(moments, z, points.zeta[m], passed)
    if stop == points.zeta.size:
        for level in range(levels):
            plain = moments[-1, level * nodes : (level + 1) * nodes].sum()
            total += room[level] * (_added(moments, level, own, points.zeta[point]) - plain)
    for m in range(point, stop):
        if _alike(points, point, m):
            out[m] += total


@compiled(fastmath=True)
def _far_ranks(
    first: int,
    points: Points,
    start: Floats,
    room: Floats,
    displace: Floats,
    moments: Floats,
    sums: Floats,
    out: Floats,
) -> None:
    """Walk all ranks, and from rank `first` on gather the sums, one set per doubling block."""
    n = points.zeta.size
    levels = room.size
    nodes = start.shape[1]
    z = np.empty(nodes)
    powers = np.empty((start.shape[0], (levels + 1) * nodes))
    c = np.zeros(levels + 2)
    _begin(moments, start)
    for m in range(first):
        _set_factors(points, m, z)
        _advance(moments, z, points.zeta[m], m + 1)
    block = 0
    while first < n:
        stop = min(2 * first, n)
        terms = downdate_terms(first, levels - 1)
        block_sums = sums[block]
        for m in range(first, stop):
            if m == first or _is_new(points, m):
                _set_factors(points, m, z)
                _set_powers(z, terms, powers)
            out[m] = -_read(block_sums, powers, (terms + 1) * nodes, points.zeta[m])
            _set_downdate(displace[m + 1], m, levels - 1, terms, c)
            if start.shape[0] == 3:
                _step_square(moments, block_sums, z, points.zeta[m], c, terms, m + 1)
            _step(moments, block_sums, z, points.zeta[m], c, terms, m + 1)
        if stop == n:
            _add_room(moments, nodes, n, room, c, block_sums)
        block += 1
        first = stop


@compiled(fastmath=True)
def _add_reading(
    near: int,
    points: Points,
    sums: Floats,
    out: Floats,
) -> None:
    """Add to each point what its block and all later ones hold for it."""
    size = sums.shape[2]
    orders = sums.shape[1]
    z = np.empty(max(points.table.shape[1], points.rates.size))
    powers = np.empty((orders, size))
    parts = np.empty(orders)
    block = 0
    stop = 2 * near
    for m in range(points.zeta.size):
        fresh = m == 0 or _is_new(points, m)
        if fresh:
            _set_factors(points, m, z)
            _set_powers(z, size // z.size - 1, powers)
        if m == stop:
            block += 1
            stop *= 2
            fresh = True
        if fresh:
            for q in range(orders):
                parts[q] = (sums[block, q] * powers[q]).sum()
        value = 0.0
        for q in range(orders):
            value = value * points.zeta[m] + parts[q]
        out[m] += value


@compiled(fastmath=True)
def weighted_mean(
    points: Points,
    start: Floats,
    room: Floats,
    outside: Floats,
    displace: Floats,
    out: Floats,
    tail: Floats,
) -> None:
    """Write the value of each ranked point into `out`, by the identity of the kernels.

    Parameters
    ----------
    points : n points, nearest first.
    start : (p+1, J) moments of the empty set; p is the power of the ratio, 1 or 2.
    room : (K,) coefficients of the first sum; its length is the number of neighbours.
    outside : (K,) the same for points behind those given; empty where there are none.
    displace : (>= n+1,) coefficients of the second sum, by rank counted from 1.
    out : (n,) receives the values.
    tail : (p+1, J) receives what `behind` needs to value points behind those given, if any are.
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
        blocks = 0
        stop = near
        while stop < n:
            blocks += 1
            stop *= 2
        sums = np.zeros((blocks, start.shape[0], (levels + 1) * nodes))
        _far_ranks(near, points, start, room, displace, moments, sums, out)
        for block in range(blocks - 2, -1, -1):
            sums[block] += sums[block + 1]
        _add_reading(near, points, sums, out)
    elif outside.size > 0:  # the moments so far each lacked a point
        z = np.empty(nodes)
        _begin(moments, start)
        for m in range(n):
            _set_factors(points, m, z)
            _advance(moments, z, points.zeta[m], m + 1)
    if outside.size > 0:
        tail[:] = 0.0
        for level in range(levels):
            tail += outside[level] * moments[:, level * nodes : (level + 1) * nodes]


@compiled(fastmath=True)
def behind(
    points: Points,
    tail: Floats,
    out: Floats,
) -> None:
    """Write into `out` the values of points behind those ranked, from the kernel's `tail`."""
    nodes = tail.shape[1]
    order = tail.shape[0] - 1
    z = np.empty(nodes)
    parts = np.empty(order + 1)
    plain = tail[order].sum()
    for m in range(points.zeta.size):
        if m == 0 or _is_new(points, m):
            _set_factors(points, m, z)
            for q in range(order + 1):
                parts[q] = (z * tail[q]).sum()
        if order == 2:
            out[m] = (
                parts[2] + points.zeta[m] * (2.0 * parts[1] + points.zeta[m] * parts[0]) - plain
            )
        else:
            out[m] = parts[1] + points.zeta[m] * parts[0] - plain
