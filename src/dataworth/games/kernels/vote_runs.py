r"""The binary vote by runs: what `kernels.walk` computes rank by rank, for many ranks at once.

The points of a run have the same weight u, and shift the state by u or by -u. Of the K-1 members
of S before m, j1 are right points of the run and j0 are wrong ones, and the others are a subset T
of the mu points before the run. As in `kernels.runs`, with n1 right and n0 wrong points of the run
before m, the chance of (j1, j0) is

    p = (n1 choose j1) (n0 choose j0) (mu-1 choose K-1-j1-j0) / (m-2 choose K-1)

if i, which S does not contain, is before the run. With a_m = 1 if m is right and 0 otherwise, two
sums over the run for each pair, of displace_m p and of displace_m p a_m, say what every earlier
point gains: they multiply means of the table H without i, which follow by the downdate. If i is in
the run, then it gains only if the label of m differs from its own, and p changes by the factor
(1 - j1/n1) or (1 - j0/n0), times mu / (mu-K+1+j1+j0).

Cost: O(K^2) for each rank, whatever the weights are, and O(V K^3 + K^2 Q K) for each run, with V
kinds of points and weights up to Q.
"""

import numpy as np
from numba import uint64

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled
from dataworth.games.kernels.runs import BLOCK, shares, start_chances
from dataworth.games.kernels.walk import (
    Lattice,
    add_gains,
    add_outside,
    add_totals,
    downdate,
    downdate_terms,
    near_totals,
    pass_point,
    start_table,
)

# What the steps of the two ways cost, in nanoseconds, measured: a chance of one rank and pair, a
# look-up in a table, and the update of one entry of a table.
CHANCE, LOOKUP, UPDATE = 0.5, 1.0, 0.2


@compiled()
def is_cheaper(length: int, levels: int, kinds: int, entries: int) -> bool:
    """Say whether a run of this length is cheaper at once than rank by rank.

    `kinds` is the number of kinds seen so far, and `entries` that of table entries to update.
    """
    rank = UPDATE * entries + LOOKUP * kinds * levels
    pairs = levels * (levels + 1.0) / 2.0
    once = LOOKUP * kinds * levels**3 / 3.0 + UPDATE * entries * levels
    return CHANCE * pairs * length + once < rank * length


@compiled(fastmath=True)
def pass_points(
    table: Floats, game: Lattice, shift: int, length: int, before: int, chances: Floats
) -> None:
    """Turn the table of `before` points into that with `length` more points, all of this shift."""
    size = game.utility.size
    for r in range(game.slices.shape[0]):
        level, start, stop = game.slices[r, 0], game.slices[r, 1], game.slices[r, 2]
        count = shares(level, before, length, chances)
        row = table[level * size : (level + 1) * size]
        for i in range(uint64(start), uint64(stop)):
            row[i] *= chances[0]
        for j in range(1, count):
            below = table[(level - j) * size : (level - j + 1) * size]
            move = j * shift
            chance = chances[j]
            for i in range(uint64(start), uint64(stop)):
                row[i] += chance * below[uint64(i + move)]


@compiled(fastmath=True)
def pass_ranks(
    first: int,
    stop: int,
    levels: int,
    right: Floats,
    displace: Floats,
    inverse: Floats,
    ends: Floats,
    gains: Floats,
    gains_right: Floats,
    out: Floats,
) -> None:
    """Sum over the ranks of a run what earlier points gain, and value the run against itself.

    Parameters
    ----------
    first, stop : int
        The run: ranks first+1 to stop, so `first` points lie before it.
    levels : int
        K, the number of neighbours.
    right : (n,) array
        1 for the points with the right label and 0 for the others.
    displace, inverse : array
        As in `walk`.
    ends : (K, K) array
        By (j1, j0), what a right point gains over a wrong one.
    gains, gains_right : (K, K) array
        Receive, by (j1, j0), the sums over m of displace_m p, and of displace_m p a_m.
    out : (n,) array
        Receives, for the points of the run, what they gain by displacing points of the run.
    """
    p, q, n_right, n_wrong, off_right, off_wrong = np.empty((6, BLOCK))
    gains[:] = 0.0
    gains_right[:] = 0.0
    length = stop - first
    seen = 0.0
    for start in range(first, stop, BLOCK):
        size = min(BLOCK, stop - start)
        here = right[start : start + size]
        gain = out[start : start + size]
        for i in range(size):
            n_right[i] = seen
            seen += here[i]
        for i in range(size):
            n_wrong[i] = start - first + i - n_right[i]
            off_right[i] = (1.0 - here[i]) * inverse[int(n_right[i])]
            off_wrong[i] = here[i] * inverse[int(n_wrong[i])]
            gain[i] = 0.0
        start_chances(start, size, first, levels, displace, inverse, p)
        for a in range(min(levels, length)):
            for i in range(uint64(size)):
                q[i] = p[i]
            j1 = float(a)
            for b in range(min(levels - a, length)):
                j0 = float(b)
                end = ends[a, b]
                left = levels - 1.0 - j1 - j0
                ratio = left / ((j0 + 1.0) * (first - left))
                total = total_right = 0.0
                for i in range(uint64(size)):
                    chance = q[i]
                    total += chance
                    total_right += chance * here[i]
                    gain[i] += chance * (end - end * (j1 * off_right[i] + j0 * off_wrong[i]))
                    q[i] = chance * (n_wrong[i] - j0) * ratio
                gains[a, b] += total
                gains_right[a, b] += total_right
            left = levels - 1.0 - j1
            ratio = left / ((j1 + 1.0) * (first - left))
            for i in range(uint64(size)):
                p[i] *= (n_right[i] - j1) * ratio
    over_right = over_wrong = 0.0
    for m in range(stop - 1, first - 1, -1):
        gained = out[m]
        out[m] = right[m] * over_wrong - (1.0 - right[m]) * over_right
        over_right += gained * right[m]
        over_wrong += gained * (1.0 - right[m])


@compiled(fastmath=True)
def add_run(
    table: Floats,
    game: Lattice,
    levels: int,
    weight: int,
    before: int,
    gains: Floats,
    gains_right: Floats,
    shifts: Ints,
    inverse: Floats,
    c: Floats,
    lines: Floats,
    sums: Floats,
) -> None:
    """Add what points of each shift gain by displacing the points of a run.

    `shifts` are those of the kinds seen so far, and `lines` and `c` are scratch.
    """
    size, origin = game.utility.size, game.origin
    for j in range(levels):
        # By how far j members from the run and, in the second line, m as well move the state.
        lines[:, : 2 * j + 3] = 0.0
        for a in range(j + 1):
            total, total_right = gains[a, j - a], gains_right[a, j - a]
            lines[0, 2 * a + 1] = total
            lines[1, 2 * a + 2] += total_right
            lines[1, 2 * a] += total - total_right
        level = levels - 1 - j
        terms = downdate_terms(before, level)
        downdate(1.0, before, level, terms, inverse, c)
        for k in range(shifts.size):
            shift = shifts[k]
            gain = 0.0
            for t in range(terms):
                base = (level - t) * size + origin + t * shift - (j + 1) * weight
                own = rival = 0.0
                for e in range(j + 2):
                    rival += lines[1, 2 * e] * table[uint64(base + 2 * e * weight)]
                for e in range(j + 1):
                    own += lines[0, 2 * e + 1] * table[uint64(base + shift + (2 * e + 1) * weight)]
                gain += c[t] * (own - rival)
            sums[k] += gain


@compiled()
def _number(kind: int, shift: int, slot: Ints, seen: Ints, count: int) -> int:
    """Number the kinds as they appear, so that only those seen so far cost time."""
    if slot[kind] < 0:
        slot[kind] = count
        seen[count] = shift
        count += 1
    return count


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
    """Walk all ranks, and from rank `start` on gather sums and values, as in `kernels.walk`."""
    shifts, utility, origin, slices = game
    n, size, levels, top = ids.size, utility.size, room.size, shifts.size // 2
    entries = (slices[:, 2] - slices[:, 1]).sum()
    c, chances = np.empty(levels), np.empty(levels)
    ends, gains, gains_right = np.zeros((3, levels, levels))
    lines = np.empty((2, 2 * levels + 1))
    right = np.empty(n)
    for m in range(n):
        right[m] = ids[m] > top
    sums = np.zeros(shifts.size)
    slot, seen = np.full(shifts.size, -1), np.empty(shifts.size, np.int64)
    count = 0
    start_table(table, utility, levels)
    for m in range(start):
        count = _number(ids[m], shifts[ids[m]], slot, seen, count)
        pass_point(table, size, slices, shifts[ids[m]], m + 1, inverse)
    block = 1
    while start < n:
        stop = min(2 * start, n)
        terms = downdate_terms(start, levels - 1)
        m = start
        while m < stop:
            weight = abs(shifts[ids[m]])
            end = m + 1
            while end < stop and abs(shifts[ids[end]]) == weight:
                end += 1
            if not is_cheaper(end - m, levels, count, entries):
                for rank in range(m, end):
                    kind = ids[rank]
                    downdate(displace[rank + 1], rank, levels - 1, terms, inverse, c)
                    add_gains(
                        table, size, origin, levels - 1, c, terms, seen, count, shifts[kind], sums
                    )
                    count = _number(kind, shifts[kind], slot, seen, count)
                    out[rank] = -sums[slot[kind]]
                    pass_point(table, size, slices, shifts[kind], rank + 1, inverse)
                m = end
                continue
            for j1 in range(levels):
                for j0 in range(levels - j1):
                    base = (levels - 1 - j1 - j0) * size + origin + (j1 - j0) * weight
                    ends[j1, j0] = table[base + weight] - table[base - weight]
                    ends[j1, j0] *= m / (m - levels + 1.0 + j1 + j0)
            pass_ranks(
                m, end, levels, right, displace, inverse, ends, gains, gains_right, out
            )
            add_run(
                table, game, levels, weight, m, gains, gains_right, seen[:count], inverse, c, lines,
                sums,
            )  # fmt: skip
            more = 0
            for rank in range(m, end):
                count = _number(ids[rank], shifts[ids[rank]], slot, seen, count)
                out[rank] -= sums[slot[ids[rank]]]
                more += ids[rank] > top
            if more > 0:
                pass_points(table, game, weight, more, m, chances)
            if more < end - m:
                pass_points(table, game, -weight, end - m - more, m + more, chances)
            m = end
        if stop == n:
            for level in range(levels):
                terms = downdate_terms(n, level)
                downdate(room[level], n, level, terms, inverse, c)
                add_gains(table, size, origin, level, c, terms, seen, count, 0, sums)
        for kind in range(shifts.size):
            if slot[kind] >= 0:
                totals[block, kind] = sums[slot[kind]]
        sums[:] = 0.0
        block += 1
        start = stop


@compiled()
def vote(
    ids: Ints,
    game: Lattice,
    room: Floats,
    outside: Floats,
    displace: Floats,
    inverse: Floats,
    out: Floats,
    tail: Floats,
) -> None:
    """Do what `walk` does for a binary vote, where the shifts are -Q..Q."""
    table = np.empty(room.size * game.utility.size)
    near, totals = near_totals(ids, game, room, displace, inverse, table, out)
    if near < ids.size:
        _far_ranks(ids, near, game, room, displace, inverse, table, totals, out)
    add_totals(ids, near, totals, out)
    if outside.size > 0:
        add_outside(ids, near, game, outside, inverse, table, tail)
