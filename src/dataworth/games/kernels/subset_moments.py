"""Moments over random subsets at the nodes of a quadrature, and how points change them.

This is the algebra behind `kernels.weighted_mean`, whose docstring has the formulas. With J nodes,
M_{l,q} at node r is kept in `moments[q, l * J + r]`, and e_{t,q} in `sums[q, t * J + r]`.
"""

from typing import NamedTuple

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, inlined, uint64
from dataworth.games.kernels.walk import downdate, downdate_terms


class Points(NamedTuple):
    """Points as the kernel takes them.

    Attributes
    ----------
    ids : (n,) array of int
        For each point, the row of `table` that holds its factors.
    table : (rows, J) array
        Factors by node. If it has no rows, the factors are exp(-rates * weight).
    weights : (n,) array
        Real weights, read only if `table` has no rows.
    rates : (J,) array
        The rate of each node, read only if `table` has no rows.
    zeta : (n,) array
        The contribution of each point to Z.
    """

    ids: Ints
    table: Floats
    weights: Floats
    rates: Floats
    zeta: Floats


@inlined
def is_new(points: Points, m: int) -> bool:
    """Say whether the factors of point m may differ from those of the point before it."""
    return points.table.shape[0] == 0 or points.ids[m] != points.ids[m - 1]


@inlined
def set_factors(points: Points, m: int, z: Floats) -> None:
    """Write the factors of point m into `z`."""
    if points.table.shape[0] > 0:
        for r in range(z.size):
            z[r] = points.table[points.ids[m], r]
    else:
        for r in range(z.size):
            z[r] = np.exp(-points.rates[r] * points.weights[m])


@inlined
def set_powers(z: Floats, terms: int, powers: Floats) -> None:
    """Set powers[q, t * J + r] = (p choose q) t^(p-q) z_r^t, with which `read` reads the sums."""
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
def read(sums: Floats, powers: Floats, size: int, zeta: float) -> float:
    """Evaluate the running sums for one point, by Horner's rule in zeta."""
    total = 0.0
    for q in range(sums.shape[0]):
        part = 0.0
        for i in range(size):
            part += sums[q, i] * powers[q, i]
        total = total * zeta + part
    return total


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
def add_room(
    moments: Floats, nodes: int, n: int, room: Floats, inverse: Floats, c: Floats, sums: Floats
) -> None:
    """Add the first sum of the identity: e_{t,q} against a point that changes nothing."""
    for level in range(room.size):
        terms = downdate_terms(n, level)
        set_downdate(room[level], n, level, terms, inverse, c)
        for q in range(moments.shape[0]):
            for t in range(terms + 1):
                for r in range(nodes):
                    e = t * nodes + r
                    if t > 0:
                        sums[q, e] += c[t] * moments[q, (level + 1 - t) * nodes + r]
                    if t <= level:
                        sums[q, e] -= c[t + 1] * moments[q, (level - t) * nodes + r]


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
    total = 0.0
    for r in range(z.size):
        i = level * z.size + r
        at = moments[1, i] + zeta * moments[0, i]
        if order == 2:
            at = moments[2, i] + zeta * (moments[1, i] + at)
        total += z[r] * at
    return total
