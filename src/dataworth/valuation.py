"""The estimator: checks, threads and the sum over validation points."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import VALID_METRICS
from sklearn.utils.validation import check_is_fitted, validate_data
from tqdm.auto import tqdm

import dataworth
from dataworth import checks, neighbors, quadrature
from dataworth.games import GAME_NAMES, DirectGame, Game, HardGame, RegressionGame, SoftGame
from dataworth.kernels.coefficients import Coefficients, shapley_like
from dataworth.kernels.direct import MOST_CLASSES, table_bytes
from dataworth.result import DataValues
from dataworth.tasks import Limit, Task
from dataworth.weights import WEIGHT_NAMES, WeightFunction, Weighting

# Validation points are summed in blocks of this many, and the blocks in their order. It is a
# constant, and not a matter of memory or threads, so that neither can change a bit of the result.
BLOCK = 8

# Metrics that scikit-learn would fit on each row together with the training points.
FITTED_METRICS = {"seuclidean": "V", "mahalanobis": "VI"}
METRIC_NAMES = sorted(set(VALID_METRICS["brute"]) - {"nan_euclidean"})
ADAPTIVE_RATIO = 0.1


class KNNShapley(BaseEstimator):
    """Exact Shapley values of training points for a nearest-neighbour model.

    Parameters
    ----------
    n_neighbors : int, default 5
        K: how many nearest points have a say; all of them where there are fewer.
    game : {"soft", "hard", "regression"}, default "soft"
        What a set of training points is worth to a validation point.

        - `"soft"`: the weight of the right label among the K nearest, as a share of their total
          weight; 1 / number of classes for an empty set.
        - `"hard"`: 1 if the weighted vote of the K nearest is right, else 0; ties and the empty
          set count as right. With more than two classes, see `multiclass`.
        - `"regression"`: minus the squared error of the weighted mean of the K nearest targets. An
          empty set, and one without any weight, predicts 0: centre the targets before `fit`, or
          points are paid for the distance of the targets from 0.
    weights : {"rbf", "linear", "inverse", "uniform"} or callable, default "rbf"
        How much a neighbour counts at its distance d, where d_1 is the nearest and d_N the
        farthest training point, the nearest counting 1. `"rbf"`: exp(-(d - d_1)/h); `"linear"`:
        (d_N - d)/(d_N - d_1); `"inverse"`: d_1/d, where points at distance 0, if any, have all the
        weight; `"uniform"`: all the same, which is fastest. A callable takes one row of sorted
        distances and returns weights in [0, 1], which are used as they are.
    bandwidth : float or "auto", default "auto"
        The h of `"rbf"`. `"auto"` is 0.3 times the distance from the nearest to the median
        training point, for each validation point anew.
    n_bits : int from 1 to 10, or None, default 3
        Weights are rounded to 2^n_bits levels, and time and memory grow with the number of levels.
        None (not for the hard game) keeps real weights; then utilities have a relative error of at
        most 1e-9, which the result states. Weights below 1e-300 of the largest (1e-140 for
        regression) still count as 0. Uniform weights need no rounding.
    metric : str or callable, default "euclidean"
        Any metric of scikit-learn but `"nan_euclidean"`, a function of two points, or
        `"precomputed"`: then call `fit(None, y)` and `value(D, y_val)` with distances D of shape
        (n_val, n_train). `"euclidean"` and `"cosine"` are the fast ones.
    metric_params : dict or None
        Further arguments of the metric.
    multiclass : {"one-vs-one", "direct"}, default "one-vs-one"
        The hard game of more than two classes. `"one-vs-one"`: the mean, over all wrong classes,
        of the vote among the points of that class and the right one, K of them. `"direct"`: one
        vote among all classes, for up to four; slow beyond three.
    radius : float or None
        Instead of the K nearest points, those within this distance have a say, however many; for
        uniform weights, the soft or regression game and no `max_rank`. `n_neighbors` is then not
        used.
    semivalue : "shapley", "banzhaf" or ("beta", alpha, beta), default "shapley"
        How sets of different sizes count. Beta(1, 1) is Shapley; a larger alpha gives more weight
        to small sets.
    max_rank : int, "sqrt", "adaptive" or None
        Rank only that many nearest training points for each validation point, `"sqrt"` being the
        square root of n_train: faster, and the result's `lower` and `upper` hold the exact value
        for certain, up to rounding. `"adaptive"` ranks four times as many until the interval is
        narrow, see `adaptive_ratio`; where it does not get narrow it ends with the exact values and
        costs up to a half more than they do. None is exact.
    adaptive_ratio : float, default 0.1
        With `max_rank="adaptive"`: what is left out must be at most this share of the value for
        more than half of the points.
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
    classes_ : the labels seen in `fit`, sorted; not set for regression.
    n_features_in_ : the number of features seen in `fit`; not set with precomputed distances.

    Notes
    -----
    Time beyond the distances, for each validation point, with N training points, K neighbours and
    b bits: O(N log N) to rank them, then O(N K^2 2^b) for the weighted games and O(N) for the
    unweighted soft and regression games; the first 3K ranks cost up to 3K times as much each. In
    the hard game of C classes the points of the right class are walked C - 1 times. Memory is
    O(N + K^2 2^b), and O(K 4^b) for the soft and regression games. Equal distances are ranked by
    the position of the training point.

    The first call ever of each game compiles its kernels, which takes up to 20 seconds; the
    compiled code is kept on disk. Distances compare features as they are: scale them first.

    References
    ----------
    J. T. Wang, P. Mittal, R. Jia: Efficient Data Shapley for Weighted Nearest Neighbor Algorithms.
    arXiv 2401.11103.
    R. Jia et al.: Efficient Task-Specific Data Valuation for Nearest Neighbor Algorithms. VLDB
    2019.
    J. T. Wang, R. Jia: A Note on "Efficient Task-Specific Data Valuation for Nearest Neighbor
    Algorithms". arXiv 2304.04258.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [0.15]]
    >>> y = ["a", "a", "a", "b", "b", "b", "b"]
    >>> valuator = KNNShapley(n_neighbors=3).fit(X, y)
    >>> values = valuator.value([[0.05], [0.18], [1.15]], ["a", "a", "b"])
    >>> values.values.round(3)
    array([ 0.111,  0.187,  0.124,  0.056,  0.056,  0.056, -0.244])
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        game: Literal["soft", "hard", "regression"] = "soft",
        weights: str | WeightFunction = "rbf",
        bandwidth: float | Literal["auto"] = "auto",
        n_bits: int | None = 3,
        metric: str | Callable[[NDArray[Any], NDArray[Any]], float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        multiclass: Literal["one-vs-one", "direct"] = "one-vs-one",
        radius: float | None = None,
        semivalue: str | tuple[str, float, float] = "shapley",
        max_rank: int | Literal["sqrt", "adaptive"] | None = None,
        adaptive_ratio: float = ADAPTIVE_RATIO,
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
        self.multiclass = multiclass
        self.radius = radius
        self.semivalue = semivalue
        self.max_rank = max_rank
        self.adaptive_ratio = adaptive_ratio
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.progress = progress

    def fit(self, X: ArrayLike | None, y: ArrayLike) -> Self:
        """Take the training points to be valued. Nothing is computed yet.

        Parameters
        ----------
        X : (n_train, n_features) numbers; None with precomputed distances. float32 and float64
            arrays in C order are kept as they are, without a copy: do not change them afterwards.
        y : (n_train,) labels: strings, integers or booleans. Whole floats count as integers. For
            regression, numbers.

        Returns
        -------
        self
        """
        self._check_params()
        points, rows = None, None
        if self.metric == "precomputed":
            if X is not None:
                raise ValueError("X must be None with metric='precomputed'; got an array.")
        else:
            points = checks.matrix(X, "X")
            rows = points.shape[0]
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.game == "regression":
            self._targets: NDArray[Any] = checks.targets(y, "y", n_points=rows, of="X")
        else:
            labels = checks.labels(y, "y", n_points=rows, of="X")
            self.classes_, codes = np.unique(labels, return_inverse=True)
            self._targets = codes.astype(np.int64)
        self._check_size()
        if points is not None:
            validate_data(self, X, skip_check_array=True)
            points = neighbors.check_metric(points, self.metric, self.metric_params or {})
        self._points = points
        self._fitted_with = self._what_fit_uses()
        return self

    def value(self, X_val: ArrayLike, y_val: ArrayLike) -> DataValues:
        """Value the training points by how they serve these validation points.

        Parameters
        ----------
        X_val : (n_val, n_features) numbers; (n_val, n_train) with precomputed distances.
        y_val : (n_val,) labels, each of which was seen in `fit`; numbers for regression.

        Returns
        -------
        DataValues
            One value per training point: the mean over the validation points.
        """
        check_is_fitted(self, "_fitted_with")
        self._check_params()
        if self._fitted_with != self._what_fit_uses():
            raise ValueError("game and metric must not change after fit; call fit again.")
        self._check_size()
        queries = self._check_queries(X_val)
        if self.game == "regression":
            targets: NDArray[Any] = checks.targets(
                y_val, "y_val", n_points=queries.shape[0], of="X_val"
            )
        else:
            labels = checks.labels(y_val, "y_val", n_points=queries.shape[0], of="X_val")
            targets = checks.encode(labels, self.classes_, "y_val")
        bounded = self.max_rank is not None or self.n_bits is None
        parts = iter(self._run(queries, targets, bounded))
        total, error = next(parts)
        for sums, its_error in parts:
            total += sums
            error = max(error, its_error)
        total /= targets.size
        regression = self.game == "regression"
        return DataValues(
            values=total[0],
            lower=total[1] if bounded else total[0],
            upper=total[2] if bounded else total[0],
            index=np.arange(self._targets.size),
            labels=self._targets if regression else self.classes_[self._targets],
            params={k: _plain(v) for k, v in self.get_params().items()},
            n_validation=targets.size,
            weight_error=error,
            version=dataworth.__version__,
        )

    def _run(
        self, queries: NDArray[Any], targets: NDArray[Any], bounded: bool
    ) -> Iterable[tuple[NDArray[np.float64], float]]:
        """The sums of each block of validation points, in order."""
        n = self._targets.size
        jobs = effective_n_jobs(self.n_jobs)
        room = self.working_memory * 2**20 / jobs / (8 * n)
        weighting = self._weighting()
        neighbors_used = n if self.radius is not None else min(int(self.n_neighbors), n)
        rank = math.isqrt(n - 1) + 1 if self.max_rank == "sqrt" else self.max_rank
        task = Task(
            points=self._points,
            game=self._game(neighbors_used, weighting),
            weighting=weighting,
            metric=self.metric,
            metric_params=self.metric_params or {},
            radius=self.radius,
            limit=Limit(rank, float(self.adaptive_ratio), 4 * neighbors_used),
            rows=int(min(max(room, 1), BLOCK)),
            bounded=bounded,
        )
        starts = range(0, len(queries), BLOCK)
        parts = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(task.block)(queries[s : s + BLOCK], targets[s : s + BLOCK]) for s in starts
        )
        hidden = None if self.progress else True  # None: hidden where no terminal is there
        with tqdm(total=len(queries), desc="valuing", unit="point", delay=2, disable=hidden) as bar:
            for start, part in zip(starts, parts, strict=True):
                yield part
                bar.update(min(BLOCK, len(queries) - start))

    def _weighting(self) -> Weighting:
        n_bits = None if self.n_bits is None else int(self.n_bits)
        smallest = 1e-140 if self.game == "regression" else 1e-300  # its square is needed
        return Weighting(self.weights, self.bandwidth, n_bits, smallest)

    def _game(self, n_neighbors: int, weighting: Weighting) -> Game:
        coefficients = self._coefficients(n_neighbors)
        if self.game == "regression":
            return RegressionGame(self._targets, n_neighbors, weighting, coefficients)
        rest = (self._targets, self.classes_.size, n_neighbors, weighting, coefficients)
        if self.game == "soft":
            return SoftGame(*rest)
        return DirectGame(*rest) if self.multiclass == "direct" else HardGame(*rest)

    def _coefficients(self, n_neighbors: int) -> Coefficients:
        alpha = beta = 1.0
        if self.semivalue == "banzhaf":
            alpha = beta = math.inf
        elif self.semivalue != "shapley":
            alpha, beta = float(self.semivalue[1]), float(self.semivalue[2])
        return shapley_like(self._targets.size, n_neighbors, alpha, beta)

    def _what_fit_uses(self) -> tuple[Any, ...]:
        return self.metric, self.metric_params, self.game == "regression"

    def _check_params(self) -> None:
        checks.integer(self.n_neighbors, "n_neighbors", least=1)
        checks.choice(self.game, "game", GAME_NAMES)
        if not callable(self.weights):
            checks.choice(self.weights, "weights", WEIGHT_NAMES, or_else=" or a callable")
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "auto"):
            checks.positive(self.bandwidth, "bandwidth", or_else=" or 'auto'")
            if self.weights != "rbf":
                raise ValueError(f"bandwidth must be 'auto' with weights={self.weights!r}.")
        if self.n_bits is None and self.game == "hard":
            raise ValueError("n_bits must be from 1 to 10 with game='hard'; got None.")
        if self.n_bits is not None:
            checks.integer(self.n_bits, "n_bits", least=1, most=10, or_else=", or None")
        self._check_metric()
        checks.choice(self.multiclass, "multiclass", ("one-vs-one", "direct"))
        if self.multiclass == "direct" and self.game != "hard":
            raise ValueError(f"multiclass='direct' is for game='hard' only; got {self.game!r}.")
        if self.radius is not None:
            checks.positive(self.radius, "radius", or_else=" or None")
            for name, bad in (
                ("game", self.game == "hard"),
                ("weights", self.weights != "uniform"),
                ("max_rank", self.max_rank is not None),
            ):
                if bad:
                    raise ValueError(
                        "radius needs game='soft' or 'regression', weights='uniform' and "
                        f"max_rank=None; got {name}={getattr(self, name)!r}."
                    )
        checks.semivalue(self.semivalue)
        if self.max_rank not in (None, "sqrt", "adaptive"):
            wanted = ", 'sqrt', 'adaptive' or None"
            checks.integer(self.max_rank, "max_rank", least=1, or_else=wanted)
        checks.positive(self.adaptive_ratio, "adaptive_ratio")
        if self.adaptive_ratio != ADAPTIVE_RATIO and self.max_rank != "adaptive":
            raise ValueError("adaptive_ratio must not be set without max_rank='adaptive'.")
        checks.n_jobs(self.n_jobs)
        checks.positive(self.working_memory, "working_memory")
        checks.boolean(self.progress, "progress")

    def _check_metric(self) -> None:
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

    def _check_size(self) -> None:
        """Tables must fit into memory."""
        k = min(int(self.n_neighbors), self._targets.size)
        top = self._weighting().top
        if self.game != "hard" and self.n_bits is not None and self.weights != "uniform":
            size = quadrature.table_bytes(k, top)
            if size > 2**30:
                raise ValueError(
                    f"n_bits={self.n_bits} with n_neighbors={k} would take {size / 2**30:.0f} GB; "
                    "lower one of them or use n_bits=None."
                )
        if self.multiclass != "direct":
            return
        classes = self.classes_.size
        if classes > MOST_CLASSES:
            raise ValueError(
                f"multiclass must be 'one-vs-one' for more than {MOST_CLASSES} classes; "
                f"y has {classes}."
            )
        size = table_bytes(classes, k, top)
        if size > 2**30:
            raise ValueError(
                f"multiclass='direct' would take {size / 2**30:.0f} GB with {classes} classes, "
                f"n_neighbors={k} and n_bits={self.n_bits}; lower these or use 'one-vs-one'."
            )

    def _check_queries(self, X_val: ArrayLike) -> NDArray[Any]:
        if self._points is not None:
            queries = checks.matrix(X_val, "X_val", n_columns=self._points.shape[1])
            validate_data(self, X_val, reset=False, skip_check_array=True)
            return queries.astype(bool) if self._points.dtype == bool else queries
        queries = checks.matrix(
            X_val, "X_val", n_columns=self._targets.size, columns="one per training point"
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
