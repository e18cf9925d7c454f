"""The unweighted kernels against the recursion and the weighted ones."""

import numpy as np
import pytest

from tests import naive
from tests.games.test_games import TOLERANCE, Case


@pytest.mark.parametrize("k", [1, 3, 10, 700])
@pytest.mark.parametrize("n", [1, 2, 40, 500])
def test_unweighted_soft_equals_the_recursion(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    labels = np.append(rng.integers(0, 3, n - 1), 0)
    case = Case("soft", rng.random(n), labels, 0, np.ones(n), k, uniform=True)
    order = naive.ranking(case.distances.tolist())
    ref = np.empty(n)
    ref[order] = naive.soft_unweighted((labels[order] == 0).tolist(), len(set(labels)), k)
    np.testing.assert_allclose(case.values().values, ref, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("game", ["soft", "regression"])
@pytest.mark.parametrize("n", [30, 2000])
def test_equal_weights_equal_the_closed_form(game: str, n: int) -> None:
    """The quadrature and the closed form are two ways to the same values."""
    rng = np.random.default_rng(5)
    labels = rng.normal(size=n) if game == "regression" else rng.integers(0, 3, n)
    case = Case(game, rng.random(n), labels, labels[0], np.full(n, 7.0), 6)
    plain = Case(game, case.distances, labels, labels[0], np.ones(n), 6, uniform=True)
    np.testing.assert_allclose(case.values().values, plain.values().values, rtol=0, atol=TOLERANCE)
