r"""Owners as players: whole data sets arrive, and the K nearest of all points that came decide.

The identity
------------
Let every owner be present with probability t, under the law of t of the semivalue. The value of
owner i is the mean over t of E[U(with i) - U(without i)]. Go through the points, nearest first, and
let p be the K-th nearest of those present: it is decided by then what the set is worth. That takes
p's owner g, who has c_g points before p, and a set of other owners who have K - 1 - c_g points
before p together; the other owners that have points up to p are absent, and nobody else matters. If
m owners have points up to p, and s of them are present, g included, then

    i is present:   weight  E[t^(s-1) (1-t)^(m-s)]
    i is absent:    weight -E[t^s (1-t)^(m-s-1)]

times the utility of these K points. Sets with fewer than K points in all come last, with all owners
that have points. So all we need are sums over sets of owners, by the number j of owners and the
number l of their points, of the utility of their points. Only the K nearest points of each owner
can be among the K nearest of a set, which leaves G K points whatever N is.

The utility as a sum of products
--------------------------------
A utility of K points is written as sum_r (plain_r + top_r A^d) prod_points z_r, where A is the sum
of a quantity over the points and d its power:

- weighted means: z = exp(-rate w), as in `weighted_mean`; d = 1 for the soft game and 2 for
  regression, and a last node for sets of weight 0. With equal weights there is one node and z = 1,
  as the number of points is known.
- votes: the utility is a function of the signed sum of integer weights, whose Fourier series is
  such a sum with z on the unit circle and d = 0.

At one node, the sets of owners are counted by the product over owners of 1 + x^c y, with c the
number of the owner's points so far and y the product of their factors; j counts the factors. The
moments of A go along: those of two sets of owners together are sums of products of their moments.
The table has K (K-1) / 2 + 1 entries (l, j).

Passing a point changes one factor: the old one is divided out, the new one multiplied in. "With i"
is a division, too: the products without i are sum_q (-y_i)^q times entries (l - q c_i, j - q) of
the table, so i matters only through c_i, y_i and A_i. What is summed over points is kept for each
pair (c, q), and applied to i when its factor changes. So a point takes time O(K^2 J) with J nodes,
and all of them O(G K^3 J).

Dividing contracts rounding errors as long as j / (m - j) stays below 1. Up to m = 2K owners, the
products without i are computed afresh instead, from those of the owners before and after i. The
table is multiplied anew from time to time, so that errors cannot add up.
"""

from typing import Any, NamedTuple

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled

Nodes = Any  # arrays of floats, or of complex numbers for votes


class Owned(NamedTuple):
    """The nearest points of all owners, nearest first.

    Attributes
    ----------
    owner : (n,) array of int
        Who owns each point; owners are numbered as they come, from 0.
    row : (n,) array of int
        The row of the table that holds the factors of each point.
    table : (rows, J) array
        Factors z at the J nodes.
    quantity : (n,) array
        What each point adds to A.
    """

    owner: Ints
    row: Ints
    table: Nodes
    quantity: Floats


class Worth(NamedTuple):
    """The utility of a set of l points, l = 0..K, as a sum of products.

    Attributes
    ----------
    plain, top : (K+1, J) array
        The coefficients of 1 and of A^power.
    power : int
        0, 1 or 2.
    """

    plain: Nodes
    top: Nodes
    power: int


def chances(n_owners: int, most: int, alpha: float, beta: float) -> Floats:
    """Return E[t^(s-1) (1-t)^(m-s)] at [m, s], for m up to `n_owners` and s up to `most`.

    The law of t is Beta(beta, alpha), or t = 1/2 if both are infinite; 0 where s is not from 1 to
    m. For m players this is what the gain of one of them counts if s - 1 others came before.
    """
    out = np.zeros((n_owners + 1, most + 1))
    first = 1.0
    for m in range(1, n_owners + 1):
        if np.isinf(alpha):
            out[m, 1 : min(m, most) + 1] = 0.5 ** (m - 1)
            continue
        out[m, 1] = first
        for s in range(1, min(m, most + 1)):
            if s < most:
                out[m, s + 1] = out[m, s] * (beta + s - 1.0) / (alpha + m - s - 1.0)
        first *= (alpha + m - 1.0) / (alpha + beta + m - 1.0)
    return out


@compiled()
def select(order: Ints, owners: Ints, n_owners: int, neighbors: int) -> tuple[Ints, Ints, Ints]:
    """Select the K nearest points of each owner in one pass, which ends once all have K.

    Parameters
    ----------
    order : (n,) array of int
        The positions of points, nearest first.
    owners : (n_train,) array of int
        The owner of each training point.
    n_owners : int
        The number of owners, who are 0..n_owners-1.
    neighbors : int
        K.

    Returns
    -------
    ranks : array of int
        The ranks of the points that were selected, in order.
    owner : array of int
        Their owners, numbered as they come.
    names : array of int
        Who these owners are.
    """
    room = min(order.size, n_owners * neighbors)
    ranks, owner = np.empty(room, np.int64), np.empty(room, np.int64)
    number, count = np.full(n_owners, -1), np.zeros(n_owners, np.int64)
    names = np.empty(n_owners, np.int64)
    size = seen = full = 0
    for rank in range(order.size):
        who = owners[order[rank]]
        if count[who] == neighbors:
            continue
        if count[who] == 0:
            number[who] = seen
            names[seen] = who
            seen += 1
        count[who] += 1
        ranks[size], owner[size] = rank, number[who]
        size += 1
        full += count[who] == neighbors
        if full == n_owners:
            break
    return ranks[:size], owner[:size], names[:seen]


@compiled()
def _at(points: int, owners: int) -> int:
    """Return the place of the entry for this many points and owners in the table."""
    return 0 if points == 0 else 1 + points * (points - 1) // 2 + owners - 1


@compiled()
def _least(points: int) -> int:
    """Return the least number of owners that have this many points together."""
    return 0 if points == 0 else 1


@compiled(fastmath=True)
def _add_0(t0: Nodes, s0: Nodes, y: Nodes, sign: float) -> None:
    for r in range(y.size):
        t0[r] += sign * y[r] * s0[r]


@compiled(fastmath=True)
def _add_1(
    t0: Nodes, t1: Nodes, s0: Nodes, s1: Nodes, y: Nodes, amount: float, sign: float
) -> None:
    for r in range(y.size):
        v = sign * y[r]
        t0[r] += v * s0[r]
        t1[r] += v * (s1[r] + amount * s0[r])


@compiled(fastmath=True)
def _add_2(
    t0: Nodes,
    t1: Nodes,
    t2: Nodes,
    s0: Nodes,
    s1: Nodes,
    s2: Nodes,
    y: Nodes,
    amount: float,
    sign: float,
) -> None:
    for r in range(y.size):
        v = sign * y[r]
        t0[r] += v * s0[r]
        t1[r] += v * (s1[r] + amount * s0[r])
        t2[r] += v * (s2[r] + amount * (2.0 * s1[r] + amount * s0[r]))


@compiled()
def _blend(table: Nodes, neighbors: int, count: int, y: Nodes, amount: float, divide: bool) -> None:
    """Multiply the table by the factor of an owner with `count` points, or divide it by that."""
    power = table.shape[1] - 1
    sign = -1.0 if divide else 1.0
    for step in range(neighbors - count):
        points = step if divide else neighbors - 1 - count - step
        for owners in range(_least(points), points + 1):
            source = table[_at(points, owners)]
            target = table[_at(points + count, owners + 1)]
            if power == 0:
                _add_0(target[0], source[0], y, sign)
            elif power == 1:
                _add_1(target[0], target[1], source[0], source[1], y, amount, sign)
            else:
                _add_2(
                    target[0], target[1], target[2], source[0], source[1], source[2], y, amount,
                    sign,
                )  # fmt: skip


@compiled(fastmath=True)
def _dot(one: Nodes, other: Nodes) -> float:
    """Return the real part of the sum of products."""
    total = 0.0
    for r in range(one.size):
        total += (one[r] * other[r]).real
    return total


@compiled(fastmath=True)
def _add_scaled(target: Nodes, source: Nodes, factor: float) -> None:
    for r in range(target.size):
        target[r] += factor * source[r]


@compiled(fastmath=True)
def _add_product(target: Nodes, one: Nodes, other: Nodes, factor: float) -> None:
    for r in range(target.size):
        target[r] += factor * one[r] * other[r]


@compiled()
def _weigh(plain: Nodes, top: Nodes, power: int, y: Nodes, amount: float, out: Nodes) -> None:
    """Write the coefficients of the others' moments in the utility of a set.

    Members whose factors multiply to y and whose quantities add up to `amount` are in the set.
    """
    for r in range(y.size):
        out[0, r] = y[r] * (plain[r] + top[r] * amount**power) if power else y[r] * plain[r]
        if power == 1:
            out[1, r] = y[r] * top[r]
        elif power == 2:
            out[1, r] = 2.0 * amount * y[r] * top[r]
            out[2, r] = y[r] * top[r]


@compiled()
def _shift(weights: Nodes, y: Nodes, amount: float, out: Nodes) -> None:
    """Write what the coefficients become if one more owner joins the set."""
    power = weights.shape[0] - 1
    for r in range(y.size):
        if power == 2:
            second = weights[2, r]
            out[0, r] = y[r] * (weights[0, r] + amount * (weights[1, r] + amount * second))
            out[1, r] = y[r] * (weights[1, r] + 2.0 * amount * second)
            out[2, r] = y[r] * second
        elif power == 1:
            out[0, r] = y[r] * (weights[0, r] + amount * weights[1, r])
            out[1, r] = y[r] * weights[1, r]
        else:
            out[0, r] = y[r] * weights[0, r]


@compiled()
def _expand(entry: Nodes, weights: Nodes, out: Nodes) -> None:
    """Write the utility of an entry, as a polynomial in what one more owner adds to A."""
    power = entry.shape[0] - 1
    out[:] = 0.0
    for d in range(power + 1):
        _add_product(out[0], weights[d], entry[d], 1.0)
    if power > 0:
        _add_product(out[1], weights[1], entry[0], 1.0)
    if power == 2:
        _add_product(out[1], weights[2], entry[1], 2.0)
        _add_product(out[2], weights[2], entry[0], 1.0)


@compiled()
def _joined(
    one: Nodes,
    one_size: int,
    other: Nodes,
    other_size: int,
    points: int,
    chance: Floats,
    weights: Nodes,
    room: Nodes,
) -> float:
    """Sum the utility over the sets of owners of two tables who have so many points together.

    A set of j owners counts chance[j]. The tables hold products of `one_size` and `other_size`
    owners.
    """
    power = one.shape[1] - 1
    total = 0.0
    for first in range(points + 1):
        second = points - first
        for j in range(_least(first), min(first, one_size) + 1):
            room[:] = 0.0
            for k in range(_least(second), min(second, other_size) + 1):
                for d in range(power + 1):
                    _add_scaled(room[d], other[_at(second, k), d], chance[j + k])
            entry = one[_at(first, j)]
            if power == 2:
                _blend_moments_2(entry, room)
            elif power == 1:
                _blend_moments_1(entry, room)
            else:
                room[0] *= entry[0]
            for d in range(power + 1):
                total += _dot(weights[d], room[d])
    return total


@compiled()
def _blend_moments_1(entry: Nodes, room: Nodes) -> None:
    for r in range(room.shape[1]):
        room[1, r] = entry[0, r] * room[1, r] + entry[1, r] * room[0, r]
        room[0, r] *= entry[0, r]


@compiled()
def _blend_moments_2(entry: Nodes, room: Nodes) -> None:
    for r in range(room.shape[1]):
        e0, e1, e2 = entry[0, r], entry[1, r], entry[2, r]
        r0, r1, r2 = room[0, r], room[1, r], room[2, r]
        room[0, r] = e0 * r0
        room[1, r] = e0 * r1 + e1 * r0
        room[2, r] = e0 * r2 + 2.0 * e1 * r1 + e2 * r0


@compiled()
def _unit(table: Nodes) -> None:
    """Make a table that of no owners."""
    table[:] = 0.0
    table[0, 0] = 1.0


class State(NamedTuple):
    """Where a pass over the points stands.

    Attributes
    ----------
    held : (m,) array of int
        How many points each owner has had so far.
    y : (m, J) array
        The products of their factors.
    amount : (m,) array
        The sums of their quantities.
    table : (entries, power+1, J) array
        The products over owners, by the numbers of points and owners; not used for few owners.
    sums : (K, K, power+1, J) array
        What the pass has summed, by the number of points c of an owner and by q.
    before, after : (n+1, entries, power+1, J) array
        The products of the first and of the last owners, for few owners.
    active : (m,) array of int
        The owners in these products.
    weights : (power+1, J) array
        The coefficients of the others' moments in a utility.
    scratch : (2, power+1, J) array
        Room for intermediate results.
    out : (m,) array
        The values so far.
    """

    held: Ints
    y: Nodes
    amount: Floats
    table: Nodes
    sums: Nodes
    before: Nodes
    after: Nodes
    active: Ints
    weights: Nodes
    scratch: Nodes
    out: Floats


@compiled()
def _products(state: State, seen: int, without: int, neighbors: int) -> int:
    """Multiply the factors of the first owners, and of the last ones, up to each owner in between.

    Owners with no points yet, or K of them, have no factor. Returns how many have one, except
    `without`; before[n] holds the first n of them, after[n] those from n on.
    """
    count, y, amount = state.held, state.y, state.amount
    before, after, active = state.before, state.after, state.active
    n = 0
    for i in range(seen):
        if i != without and 0 < count[i] < neighbors:
            active[n] = i
            n += 1
    _unit(before[0])
    for k in range(n):
        i = active[k]
        before[k + 1] = before[k]
        _blend(before[k + 1], neighbors, count[i], y[i], amount[i], False)
    _unit(after[n])
    for k in range(n - 1, -1, -1):
        i = active[k]
        after[k] = after[k + 1]
        _blend(after[k], neighbors, count[i], y[i], amount[i], False)
    return n


@compiled()
def _together(state: State, table: Nodes, points: int, owners: int) -> float:
    """Return the utility of an entry of a table, with the weights that were written last."""
    entry, total = table[_at(points, owners)], 0.0
    for d in range(entry.shape[0]):
        total += _dot(state.weights[d], entry[d])
    return total


@compiled()
def _add_afresh(
    state: State, seen: int, owner: int, points: int, neighbors: int, chance: Floats, n: int
) -> None:
    """Add what one point, or one size of set, gives to all owners but `owner`, without division.

    `points` is the number of points of the others; chance[j] is what the gain of one of them counts
    if j others are present with it. `n` is what `_products` returned.
    """
    count, out, weights = state.held, state.out, state.weights
    shifted, room = state.scratch[0], state.scratch[1]
    whole = 0.0
    for j in range(_least(points), min(points, n) + 1):
        whole += chance[j] * _together(state, state.before[n], points, j)
    for i in range(seen):
        if i != owner and count[i] >= neighbors:
            out[i] -= whole
    for k in range(n):
        i = state.active[k]
        first, last, rest = state.before[k], state.after[k + 1], n - 1 - k
        out[i] -= _joined(first, k, last, rest, points, chance, weights, room)
        if count[i] <= points:
            _shift(weights, state.y[i], state.amount[i], shifted)
            less = points - count[i]
            out[i] += _joined(first, k, last, rest, less, chance, shifted, room)


@compiled()
def _renew(state: State, seen: int, neighbors: int) -> None:
    """Multiply the table anew."""
    _unit(state.table)
    for i in range(seen):
        if 0 < state.held[i] < neighbors:
            _blend(state.table, neighbors, state.held[i], state.y[i], state.amount[i], False)


@compiled()
def _gather(state: State, points: int, chance: Floats) -> None:
    """Add the utilities of sets with one more owner to the sums by c and q.

    With that owner, the others have `points` points, and chance[j] is what a set of j of them
    counts.
    """
    expanded = state.scratch[0]
    for rest in range(points):
        for j in range(_least(rest), rest + 1):
            _expand(state.table[_at(rest, j)], state.weights, expanded)
            for q in range(1, points - rest + 1):
                count = (points - rest) // q
                if count * q == points - rest:
                    for d in range(expanded.shape[0]):
                        _add_scaled(state.sums[count, q, d], expanded[d], chance[j + q])


@compiled()
def _applied(state: State, neighbors: int, i: int) -> float:
    """Return what the sums by c and q are for an owner as it is now."""
    count, total = state.held[i], 0.0
    if count == 0 or count >= neighbors:
        return total
    power = state.y[i].copy()
    sign = 1.0
    for q in range(1, (neighbors - 1) // count + 1):
        scale = 1.0
        for d in range(state.sums.shape[2]):
            total += sign * scale * _dot(power, state.sums[count, q, d])
            scale *= q * state.amount[i]
        power *= state.y[i]
        sign = -sign
    return total


@compiled()
def _started(owned: Owned, power: int, neighbors: int, m: int, near: int) -> State:
    """Return the state before the first point."""
    nodes = owned.table.shape[1]
    dtype = owned.table.dtype
    entries, few = _at(neighbors - 1, neighbors - 1) + 1, min(m, near)
    return State(
        np.zeros(m, np.int64),
        np.ones((m, nodes), dtype),
        np.zeros(m),
        np.zeros((entries, power + 1, nodes), dtype),
        np.zeros((neighbors, neighbors, power + 1, nodes), dtype),
        np.zeros((few + 1, entries, power + 1, nodes), dtype),
        np.zeros((few + 1, entries, power + 1, nodes), dtype),
        np.empty(m, np.int64),
        np.zeros((power + 1, nodes), dtype),
        np.zeros((2, power + 1, nodes), dtype),
        np.zeros(m),
    )


@compiled()
def _pass_afresh(state: State, g: int, seen: int, neighbors: int, chance: Floats) -> None:
    """Count the sets whose K-th nearest is this point of owner g, without division."""
    rest = neighbors - 1 - state.held[g]
    n = _products(state, seen, g, neighbors)
    for j in range(_least(rest), min(rest, n) + 1):
        state.out[g] += chance[seen, j + 1] * _together(state, state.before[n], rest, j)
    _add_afresh(state, seen, g, rest, neighbors, chance[seen, 2:], n)


@compiled()
def _pass_divided(state: State, g: int, seen: int, neighbors: int, chance: Floats) -> float:
    """Count the sets whose K-th nearest is this point of owner g, from the table without g.

    Returns what is taken from all owners that have points so far; g gets it back here.
    """
    rest, base = neighbors - 1 - state.held[g], 0.0
    if state.held[g] > 0:
        state.out[g] += _applied(state, neighbors, g)
        _blend(state.table, neighbors, state.held[g], state.y[g], state.amount[g], True)
    for j in range(_least(rest), rest + 1):
        one = _together(state, state.table, rest, j)
        base += chance[seen, j + 2] * one
        state.out[g] += chance[seen - 1, j + 1] * one
    _gather(state, rest, chance[seen - 1, 1:])
    return base


@compiled()
def _finish(state: State, worth: Worth, neighbors: int, chance: Floats, near: int) -> float:
    """Count the sets with fewer than K points; return what is taken from all owners."""
    m, base, none = state.out.size, 0.0, np.ones_like(state.y[0])
    n = _products(state, m, -1, neighbors) if m <= near else 0
    for points in range(neighbors):
        _weigh(worth.plain[points], worth.top[points], worth.power, none, 0.0, state.weights)
        if m <= near:
            _add_afresh(state, m, -1, points, neighbors, chance[m, 1:], n)
            continue
        for j in range(_least(points), points + 1):
            base += chance[m, j + 1] * _together(state, state.table, points, j)
        _gather(state, points, chance[m - 1])
    return base


@compiled()
def values(owned: Owned, worth: Worth, neighbors: int, chance: Floats, near: int) -> Floats:
    """Value the owners for one validation point.

    Parameters
    ----------
    owned : Owned
        The K nearest points of each owner.
    worth : Worth
        The utility.
    neighbors : int
        K.
    chance : (m+1, K+2) array
        What `chances` returns.
    near : int
        Products without an owner are computed afresh up to this many owners; at least K.

    Returns
    -------
    (m,) array
        The values of the owners of these points, numbered as they come.
    """
    m = 0 if owned.owner.size == 0 else owned.owner.max() + 1
    state = _started(owned, worth.power, neighbors, m, near)
    if m == 0:
        return state.out
    own = np.empty_like(state.y[0])
    seen, base, since = 0, 0.0, -1
    for p in range(owned.owner.size):
        g = owned.owner[p]
        if g == seen:
            state.out[g] += base  # what was taken before g had points is not taken from g
            seen += 1
        own[:] = state.y[g] * owned.table[owned.row[p]]
        gain = state.amount[g] + owned.quantity[p]
        _weigh(worth.plain[neighbors], worth.top[neighbors], worth.power, own, gain, state.weights)
        if seen <= near:
            _pass_afresh(state, g, seen, neighbors, chance)
        else:
            if since < 0 or since > 16 + seen // 4:
                _renew(state, seen, neighbors)
                since = 0
            since += 1
            base += _pass_divided(state, g, seen, neighbors, chance)
        state.y[g], state.amount[g] = own, gain
        state.held[g] += 1
        if seen > near and state.held[g] < neighbors:
            _blend(state.table, neighbors, state.held[g], own, gain, False)
            state.out[g] -= _applied(state, neighbors, g)
    base += _finish(state, worth, neighbors, chance, near)
    if m > near:
        for i in range(m):
            state.out[i] += _applied(state, neighbors, i) - base
    return state.out
