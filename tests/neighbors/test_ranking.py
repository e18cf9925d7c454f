"""Ranks of distances, and what is no distance."""

import numpy as np
import pytest

from dataworth.neighbors import ranking
from tests import naive


@pytest.mark.parametrize("levels", [1, 2, 10, 10**9])
def test_rank_breaks_ties_by_index(levels: int) -> None:
    row = np.random.default_rng(levels).integers(0, levels, 3000).astype(float)
    order, ranked = ranking.rank(row)
    assert order.tolist() == naive.ranking(row.tolist())
    np.testing.assert_array_equal(ranked, np.sort(row))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_rank_refuses_what_is_no_distance(bad: float) -> None:
    with pytest.raises(ValueError, match=f"metric gave a distance of {bad}"):
        ranking.rank(np.array([1.0, bad, 2.0]))
