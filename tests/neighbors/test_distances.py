import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.metrics import pairwise_distances

from dataworth.neighbors import distances as neighbors


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 7, 64, 129])
def test_euclidean_equals_math_dist(dtype: type, d: int) -> None:
    rng = np.random.default_rng(d)
    queries: NDArray[Any] = rng.normal(size=(5, d)).astype(dtype)
    points: NDArray[Any] = rng.normal(size=(9, d)).astype(dtype)
    got = neighbors.distances(queries, points, "euclidean", {})
    ref = [[math.dist(q, p) for p in points.tolist()] for q in queries.tolist()]
    np.testing.assert_allclose(got, ref, rtol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev", "cityblock"])
def test_rows_do_not_depend_on_their_company(metric: str) -> None:
    rng = np.random.default_rng(0)
    queries, points = rng.normal(size=(8, 33)), rng.normal(size=(1001, 33))
    together = neighbors.distances(queries, points, metric, {})
    for i in range(8):
        alone = neighbors.distances(queries[i : i + 1], points, metric, {})
        np.testing.assert_array_equal(together[i], alone[0])
    np.testing.assert_allclose(together, pairwise_distances(queries, points, metric=metric))


@pytest.mark.parametrize("d", [1, 3, 8, 31, 128, 1025])
def test_columns_do_not_depend_on_their_company(d: int) -> None:
    """Points are taken two at a time; first, second or alone, they have the same bits."""
    rng = np.random.default_rng(d)
    queries, points = rng.normal(size=(3, d)), rng.normal(size=(37, d))
    together = neighbors.distances(queries, points, "euclidean", {})
    for start, stop in ((1, 37), (2, 36), (36, 37), (0, 1)):
        some = neighbors.distances(queries, points[start:stop], "euclidean", {})
        np.testing.assert_array_equal(some, together[:, start:stop])


def test_copies_are_at_equal_distance() -> None:
    rng = np.random.default_rng(0)
    point, query = rng.normal(size=(1, 77)), rng.normal(size=(3, 77))
    got = neighbors.distances(query, np.repeat(point, 999, axis=0), "euclidean", {})
    assert all(np.unique(row).size == 1 for row in got)
    assert neighbors.distances(point, point, "euclidean", {})[0, 0] == 0.0


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e8])
def test_sparse_points_are_as_far_apart_as_dense_ones(offset: float) -> None:
    """A dot product would cancel far from the origin."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 5)) < 0.7, rng.normal(size=(40, 5)) + offset, 0.0)
    dense = neighbors.distances(X[:9], X, "euclidean", {})
    sparse = neighbors.distances(csr_array(X[:9]), csr_array(X), "euclidean", {})
    np.testing.assert_allclose(sparse, dense, rtol=1e-14, atol=0)


@pytest.mark.parametrize("metric", neighbors.SPARSE_METRICS)
def test_sparse_float32_is_measured_in_double_precision(metric: str) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 4)).astype(np.float32)
    measure = neighbors.Measure(metric)
    got = measure.distances(csr_array(points[:5]), measure.checked(csr_array(points)))
    ref = measure.distances(points[:5].astype(float), points.astype(float))
    np.testing.assert_allclose(got, ref, rtol=0, atol=1e-14)
