"""The exact algorithm of Jia et al. for real weights, by enumerating sets of neighbours."""

from math import comb

import numpy as np
from numpy.typing import ArrayLike

from dataworth.arrays import Floats
from dataworth.baselines.utility import GameName, check_game, check_ranked
from dataworth.compiled import compiled


def enumerate_neighbours(
    right: ArrayLike,
    weights: ArrayLike,
    *,
    n_neighbors: int,
    game: GameName = "soft",
    n_classes: int = 2,
) -> Floats:
    r"""Values in the soft or hard game with real weights, by enumeration of neighbours.

    The farthest point cannot displace any other, so it matters only to sets with room left. For two
    points of neighbouring ranks, the difference between their values is a mean of
    U(S + i) - U(S + i+1), where only the K - 1 nearest members of S count:

        phi_N = 1/N sum_{k<K} E_k[U(S + N) - U(S)]
        phi_i = phi_{i+1} + 1/(N-1) sum_k 1/(N-2 choose k) sum_S A_k(S) [U(S + i) - U(S + i+1)]

    where k goes up to N - 2 and S over the sets of min(k, K-1) points other than i and i+1. A_k(S)
    is the number of ways to add members that are too far to count: 1 for k < K-1, and otherwise
    (N - max(i+1, farthest rank of S) choose k-K+1).

    Parameters
    ----------
    right : (N,) array of booleans
        Whether each point has the label of the validation point, nearest point first.
    weights : (N,) array of real numbers
        The weights of the points, each at least 0.
    n_neighbors : int
        K, the number of neighbours that vote.
    game : {"soft", "hard"}
        Which game is played.
    n_classes : int
        The number of classes; in the soft game U(empty) = 1 / n_classes.

    Returns
    -------
    (N,) array of float
        The values, nearest point first.

    Notes
    -----
    The cost is O(N^K) utilities, because all sets of at most K - 1 points are enumerated N - 1
    times. K = 5 and N = 100 take some seconds.

    The sum over k of A_k(S) / (N-2 choose k) depends only on f = max(i+1, farthest rank of S). With
    1/(n choose k) = (n+1) times the integral of x^k (1-x)^(n-k), the sum over k is a binomial one
    and leaves (N-1) B(K, f-K) = (N-1) / (K (f-1 choose K)). The formula is that of Jia et al. as
    corrected by Wang, Mittal and Jia. It holds for every utility, however weights change with
    distance.

    References
    ----------
    R. Jia et al.: Efficient Task-Specific Data Valuation for Nearest Neighbor Algorithms. VLDB
    2019.
    J. T. Wang, P. Mittal, R. Jia: Efficient Data Shapley for Weighted Nearest Neighbor Algorithms.
    arXiv 2401.11103. Appendix on baselines.

    Examples
    --------
    >>> from dataworth.baselines import enumerate_neighbours
    >>> enumerate_neighbours([True, False, True], [0.9, 0.5, 0.1], n_neighbors=2).round(3)
    array([ 0.433, -0.484,  0.194])
    """
    flags, numbers = check_ranked(right, weights)
    n = flags.size
    rules = check_game(game, n_classes, n_neighbors, n)
    good = np.where(flags, numbers, 0).astype(np.float64)
    bad = np.where(flags, 0, numbers).astype(np.float64)
    k = rules.neighbors
    room = np.array([1.0 / comb(n - 1, size) for size in range(k)])
    sizes = min(k, n - 1)
    # shares[size, f] is the coefficient of a set of this size if f is the largest rank among its
    # members, i and i+1.
    shares = np.zeros((sizes, n + 1))
    for size in range(sizes):
        shares[size] = 1.0 / comb(n - 2, size)
    if sizes == k:
        shares[k - 1] = [(n - 1) / (k * comb(f - 1, k)) if f > k else 0.0 for f in range(n + 1)]
    return _values(good, bad, room, shares, rules.soft, rules.empty)


@compiled()
def _values(
    good: Floats, bad: Floats, room: Floats, shares: Floats, soft: bool, empty: float
) -> Floats:
    n = good.size
    values = np.empty(n)
    same = np.empty(n + 1)
    last = 0.0
    for size in range(room.size):
        same[:] = room[size]
        last += _gain(good, bad, n - 1, n, size, same, soft, empty)
    values[n - 1] = last / n
    for i in range(n - 2, -1, -1):
        gain = 0.0
        for size in range(shares.shape[0]):
            gain += _gain(good, bad, i, i + 2, size, shares[size], soft, empty)
        values[i] = values[i + 1] + gain / (n - 1)
    return values


@compiled()
def _gain(
    good: Floats, bad: Floats, i: int, stop: int, size: int, share: Floats, soft: bool, empty: float
) -> float:
    """Sum share[f] [U(S + i) - U(S + j)] over the sets S of points outside i..stop - 1.

    j is the point after i, unless that is `stop`: then there is no j. f is the rank of the farthest
    of all these points. The sum is compensated (Neumaier), since it can have billions of terms.
    """
    n = good.size
    a_i, b_i = good[i], bad[i]
    a_j, b_j = (good[i + 1], bad[i + 1]) if stop > i + 1 else (0.0, 0.0)
    places = n - (stop - i)  # points to choose from, shifted from i on
    if size > places:
        return 0.0
    chosen = np.arange(size)
    # Sums over the members before each place are kept, so that a step costs O(1) on average.
    a, b = np.zeros(size + 1), np.zeros(size + 1)
    total = lost = 0.0
    first = 0  # members from here on have changed
    while True:
        for at in range(first, size):
            point = chosen[at] if chosen[at] < i else chosen[at] + stop - i
            a[at + 1], b[at + 1] = a[at] + good[point], b[at] + bad[point]
        farthest = stop
        if size and chosen[size - 1] >= i:
            farthest = chosen[size - 1] + stop - i + 1
        x, y = a[size], b[size]
        gain = _worth(x + a_i, y + b_i, soft, empty) - _worth(x + a_j, y + b_j, soft, empty)
        if gain != 0.0:
            term = share[farthest] * gain
            new = total + term
            lost += (total - new) + term if abs(total) >= abs(term) else (term - new) + total
            total = new
        first = size - 1
        while first >= 0 and chosen[first] == places - size + first:
            first -= 1
        if first < 0:
            return total + lost
        chosen[first] += 1
        for at in range(first + 1, size):
            chosen[at] = chosen[at - 1] + 1


@compiled()
def _worth(right: float, wrong: float, soft: bool, empty: float) -> float:
    """Return U of a set, given the weights of its right and of its wrong labels."""
    if not soft:
        return 1.0 if right >= wrong else 0.0
    return right / (right + wrong) if right + wrong > 0.0 else empty
