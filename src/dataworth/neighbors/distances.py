"""Neighbours: the only module that knows distances.

Distances are computed for a few validation points at a time against all training points, so no
n_val × n_train matrix ever exists. Every row comes out the same to the last bit, however many
rows are computed together: a matrix product would not promise that, nor that two copies of
a training point are at the same distance. So the Euclidean, cosine and Hamming distances have
compiled kernels of their own that go pair by pair, and every other metric goes to scikit-learn row
by row.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS

from dataworth.compiled import compiled
from dataworth.inputs import checks

# What scikit-learn measures without making the training points dense.
SPARSE_METRICS = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan")

Metric = str | Callable[[NDArray[Any], NDArray[Any]], float]


@compiled(fastmath=True)
def _euclidean(queries: NDArray[Any], points: NDArray[Any], out: NDArray[np.float64]) -> None:
    for j in range(points.shape[0]):
        point = points[j]
        for i in range(queries.shape[0]):
            query = queries[i]
            total = 0.0
            for f in range(point.size):
                difference = np.float64(query[f]) - np.float64(point[f])
                total += difference * difference
            out[i, j] = np.sqrt(total)


@compiled(fastmath=True)
def _dot(a: NDArray[Any], b: NDArray[Any]) -> float:
    total = 0.0
    for f in range(a.size):
        total += np.float64(a[f]) * np.float64(b[f])
    return total


@compiled(fastmath=True)
def _cosine(queries: NDArray[Any], points: NDArray[Any], out: NDArray[np.float64]) -> None:
    """1 - cosine of the angle, at least 0; a vector of zeros is at distance 1 from all others."""
    lengths = np.empty(queries.shape[0])
    for i in range(queries.shape[0]):
        lengths[i] = np.sqrt(_dot(queries[i], queries[i]))
    for j in range(points.shape[0]):
        length = np.sqrt(_dot(points[j], points[j]))
        for i in range(queries.shape[0]):
            scale = length * lengths[i]
            cosine = _dot(queries[i], points[j]) / scale if scale > 0.0 else 0.0
            out[i, j] = max(1.0 - cosine, 0.0)


@compiled()
def _hamming(queries: NDArray[Any], points: NDArray[Any], out: NDArray[np.float64]) -> None:
    """The share of features that differ."""
    for j in range(points.shape[0]):
        for i in range(queries.shape[0]):
            count = 0
            for f in range(points.shape[1]):
                count += queries[i, f] != points[j, f]
            out[i, j] = count / points.shape[1]


COMPILED_METRICS = {
    "euclidean": _euclidean,
    "l2": _euclidean,
    "cosine": _cosine,
    "hamming": _hamming,
}


@compiled()
def _sort_ties(sorted_distances: NDArray[np.float64], order: NDArray[np.int64]) -> None:
    """Put training indices in ascending order within each run of equal distances."""
    n = order.size
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and sorted_distances[stop] == sorted_distances[start]:
            stop += 1
        if stop - start > 1:
            order[start:stop].sort()
        start = stop


def distances(
    queries: NDArray[Any], points: NDArray[Any], metric: Metric, params: dict[str, Any]
) -> NDArray[np.float64]:
    """Distances of each query (rows) to each training point (columns), float64."""
    out = np.empty((queries.shape[0], points.shape[0]))
    if isinstance(metric, str) and metric in COMPILED_METRICS and not issparse(points):
        COMPILED_METRICS[metric](queries, points, out)
        return out
    for i in range(queries.shape[0]):
        out[i] = pairwise_distances(queries[i : i + 1], points, metric=metric, **params)[0]
    return out


def check_metric(points: NDArray[Any], metric: Metric, params: dict[str, Any]) -> NDArray[Any]:
    """Try the metric on one point before any work; returns the points as the metric takes them."""
    if issparse(points) and metric not in SPARSE_METRICS:
        names = ", ".join(repr(n) for n in SPARSE_METRICS)
        raise ValueError(f"metric must be one of {names} for sparse X; got {metric!r}.")
    if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
        if not np.isin(points, (0, 1)).all():
            raise ValueError(f"X must hold zeros and ones only with metric={metric!r}.")
        points = points.astype(bool)
    try:
        distances(points[:1], points[:1], metric, params)
    except Exception as error:
        why = checks.reason(error)
        raise ValueError(f"metric {metric!r} cannot measure these points: {why}") from error
    return points


def rank(row: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Training indices nearest first, and their distances; ties break by training index.

    Examples
    --------
    >>> import numpy as np
    >>> order, ranked = rank(np.array([2.0, 1.0, 2.0, 0.5]))
    >>> order
    array([3, 1, 0, 2])
    """
    order = np.argsort(row)
    ranked = row[order]
    _check_distances(ranked[0], ranked[-1])
    _sort_ties(ranked, order)
    return order, ranked


def nearest(row: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """The first `limit` training indices of `rank`, without a full sort.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([2.0, 1.0, 2.0, 0.5]), 3)
    array([3, 1, 0])
    """
    edge = np.partition(row, limit - 1)[limit - 1]
    inner = np.flatnonzero(row < edge)
    tied = np.flatnonzero(row == edge)[: limit - inner.size]
    chosen = np.sort(np.concatenate([inner, tied]))
    return chosen[rank(row[chosen])[0]]


def extent(row: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest distance."""
    near, far = float(row.min()), float(row.max())
    _check_distances(near, far)
    return near, far


def median(row: NDArray[np.float64]) -> float:
    """The median distance."""
    low, high = (row.size - 1) // 2, row.size // 2
    parted = np.partition(row, high)
    below = parted[high] if low == high else parted[:high].max()
    return float(0.5 * (below + parted[high]))


def _check_distances(least: float, largest: float) -> None:
    if not (least >= 0.0 and math.isfinite(largest)):
        bad = least if least < 0.0 else largest
        raise ValueError(
            f"metric gave a distance of {bad}: distances must be finite and not negative. "
            "Scale the features, or use another metric."
        )
