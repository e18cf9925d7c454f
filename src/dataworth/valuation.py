"""The estimator: checks, tasks, threads and the sum over validation points."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import VALID_METRICS
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm.auto import tqdm

import dataworth
from dataworth import checks, neighbors
from dataworth.games import GAME_NAMES, HardGame
from dataworth.result import DataValues
from dataworth.weights import WEIGHT_NAMES, WeightFunction, Weighting

# Validation points are summed in blocks of this many, and the blocks in their order. It is a
# constant, and not a matter of memory or threads, so that neither can change a bit of the result.
BLOCK = 8

# Metrics that scikit-learn would fit on each row together with the training points.
FITTED_METRICS = {"seuclidean": "V", "mahalanobis": "VI"}
METRIC_NAMES = sorted(set(VALID_METRICS["brute"]) - {"nan_euclidean"})


@dataclass(frozen=True)
class _Task:
    """Everything a worker needs to value blocks of validation points."""

    points: NDArray[Any] | None
    game: HardGame
    metric: neighbors.Metric
    metric_params: dict[str, Any]
    rows: int

    def block(self, queries: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The sum of the values over these validation points, in their order."""
        total = np.zeros(self.game.codes.size)
        for start in range(0, len(queries), self.rows):
            some = queries[start : start + self.rows]
            if self.points is None:
                distances = np.asarray(some, dtype=np.float64)
            else:
                distances = neighbors.distances(some, self.points, self.metric, self.metric_params)
            for row, code in zip(distances, codes[start : start + self.rows], strict=True):
                members, values = self.game.values(*neighbors.rank(row), code)
                total[members] += values
        return total


class KNNShapley(BaseEstimator):
    """Exact Shapley values of training points for a nearest-neighbour model.

    Parameters
    ----------
    n_neighbors : int, default 5
        How many nearest points vote; all of them where there are fewer.
    game : {"hard"}, default "hard"
        What a set of training points is worth to a validation point. `"hard"`: 1 if the weighted
        vote of the nearest points is right, ties counting as right and an empty set as 1, else 0;
        with more than two classes, the mean of that over the true class against each other one.
    weights : {"rbf", "linear", "inverse", "uniform"} or callable, default "rbf"
        How much a neighbour's vote counts at its distance d, where d_1 is the nearest and d_N the
        farthest training point. `"rbf"`: exp(-d/h); `"linear"`: (d_N - d)/(d_N - d_1);
        `"inverse"`: 1/d, where points at distance 0, if any, have all the weight; `"uniform"`:
        all the same. A callable takes one row of sorted distances and returns weights in [0, 1].
    bandwidth : float or "auto", default "auto"
        The h of `"rbf"`. `"auto"` is 0.3 times the distance from the nearest to the median
        training point, for each validation point anew.
    n_bits : int from 1 to 10, default 3
        Weights are rounded to 2^n_bits levels. Time and memory grow with the number of levels.
    metric : str or callable, default "euclidean"
        Any metric of scikit-learn but `"nan_euclidean"`, a function of two points, or
        `"precomputed"`: then call `fit(None, y)` and `value(D, y_val)` with distances D of shape
        (n_val, n_train). `"euclidean"` and `"cosine"` are the fast ones.
    metric_params : dict or None
        Further arguments of the metric.
    n_jobs : int or None
        Threads, as in scikit-learn: None is 1, -1 is all cores. The result is the same to the
        last bit whatever the number.
    working_memory : float, default 256
        MB that distances may take at a time. At least one row of n_train distances is held per
        thread, and never more than eight.
    progress : bool, default True
        Show a progress bar where work takes more than two seconds and a terminal is there.

    Attributes
    ----------
    classes_ : the labels seen in `fit`, sorted.
    n_features_in_ : the number of features seen in `fit`; not set with precomputed distances.

    Notes
    -----
    Time O(N log N + N K^2 2^b) and memory O(N + K^2 2^b) for each validation point, N being the
    number of training points, K that of neighbours and b that of bits; the first 4K ranks cost up
    to 4K times as much each. With C classes the points of the validation point's own class are
    walked C - 1 times. Equal distances are ranked by the position of the training point.

    The first call ever compiles the kernels, which takes some 20 seconds; the compiled code is
    kept on disk.

    References
    ----------
    J. T. Wang, P. Mittal, R. Jia: Efficient Data Shapley for Weighted Nearest Neighbor Algorithms.
    arXiv 2401.11103.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [0.15]]
    >>> y = ["a", "a", "a", "b", "b", "b", "b"]
    >>> valuator = KNNShapley(n_neighbors=3).fit(X, y)
    >>> values = valuator.value([[0.05], [0.18], [1.15]], ["a", "a", "b"])
    >>> values.values.round(3)
    array([ 0.056,  0.056,  0.167,  0.   ,  0.   ,  0.   , -0.278])
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        game: Literal["hard"] = "hard",
        weights: str | WeightFunction = "rbf",
        bandwidth: float | Literal["auto"] = "auto",
        n_bits: int = 3,
        metric: str | Callable[[NDArray[Any], NDArray[Any]], float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        working_memory: float = 256,
        progress: bool = True,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.game = game
        self.weights = weights
        self.bandwidth = bandwidth
        self.n_bits = n_bits
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.progress = progress

    def fit(self, X: ArrayLike | None, y: ArrayLike) -> Self:
        """Take the training points to be valued. Nothing is computed yet.

        Parameters
        ----------
        X : (n_train, n_features) numbers; None with precomputed distances. float32 and float64
            arrays in C order are kept as they are, without a copy: do not change them afterwards.
        y : (n_train,) labels: strings, integers or booleans. Whole floats count as integers.

        Returns
        -------
        self
        """
        self._check_params()
        if self.metric == "precomputed":
            if X is not None:
                raise ValueError("X must be None with metric='precomputed'; got an array.")
            labels = checks.labels(y, "y")
            points = None
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    delattr(self, name)
        else:
            points = checks.matrix(X, "X")
            validate_data(self, X, skip_check_array=True)
            points = neighbors.check_metric(points, self.metric, self.metric_params or {})
            labels = checks.labels(y, "y", n_points=points.shape[0], of="X")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._points, self._codes = points, codes.astype(np.int64)
        self._fitted_metric = (self.metric, self.metric_params)
        return self

    def value(self, X_val: ArrayLike, y_val: ArrayLike) -> DataValues:
        """Value the training points by how they serve these validation points.

        Parameters
        ----------
        X_val : (n_val, n_features) numbers; (n_val, n_train) with precomputed distances.
        y_val : (n_val,) labels, each of which was seen in `fit`.

        Returns
        -------
        DataValues
            One value per training point: the mean over the validation points.
        """
        check_is_fitted(self, "classes_")
        self._check_params()
        if self._fitted_metric != (self.metric, self.metric_params):
            raise ValueError("metric was changed after fit; call fit again.")
        queries = self._check_queries(X_val)
        labels = checks.labels(y_val, "y_val", n_points=queries.shape[0], of="X_val")
        codes = checks.encode(labels, self.classes_, "y_val")
        total = np.zeros(self._codes.size)
        for part in self._run(queries, codes):
            total += part
        return DataValues(
            values=total / codes.size,
            index=np.arange(total.size),
            labels=self.classes_[self._codes],
            params={k: _plain(v) for k, v in self.get_params().items()},
            n_validation=codes.size,
            version=dataworth.__version__,
        )

    def _run(
        self, queries: NDArray[Any], codes: NDArray[np.int64]
    ) -> Iterable[NDArray[np.float64]]:
        """The sum of each block of validation points, in order."""
        jobs = effective_n_jobs(self.n_jobs)
        room = self.working_memory * 2**20 / jobs / (8 * self._codes.size)
        task = _Task(
            points=self._points,
            game=HardGame(
                self._codes,
                self.classes_.size,
                min(int(self.n_neighbors), self._codes.size),
                Weighting(self.weights, self.bandwidth, int(self.n_bits)),
            ),
            metric=self.metric,
            metric_params=self.metric_params or {},
            rows=int(min(max(room, 1), BLOCK)),
        )
        starts = range(0, len(queries), BLOCK)
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(task.block)(queries[s : s + BLOCK], codes[s : s + BLOCK]) for s in starts
        )
        hidden = None if self.progress else True  # None: hidden where no terminal is there
        with tqdm(total=len(queries), desc="valuing", unit="point", delay=2, disable=hidden) as bar:
            for start, part in zip(starts, parts, strict=True):
                yield part
                bar.update(min(BLOCK, len(queries) - start))

    def _check_params(self) -> None:
        checks.integer(self.n_neighbors, "n_neighbors", least=1)
        checks.choice(self.game, "game", GAME_NAMES)
        if not callable(self.weights):
            checks.choice(self.weights, "weights", WEIGHT_NAMES, or_else=" or a callable")
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "auto"):
            checks.positive(self.bandwidth, "bandwidth", or_else=" or 'auto'")
            if self.weights != "rbf":
                raise ValueError(f"bandwidth must be 'auto' with weights={self.weights!r}.")
        checks.integer(self.n_bits, "n_bits", least=1, most=10)
        if not callable(self.metric):
            checks.choice(self.metric, "metric", METRIC_NAMES, or_else=" or a callable")
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise TypeError(f"metric_params must be None or a dict; got {self.metric_params!r}.")
        needed = FITTED_METRICS.get(str(self.metric))
        if needed and needed not in (self.metric_params or {}):
            raise ValueError(f"metric_params must hold {needed!r} with metric={self.metric!r}.")
        if self.metric in ("precomputed", *neighbors.COMPILED_METRICS) and self.metric_params:
            raise ValueError(
                f"metric_params must be None with metric={self.metric!r}; "
                f"got {self.metric_params!r}."
            )
        checks.n_jobs(self.n_jobs)
        checks.positive(self.working_memory, "working_memory")
        checks.boolean(self.progress, "progress")

    def _check_queries(self, X_val: ArrayLike) -> NDArray[Any]:
        if self._points is not None:
            queries = checks.matrix(X_val, "X_val", n_columns=self._points.shape[1])
            validate_data(self, X_val, reset=False, skip_check_array=True)
            return queries.astype(bool) if self._points.dtype == bool else queries
        queries = checks.matrix(
            X_val, "X_val", n_columns=self._codes.size, columns="one per training point"
        )
        if queries.min() < 0.0:
            raise ValueError(
                f"X_val must hold distances with metric='precomputed'; got {queries.min()}."
            )
        return queries


def _plain(value: Any) -> Any:
    """A parameter as JSON can keep it."""
    if callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        return f"{getattr(value, '__module__', '')}.{name}"
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value
