"""The estimator: checks of what it is given, and the parts of a run."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self, overload

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

import dataworth
from dataworth import explanation, legs, parameters, plans
from dataworth.encoders.choice import encoder_of
from dataworth.explanation import Explanation
from dataworth.inputs import checks, frames
from dataworth.neighbors import blocks as sources
from dataworth.neighbors import distances as neighbors
from dataworth.neighbors import faiss as ann
from dataworth.neighbors.blocks import Blocks, is_dask, is_source
from dataworth.neighbors.dask import ShardedPoints
from dataworth.result import DataValues
from dataworth.run import total as runs
from dataworth.run.checkpoints import Checkpoint, fingerprint
from dataworth.weights import WeightFunction

LOW_RECALL = 0.9  # below, a search is worth a warning


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
    support : int or None
        Only this many nearest training points, all if there are fewer, have weight: `"linear"`
        then falls to 0 at the last of them, the automatic bandwidth of `"rbf"` is 0.3 times the
        distance from the first to the last of them, and a callable sees their distances only. Exact
        values then need no more neighbours than these, however large the training set.
    n_bits : int from 1 to 10, or None, default 3
        Weights are rounded to 2^n_bits levels, and time and memory grow with the number of levels.
        None (not for the hard game) keeps real weights; then utilities have a relative error of at
        most 1e-9, which the result states. Weights below 1e-300 of the largest (1e-140 for
        regression) still count as 0. Uniform weights need no rounding.
    metric : str, callable or None
        Any metric of scikit-learn but `"nan_euclidean"`, a function of two points, or
        `"precomputed"`: then call `fit(None, y)` and `value(D, y_val)` with distances D of shape
        (n_val, n_train), or a sparse graph of them that stores the nearest neighbours of each
        validation point; what is not stored counts as farther. `"euclidean"`, `"cosine"` and
        `"hamming"` are the fast ones. None is the encoder's own metric where it is a
        `ForestLeaves`, else `"euclidean"`.
    metric_params : dict or None
        Further arguments of the metric.
    neighbors : {"brute", "faiss"}, default "brute"
        `"faiss"` finds the neighbours that `support` or `max_rank` asks for with an index (extra
        `dataworth[ann]`), which is approximate: `recall` of the result says how good it was, and
        bounds take what was found for the nearest.
    neighbors_params : dict or None
        With faiss: `{"index": "HNSW32", "search": "efSearch=128"}`, the index by its factory string
        and its search parameters. The default is an inverted file.
    encoder : transformer, "auto" or None, default "auto"
        A scikit-learn transformer or pipeline, fitted in `fit` on training features and labels and
        applied to both sides; distances are then those between its outputs. `"auto"` is a
        `TableEncoder` for data frames and none for arrays; None is none.
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
    n_features_in_ : the number of features seen in `fit`; not set with precomputed distances or an
        encoder.
    encoder_ : the fitted encoder, if there is one.

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
        support: int | None = None,
        n_bits: int | None = 3,
        metric: str | Callable[[NDArray[Any], NDArray[Any]], float] | None = None,
        metric_params: dict[str, Any] | None = None,
        neighbors: Literal["brute", "faiss"] = "brute",
        neighbors_params: dict[str, str] | None = None,
        encoder: Any = "auto",
        multiclass: Literal["one-vs-one", "direct"] = "one-vs-one",
        radius: float | None = None,
        semivalue: str | tuple[str, float, float] = "shapley",
        max_rank: int | Literal["sqrt", "adaptive"] | None = None,
        adaptive_ratio: float = parameters.ADAPTIVE_RATIO,
        n_jobs: int | None = None,
        working_memory: float = 256,
        progress: bool = True,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.game = game
        self.weights = weights
        self.bandwidth = bandwidth
        self.support = support
        self.n_bits = n_bits
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.neighbors_params = neighbors_params
        self.encoder = encoder
        self.multiclass = multiclass
        self.radius = radius
        self.semivalue = semivalue
        self.max_rank = max_rank
        self.adaptive_ratio = adaptive_ratio
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Take the training points to be valued. Only an encoder is fitted; no value yet.

        Parameters
        ----------
        X : (n_train, n_features) numbers, dense or sparse, or what the encoder takes; None with
            precomputed distances. Sparse arrays stay sparse. float32 and float64 arrays in C order,
            memory maps too, are kept as they are, without a copy: do not change them afterwards.
            Arrays of zarr and h5py, and `ParquetRows`, are read a block at a time. Dask arrays stay
            on their workers; call `X.persist()` first, or they are made anew for every batch.
        y : (n_train,) labels: strings, integers or booleans. Whole floats count as integers. For
            regression, numbers.

        Returns
        -------
        self
        """
        parameters.check(self)
        for name in ("classes_", "n_features_in_", "feature_names_in_", "encoder_"):
            if hasattr(self, name):
                delattr(self, name)
        self.__dict__.pop("_valued", None)
        self._index: ann.Index | None = None
        away = X is not None and (is_dask(X) or is_source(X))
        parameters.check_source(self, X, away)
        self._origin = None if away else frames.origin(X)
        encoder = None if away else encoder_of(self.encoder, X)
        if self.metric == "precomputed":
            if X is not None:
                raise ValueError("X must be None with metric='precomputed'; got an array.")
            self._set_targets(y, None)
            self._points: Any = None
        elif away:
            room = int(self.working_memory * 2**20)
            points: Any = ShardedPoints(X) if is_dask(X) else Blocks(X, "X", room)
            self._set_targets(y, points.shape[0])
            self.n_features_in_ = points.shape[1]
            self._measured(points[0:1])
            self._points = points
        elif encoder is None:
            points = checks.matrix(X, "X", sparse=True)
            self._set_targets(y, points.shape[0])
            validate_data(self, X, skip_check_array=True)
            self._points = self._measured(points)
        else:
            self._set_targets(y, checks.rows(X, "X"))
            self.encoder_ = clone(encoder).fit(X, self._labels())
            self._points = self._measured(self._encoded(X))
        parameters.check_size(self, self._targets.size, self._n_classes())
        if self.neighbors == "faiss":
            parameters.check_source(self, self._points, False)
            cosine = parameters.metric(self) == "cosine"
            self._index = ann.Index(self._points, cosine, self.neighbors_params or {})
        self._raw = X
        self._fitted_with = self._what_fit_uses()
        return self

    def value(
        self,
        X_val: Any = None,
        y_val: Any = None,
        *,
        cv: Any = None,
        checkpoint: str | Path | None = None,
    ) -> DataValues:
        """Value the training points by how they serve validation points.

        Parameters
        ----------
        X_val : (n_val, n_features) numbers, or what the encoder takes; (n_val, n_train) with
            precomputed distances. Without it, and without `cv`, every training point in turn is
            the validation point for all others (leave-one-out).
        y_val : (n_val,) labels, each of which was seen in `fit`; numbers for regression.
        cv : int or splitter
            Cross-valuation: each fold in turn is the validation set for the others, on which an
            encoder is then fitted too. A number makes stratified folds of labels, plain ones of
            numbers, as in scikit-learn.
        checkpoint : folder
            Keep the state of the run there, and go on from it if the run was cut short: the same
            call gives the same bits as an undisturbed one.

        Returns
        -------
        DataValues
            One value per training point: the mean over the validation points.
        """
        check_is_fitted(self, "_fitted_with")
        parameters.check(self)
        if self._fitted_with != self._what_fit_uses():
            raise ValueError(
                "game, metric, encoder and neighbors must not change after fit; call fit again."
            )
        parameters.check_size(self, self._targets.size, self._n_classes())
        parts, folds = legs.of(self, X_val, y_val, cv)
        self._valued = (X_val, y_val, cv)
        bounded = plans.is_bounded(self, X_val)
        kept = None
        if checkpoint is not None:
            away = isinstance(self._points, Blocks | ShardedPoints)
            train = self._points.digest() if away else sources.content(self._raw)
            contents = [train, sources.content(X_val), sources.content(y_val)]
            data = joblib.hash((contents, self._labels(), folds))
            kept = Checkpoint(checkpoint, fingerprint(parameters.identity(self, data)))
        n_val = sum(leg.size for leg in parts)
        shape = (3 if bounded else 1, self._targets.size)
        total, error = runs.total(
            parts, shape, n_jobs=self.n_jobs, progress=self.progress, kept=kept
        )
        total = total / n_val
        return DataValues(
            values=total[0],
            lower=total[1] if bounded else total[0],
            upper=total[2] if bounded else total[0],
            index=frames.index(self._origin, self._targets.size),
            labels=self._labels(),
            params={k: parameters.plain(v) for k, v in self.get_params(deep=False).items()},
            n_validation=n_val,
            weight_error=error,
            recall=self._recall(X_val),
            version=dataworth.__version__,
            origin=self._origin,
        )

    @overload
    def explain(self, points: int) -> Explanation: ...
    @overload
    def explain(self, points: Sequence[int]) -> list[Explanation]: ...

    def explain(self, points: int | Sequence[int]) -> Explanation | list[Explanation]:
        """Say what points add to each validation point, and who their neighbours are.

        Explains the values of the last call of `value`, whose validation points are gone through
        once more; memory is that of n_val numbers for each point asked for.

        Parameters
        ----------
        points : the position of a training point, or several.

        Returns
        -------
        Explanation, or a list of them for several points.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
        >>> valuator = KNNShapley(n_neighbors=2).fit(X, y)
        >>> values = valuator.value([[0.0], [1.0]], ["a", "b"])
        >>> why = valuator.explain(4)
        >>> print(why.label, why.suggested, why.hurts["validation"])
        b a [0]
        """
        check_is_fitted(self, "_fitted_with")
        if not hasattr(self, "_valued"):
            raise ValueError("explain needs values: call value first.")
        several = np.ndim(points) > 0
        chosen = checks.positions(points if several else [points], "points", self._targets.size)
        parts, _ = legs.of(self, *self._valued)
        explained = explanation.explain(self, parts, chosen)
        return explained if several else explained[0]

    def _recall(self, X_val: Any) -> float | None:
        if self._index is None:
            return None
        queries = self._points if X_val is None else self._check_queries(X_val)
        recall = plans.recall(self, queries)
        if recall < LOW_RECALL:
            warnings.warn(
                f"neighbors='faiss' found {recall:.0%} of the nearest points only, and values are "
                "off accordingly; see neighbors_params.",
                stacklevel=3,
            )
        return recall

    def _measured(self, points: NDArray[Any]) -> NDArray[Any]:
        return neighbors.check_metric(points, parameters.metric(self), self.metric_params or {})

    def _encoded(self, X: Any) -> NDArray[Any]:
        return checks.matrix(self.encoder_.transform(X), "what encoder returns", sparse=True)

    def _what_fit_uses(self) -> tuple[Any, ...]:
        search = (self.neighbors, dict(self.neighbors_params or {}))
        return self.metric, self.metric_params, self.encoder, self.game == "regression", search

    def _n_classes(self) -> int:
        return 0 if self.game == "regression" else self.classes_.size

    def _labels(self) -> NDArray[Any]:
        """The training labels or targets as they were given."""
        return self._targets if self.game == "regression" else self.classes_[self._targets]

    def _set_targets(self, y: Any, rows: int | None) -> None:
        if self.game == "regression":
            self._targets: NDArray[Any] = checks.targets(y, "y", n_points=rows, of="X")
            return
        labels = checks.labels(y, "y", n_points=rows, of="X")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._targets = codes.astype(np.int64)

    def _check_val_targets(self, y_val: Any, rows: int) -> NDArray[Any]:
        if self.game == "regression":
            return checks.targets(y_val, "y_val", n_points=rows, of="X_val")
        labels = checks.labels(y_val, "y_val", n_points=rows, of="X_val")
        return checks.encode(labels, self.classes_, "y_val")

    def _check_queries(self, X_val: Any) -> NDArray[Any]:
        if X_val is not None and is_source(X_val):
            X_val = X_val[:]
        if self._points is None:
            queries = checks.matrix(
                X_val,
                "X_val",
                n_columns=self._targets.size,
                columns="one per training point",
                sparse=True,
            )
            if issparse(queries):
                checks.graph(X_val, "X_val")
            least = queries.data.min() if issparse(queries) else queries.min()
            if least < 0.0:
                raise ValueError(
                    f"X_val must hold distances with metric='precomputed'; got {least}."
                )
            return queries
        if hasattr(self, "encoder_"):
            checks.rows(X_val, "X_val")
            queries = self._encoded(X_val)
        else:
            queries = checks.matrix(
                X_val, "X_val", n_columns=self._points.shape[1], sparse=issparse(self._points)
            )
            validate_data(self, X_val, reset=False, skip_check_array=True)
        if issparse(self._points) and not issparse(queries):
            queries = csr_array(queries)
        return queries.astype(bool) if self._points.dtype == bool else queries
