"""Tables of mixed columns as points among which near means alike."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from dataworth.arrays import Array, Flags, Floats
from dataworth.encoders import columns, ids
from dataworth.encoders.columns import ColumnKind, Limits
from dataworth.encoders.reading import Column
from dataworth.errors import InputError, InputTypeError, ReadingWarning
from dataworth.inputs import checks, exactness, frames

NAMES_ROWS = "seems to name rows"  # how notes about columns of ids begin


class TableEncoder(TransformerMixin, BaseEstimator):
    """Columns of any kind as numbers that distances can compare.

    It is what `KNNShapley` uses for data frames unless it is told otherwise. It learns nothing
    from labels. Each column counts alike: its features have a total variance of 1, or a little less
    for categories, where two points of different levels have a squared distance of 2, as two
    random points have in a standardised number.

    - Numbers and durations: standardised; missing ones become the median, and if any are missing
      in training, a 0/1 feature says which.
    - Booleans and categories, and text of few different entries: one 0/1 feature for each level
      seen more than once, the most frequent ones; the others, and levels never seen in training,
      share one. Missing is a level of its own.
    - Dates: the time itself, and the place in the year, the week and the day as points on
      circles.
    - Other text: tf-idf weights of its words and of the letter sequences of length 3 and 4 in
      them, hashed, and reduced to the dimensions that matter most (latent semantic analysis), in
      which the direction of a text counts and not its length.
    - Columns that are the same in every row, or all missing, are left out.

    Text is looked at first. ISO dates and times such as 9:46 are read as such. If nearly all
    entries are numbers, those that are not ("n.k.") count as missing, and a `ReadingWarning` says
    so.

    An array is a table of numbers, whose columns are named 0, 1, 2 and so on.

    Parameters
    ----------
    max_levels : int, default 40
        The most levels of a category that get a feature. Text with more different entries than
        this, or more than one for every two rows, is not a category but text.
    text_features : int, default 50
        The features of a column of text.

    Attributes
    ----------
    kinds_ : dict
        What each column was taken for, by name: "number", "category", "date", "text" or
        "constant".
    notes_ : dict
        What to know about how columns were read, by name: those that are nearly numeric, that seem
        to name rows, or that are left out.
    n_features_in_ : int
        The number of columns given to `fit`.
    feature_names_in_ : ndarray of str
        The names of the columns, if `fit` was given a data frame whose names are all strings.
    n_features_out_ : int
        The number of features.

    Examples
    --------
    >>> import pandas
    >>> from dataworth import TableEncoder
    >>> table = pandas.DataFrame({"age": [31, None, 58, 44], "paid": [True, False, True, False]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.kinds_
    {'age': 'number', 'paid': 'category'}
    >>> encoder.transform(table).shape
    (4, 4)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age_missing', 'paid_False', 'paid_True']
    """

    def __init__(self, *, max_levels: int = 40, text_features: int = 50) -> None:
        self.max_levels = max_levels
        self.text_features = text_features

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, levels, words and letter sequences.

        Parameters
        ----------
        X : data frame or series of pandas, polars or pyarrow, or array of numbers
            The training points, one in each row.
        y : None
            Not used.

        Returns
        -------
        TableEncoder
            The encoder itself.
        """
        limits = Limits(
            checks.integer(self.max_levels, "max_levels", least=1),
            checks.integer(self.text_features, "text_features", least=1),
        )
        given = self._columns(X, reset=True)
        if len(next(iter(given.values()))) == 1:
            raise InputError("X", "hold at least two points to learn from", "got one sample")
        kinds: dict[Any, str] = {}
        notes: dict[Any, str] = {}
        parts: dict[Any, tuple[ColumnKind, Flags]] = {}
        for name, entries in given.items():
            column = Column.of(name, entries)
            kinds[name] = "constant"
            notes[name] = "is the same in all rows, so it is left out"
            if column.holds == "nothing":
                continue
            part = columns.fitted(column, limits)
            varied = np.ptp(part.features(column), axis=0) > 0.0
            if varied.any():
                parts[name] = part, varied
                kinds[name] = part.kind
                notes[name] = _note(column, part)
        if not parts:
            raise InputError(
                "X",
                "have a column that differs between rows",
                f"all {len(given)} are constant, missing or different categories in each row",
            )
        self.kinds_, self._parts = kinds, parts
        self.notes_ = {name: said for name, said in notes.items() if said}
        self.n_features_out_ = sum(int(varied.sum()) for _, varied in parts.values())
        return self

    def transform(self, X: Any) -> Floats:
        """Make the features of each row.

        Parameters
        ----------
        X : data frame or series of pandas, polars or pyarrow, or array of numbers
            The points. Columns of a data frame are found by name, in any order; further columns
            are not used.

        Returns
        -------
        ndarray of shape (n_points, n_features_out_)
            The features, float64.
        """
        check_is_fitted(self, "n_features_out_")
        given = self._columns(X, reset=False)
        lacking = [repr(name) for name in self.kinds_ if name not in given]
        if lacking:
            more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
            came = f"missing: {', '.join(lacking[:5])}{more}"
            raise InputError("X", "have the columns given to fit", came)
        blocks = [
            columns.features(part, Column.of(name, given[name]))[:, varied]
            for name, (part, varied) in self._parts.items()
        ]
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Name the features after their columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns. By default those given to `fit`, or x0, x1 and so on if they
            are not strings.

        Returns
        -------
        ndarray of str
            The name of each feature, all different: "age", "age_missing", "city_Rome".
        """
        check_is_fitted(self, "n_features_out_")
        said = dict(zip(self.kinds_, _check_feature_names_in(self, input_features), strict=True))
        names: list[str] = []
        for column, (part, varied) in self._parts.items():
            endings = np.array(part.endings(), dtype=object)[varied]
            names += [f"{said[column]}_{ending}" if ending else said[column] for ending in endings]
        return np.array(list(_told_apart(names)), dtype=object)

    def _columns(self, X: Any, *, reset: bool) -> dict[Any, "nw.Series[Any] | Floats"]:
        """The columns of X by name, not yet read; `reset` in `fit`, which remembers their names."""
        table = frames.frame(X)
        if table is None:
            return dict(enumerate(self._numbers(X, reset=reset).T))
        if 0 in table.shape:
            came = f"got shape {table.shape}"
            raise InputError("X", "hold at least one point and one column", came)
        given: dict[Any, Any] = {column.name: column for column in table.iter_columns()}
        if reset:
            self.n_features_in_ = len(given)
            self.__dict__.pop("feature_names_in_", None)
            if all(isinstance(name, str) for name in given):
                self.feature_names_in_ = np.array(list(given), dtype=object)
        return given

    def _numbers(self, X: Any, *, reset: bool) -> Floats:
        """An array of numbers, checked by scikit-learn; its words say what is wrong with others."""
        came = f"got {type(X).__name__}"
        if not reset and hasattr(self, "feature_names_in_"):
            raise InputTypeError("X", "be a data frame like the one given to fit", came)
        if X is None or isinstance(X, np.ma.MaskedArray):  # whose mask would be lost
            raise InputTypeError("X", "be a data frame or a plain array of numbers", came)
        if isinstance(X, np.ndarray):
            exactness.check(X, "X")
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                dtype=np.float64,
                ensure_all_finite="allow-nan",
            )
        except (TypeError, ValueError) as error:
            kind = InputTypeError if isinstance(error, TypeError) else InputError
            wanted = "be a data frame or a two-dimensional array of numbers"
            raise kind("X", wanted, str(error).strip().rstrip(".")) from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _note(column: Column, part: ColumnKind) -> str:
    """What to know about how a column was read, or nothing; misread entries are a warning too."""
    if isinstance(part, columns.NearNumbers) and part.others:
        first = next(iter(dict.fromkeys(part.others)))
        said = (
            f"is nearly numeric: {len(part.others)} of {len(column.missing)} entries are not "
            f"numbers, such as {first!r:.40}, and count as missing"
        )
        warnings.warn(f"column {column.name!r} {said}.", ReadingWarning, stacklevel=3)
        return said
    if ids.looks_like_ids(column):
        return f"{NAMES_ROWS}: hardly any entry comes twice"
    if ids.is_named_like_ids(column.name):
        return f"{NAMES_ROWS}: its own name says so"
    return ""


def kinds_in_words(kinds: Mapping[Any, str]) -> str:
    """Say in a line what the columns of a table were taken for.

    Parameters
    ----------
    kinds : mapping
        `TableEncoder.kinds_`.

    Returns
    -------
    str
        The number of features and of each kind of them.

    Examples
    --------
    >>> from dataworth.encoders.tables import kinds_in_words
    >>> kinds_in_words({"age": "number", "size": "number", "city": "category"})
    '3 features: 2 numbers, 1 category'
    """
    counts = Counter(kinds.values())
    parts = [
        f"{counts[kind]} {one if counts[kind] == 1 else many}"
        for kind, one, many in (
            ("number", "number", "numbers"),
            ("category", "category", "categories"),
            ("date", "date", "dates"),
            ("text", "text", "texts"),
            ("constant", "constant", "constant"),
        )
        if counts[kind]
    ]
    return f"{len(kinds)} feature{'' if len(kinds) == 1 else 's'}: {', '.join(parts)}"


def _told_apart(names: list[str]) -> Iterator[str]:
    """The names with a number behind those that came before: a level can be called "missing"."""
    seen: set[str] = set()
    for name in names:
        numbered = (f"{name}_{i}" for i in count(2))
        seen.add(told := next(n for n in chain([name], numbered) if n not in seen))
        yield told
