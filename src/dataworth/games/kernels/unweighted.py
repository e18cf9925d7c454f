"""Unweighted means: two games whose expectations have a closed form, valued in O(n).

Soft label: U(S) is the share of the right label among the K nearest of S. With a_i = 1 if the label
of i is right and 0 otherwise, and mu_i the mean of a over the other points,

    E_l[U(S + i) - U(S)] = (a_i - mu_i) / (l + 1)   for l >= 1,   a_i - U(empty set) for l = 0,
    E[U(S + i) - U(S + m)] = (a_i - a_m) / K.

Regression: U(S) = -(mean of the K nearest targets - y)^2. Let r_i = target_i - y, and let R be the
sum of r over S. Over the l-subsets of n points, where r sums to s1 and r^2 to s2,

    E[R] = l s1 / n,   E[R^2] = l s2 / n + l (l-1) / (n (n-1)) (s1^2 - s2),

so that

    E_l[U(S + i) - U(S)] = E[R^2] / l^2 - (E[R^2] + 2 r_i E[R] + r_i^2) / (l + 1)^2   for l >= 1,
    E[U(S + i) - U(S + m)] = -(r_i - r_m) (2 E[R] + r_i + r_m) / K^2,

where the last E[R] is over the (K-1)-subsets of the m-2 other points before m. This is a polynomial
of degree 2 in r_i, whose coefficients are summed once, from the farthest point to the nearest.
"""

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled
from dataworth.games.kernels.adding import add_at
from dataworth.games.kernels.coefficients import Coefficients, room


@compiled()
def soft(
    codes: Ints,
    order: Ints,
    label: int,
    empty: float,
    players: int,
    neighbors: int,
    c: Coefficients,
    out: Floats,
) -> tuple[float, float, float, float]:
    """Value the points of the unweighted soft-label game, nearest first.

    Parameters
    ----------
    codes : (n_train,) array of int
        Class codes of all training points.
    order : (n,) array of int
        The positions of the nearest n of `players` points.
    label : int
        The right class code.
    empty : float
        U(empty set).
    players : int
        The number of points in the game.
    neighbors : int
        K, the number of neighbours.
    c : Coefficients
        The coefficients of the identity.
    out : (n,) array
        Receives the values.

    Returns
    -------
    good, bad : float
        The value of a point behind the ranked ones whose label is right, and of one whose label is
        wrong.
    margin_in, margin_out : float
        How far off the values of the ranked points, and of those behind, can be at most.
    """
    n = order.size
    k = min(neighbors, players)
    inside, outside, margin_in, margin_out = room(c, players, n, k)
    spread_in = spread_out = 0.0
    for size in range(1, k):
        spread_in += inside[size] / (size + 1)
        spread_out += outside[size] / (size + 1)
    total = 0.0
    for i in range(n):
        out[i] = codes[order[i]] == label
        total += out[i]
    right = inside[0] * (1.0 - empty) + (spread_in * (n - total) / (n - 1) if n > 1 else 0.0)
    wrong = inside[0] * (0.0 - empty) - (spread_in * total / (n - 1) if n > 1 else 0.0)
    share = 1.0 / k
    chances = gains = 0.0
    for i in range(n - 1, k - 1, -1):
        a = out[i]
        displace = c.displace[i + 1] * share
        out[i] = (right + chances if a > 0.0 else wrong) - gains
        chances += displace
        gains += displace * a
    for i in range(min(n, k)):
        out[i] = (right + chances if out[i] > 0.0 else wrong) - gains
    mean = total / n
    good = outside[0] * (1.0 - empty) + spread_out * (1.0 - mean)
    bad = outside[0] * (0.0 - empty) + spread_out * (0.0 - mean)
    return good, bad, margin_in, margin_out


@compiled()
def soft_rows(
    codes: Ints,
    order: Ints,
    sizes: Ints,
    labels: Ints,
    factors: Floats,
    empty: float,
    neighbors: int,
    c: Coefficients,
    into: Ints,
    sums: Floats,
) -> None:
    """Add the values of `soft` for several validation points to the sums, one after the other.

    `order` has a row for each validation point, of which the first `sizes` entries count. The
    values of a row are multiplied by its factor, and added to the sums that `into` names.
    """
    out = np.empty(order.shape[1])
    for r in range(sizes.size):
        ranks = order[r, : sizes[r]]
        if ranks.size > 0:
            soft(codes, ranks, labels[r], empty, ranks.size, neighbors, c, out)
            add_at(ranks, out, factors[r], sums[into[r]])


@compiled()
def soft_nearest_rows(
    codes: Ints,
    order: Ints,
    own: Ints,
    labels: Ints,
    factors: Floats,
    empty: float,
    neighbors: int,
    c: Coefficients,
    into: Ints,
    sums: Floats,
) -> None:
    """Add values and bounds where only the nearest points of each validation point are ranked.

    `order` has a row of these for each validation point, and `own` the training point that it is,
    if any, which gets nothing. `sums` has rows of values, lower and upper ends for each block. The
    values of right points can only be too small, and those of wrong points only too large. Each
    validation point takes O(n_train + M) for M ranked points.
    """
    n, ranked = codes.size, order.shape[1]
    out, kept = np.empty(ranked), np.empty((3, ranked + 1))
    for r in range(order.shape[0]):
        ranks, label, factor = order[r], labels[r], factors[r]
        value, lower, upper = sums[into[r], 0], sums[into[r], 1], sums[into[r], 2]
        players = n - (own[r] >= 0)
        good, bad, near, far = soft(codes, ranks, label, empty, players, neighbors, c, out)
        good, bad, near, far = good * factor, bad * factor, near * factor, far * factor
        # Everyone gets the value of a point behind. For ranked points and `own` that is wrong, so
        # the sums that they had are kept, and take its place afterwards.
        for i in range(ranked + 1):
            at = ranks[i] if i < ranked else max(own[r], 0)
            kept[0, i], kept[1, i], kept[2, i] = value[at], lower[at], upper[at]
        for i in range(n):
            right = codes[i] == label
            value[i] += good if right else bad
            lower[i] += good if right else bad - far
            upper[i] += good + far if right else bad
        if own[r] >= 0:
            value[own[r]], lower[own[r]], upper[own[r]] = kept[:, ranked]
        for i in range(ranked):
            at, amount = ranks[i], out[i] * factor
            right = codes[at] == label
            value[at] = kept[0, i] + amount
            lower[at] = kept[1, i] + (amount if right else amount - near)
            upper[at] = kept[2, i] + (amount + near if right else amount)


@compiled()
def _room_polynomial(coefficients: Floats, n: int) -> tuple[float, float, float, float]:
    """Return the factors of s2, s1^2 - s2, -2 r s1 and -r^2 in the first sum, with n others."""
    squares = products = mixed = own = 0.0
    for size in range(1, coefficients.size):
        drop = 1.0 / size**2 - 1.0 / (size + 1) ** 2
        if size <= n:
            squares += coefficients[size] * size / n * drop
            mixed += coefficients[size] * size / (n * (size + 1.0) ** 2)
        if 2 <= size <= n:
            products += coefficients[size] * size * (size - 1.0) / (n * (n - 1.0)) * drop
        own += coefficients[size] / (size + 1.0) ** 2
    return squares, products, mixed, own


@compiled()
def regression(
    error: Floats, empty: float, players: int, neighbors: int, c: Coefficients, out: Floats
) -> tuple[Floats, float, float]:
    """Value the points of the unweighted regression game, nearest first.

    Parameters
    ----------
    error : (n,) array
        Target minus truth, for the nearest n of `players` points.
    empty : float
        U(empty set).
    players : int
        The number of points in the game.
    neighbors : int
        K, the number of neighbours.
    c : Coefficients
        The coefficients of the identity.
    out : (n,) array
        Receives the values.

    Returns
    -------
    tail : (3,) array
        The coefficients of 1, r and r^2 in the value of a point behind the ranked ones, r being its
        error.
    margin_in, margin_out : float
        How far off the values of the ranked points, and of those behind, can be at most, per unit
        of the largest gain.
    """
    n = error.size
    k = min(neighbors, players)
    inside, outside, margin_in, margin_out = room(c, players, n, k)
    first = error.sum()
    second = (error * error).sum()
    squares, products, mixed, own = _room_polynomial(inside, n - 1)
    before = first
    constant = linear = quadratic = 0.0
    for i in range(n - 1, -1, -1):
        r = error[i]
        s1, s2 = first - r, second - r * r
        value = inside[0] * (-r * r - empty) + squares * s2 + products * (s1 * s1 - s2)
        value -= r * (2.0 * mixed * s1 + own * r)
        out[i] = value - (r * (r * quadratic + linear) - constant) / k**2
        before -= r
        if i + 1 > k:
            pull = (k - 1.0) / (i - 1.0) if i > 1 else 0.0
            chance = c.displace[i + 1]
            quadratic += chance * (1.0 - 2.0 * pull)
            linear += chance * 2.0 * pull * (before + r)
            constant += chance * r * (r + 2.0 * pull * before)
    squares, products, mixed, own = _room_polynomial(outside, n)
    tail = np.empty(3)
    tail[0] = -outside[0] * empty + squares * second + products * (first * first - second)
    tail[1] = -2.0 * mixed * first
    tail[2] = -outside[0] - own
    return tail, margin_in, margin_out
