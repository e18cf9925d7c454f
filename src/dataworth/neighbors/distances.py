"""Distances between points, the same to the last bit however many are computed together."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS
from sklearn.neighbors import VALID_METRICS

from dataworth.arrays import Array, Floats
from dataworth.compiled import compiled, uint64
from dataworth.errors import InputError
from dataworth.inputs import checks

# The metrics that scikit-learn computes without making the training points dense.
SPARSE_METRICS = ("cityblock", "cosine", "euclidean", "l1", "l2", "manhattan")

NO_COLUMN = np.iinfo(np.int64).max  # beyond all columns
TILE = 2048  # so many numbers of training points are compared with all queries of a block
LEAST = 1e-150  # the squares of smaller numbers vanish

Metric = str | Callable[[NDArray[Any], NDArray[Any]], float]


@compiled(fastmath=True)
def _euclidean(queries: NDArray[Any], points: NDArray[Any], out: NDArray[np.float64]) -> None:
    """Two queries and two points at a time share their numbers; a last one has another beside it.

    There is no other code for single ones, so that all sums are in the same order. All queries of a
    block meet a few points, which stay in the cache, before the next ones are read.
    """
    n, n_features = queries.shape
    pairs = np.empty((n + n % 2, n_features))
    for i in range(pairs.shape[0]):
        pairs[i] = queries[min(i, n - 1)]
    some = np.zeros((2 * max(TILE // (2 * n_features), 1), n_features))
    for start in range(0, points.shape[0], some.shape[0]):
        size = min(some.shape[0], points.shape[0] - start)
        for j in range(size):
            for f in range(uint64(n_features)):
                some[j, f] = points[start + j, f]
        for i in range(0, n, 2):
            first, second = pairs[i], pairs[i + 1]
            for j in range(0, size, 2):
                left, right = some[j], some[j + 1]
                a = b = c = d = 0.0
                for f in range(uint64(n_features)):
                    difference = first[f] - left[f]
                    a += difference * difference
                    difference = first[f] - right[f]
                    b += difference * difference
                    difference = second[f] - left[f]
                    c += difference * difference
                    difference = second[f] - right[f]
                    d += difference * difference
                two = j + 1 < size
                out[i, start + j] = np.sqrt(a)
                if two:
                    out[i, start + j + 1] = np.sqrt(b)
                if i + 1 < n:
                    out[i + 1, start + j] = np.sqrt(c)
                    if two:
                        out[i + 1, start + j + 1] = np.sqrt(d)


@compiled(fastmath=True)
def _dot(a: NDArray[Any], b: NDArray[Any]) -> float:
    total = 0.0
    for f in range(a.size):
        total += np.float64(a[f]) * np.float64(b[f])
    return total


@compiled(fastmath=True)
def _cosine(queries: NDArray[Any], points: NDArray[Any], out: NDArray[np.float64]) -> None:
    """1 - cosine of the angle, at least 0; a vector of zeros is at distance 1 from every vector."""
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


@compiled()
def _sparse_euclidean(
    data: Array,
    indices: Array,
    starts: Array,
    point_data: Array,
    point_indices: Array,
    point_starts: Array,
    out: Floats,
) -> None:
    """Euclidean distances between the rows of two CSR arrays, whose columns are sorted.

    Difference by difference: a dot product would cancel far from the origin.
    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            a, b = starts[i], point_starts[j]
            total = 0.0
            while a < starts[i + 1] or b < point_starts[j + 1]:
                left = indices[a] if a < starts[i + 1] else NO_COLUMN
                right = point_indices[b] if b < point_starts[j + 1] else NO_COLUMN
                difference = 0.0
                if left <= right:
                    difference += np.float64(data[a])
                    a += 1
                if right <= left:
                    difference -= np.float64(point_data[b])
                    b += 1
                total += difference * difference
            out[i, j] = np.sqrt(total)


COMPILED_METRICS = {
    "euclidean": _euclidean,
    "l2": _euclidean,
    "cosine": _cosine,
    "hamming": _hamming,
}
# Without these parameters, scikit-learn would fit the metric on each row and the training points.
FITTED_METRICS = {"seuclidean": "V", "mahalanobis": "VI"}
# What `metric=` can name: metrics of scikit-learn, and those compiled here.
METRIC_NAMES = sorted({*VALID_METRICS["brute"], *COMPILED_METRICS} - {"nan_euclidean"})


def is_compiled(metric: Metric) -> bool:
    """Whether dense points are compared with many queries at a time, in compiled code."""
    return isinstance(metric, str) and metric in COMPILED_METRICS


def distances(
    queries: NDArray[Any], points: NDArray[Any], metric: Metric, params: dict[str, Any]
) -> NDArray[np.float64]:
    """Return the distance of each query (rows) to each training point (columns), as float64."""
    out = np.empty((queries.shape[0], points.shape[0]))
    if is_compiled(metric) and not issparse(points):
        COMPILED_METRICS[str(metric)](queries, points, out)
        return out
    if metric in ("euclidean", "l2"):
        a, b = csr_array(queries), csr_array(points)
        _sparse_euclidean(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, out)
        return out
    for i in range(queries.shape[0]):
        out[i] = pairwise_distances(queries[i : i + 1], points, metric=metric, **params)[0]
    return out


@dataclass(frozen=True)
class Measure:
    """A metric with its extra arguments."""

    metric: Metric
    params: dict[str, Any] = field(default_factory=dict)

    def distances(self, queries: Array, points: Array) -> Floats:
        """Return the distance of each query (rows) to each point (columns), as float64."""
        return distances(queries, points, self.metric, self.params)

    def check_scale(self, points: Array) -> None:
        """Refuse numbers so small that all distances would be 0."""
        if self.metric not in ("euclidean", "l2", "cosine"):
            return
        numbers: Any = points.data if issparse(points) else points
        largest = max(float(numbers.max(initial=0.0)), -float(numbers.min(initial=0.0)))
        if 0.0 < largest < LEAST:
            raise InputError(
                "X",
                f"have numbers above {LEAST:g} with metric={self.metric!r}, as their squares count",
                f"the largest is {largest:g}",
                "Scale the features.",
            )

    def _check_params(self, n_features: int) -> None:
        """Refuse an array of another size than the points: scipy reads it without a look."""
        name = FITTED_METRICS.get(str(self.metric))
        if name is None:
            return
        array, wanted = self.params[name], (n_features,) * (2 if name == "VI" else 1)
        if np.shape(array) != wanted or np.asarray(array).dtype.kind not in "biuf":
            raise InputError(
                "metric_params",
                f"hold numbers of shape {wanted} as {name!r}, as X has {n_features} columns",
                f"got {array!r:.60}",
            )

    def checked(self, points: Array) -> Array:
        """Try the metric on one point, and return the points in the form that it takes."""
        if issparse(points) and self.metric not in SPARSE_METRICS:
            names = ", ".join(repr(n) for n in SPARSE_METRICS)
            raise InputError("metric", f"be one of {names} for sparse X", f"got {self.metric!r}")
        if issparse(points) and self.metric not in ("euclidean", "l2"):
            points = points.astype(np.float64)  # scikit-learn would round differences to float32
        if self.metric in PAIRWISE_BOOLEAN_FUNCTIONS:
            if not np.isin(points, (0, 1)).all():
                raise InputError("X", f"hold only zeros and ones with metric={self.metric!r}")
            points = points.astype(bool)
        self._check_params(points.shape[1])
        try:
            self.distances(points[:1], points[:1])
        except Exception as error:
            named = repr(self.metric)
            if callable(self.metric):
                named = getattr(self.metric, "__name__", type(self.metric).__name__)
            raise InputError(
                "metric_params" if self.params else "metric",
                "suit the points",
                f"metric {named} cannot measure these points: {checks.reason(error)}",
            ) from error
        return points
