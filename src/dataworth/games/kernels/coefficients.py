"""The two coefficient sequences of the identity, for every semivalue, ranked fully or in part.

A semivalue averages the gain of a point over the others that arrived before it, each with
probability t, under some law of t. With n players,

    room_l     = (n-1 choose l) E[t^l (1-t)^(n-1-l)]
    displace_m = (m-2 choose K-1) E[t^K (1-t)^(m-1-K)]

For t ~ Beta(beta, alpha), the Beta(alpha, beta)-Shapley value (uniform t: the Shapley value), and
for t = 1/2, the Banzhaf value, both follow by a ratio from one term to the next.

If only the M nearest of n players are ranked, the first sum runs over the l-subsets of those M. Its
coefficients are multiplied by (M-1 choose l) / (n-1 choose l) for a point among the M, and by
(M choose l) / (n-1 choose l) for a point behind them. The second sum ends at M. The error is at
most the sum of the coefficients left out times the largest possible gain.
"""

import math
from typing import NamedTuple

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled


class Coefficients(NamedTuple):
    """The coefficients that all validation points of a run share.

    Attributes
    ----------
    first, exponent : (n+1,) array of float, (n+1,) array of int
        room_0 by the number of players, kept as first * 2^exponent because it can underflow.
    displace : (n+1,) array
        displace_m by rank m, counted from 1.
    behind : (n+1,) array
        For each rank, the sum of displace over all later ranks.
    inverse : (n+1,) array
        1/m by m.
    alpha, beta : float
        The parameters of the law of t; both are infinite for t = 1/2.
    """

    first: Floats
    exponent: Ints
    displace: Floats
    behind: Floats
    inverse: Floats
    alpha: float
    beta: float


def shapley_like(n: int, k: int, alpha: float = 1.0, beta: float = 1.0) -> Coefficients:
    """Return the coefficients for up to n players and k neighbours.

    Infinite alpha and beta stand for the Banzhaf value.
    """
    inverse = np.ones(n + 1)
    np.divide(1.0, np.arange(1, n + 1), out=inverse[1:])
    displace, behind = np.zeros(n + 1), np.zeros(n + 1)
    if alpha == beta == 1.0:
        np.multiply(inverse[k + 1 :], inverse[k:-1], out=displace[k + 1 :])
        displace *= k
        np.subtract(inverse, 1.0 / n, out=behind)
        behind *= k
        behind[:k] = behind[min(k, n)]
        exponent = np.zeros(n + 1, np.int64)
        return Coefficients(inverse, exponent, displace, behind, inverse, 1.0, 1.0)
    rank = np.arange(k + 1, n + 1, dtype=np.float64)
    steps = np.log2((rank - 1.0) / (rank - k))
    if math.isinf(alpha):
        log_first = -np.arange(-1.0, n)
        log_start = -float(k)
        steps -= 1.0
    else:
        before = np.arange(max(n - 1, 0), dtype=np.float64)
        chances = np.cumsum(np.log2((alpha + before) / (alpha + beta + before)))
        log_first = np.concatenate([np.zeros(min(n + 1, 2)), chances])
        log_start = math.fsum(math.log2((beta + j) / (alpha + beta + j)) for j in range(k))
        steps += np.log2((alpha + (rank - 1.0 - k)) / (alpha + beta + rank - 1.0))
    displace[k + 1 :] = np.exp2(log_start + np.cumsum(steps) - steps)
    behind[:-1] = np.cumsum(displace[:0:-1])[::-1]
    exponent = np.floor(log_first).astype(np.int64)
    first = np.exp2(log_first - exponent)
    return Coefficients(first, exponent, displace, behind, inverse, float(alpha), float(beta))


def reach(c: Coefficients, players: int, ranked: int, neighbors: int) -> float:
    """The chance that a point behind the nearest `ranked` of `players` is one of the K nearest.

    Times the largest possible gain, this bounds the absolute value of such a point. For the Shapley
    value it is K / ranked.
    """
    _, outside, _, margin = room(c, players, ranked, min(neighbors, players))
    return float(outside.sum() + margin)


@compiled()
def room(
    c: Coefficients, players: int, ranked: int, neighbors: int
) -> tuple[Floats, Floats, float, float]:
    """Return the coefficients of the first sum when the nearest `ranked` of `players` are known.

    Returns
    -------
    inside, outside : (K,) array
        The coefficients for the ranked points, and for the points behind them.
    margin_in, margin_out : float
        The most that the terms left out can add to a value of either kind, per unit of the largest
        gain.
    """
    inside, outside = np.empty(neighbors), np.empty(neighbors)
    banzhaf = np.isinf(c.alpha)
    value, exponent = c.first[players], c.exponent[players]
    share_in = share_out = 1.0
    margin_in = margin_out = c.behind[ranked] - c.behind[players]
    if ranked < neighbors:
        margin_in = margin_out = c.behind[min(neighbors, players)] - c.behind[players]
    for size in range(neighbors):
        exact = math.ldexp(value, int(exponent))  # uncompiled, it is a numpy integer
        inside[size] = exact * share_in
        outside[size] = exact * share_out
        margin_in += exact - inside[size]
        margin_out += exact - outside[size]
        left = players - 1 - size
        if left == 0:
            break
        share_in *= max(ranked - 1 - size, 0) / left
        share_out *= min(max(ranked - size, 0) / left, 1.0)
        odds = 1.0 if banzhaf else (c.beta + size) / (c.alpha + (left - 1))
        value *= left / (size + 1) * odds
        if value > 2.0**500:
            value *= 2.0**-500
            exponent += 500
    return inside, outside, margin_in, margin_out
