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

Cost: O(K^2) for each rank, whatever the weights are, and O(V K^3 + K^3 Q) for each run, with V
kinds of points and weights up to Q.
"""

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.compiled import compiled, uint64
from dataworth.games.kernels.runs import BLOCK, GROWTH, runs_of, shares, start_chances
from dataworth.games.kernels.vote_near import near_votes
from dataworth.games.kernels.walk import (
    NEAR,
    UPDATE,
    Lattice,
    add_gains,
    add_up,
    block_totals,
    downdate,
    downdate_terms,
    pass_point,
    set_outside,
    start_table,
)

# Roughly what a chance of one rank and pair takes, and a look-up in a table, in nanoseconds.
CHANCE, LOOKUP = 0.4, 1.0
# With more neighbours, products of chances could overflow.
MOST_NEIGHBORS = 128


@compiled()
def is_cheaper(length: int, levels: int, kinds: int, entries: int) -> bool:
    """Say whether a run of this length is cheaper at once than rank by rank.

    `kinds` is the number of kinds seen so far, and `entries` that of table entries to update.
    """
    if levels > MOST_NEIGHBORS:
        return False
    rank = UPDATE * entries + LOOKUP * kinds * levels
    pairs = levels * (levels + 1.0) / 2.0
    once = LOOKUP * kinds * levels**3 / 3.0 + UPDATE * entries * levels
    return CHANCE * pairs * length + once < rank * length


def seconds(n: int, levels: int, top: int) -> float:
    """Return roughly how long a vote of n points takes, with K levels and weights up to `top`."""
    if n == 0:
        return 0.0
    near = min(n, NEAR * levels)
    entries = 0.5 * levels**2 * top
    left_out = min(n, levels) ** 2 * top
    steps = UPDATE * near * (entries + left_out)
    length = max((n - near) // top, 1)
    kinds = min(2 * top, n)
    pairs = CHANCE * levels * (levels + 1.0) / 2.0
    once = LOOKUP * kinds * levels**3 / 3.0 + UPDATE * entries * levels
    rank = UPDATE * entries + LOOKUP * kinds * levels
    far = min(pairs + once / length, rank) if levels <= MOST_NEIGHBORS else rank
    return 1e-9 * (steps + far * (n - near))


@compiled(fastmath=True)
def pass_points(
    table: Floats, game: Lattice, shift: np.int64, length: int, before: int, chances: Floats
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
) -> int:
    """Sum over the ranks of a run what earlier points gain, and value the run against itself.

    Returns the number of right points of the run.

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
    p, n_right, n_wrong, off_right, off_wrong, kept = np.empty((6, BLOCK))
    some = np.empty((levels + 1, BLOCK))  # (n0 choose j0) / mu^j0
    gains[:] = 0.0
    gains_right[:] = 0.0
    length = stop - first
    scale = np.ones(levels + 1)  # mu^j (mu-1 choose K-1-j) / (mu-1 choose K-1)
    for j in range(levels - 1):
        left = levels - 1.0 - j
        scale[j + 1] = scale[j] * left * first / (first - left)
    seen = 0.0
    for start in range(first, stop, BLOCK):
        size = min(BLOCK, stop - start)
        here = right[start : start + size]
        gain = out[start : start + size]
        for i in range(size):
            n_right[i] = seen
            seen += here[i]
        for i in range(uint64(size)):
            n_wrong[i] = float(uint64(start - first) + i) - n_right[i]
            # Of the points unlike m; a division is faster than looking up its inverse.
            per = 1.0 / max(n_wrong[i] if here[i] > 0.0 else n_right[i], 1.0)
            off_right[i] = (1.0 - here[i]) * per
            off_wrong[i] = here[i] * per
            gain[i] = 0.0
            some[0, i] = 1.0
        for j in range(min(levels, length)):
            ratio = 1.0 / ((j + 1.0) * first)
            for i in range(uint64(size)):
                some[uint64(j + 1), i] = some[uint64(j), i] * (n_wrong[i] - j) * ratio
        start_chances(start, size, first, levels, displace, inverse, p)
        for a in range(min(levels, length)):
            j1 = float(a)
            for i in range(uint64(size)):
                kept[i] = 1.0 - j1 * off_right[i]
            for b in range(0, min(levels - a, length), 2):  # two pairs share their loads
                more = b + 1 < min(levels - a, length)
                one, two = some[b], some[b + 1]
                scale_one, scale_two = scale[a + b], scale[a + b + 1] if more else 0.0
                end_one = ends[a, b] * scale_one
                end_two = ends[a, b + 1] * scale_two if more else 0.0
                off_one, off_two = end_one * b, end_two * (b + 1.0)
                sum_one = sum_two = right_one = right_two = 0.0
                for i in range(uint64(size)):
                    x, y = p[i] * one[i], p[i] * two[i]
                    sum_one += x
                    sum_two += y
                    right_one += x * here[i]
                    right_two += y * here[i]
                    gain[i] += kept[i] * (end_one * x + end_two * y) - off_wrong[i] * (
                        off_one * x + off_two * y
                    )
                gains[a, b] += scale_one * sum_one
                gains_right[a, b] += scale_one * right_one
                if more:
                    gains[a, b + 1] += scale_two * sum_two
                    gains_right[a, b + 1] += scale_two * right_two
            ratio = 1.0 / ((j1 + 1.0) * first)
            for i in range(uint64(size)):
                p[i] *= (n_right[i] - j1) * ratio
    over_right = over_wrong = 0.0
    for m in range(stop - 1, first - 1, -1):
        gained = out[m]
        out[m] = right[m] * over_wrong - (1.0 - right[m]) * over_right
        over_right += gained * right[m]
        over_wrong += gained * (1.0 - right[m])
    return int(seen)


@compiled(fastmath=True)
def add_run(
    table: Floats,
    game: Lattice,
    levels: int,
    weight: np.int64,
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
        downdate(1.0, before, level, terms, inverse, c, 0)
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


@compiled(fastmath=True)
def _far_ranks(
    weights: Array,
    right: Floats,
    starts: Ints,
    blocks: Ints,
    seen: Ints,
    count: int,
    game: Lattice,
    room: Floats,
    displace: Floats,
    inverse: Floats,
    table: Floats,
    totals: Floats,
    read_off: Floats,
    out: Floats,
) -> None:
    """Pass all runs beyond the first ranks, whose kinds are `seen`, and gather sums and values.

    What a point must not gain, from points before it in its block, is taken off at once if it is
    in a short run. For a long run it is left in `read_off`, for wrong and right points.
    """
    shifts, utility, origin, slices = game
    n, size, levels, top = weights.size, utility.size, room.size, shifts.size // 2
    entries = 0
    for r in range(slices.shape[0]):
        entries += slices[r, 2] - slices[r, 1]
    c, chances = np.empty(levels), np.empty(levels)
    ends, gains, gains_right = np.zeros((3, levels, levels))
    lines = np.empty((2, 2 * levels + 1))
    sums = np.zeros(shifts.size)
    slot = np.full(shifts.size, -1)
    for k in range(count):
        slot[top + seen[k]] = k
    terms = 0
    for run in range(blocks.size):
        first, stop, weight = starts[run], starts[run + 1], np.int64(weights[starts[run]])
        if run == 0 or blocks[run] != blocks[run - 1]:
            terms = downdate_terms(first, levels - 1)
            sums[:] = 0.0
        old = count
        for shift in (-weight, weight):
            if slot[top + shift] < 0:
                slot[top + shift] = count
                seen[count] = shift
                count += 1
        if is_cheaper(stop - first, levels, count, entries):
            for j1 in range(levels):
                for j0 in range(levels - j1):
                    base = (levels - 1 - j1 - j0) * size + origin + (j1 - j0) * weight
                    ends[j1, j0] = table[base + weight] - table[base - weight]
                    ends[j1, j0] *= first / (first - levels + 1.0 + j1 + j0)
            more = pass_ranks(
                first, stop, levels, right, displace, inverse, ends, gains, gains_right, out
            )
            add_run(
                table, game, levels, weight, first, gains, gains_right, seen[:old], inverse, c,
                lines, sums,
            )  # fmt: skip
            read_off[run, 0] = sums[slot[top - weight]]
            read_off[run, 1] = sums[slot[top + weight]]
            if more > 0:
                pass_points(table, game, weight, more, first, chances)
            if more < stop - first:
                pass_points(table, game, -weight, stop - first - more, first + more, chances)
        else:
            read_off[run] = 0.0
            for m in range(first, stop):
                move = int(weight if right[m] > 0.0 else -weight)
                downdate(displace[m + 1], m, levels - 1, terms, inverse, c, 0)
                add_gains(table, size, origin, levels - 1, c, terms, seen, count, move, sums)
                out[m] = -sums[slot[top + move]]
                pass_point(table, size, slices, move, m + 1, inverse)
        if stop == n:
            for level in range(levels):
                terms = downdate_terms(n, level)
                downdate(room[level], n, level, terms, inverse, c, 0)
                add_gains(table, size, origin, level, c, terms, seen, count, 0, sums)
        if stop == n or blocks[run + 1] != blocks[run]:
            for k in range(count):
                totals[blocks[run] + 1, top + seen[k]] = sums[k]


@compiled()
def vote(
    weights: Array,
    right: Floats,
    game: Lattice,
    room: Floats,
    outside: Floats,
    displace: Floats,
    inverse: Floats,
    out: Floats,
    tail: Floats,
) -> None:
    """Write the value of each ranked point of a binary vote into `out`.

    Parameters
    ----------
    weights : (n,) array of int
        The weights of the ranked points, nearest first.
    right : (n,) array
        1 for the points with the right label and 0 for the others.
    game, room, outside, displace, inverse, out, tail
        As in `walk`; the shifts of the game are -Q..Q.
    """
    n, top = weights.size, game.shifts.size // 2
    table = np.empty(room.size * game.utility.size)
    start_table(table, game.utility, room.size)
    near = min(n, NEAR * room.size)
    ids = np.empty(near, np.int64)
    for m in range(near):
        ids[m] = top + np.int64(weights[m]) * (1 if right[m] > 0.0 else -1)
    totals = block_totals(near, n, GROWTH, game.shifts.size)
    seen = np.empty(game.shifts.size, np.int64)
    count = near_votes(ids, n, game, room, displace, inverse, table, seen, totals[0], out)
    if near < n:
        starts, blocks = runs_of(weights, near, GROWTH)
        read_off = np.empty((blocks.size, 2))
        _far_ranks(
            weights, right, starts, blocks, seen, count, game, room, displace, inverse, table,
            totals, read_off, out,
        )  # fmt: skip
    add_up(totals)
    for m in range(near):
        out[m] += totals[0, ids[m]]
    if near < n:
        for run in range(blocks.size):
            weight = np.int64(weights[starts[run]])
            low = totals[blocks[run] + 1, top - weight] - read_off[run, 0]
            high = totals[blocks[run] + 1, top + weight] - read_off[run, 1]
            for m in range(uint64(starts[run]), uint64(starts[run + 1])):
                out[m] += high if right[m] > 0.0 else low
    if outside.size > 0:
        set_outside(game, outside, table, tail)
