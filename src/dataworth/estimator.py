"""The estimator: it checks what it is given, builds the parts of a run and hands them on."""

import inspect
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self, overload

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

import dataworth
from dataworth import explanation, noticing
from dataworth.arrays import Array, Floats, Ints
from dataworth.docstrings import described
from dataworth.errors import InputError, ReadingWarning, near
from dataworth.explanation import Explanation
from dataworth.games.registry import DEFAULT_GAME
from dataworth.inputs import checks, frames
from dataworth.inputs.groups import owner_codes
from dataworth.inputs.listings import named_points
from dataworth.inputs.targets import are_quantities, quantities_as_text, variance
from dataworth.neighbors.approximate import LOW_RECALL, Approximate
from dataworth.notes import Notes, repeated
from dataworth.owner_values import OwnerValues
from dataworth.result import DataValues
from dataworth.run import adding_up
from dataworth.run.adding_up import Tally
from dataworth.run.announcement import announce
from dataworth.run.checkpoints import Checkpoint, fingerprint
from dataworth.run.job import Job
from dataworth.run.owners import ROWS, OwnerPlan, plan
from dataworth.run.owners import statistics as owner_statistics
from dataworth.run.playing import play
from dataworth.run.ruler import measured, plantings
from dataworth.settings import ADAPTIVE_RATIO, Settings
from dataworth.suspects.scores import score
from dataworth.training.folds import Fold, Outside
from dataworth.training.judges import Judges
from dataworth.training.representations import (
    Representation,
    check_unchanged,
    mean_of,
    represented,
    shares_of,
)
from dataworth.training.training_set import TrainingSet, content
from dataworth.weights.weighting import WeightFunction

_KEEPING = threading.Lock()


@dataclass(frozen=True)
class _LastRun:
    """What `explain` needs of the last call of `value`, such as the folds with fitted encoders."""

    shown: Sequence[Representation]
    judges: Judges
    shares: Floats  # how much each representation counts
    values: DataValues | None = None
    X_val: Any = None  # validation points as they were given


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
    n_bits : int from 1 to 10, "auto" or None, default "auto"
        Weights are rounded to 2^n_bits levels. More of them cost little, except in the hard game.
        `"auto"` stands for 3, and for 8 if the encoder brings weights of its own.
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
        judged out of bag, as `OutOfBagForest` is, or in folds of its own, as `LinearScores` is.
        `"auto"` stands for a `TableEncoder` if X is a
        data frame, and for no encoder if X is an array. With None, features are used as they are. A
        list of such encoders gives the mean of their games: values are means of the values with
        each, which makes them the Shapley values of the mean utility, and `by_encoder` of the
        result has those of each. Each counts by the fourth power of what it gains, so that one that
        misleads does not count: the mean agreement less that of chance if training points judge
        each other, and otherwise U(all) - U(none), the sum of its values.
    multiclass : {"one-vs-one", "direct"}, default "one-vs-one"
        How the hard game is played with more than two classes. `"one-vs-one"`: for each wrong
        class, the K nearest points of that class and the right one vote, and the utility is the
        mean over the wrong classes. `"direct"`: the points of all classes vote at once; it takes up
        to four classes and is slow beyond three.
    ties : str, default "right"
        What a tied vote of the hard game is worth; the vote of the empty set is tied too.

        <ties>
    center : bool, default True
        What a set predicts in the regression game if it is empty or has no weight: the mean of the
        training targets or, if False, 0, so that points are paid for the distance of the targets
        from 0. The mean is that of the points which are judged: with `cv` those of the other folds,
        and in leave-one-out all points but the one that judges.
    log : bool, default False
        Whether the regression game is played with the logarithms of the targets, which must be
        positive: prices and the like, where ten times too much is as wrong as a tenth of it.
        Values are the same as with `np.log(y)`, but targets and what is suggested in their place
        stay in their own units. What is suggested is then a weighted geometric mean.
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
        thread. If points are in memory, it is no more than eight rows, or 65,536 distances if rows
        are short, or 64 rows of up to 64 MB if points have many features.
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
        The encoder, fitted on all training points and their labels. Not set without an encoder. A
        list, with None for none, if `encoder` is a list.

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
        n_bits: int | Literal["auto"] | None = "auto",
        metric: str | Callable[[Array, Array], float] | None = None,
        metric_params: dict[str, Any] | None = None,
        neighbors: Any = "brute",
        neighbors_params: dict[str, str] | None = None,
        encoder: Any = "auto",
        multiclass: Literal["one-vs-one", "direct"] = "one-vs-one",
        ties: str = "right",
        center: bool = True,
        log: bool = False,
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
        self.center = center
        self.log = log
        self.class_weight = class_weight
        self.radius = radius
        self.semivalue = semivalue
        self.max_rank = max_rank
        self.adaptive_ratio = adaptive_ratio
        self.n_jobs = n_jobs
        self.working_memory = working_memory
        self.progress = progress

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trained")

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
        every = Settings.each(self.get_params(deep=False))
        for name in ("classes_", "n_features_in_", "feature_names_in_", "_trained", "_last"):
            if hasattr(self, name):
                delattr(self, name)
        trained = [TrainingSet.of(X, y, settings) for settings in every]
        settings, training = every[0], trained[0]
        if training.is_away:
            self.n_features_in_ = training.points.shape[1]
        elif not settings.precomputed and any(t.encoder is None for t in trained):
            validate_data(self, X, skip_check_array=True)
        if not settings.game.numeric:
            self.classes_ = training.targets.names(np.arange(training.targets.n_classes))
            said = quantities_as_text(training.targets.given())
            if said:
                warnings.warn(
                    f"y holds {said}; each different one is taken for a class. Make numbers of "
                    "them and use game='regression' if they are quantities.",
                    ReadingWarning,
                    stacklevel=2,
                )
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
        self._target = getattr(y, "name", None)
        self._trained = trained
        return self

    @property
    def _training(self) -> TrainingSet:
        """The training set, as the first encoder shows it."""
        return self._trained[0]

    @property
    def encoder_(self) -> Any:
        """The encoder, fitted on all training points and their labels."""
        check_is_fitted(self, "_trained")
        if isinstance(self.encoder, list):
            return [training.fitted_encoder for training in self._trained]
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
        ruler: int | None = None,
        checkpoint: str | Path | None = None,
    ) -> DataValues:
        """Value the training points by how they serve validation points.

        Parameters
        ----------
        X_val : (n_val, n_features) array-like
            Numbers, or whatever the encoder takes; (n_val, n_train) distances with
            metric="precomputed". Without X_val and `cv`, every training point in turn is the
            validation point for all others (leave-one-out), or for those of other folds where an
            encoder has `own_folds`, as `LinearScores` has.
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
        ruler : int or None
            How often to plant errors, to learn how many labels are wrong: 3 will do. Each time
            about one label in twenty is changed at random (in regression, to the target of another
            point), everything is valued again in the same folds, with encoders fitted again, and
            the result's `ruler` says where the planted errors landed. Each repeat takes as long as
            the run itself. Only without X_val.
        checkpoint : str or path-like
            A folder in which the state of the run is saved. If the run is cut short, the same call
            goes on from there and gives the same bits as an undisturbed run. Repeats of the ruler
            have folders of their own in it.

        Returns
        -------
        DataValues
            One value per training point, which is the (weighted) mean over the validation points.
            Without X_val it also has the `agreement` of each point with the others.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
        >>> values = KNNShapley(n_neighbors=2, weights="uniform").fit(X, y).value()
        >>> values.agreement, values.suggested.tolist()
        (array([0.5, 0.5, 0.5, 0.5, 0. ]), ['a', 'a', 'b', 'b', 'a'])
        """
        shown, judges = self._prepared(X_val, y_val, cv, sample_weight)
        targets, n = self._training.targets, self._training.n_points
        planned = [] if ruler is None else plantings(ruler, targets, shown)
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, _fingerprint(shown, judges, X_val, y_val))
        announce(shown, 1 + len(planned))
        played = play(shown, judges, kept)

        def scored(repeat: int, again: Sequence[Representation]) -> Floats:
            first, kept = again[0], None
            judges = Judges.of(first.settings, first.training.targets, first.folds, sample_weight)
            if checkpoint is not None:
                folder = Path(checkpoint, f"ruler-{repeat}")
                kept = Checkpoint(folder, _fingerprint(again, judges, None, None))
            found = play(again, judges, kept)
            return score(found.values, found.agreement)

        known = measured(planned, shown, scored) if planned else None
        most = _affordable(judges.factors.size * n)
        made = DataValues(
            values=played.values,
            lower=played.lower,
            upper=played.upper,
            index=frames.index(self._origin, n),
            labels=targets.given(),
            params=self._facts(shown),
            n_validation=judges.factors.size,
            weight_error=played.weight_error,
            recall=_recall(shown),
            version=dataworth.__version__,
            origin=self._origin,
            agreement=played.agreement,
            suggested=played.suggested,
            by_encoder=self._by_encoder(shown, played.by_game),
            notes=self._noticed([one.settings for one in shown], None, most),
            ruler=known,
        )
        self._remember(_LastRun(shown, judges, played.shares, made, X_val))
        return made

    def _noticed(
        self, now: Sequence[Settings], groups: Ints | None, most: float | None
    ) -> Notes | None:
        """Look at the rows, as `noticing.notice` does."""
        found = noticing.notice(tuple(zip(self._trained, now, strict=True)), groups, most)
        if found is None or self._origin is None or self._origin.index is None:
            return found
        return replace(found, repeated_id=repeated(frames.index(self._origin, len(found))))

    def notes(self, groups: Any = None) -> Notes:
        """Look for rows that are copies of others, and for rows that are far from all others.

        That takes all distances between rows, in memory bounded by `working_memory`.

        `value` looks for copies too, and for far rows when its notes are read or shown. It leaves
        these out where they could take longer than the run: among more than 2,000 rows if that
        needs more than four times the distances of the run, among more than 10,000, by an encoder
        of your own, and by a metric that is a function.

        Parameters
        ----------
        groups : (n_train,) array or series, or None
            The group of each row, such as its owner. Rows of different groups that are nearly the
            same are then looked for as well: look for copies before you pay.

        Returns
        -------
        Notes
            Copies, those with another label, and rows far from all others. The latter are not
            looked for if the encoder needs labels, as `ForestLeaves` does.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X = [[0.0], [0.31], [0.52], [0.7], [0.52 + 1e-12], [1.0]]
        >>> valuator = KNNShapley(n_neighbors=2).fit(X, ["a", "a", "a", "b", "a", "b"])
        >>> notes = valuator.notes(["Ann", "Ann", "Ann", "Bob", "Bob", "Bob"])
        >>> notes.near_copy_of
        array([-1, -1,  4, -1,  2, -1])
        """
        check_is_fitted(self, "_trained")
        now = Settings.each(self.get_params(deep=False))
        check_unchanged(now, self._trained)
        codes = None if groups is None else owner_codes(groups, self._training.n_points)[1]
        found = self._noticed(now, codes, None)
        if found is None:
            raise InputError("X", "be in memory to look for copies, not distances or blocks")
        return found

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
            or empty. Names that differ in any character are different owners.
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
            The seed of sampling. The result does not hold it.

        Returns
        -------
        OwnerValues
            One value per owner, which is the mean over the validation points, with its share,
            interval and pay-out.

        Notes
        -----
        Values need the K nearest points of each owner, so a sparse graph or an approximate search
        needs `support`, and there can be neither `max_rank` nor `radius`. Points at equal distances
        are ranked by position: if their labels differ, the order of the rows changes values. With a
        list of encoders, each game counts by what all owners gain in it, and not by agreement as in
        `value`.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1]], ["a", "a", "b", "b"]
        >>> valuator = KNNShapley(n_neighbors=1, weights="uniform").fit(X, y)
        >>> owners = valuator.value_owners(["Ann", "Bob", "Bob", "Bob"], [[0.0], [1.2]], ["a", "b"])
        >>> owners.share, owners.point_share
        (array([0., 1.]), array([0.25, 0.75]))
        """
        shown, judges = self._prepared(X_val, y_val, cv, sample_weight)
        for one in shown:
            one.settings.check_owners(one.partial)
        names, codes = owner_codes(groups, self._training.n_points)
        numeric = shown[0].settings.game.numeric
        work = [
            plan(one.settings, one.training.targets, codes, judges, method, tol, random_state)
            for one in shown
        ]
        announce(shown, owners=work)
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, _fingerprint(shown, judges, X_val, y_val, work))
        games = [
            Tally(
                one.settings,
                one.folds,
                judges.factors[judges.places(one.folds)],
                np.zeros((ROWS, names.size)),
                one_plan,
            )
            for one, one_plan in zip(shown, work, strict=True)
        ]
        adding_up.total(games, kept)
        each = [owner_statistics(game.sums, judges) for game in games]
        shares = shares_of([float(one[0].sum()) for one in each])
        found = mean_of(each, shares)
        if getattr(self, "_last", {}).get(threading.get_ident()) is None:
            self._remember(_LastRun(shown, judges, shares))
        return OwnerValues(
            owners=names,
            values=found[0],
            n_points=np.bincount(codes, minlength=names.size),
            standard_error=found[1],
            sampling_error=found[2],
            point_sums=found[3],
            exact=all(one.way != "sampling" for one in work),
            scale=variance(self._training.targets.codes) if numeric else 1.0,
            params=self._facts(shown),
            n_validation=judges.factors.size,
            weight_error=float(shares @ [game.worst[0] for game in games]),
            recall=_recall(shown),
            version=dataworth.__version__,
            origin=self._origin,
        )

    def _prepared(
        self, X_val: Any, y_val: Any, cv: Any, sample_weight: Any
    ) -> tuple[list[Representation], Judges]:
        """Check a run, and return its representations and judges."""
        check_is_fitted(self, "_trained")
        now = Settings.each(self.get_params(deep=False))
        shown = represented(now, self._trained, X_val, y_val, cv)
        first = shown[0]
        _check_judges(first.folds)
        if X_val is not None and hasattr(self, "n_features_in_"):
            validate_data(self, X_val, reset=False, skip_check_array=True)
        return shown, Judges.of(now[0], first.training.targets, first.folds, sample_weight)

    def _facts(self, shown: Sequence[Representation]) -> dict[str, Any]:
        """Return the parameters as a file holds them."""
        facts = shown[0].settings.facts()
        if isinstance(self.encoder, list):  # which may differ in what stands for "auto"
            each = [one.settings.facts() for one in shown]
            for name in ("encoder", "weights", "n_bits"):
                facts[name] = [one[name] for one in each]
        return facts

    def _by_encoder(
        self, shown: Sequence[Representation], values: Sequence[Floats]
    ) -> dict[str, Floats] | None:
        """Return the values by the names of the encoders; the second of a name has a 2, and so on.

        None without a list of encoders.
        """
        if not isinstance(self.encoder, list):
            return None
        found: dict[str, Floats] = {}
        names = [one.settings.encoder_name for one in shown]
        for i, name in enumerate(names):
            before = names[:i].count(name)
            found[f"{name} {before + 1}" if before else name] = values[i]
        return found

    def _remember(self, run: _LastRun) -> None:
        """Keep a run for `explain`: the last of each thread, as threads may share an estimator."""
        alive, own = {thread.ident for thread in threading.enumerate()}, threading.get_ident()
        with _KEEPING:
            last = getattr(self, "_last", {})
            kept = {ident: one for ident, one in last.items() if ident in alive - {own}}
            self._last: dict[int | None, _LastRun] = {**kept, own: run}

    @overload
    def explain(self, points: int) -> Explanation: ...
    @overload
    def explain(self, points: Any) -> list[Explanation]: ...

    def explain(self, points: Any) -> Explanation | list[Explanation]:
        """Say what points add to each validation point, and what their neighbours are.

        This explains the values of the last call of `value`, with the settings, folds and encoders
        of that call. All of its validation points are valued once more. Memory is n_val numbers for
        each point to explain.

        Parameters
        ----------
        points : int, sequence of int, or table
            The position of a training point, or several positions, or a table of points such as
            `values.worst(3)`, whose column index names them.

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
        last = self._last_run("explain")
        named, n_points = named_points(points), self._training.n_points
        several = named is not None or np.ndim(points) > 0
        if named is not None:
            chosen = checks.places(named, frames.index(self._origin, n_points), "points")
        else:
            chosen = checks.positions(points if several else [points], "points", n_points)
        explained = explanation.explain(last.shown, last.shares, last.judges, chosen)
        return explained if several else explained[0]

    def _last_run(self, what: str) -> _LastRun:
        """Return the last run of this thread or, if it has none, of another."""
        check_is_fitted(self, "_trained")
        if not hasattr(self, "_last"):
            raise NotFittedError(f"{what} needs values: call value first.")
        own = self._last.get(threading.get_ident())
        return next(reversed(self._last.values())) if own is None else own

    def report(
        self,
        path: str | os.PathLike[str],
        columns: Any = None,
        *,
        rows: int = 500,
        **options: Any,
    ) -> None:
        """Write a full report about the values of the last call of `value`, as one HTML file.

        The page lists the least valuable points with their columns, ids and labels, says why they
        are there and what their neighbours suggest, and takes decisions. All of them are explained
        first, for which all validation points are valued once more.

        Parameters
        ----------
        path : str or path
            The file to write.
        columns : mapping of str to sequence, data frame or None
            What to show of the training points; None shows them as they were given to `fit`.
        rows : int
            How many of the least valuable points the table has, from 1 to 2,000.
        **options
            Anything else that `dataworth.report.write` takes: `group`, `by`, `image`, `title`,
            `owners` and so on. Labels are named after the series that `fit` got, ids are the index
            of a pandas frame, and validation points are those given to `value`.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
        >>> valuator = KNNShapley(n_neighbors=2).fit(X, y)
        >>> values = valuator.value()
        >>> with TemporaryDirectory() as folder:
        ...     valuator.report(Path(folder, "report.html"))
        """
        from dataworth.report import given, table, write

        last = self._last_run("report")
        if last.values is None:
            raise NotFittedError("report needs values of points: call value first.")
        rows = checks.integer(rows, "rows", least=1, most=table.MOST_ROWS)
        taken = {"values", "explanations"}  # the valuator has them
        known = [name for name in inspect.signature(write).parameters if name not in taken]
        for name in options:
            if name not in known:
                raise TypeError(f"report has no option {name!r}. {near(name, known)}".rstrip())
        own = given.Given.of(
            last.values, self._training.raw, columns, options.get("label", self._target)
        )
        judges: Any = "train"
        if not last.shown[0].folds[0].inside:
            judges = given.columns_of(last.X_val, "X_val") or None
        usual = {"label": own.label, "ids": own.ids, "validation": judges}
        why = self.explain(table.worth_explaining(last.values, rows))
        write(path, last.values, own.columns, explanations=why, rows=rows, **{**usual, **options})


def _fingerprint(
    shown: Sequence[Representation],
    judges: Judges,
    X_val: Any,
    y_val: Any,
    work: Sequence[OwnerPlan] = (),
) -> str:
    """Return a hash that tells a run from any other: parameters, data, folds and version."""
    splits = [(fold.judged, fold.positions) for one in shown for fold in one.folds]
    owners = [(one.codes, one.way, one.sampling.tol, one.sampling.seed) for one in work]
    digests = [one.training.digest() for one in shown]
    data = (digests, content(X_val), content(y_val), splits, judges.factors, owners)
    return fingerprint(
        {
            "games": [one.settings.identity() for one in shown],
            "data": joblib.hash(data),
            "version": dataworth.__version__,
        }
    )


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


def _affordable(distances: float) -> float:
    """Return how many distances a look at the rows may take after a run of so many."""
    return max(2e3**2, min(4.0 * distances, 1e4**2))


def _recall(shown: Sequence[Representation]) -> float | None:
    """Return the share of the nearest points that indexes find, or None without an index."""
    settings = shown[0].settings
    if not settings.indexed:
        return None
    recalls = []
    for one in shown:
        opened = one.folds[0].open()
        search = Job.of(one.settings, opened).search
        assert isinstance(search, Approximate)
        recalls.append(search.recall(opened.queries, one.folds[0].size))
    recall = float(np.mean(recalls))
    if recall < LOW_RECALL:
        warnings.warn(
            f"neighbors={settings.params['neighbors']!r} found only {recall:.0%} of the nearest "
            "points, so values are less accurate; let it search more, or use neighbors='brute'.",
            stacklevel=3,
        )
    return recall


if KNNShapley.__doc__:  # python -OO keeps no docstrings
    KNNShapley.__doc__ = described(KNNShapley.__doc__)
