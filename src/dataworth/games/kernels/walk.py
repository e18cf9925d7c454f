"""The walk: exact values for any game whose state is a point of an integer lattice.

A lattice game is described by flat arrays. Each of the K nearest members of a set adds its *shift*
to a flat state index; `utility[origin + total shift]` is the utility of the set. A signed sum
(one axis), a pair of sums (two axes) and a histogram (one axis per class) are all of this form:
the shift of a point is its integer weight times the stride of its axis.

The walk keeps a table: for l = 0..K-1 and every offset o,

    H_{m,l}(o) = mean over the l-subsets S of the first m points of utility[o + shift of S]

Passing point m, whose shift is a, blends the table with a shifted copy of itself,

    H_{m,l}(o) = (1 - l/m) H_{m-1,l}(o) + (l/m) H_{m-1,l-1}(o + a).

The mean over subsets *without* a point of shift v follows from the same table (the downdate):

    H_{n,l}^{-v}(o) = sum_{j=0}^{l} c_j H_{n,l-j}(o + j v),
    c_j = n / (n-l+j) * prod_{i<j} ( -(l-i) / (n-l+i) ).

It depends only on the shift, not on which point has it. So the points fall into V *kinds*, one for
each distinct shift, and one running sum per kind replaces a loop over points. The downdate shrinks
rounding errors if l is well below n. For the first 2K ranks it is not used: for each kind, a table
without the first point of that kind is walked instead.

Cost: O(N (T + V K)), where T is the number of table entries that the slices name, plus O(V K T)
for the first 2K ranks; memory
O(K * utility.size + N).
"""

from typing import NamedTuple

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, inlined, uint64

# Beyond this many times K ranks, the terms of the downdate fall, and it multiplies rounding errors
# by about 2 sqrt(K) at most. Up to there, tables that leave out a point are walked instead.
NEAR = 2
# How many times as far each block of ranks reaches as the one before.
FARTHER = 2
UPDATE = 0.3  # roughly what the update of one entry of a table takes, in nanoseconds


class Lattice(NamedTuple):
    """A game on a lattice.

    Attributes
    ----------
    shifts : (V,) array of int
        How far a point of each kind moves the flat state.
    utility : (states,) array
        The utility of each flat state.
    origin : int
        The state of the empty set.
    slices : (rows, 3) array of int
        Rows (level, start, stop), highest level first: the flat states of each level >= 1 that are
        kept up to date. A level needs the offsets that K - level points can reach. If a state
        decides the utility whatever is drawn, its entry never changes and may be left out. A slice
        that is shifted by any of `shifts` must stay inside the table.
    """

    shifts: Ints
    utility: Floats
    origin: int
    slices: Ints


# Two habits keep the inner loops as fast as the machine allows. Indices are cast to uint64, because
# a signed index makes numba test for negative subscripts, which stops LLVM from vectorising. And
# the helpers of the main loop are inlined before compilation, so that the compiler can hoist
# across them.


@inlined
def pass_point(table: Floats, size: int, slices: Ints, shift: int, m: int, inverse: Floats) -> None:
    """Turn the table of m-1 points into that of m points, where the m-th point has this shift."""
    for r in range(slices.shape[0]):
        level, start, stop = slices[r, 0], slices[r, 1], slices[r, 2]
        if level > m:
            continue  # there are no such subsets yet
        take = level * inverse[m]
        keep = 1.0 - take
        row = table[level * size : (level + 1) * size]
        below = table[(level - 1) * size : level * size]
        for i in range(uint64(start), uint64(stop)):
            row[i] = keep * row[i] + take * below[uint64(i + shift)]


@compiled()
def downdate_terms(n: int, level: int) -> int:
    """Return how many terms the downdate from n or more points needs at this level.

    All terms multiply utilities, so those below 2^-54 of the first are lost in its rounding.
    """
    ratio = 1.0
    for j in range(level):
        ratio *= (level - j) / (n - level + j)
        if ratio < 2.0**-54:
            return j + 1
    return level + 1


@inlined
def downdate(
    scale: float, n: int, level: int, terms: int, inverse: Floats, out: Floats, first: int
) -> None:
    """Write scale * c_j, j < terms, of the downdate from n points at this level.

    They are written from out[first] on.
    """
    product = scale
    for j in range(terms):
        share = inverse[uint64(n - level + j)]
        out[first + j] = product * n * share
        product *= -(level - j) * share


@inlined
def add_gains(
    table: Floats,
    size: int,
    origin: int,
    level: int,
    coefficients: Floats,
    terms: int,
    shifts: Ints,
    count: int,
    rival: int,
    sums: Floats,
) -> None:
    """Add sum_j c_j [H_{level-j}((j+1) v) - H_{level-j}(j v + rival)] for each of `count` shifts v.

    The loop takes two shifts at a time, so that the look-ups of one hide the latency of the other.
    The rival's entry at j = 0 is the same for all shifts.
    """
    top = level * size + origin
    first = coefficients[0]
    without = table[uint64(top + rival)]
    for k in range(0, count, 2):
        other = min(k + 1, count - 1)
        step_a, step_b = shifts[k] - size, shifts[other] - size
        with_a, with_b = top + shifts[k], top + shifts[other]
        without_a = without_b = top + rival
        gain_a = first * (table[uint64(with_a)] - without)
        gain_b = first * (table[uint64(with_b)] - without)
        for j in range(1, terms):
            with_a += step_a
            without_a += step_a
            with_b += step_b
            without_b += step_b
            c = coefficients[j]
            gain_a += c * (table[uint64(with_a)] - table[uint64(without_a)])
            gain_b += c * (table[uint64(with_b)] - table[uint64(without_b)])
        sums[k] += gain_a
        if other > k:
            sums[other] += gain_b


@compiled()
def start_table(table: Floats, utility: Floats, levels: int) -> None:
    for level in range(levels):
        table[level * utility.size : (level + 1) * utility.size] = utility


@compiled(fastmath=True)
def _near_ranks(
    ids: Ints,
    first: int,
    whole: bool,
    game: Lattice,
    room: Floats,
    displace: Floats,
    inverse: Floats,
    table: Floats,
    out: Floats,
) -> float:
    """Walk the first ranks without the point at rank `first`, the first one of its kind.

    `table` must be that of the points before it. For each point of the kind, minus the running sum
    goes into `out`. The whole sum is returned; it includes the first sum of the identity if these
    ranks are the `whole` game.
    """
    shifts, utility, origin, slices = game
    size = utility.size
    levels = room.size
    value = ids[first]
    top = (levels - 1) * size + origin
    total = 0.0
    out[first] = 0.0
    for m in range(first + 1, ids.size):
        shift = shifts[ids[m]]
        if m >= levels:
            total += displace[m + 1] * (table[top + shifts[value]] - table[top + shift])
        if ids[m] == value:
            out[m] = -total
        pass_point(table, size, slices, shift, m, inverse)
    if whole:
        for level in range(levels):
            base = level * size + origin
            total += room[level] * (table[base + shifts[value]] - table[base])
    return total


@compiled(fastmath=True)
def _far_ranks(
    ids: Ints,
    start: int,
    game: Lattice,
    room: Floats,
    displace: Floats,
    inverse: Floats,
    table: Floats,
    totals: Floats,
    out: Floats,
) -> None:
    """Go on from rank `start`, whose table is given, and gather sums and values by the downdate.

    The sums run over blocks of ranks that double in length, and `totals` holds one row per block.
    So the value of a far point, which is small, is never the difference of two sums of order one.
    """
    shifts, utility, origin, slices = game
    n = ids.size
    size = utility.size
    levels = room.size
    coefficients = np.empty(levels)
    sums = np.zeros(shifts.size)
    # Kinds are numbered as they appear, so that only those seen so far cost time.
    slot = np.full(shifts.size, -1)
    seen = np.empty(shifts.size, np.int64)
    count = 0
    for m in range(start):
        value = ids[m]
        if slot[value] < 0:
            slot[value] = count
            seen[count] = shifts[value]
            count += 1
    block = 1
    while start < n:
        stop = min(FARTHER * start, n)
        terms = downdate_terms(start, levels - 1)
        for m in range(start, stop):
            value = ids[m]
            shift = shifts[value]
            downdate(displace[m + 1], m, levels - 1, terms, inverse, coefficients, 0)
            add_gains(
                table, size, origin, levels - 1, coefficients, terms, seen, count, shift, sums
            )
            if slot[value] < 0:
                slot[value] = count
                seen[count] = shift
                count += 1
            out[m] = -sums[slot[value]]
            pass_point(table, size, slices, shift, m + 1, inverse)
        if stop == n:
            for level in range(levels):
                terms = downdate_terms(n, level)
                downdate(room[level], n, level, terms, inverse, coefficients, 0)
                add_gains(table, size, origin, level, coefficients, terms, seen, count, 0, sums)
        for value in range(shifts.size):
            if slot[value] >= 0:
                totals[block, value] = sums[slot[value]]
        sums[:] = 0.0
        block += 1
        start = stop


@compiled()
def block_totals(near: int, n: int, growth: int, kinds: int) -> Floats:
    """Return sums of 0 for the first ranks and for each block of the ranks behind them.

    A block reaches `growth` times as far as the one before it.
    """
    blocks = 1
    stop = near
    while stop < n:
        blocks += 1
        stop *= growth
    return np.zeros((blocks, kinds))


@compiled()
def _near_totals(
    ids: Ints,
    whole: bool,
    game: Lattice,
    room: Floats,
    displace: Floats,
    inverse: Floats,
    table: Floats,
    totals: Floats,
    out: Floats,
) -> None:
    """Value the first ranks, whose kinds are `ids`; `totals` receives the sums by kind.

    `table` receives the table of these points.
    """
    done = np.zeros(game.shifts.size, np.bool_)
    without = np.empty_like(table)
    start_table(table, game.utility, room.size)
    for m in range(ids.size):
        if not done[ids[m]]:
            done[ids[m]] = True
            without[:] = table
            totals[ids[m]] = _near_ranks(ids, m, whole, game, room, displace, inverse, without, out)
        pass_point(table, game.utility.size, game.slices, game.shifts[ids[m]], m + 1, inverse)


@compiled()
def add_up(totals: Floats) -> None:
    """Add to the sums of each block those of all later ones."""
    for block in range(totals.shape[0] - 2, -1, -1):
        totals[block] += totals[block + 1]


@compiled()
def _add_totals(ids: Ints, near: int, totals: Floats, out: Floats) -> None:
    """Add to each value the sums of its block and of all later ones."""
    add_up(totals)
    block = 0
    stop = near
    for m in range(ids.size):
        if m == stop:
            block += 1
            stop *= FARTHER
        out[m] += totals[block, ids[m]]


@compiled()
def set_outside(game: Lattice, outside: Floats, table: Floats, tail: Floats) -> None:
    """Write the values of the points behind the ranked ones, by kind, into `tail`."""
    for value in range(game.shifts.size):
        tail[value] = 0.0
        for level in range(outside.size):
            base = level * game.utility.size + game.origin
            tail[value] += outside[level] * (table[base + game.shifts[value]] - table[base])


@compiled()
def walk(
    ids: Ints,
    game: Lattice,
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
    ids : (n,) array of int
        The kind of each point, nearest first: an index into `game.shifts`.
    game : Lattice
        The game, made for as many neighbours as `room` has entries.
    room : (K,) array
        Coefficients of the first sum; its length is the number of neighbours.
    outside : (K,) array
        The same for the points behind the ranked ones; empty if there are none.
    displace : (n+1,) array, or longer
        Coefficients of the second sum, by rank counted from 1.
    inverse : (n+1,) array, or longer
        1/m by m; entry 0 is not used.
    out : (n,) array
        Receives the values.
    tail : (V,) array
        Receives the values of the points behind the ranked ones, by kind, if there are any.
    """
    n = ids.size
    levels = room.size
    table = np.empty(levels * game.utility.size)
    near = min(n, NEAR * levels)
    totals = block_totals(near, n, FARTHER, game.shifts.size)
    _near_totals(ids[:near], near == n, game, room, displace, inverse, table, totals[0], out)
    if near < n:
        _far_ranks(ids, near, game, room, displace, inverse, table, totals, out)
    _add_totals(ids, near, totals, out)
    if outside.size > 0:
        set_outside(game, outside, table, tail)
