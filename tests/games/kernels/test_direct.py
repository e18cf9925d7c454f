"""The direct vote against the vote of pairs."""

import numpy as np
import pytest

from tests.games.test_games import TOLERANCE, Case


@pytest.mark.parametrize("seed", range(20))
def test_direct_equals_one_vs_one_for_two_classes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 80
    labels = np.append(rng.integers(0, 2, n - 2), [0, 1])
    weights = rng.integers(0, 8, n).astype(float)
    both = [Case(g, rng.random(n), labels, 0, weights, 4) for g in ("hard", "direct")]
    both[1].distances = both[0].distances
    np.testing.assert_allclose(both[0].values().values, both[1].values().values, atol=TOLERANCE)
