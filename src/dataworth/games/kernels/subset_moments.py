"""Moments over random subsets at the nodes of a quadrature, and how points change them.

This is the algebra behind `kernels.weighted_mean`, whose docstring has the formulas. With J nodes,
M_{l,q} at node r is kept in `moments[q, l * J + r]`, e_{t,q} in `sums[q, t * J + r]`, and the
powers z_r^t of the factors of a point in `powers[t * J + r]`.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64

from dataworth.arrays import Floats
from dataworth.compiled import compiled, inlined
from dataworth.games.kernels.adding import Levels
from dataworth.games.kernels.runs import shares
from dataworth.games.kernels.walk import downdate, downdate_terms


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
def is_tabled(points: Points) -> bool:
    """Say whether powers are looked up in the table."""
    return points.table.shape[0] > 0


# exp(x) = 2^k exp(r) with k = round(x / log 2), and a polynomial for exp(r), |r| <= log(2) / 2. The
# compiler cannot vectorise a call of the library's exp.
LOG2_HIGH, LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10
INVERSE_FACTORIALS = tuple(1.0 / np.cumprod(np.arange(1.0, 14.0))[::-1])


@compiled(fastmath=True)
def _set_exponentials(rates: Floats, weight: float, out: Floats) -> None:
    """Write exp(-rates * weight) into `out`."""
    scales = np.empty(out.size, np.int64)
    for r in range(uint64(out.size)):
        x = max(-rates[r] * weight, -700.0)
        k = np.floor(x * 1.4426950408889634 + 0.5)
        rest = (x - k * LOG2_HIGH) - k * LOG2_LOW
        value = INVERSE_FACTORIALS[0]
        for i in range(1, 13):
            value = value * rest + INVERSE_FACTORIALS[i]
        out[r] = value * rest + 1.0
        scales[r] = (np.int64(k) + 1023) << 52
    powers_of_two = scales.view(np.float64)
    for r in range(uint64(out.size)):
        out[r] *= powers_of_two[r]


@compiled(fastmath=True)
def powers_of(points: Points, m: int, terms: int, scratch: Floats) -> Floats:
    """Return the powers of the factors of point m up to `terms`, in the table or in `scratch`."""
    if points.table.shape[0] > 0:
        return points.table[points.ids[m]]
    nodes = uint64(points.rates.size)
    z = scratch[nodes : nodes + nodes]
    _set_exponentials(points.rates, points.weights[m], z)
    scratch[:nodes] = 1.0
    for t in range(2, terms + 1):
        at = uint64(t) * nodes
        for r in range(nodes):
            scratch[at + r] = scratch[at - nodes + r] * z[r]
    return scratch


@compiled(fastmath=True)
def read(sums: Floats, powers: Floats, nodes: int, terms: int, parts: Floats) -> None:
    """Write what the running sums give to a point with these powers, by powers of its zeta.

    The highest power of zeta comes first.
    """
    order = sums.shape[0] - 1
    for q in range(order + 1):
        total = 0.0
        for t in range(terms + 1):
            if t == 0 and q < order:
                continue
            part = 0.0
            at = uint64(t) * uint64(nodes)
            for r in range(uint64(nodes)):
                part += sums[q, at + r] * powers[at + r]
            factor = 1.0 if q == order else float(t) ** (order - q) * (order if q == 1 else 1)
            total += factor * part
        parts[q] = total


@inlined
def step_square(
    moments: Floats, sums: Floats, z: Floats, zeta: float, c: Floats, terms: int, m: int
) -> None:
    """Do what `step` does for q = 2; call this one first, while the lower moments are old."""
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
def step(
    moments: Floats, sums: Floats, z: Floats, zeta: float, c: Floats, terms: int, m: int
) -> None:
    """Pass point m: add its e_{t,q}, t <= terms, to the sums and update the moments q = 0 and 1.

    c[t] holds c_{t-1}, with zeros beyond the terms. The level falls as t rises, so each level is
    read in its old state and written once.
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
def advance(moments: Floats, z: Floats, zeta: float, m: int) -> None:
    """Pass point m and update the moments as `step` does, but leave the sums alone."""
    nodes = uint64(z.size)
    order = moments.shape[0] - 1
    levels = moments.shape[1] // z.size
    none, one, two = moments[0], moments[1], moments[order]
    for level in range(min(levels - 1, m), 0, -1):
        take = level / m
        keep = 1.0 - take
        low, up = uint64(level - 1) * nodes, uint64(level) * nodes
        if order == 2:
            for r in range(nodes):
                moved = z[r] * (two[low + r] + zeta * (2.0 * one[low + r] + zeta * none[low + r]))
                two[up + r] = keep * two[up + r] + take * moved
        for r in range(nodes):
            moved = z[r] * none[low + r]
            one[up + r] = keep * one[up + r] + take * (z[r] * one[low + r] + zeta * moved)
            none[up + r] = keep * none[up + r] + take * moved


@compiled(fastmath=True)
def set_ends(moments: Floats, powers: Floats, nodes: int, most: int, ends: Floats) -> None:
    """Write E[Z_T^q / (W_T + (j+1) u)^p], q < p, over sets T of K-1-j points, into ends[q, j].

    `powers` are those of the weight u.
    """
    levels = moments.shape[1] // nodes
    for q in range(ends.shape[0]):
        for j in range(most):
            low, up = uint64((levels - 1 - j) * nodes), uint64((j + 1) * nodes)
            total = 0.0
            for r in range(uint64(nodes)):
                total += powers[up + r] * moments[q, low + r]
            ends[q, j] = total


@compiled(fastmath=True)
def add_run(
    moments: Floats,
    sums: Floats,
    powers: Floats,
    gains: Floats,
    most: int,
    before: int,
    inverse: Floats,
    c: Floats,
) -> None:
    """Add the e_{t,q} of all points of a run to the sums.

    Each of the j < `most` members that come from the run adds its factor and its mean contribution,
    whose sums over the run are in `gains`; for the others, `before` points have been passed.
    """
    order = moments.shape[0] - 1
    levels = gains.shape[1]
    nodes = uint64(moments.shape[1] // levels)
    none, one, two = moments[0], moments[1], moments[order]
    out, out_one, out_two = sums[0], sums[1], sums[order]
    for j in range(most):
        level = levels - 1 - j
        terms = downdate_terms(before, level)
        downdate(1.0, before, level, terms, inverse, c)
        own, more = uint64(j) * nodes, uint64(j + 1) * nodes
        chance, without, with_m = gains[0, j], gains[1, j], gains[2, j]
        for t in range(terms):
            low = uint64(level - t) * nodes
            at, after = uint64(t) * nodes, uint64(t + 1) * nodes
            for r in range(nodes):
                x, y = c[t] * none[low + r], c[t] * one[low + r]
                z, z_more = powers[own + r], powers[more + r]
                out[after + r] += chance * x * z
                out[at + r] -= chance * x * z_more
                out_one[after + r] += (chance * y + without * x) * z
                out_one[at + r] -= (chance * y + with_m * x) * z_more
            if order == 2:
                square, square_m = gains[3, j], gains[4, j]
                for r in range(nodes):
                    x, y = c[t] * none[low + r], 2.0 * c[t] * one[low + r]
                    whole = chance * c[t] * two[low + r]
                    out_two[after + r] += (whole + without * y + square * x) * powers[own + r]
                    out_two[at + r] -= (whole + with_m * y + square_m * x) * powers[more + r]


@compiled(fastmath=True)
def advance_run(moments: Floats, powers: Floats, zeta: Floats, before: int, c: Floats) -> None:
    """Pass all points of a run at once; `powers` are those of its weight, `c` is scratch."""
    order = moments.shape[0] - 1
    levels = c.size - 2
    nodes = uint64(moments.shape[1] // levels)
    length = zeta.size
    first = second = 0.0
    for i in range(uint64(length)):
        first += zeta[i]
        second += zeta[i] * zeta[i]
    mean = first / length
    pair = (first * first - second) / (length * max(length - 1.0, 1.0))
    none, one, two = moments[0], moments[1], moments[order]
    for level in range(levels - 1, 0, -1):
        count = shares(level, before, length, c)
        up = uint64(level) * nodes
        for q in range(order + 1):
            for r in range(nodes):
                moments[q, up + r] *= c[0]
        for j in range(1, count):
            low, own = uint64(level - j) * nodes, uint64(j) * nodes
            chance, gain = c[j], c[j] * j * mean
            if order == 2:
                square = c[j] * (j * second / length + j * (j - 1.0) * pair)
                for r in range(nodes):
                    two[up + r] += powers[own + r] * (
                        chance * two[low + r] + 2.0 * gain * one[low + r] + square * none[low + r]
                    )
            for r in range(nodes):
                one[up + r] += powers[own + r] * (chance * one[low + r] + gain * none[low + r])
                none[up + r] += powers[own + r] * chance * none[low + r]


@compiled(fastmath=True)
def add_room(
    moments: Floats, nodes: int, n: int, room: Floats, inverse: Floats, c: Floats, sums: Floats
) -> None:
    """Add the first sum of the identity: e_{t,q} against a point that changes nothing."""
    for level in range(room.size):
        terms = downdate_terms(n, level)
        set_downdate(room[level], n, level, terms, inverse, c)
        for q in range(moments.shape[0]):
            for t in range(terms + 1):
                e = uint64(t * nodes)
                low, up = uint64((level - t) * nodes), uint64((level + 1 - t) * nodes)
                if t > 0:
                    for r in range(uint64(nodes)):
                        sums[q, e + r] += c[t] * moments[q, up + r]
                if t <= level:
                    for r in range(uint64(nodes)):
                        sums[q, e + r] -= c[t + 1] * moments[q, low + r]


@inlined
def set_downdate(
    scale: float, n: int, level: int, terms: int, inverse: Floats, out: Floats
) -> None:
    """Write scale * c_{j-1} into out[j] for 0 < j <= terms, and a zero on either side."""
    out[0] = 0.0
    downdate(scale, n, level, terms, inverse, out[1:])
    out[terms + 1] = 0.0


@inlined
def begin(moments: Floats, start: Floats) -> None:
    """Set the moments to those before any point is passed, when only the empty set exists."""
    moments[:] = 0.0
    moments[:, : start.shape[1]] = start


@compiled(fastmath=True)
def added(moments: Floats, level: int, z: Floats, zeta: float) -> float:
    """Return the mean utility of the l-subsets with one point added, summed over the nodes."""
    order = moments.shape[0] - 1
    low = uint64(level * z.size)
    total = 0.0
    if order == 2:
        for r in range(uint64(z.size)):
            i = low + r
            inner = 2.0 * moments[1, i] + zeta * moments[0, i]
            total += z[r] * (moments[2, i] + zeta * inner)
    else:
        for r in range(uint64(z.size)):
            total += z[r] * (moments[1, low + r] + zeta * moments[0, low + r])
    return total
