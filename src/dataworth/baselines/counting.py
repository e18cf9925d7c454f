"""The exact algorithm of Wang, Mittal and Jia for the hard game, by counting subsets."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dataworth.arrays import Floats, Ints
from dataworth.baselines.utility import check_ranked
from dataworth.compiled import compiled
from dataworth.errors import InputTypeError
from dataworth.inputs import checks

TiesName = Literal["right", "wrong"]


def quadratic(
    right: ArrayLike,
    weights: ArrayLike,
    *,
    n_neighbors: int,
    max_rank: int | None = None,
    share_tail: bool = False,
    ties: TiesName = "right",
) -> Floats:
    r"""Values in the binary hard-label game by the paper's quadratic algorithm.

    For each point i, the paper counts F_i[m, l, s]: the sets of l points without i, the farthest
    of which is m, whose signed weights (positive for right labels) add up to s. Two numbers follow
    from these: R_im, the number of sets of K - 1 points before m whose vote i turns but m does not,
    and G_il, the number of sets of l points whose vote i turns. They give the value

        phi_i = sign(i) [1/N sum_{l<K} G_il / (N-1 choose l)
                         + sum_{m > max(i, K)} R_im / (m (m-1 choose K))].

    Parameters
    ----------
    right : (N,) array of booleans
        Whether each point has the label of the validation point, nearest point first.
    weights : (N,) array of int
        The weights of the points, each at least 0.
    n_neighbors : int
        K, the number of neighbours that vote.
    max_rank : int, optional
        The rank `M*` at which sets of points, and the sum over m, end: the paper's approximation.
        By default they run over all points, and the values are exact.
    share_tail : bool
        Whether to compute the counts of the points behind `M*` only once, since they are the same
        for all of these points. The paper computes them for each point, which is most of its work.
    ties : {"right", "wrong"}
        What a tied vote, and so the empty set, counts as: right in the text of the paper, wrong in
        the code of its authors.

    Returns
    -------
    (N,) array of float
        The values, nearest point first.

    Notes
    -----
    The cost is O(W K^2 N^2), where W is the largest weight. With `max_rank` it is `O(W K^2 N M*)`,
    and with a shared tail `O(W K^2 M*^2 + W K N)`.

    The counts soon exceed every number type, so each is divided by the number of sets that it is
    taken from, which makes it a probability. Then F_i[m, l, s] / (n choose l-1), with n the number
    of points before m other than i, is the mean over these sets, and a sum over m becomes a running
    mean, into which the n-th point enters with share l/n. The coefficient of R_im becomes
    K / (m (m-1)).

    The printed pseudo-code needs care in five places.

    - `F_0` has to be updated after each m, and shifted by the *signed* weight of m.
    - F_i starts from l = 1, but with K = 1 the algorithm asks for F_i[., 0, .]. It belongs to the
      empty set, whose sum is 0, and the recurrence starts there.
    - G_i0 and sign(i) refer to the signed weight. For weight 0, sign(i) = 0 makes the value 0. That
      is right if weights fall with distance, but not if such a point displaces one whose weight is
      positive.
    - The ranges of s for R_im assume that i is at least as heavy as m. If m is heavier, R_im is
      negative and the range has to be read backwards. Here both cases are one difference of tail
      sums, and no sign is needed.
    - With K > N all sets are smaller than K, and (N-1 choose l) is 0 for l >= N. So K is at most N.

    References
    ----------
    J. T. Wang, P. Mittal, R. Jia: Efficient Data Shapley for Weighted Nearest Neighbor Algorithms.
    arXiv 2401.11103. Appendix: pseudo-code of the exact and of the approximate algorithm.

    Examples
    --------
    >>> from dataworth.baselines import quadratic
    >>> quadratic([True, False, True], [3, 2, 1], n_neighbors=2).round(3)
    array([ 0.5, -0.5,  0. ])
    >>> quadratic([True, False, True], [3, 2, 1], n_neighbors=2, ties="wrong").round(3)
    array([ 0.833, -0.167,  0.333])
    """
    flags, numbers = check_ranked(right, weights)
    if numbers.dtype.kind == "f":
        raise InputTypeError("weights", "hold integers", f"got dtype {numbers.dtype}")
    n = flags.size
    neighbors = min(checks.integer(n_neighbors, "n_neighbors", least=1), n)
    last = n
    if max_rank is not None:
        last = min(checks.integer(max_rank, "max_rank", least=1, or_else=" or None"), n)
    share = checks.boolean(share_tail, "share_tail")
    least = int(checks.choice(ties, "ties", ("right", "wrong")) == "wrong")
    integers = numbers.astype(np.int64)
    return _quadratic(np.where(flags, integers, -integers), least, neighbors, last, share)


@compiled()
def _quadratic(signed: Ints, least: int, neighbors: int, last: int, share: bool) -> Floats:
    """Return the values; a vote is right if signed weights add up to at least `least`, 0 or 1."""
    n, top = signed.size, np.abs(signed).max()
    values = np.empty(n)
    zero = neighbors * top  # the place of sum 0
    ending = np.empty((last, 2 * zero + 1))  # F_i[m, l, :] for the current level l
    mean = np.empty(2 * zero + 1)  # F_0 and R_0: the mean of F_i over the points passed
    means = np.empty((neighbors, 2 * zero + 1))  # those of the last point, level by level
    for i in range(n):
        others = last - 1 if i < last else last
        value = 0.0
        scale = 1.0 / n  # (others choose l) / (n-1 choose l) / n
        for level in range(neighbors):
            if not share or i <= last:
                _mean_of_level(signed, i, level, zero, last, ending, mean)
                means[level] = mean
            value += scale * _turned(means[level], zero, least, signed[i], 0)
            scale *= max(others - level, 0) / max(n - 1 - level, 1)
        values[i] = value
        if share and i >= last:  # it displaces nobody
            continue
        passed = 0
        mean[:] = 0.0
        if neighbors == 1:
            mean[zero] = 1.0
        for m in range(last):
            if m == i:
                continue
            rank = m + 1
            if m > i and rank > neighbors:
                turned = _turned(mean, zero, least, signed[i], signed[m])
                value += neighbors / (rank * (rank - 1.0)) * turned
            passed += 1
            _enter(mean, ending[m], neighbors - 1, passed)
        values[i] = value
    return values


@compiled()
def _enter(mean: Floats, ending: Floats, level: int, passed: int) -> None:
    """Update the mean over l-sets of `passed` points; `ending` is that over sets with the last."""
    if passed >= level > 0:
        share = level / passed
        for s in range(mean.size):
            mean[s] = (1.0 - share) * mean[s] + share * ending[s]


@compiled()
def _mean_of_level(
    signed: Ints, i: int, level: int, zero: int, last: int, ending: Floats, mean: Floats
) -> None:
    """Turn `ending` from level l - 1 into level l, and `mean` into its mean over all points."""
    mean[:] = 0.0
    if level == 0:
        ending[:] = 0.0
        mean[zero] = 1.0
        return
    before = np.zeros(mean.size)  # the paper's F_0
    shifted = np.empty(mean.size)
    if level == 1:
        before[zero] = 1.0
    passed = 0
    for m in range(last):
        if m == i:
            continue
        shifted[:] = 0.0
        for s in range(max(signed[m], 0), mean.size + min(signed[m], 0)):
            shifted[s] = before[s - signed[m]]
        passed += 1
        _enter(before, ending[m], level - 1, passed)
        ending[m] = shifted
        _enter(mean, shifted, level, passed)


@compiled()
def _turned(mean: Floats, zero: int, least: int, own: int, other: int) -> float:
    """P(s + own >= least) - P(s + other >= least)."""
    total = 0.0
    for s in range(least - own, least - other):
        total += mean[zero + s]
    for s in range(least - other, least - own):
        total -= mean[zero + s]
    return total
