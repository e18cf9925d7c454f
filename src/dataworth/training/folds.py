"""Folds: which validation points judge which training points.

A run has one fold if the validation points come from outside, or if every training point is judged
by all others. Cross-valuation has several, and so has an encoder that asks for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.model_selection import check_cv

from dataworth.arrays import Array, Ints
from dataworth.encoders.choice import own_folds
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import checks, frames
from dataworth.inputs.targets import Targets
from dataworth.neighbors.points import Chosen, Indexed, InMemory, Points, Rows
from dataworth.neighbors.weighed import Weighed
from dataworth.training.copies import training_points_among
from dataworth.training.training_set import Learned, TrainingSet


@dataclass(frozen=True)
class OpenedFold:
    """Everything that a run needs of a fold.

    Attributes
    ----------
    points : Points
        The training points that are judged.
    targets : Targets
        Their targets.
    queries : array or Rows
        The validation points.
    codes : (n_val,) array
        Their class codes, or numbers.
    own : (n_val,) array of int or None
        Their positions among `points`, so that no validation point judges itself; None if they are
        not among them.
    """

    points: Points
    targets: Targets
    queries: Array | Rows
    codes: Array
    own: Ints | None


class Fold(Protocol):
    """Validation points that judge the same training points."""

    @property
    def size(self) -> int:
        """The number of validation points."""

    @property
    def judged(self) -> Ints | slice:
        """The training points that they judge."""

    @property
    def positions(self) -> Ints:
        """The positions of the validation points, among those given or in the training set."""

    @property
    def inside(self) -> bool:
        """Whether the validation points are training points."""

    @property
    def n_sources(self) -> int:
        """How many points there are to judge: those given, or all training points."""

    def labels(self) -> Array:
        """Return the labels, or targets, of the validation points."""

    def open(self) -> OpenedFold:
        """Fit, read and encode whatever the fold needs."""


class Outside:
    """Validation points from outside judge all training points."""

    inside = False
    judged = slice(None)

    def __init__(self, training: TrainingSet, X_val: Any, y_val: Any) -> None:
        self._training = training
        self._queries = training.queries(X_val)
        self.size: int = self._queries.shape[0]
        self._codes = training.targets.read(y_val, self.size)
        self.positions, self.n_sources = np.arange(self.size), self.size

    @property
    def training_points(self) -> int:
        """How many of them are training points too, if they are more than chance makes likely."""
        points = self._training.points
        known = points.points if isinstance(points, Indexed) else points
        if not isinstance(known, InMemory | Weighed):
            return 0
        codes = self._training.targets.codes
        return training_points_among(known.array, codes, self._queries, self._codes)

    def labels(self) -> Array:
        """Return the labels, or targets, of the validation points."""
        return self._training.targets.names(self._codes)

    def open(self) -> OpenedFold:
        """Return what a run needs."""
        training = self._training
        return OpenedFold(training.points, training.targets, self._queries, self._codes, None)


class LeaveOneOut:
    """Every training point judges all others."""

    inside = True
    judged = slice(None)

    def __init__(self, training: TrainingSet) -> None:
        self._training = training.without_labels
        self.size = training.n_points
        if self.size < 2:
            raise InputError("X", "hold at least two points to value them without X_val")
        _ = self._training.points  # encodes them now, so that errors come early
        self.positions, self.n_sources = np.arange(self.size), self.size

    def labels(self) -> Array:
        """Return the labels, or targets, of the validation points."""
        return self._training.targets.given()

    def open(self) -> OpenedFold:
        """Return what a run needs."""
        points, targets = self._training.points, self._training.targets
        return OpenedFold(points, targets, points, targets.codes, self.positions)


class CrossFold:
    """Some training points judge others, with an encoder that has seen only these others.

    If nothing is learned from the points, they are not copied: all distances are computed, and
    those to the judged points are picked. What is learned is kept, so that opening the fold again
    fits nothing.
    """

    inside = True

    def __init__(self, training: TrainingSet, judged: Ints, judges: Ints) -> None:
        self._training, self.judged, self.positions = training, judged, judges
        self.size, self.n_sources = judges.size, training.n_points
        self._learned: Learned | None = None

    def labels(self) -> Array:
        """Return the labels, or targets, of the validation points."""
        return self._training.targets.given()[self.positions]

    def open(self) -> OpenedFold:
        """Return what a run needs."""
        whole = self._training
        if whole.encoder is None:
            points = whole.points.part(self.judged)
            if points is not None:
                targets = whole.targets.part(self.judged)
                codes = targets.read(self.labels(), self.size)
                queries = Chosen(whole.points, self.positions)
                return OpenedFold(points, targets, queries, codes, None)
        part = whole.part(self.judged, self._learned)
        self._learned = part.learned
        codes = part.targets.read(self.labels(), self.size)
        queries = part.queries(frames.take(whole.raw, self.positions))
        return OpenedFold(part.points, part.targets, queries, codes, None)


def folds(training: TrainingSet, X_val: Any, y_val: Any, cv: Any) -> Sequence[Fold]:
    """Return the folds of a run."""
    if X_val is not None or y_val is not None:
        if cv is not None:
            raise InputError("cv", "be None if X_val and y_val are given")
        return [Outside(training, X_val, y_val)]
    if training.settings.precomputed:
        raise InputError("X_val", "hold distances with metric='precomputed'", "got None")
    if cv is not None:
        return _cross_folds(training, cv)
    n_folds = own_folds(training.encoder)
    if n_folds is None:
        return [LeaveOneOut(training)]
    made = [CrossFold(training, *sides) for sides in _dealt(training.targets, n_folds)]
    made[0].open()  # fits the encoder now, so that errors come early
    return made


def check_own_folds(training: TrainingSet) -> None:
    """Refuse a label that stands alone, where the encoder has folds of its own."""
    if own_folds(training.encoder) is None:
        return
    if training.n_points < 2:
        raise InputError("X", "hold at least two points to value them without X_val")
    alone = _alone(training.targets)
    if alone is not None:
        name = training.settings.encoder_name
        raise InputError(
            "y",
            f"have two points of each class for {name}, which learns from some and judges others",
            f"only one point has the label {alone!r}",
            f"Leave it out, or {name}; use game='regression' if y holds quantities.",
        )


def again(training: TrainingSet, parts: Sequence[Fold]) -> Sequence[Fold]:
    """Return the same folds of the same points, which have other targets now."""
    made: list[Fold] = []
    for fold in parts:
        if isinstance(fold, CrossFold):
            made.append(CrossFold(training, fold.judged, fold.positions))
        else:
            made.append(LeaveOneOut(training))
    return made


def _alone(targets: Targets) -> Any:
    """Return a label that only one point has; None if there is none."""
    if not targets.stratified:
        return None
    names, counts = np.unique(targets.given(), return_counts=True)
    return names.tolist()[int(counts.argmin())] if counts.min() == 1 else None


def _dealt(targets: Targets, n_folds: int) -> list[tuple[Ints, Ints]]:
    """Deal the points to folds at random, class by class; return both sides of each fold."""
    n_points = targets.codes.size
    order = np.random.default_rng(0).permutation(n_points)
    if targets.stratified:
        order = order[np.argsort(targets.codes[order], kind="stable")]
    fold = np.empty(n_points, np.int64)
    fold[order] = np.arange(n_points) % min(n_folds, n_points)
    sides = ((fold != k, fold == k) for k in range(int(fold.max()) + 1))
    return [(np.flatnonzero(judged), np.flatnonzero(judges)) for judged, judges in sides]


def _cross_folds(training: TrainingSet, cv: Any) -> list[CrossFold]:
    labels = training.targets.given()
    if training.is_away:
        training.points.part(np.arange(1))  # raises an error if these points have no parts
    like = labels if training.is_away else training.raw
    made = []
    for judged, judges in _splits(cv, like, training.targets):
        fold = CrossFold(training, _positions(judged, labels.size), _positions(judges, labels.size))
        if not fold.judged.size:
            raise InputError("cv", "leave points to be judged in each fold", "one has none")
        if np.intersect1d(fold.judged, fold.positions).size:
            both = int(np.intersect1d(fold.judged, fold.positions)[0])
            raise InputError(
                "cv", "not let points judge themselves", f"point {both} is on both sides of a fold"
            )
        missing = np.setdiff1d(labels[fold.positions], labels[fold.judged])
        if training.targets.stratified and missing.size:
            raise _lacking(f"{missing.tolist()[0]!r} is missing in one")
        made.append(fold)
    if not any(fold.size for fold in made):
        raise InputError("cv", "give at least one fold with points that judge", "got none")
    return made


def _lacking(came: str) -> InputError:
    return InputError("cv", "leave points of every class in each training part", came)


def _splits(cv: Any, X: Any, targets: Targets) -> Iterator[tuple[Any, Any]]:
    """Yield the two sides of each fold, as the splitter gives them."""
    labels = targets.given()
    other = ", a splitter of scikit-learn, or a list of pairs of positions"
    if isinstance(cv, bool | float | np.bool_ | np.floating | str):
        checks.integer(cv, "cv", least=2, or_else=other)
    if isinstance(cv, int | np.integer):
        checks.integer(cv, "cv", least=2, most=labels.size, or_else=other)
        alone = _alone(targets)
        if alone is not None:
            raise _lacking(f"only one point has the label {alone!r}")
    try:
        splits = iter(check_cv(cv, labels, classifier=targets.stratified).split(X, labels))
    except (TypeError, ValueError):
        wanted = f"be a whole number of at least 2{other}"
        raise InputTypeError("cv", wanted, f"got {cv!r:.60}") from None
    while True:
        try:
            judged, judges = next(splits)
        except StopIteration:
            return
        except (TypeError, ValueError) as error:
            came = f"it says: {checks.reason(error)}"
            raise InputError("cv", "split the training points into folds", came) from error
        yield judged, judges


def _positions(given: Any, n_points: int) -> Ints:
    """One side of a fold: the positions of points, each once."""
    positions = np.asarray(given)
    if not positions.size:
        return np.empty(0, np.int64)
    if positions.dtype.kind not in "iu" or positions.ndim != 1:
        raise InputTypeError("cv", "give the positions of points", "got something else")
    bad = positions[(positions < 0) | (positions >= n_points)]
    if bad.size:
        raise InputError("cv", f"give positions from 0 to {n_points - 1}", f"got {bad[0]}")
    if np.unique(positions).size < positions.size:
        raise InputError("cv", "give each point once in a side of a fold", "some come twice")
    return positions.astype(np.int64)
