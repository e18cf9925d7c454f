"""Rows of neighbours: complete or not, they say the same where both know."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataworth.arrays import Floats
from dataworth.neighbors.rows import Everyone, Known, merge
from dataworth.weights.weighting import Weighting
from tests import naive


def drawn(seed: int, n: int = 12) -> Floats:
    """Distances of which many are the same."""
    return np.random.default_rng(seed).integers(0, 5, n).astype(np.float64)


def complete(distances: Floats) -> Known:
    shuffled = np.random.default_rng(0).permutation(distances.size)
    return Known.sorted(shuffled, distances[shuffled])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("own", [None, 0, 4, 11])
@pytest.mark.parametrize("size", [1, 5, 11, 12, 99])
def test_nearest_with_ties_by_position(seed: int, own: int | None, size: int) -> None:
    distances = drawn(seed)
    ref = [i for i in naive.ranking(distances.tolist()) if i != own][:size]
    for row in (Everyone(distances), complete(distances)):
        near = row.nearest(size, own)
        assert near.index.tolist() == ref
        np.testing.assert_array_equal(near.distance, distances[ref])


@pytest.mark.parametrize("weights", ["rbf", "linear", "inverse", "uniform", np.zeros_like])
@pytest.mark.parametrize("support", [None, 5])
@pytest.mark.parametrize("own", [None, 4])
@pytest.mark.parametrize("limit", [None, 3, 11])
def test_a_row_that_knows_everyone_is_ranked_as_one(
    weights: Any, support: int | None, own: int | None, limit: int | None
) -> None:
    ranker = Weighting(weights, "auto", 3, support=support)
    for seed in range(6):
        distances = drawn(seed) + 0.5
        one = Everyone(distances).ranked_by(ranker, 12, own, limit)
        two = complete(distances).ranked_by(ranker, 12, own, limit)
        for name in ("order", "weights", "others"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert (one.falling, one.capped) == (two.falling, two.capped)
        assert own not in one.order
        if one.behind is not None:
            assert two.behind is not None
            np.testing.assert_array_equal(one.behind, two.behind)


@pytest.mark.parametrize("own", [None, 2])
def test_a_row_that_knows_enough_is_ranked_as_one_that_knows_all(own: int | None) -> None:
    for seed in range(20):
        distances = np.random.default_rng(seed).random(12)
        ranker = Weighting("linear", "auto", 3, support=4)
        some = complete(distances).nearest(5, None)  # one more, as it may be the own point
        one = Everyone(distances).ranked_by(ranker, 12, own, None)
        two = some.ranked_by(ranker, 12, own, None)
        np.testing.assert_array_equal(one.order, two.order)
        np.testing.assert_array_equal(one.weights, two.weights)


def test_without_a_point_that_is_not_known() -> None:
    known = Known(np.array([3, 1]), np.array([0.5, 2.0]))
    assert known.without(7).index.tolist() == [3, 1]
    left = known.without(3)
    assert (left.index.tolist(), left.distance.tolist()) == ([1], [2.0])
    assert known.nearest(2, 3).index.tolist() == [1]


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 15))
def test_merged_parts_are_the_nearest_of_the_whole(seed: int, n_parts: int, limit: int) -> None:
    """However points are spread over parts, and in whatever order the parts come."""
    rng = np.random.default_rng(seed)
    rows = [drawn(seed + q) for q in range(3)]
    part_of = rng.integers(0, n_parts, 12)
    members = [np.flatnonzero(part_of == part) for part in rng.permutation(n_parts)]
    parts = [[Known.sorted(at, row[at]).nearest(limit, None) for row in rows] for at in members]
    merged = merge(parts, limit)
    assert len(merged) == 3
    for known, row in zip(merged, rows, strict=True):
        assert known.index.tolist() == naive.ranking(row.tolist())[:limit]
        np.testing.assert_array_equal(known.distance, row[known.index])


def test_parts_of_unequal_length_are_not_merged() -> None:
    row = Known(np.array([0]), np.array([1.0]))
    with pytest.raises(ValueError, match="zip"):
        merge([[row], [row, row]], 1)
