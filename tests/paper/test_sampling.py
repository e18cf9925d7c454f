"""The stratified sampler against enumeration, the core, and permutation sampling."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dataworth.baselines import Sampled, monte_carlo
from paper.sampling import stratified_monte_carlo
from paper.sampling.control import Control, expected_gains
from paper.sampling.strata import Sets, collect, draw, strata_of
from tests.test_baselines import (
    by_estimator,
    repeated_by_its_seed,
    small_game,
    stated_errors,
    tiny,
    unbiased,
)


def sample(seed: int | None, game: Any, k: int = 3) -> Sampled:
    right, weights = small_game()
    return stratified_monte_carlo(
        right, weights, n_neighbors=k, game=game, n_evaluations=150, random_state=seed
    )


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_sampling_is_repeated_by_its_seed(game: str) -> None:
    repeated_by_its_seed(sample, game)


@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("k", [2, 3, 12])
def test_sampling_is_unbiased(game: Any, k: int) -> None:
    unbiased(sample, game, k)


@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("k", [1, 5])
def test_stated_errors_are_those_found(game: Any, k: int) -> None:
    stated_errors(stratified_monte_carlo, game, k, n_evaluations=6000)


def test_sets_need_ten_times_fewer_evaluations_than_permutations() -> None:
    rng = np.random.default_rng(3)
    right, weights = rng.random(300) < 0.5, np.ceil(7 * np.exp(-np.arange(300) / 80))
    ref = by_estimator(right, weights.astype(np.int64), 5)
    options: dict[str, Any] = {"n_neighbors": 5, "game": "hard"}
    sets = [
        stratified_monte_carlo(right, weights, n_evaluations=3000, random_state=s, **options)
        for s in range(5)
    ]
    steps = [
        monte_carlo(right, weights, n_permutations=1000, random_state=s, **options)
        for s in range(5)
    ]
    cost = [
        np.mean([(s.values - ref) ** 2 for s in runs]) * evaluations
        for runs, evaluations in ((sets, 3000), (steps, 1000 * 300))
    ]
    assert cost[1] > 10 * cost[0]


def test_sets_keep_to_their_budget_and_leave_null_players_out() -> None:
    rng = np.random.default_rng(0)
    right = rng.random(40) < 0.5
    weights = np.append(rng.random(20), np.zeros(20))
    for budget in (100, 357, 2000):
        got = stratified_monte_carlo(
            right, weights, n_neighbors=4, game="soft", n_evaluations=budget, random_state=0
        )
        assert 0.9 * budget <= got.n_evaluations <= budget
        assert not got.values[20:].any()
    nobody = stratified_monte_carlo(
        right, np.zeros(40), n_neighbors=4, game="hard", n_evaluations=100
    )
    assert not nobody.values.any()
    assert nobody.n_evaluations == 0


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_tiny_games_can_be_sampled(n: int, k: int) -> None:
    tiny(stratified_monte_carlo, n, k, n_evaluations=4000)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 2), (7, 1), (6, 2), (6, 3), (7, 4), (5, 5)])
def test_polynomials_add_what_they_add_to_all_sets(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    features, strata = rng.normal(size=(n, 5)), strata_of(n, k)
    blocks = int(strata.block.max()) + 1
    square = rng.normal(size=(blocks, 5, 5))
    control = Control(
        rng.normal(size=blocks), rng.normal(size=(blocks, 5)), square + square.transpose(0, 2, 1)
    )
    ref = np.zeros(n)
    for c in range(strata.size.size):
        anchor = [int(strata.pool[c])] if strata.anchored[c] else []
        rows = [
            [*chosen, *anchor, *[-1] * (k - strata.size[c])]
            for chosen in combinations(range(strata.pool[c]), strata.size[c] - len(anchor))
        ]
        members = np.array(rows)
        sets = Sets(np.full(len(rows), c), members, np.empty(0), np.empty(0))
        predicted = control.predict(strata, features, sets) / len(rows)
        collect(sets.stratum, members, predicted, strata, ref)
    got = expected_gains(strata, features, control)
    np.testing.assert_allclose(got, ref, rtol=0, atol=1e-11)


def test_sets_are_drawn_evenly() -> None:
    strata = strata_of(6, 3)
    c = int(np.flatnonzero((strata.pool == 4) & (strata.anchored == 1))[0])
    uniform = np.random.default_rng(0).random((12_000, 3))
    members = draw(np.full(12_000, c), strata, uniform)
    found, counts = np.unique(np.sort(members, axis=1), axis=0, return_counts=True)
    assert found.tolist() == [[*pair, 4] for pair in combinations(range(4), 2)]
    assert (np.abs(counts - 2000) < 5 * math.sqrt(2000)).all()


def test_bad_input_is_named() -> None:
    with pytest.raises(
        ValueError, match="n_evaluations must be a whole number of at least 100; got 99"
    ):
        stratified_monte_carlo([True, False], [1, 1], n_neighbors=2, game="soft", n_evaluations=99)
