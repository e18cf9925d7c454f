"""Every place where training points can be: the same rows, and digests that know the contents."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from dataworth.arrays import Array
from dataworth.errors import InputError
from dataworth.neighbors.blocks import BlockPoints, Blocks
from dataworth.neighbors.dask import DaskPoints
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.points import Chosen, Indexed, InMemory, Part, Points, Precomputed
from dataworth.neighbors.search import Brute, Demand
from tests.neighbors.test_blocks import stored

MEASURE = Measure("euclidean")
X = np.random.default_rng(0).integers(-50, 50, (60, 4)).astype(np.float64)
COLUMNS = np.array([41, 3, 3, 17, 58, 0, 26])
ALL = Demand(nearest=None, bounded_support=False, sums=0, room=2**20, share=8)


class Nobody:
    """An index that finds nothing."""

    def find(self, queries: Array, limit: int) -> list[None]:
        return [None] * len(queries)


def in_blocks(kind: str) -> Callable[[Array, Path], Points]:
    def made(array: Array, folder: Path) -> Points:
        return BlockPoints(Blocks(stored(kind, array, folder), "X"), MEASURE)

    return made


# Each makes points of an array; a folder is for those that are in files.
PLACES: dict[str, Callable[[Array, Path], Points]] = {
    "memory": lambda array, folder: InMemory(array, MEASURE),
    "sparse": lambda array, folder: InMemory(csr_array(array), MEASURE),
    "indexed": lambda array, folder: Indexed(InMemory(array, MEASURE), Nobody()),
    "zarr": in_blocks("zarr"),
    "h5py": in_blocks("h5py"),
    "parquet": in_blocks("parquet"),
    "dask": lambda array, folder: DaskPoints(da.from_array(array, chunks=(13, 2)), MEASURE),
    "part": lambda array, folder: Part(
        InMemory(np.repeat(array, 2, axis=0), MEASURE), np.arange(0, 2 * len(array), 2)
    ),
    "part of blocks": lambda array, folder: (
        in_blocks("zarr")(array, folder).part(np.arange(len(array)))
        or pytest.fail("blocks can be taken apart")
    ),
}
COMPLETE = [place for place in PLACES if place != "indexed"]


def dense(rows: Any) -> Array:
    return rows.toarray() if issparse(rows) else np.asarray(rows)


@pytest.mark.parametrize("place", PLACES)
def test_rows_are_those_of_the_array(place: str, tmp_path: Path) -> None:
    points = PLACES[place](X, tmp_path)
    assert tuple(points.shape) == X.shape
    for rows in (slice(0, 1), slice(5, 33), slice(57, 99), slice(None)):
        np.testing.assert_array_equal(dense(points[rows]), X[rows])
    np.testing.assert_array_equal(dense(points.take(COLUMNS)), X[COLUMNS])
    chosen = Chosen(points, COLUMNS)
    for rows in (slice(0, 2), slice(4, 99)):
        np.testing.assert_array_equal(dense(chosen[rows]), X[COLUMNS[rows]])


@pytest.mark.parametrize("place", PLACES)
def test_digests_know_the_contents(place: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "other", "moved")]
    for folder in folders:
        folder.mkdir()
    other, moved = X.copy(), X[::-1].copy()
    other[47, 2] += 1.0
    arrays = (X, X.copy(), other, moved)
    one, two, *different = (
        PLACES[place](array, folder).digest() for array, folder in zip(arrays, folders, strict=True)
    )
    assert one == two
    assert len({one, *different}) == 3


@pytest.mark.parametrize("place", COMPLETE)
def test_a_search_of_all_distances_is_that_of_the_array(place: str, tmp_path: Path) -> None:
    points, queries = PLACES[place](X, tmp_path), X[:11] + 0.5
    found = list(points.search(ALL).rows(points.queries(queries)))
    ref = MEASURE.distances(queries, X)
    for row, distances in zip(found, ref, strict=True):
        near = row.nearest(60, None)
        order = np.argsort(distances, kind="stable")
        np.testing.assert_allclose(near.distance, distances[order], rtol=1e-12)
        if place != "sparse":  # which scikit-learn measures, to other bits
            np.testing.assert_array_equal(near.index, order)


@pytest.mark.parametrize(
    ("shape", "share", "rows"),
    [
        ((700, 2), 1000, 88),  # as many as the cache holds
        ((100_000, 16), 1000, 8),
        ((100_000, 128), 1000, 32),
        ((100_000, 128), 17, 16),  # of few validation points, every worker gets some
        ((100_000, 128), 3, 8),
        ((100_000, 1000), 1000, 64),
        ((10**6, 1000), 1000, 8),  # 64 MB of distances
    ],
)
def test_points_with_many_features_are_read_once_for_many_rows(
    shape: tuple[int, int], share: int, rows: int
) -> None:
    array = np.broadcast_to(np.zeros(1), shape)
    demand = replace(ALL, room=2.0**30, share=share)
    found = InMemory(array, MEASURE).all_distances(demand)
    assert isinstance(found, Brute)
    assert found.held == rows
    for slow in (InMemory(array, Measure("cityblock")), InMemory(csr_array(shape), MEASURE)):
        found = slow.all_distances(demand)
        assert isinstance(found, Brute)
        assert found.held == (88 if shape[0] == 700 else 8)


def test_rows_leave_memory_for_sums_and_for_what_a_part_copies() -> None:
    array = np.zeros((1000, 400))
    tight = replace(ALL, room=16 * 8000.0, share=64)
    for demand, rows in ((tight, 16), (replace(tight, sums=8000.0), 8)):
        found = InMemory(array, MEASURE).all_distances(demand)
        assert isinstance(found, Brute)
        assert found.held == found.width == rows
    part = Part(InMemory(array, MEASURE), np.arange(1000))
    assert part.search(tight).width == 8


@pytest.mark.parametrize("place", ["memory", "zarr", "parquet", "part"])
def test_a_part_of_a_part_is_a_part_of_the_whole(place: str, tmp_path: Path) -> None:
    points = PLACES[place](X, tmp_path)
    part = points.part(COLUMNS)
    assert part is not None
    assert tuple(part.shape) == (7, 4)
    again = part.part(np.array([5, 0, 1]))
    assert again is not None
    np.testing.assert_array_equal(again[:], X[[0, 41, 3]])
    np.testing.assert_array_equal(again.take(np.array([2, 0])), X[[3, 0]])
    straight = points.part(COLUMNS[[5, 0, 1]])
    assert straight is not None
    assert again.digest() == straight.digest()
    assert len({again.digest(), part.digest(), points.digest()}) == 3
    queries = X[:3] + 0.5
    rows = [row.nearest(3, None) for row in again.search(ALL).rows(queries)]
    for row, distances in zip(rows, MEASURE.distances(queries, X[[0, 41, 3]]), strict=True):
        np.testing.assert_array_equal(row.index, np.argsort(distances, kind="stable"))
        np.testing.assert_array_equal(row.distance, np.sort(distances))


def test_where_a_part_must_be_taken_out_or_cannot_be() -> None:
    folder = Path()
    assert PLACES["indexed"](X, folder).part(COLUMNS) is None
    with pytest.raises(InputError, match="cv must be None if X is a Dask array"):
        PLACES["dask"](X, folder).part(COLUMNS)
    with pytest.raises(InputError, match="X_val must hold distances"):
        Precomputed(60).part(COLUMNS)


@pytest.mark.parametrize(
    ("place", "limited", "unlimited"),
    [
        ("memory", False, False),
        ("part", False, False),
        ("zarr", False, False),
        ("indexed", True, True),
        ("dask", True, False),
    ],
)
def test_whether_a_search_knows_some_neighbours_only(
    place: str, limited: bool, unlimited: bool, tmp_path: Path
) -> None:
    points = PLACES[place](X, tmp_path)
    assert points.is_partial(X[:2], limited=True) == limited
    assert points.is_partial(X[:2], limited=False) == unlimited


def test_of_precomputed_points_only_the_distances_are_known() -> None:
    points = Precomputed(60)
    assert points.shape == (60, 0)
    assert points.digest() == Precomputed(60).digest()
    row = np.arange(60.0)[None]
    graph = csr_array(([2.0, 1.0], ([0, 0], [4, 9])), shape=(1, 60))
    for limited in (True, False):
        assert not points.is_partial(row, limited)
        assert points.is_partial(graph, limited)
    (found,) = points.search(ALL).rows(points.queries(graph))
    assert found.nearest(9, None).index.tolist() == [9, 4]
    with pytest.raises(InputError, match="X_val must hold distances .*; got None"):
        points[0:1]
    with pytest.raises(InputError, match="X_val must hold distances .*; got None"):
        points.take(COLUMNS)


@pytest.mark.parametrize("kind", ["zarr", "h5py"])
def test_runs_of_rows_come_in_the_order_asked_for(kind: str, tmp_path: Path) -> None:
    """Rows that lie together are read as one slice, which must not sort them."""
    points = PLACES[kind](X, tmp_path)
    index = np.r_[30:40, 5:9, 40:43, [2, 1, 0]]
    np.testing.assert_array_equal(points.take(index), X[index])
