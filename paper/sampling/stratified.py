"""Sampling of sets: each random set informs all points, and a regression takes out most noise."""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dataworth.arrays import Flags, Floats, Ints
from dataworth.baselines import Sampled
from dataworth.baselines.utility import GameName, Rules, check_game, check_ranked, utility
from dataworth.compiled import compiled
from dataworth.inputs import checks
from paper.sampling.control import Control, cross_fitted, expected_gains, features_of
from paper.sampling.strata import Sets, Strata, collect, draw, strata_of

FOLDS = 5
PILOT_SHARE = 0.1


class _Game(NamedTuple):
    """The players of one game, null players left out."""

    right: Flags
    weights: Floats
    rules: Rules


def stratified_monte_carlo(
    right: ArrayLike,
    weights: ArrayLike,
    *,
    n_neighbors: int,
    game: GameName,
    n_classes: int = 2,
    n_evaluations: int,
    random_state: int | None = None,
) -> Sampled:
    r"""Values in the soft or hard game with real weights, by random sets of at most K points.

    Gather the identity of `dataworth.games.kernels` by sets T instead of by points. A set of K
    points with farthest rank t appears there as S + i for each i in T, with all m > t, and as S + m
    with m = t for each i < t outside T; the coefficients add up to

        phi_i = - U(empty) / N
                + sum_{0<l<K} mean over T of l points of
                        U(T) [1(i in T) / l - 1(i not in T) / (N - l)]
                + sum_{t>=K} mean over T of K points, farthest t, of
                        U(T) [1(i in T) / t - 1(i not in T, i < t) K / (t (t - K))].

    Only these sets matter, and one utility tells something about all points at once, where a step
    of a permutation tells about one. The sizes l and the ranks t are strata.

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
    n_evaluations : int
        How many utilities may be computed, at least 100.
    random_state : int, optional
        The seed; by default every call draws a new one.

    Returns
    -------
    Sampled
        The estimates. Their standard errors come from five independent parts of the sample.

    Notes
    -----
    How evaluations are saved, besides sharing them:

    1. Null players, that is points of weight 0 with only such points behind them, are left out.
    2. A tenth of the budget is a pilot sample, by which the rest is planned: strata are sampled
       in proportion to the noise they add, and those of the nearest points, which have few sets
       but large coefficients, are enumerated where that is cheaper. Sets of one point are always
       enumerated if that takes at most a quarter of the budget; equal points share one evaluation.
    3. Utilities are predicted by a quadratic polynomial in five sums over the set (of weights,
       of their square roots, of right labels, and the first two over right points only), fitted
       anew for blocks of strata. What a polynomial adds to each value is known in closed form
       (`paper.sampling.control`), so that only U(T) minus the prediction is left to sampling.

    Why it is unbiased: the sample comes in five independent parts, planned by the pilot alone.
    Whatever the pilot, each stratum has a positive expected number of sets in each part, by which
    its sets are weighted. The prediction used for one part is fitted to the pilot and the four
    others. Given these, it is a fixed function g; the part then estimates the contribution of
    U - g without bias, that of g is added exactly, and the two make that of U.

    The cost beside the utilities is O(K) for each set, and O(N) and a small regression for each of
    some K + log(N / K) / log(1.5) blocks.

    References
    ----------
    The idea that one utility can serve all points: J. T. Wang, R. Jia, Data Banzhaf. AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.baselines import enumerate_neighbours
    >>> from paper.sampling import stratified_monte_carlo
    >>> right = np.arange(30) % 3 > 0
    >>> weights = 0.9 ** np.arange(30)
    >>> sampled = stratified_monte_carlo(right, weights, n_neighbors=3, game="soft",
    ...                                  n_evaluations=2000, random_state=0)
    >>> exact = enumerate_neighbours(right, weights, n_neighbors=3)
    >>> bool(np.abs(sampled.values - exact).max() < 0.003)
    True
    """
    flags, numbers = check_ranked(right, weights)
    budget = checks.integer(n_evaluations, "n_evaluations", least=100)
    check_game(game, n_classes, n_neighbors, flags.size)
    rng = np.random.default_rng(random_state)
    positive = np.flatnonzero(numbers)
    players = int(positive[-1]) + 1 if positive.size else 0
    values, error = np.zeros(flags.size), np.zeros(flags.size)
    if players == 0:
        return Sampled(values, error, 0)
    rules = check_game(game, n_classes, n_neighbors, players)
    them = _Game(flags[:players], numbers[:players].astype(np.float64), rules)
    values[:players], error[:players], used = _estimate(them, budget, rng)
    return Sampled(values, error, used)


def _estimate(game: _Game, budget: int, rng: np.random.Generator) -> tuple[Floats, Floats, int]:
    n, k = game.right.size, game.rules.neighbors
    values = np.full(n, -game.rules.empty / n)
    strata = strata_of(n, k)
    used = 0
    if k > 1:
        kinds, place = np.unique(
            np.where(game.right, game.weights, -1.0 - game.weights), return_inverse=True
        )
        if kinds.size <= budget // 4:
            values += _single_points(game, place)
            used += kinds.size
            strata = strata.only((strata.size > 1) | (strata.anchored == 1))
    features = features_of(game.right, game.weights)
    pilot = _sample(game, strata, strata.spread, max(int(PILOT_SHARE * budget), 10), rng)
    used += pilot.stratum.size
    noise = strata.spread * _noise(strata, features, pilot)
    head = _head(strata, noise, k, budget - used)
    if head:
        values += _enumerated(game, head)
        used += comb(head, k)
        left = (strata.anchored == 0) | (strata.pool >= head)
        # The pilot still serves the regression in the strata that are left.
        moved = np.cumsum(left) - 1
        pilot = pilot.only(left[pilot.stratum])
        pilot = pilot._replace(stratum=moved[pilot.stratum])
        strata, noise = strata.only(left), noise[left]
    per_fold = (budget - used) // FOLDS
    if noise.size == 0 or per_fold == 0:
        return values, np.zeros(n), used
    parts = [_sample(game, strata, noise, per_fold, rng) for _ in range(FOLDS)]
    controls = cross_fitted(strata, features, pilot, parts)
    estimates = np.array(
        [
            _part(strata, features, part, control)
            for part, control in zip(parts, controls, strict=True)
        ]
    )
    values += estimates.mean(axis=0)
    return values, estimates.std(axis=0, ddof=1) / FOLDS**0.5, used + FOLDS * per_fold


def _part(strata: Strata, features: Floats, part: Sets, control: Control) -> Floats:
    """The estimate by one part: what is expected, and what was found beyond that."""
    beyond = part.utility - control.predict(strata, features, part)
    gains = np.zeros(features.shape[0])
    collect(part.stratum, part.members, part.weight * beyond, strata, gains)
    return gains + expected_gains(strata, features, control)


def _sample(
    game: _Game, strata: Strata, noise: Floats, count: int, rng: np.random.Generator
) -> Sets:
    """Sets from strata drawn in proportion to `noise`, evenly, and their utilities."""
    share = noise / noise.sum()
    grid = (np.arange(count) + rng.random()) / count
    stratum = np.minimum(np.searchsorted(np.cumsum(share), grid), share.size - 1)
    uniform = rng.random((count, game.rules.neighbors))
    members = draw(stratum, strata, uniform)
    return Sets(stratum, members, _utilities(members, game), 1.0 / (count * share[stratum]))


def _utilities(members: Ints, game: _Game) -> Floats:
    return _utility_of_rows(members, game.right, game.weights, game.rules.soft, game.rules.empty)


@compiled()
def _utility_of_rows(
    members: Ints, right: Flags, weights: Floats, soft: bool, empty: float
) -> Floats:
    out = np.empty(members.shape[0])
    for row in range(out.size):
        size = 0
        while size < members.shape[1] and members[row, size] >= 0:
            size += 1
        out[row] = utility(members[row, :size], right, weights, soft, empty)
    return out


def _single_points(game: _Game, place: Ints) -> Floats:
    """The share of sets of one point in all values."""
    n = game.right.size
    first = np.unique(place, return_index=True)[1]
    alone = _utilities(first[:, None], game)[place]
    others = (alone.sum() - alone) / max(n - 1, 1)
    return (alone - others) / n


def _enumerated(game: _Game, head: int) -> Floats:
    """The share in all values of the sets of K among the nearest `head` points."""
    k = game.rules.neighbors
    members = np.array(list(combinations(range(head), k)), dtype=np.int64)
    farthest = members[:, -1]
    strata = strata_of(game.right.size, k)
    strata = strata.only(strata.anchored == 1)  # the first of these has farthest rank K
    stratum = farthest - (k - 1)
    weight = np.array([1.0 / comb(t, k - 1) for t in range(k - 1, head)])[stratum]
    gains = np.zeros(game.right.size)
    collect(stratum, members, weight * _utilities(members, game), strata, gains)
    return gains


def _noise(strata: Strata, features: Floats, pilot: Sets) -> Floats:
    """The standard deviation of utilities about their prediction, guessed for each stratum."""
    folds = [pilot.only(np.arange(pilot.stratum.size) % FOLDS == f) for f in range(FOLDS)]
    controls = cross_fitted(strata, features, None, folds)
    blocks = strata.block.max() + 1
    count, square = np.zeros(blocks), np.zeros(blocks)
    for part, control in zip(folds, controls, strict=True):
        beyond = part.utility - control.predict(strata, features, part)
        where = strata.block[part.stratum]
        count += np.bincount(where, minlength=blocks)
        square += np.bincount(where, beyond**2, minlength=blocks)
    # Few sets that agree are no proof that all do: each block is drawn towards the mean.
    mean = max(square.sum() / count.sum(), 1e-8)
    return np.sqrt((square + 2.0 * mean) / (count + 2.0))[strata.block]


def _head(strata: Strata, noise: Floats, k: int, budget: int) -> int:
    """How many of the nearest points to enumerate so that least noise remains; 0 for none."""
    nearest = np.flatnonzero(strata.anchored)
    best, least = 0, noise.sum() ** 2 / budget
    remaining = noise.sum()
    for c in nearest:
        head = int(strata.pool[c]) + 1
        remaining -= noise[c]
        cost = comb(head, k)
        if budget - cost < budget // 4:
            break
        # Of noise that is gone a rounding error may be left.
        now = max(remaining, 0.0) ** 2 / (budget - cost)
        if now < least:
            best, least = head, now
    return best
