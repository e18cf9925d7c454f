"""Slow and plain: every game from its definition, by enumeration of all subsets.

Imports nothing from the package. Points are named by their position in the training set.
"""

import itertools
import math
from collections.abc import Callable, Collection, Sequence

import numpy as np
from numpy.typing import NDArray

Utility = Callable[[frozenset[int]], float]


def shapley(n: int, utility: Utility) -> NDArray[np.float64]:
    """phi_i = sum over S without i of |S|! (n-1-|S|)! / n! [U(S + i) - U(S)]."""
    return semivalue(n, utility, shapley_chance(n))


def banzhaf(n: int, utility: Utility) -> NDArray[np.float64]:
    """The mean gain over all sets."""
    return semivalue(n, utility, lambda size: 0.5 ** (n - 1))


def beta_shapley(n: int, utility: Utility, alpha: float, beta: float) -> NDArray[np.float64]:
    """Every set counts as often as it is drawn if t ~ Beta(beta, alpha) and each joins by chance t.

    Such a set has k of the n-1 others with the mean of t^k (1-t)^(n-1-k).
    """
    return semivalue(n, utility, beta_chance(n, alpha, beta))


def shapley_chance(n: int) -> Callable[[int], float]:
    """The chance of a set of n-1 others, by its size, if every size is equally likely."""
    return lambda size: 1 / (n * math.comb(n - 1, size))


def beta_chance(n: int, alpha: float, beta: float) -> Callable[[int], float]:
    """The chance of a set of n-1 others, by its size: a ratio of products, so nothing cancels."""

    def rising(a: float, k: int) -> float:
        return math.prod(a + j for j in range(k))

    return lambda k: rising(beta, k) * rising(alpha, n - 1 - k) / rising(alpha + beta, n - 1)


def semivalue(n: int, utility: Utility, chance: Callable[[int], float]) -> NDArray[np.float64]:
    """Sum over the sets without i of their chance, by size, times the gain of i."""
    sets = [frozenset(i for i in range(n) if mask >> i & 1) for mask in range(2**n)]
    worth = [utility(s) for s in sets]
    chances = [chance(size) for size in range(n)]
    phi = np.zeros(n)
    for i in range(n):
        without = [mask for mask in range(2**n) if not mask >> i & 1]
        gains = [chances[len(sets[m])] * (worth[m | 1 << i] - worth[m]) for m in without]
        phi[i] = math.fsum(gains)
    return phi


def semivalue_by_neighbors(
    order: Sequence[int], utility: Utility, k: int, chance: Callable[[int], float]
) -> NDArray[np.float64]:
    """The same as `semivalue` where only the K nearest members of a set decide what it is worth.

    A set of K members or more is its K nearest and any of the r points behind them, to which it
    makes no difference whether one of these joins. So sets of at most K points are enough, if those
    of K points count for all the sets that they decide.
    """
    n = len(order)
    chances = [chance(size) for size in range(n)]

    def joined(size: int, r: int) -> float:
        """Chance of all sets that a point joins after this many points and any of r others."""
        return sum(math.comb(r, j) * chances[size + j] for j in range(r + 1) if size + j < n)

    gains: list[list[float]] = [[] for _ in range(n)]
    for size in range(min(k, n) + 1):
        for ranks in itertools.combinations(range(n), size):
            worth = utility(frozenset(order[rank] for rank in ranks))
            last = ranks[-1] if size == k else n - 1
            r = n - 1 - last
            member, other = joined(size - 1, r) if size else 0.0, joined(size, r)
            for rank in range(last + 1):
                gains[order[rank]].append(worth * member if rank in ranks else -worth * other)
    return np.array([math.fsum(some) for some in gains])


def ranking(distances: Sequence[float]) -> list[int]:
    """Nearest first; equal distances by position."""
    return sorted(range(len(distances)), key=lambda i: (distances[i], i))


def weights(
    name: str | Callable[[list[float]], Sequence[float]],
    distances: Sequence[float],
    n_bits: int | None,
    bandwidth: float | None = None,
    support: int | None = None,
    smallest: float = 0.0,
) -> list[float]:
    """Weight of each point; `bandwidth` None is the automatic one.

    Weights are integers, or real numbers if `n_bits` is None; real ones below `smallest` are 0. A
    function takes sorted distances. With `support`, all but that many nearest points weigh 0, and
    the last of these stands for the farthest and the median point.
    """
    if support is not None and support < len(distances):
        near = ranking(distances)[:support]
        of_near = [distances[i] for i in near]
        inner = weights(name, of_near, n_bits, bandwidth, support, smallest)
        return [inner[near.index(i)] if i in near else 0 for i in range(len(distances))]
    unit = _by_function(name, distances) if callable(name) else None
    if unit is None:
        unit = _unit_weights(str(name), distances, bandwidth, support is not None)
    if n_bits is None:
        return [u if u >= smallest else 0.0 for u in unit]
    return [round(u * (2**n_bits - 1)) for u in unit]


def _by_function(
    function: Callable[[list[float]], Sequence[float]], distances: Sequence[float]
) -> list[float]:
    order = ranking(distances)
    by_rank = function([distances[i] for i in order])
    return [by_rank[order.index(i)] for i in range(len(distances))]


def _unit_weights(
    name: str, distances: Sequence[float], bandwidth: float | None, supported: bool
) -> list[float]:
    ordered = sorted(distances)
    near, far = ordered[0], ordered[-1]
    half = len(ordered) // 2
    median = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    if supported:
        median = far
    if name == "rbf":
        h = bandwidth or 0.3 * (median - near)
        return [math.exp(-(d - near) / h) if h else float(d == near) for d in distances]
    if name == "linear":
        return [(far - d) / (far - near) if far > near else 1.0 for d in distances]
    if name == "inverse":
        return [near / d if near > 0 else float(d == 0) for d in distances]
    return [1.0 for _ in distances]


def votes_of_trees(
    leaves: Sequence[Sequence[int]],
    own_leaves: Sequence[Sequence[int]],
    drawn: Sequence[Sequence[int]],
    judged: bool,
) -> list[list[float]]:
    """How much each training point counts for each of some points in the vote of a forest.

    `leaves[t]` has the leaf of each point in tree t, `own_leaves[t]` that of each training point,
    and `drawn[t]` the training points on which the tree was grown, as often as they were drawn. If
    `judged`, the points are the training points, and a tree that was grown on one has no vote.
    """
    rows = []
    for j in range(len(leaves[0])):
        row, n_trees = [0.0] * len(own_leaves[0]), 0
        for at, own, draws in zip(leaves, own_leaves, drawn, strict=True):
            if judged and j in draws:
                continue
            n_trees += 1
            inside = [i for i in draws if own[i] == at[j]]
            for i in set(inside):
                row[i] += inside.count(i) / len(inside)
        rows.append([w / n_trees if n_trees else 0.0 for w in row])
    return rows


def weights_of_votes(votes: Sequence[float], n_bits: int | None) -> list[float]:
    """The same in units of the largest, rounded to integers or real."""
    unit = [w / max(votes) if w else 0.0 for w in votes]
    return unit if n_bits is None else [round(u * (2**n_bits - 1)) for u in unit]


def hard_vote(
    order: Sequence[int],
    labels: Sequence[object],
    weight: Sequence[float],
    y: object,
    k: int,
    tie: float = 1.0,
    classes: Collection[object] = (),
) -> Utility:
    """Mean over the rivals c of: do the K nearest labelled y or c vote for y? A tie is worth so.

    `classes` are there even if nobody has such a label.
    """
    rivals = sorted({*labels, *classes} - {y}, key=str)

    def utility(members: frozenset[int]) -> float:
        if not rivals:
            return 1.0
        wins = 0.0
        for rival in rivals:
            voters = [i for i in order if i in members and labels[i] in (y, rival)][:k]
            for_y = sum(weight[i] for i in voters if labels[i] == y)
            against = sum(weight[i] for i in voters if labels[i] == rival)
            wins += tie if for_y == against else float(for_y > against)
        return wins / len(rivals)

    return utility


def direct_vote(
    order: Sequence[int],
    labels: Sequence[object],
    weight: Sequence[float],
    y: object,
    k: int,
    tie: float = 1.0,
    classes: Collection[object] = (),
) -> Utility:
    """Does y get more weight from the K nearest than any other class? A tie is worth so.

    `classes` are there even if nobody has such a label.
    """
    everyone = {y, *labels, *classes}

    def utility(members: frozenset[int]) -> float:
        voters = [i for i in order if i in members][:k]
        weights = {c: sum(weight[i] for i in voters if labels[i] == c) for c in everyone}
        rivals = [w for c, w in weights.items() if c != y]
        if not rivals or max(rivals) < weights[y]:
            return 1.0
        return tie if max(rivals) == weights[y] else 0.0

    return utility


def soft_share(
    order: Sequence[int],
    labels: Sequence[object],
    weight: Sequence[float],
    y: object,
    k: int,
    classes: Collection[object] = (),
) -> Utility:
    """The share of y in the weight of the K nearest; by chance where there is no weight.

    `classes` are there even if nobody has such a label.
    """
    chance = 1 / len({*labels, *classes})

    def utility(members: frozenset[int]) -> float:
        voters = [i for i in order if i in members][:k]
        total = sum(weight[i] for i in voters)
        return sum(weight[i] for i in voters if labels[i] == y) / total if total else chance

    return utility


def squared_error(
    order: Sequence[int],
    targets: Sequence[float],
    weight: Sequence[float],
    y: float,
    k: int,
    center: bool = True,
) -> Utility:
    """Minus the squared error of the weighted mean of the K nearest.

    Without any weight, the prediction is the mean of all targets of the game, or 0.
    """
    nothing = math.fsum(targets) / len(targets) if center else 0.0

    def utility(members: frozenset[int]) -> float:
        voters = [i for i in order if i in members][:k]
        total = sum(weight[i] for i in voters)
        mean = sum(weight[i] * targets[i] for i in voters) / total if total else nothing
        return -((mean - y) ** 2)

    return utility


def soft_unweighted(right: Sequence[bool], n_classes: int, k: int) -> NDArray[np.float64]:
    """The recursion of Wang and Jia (arXiv 2304.04258) for the unweighted soft-label game.

    As printed (theorem knn-shapley-full of arXiv 2401.11103) it differs from enumeration for
    K > N, where all points vote and K = N is the same game.
    """
    n = len(right)
    k = min(k, n)
    a = [float(r) for r in right]
    phi = np.zeros(n)
    harmonic = sum(1 / (j + 1) for j in range(1, min(k, n)))
    phi[-1] = (a[-1] - 1 / n_classes) / n
    if n >= 2:
        phi[-1] += (a[-1] - sum(a[:-1]) / (n - 1)) / n * harmonic
    for i in range(n - 1, 0, -1):
        bracket = sum(1 / j for j in range(1, min(k, n) + 1))
        if n >= k:
            bracket += (min(i, k) * (n - 1) / i - k) / k
        phi[i - 1] = phi[i] + (a[i - 1] - a[i]) / (n - 1) * bracket
    return phi


def binary_value_by_counting(signed: NDArray[np.int64], k: int, i: int) -> float:
    """The value of rank i (from 0) in the binary vote, for any N, one point at a time.

    Carries the distribution of the signed sum over l-subsets of the ranks passed so far, i left
    out: the paper's recurrence with probabilities for counts. O(N) steps for one point.
    """
    n, top = signed.size, int(abs(signed).max())
    zero = k * top
    spread = np.zeros((k, 2 * zero + 1))  # [l, zero + s]: P(sum = s) over l-subsets
    spread[0, zero] = 1.0
    size = np.arange(k)[:, None]
    win = np.arange(-zero, zero + 1) >= 0

    def right(row: NDArray[np.float64], shift: int) -> float:
        return float(row[np.arange(-zero, zero + 1) + shift >= 0].sum())

    value, passed = [], 0
    v = int(signed[i])
    for m in range(n):
        a = int(signed[m])
        if m > i and m >= k:
            gain = right(spread[k - 1], v) - right(spread[k - 1], a)
            value.append(k / ((m + 1) * m) * gain)
        if m == i:
            continue
        passed += 1
        share = np.minimum(size / passed, 1.0)
        moved = np.zeros_like(spread)
        lo, hi = max(a, 0), min(a, 0)
        moved[1:, lo : spread.shape[1] + hi] = spread[:-1, -hi : spread.shape[1] - lo]
        spread = (1.0 - share) * spread + share * moved
    for level in range(min(k, n)):
        value.append((right(spread[level], v) - float(spread[level][win].sum())) / n)
    return math.fsum(value)


def of_owners(owners: Sequence[int], utility: Utility) -> Utility:
    """The game of whole data sets: what the points of some owners are worth together."""

    def together(members: frozenset[int]) -> float:
        return utility(frozenset(i for i, owner in enumerate(owners) if owner in members))

    return together


def favoured(
    order: Sequence[int], labels: Sequence[str], weight: Sequence[float], own: str, k: int
) -> str:
    """The label with the most weight among the K nearest; `own` wins ties, then the first does."""
    votes = dict.fromkeys(sorted({*labels, own}), 0.0)
    for i in order[:k]:
        votes[labels[i]] += weight[i]
    most = max(votes.values())
    return own if votes[own] == most else next(c for c, vote in votes.items() if vote == most)


def mean_target(
    order: Sequence[int], targets: Sequence[float], weight: Sequence[float], own: float, k: int
) -> float:
    """The weighted mean of the K nearest; `own` where they have no weight."""
    total = sum(weight[i] for i in order[:k])
    return sum(weight[i] * targets[i] for i in order[:k]) / total if total else own
