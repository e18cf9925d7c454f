r"""The first 2K ranks of the binary vote, by the points that are left out of a set.

Let m points lie before a rank, with signed weights that add up to W, and let i be one of them. A
set S of K-1 of the others leaves out a set E of m-K points. There are few of these as long as m is
at most 2K, and the vote follows from them: S with i has the signed weight W - W_E. With

    G_{m,e}(x) = mean over the e-subsets E of the first m points of U(x - W_E),

passing a point of signed weight a blends two entries, as in `kernels.walk`,

    G_{m,e}(x) = (1 - e/m) G_{m-1,e}(x) + (e/m) G_{m-1,e-1}(x - a),

and the mean over the sets E without i, of signed weight v, is

    G_{m,e}^{-v}(x) = sum_{j=0}^{e} c_j G_{m,e-j}(x - j v),

with the coefficients c_j of the downdate. They shrink rounding errors, because e is at most half of
m, just where those of sets S would multiply them.

Cost: O(K^2 Q) for each rank and O(V K) for its gains, with V kinds of points and weights up to Q.
"""

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, uint64
from dataworth.games.kernels.walk import Lattice, add_gains, downdate, downdate_terms, pass_point


@compiled(fastmath=True)
def _pass_point(left: Floats, center: int, top: int, shift: int, m: int, inverse: Floats) -> None:
    """Turn the means over sets left out of m-1 points into those of m points."""
    for e in range(min(left.shape[0] - 1, m), 0, -1):
        take = e * inverse[m]
        keep = 1.0 - take
        row, below = left[e], left[e - 1]
        # Farther out, the vote is decided whichever points are left out.
        for x in range(uint64(center - e * top), uint64(center + e * top + 1)):
            row[x] = keep * row[x] + take * below[uint64(x - shift)]


@compiled(fastmath=True)
def _add_gains(
    left: Floats, center: int, top: int, e: int, c: Floats, total: int, seen: Ints, count: int,
    rival: int, sums: Floats,
) -> None:  # fmt: skip
    """Add what each of `count` kinds gains over a rival, if e points are left out of all."""
    for k in range(count):
        shift = seen[k]
        own = total
        other = total - shift + rival
        gain = 0.0
        for j in range(e + 1):
            row, limit = left[e - j], (e - j) * top + 1
            with_it = row[center + min(max(own, -limit), limit)]
            without = row[center + min(max(other, -limit), limit)]
            gain += c[j] * (with_it - without)
            own -= shift
            other -= shift
        sums[k] += gain


@compiled(fastmath=True)
def near_votes(
    ids: Ints,
    n: int,
    game: Lattice,
    room: Floats,
    displace: Floats,
    inverse: Floats,
    table: Floats,
    seen: Ints,
    total_of: Floats,
    out: Floats,
) -> int:
    """Value the first ranks of n against each other.

    Parameters
    ----------
    ids : (near,) array of int
        The kinds of the first ranks: their signed weights plus the largest weight.
    n : int
        The number of ranked points. If there are no others, the first sum of the identity is
        included.
    game, room, displace, inverse
        As in `walk`; the shifts of the game are -Q..Q.
    table : array
        Must be that of no points, and receives that of these points.
    seen : (2*Q+1,) array of int
        Receives the signed weights in the order in which they appear.
    total_of : (2*Q+1,) array
        Receives, by kind, the sum of all gains. Those before a point came are taken off in `out`.
    out : (n,) array
        Receives what is taken off.

    Returns
    -------
    int
        The number of kinds.
    """
    near, levels, top = ids.size, room.size, game.shifts.size // 2
    whole = near == n
    most = max(near - 1 - levels, (near - 1) // 2 if whole else 0, 0)
    center = (most + 1) * top + 1
    left = np.zeros((most + 1, 2 * center + 1))
    left[:, center] = game.utility[game.origin]
    left[:, center + 1 :] = 1.0
    c, sums = np.empty(max(levels, most + 1)), np.zeros(game.shifts.size)
    slot = np.full(game.shifts.size, -1)
    count = total = 0
    for m in range(near):
        shift = ids[m] - top
        if m >= levels:
            e = m - levels
            downdate(displace[m + 1], m, e, e + 1, inverse, c, 0)
            _add_gains(left, center, top, e, c, total, seen, count, shift, sums)
        if slot[ids[m]] < 0:
            slot[ids[m]] = count
            seen[count] = shift
            count += 1
        out[m] = -sums[slot[ids[m]]]
        _pass_point(left, center, top, shift, m + 1, inverse)
        pass_point(table, game.utility.size, game.slices, shift, m + 1, inverse)
        total += shift
    if whole:
        for level in range(min(levels, n)):
            e = n - 1 - level
            if level <= e:
                terms = downdate_terms(n, level)
                downdate(room[level], n, level, terms, inverse, c, 0)
                add_gains(
                    table, game.utility.size, game.origin, level, c, terms, seen, count, 0, sums
                )
            else:
                downdate(room[level], n, e, e + 1, inverse, c, 0)
                _add_gains(left, center, top, e, c, total, seen, count, 0, sums)
    for k in range(count):
        total_of[top + seen[k]] = sums[k]
    return count
