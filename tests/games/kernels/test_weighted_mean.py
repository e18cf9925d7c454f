"""The quadrature against a walk that knows nothing of it."""

import numpy as np
import pytest

from dataworth.games.kernels import direct
from dataworth.games.kernels.coefficients import shapley_like
from dataworth.games.kernels.walk import Lattice
from tests.games.test_games import TOLERANCE, Case


@pytest.mark.parametrize("k", [2, 5])
def test_soft_equals_the_lattice_walk(k: int) -> None:
    """The walk over pairs (weight for, weight against) knows nothing of quadrature."""
    rng = np.random.default_rng(k)
    n, top = 300, 3
    weights, right = rng.integers(0, top + 1, n), rng.random(n) < 0.6
    side = k * top + 1
    with_margin = 2 * side  # room on both axes for shifts that no subset needs
    a, b = np.meshgrid(np.arange(with_margin), np.arange(with_margin), indexing="ij")
    total = a + b
    utility = np.where(total > 0, a / np.maximum(total, 1), 0.5).ravel()
    shifts = np.concatenate([np.arange(top + 1) * with_margin, np.arange(top + 1)])
    slices = [
        (level, x * with_margin, x * with_margin + (k - level) * top - x + 1)
        for level in range(k - 1, 0, -1)
        for x in range((k - level) * top + 1)
    ]
    walked = np.empty(n)
    ids = np.where(right, weights, weights + top + 1)
    game = Lattice(shifts, utility, 0, np.array(slices))
    direct.values(ids, game, n, k, shapley_like(n, k), walked, np.empty(0))
    case = Case(
        "soft", np.arange(n, dtype=float), (~right).astype(int), 0, weights.astype(float), k
    )
    np.testing.assert_allclose(case.values().values, walked, rtol=0, atol=TOLERANCE)
