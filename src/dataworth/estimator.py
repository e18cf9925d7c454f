"""The estimator: it checks what it is given, builds the typed parts of a run and hands them on."""

import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, overload

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

import dataworth
from dataworth import explanation
from dataworth.arrays import Array
from dataworth.errors import InputError
from dataworth.explanation import Explanation
from dataworth.games.registry import DEFAULT_GAME, GAMES
from dataworth.games.semivalues import SEMIVALUES
from dataworth.games.ties import TIES
from dataworth.inputs import checks, frames
from dataworth.neighbors.approximate import LOW_RECALL, Approximate
from dataworth.neighbors.registry import SEARCHES
from dataworth.result import DataValues
from dataworth.run import adding_up
from dataworth.run.checkpoints import Checkpoint, fingerprint
from dataworth.run.job import Job
from dataworth.settings import ADAPTIVE_RATIO, Settings
from dataworth.training.folds import Fold, folds
from dataworth.training.training_set import TrainingSet, content
from dataworth.weights.functions import WEIGHTS
from dataworth.weights.weighting import WeightFunction


@dataclass(frozen=True)
class _LastRun:
    """What `explain` needs of the last call of `value`: the folds with all that they learned."""

    settings: Settings
    folds: Sequence[Fold]


class KNNShapley(BaseEstimator):
    """Exact Shapley values of training points for a nearest-neighbour model.

    Parameters
    ----------
    n_neighbors : int, default 5
        K: how many nearest points have a say; all of them where there are fewer.
    game : str, default "soft"
        What a set of training points is worth to a validation point.

        <games>
    weights : str or callable, default "rbf"
        How much a neighbour counts at its distance d, where d_1 is the nearest and d_N the farthest
        training point; the nearest counts 1.

        <weights>
        - A callable takes one row of sorted distances and returns weights in [0, 1], which are
          used as they are.
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
        `"hamming"` are the fast ones. None stands for the metric that the encoder brings, as
        `ForestLeaves` does, and else for `"euclidean"`.
    metric_params : dict or None
        Further arguments of the metric.
    neighbors : str or transformer, default "brute"
        How the neighbours of a validation point are found.

        <searches>
        - A neighbours transformer of scikit-learn or another library (`KNeighborsTransformer`,
          `PyNNDescentTransformer`), fitted on the training points or not, finds them; its
          `n_neighbors` must be at least what `support` or `max_rank` asks for, and its metric the
          one here.

        All but the first may be approximate: the distances of what they find are computed as
        ever, `recall` of the result says how much they found, and bounds take it for the nearest.
    neighbors_params : dict or None
        With faiss: `{"index": "HNSW32", "search": "efSearch=128"}`, the index by its factory string
        and its search parameters. The default is an inverted file.
    encoder : transformer, "auto" or None, default "auto"
        A scikit-learn transformer or pipeline, fitted on training features and labels and
        applied to both sides; distances are then those between its outputs. It is fitted when it
        is first needed, and in leave-one-out without labels. `"auto"` stands for a `TableEncoder`
        for data frames and for no encoder for arrays. With None, features are used as they are.
    multiclass : {"one-vs-one", "direct"}, default "one-vs-one"
        The hard game of more than two classes. `"one-vs-one"`: the mean, over all wrong classes,
        of the vote among the points of that class and the right one, K of them. `"direct"`: one
        vote among all classes, for up to four; slow beyond three.
    ties : str, default "right"
        What a tied vote of the hard game is worth; the vote of the empty set is tied too.

        <ties>
    radius : float or None
        Instead of the K nearest points, those within this distance have a say, however many; for
        uniform weights, the soft or regression game and no `max_rank`. `n_neighbors` is then not
        used.
    semivalue : str or tuple, default "shapley"
        How sets of different sizes count.

        <semivalues>
    max_rank : int, "sqrt", "adaptive" or None
        Rank only that many nearest training points for each validation point, `"sqrt"` being the
        square root of n_train: faster, and the result's `lower` and `upper` hold the exact value
        for certain, up to rounding. `"adaptive"` ranks four times as many until the interval is
        narrow, see `adaptive_ratio`; where it does not get narrow it ends with the exact values and
        costs up to a half more than they do. With None, values are exact.
    adaptive_ratio : float, default 0.1
        With `max_rank="adaptive"`: what is left out must be at most this share of the value for
        more than half of the points.
    n_jobs : int or None
        Threads, as in scikit-learn: None means 1, -1 all cores. The result is the same to the last
        bit whatever the number.
    working_memory : float, default 256
        MB that distances may take at a time. At least one row of n_train distances is held per
        thread, and never more than eight.
    progress : bool, default True
        Show a progress bar where work takes more than two seconds and a terminal is there.

    Attributes
    ----------
    classes_ : array
        The labels seen in `fit`, sorted; not set for regression.
    n_features_in_ : int
        The number of features seen in `fit`; not set with precomputed distances or an encoder.
    encoder_ : transformer
        The encoder, fitted on all training points and their labels, if there is one.

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
        game: str = DEFAULT_GAME,
        weights: str | WeightFunction = "rbf",
        bandwidth: float | Literal["auto"] = "auto",
        support: int | None = None,
        n_bits: int | None = 3,
        metric: str | Callable[[Array, Array], float] | None = None,
        metric_params: dict[str, Any] | None = None,
        neighbors: Any = "brute",
        neighbors_params: dict[str, str] | None = None,
        encoder: Any = "auto",
        multiclass: Literal["one-vs-one", "direct"] = "one-vs-one",
        ties: str = "right",
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
        self.support = support
        self.n_bits = n_bits
        self.metric = metric
        self.metric_params = metric_params
        self.neighbors = neighbors
        self.neighbors_params = neighbors_params
        self.encoder = encoder
        self.multiclass = multiclass
        self.ties = ties
        self.radius = radius
        self.semivalue = semivalue
        self.max_rank = max_rank
        self.adaptive_ratio = adaptive_ratio
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Take the training points to be valued.

        No value is computed yet, and an encoder is fitted only when it is first needed.

        Parameters
        ----------
        X : (n_train, n_features) array-like or None
            Numbers, dense or sparse, or what the encoder takes; None with precomputed distances.
            Sparse arrays stay sparse. float32 and float64 arrays in C order, memory maps too, are
            kept as they are, without a copy: do not change them afterwards. Arrays of zarr and
            h5py, and `ParquetRows`, are read a block at a time. Dask arrays stay on their workers;
            call `X.persist()` first, or they are made anew for every batch.
        y : (n_train,) array-like
            Labels: strings, integers or booleans. Whole floats count as integers. For regression,
            numbers.

        Returns
        -------
        self : KNNShapley
            The fitted valuator.
        """
        settings = Settings.of(self.get_params(deep=False))
        for name in ("classes_", "n_features_in_", "feature_names_in_", "_last"):
            if hasattr(self, name):
                delattr(self, name)
        training = TrainingSet.of(X, y, settings)
        if training.is_away:
            self.n_features_in_ = training.points.shape[1]
        elif training.encoder is None and not settings.precomputed:
            validate_data(self, X, skip_check_array=True)
        if not settings.game.numeric:
            self.classes_ = training.targets.names(np.arange(training.targets.n_classes))
        settings.check_size(training.n_points, training.targets.n_classes)
        self._origin = None if training.is_away else frames.origin(X)
        self._training = training
        return self

    @property
    def encoder_(self) -> Any:
        """The encoder, fitted on all training points and their labels."""
        check_is_fitted(self, "_training")
        if self._training.encoder is None:
            raise AttributeError("encoder_: this valuator has no encoder.")
        return self._training.fitted_encoder

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
        X_val : (n_val, n_features) array-like
            Numbers, or what the encoder takes; (n_val, n_train) distances with
            metric="precomputed". Without it, and without `cv`, every training point in turn is the
            validation point for all others (leave-one-out).
        y_val : (n_val,) array-like
            Labels, each of which was seen in `fit`; numbers for regression.
        cv : int or splitter
            Cross-valuation: each fold in turn is the validation set for the others, on which an
            encoder is then fitted too. A number makes stratified folds of labels, plain ones of
            numbers, as in scikit-learn.
        checkpoint : str or path-like
            A folder. The state of the run is kept there, and a run that was cut short goes on from
            it: the same call gives the same bits as an undisturbed one.

        Returns
        -------
        DataValues
            One value per training point: the mean over the validation points.
        """
        check_is_fitted(self, "_training")
        settings, training = Settings.of(self.get_params(deep=False)), self._training
        if training.settings.fixed_by_fit != settings.fixed_by_fit:
            raise InputError(
                "game, metric, encoder and neighbors",
                "not change after fit",
                hint="Call fit again.",
            )
        settings.check_size(training.n_points, training.targets.n_classes)
        partial = training.is_partial(X_val)
        settings.check_partial(partial)
        parts = folds(training, X_val, y_val, cv)
        if X_val is not None and hasattr(self, "n_features_in_"):
            validate_data(self, X_val, reset=False, skip_check_array=True)
        bounded = settings.is_bounded(partial)
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, self._fingerprint(settings, parts, X_val, y_val))
        shape = (3 if bounded else 1, training.n_points)
        total, error = adding_up.total(parts, settings, shape, kept)
        n_val = sum(fold.size for fold in parts)
        total = total / n_val
        self._last = _LastRun(settings, parts)
        return DataValues(
            values=total[0],
            lower=total[1] if bounded else total[0],
            upper=total[2] if bounded else total[0],
            index=frames.index(self._origin, training.n_points),
            labels=training.targets.given(),
            params=settings.facts(),
            n_validation=n_val,
            weight_error=error,
            recall=_recall(settings, parts),
            version=dataworth.__version__,
            origin=self._origin,
        )

    def _fingerprint(
        self, settings: Settings, parts: Sequence[Fold], X_val: Any, y_val: Any
    ) -> str:
        """What tells this run from any other: parameters, data, folds and version."""
        splits = [(fold.judged, fold.positions) for fold in parts]
        data = (self._training.digest(), content(X_val), content(y_val), splits)
        facts = {**settings.identity(), "data": joblib.hash(data), "version": dataworth.__version__}
        return fingerprint(facts)

    @overload
    def explain(self, points: int) -> Explanation: ...
    @overload
    def explain(self, points: Sequence[int]) -> list[Explanation]: ...

    def explain(self, points: int | Sequence[int]) -> Explanation | list[Explanation]:
        """Say what points add to each validation point, and who their neighbours are.

        Explains the values of the last call of `value` with the settings, folds and encoders of
        that call. Its validation points are gone through once more; memory is that of n_val numbers
        for each point asked for.

        Parameters
        ----------
        points : int or sequence of int
            The position of a training point, or several.

        Returns
        -------
        Explanation or list of Explanation
            One for each point asked for.

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
        check_is_fitted(self, "_training")
        if not hasattr(self, "_last"):
            raise ValueError("explain needs values: call value first.")
        several = np.ndim(points) > 0
        chosen = checks.positions(
            points if several else [points], "points", self._training.n_points
        )
        last = self._last
        explained = explanation.explain(self._training, last.settings, last.folds, chosen)
        return explained if several else explained[0]


def _recall(settings: Settings, parts: Sequence[Fold]) -> float | None:
    """What share of the nearest points an index finds; None where there is no index."""
    if not settings.indexed:
        return None
    opened = parts[0].open()
    search = Job.of(settings, opened).search
    assert isinstance(search, Approximate)
    recall = search.recall(opened.queries, parts[0].size)
    if recall < LOW_RECALL:
        warnings.warn(
            f"neighbors={settings.params['neighbors']!r} found {recall:.0%} of the nearest points "
            "only, and values are off accordingly; see neighbors_params.",
            stacklevel=3,
        )
    return recall


def _listed(entries: Iterable[tuple[str, str]]) -> str:
    """Entries of a registry as a list in the docstring of a parameter."""
    lines = [
        textwrap.fill(
            f"- `{name}`: {words[:-1] if words.endswith('.') else words}.",
            width=100,
            initial_indent=" " * 8,
            subsequent_indent=" " * 10,
            break_on_hyphens=False,
        )
        for name, words in entries
    ]
    return "\n".join(lines).lstrip()


def _described(doc: str) -> str:
    """The docstring with what the registries know."""
    words: Mapping[str, Iterable[tuple[str, str]]] = {
        "games": ((repr(kind.name), kind.words) for kind in GAMES.values()),
        "weights": ((repr(kind.name), kind.words) for kind in WEIGHTS.values()),
        "searches": ((repr(kind.name), kind.words) for kind in SEARCHES.values()),
        "ties": ((repr(rule.name), rule.words) for rule in TIES.values()),
        "semivalues": ((kind.written, kind.words) for kind in SEMIVALUES.values()),
    }
    for name, entries in words.items():
        doc = doc.replace(f"<{name}>", _listed(entries))
    return doc


if KNNShapley.__doc__:  # python -OO keeps no docstrings
    KNNShapley.__doc__ = _described(KNNShapley.__doc__)
