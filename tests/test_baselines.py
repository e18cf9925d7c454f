"""The baselines against enumeration of all subsets, the core, and their own guarantees."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dataworth import KNNShapley
from dataworth.baselines import (
    Sampled,
    enumerate_neighbours,
    monte_carlo,
    permutations_needed,
    quadratic,
    stratified_monte_carlo,
)
from dataworth.baselines.control import Control, expected_gains
from dataworth.baselines.permutations import _arrive
from dataworth.baselines.strata import Sets, collect, draw, strata_of
from tests import naive

TOLERANCE = 1e-12
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def soft_share(right: Bools, weights: NDArray[Any], k: int, n_classes: int) -> naive.Utility:
    def utility(members: frozenset[int]) -> float:
        nearest = sorted(members)[:k]
        total = math.fsum(weights[j] for j in nearest)
        good = math.fsum(weights[j] for j in nearest if right[j])
        return good / total if total > 0 else 1 / n_classes

    return utility


def vote(right: Bools, weights: NDArray[Any], k: int) -> naive.Utility:
    labels = ["y" if r else "other" for r in right]
    return naive.hard_vote(range(right.size), labels, weights.tolist(), "y", k)


def random_game(seed: int, most: int = 8) -> tuple[Bools, NDArray[np.int64], int]:
    """All of: one class, zero weights, weights that do not fall, K = 1 and K >= N."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, most + 1)), int(rng.integers(1, most + 3))
    right = rng.random(n) < rng.choice([0.0, 0.4, 0.7, 1.0], p=[0.1, 0.4, 0.4, 0.1])
    weights = rng.integers(0, 2 ** int(rng.integers(1, 5)), n)
    if seed % 3 == 0:
        weights = np.sort(weights)[::-1].copy()
    if seed % 5 == 0:
        weights[rng.random(n) < 0.5] = 0
    if seed % 7 == 0:
        k = 1
    return right, weights, k


@pytest.mark.parametrize("seed", range(150))
def test_quadratic_equals_enumeration(seed: int) -> None:
    right, weights, k = random_game(seed)
    ref = naive.shapley(right.size, vote(right, weights, k))
    got = quadratic(right, weights, n_neighbors=k)
    np.testing.assert_allclose(got, ref, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("game", ["soft", "hard"])
def test_enumerated_neighbours_equal_enumeration(seed: int, game: Any) -> None:
    right, integers, k = random_game(seed, most=7)
    rng = np.random.default_rng(seed)
    weights = integers * rng.random(right.size)
    n_classes = 2 + seed % 3
    utility = (
        soft_share(right, weights, k, n_classes) if game == "soft" else vote(right, weights, k)
    )
    ref = naive.shapley(right.size, utility)
    got = enumerate_neighbours(right, weights, n_neighbors=k, game=game, n_classes=n_classes)
    np.testing.assert_allclose(got, ref, rtol=0, atol=TOLERANCE)


def by_estimator(right: Bools, weights: NDArray[np.int64], k: int, **options: Any) -> Floats:
    """The core's values of the hard game, the weights given as they are; 7 is the largest."""
    valuator = KNNShapley(
        n_neighbors=k,
        game="hard",
        weights=lambda _: weights / 7,
        metric="precomputed",
        **options,
    ).fit(None, right)
    return valuator.value(np.arange(right.size, dtype=float)[None], [True]).values


@pytest.mark.parametrize("k", [1, 2, 5, 40])
@pytest.mark.parametrize("max_rank", [None, 1, 3, 6, 25, 59, 60, 100])
def test_quadratic_equals_the_core_cut_off_or_not(k: int, max_rank: int | None) -> None:
    rng = np.random.default_rng(k)
    right = rng.random(60) < 0.6
    weights = np.sort(rng.integers(1, 8, 60))[::-1].copy()  # no null players
    ref = by_estimator(right, weights, k, max_rank=max_rank)
    got = quadratic(right, weights, n_neighbors=k, max_rank=max_rank)
    np.testing.assert_allclose(got, ref, rtol=0, atol=TOLERANCE)
    shared = quadratic(right, weights, n_neighbors=k, max_rank=max_rank, share_tail=True)
    np.testing.assert_array_equal(shared, got)


def test_quadratic_with_a_thousand_points_equals_the_core() -> None:
    rng = np.random.default_rng(0)
    right = rng.random(1000) < 0.5
    weights = np.sort(rng.integers(1, 8, 1000))[::-1].copy()
    got = quadratic(right, weights, n_neighbors=5)
    np.testing.assert_allclose(got, by_estimator(right, weights, 5), rtol=0, atol=TOLERANCE)


def small_game() -> tuple[Bools, Floats]:
    right = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1], dtype=bool)
    return right, 0.85 ** np.arange(12.0)


def sample(method: str, seed: int | None, game: Any, k: int = 3) -> Sampled:
    right, weights = small_game()
    if method == "permutations":
        return monte_carlo(
            right, weights, n_neighbors=k, game=game, n_permutations=50, random_state=seed
        )
    return stratified_monte_carlo(
        right, weights, n_neighbors=k, game=game, n_evaluations=150, random_state=seed
    )


@pytest.mark.parametrize("method", ["permutations", "sets"])
@pytest.mark.parametrize("game", ["soft", "hard"])
def test_sampling_is_repeated_by_its_seed(method: str, game: str) -> None:
    first, second, other = (sample(method, seed, game) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.standard_error, second.standard_error)
    assert first.n_evaluations == second.n_evaluations
    assert not np.array_equal(first.values, other.values)


@pytest.mark.parametrize("method", ["permutations", "sets"])
@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("k", [2, 3, 12])
def test_sampling_is_unbiased(method: str, game: Any, k: int) -> None:
    right, weights = small_game()
    utility = soft_share(right, weights, k, 2) if game == "soft" else vote(right, weights, k)
    ref = naive.shapley(right.size, utility)
    runs = np.array([sample(method, seed, game, k).values for seed in range(150)])
    error = runs.std(axis=0, ddof=1) / math.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - ref) <= 5 * error + TOLERANCE).all()
    assert error.max() > 0


@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("k", [1, 5])
def test_stated_errors_are_those_found(game: Any, k: int) -> None:
    rng = np.random.default_rng(2)
    right, weights = rng.random(200) < 0.5, np.ceil(7 * np.exp(-np.arange(200) / 60))
    ref = (
        by_estimator(right, weights.astype(np.int64), k)
        if game == "hard"
        else KNNShapley(n_neighbors=k, metric="precomputed", weights=lambda _: weights / 7)
        .fit(None, right)
        .value(np.arange(200.0)[None], [True])
        .values
    )
    options: dict[str, Any] = {"n_neighbors": k, "game": game, "random_state": 1}
    for got in (
        monte_carlo(right, weights, n_permutations=3000, **options),
        stratified_monte_carlo(right, weights, n_evaluations=6000, **options),
    ):
        found = math.sqrt(np.mean((got.values - ref) ** 2))
        stated = math.sqrt(np.mean(got.standard_error**2))
        assert 0.5 * stated <= found <= 2.0 * stated + TOLERANCE


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
    right, weights = np.arange(n) % 2 == 1, np.linspace(1.0, 0.3, n)
    ref = naive.shapley(n, soft_share(right, weights, k, 3))
    options: dict[str, Any] = {"n_neighbors": k, "game": "soft", "n_classes": 3, "random_state": 0}
    few = monte_carlo(right, weights, n_permutations=4000, **options)
    sets = stratified_monte_carlo(right, weights, n_evaluations=4000, **options)
    np.testing.assert_allclose(few.values, ref, rtol=0, atol=0.05)
    np.testing.assert_allclose(sets.values, ref, rtol=0, atol=0.05)


@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_arrivals_gain_what_the_utility_says(game: str, k: int) -> None:
    rng = np.random.default_rng(k)
    n = 10
    right, weights = rng.random(n) < 0.5, rng.integers(0, 4, n) * rng.random(n)
    utility = soft_share(right, weights, k, 2) if game == "soft" else vote(right, weights, k)
    for _ in range(20):
        order = rng.permutation(n)
        sums = np.zeros((2, n))
        empty = 0.5 if game == "soft" else 1.0
        count = _arrive(order[None], right, weights, game == "soft", empty, k, sums)
        changed = 0
        for at in range(n):
            before, after = frozenset(order[:at].tolist()), frozenset(order[: at + 1].tolist())
            gain = utility(after) - utility(before)
            changed += sorted(before)[:k] != sorted(after)[:k]
            assert sums[0, order[at]] == pytest.approx(gain, abs=TOLERANCE)
            assert sums[1, order[at]] == pytest.approx(gain**2, abs=TOLERANCE)
        assert count == changed


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


def test_permutations_needed_follow_from_hoeffding() -> None:
    for epsilon, delta, n in ((0.1, 0.05, 10), (0.02, 0.2, 3), (0.5, 0.01, 100_000)):
        got = permutations_needed(epsilon, delta, n)

        def chance(count: int, epsilon: float = epsilon, n: int = n) -> float:
            return n * 2 * math.exp(-2 * count * epsilon**2 / 2**2)

        assert chance(got) <= delta < chance(got - 1)


def test_errors_stay_within_epsilon() -> None:
    right, weights = small_game()
    ref = enumerate_neighbours(right, weights, n_neighbors=3, game="hard")
    for seed in range(20):
        got = monte_carlo(
            right, weights, n_neighbors=3, game="hard", epsilon=0.1, delta=0.1, random_state=seed
        )
        assert np.abs(got.values - ref).max() <= 0.1


ONE = np.array([True, False])
BAD: list[tuple[Any, tuple[Any, Any], dict[str, Any], type[Exception], str]] = [
    (quadratic, ([1, 0], [1, 1]), {}, ValueError, "right must be a .* of booleans; got dtype int"),
    (quadratic, (ONE, [1, 2, 3]), {}, ValueError, "weights must hold one number per point, 2"),
    (quadratic, (ONE, [0.5, 1.0]), {}, TypeError, "weights must hold integers; got dtype float"),
    (quadratic, (ONE, ["a", "b"]), {}, TypeError, "weights must hold real numbers"),
    (quadratic, (ONE, [1, -1]), {}, ValueError, "weights must hold finite numbers of at least 0"),
    (quadratic, (ONE, [1, 1]), {"max_rank": 0}, ValueError, "max_rank must be .* at least 1"),
    (quadratic, (ONE, [1, 1]), {"n_neighbors": 0}, ValueError, "n_neighbors must be"),
    (enumerate_neighbours, (ONE, [1, np.nan]), {}, ValueError, "weights must hold finite"),
    (enumerate_neighbours, (ONE, [1, 1]), {"game": "x"}, ValueError, "game must be one of 'soft'"),
    (enumerate_neighbours, (ONE, [1, 1]), {"n_classes": 1}, ValueError, "n_classes must be"),
    (monte_carlo, (ONE, [1, 1]), {"game": "soft"}, ValueError, "give either n_permutations or"),
    (
        monte_carlo,
        (ONE, [1, 1]),
        {"game": "soft", "n_permutations": 5, "delta": 0.1},
        ValueError,
        "give either n_permutations or both",
    ),
    (
        monte_carlo,
        (ONE, [1, 1]),
        {"game": "soft", "epsilon": 0.1},
        ValueError,
        "epsilon and delta must be given together",
    ),
    (
        monte_carlo,
        (ONE, [1, 1]),
        {"game": "soft", "epsilon": 0.1, "delta": 1.0},
        ValueError,
        "delta must be a number between 0 and 1; got 1.0",
    ),
    (
        stratified_monte_carlo,
        (ONE, [1, 1]),
        {"game": "soft", "n_evaluations": 99},
        ValueError,
        "n_evaluations must be a whole number at least 100; got 99",
    ),
]


@pytest.mark.parametrize(("function", "arrays", "options", "kind", "message"), BAD)
def test_bad_input_is_named(
    function: Any,
    arrays: tuple[Any, Any],
    options: dict[str, Any],
    kind: type[Exception],
    message: str,
) -> None:
    with pytest.raises(kind, match=message):
        function(*arrays, **{"n_neighbors": 2, **options})
