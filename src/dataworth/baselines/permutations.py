"""Permutation sampling: the usual Monte Carlo estimate of Shapley values."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dataworth.arrays import Flags, Floats, Ints
from dataworth.baselines.utility import GameName, check_game, check_ranked, utility
from dataworth.compiled import compiled
from dataworth.errors import InputError
from dataworth.inputs import checks


@dataclass(frozen=True)
class Sampled:
    """Estimated values.

    Attributes
    ----------
    values : (N,) array of float
        The estimates, nearest point first.
    standard_error : (N,) array of float
        The estimated standard deviations of the estimates.
    n_evaluations : int
        How often the utility of a set was computed.
    """

    values: Floats
    standard_error: Floats
    n_evaluations: int


def permutations_needed(epsilon: float, delta: float, n: int) -> int:
    r"""Return how many permutations keep the largest error of n values within epsilon.

    Every marginal contribution U(S + i) - U(S) lies in [-1, 1], a range of width 2, so by
    Hoeffding's inequality the mean of T of them is off by more than epsilon with probability at
    most 2 exp(-T epsilon^2 / 2). All n means are within epsilon with probability at least
    1 - delta if

        T >= 2 / epsilon^2 * ln(2 n / delta).

    Parameters
    ----------
    epsilon : float
        The largest error allowed, more than 0.
    delta : float
        The probability with which the error may be larger, between 0 and 1.
    n : int
        The number of points.

    Returns
    -------
    int
        The least such T.

    Examples
    --------
    >>> from dataworth.baselines import permutations_needed
    >>> permutations_needed(0.05, 0.1, 1000)
    7923
    """
    checks.positive(epsilon, "epsilon")
    if not 0.0 < checks.positive(delta, "delta") < 1.0:
        raise InputError("delta", "be a number between 0 and 1", f"got {delta!r}")
    checks.integer(n, "n", least=1)
    return math.ceil(2.0 / epsilon**2 * math.log(2.0 * n / delta))


def monte_carlo(
    right: ArrayLike,
    weights: ArrayLike,
    *,
    n_neighbors: int,
    game: GameName,
    n_classes: int = 2,
    n_permutations: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    random_state: int | None = None,
) -> Sampled:
    r"""Values in the soft or hard game with real weights, by random permutations.

    Let the points arrive in random order. The expected gain of the utility when i arrives is the
    Shapley value of i, and the mean over permutations estimates it without bias.

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
    n_permutations : int, optional
        How many permutations to draw. Give either this or both `epsilon` and `delta`.
    epsilon, delta : float, optional
        Draw enough permutations to keep all errors within epsilon with probability 1 - delta; see
        `permutations_needed`.
    random_state : int, optional
        The seed. By default every call draws other permutations.

    Returns
    -------
    Sampled
        The estimates, with their standard errors.

    Notes
    -----
    The K nearest of the points so far are kept sorted. A point that is farther than all of them
    changes nothing and costs one comparison. A nearer point takes the place of the farthest, and
    the utility of the K is summed anew in O(K), as much as the insertion costs. (Adding and
    subtracting weights instead would save nothing and lose digits.) `n_evaluations` counts only
    such steps, about K (1 + ln(N / K)) per permutation; a plain implementation would need N.

    References
    ----------
    R. Jia et al.: Efficient Task-Specific Data Valuation for Nearest Neighbor Algorithms. VLDB
    2019. Section 5.

    Examples
    --------
    >>> from dataworth.baselines import monte_carlo
    >>> sampled = monte_carlo([True, False, True], [3, 2, 1], n_neighbors=2, game="hard",
    ...                       n_permutations=10_000, random_state=0)
    >>> sampled.values.round(2)
    array([ 0.5, -0.5,  0. ])
    """
    flags, numbers = check_ranked(right, weights)
    n = flags.size
    rules = check_game(game, n_classes, n_neighbors, n)
    if (n_permutations is None) == (epsilon is None and delta is None):
        both = "both are" if n_permutations is not None else "neither is"
        raise InputError("n_permutations", "be given instead of epsilon and delta", f"{both} given")
    if n_permutations is not None:
        count = checks.integer(n_permutations, "n_permutations", least=1)
    elif epsilon is None or delta is None:
        raise InputError("epsilon and delta", "be given together")
    else:
        count = permutations_needed(epsilon, delta, n)
    rng = np.random.default_rng(random_state)
    real = numbers.astype(np.float64)
    sums, evaluations = np.zeros((2, n)), 1  # the empty set is one
    rows = max(1, 2**20 // n)
    for start in range(0, count, rows):
        orders = np.tile(np.arange(n), (min(rows, count - start), 1))
        rng.permuted(orders, axis=1, out=orders)
        evaluations += _arrive(orders, flags, real, *rules, sums)
    values = sums[0] / count
    spread = np.maximum(sums[1] - count * values**2, 0.0)
    error = np.sqrt(spread / max(count - 1, 1) / count) if count > 1 else np.full(n, np.nan)
    return Sampled(values, error, evaluations)


@compiled()
def _arrive(
    orders: Ints,
    right: Flags,
    weights: Floats,
    soft: bool,
    empty: float,
    neighbors: int,
    sums: Floats,
) -> int:
    """Add each gain and its square to `sums`, and return the number of utilities computed."""
    evaluations = 0
    kept = np.empty(neighbors, np.int64)  # ranks of the K nearest so far, sorted
    for order in orders:
        size = 0
        before = empty
        for i in order:
            if size == neighbors and i > kept[size - 1]:
                continue
            size = _insert(kept, size, i)
            now = utility(kept[:size], right, weights, soft, empty)
            evaluations += 1
            sums[0, i] += now - before
            sums[1, i] += (now - before) ** 2
            before = now
    return evaluations


@compiled()
def _insert(kept: Ints, size: int, rank: int) -> int:
    """Insert a rank into the sorted ones, drop the last if full, and return the new number."""
    if size < kept.size:
        size += 1
    at = size - 1
    while at > 0 and kept[at - 1] > rank:
        kept[at] = kept[at - 1]
        at -= 1
    kept[at] = rank
    return size
