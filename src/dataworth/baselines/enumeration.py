"""The exact algorithm of Jia et al. for real weights, by enumerating sets of neighbours."""

from fractions import Fraction
from itertools import combinations
from math import comb, fsum

import numpy as np
from numpy.typing import ArrayLike

from dataworth.baselines.utility import Floats, GameName, check_game, check_ranked


def enumerate_neighbours(
    right: ArrayLike,
    weights: ArrayLike,
    *,
    n_neighbors: int,
    game: GameName = "soft",
    n_classes: int = 2,
) -> Floats:
    r"""Values in the soft or hard game with real weights, by enumeration of neighbours.

    The farthest point cannot displace anyone, so only sets with room left matter to it. For two
    points next to each other in rank, the difference of their values is a mean of
    U(S + i) - U(S + i+1), where only the K - 1 nearest members of S count:

        phi_N = 1/N sum_{k<K} E_k[U(S + N) - U(S)]
        phi_i = phi_{i+1} + 1/(N-1) sum_k 1/(N-2 choose k) sum_S A_k(S) [U(S + i) - U(S + i+1)]

    with S over the sets of min(k, K-1) points other than i and i+1, and k up to N - 2. A_k(S) is 1
    for k < K-1, else (N - max(i+1, farthest rank of S) choose k-K+1): the number of ways to add
    members that are too far to count.

    Parameters
    ----------
    right : (N,) booleans, nearest point first: whether the label is the validation point's.
    weights : (N,) real numbers of at least 0.
    n_neighbors : K.
    game : "soft" or "hard".
    n_classes : U(empty) = 1 / n_classes in the soft game.

    Returns
    -------
    (N,) array of values.

    Notes
    -----
    The cost is O(N^K) utilities for each point: K = 3 and N = 50 take some seconds.

    The sum over k of A_k(S) / (N-2 choose k) depends on max(i+1, farthest rank of S) only, so it is
    added up once for each rank, in fractions, and nothing overflows. The formula is that of Jia et
    al. as corrected by Wang, Mittal and Jia; neither the utility nor how weights change with
    distance matters to it.

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
    k = rules.neighbors
    good = np.where(flags, numbers, 0).tolist()
    bad = np.where(flags, 0, numbers).tolist()

    def worth(members: tuple[int, ...]) -> float:
        a, b = fsum(good[j] for j in members), fsum(bad[j] for j in members)
        if rules.soft:
            return a / (a + b) if a + b > 0.0 else rules.empty
        return float(a >= b)

    values = np.empty(n)
    room = [
        (worth((*s, n - 1)) - worth(s)) / comb(n - 1, size)
        for size in range(k)
        for s in combinations(range(n - 1), size)
    ]
    values[-1] = fsum(room) / n
    if n == 1:
        return values
    ways = [_ways(n, k, farthest) for farthest in range(n + 1)]
    for i in range(n - 2, -1, -1):
        others = [j for j in range(n) if j not in (i, i + 1)]
        terms = []
        for size in range(min(k, n - 1)):
            for s in combinations(others, size):
                if size < k - 1:
                    factor = 1.0 / comb(n - 2, size)
                else:
                    factor = ways[max(i + 2, s[-1] + 1 if s else 0)]
                if factor:
                    terms.append(factor * (worth((*s, i)) - worth((*s, i + 1))))
        values[i] = values[i + 1] + fsum(terms) / (n - 1)
    return values


def _ways(n: int, k: int, farthest: int) -> float:
    """sum over sizes of (sets of that size with these K - 1 nearest) / (all sets of that size)."""
    return float(
        sum(
            Fraction(comb(n - farthest, size - k + 1), comb(n - 2, size))
            for size in range(k - 1, n - 1)
        )
    )
