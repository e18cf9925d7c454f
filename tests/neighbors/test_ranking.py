"""Ranks of distances, and what is no distance."""

import numpy as np
import pytest
from numpy.typing import NDArray

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


@pytest.mark.parametrize("kind", ["shuffled", "tied", "falling", "rising", "equal"])
@pytest.mark.parametrize("n", [1, 2, 70, 1500])
def test_the_nearest_come_first_in_the_ranking(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    row = {
        "shuffled": rng.random(n),
        "tied": rng.integers(0, 5, n).astype(float),
        "falling": np.arange(n, 0, -1.0),
        "rising": np.arange(n, dtype=float),
        "equal": np.ones(n),
    }[kind]
    for limit in {1, min(n, 3), max(n // 30, 1), max(n // 2, 1), n}:
        assert ranking.nearest(row, limit).tolist() == naive.ranking(row.tolist())[:limit]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0, -np.inf])
def test_the_nearest_are_distances(bad: float) -> None:
    with pytest.raises(ValueError, match=f"metric gave a distance of {bad}"):
        ranking.nearest(np.array([1.0, bad, 2.0]), 3)


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_of_rows_leave_out_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 200))
    rows = rng.integers(0, [3, 10**6][seed % 2], (5, n)).astype(float)
    rows[rows == 1.0] = -0.0
    own = np.array([ranking.NOBODY, 0, n - 1, int(rng.integers(n)), ranking.NOBODY])
    rows[1, own[1]] = rows[1].max()  # own need not be near
    for limit in {1, n // 2, n - 2}:
        order = ranking.nearest_rows(rows, own, limit)
        for row, left_out, found in zip(rows, own, order, strict=True):
            assert found.tolist() == naive_rows(row, left_out, np.inf)[:limit]


def naive_rows(row: NDArray[np.float64], own: int, cutoff: float) -> list[int]:
    return [i for i in naive.ranking(row.tolist()) if i != own and row[i] <= cutoff]


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_ranked_to_the_last_bit(seed: int) -> None:
    """Distances that differ in their last bits only, and zeros of either sign."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3000))
    row = 1.0 + rng.integers(0, [3, 10**4][seed % 2], n) * np.finfo(float).eps
    row[rng.random(n) < 0.2] = rng.choice([0.0, -0.0])
    row[rng.random(n) < 0.2] = 1e-300
    row[rng.random(n) < 0.1] = 1e300
    own = int(rng.integers(-1, n))
    cutoff = float(rng.choice([np.inf, 1.0, row[0], 0.0]))
    order = np.empty((2, n), np.int64)
    rows, owns = np.stack([row, row]), np.array([ranking.NOBODY, own])
    sizes = ranking.rank_rows(rows, owns, np.array([np.inf, cutoff]), order)
    assert order[0, : sizes[0]].tolist() == naive.ranking(row.tolist())
    assert order[1, : sizes[1]].tolist() == naive_rows(row, own, cutoff)


def test_many_distances_with_the_same_key_are_sorted() -> None:
    n = 5000
    row = 1.0 + np.random.default_rng(0).permutation(n) * np.finfo(float).eps
    order, ranked = ranking.rank(row)
    assert order.tolist() == naive.ranking(row.tolist())
    np.testing.assert_array_equal(ranked, np.sort(row))


@pytest.mark.parametrize("n", [2, 3, 4, 7, 50])
def test_extents_and_medians_leave_one_out(n: int) -> None:
    rows = np.random.default_rng(n).random((n + 1, n))
    own = np.arange(-1, n)
    for row, i, ends, median in zip(
        rows, own, ranking.extents(rows, own), ranking.medians(rows, own), strict=True
    ):
        others = row if i < 0 else np.delete(row, i)
        assert ends.tolist() == [others.min(), others.max()]
        assert median == np.median(others)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_only_the_point_left_out_may_be_at_no_distance(bad: float) -> None:
    rows = np.array([[1.0, bad, 2.0]])
    assert ranking.extents(rows, np.array([1])).tolist() == [[1.0, 2.0]]
    with pytest.raises(ValueError, match=f"metric gave a distance of {bad}"):
        ranking.extents(rows, np.array([0]))
