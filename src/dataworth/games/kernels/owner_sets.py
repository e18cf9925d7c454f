"""Sets of owners one by one: all of them if owners are few, or those of random permutations.

The K nearest points of a set of owners are merged from those of its members, each sorted by rank.
Either way, U can be any function of these points. Enumeration takes O(2^G (K + G)), and a
permutation O(G K).
"""

from typing import NamedTuple

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled


class Holdings(NamedTuple):
    """The nearest points of all owners.

    Attributes
    ----------
    starts : (G+1,) array of int
        Where the points of each owner start in `ranks`.
    ranks : (n,) array of int
        The ranks of these points, nearest first for each owner.
    weights, quantity : (n,) array
        The weights of the points by rank, and their weights times what is averaged.
    side : (n,) array of int
        The classes of the points by rank, the right one being 0.
    """

    starts: Ints
    ranks: Ints
    weights: Floats
    quantity: Floats
    side: Ints


class Rules(NamedTuple):
    """What a set of points is worth.

    Attributes
    ----------
    power : int
        1 for the weighted mean of a quantity, 2 for minus its square, 0 for a vote.
    empty : float
        What a set without weight is worth; in a vote, what a tie is worth.
    n_sides : int
        The number of classes in a vote.
    """

    power: int
    empty: float
    n_sides: int


def held(owner: Ints, n_owners: int) -> tuple[Ints, Ints]:
    """Return where the points of each owner start, and all ranks sorted by owner."""
    starts = np.zeros(n_owners + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=n_owners), out=starts[1:])
    return starts, np.argsort(owner, kind="stable")


@compiled()
def _merged(kept: Ints, size: int, more: Ints, out: Ints) -> int:
    """Merge two sorted lists of ranks into `out`, as far as there is room, and return its size."""
    i = j = n = 0
    while n < out.size and (i < size or j < more.size):
        if j == more.size or (i < size and kept[i] < more[j]):
            out[n] = kept[i]
            i += 1
        else:
            out[n] = more[j]
            j += 1
        n += 1
    return n


@compiled()
def _utility(points: Ints, holdings: Holdings, rules: Rules, votes: Floats) -> float:
    """Return what these points are worth together."""
    if rules.power == 0:
        votes[:] = 0.0
        for p in points:
            votes[holdings.side[p]] += holdings.weights[p]
        best = votes[1:].max()
        if best == votes[0]:
            return rules.empty
        return 1.0 if votes[0] > best else 0.0
    total = amount = 0.0
    for p in points:
        total += holdings.weights[p]
        amount += holdings.quantity[p]
    if total == 0.0:
        return rules.empty
    mean = amount / total
    return mean if rules.power == 1 else -mean * mean


@compiled()
def enumerated(holdings: Holdings, rules: Rules, neighbors: int, chance: Floats) -> Floats:
    """Value the owners by all sets of them.

    Parameters
    ----------
    holdings : Holdings
        The points.
    rules : Rules
        What sets of them are worth.
    neighbors : int
        K.
    chance : (m+1, m+2 or more) array
        What `owners.chances` returns.

    Returns
    -------
    (m,) array
        The values.
    """
    m = holdings.starts.size - 1
    kept, sizes = np.empty((2**m, neighbors), np.int64), np.zeros(2**m, np.int64)
    out, votes = np.zeros(m), np.empty(max(rules.n_sides, 2))
    for members in range(2**m):
        last = count = 0
        for i in range(m):
            if members >> i & 1:
                last = i
                count += 1
        if members:
            rest = members ^ (1 << last)
            more = holdings.ranks[holdings.starts[last] : holdings.starts[last + 1]]
            sizes[members] = _merged(kept[rest], sizes[rest], more, kept[members])
        worth = _utility(kept[members, : sizes[members]], holdings, rules, votes)
        for i in range(m):
            if members >> i & 1:
                out[i] += chance[m, count] * worth
            else:
                out[i] -= chance[m, count + 1] * worth
    return out


@compiled()
def arrive(
    orders: Ints, holdings: Holdings, rules: Rules, neighbors: int, by_size: Floats, sums: Floats
) -> None:
    """Let the owners arrive in these orders and in the reverse of each.

    Parameters
    ----------
    orders : (T, m) array of int
        Permutations of the owners.
    holdings : Holdings
        The points.
    rules : Rules
        What sets of them are worth.
    neighbors : int
        K.
    by_size : (m,) array
        What a gain counts, by the number of owners that came before.
    sums : (2, m) array
        Receives the sums of the mean gain in an order and its reverse, and of its square.
    """
    m = orders.shape[1]
    kept, other = np.empty(neighbors, np.int64), np.empty(neighbors, np.int64)
    gains, votes = np.empty(m), np.empty(max(rules.n_sides, 2))
    nothing = _utility(kept[:0], holdings, rules, votes)
    for order in orders:
        gains[:] = 0.0
        for turn in range(2):
            size, before = 0, nothing
            for place in range(m):
                i = order[place] if turn == 0 else order[m - 1 - place]
                more = holdings.ranks[holdings.starts[i] : holdings.starts[i + 1]]
                if size == neighbors and more[0] > kept[size - 1]:
                    continue
                size = _merged(kept, size, more, other)
                kept, other = other, kept
                now = _utility(kept[:size], holdings, rules, votes)
                gains[i] += 0.5 * by_size[place] * (now - before)
                before = now
        sums[0] += gains
        sums[1] += gains * gains
