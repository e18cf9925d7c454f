"""Slow and plain: every game from its definition, by enumeration of all subsets.

Imports nothing from the package. Points are named by their position in the training set.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Utility = Callable[[frozenset[int]], float]


def shapley(n: int, utility: Utility) -> NDArray[np.float64]:
    """phi_i = sum over S without i of |S|! (n-1-|S|)! / n! [U(S + i) - U(S)]."""
    sets = [frozenset(i for i in range(n) if mask >> i & 1) for mask in range(2**n)]
    worth = {s: utility(s) for s in sets}
    phi = np.zeros(n)
    for i in range(n):
        terms = []
        for s in sets:
            if i not in s:
                chance = 1 / (n * math.comb(n - 1, len(s)))
                terms.append(chance * (worth[s | {i}] - worth[s]))
        phi[i] = math.fsum(terms)
    return phi


def ranking(distances: Sequence[float]) -> list[int]:
    """Nearest first; equal distances by position."""
    return sorted(range(len(distances)), key=lambda i: (distances[i], i))


def weights(
    name: str, distances: Sequence[float], n_bits: int, bandwidth: float | None = None
) -> list[int]:
    """Integer weight of each point; `bandwidth` None is the automatic one."""
    ordered = sorted(distances)
    near, far = ordered[0], ordered[-1]
    half = len(ordered) // 2
    median = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    if name == "rbf":
        h = bandwidth or 0.3 * (median - near)
        unit = [math.exp(-(d - near) / h) if h else float(d == near) for d in distances]
    elif name == "linear":
        unit = [(far - d) / (far - near) if far > near else 1.0 for d in distances]
    elif name == "inverse":
        unit = [near / d if near > 0 else float(d == 0) for d in distances]
    else:
        unit = [1.0 for _ in distances]
    return [round(u * (2**n_bits - 1)) for u in unit]


def hard_vote(
    order: Sequence[int], labels: Sequence[object], weight: Sequence[int], y: object, k: int
) -> Utility:
    """Mean over the rivals c of: do the K nearest labelled y or c vote for y, ties counting?"""
    rivals = sorted(set(labels) - {y}, key=str)

    def utility(members: frozenset[int]) -> float:
        if not rivals:
            return 1.0
        wins = 0
        for rival in rivals:
            voters = [i for i in order if i in members and labels[i] in (y, rival)][:k]
            for_y = sum(weight[i] for i in voters if labels[i] == y)
            against = sum(weight[i] for i in voters if labels[i] == rival)
            wins += for_y >= against
        return wins / len(rivals)

    return utility


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
