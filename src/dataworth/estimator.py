"""The estimator: it checks what it is given, builds the parts of a run and hands them on."""

import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, overload

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

import dataworth
from dataworth import explanation
from dataworth.arrays import Array, Table
from dataworth.errors import ReadingWarning
from dataworth.explanation import Explanation
from dataworth.games.registry import DEFAULT_GAME, GAMES
from dataworth.games.semivalues import SEMIVALUES
from dataworth.games.ties import TIES
from dataworth.inputs import checks, frames
from dataworth.inputs.groups import owner_codes
from dataworth.inputs.targets import are_quantities
from dataworth.neighbors.approximate import LOW_RECALL, Approximate
from dataworth.neighbors.registry import SEARCHES
from dataworth.owner_values import OwnerValues
from dataworth.result import DataValues
from dataworth.run import adding_up, workers
from dataworth.run.agreement import Agreement
from dataworth.run.checkpoints import Checkpoint, fingerprint
from dataworth.run.job import Job
from dataworth.run.owners import ROWS, OwnerPlan, plan
from dataworth.settings import ADAPTIVE_RATIO, Settings
from dataworth.training.folds import Fold, Outside, folds
from dataworth.training.judges import Judges
from dataworth.training.training_set import TrainingSet, content
from dataworth.weights.functions import WEIGHTS
from dataworth.weights.weighting import WeightFunction

LONG = 60.0  # seconds that a run may take without a word


@dataclass(frozen=True)
class _LastRun:
    """What `explain` needs of the last call of `value`, such as the folds with fitted encoders."""

    settings: Settings
    folds: Sequence[Fold]
    judges: Judges


class KNNShapley(BaseEstimator):
    """Exact Shapley values of training points for a nearest-neighbour model.

    Parameters
    ----------
    n_neighbors : int, default 5
        K: how many of the nearest points have a say. If there are fewer points, all of them do.
    game : str, default "soft"
        What a set of training points is worth to a validation point.

        <games>
    weights : str or callable, default "auto"
        How much a neighbour at distance d counts, where d_1 is the distance of the nearest and d_N
        that of the farthest training point. The nearest counts 1. `"auto"` takes the weights of
        the encoder if it has its own, as `OutOfBagForest` does, and otherwise `"rbf"`.

        <weights>
        - A callable takes one row of sorted distances and returns weights in [0, 1], which are
          used as they are.
    bandwidth : float or "auto", default "auto"
        The h of `"rbf"`. `"auto"` sets it anew for each validation point, to 0.3 times the
        difference between the median distance and the nearest one.
    support : int or None
        Only this many of the nearest training points have weight, or all if there are fewer.
        `"linear"` then falls to 0 at the last of them, the automatic bandwidth of `"rbf"` is 0.3
        times the difference between the distances of the last and the first, and a callable sees
        only their distances. Exact values need no more neighbours than these, however large the
        training set is.
    n_bits : int from 1 to 10, or None, default 3
        Weights are rounded to 2^n_bits levels. More of them cost little, except in the hard game.
        None keeps real weights, except in the hard game, which needs integers. Utilities then have
        a relative error of at most 1e-9, which the result states, and weights below 1e-300 of the
        largest (1e-140 for regression) count as 0. Uniform weights need no rounding.
    metric : str, callable or None
        Any metric of scikit-learn except `"nan_euclidean"`, a function of two points, or
        `"precomputed"`. With `"precomputed"`, call `fit(None, y)` and `value(D, y_val)`, where D
        holds distances in an array of shape (n_val, n_train), or in a sparse graph that stores the
        nearest neighbours of each validation point; points that are not stored count as farther.
        `"euclidean"`, `"cosine"` and `"hamming"` are the fastest. None stands for the metric of the
        encoder if it has one, as `ForestLeaves` does, and otherwise for `"euclidean"`.
    metric_params : dict or None
        More arguments of the metric.
    neighbors : str or transformer, default "brute"
        How the neighbours of a validation point are found.

        <searches>
        - A neighbours transformer of scikit-learn or another library (`KNeighborsTransformer`,
          `PyNNDescentTransformer`), fitted on the training points or not, finds the neighbours. Its
          metric must be the same as `metric`, and it must find one neighbour more than `support` or
          `max_rank` asks for, which may be the validation point itself; those of scikit-learn do
          with `n_neighbors` just so large.

        All but the first may be approximate. The distances of the points they find are computed as
        usual, the `recall` of the result says what share of the nearest points they found, and
        bounds assume that they found all of them.
    neighbors_params : dict or None
        With faiss, the factory string of the index and its search parameters, such as
        `{"index": "HNSW32", "search": "efSearch=128"}`. The default is an inverted file.
    encoder : transformer, "auto" or None, default "auto"
        A scikit-learn transformer or pipeline, fitted on training features and labels and applied
        to training and validation points alike. Distances are then those between its outputs. It is
        fitted when it is first needed; for leave-one-out it is fitted without labels, unless it is
        judged out of bag, as `OutOfBagForest` is. `"auto"` stands for a `TableEncoder` if X is a
        data frame, and for no encoder if X is an array. With None, features are used as they are.
    multiclass : {"one-vs-one", "direct"}, default "one-vs-one"
        How the hard game is played with more than two classes. `"one-vs-one"`: for each wrong
        class, the K nearest points of that class and the right one vote, and the utility is the
        mean over the wrong classes. `"direct"`: the points of all classes vote at once; it takes up
        to four classes and is slow beyond three.
    ties : str, default "right"
        What a tied vote of the hard game is worth; the vote of the empty set is tied too.

        <ties>
    class_weight : dict, "balanced" or None
        How much a validation point counts, by its label. `"balanced"` lets all classes count the
        same, however many validation points they have: each point counts n_val / (number of classes
        × number of validation points with its label), as in scikit-learn, which makes the values
        those of the game of balanced accuracy. A dict gives weights of at least 0 by label; labels
        that it leaves out count 1. With None, every point counts the same. This multiplies the
        `sample_weight` of `value`. Not for regression.
    radius : float or None
        All points within this distance have a say, instead of the K nearest, and `n_neighbors` is
        not used. This needs uniform weights, the soft or the regression game, and neither
        `max_rank` nor `support`.
    semivalue : str or tuple, default "shapley"
        How sets of different sizes count.

        <semivalues>
    max_rank : int, "sqrt", "adaptive" or None
        Rank only this many of the nearest training points for each validation point, `"sqrt"` being
        the square root of n_train. That is faster, and the exact values are certain to lie between
        `lower` and `upper` of the result, up to rounding. `"adaptive"` ranks four times as many
        until the interval is narrow (see `adaptive_ratio`). If it never gets narrow, values are
        exact in the end and cost up to half as much again. With None, values are exact.
    adaptive_ratio : float, default 0.1
        With `max_rank="adaptive"`, the interval of a point is narrow if the margin is at most this
        share of the value. More than half of the points must have a narrow one.
    n_jobs : int or None
        The number of threads, as in scikit-learn: None means 1, and -1 means all cores. The result
        is the same to the last bit whatever the number.
    working_memory : float, default 256
        How many MB distances may take at a time. At least one row of n_train distances is held per
        thread, and never more than eight.
    progress : bool, default True
        Whether to show a progress bar in a terminal or notebook if work takes more than two
        seconds.

    Attributes
    ----------
    classes_ : array
        The labels seen in `fit`, sorted. Not set for regression.
    n_features_in_ : int
        The number of features seen in `fit`. Not set with precomputed distances or an encoder.
    encoder_ : transformer
        The encoder, fitted on all training points and their labels. Not set without an encoder.

    Notes
    -----
    Each validation point takes time for the distances and then, with N training points, K
    neighbours and b bits, O(N log N) to rank the points, and for the game:

    <costs>

    The first 2K ranks of a weighted game cost up to 2K times as much each. Memory is
    O(N + K^2 2^b). Equal distances are ranked by the position of the training point.

    The very first call of each game compiles its kernels, which takes up to 30 seconds. The
    compiled code is kept on disk. Distances compare features as they are, so scale them first.

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
        weights: str | WeightFunction = "auto",
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
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
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
        self.class_weight = class_weight
        self.radius = radius
        self.semivalue = semivalue
        self.max_rank = max_rank
        self.adaptive_ratio = adaptive_ratio
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.progress = progress

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_training")

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
            Numbers, dense or sparse, or whatever the encoder takes; None with precomputed
            distances. Sparse arrays stay sparse. float32 and float64 arrays in C order, also memory
            maps, are kept without a copy, so do not change them afterwards. Arrays of zarr and
            h5py, and `ParquetRows`, are read a block at a time. Dask arrays stay on their workers;
            call `X.persist()` first, or they are computed anew for every batch.
        y : (n_train,) array-like
            Labels: strings, integers or booleans. Whole floats count as integers, and a warning
            says so if they are so many that they may be quantities. For regression, numbers.

        Returns
        -------
        self : KNNShapley
            The fitted valuator.
        """
        settings = Settings.of(self.get_params(deep=False))
        for name in ("classes_", "n_features_in_", "feature_names_in_", "_training", "_last"):
            if hasattr(self, name):
                delattr(self, name)
        training = TrainingSet.of(X, y, settings)
        if training.is_away:
            self.n_features_in_ = training.points.shape[1]
        elif training.encoder is None and not settings.precomputed:
            validate_data(self, X, skip_check_array=True)
        if not settings.game.numeric:
            self.classes_ = training.targets.names(np.arange(training.targets.n_classes))
            if are_quantities(training.targets.given()):
                warnings.warn(
                    f"y holds {self.classes_.size} different whole numbers, each of which is taken "
                    "for a class; use game='regression' if they are quantities, or make text of "
                    "them if they are classes.",
                    ReadingWarning,
                    stacklevel=2,
                )
        settings.check_size(training.n_points, training.targets.n_classes)
        self._origin = None if training.is_away else frames.origin(X)
        self._training = training
        return self

    @property
    def encoder_(self) -> Any:
        """The encoder, fitted on all training points and their labels."""
        check_is_fitted(self, "_training")
        if self._training.encoder is None:
            raise AttributeError("encoder_ is not set, because this valuator has no encoder.")
        return self._training.fitted_encoder

    def value(
        self,
        X_val: Any = None,
        y_val: Any = None,
        *,
        cv: Any = None,
        sample_weight: Any = None,
        checkpoint: str | Path | None = None,
    ) -> DataValues:
        """Value the training points by how they serve validation points.

        Parameters
        ----------
        X_val : (n_val, n_features) array-like
            Numbers, or whatever the encoder takes; (n_val, n_train) distances with
            metric="precomputed". Without X_val and `cv`, every training point in turn is the
            validation point for all others (leave-one-out).
            If many validation points are training points too, which would judge themselves, a
            warning says so.
        y_val : (n_val,) array-like
            Labels, each of which was seen in `fit`; numbers for regression.
        cv : int or splitter
            Cross-valuation: each fold in turn is the validation set for the others, and an encoder
            is fitted on these others. A number gives that many folds, stratified for labels and
            plain for numbers, as in scikit-learn.
        sample_weight : (n_val,) array-like
            How much each validation point counts: numbers of at least 0, not all of them 0. Without
            X_val, one per training point, which says how much it counts as a judge. Values are then
            the weighted mean over the validation points; agreement is not changed.
        checkpoint : str or path-like
            A folder in which the state of the run is saved. If the run is cut short, the same call
            goes on from there and gives the same bits as an undisturbed run.

        Returns
        -------
        DataValues
            One value per training point, which is the (weighted) mean over the validation points.
            Without
            X_val it also has the `agreement` of each point with the others.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
        >>> values = KNNShapley(n_neighbors=2, weights="uniform").fit(X, y).value()
        >>> values.agreement, values.suggested.tolist()
        (array([0.5, 0.5, 0.5, 0.5, 0. ]), ['a', 'a', 'b', 'b', 'a'])
        """
        settings, parts, judges, partial = self._prepared(X_val, y_val, cv, sample_weight)
        training = self._training
        bounded = settings.is_bounded(partial)
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, self._fingerprint(settings, parts, judges, X_val, y_val))
        shape = (3 if bounded else 1, training.n_points)
        _announce(settings, training, parts)
        agreement = Agreement(training.targets, parts) if parts[0].inside else None
        total, error = adding_up.total(
            parts, judges.factors, settings, shape, kept, agreement=agreement
        )
        total = total / judges.total
        self._remember(_LastRun(settings, parts, judges))
        return DataValues(
            values=total[0],
            lower=total[1] if bounded else total[0],
            upper=total[2] if bounded else total[0],
            index=frames.index(self._origin, training.n_points),
            labels=training.targets.given(),
            params=settings.facts(),
            n_validation=judges.factors.size,
            weight_error=error,
            recall=_recall(settings, parts),
            version=dataworth.__version__,
            origin=self._origin,
            agreement=None if agreement is None else agreement.mean(),
            suggested=None if agreement is None else agreement.suggested(),
        )

    def value_owners(
        self,
        groups: Any,
        X_val: Any = None,
        y_val: Any = None,
        *,
        cv: Any = None,
        sample_weight: Any = None,
        checkpoint: str | Path | None = None,
        method: Literal["auto", "exact", "sampling"] = "auto",
        tol: float | None = None,
        random_state: int = 0,
    ) -> OwnerValues:
        """Value whole data sets: owners are the players, and all points of an owner come at once.

        This is not the sum of the values of an owner's points, which lets single points arrive
        (`DataValues.by`); the result has that sum beside the value.

        Parameters
        ----------
        groups : (n_train,) array or series
            The owner of each training point: strings, integers or booleans, none of them missing
            or empty.
        X_val, y_val, cv, sample_weight, checkpoint
            As in `value`. In leave-one-out and cross-valuation, the points that judge are left out
            of the data of their owners, and of nobody else's.
        method : {"auto", "exact", "sampling"}
            `"exact"` goes through all sets of up to 12 owners, and multiplies polynomials for more
            of them: O(G K^3) for G owners after ranking, whatever the number of points.
            `"sampling"` draws random permutations of the owners, each with its reverse. `"auto"` is
            exact unless that would take seconds for each validation point, because of very many
            neighbours, or cannot be done, as for more than 12 owners with `multiclass="direct"` and
            more than two classes.
        tol : float or None
            Sampling ends once the standard error that it causes is at most this for each value, in
            units of the utility. None stands for 0.001, for regression times the variance of the
            training targets.
        random_state : int
            The seed of sampling.

        Returns
        -------
        OwnerValues
            One value per owner, which is the mean over the validation points, with its share,
            interval and pay-out.

        Notes
        -----
        Values need the K nearest points of each owner, so a sparse graph or an approximate search
        needs `support`, and there can be neither `max_rank` nor `radius`.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1]], ["a", "a", "b", "b"]
        >>> valuator = KNNShapley(n_neighbors=1, weights="uniform").fit(X, y)
        >>> owners = valuator.value_owners(["Ann", "Bob", "Bob", "Bob"], [[0.0], [1.2]], ["a", "b"])
        >>> owners.share, owners.point_share
        (array([0., 1.]), array([0.25, 0.75]))
        """
        settings, parts, judges, partial = self._prepared(X_val, y_val, cv, sample_weight)
        training = self._training
        settings.check_owners(partial)
        names, codes = owner_codes(groups, training.n_points)
        work = plan(settings, training.targets, codes, judges, method, tol, random_state)
        _announce(settings, training, parts)
        kept = None
        if checkpoint is not None:
            printed = self._fingerprint(settings, parts, judges, X_val, y_val, work)
            kept = Checkpoint(checkpoint, printed)
        shape = (ROWS, names.size)
        total, error = adding_up.total(parts, judges.factors, settings, shape, kept, work)
        mean, points = total[:2] / judges.total
        linear, squares, sampled = total[2:] / judges.squares
        spread = np.maximum(squares - mean * (2.0 * linear - mean), 0.0)
        n_val, n_judges = judges.factors.size, judges.number
        spread = spread * n_judges / (n_judges - 1) if n_judges > 1 else spread * np.nan
        self._remember(_LastRun(settings, parts, judges))
        return OwnerValues(
            owners=names,
            values=mean,
            n_points=np.bincount(codes, minlength=names.size),
            standard_error=np.sqrt(spread / judges.effective),
            sampling_error=np.sqrt(sampled / judges.effective),
            point_sums=points,
            exact=work.way != "sampling",
            params=settings.facts(),
            n_validation=n_val,
            weight_error=error,
            recall=_recall(settings, parts),
            version=dataworth.__version__,
            origin=self._origin,
        )

    def _prepared(
        self, X_val: Any, y_val: Any, cv: Any, sample_weight: Any
    ) -> tuple[Settings, Sequence[Fold], Judges, bool]:
        """Check a run; return its settings, folds and judges, and whether a search is partial."""
        check_is_fitted(self, "_training")
        settings, training = Settings.of(self.get_params(deep=False)), self._training
        training.settings.check_change(settings)
        settings.check_size(training.n_points, training.targets.n_classes)
        partial = training.is_partial(X_val, settings.limited)
        settings.check_partial(partial)
        parts = folds(training, X_val, y_val, cv)
        _check_judges(parts)
        if X_val is not None and hasattr(self, "n_features_in_"):
            validate_data(self, X_val, reset=False, skip_check_array=True)
        judges = Judges.of(settings, training.targets, parts, sample_weight)
        return settings, parts, judges, partial

    def _remember(self, run: _LastRun) -> None:
        """Keep a run for `explain`: the last of each thread, as threads may share an estimator."""
        alive = {thread.ident for thread in threading.enumerate()}
        kept = {ident: last for ident, last in getattr(self, "_last", {}).items() if ident in alive}
        own = threading.get_ident()
        kept.pop(own, None)
        self._last: dict[int | None, _LastRun] = {**kept, own: run}

    def _fingerprint(
        self,
        settings: Settings,
        parts: Sequence[Fold],
        judges: Judges,
        X_val: Any,
        y_val: Any,
        work: OwnerPlan | None = None,
    ) -> str:
        """Return a hash that tells this run from any other: parameters, data, folds and version."""
        splits = [(fold.judged, fold.positions) for fold in parts]
        data: tuple[Any, ...] = (self._training.digest(), content(X_val), content(y_val), splits)
        data = (*data, judges.factors)
        if work is not None:
            data = (*data, work.codes, work.way, work.sampling.tol, work.sampling.seed)
        facts = {**settings.identity(), "data": joblib.hash(data), "version": dataworth.__version__}
        return fingerprint(facts)

    @overload
    def explain(self, points: int) -> Explanation: ...
    @overload
    def explain(self, points: Sequence[int] | Table) -> list[Explanation]: ...

    def explain(self, points: int | Sequence[int] | Table) -> Explanation | list[Explanation]:
        """Say what points add to each validation point, and what their neighbours are.

        This explains the values of the last call of `value`, with the settings, folds and encoders
        of that call. All of its validation points are valued once more. Memory is n_val numbers for
        each point to explain.

        Parameters
        ----------
        points : int, sequence of int or structured array
            The position of a training point, or several positions, or a table of points such as
            `values.worst(3)`, whose field index names them.

        Returns
        -------
        Explanation or list of Explanation
            One explanation for one position, or a list for several.

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
            raise NotFittedError("explain needs values: call value first.")
        own = self._last.get(threading.get_ident())
        last = next(reversed(self._last.values())) if own is None else own
        several, n_points = np.ndim(points) > 0, self._training.n_points
        if isinstance(points, np.ndarray) and "index" in (points.dtype.names or ()):
            chosen = checks.places(points["index"], frames.index(self._origin, n_points), "points")
        else:
            chosen = checks.positions(points if several else [points], "points", n_points)
        explained = explanation.explain(
            self._training, last.settings, last.folds, last.judges.factors, chosen
        )
        return explained if several else explained[0]


def _check_judges(parts: Sequence[Fold]) -> None:
    """Warn if validation points are training points, which then vouch for themselves."""
    fold = parts[0]
    copies = fold.training_points if isinstance(fold, Outside) else 0
    if copies:
        warnings.warn(
            f"{copies} of the {fold.size} validation points are training points too, and judge "
            "themselves; value() without validation points lets each judge only the others.",
            ReadingWarning,
            stacklevel=4,
        )


def _announce(settings: Settings, training: TrainingSet, parts: Sequence[Fold]) -> None:
    """Warn of a run that will take long, and say what would make it cheaper."""
    n_val = sum(fold.size for fold in parts)
    each = settings.seconds(training.n_points, training.targets.n_classes)
    seconds = each * n_val / workers.count(settings.n_jobs)
    if seconds < LONG:
        return
    cheaper = ["a smaller n_neighbors"]
    if not settings.weighting.equal:
        cheaper.append("fewer n_bits" if settings.weighting.n_bits else "n_bits=8")
    if settings.max_rank is None:
        cheaper.append("max_rank='sqrt', which gives bounds")
    warnings.warn(
        f"this run will take about {_duration(seconds)}, as each of {n_val:,} validation points "
        f"takes {each:.2g} s; it would be cheaper with {' or '.join(cheaper)}.",
        stacklevel=3,
    )


def _duration(seconds: float) -> str:
    """Return a length of time in words, to two digits."""
    for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.2g} {name}"
    return f"{seconds:.2g} seconds"


def _recall(settings: Settings, parts: Sequence[Fold]) -> float | None:
    """Return the share of the nearest points that an index finds, or None without an index."""
    if not settings.indexed:
        return None
    opened = parts[0].open()
    search = Job.of(settings, opened).search
    assert isinstance(search, Approximate)
    recall = search.recall(opened.queries, parts[0].size)
    if recall < LOW_RECALL:
        warnings.warn(
            f"neighbors={settings.params['neighbors']!r} found only {recall:.0%} of the nearest "
            "points, so values are less accurate; let it search more, or use neighbors='brute'.",
            stacklevel=3,
        )
    return recall


def _listed(entries: Iterable[tuple[str, str]], indent: int = 8) -> str:
    """Return the entries of a registry as a list for a docstring."""
    lines = [
        textwrap.fill(
            f"- `{name}`: {words[:-1] if words.endswith('.') else words}.",
            width=100,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 2),
            break_on_hyphens=False,
        )
        for name, words in entries
    ]
    return "\n".join(lines).lstrip()


def _described(doc: str) -> str:
    """Fill the lists of the registries into the docstring."""
    words: Mapping[str, Iterable[tuple[str, str]]] = {
        "games": ((repr(kind.name), kind.words) for kind in GAMES.values()),
        "weights": ((repr(kind.name), kind.words) for kind in WEIGHTS.values()),
        "searches": ((repr(kind.name), kind.words) for kind in SEARCHES.values()),
        "ties": ((repr(rule.name), rule.words) for rule in TIES.values()),
        "semivalues": ((kind.written, kind.words) for kind in SEMIVALUES.values()),
    }
    for name, entries in words.items():
        doc = doc.replace(f"<{name}>", _listed(entries))
    costs = ((repr(kind.name), kind.cost) for kind in GAMES.values())
    return doc.replace("<costs>", _listed(costs, indent=4))


if KNNShapley.__doc__:  # python -OO keeps no docstrings
    KNNShapley.__doc__ = _described(KNNShapley.__doc__)
