"""The baselines against enumeration of all subsets, the core, and their own guarantees."""

import math
from collections.abc import Callable
from typing import Any, Protocol

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
)
from dataworth.baselines.permutations import _arrive
from tests import naive

TOLERANCE = 1e-12
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Sampler(Protocol):
    """Draws values of the small game."""

    def __call__(self, seed: int | None, game: Any, k: int = 3) -> Sampled: ...


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
def test_quadratic_with_ties_wrong_equals_enumeration(seed: int) -> None:
    right, weights, k = random_game(seed)

    def won(members: frozenset[int]) -> float:
        nearest = sorted(members)[:k]
        return float(sum(weights[j] if right[j] else -weights[j] for j in nearest) > 0)

    ref = naive.shapley(right.size, won)
    got = quadratic(right, weights, n_neighbors=k, ties="wrong")
    np.testing.assert_allclose(got, ref, rtol=0, atol=TOLERANCE)


def test_ties_wrong_is_the_game_of_the_rival_turned_round() -> None:
    rng = np.random.default_rng(1)
    right, weights = rng.random(60) < 0.5, np.sort(rng.integers(0, 8, 60))[::-1].copy()
    for options in ({"max_rank": None}, {"max_rank": 8}, {"max_rank": 8, "share_tail": True}):
        given: Any = {"n_neighbors": 5, **options}
        got = quadratic(right, weights, ties="wrong", **given)
        np.testing.assert_allclose(got, -quadratic(~right, weights, **given), rtol=0, atol=1e-15)


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


def sample(seed: int | None, game: Any, k: int = 3) -> Sampled:
    right, weights = small_game()
    return monte_carlo(
        right, weights, n_neighbors=k, game=game, n_permutations=50, random_state=seed
    )


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_sampling_is_repeated_by_its_seed(game: str) -> None:
    repeated_by_its_seed(sample, game)


@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("k", [2, 3, 12])
def test_sampling_is_unbiased(game: Any, k: int) -> None:
    unbiased(sample, game, k)


def repeated_by_its_seed(sample: Sampler, game: str) -> None:
    first, second, other = (sample(seed, game) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.standard_error, second.standard_error)
    assert first.n_evaluations == second.n_evaluations
    assert not np.array_equal(first.values, other.values)


def unbiased(sample: Sampler, game: Any, k: int) -> None:
    right, weights = small_game()
    utility = soft_share(right, weights, k, 2) if game == "soft" else vote(right, weights, k)
    ref = naive.shapley(right.size, utility)
    runs = np.array([sample(seed, game, k).values for seed in range(150)])
    error = runs.std(axis=0, ddof=1) / math.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - ref) <= 5 * error + TOLERANCE).all()
    assert error.max() > 0


@pytest.mark.parametrize("game", ["soft", "hard"])
@pytest.mark.parametrize("k", [1, 5])
def test_stated_errors_are_those_found(game: Any, k: int) -> None:
    stated_errors(monte_carlo, game, k, n_permutations=3000)


def stated_errors(sampler: Callable[..., Sampled], game: Any, k: int, **budget: int) -> None:
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
    got = sampler(right, weights, n_neighbors=k, game=game, random_state=1, **budget)
    found = math.sqrt(np.mean((got.values - ref) ** 2))
    stated = math.sqrt(np.mean(got.standard_error**2))
    assert 0.5 * stated <= found <= 2.0 * stated + TOLERANCE


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_tiny_games_can_be_sampled(n: int, k: int) -> None:
    tiny(monte_carlo, n, k, n_permutations=4000)


def tiny(sampler: Callable[..., Sampled], n: int, k: int, **budget: int) -> None:
    right, weights = np.arange(n) % 2 == 1, np.linspace(1.0, 0.3, n)
    ref = naive.shapley(n, soft_share(right, weights, k, 3))
    options: dict[str, Any] = {"n_neighbors": k, "game": "soft", "n_classes": 3, "random_state": 0}
    got = sampler(right, weights, **options, **budget)
    np.testing.assert_allclose(got.values, ref, rtol=0, atol=0.05)


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
    (
        quadratic,
        (ONE, [1, 1]),
        {"ties": "half"},
        ValueError,
        "ties must be one of 'right'",
    ),
    (enumerate_neighbours, (ONE, [1, np.nan]), {}, ValueError, "weights must hold finite"),
    (enumerate_neighbours, (ONE, [1, 1]), {"game": "x"}, ValueError, "game must be one of 'soft'"),
    (enumerate_neighbours, (ONE, [1, 1]), {"n_classes": 1}, ValueError, "n_classes must be"),
    (
        monte_carlo,
        (ONE, [1, 1]),
        {"game": "soft"},
        ValueError,
        "n_permutations must be given instead of",
    ),
    (
        monte_carlo,
        (ONE, [1, 1]),
        {"game": "soft", "n_permutations": 5, "delta": 0.1},
        ValueError,
        "n_permutations must be given instead of",
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
