"""Points of equal weight passed at once, against enumeration and against rank by rank."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dataworth.games import weighted_mean
from dataworth.games.kernels import hard, runs, vote_runs, walk
from dataworth.games.kernels.coefficients import Coefficients, room, shapley_like
from dataworth.games.regression import Prior, RegressionGame
from dataworth.games.soft import SoftGame
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting
from tests.games.test_games import GAMES, SEMIVALUES, TOLERANCE, Case

LAWS = ((1.0, 1.0), (math.inf, math.inf), (4.0, 1.0), (0.5, 2.0))


def falling(rng: np.random.Generator, n: int, top: int) -> NDArray[np.int16]:
    """Weights in a few runs, all of them at least 1."""
    levels = rng.integers(1, top + 1, int(rng.integers(1, 6)))
    return np.sort(rng.choice(levels, n))[::-1].astype(np.int16)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(30))
def test_few_levels_equal_enumeration(game: str, seed: int) -> None:
    """Twelve points with one to three weights, so that most ranks lie in long runs."""
    rng = np.random.default_rng([seed, GAMES.index(game)])
    n, k = 12 - 2 * (game == "direct"), int(rng.integers(1, 5))
    weights = np.sort(rng.choice(rng.integers(1, 8, int(rng.integers(1, 4))), n))[::-1].astype(
        float
    )
    if seed % 5 == 0:
        weights = rng.permutation(weights)
    labels = rng.normal(size=n) if game == "regression" else rng.integers(0, 3, n)
    label = 0.3 if game == "regression" else int(labels[0])
    semivalue = SEMIVALUES[seed % len(SEMIVALUES)]
    case = Case(game, np.arange(n, dtype=float), labels, label, weights, k, semivalue)
    assert np.abs(case.values().values - case.enumerated()).max() <= TOLERANCE * case.scale


def rank_by_rank(
    weights: NDArray[np.int16], right: NDArray[np.float64], top: int, k: int, c: Coefficients
) -> NDArray[np.float64]:
    n = weights.size
    inside, outside, _, _ = room(c, n, n, k)
    ids = top + np.where(right > 0, weights, -weights).astype(np.int64)
    out = np.empty(n)
    lattice = hard.signed_sum_lattice(k, top, 1.0)
    walk.walk(ids, lattice, inside, outside[:0], c.displace, c.inverse, out, np.empty(2 * top + 1))
    return out


@pytest.mark.parametrize("seed", range(60))
def test_the_vote_equals_the_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, bits = int(rng.integers(20, 1500)), int(rng.integers(1, 9)), int(rng.integers(1, 5))
    top = 2**bits - 1
    weights, right = falling(rng, n, top), (rng.random(n) < rng.random()).astype(np.float64)
    if seed % 4 == 0:
        weights = rng.permutation(weights)
    c = shapley_like(n, k, *LAWS[seed % len(LAWS)])
    out = np.empty(n)
    hard.binary(weights, right, n, top, k, 1.0, c, out, np.empty(2 * top + 1))
    np.testing.assert_allclose(out, rank_by_rank(weights, right, top, k, c), rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("k", [60, 127, 128])
def test_the_vote_of_many_equals_the_walk(k: int) -> None:
    rng = np.random.default_rng(k)
    n, top = 900, 3
    weights, right = falling(rng, n, top), (rng.random(n) < 0.5).astype(np.float64)
    c = shapley_like(n, k)
    out = np.empty(n)
    hard.binary(weights, right, n, top, k, 1.0, c, out, np.empty(2 * top + 1))
    np.testing.assert_allclose(out, rank_by_rank(weights, right, top, k, c), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_means_of_runs_equal_those_of_single_points(
    power: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real weights that differ in their last digits make every point a run of its own."""
    rng = np.random.default_rng([seed, power])
    n, k = int(rng.integers(10, 400)), int(rng.integers(1, 9))
    compare_with_single_points(n, k, power, LAWS[seed % len(LAWS)], rng, monkeypatch)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(("n", "k"), [(4096, 7), (4096, 20), (900, 64), (4096, 64), (4097, 20)])
def test_means_of_long_runs(
    n: int, k: int, power: int, law: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On either side of where blocks of ranks grow faster."""
    rng = np.random.default_rng([n, k, power])
    compare_with_single_points(n, k, power, law, rng, monkeypatch)


def compare_with_single_points(
    n: int,
    k: int,
    power: int,
    law: Any,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights = falling(rng, n, 7)
    c = shapley_like(n, k, *law)
    order, weighting = np.arange(n), Weighting("rbf", 0.5, 3)
    game = (
        SoftGame(rng.integers(0, 2, n), 2, k, weighting, c)
        if power == 1
        else RegressionGame(rng.normal(size=n), k, weighting, c, Prior(0.1, 0.0, 1.0))
    )
    at_once = game.solve(Ranked(order, weights, None, True), 1).inner
    # The same quadrature, but no two neighbouring weights are the same number.
    monkeypatch.setattr(weighted_mean, "is_tabled", lambda *_: False)
    apart = weights * (1.0 + 1e-15 * (np.arange(n) % 2))
    single = game.solve(Ranked(order, apart, None, True), 1).inner
    np.testing.assert_allclose(at_once, single, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_hypergeometric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before, length = int(rng.integers(20, 60)), int(rng.integers(1, 60))
    level = int(rng.integers(1, 20))
    out = np.zeros(level + 1)
    count = runs.shares(level, before, length, out)
    for j in range(count):
        ways = math.comb(length, j) * math.comb(before, level - j)
        assert out[j] == pytest.approx(ways / math.comb(before + length, level), rel=1e-13)


def test_runs_split_where_weights_change_and_blocks_end() -> None:
    weights = np.array([9, 9, 5, 5, 5, 5, 5, 2, 2, 2, 2, 2])
    starts, blocks = runs.runs_of(weights, 2, 4)
    assert starts.tolist() == [2, 7, 8, 12]
    assert blocks.tolist() == [0, 0, 1]


@pytest.mark.parametrize("k", [1, 5, 20, 128])
def test_many_points_of_one_weight_lose_no_digits(k: int) -> None:
    """Chances over a long run neither vanish nor overflow: values add up to the utility."""
    n = 20_000
    rng = np.random.default_rng(k)
    c, right = shapley_like(n, k), (rng.random(n) < 0.6).astype(np.float64)
    weights = np.full(n, 3, np.int16)
    out = np.empty(n)
    hard.binary(weights, right, n, 7, k, 1.0, c, out, np.empty(15))
    whole = float(2 * right[:k].sum() >= k) - 1.0
    assert math.fsum(out) == pytest.approx(whole, abs=1e-11)
    game = SoftGame(right.astype(np.int64), 2, k, Weighting("rbf", 0.5, 3), c)
    values = game.solve(Ranked(np.arange(n), weights, None, True), 1).inner
    assert math.fsum(values) == pytest.approx(right[:k].mean() - 0.5, abs=1e-12)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(("k", "different"), [(256, 2_000), (257, 30), (600, 30)])
def test_many_neighbors_of_one_weight_equal_the_unweighted_ones(
    k: int, different: int, power: int
) -> None:
    """Chances of so many neighbours could vanish, and all values with them.

    Among the first 2K ranks, each different target takes a walk of its own.
    """
    n = 2_000
    rng = np.random.default_rng(k)
    c, order, ones = shapley_like(n, k), np.arange(n), np.ones(n, np.int16)
    weighted, equal = Weighting("rbf", 0.5, 1), Weighting("uniform", "auto", 1)
    codes, targets = rng.integers(0, 2, n), rng.normal(size=different)[np.arange(n) % different]
    targets = rng.permutation(targets)

    def values(weighting: Weighting) -> NDArray[np.float64]:
        game = (
            SoftGame(codes, 2, k, weighting, c)
            if power == 1
            else RegressionGame(targets, k, weighting, c, Prior(0.1, 0.0, 1.0))
        )
        return game.solve(Ranked(order, ones, None, True), 1).inner

    np.testing.assert_allclose(values(weighted), values(equal), rtol=0, atol=1e-14)


def test_runs_are_used_where_they_are_cheaper() -> None:
    assert vote_runs.is_cheaper(100_000, 5, 14, 200)
    assert not vote_runs.is_cheaper(2, 5, 14, 200)
    assert not vote_runs.is_cheaper(100_000, vote_runs.MOST_NEIGHBORS + 1, 14, 200)
