"""Moments over random subsets at the nodes of a quadrature, and how points change them.

This is the algebra behind `kernels.weighted_mean`, whose docstring has the formulas. With J nodes,
M_{l,q} at node r is kept in `moments[(q * K + l) * J + r]`, (p choose q) t^(p-q) e_{t,q} in
`sums[(q * (K + 1) + t) * J + r]`, and the powers z_r^t of the factors of a point in
`powers[t * J + r]`. Flat arrays and inlined helpers let the compiler vectorise loops over nodes.
"""

import math
from typing import NamedTuple

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, inlined, uint64
from dataworth.games.kernels.adding import Levels
from dataworth.games.kernels.runs import shares
from dataworth.games.kernels.walk import downdate, downdate_terms


class Shape(NamedTuple):
    """The sizes that the arrays have.

    Attributes
    ----------
    levels : int
        K, the number of neighbours.
    nodes : int
        J, the number of nodes.
    order : int
        The power p of the ratio, 1 or 2.
    places : (K+1,) array of int
        Where the numbers of each level, or of each t, start: its multiples of J. Loops that go up
        in t and down in levels look them up. Otherwise the compiler would ask once for all t
        whether what is written is also read, find that it is, and vectorise nothing.
    """

    levels: int
    nodes: int
    order: int
    places: Ints


class Points(NamedTuple):
    """Points as the kernel takes them.

    Attributes
    ----------
    ids : (n,) array of int16
        For each point, the row of `table` that holds the powers of its factors.
    table : (rows, (K+1) J) array
        Powers of factors by node. If it has no rows, the factors are exp(-rates * weight).
    weights : (n,) array
        Weights, read only if `table` has no rows.
    rates : (J,) array
        The rate of each node, read only if `table` has no rows.
    zeta : (n,) array
        The contribution of each point to Z.
    """

    ids: Levels
    table: Floats
    weights: Floats
    rates: Floats
    zeta: Floats


@inlined
def has_table(points: Points) -> bool:
    """Say whether powers are looked up in the table."""
    return points.table.shape[0] > 0


# Numbers that are too small to matter are set to 0, because processors are slow with those near the
# smallest that there are. The moments have the coefficients of the nodes in them, and add to
# utilities of order one. At a node of rate R, a factor is exp(-R w), and it comes with R w at most.
LEAST_FACTOR, LEAST_MOMENT = 1e-60, 1e-150


@inlined
def _kept(moment: float) -> float:
    return moment if abs(moment) > LEAST_MOMENT else 0.0


# exp(x) = 2^k exp(r) with k = round(x / log 2), and a polynomial for exp(r), |r| <= log(2) / 2. The
# compiler cannot vectorise a call of the library's exp. Short chains of products keep the processor
# busy. Added to ROUND, a number has its nearest integer in its last bits.
LOG2_HIGH, LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10
P = tuple(1.0 / math.factorial(i) for i in range(14))
ROUND = 1.5 * 2.0**52


@compiled()  # sums must not be reordered
def _set_exponentials(rates: Floats, weight: float, bits: Ints, out: Floats) -> None:
    """Write exp(-rates * weight) into out[J : 2J]; out[2J : 3J] and its `bits` are scratch."""
    nodes = uint64(rates.size)
    for r in range(nodes):
        x = max(-rates[r] * weight, -700.0)
        rounded = x * 1.4426950408889634 + ROUND
        k = rounded - ROUND
        rest = (x - k * LOG2_HIGH) - k * LOG2_LOW
        square = rest * rest
        fourth = square * square
        low = (1.0 + rest) + (P[2] + P[3] * rest) * square
        mid = (P[4] + P[5] * rest) + (P[6] + P[7] * rest) * square
        high = (P[8] + P[9] * rest) + (P[10] + P[11] * rest) * square
        high += (P[12] + P[13] * rest) * fourth
        out[nodes + r] = low + fourth * (mid + fourth * high)
        out[nodes + nodes + r] = rounded
    for r in range(nodes):
        bits[nodes + nodes + r] = (bits[nodes + nodes + r] + 1023) << 52
    for r in range(nodes):
        value = out[nodes + r] * out[nodes + nodes + r]
        out[nodes + r] = value if value > LEAST_FACTOR else 0.0


@compiled(fastmath=True)
def powers_of(points: Points, m: int, terms: int, scratch: Floats) -> Floats:
    """Return the powers of the factors of point m up to `terms`, in the table or in `scratch`."""
    if points.table.shape[0] > 0:
        return points.table[points.ids[m]]
    nodes = uint64(points.rates.size)
    _set_exponentials(points.rates, points.weights[m], scratch.view(np.int64), scratch)
    for r in range(nodes):
        scratch[r] = 1.0
    for t in range(2, terms + 1):
        at = uint64(t) * nodes
        for r in range(nodes):
            value = scratch[at - nodes + r] * scratch[nodes + r]
            scratch[at + r] = value if value > LEAST_FACTOR else 0.0
    return scratch


@inlined
def _share(order: int, q: int, t: int) -> float:
    """Return (p choose q) t^(p-q), which the sums of e_{t,q} are multiplied by."""
    if q == order:
        return 1.0
    return float(t) if order == 1 else float(t) * (t if q == 0 else 2)


@compiled(fastmath=True)
def read(sums: Floats, powers: Floats, shape: Shape, terms: int, parts: Floats) -> None:
    """Write what the running sums give to a point with these powers, by powers of its zeta.

    The highest power of zeta comes first.
    """
    wide, used = uint64((shape.levels + 1) * shape.nodes), uint64((terms + 1) * shape.nodes)
    # Terms of squared means are larger, and of both signs: t by t, their sums keep more digits.
    at_once = used if shape.order == 1 else uint64(shape.nodes)
    for q in range(shape.order + 1):
        at = uint64(q) * wide
        total = 0.0
        for first in range(uint64(0), used, at_once):
            part = 0.0
            for i in range(at_once):
                part += sums[at + first + i] * powers[first + i]
            total += part
        parts[q] = total


@inlined
def step_square(
    moments: Floats,
    sums: Floats,
    powers: Floats,
    zeta: float,
    c: Floats,
    shape: Shape,
    terms: int,
    m: int,
) -> None:
    """Do what `step` does for p = 2 and q = 2; call it first, while the lower moments are old."""
    levels, nodes = shape.levels, uint64(shape.nodes)
    half, wide = uint64(levels) * nodes, uint64(levels + 1) * nodes
    for t in range(levels):
        low, e = uint64(shape.places[levels - 1 - t]), 2 * wide + uint64(shape.places[t])
        up = low + nodes
        gain, loss = c[t], c[t + 1]
        take = (levels - t) / m
        keep = 1.0 - take
        for r in range(nodes):
            moved = powers[nodes + r] * (
                moments[2 * half + low + r]
                + zeta * (2.0 * moments[half + low + r] + zeta * moments[low + r])
            )
            if t == 0:
                sums[e + r] -= loss * moved
            else:
                old = moments[2 * half + up + r]
                if t <= terms:
                    sums[e + r] += gain * old - loss * moved
                moments[2 * half + up + r] = _kept(keep * old + take * moved)
    if terms == levels:
        for r in range(nodes):
            sums[2 * wide + half + r] += c[levels] * moments[2 * half + r]


@inlined
def step(
    moments: Floats,
    sums: Floats,
    powers: Floats,
    zeta: float,
    c: Floats,
    shape: Shape,
    terms: int,
    m: int,
) -> None:
    """Pass point m: add its e_{t,q}, t <= terms, to the sums and update the moments q = 0 and 1.

    c[t] holds c_{t-1}, with zeros beyond the terms. The level falls as t rises, so each level is
    read in its old state and written once.
    """
    levels, order, nodes = shape.levels, shape.order, uint64(shape.nodes)
    half, wide = uint64(levels) * nodes, uint64(levels + 1) * nodes
    low = half - nodes
    if order == 1:  # otherwise, the shares of t = 0 are 0
        loss = c[1]
        for r in range(nodes):
            moved_one = moments[half + low + r] + zeta * moments[low + r]
            sums[wide + r] -= loss * powers[nodes + r] * moved_one
    for t in range(1, levels):
        low, e = uint64(shape.places[levels - 1 - t]), uint64(shape.places[t])
        up = low + nodes
        take = (levels - t) / m
        keep = 1.0 - take
        share, share_one = _share(order, 0, t), _share(order, 1, t)
        gain, loss = share * c[t], share * c[t + 1]
        gain_one, loss_one = share_one * c[t], share_one * c[t + 1]
        if t <= terms:
            for r in range(nodes):
                moved = powers[nodes + r] * moments[low + r]
                moved_one = powers[nodes + r] * moments[half + low + r] + zeta * moved
                old, old_one = moments[up + r], moments[half + up + r]
                sums[e + r] += gain * old - loss * moved
                sums[wide + e + r] += gain_one * old_one - loss_one * moved_one
                moments[up + r] = _kept(keep * old + take * moved)
                moments[half + up + r] = _kept(keep * old_one + take * moved_one)
        else:
            for r in range(nodes):
                moved = powers[nodes + r] * moments[low + r]
                moved_one = powers[nodes + r] * moments[half + low + r] + zeta * moved
                moments[up + r] = _kept(keep * moments[up + r] + take * moved)
                moments[half + up + r] = _kept(keep * moments[half + up + r] + take * moved_one)
    if terms == levels:
        gain, gain_one = _share(order, 0, levels) * c[levels], _share(order, 1, levels) * c[levels]
        for r in range(nodes):
            sums[half + r] += gain * moments[r]
            sums[wide + half + r] += gain_one * moments[half + r]


@inlined
def advance(
    moments: Floats,
    factors: Floats,
    at: np.uint64,
    zeta: float,
    m: int,
    levels: int,
    nodes: np.uint64,
    order: int,
    out: Floats,
) -> None:
    """Pass a point, as the m-th one, and write the new moments into `out`.

    Its factors start at factors[at].
    """
    half = uint64(levels) * nodes
    for q in range(order + 1):
        for r in range(nodes):
            out[uint64(q) * half + r] = moments[uint64(q) * half + r]
    for level in range(1, levels):
        take = min(level / m, 1.0)
        keep = 1.0 - take
        up = uint64(level) * nodes
        low = up - nodes
        if order == 2:
            for r in range(nodes):
                moved = moments[2 * half + low + r] + zeta * (
                    2.0 * moments[half + low + r] + zeta * moments[low + r]
                )
                share = take * factors[at + r]
                out[2 * half + up + r] = keep * moments[2 * half + up + r] + share * moved
        for r in range(nodes):
            share = take * factors[at + r]
            none = moments[low + r]
            out[up + r] = keep * moments[up + r] + share * none
            out[half + up + r] = keep * moments[half + up + r] + share * (
                moments[half + low + r] + zeta * none
            )


@inlined
def added(
    moments: Floats,
    low: np.uint64,
    factors: Floats,
    at: np.uint64,
    zeta: float,
    half: np.uint64,
    nodes: np.uint64,
    order: int,
) -> float:
    """Return the mean utility of random subsets with one point added, summed over the nodes.

    The moments of the subsets start at `low`, and each order of them takes `half` numbers. The
    factors of the point start at factors[at].
    """
    total = 0.0
    if order == 2:
        for r in range(nodes):
            inner = 2.0 * moments[half + low + r] + zeta * moments[low + r]
            total += factors[at + r] * (moments[2 * half + low + r] + zeta * inner)
    else:
        for r in range(nodes):
            total += factors[at + r] * (moments[half + low + r] + zeta * moments[low + r])
    return total


@compiled(fastmath=True)
def set_ends(moments: Floats, powers: Floats, shape: Shape, most: int, ends: Floats) -> None:
    """Write E[Z_T^q / (W_T + (j+1) u)^p], q < p, over sets T of K-1-j points, into ends[q, j].

    `powers` are those of the weight u.
    """
    nodes = uint64(shape.nodes)
    for q in range(shape.order):
        for j in range(most):
            low, up = uint64((q + 1) * shape.levels - 1 - j) * nodes, uint64(j + 1) * nodes
            total = 0.0
            for r in range(nodes):
                total += powers[up + r] * moments[low + r]
            ends[q, j] = total


@compiled(fastmath=True)
def add_run(
    moments: Floats,
    sums: Floats,
    powers: Floats,
    gains: Floats,
    most: int,
    before: int,
    shape: Shape,
    inverse: Floats,
    c: Floats,
) -> None:
    """Add the e_{t,q} of all points of a run to the sums.

    Each of the j < `most` members that come from the run adds its factor and its mean contribution,
    whose sums over the run are in `gains`; for the others, `before` points have been passed.
    """
    levels, order, nodes = shape.levels, shape.order, uint64(shape.nodes)
    half, wide = uint64(levels) * nodes, uint64(levels + 1) * nodes
    for j in range(most):
        level = levels - 1 - j
        terms = downdate_terms(before, level)
        downdate(1.0, before, level, terms, inverse, c, 0)
        own = uint64(j) * nodes
        more = own + nodes
        chance, without, with_m = gains[0, j], gains[1, j], gains[2, j]
        for t in range(terms):
            low, at = uint64(shape.places[level - t]), uint64(shape.places[t])
            after = at + nodes
            # What does not depend on the node is multiplied before the loop.
            one = c[t]
            plus, minus = one * chance * _share(order, 0, t + 1), one * chance * _share(order, 0, t)
            plus_one, minus_one = one * _share(order, 1, t + 1), one * _share(order, 1, t)
            plus_sum, minus_sum = plus_one * without, minus_one * with_m
            plus_one, minus_one = plus_one * chance, minus_one * chance
            for r in range(nodes):
                x, y = moments[low + r], moments[half + low + r]
                with_own, with_more = powers[own + r], powers[more + r]
                sums[after + r] += plus * x * with_own
                sums[at + r] -= minus * x * with_more
                sums[wide + after + r] += (plus_one * y + plus_sum * x) * with_own
                sums[wide + at + r] -= (minus_one * y + minus_sum * x) * with_more
            if order == 2:
                square, square_m = gains[3, j], gains[4, j]
                for r in range(nodes):
                    x, y = one * moments[low + r], 2.0 * one * moments[half + low + r]
                    z = chance * one * moments[2 * half + low + r]
                    sums[2 * wide + after + r] += (z + without * y + square * x) * powers[own + r]
                    sums[2 * wide + at + r] -= (z + with_m * y + square_m * x) * powers[more + r]


@compiled(fastmath=True)
def advance_run(
    moments: Floats,
    powers: Floats,
    first: int,
    stop: int,
    total: float,
    squares: float,
    shape: Shape,
    c: Floats,
) -> None:
    """Pass all points of a run at once; `powers` are those of its weight, `c` is scratch.

    The zeta of the points of the run sum to `total`, and their squares to `squares`.
    """
    levels, nodes = shape.levels, uint64(shape.nodes)
    half = uint64(levels) * nodes
    length = stop - first
    mean = total / length
    pair = (total * total - squares) / (length * max(length - 1.0, 1.0))
    for level in range(levels - 1, 0, -1):
        count = shares(level, first, length, c)
        up, none_of_run = uint64(shape.places[level]), c[0]
        for q in range(shape.order + 1):
            at = uint64(q) * half + up
            for r in range(nodes):
                moments[at + r] *= none_of_run
        for j in range(1, count):
            low, own = uint64(shape.places[level - j]), uint64(shape.places[j])
            chance, gain = c[j], c[j] * j * mean
            if shape.order == 2:
                square = c[j] * (j * squares / length + j * (j - 1.0) * pair)
                for r in range(nodes):
                    moments[2 * half + up + r] += powers[own + r] * (
                        chance * moments[2 * half + low + r]
                        + 2.0 * gain * moments[half + low + r]
                        + square * moments[low + r]
                    )
            for r in range(nodes):
                none = powers[own + r] * moments[low + r]
                moments[half + up + r] += (
                    chance * powers[own + r] * moments[half + low + r] + gain * none
                )
                moments[up + r] += chance * none


@compiled(fastmath=True)
def add_room(
    moments: Floats, shape: Shape, n: int, room: Floats, inverse: Floats, c: Floats, sums: Floats
) -> None:
    """Add the first sum of the identity: e_{t,q} against a point that changes nothing."""
    levels, nodes = shape.levels, uint64(shape.nodes)
    half, wide = uint64(levels) * nodes, uint64(levels + 1) * nodes
    for level in range(levels):
        terms = downdate_terms(n, level)
        set_downdate(room[level], n, level, terms, inverse, c)
        for q in range(shape.order + 1):
            for t in range(terms + 1):
                e = uint64(q) * wide + uint64(shape.places[t])
                up = uint64(q) * half + uint64(shape.places[level + 1 - t])
                share = _share(shape.order, q, t)
                gain, loss = share * c[t], share * c[t + 1]
                if t > 0:
                    for r in range(nodes):
                        sums[e + r] += gain * moments[up + r]
                if t <= level:
                    for r in range(nodes):
                        sums[e + r] -= loss * moments[up - nodes + r]


@inlined
def set_downdate(
    scale: float, n: int, level: int, terms: int, inverse: Floats, out: Floats
) -> None:
    """Write scale * c_{j-1} into out[j] for 0 < j <= terms, and a zero on either side."""
    out[0] = 0.0
    downdate(scale, n, level, terms, inverse, out, 1)
    out[terms + 1] = 0.0
