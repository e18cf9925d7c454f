"""Readings by interpolation, against readings for each point."""

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.arrays import Array, Floats
from dataworth.games.kernels.coefficients import shapley_like
from dataworth.games.kernels.interpolation import (
    MANY,
    POINTS,
    add_interpolated,
    chebyshev_point,
    similar,
)
from dataworth.games.regression import Prior, RegressionGame
from dataworth.games.soft import SoftGame
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("least", [1.0, 3.7, 40.0])
def test_sums_of_exponentials_are_interpolated_to_rounding(power: int, least: float) -> None:
    rng = np.random.default_rng([int(least), power])
    rates, n = np.geomspace(0.01, 75.0, 100), 700
    sums = rng.normal(size=(power + 1, rates.size)) * rates / rates.size
    weights, zeta = rng.uniform(least, 2.0 * least, n), rng.normal(size=n) / least
    points = [chebyshev_point(k, least, 2.0 * least) for k in range(POINTS)]
    given = sums @ np.exp(-np.outer(rates, points))
    out = np.ones(n)
    add_interpolated(given, least, 2.0 * least, weights, zeta, out)
    parts = sums @ np.exp(-np.outer(rates, weights))
    want = 1.0 + sum(part * zeta ** (power - q) for q, part in enumerate(parts))
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-14)
    assert np.abs(want - 1.0).max() > 1e-4


@pytest.mark.parametrize(("least", "alike"), [(0.5, 5), (1e-280, 5), (1e-299, 0)])
def test_weights_are_told_apart_only_where_their_distance_has_an_inverse(
    least: float, alike: int
) -> None:
    weights: Floats = np.asarray(least * (1.0 - np.arange(5) * 3e-16), np.float64)
    assert similar(np.arange(6), np.zeros(5, int), weights, 0) == alike
    with np.errstate(over="ignore"):
        assert np.isfinite(2.0 / (weights[0] - weights[-1])) == (alike > 0)


@pytest.mark.parametrize(
    ("game", "least"), [("soft", 0.5), ("regression", 0.5), ("regression", 1e-99)]
)
def test_weights_that_are_nearly_equal(game: str, least: float) -> None:
    n, rng = 5 * MANY, np.random.default_rng(3)
    weights = np.sort(least * (1.0 + np.arange(n) * 2e-16))[::-1]
    assert np.unique(weights).size > MANY
    X, y = np.arange(1.0, n + 1)[:, None], rng.integers(0, 2, n)

    def values(given: Floats) -> Floats:
        def weigh(distances: Floats) -> Floats:
            return given[np.rint(distances).astype(int) - 1]

        valuator = KNNShapley(n_neighbors=4, game=game, weights=weigh, n_bits=None)
        return valuator.fit(X, y).value([[0.0]], [1]).values

    np.testing.assert_allclose(values(weights), values(np.ones(n)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("rising", [False, True])
@pytest.mark.parametrize("k", [1, 4, 7, 12])
def test_real_weights_equal_whole_ones(power: int, rising: bool, k: int) -> None:
    """With many different weights, real ones are read by interpolation, whole ones are looked up.

    In the middle, the weights fall by half between two neighbours, and some occur twice.
    """
    rng = np.random.default_rng([k, power, rising])
    n, bits = 5 * MANY, 10
    levels = np.concatenate([np.arange(1023, 700, -1), np.arange(340, 0, -4)])[:n]
    levels[50:60] = levels[50]
    weights = levels[::-1] if rising else levels
    n = weights.size
    c = shapley_like(n, k)
    codes, targets = rng.integers(0, 3, n), rng.normal(size=n)

    def values(weighting: Weighting, given: Array) -> Floats:
        game = (
            SoftGame(codes, 3, k, weighting, c)
            if power == 1
            else RegressionGame(targets, k, weighting, c, Prior(0.1, 0.0, 1.0))
        )
        return game.solve(Ranked(np.arange(n), given, None, not rising), 1).inner

    whole = values(Weighting("rbf", 0.5, bits), weights.astype(np.int16))
    real = values(Weighting("rbf", 0.5, None), weights / 1023.0)
    np.testing.assert_allclose(real, whole, rtol=0, atol=2e-10)
    assert np.abs(whole).max() > 1e-3
