"""Tables of mixed columns as points among which near means alike."""

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from dataworth.inputs import checks, frames

Matrix = NDArray[np.float64]
YEAR, WEEK, DAY = 365.2425 * 86400, 7 * 86400, 86400
GAP = "\0missing"  # the level of a missing category; no file of text holds it


class TableEncoder(TransformerMixin, BaseEstimator):
    """Columns of any kind as numbers that distances can compare.

    It is what `KNNShapley` uses for data frames unless it is told otherwise. It learns nothing
    from labels. Each column counts alike: its features have a total variance of 1, or a little less
    for categories, where two points of different levels have a squared distance of 2, as two
    random points have in a standardised number.

    - Numbers and durations: standardised; missing ones become the median, and where there are any
      in training, a 0/1 feature says so.
    - Booleans and categories, and text of few different entries: one 0/1 feature for each level
      seen more than once, the most frequent ones; the others, and levels never seen in training,
      share one. Missing is a level of its own.
    - Dates: the time itself, and the place in the year, the week and the day as points on
      circles.
    - Other text: tf-idf weights of the letter sequences of length 3 and 4 in its words, hashed,
      and reduced to the directions that matter most.
    - Columns that are the same in every row, or all missing, are left out.

    Parameters
    ----------
    max_levels : int, default 40
        The most levels of a category that get a feature. Text with more different entries than
        this, or more than one for every two rows, is not a category but text.
    text_features : int, default 16
        The features of a column of text.

    Attributes
    ----------
    kinds_ : what each column was taken for, by name: "number", "category", "date", "text" or
        "constant".
    n_features_out_ : the number of features.

    Examples
    --------
    >>> import pandas
    >>> table = pandas.DataFrame({"age": [31, None, 58, 44], "paid": [True, False, True, True]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.kinds_
    {'age': 'number', 'paid': 'category'}
    >>> encoder.transform(table).shape  # the age, whether it is missing, and two levels
    (4, 4)
    """

    def __init__(self, *, max_levels: int = 40, text_features: int = 16) -> None:
        self.max_levels = max_levels
        self.text_features = text_features

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn medians, levels and letter sequences; `y` is not used."""
        checks.integer(self.max_levels, "max_levels", least=1)
        checks.integer(self.text_features, "text_features", least=1)
        table = self._table(X)
        self.kinds_: dict[Any, str] = {}
        self._parts: dict[Any, tuple[_Part, NDArray[np.bool_]]] = {}
        for column in table.iter_columns():
            content = _Content.of(column)
            self.kinds_[column.name] = "constant"
            if content.kind == "empty":
                continue
            part = self._part(content)
            varied = np.ptp(part.features(content), axis=0) > 0.0
            if varied.any():
                self._parts[column.name] = part, varied
                self.kinds_[column.name] = part.kind
        if not self._parts:
            raise ValueError(
                "X must have a column that differs between rows; all "
                f"{table.shape[1]} are constant, missing or different categories in each row."
            )
        self.n_features_out_ = sum(int(varied.sum()) for _, varied in self._parts.values())
        return self

    def transform(self, X: Any) -> Matrix:
        """The features of each row. Columns are found by name; ones never seen are not used."""
        check_is_fitted(self, "kinds_")
        table = self._table(X)
        given = {column.name: column for column in table.iter_columns()}
        lacking = [repr(name) for name in self.kinds_ if name not in given]
        if lacking:
            more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
            raise ValueError(
                f"X must have the columns given to fit; missing: {', '.join(lacking[:5])}{more}."
            )
        blocks = []
        for name, (part, varied) in self._parts.items():
            content = _Content.of(given[name])
            if content.kind not in (*part.accepts, "empty"):
                raise ValueError(
                    f"X must have columns of the kinds given to fit; column {name!r} was "
                    f"{_SAID[part.accepts[0]]} and is {_SAID[content.kind]} now."
                )
            blocks.append(part.features(content)[:, varied])
        return np.hstack(blocks)

    def _part(self, content: "_Content") -> "_Part":
        if content.kind == "number":
            return _Numbers.fit(content)
        if content.kind == "date":
            return _Dates.fit(content)
        if content.kind == "text":
            n_levels = len(set(content.items))
            if n_levels > min(self.max_levels, (~content.missing).sum() / 2):
                return _Text.fit(content, self.text_features)
        return _Levels.fit(content, self.max_levels)

    @staticmethod
    def _table(X: Any) -> "nw.DataFrame[Any]":
        table = frames.frame(X)
        if table is None:
            raise TypeError(
                f"X must be a data frame of pandas, polars or pyarrow; got {type(X).__name__}."
            )
        if 0 in table.shape:
            raise ValueError(
                f"X must hold at least one point and one column; got shape {table.shape}."
            )
        return table


_SAID = {
    "number": "numbers",
    "date": "dates",
    "text": "text",
    "category": "categories",
    "boolean": "booleans",
}


@dataclass(frozen=True)
class _Content:
    """A column in plain form: float64 numbers (seconds for times) or a list of strings."""

    kind: str
    items: Any
    missing: NDArray[np.bool_]

    @classmethod
    def of(cls, column: "nw.Series[Any]") -> "_Content":
        missing = frames.missing(column)
        if missing.all():
            return cls("empty", [""] * len(missing), missing)
        items, dtype = frames.plain_column(column), column.dtype
        if isinstance(items, np.ndarray) and items.dtype.kind in "Mm":
            kind = "date" if items.dtype.kind == "M" else "number"
            unit = items.astype(f"{items.dtype.kind}8[us]").astype(np.int64) / 1e6
            return cls(kind, np.where(missing, np.nan, unit), missing)
        if dtype.is_numeric():
            return cls._numbers(items, missing, column.name)
        if dtype == nw.Boolean:
            kind = "boolean"
        elif dtype == nw.String:
            kind = "text"
        elif dtype in (nw.Categorical, nw.Enum):
            kind = "category"
        else:
            kind, items = _of_objects(column, items, missing)
        if kind in ("number", "date"):
            return cls._numbers(items, missing, column.name, kind)
        texts = ["" if gone else str(v) for v, gone in zip(items, missing, strict=True)]
        return cls(kind, texts, missing)

    @classmethod
    def _numbers(
        cls, items: Any, missing: NDArray[np.bool_], name: Any, kind: str = "number"
    ) -> "_Content":
        numbers = np.array(items, dtype=np.float64)
        numbers[missing] = np.nan
        if np.isinf(numbers).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0])
            raise ValueError(
                f"X must be finite; column {name!r} is {numbers[row]} in row {row} (from 0)."
            )
        return cls(kind, numbers, missing)


def _of_objects(
    column: "nw.Series[Any]", items: list[Any], missing: NDArray[np.bool_]
) -> tuple[str, list[Any]]:
    """What a column of Python objects holds, as pandas keeps dates and booleans with gaps."""
    present = [v for v, gone in zip(items, missing, strict=True) if not gone]

    def every(*types: type) -> bool:
        return all(isinstance(v, types) for v in present)

    def mapped(function: Any) -> list[Any]:
        return [math.nan if gone else function(v) for v, gone in zip(items, missing, strict=True)]

    if every(bool, np.bool_):
        return "boolean", items
    if every(Real, Decimal):
        return "number", mapped(float)
    if every(time):
        return "number", mapped(lambda t: _seconds(datetime.combine(date(1970, 1, 1), t)))
    if every(date):
        return "date", mapped(_seconds)
    if every(str, Real):
        return "text", items
    raise TypeError(
        f"X must have columns of numbers, booleans, categories, dates or text; {column.name!r} has "
        f"type {column.dtype}. Leave it out, or pass an encoder that takes it."
    )


def _seconds(day: date) -> float:
    if isinstance(day, datetime) and day.tzinfo is not None:
        day = day.astimezone(UTC).replace(tzinfo=None)
    return float(np.datetime64(day, "us").astype(np.int64)) / 1e6


class _Part(Protocol):
    """What was learnt from one column, and how it makes features of it."""

    @property
    def kind(self) -> str: ...

    @property
    def accepts(self) -> tuple[str, ...]: ...

    def features(self, content: _Content) -> Matrix: ...


@dataclass(frozen=True)
class _Numbers:
    """Standardised numbers and whether they are missing.

    All are divided by the size of the largest first, so that no square overflows.
    """

    median: float
    size: float
    mean: float
    deviation: float
    kind = "number"
    accepts = ("number", "boolean")

    @classmethod
    def fit(cls, content: _Content) -> "_Numbers":
        median = float(np.median(content.items[~content.missing]))
        filled = np.where(content.missing, median, content.items)
        size = float(np.abs(filled).max()) or 1.0
        deviation = float((filled / size).std()) if np.ptp(filled / size) else 1.0
        return cls(median, size, float((filled / size).mean()), deviation)

    def filled(self, content: _Content) -> Matrix:
        """The numbers, the median where they are missing."""
        if content.kind in ("boolean", "empty"):
            numbers = np.array([float(text == "True") for text in content.items])
        else:
            numbers = content.items
        return np.where(content.missing, self.median, numbers)

    def features(self, content: _Content) -> Matrix:
        scaled = (self.filled(content) / self.size - self.mean) / self.deviation
        return np.column_stack([scaled, content.missing])


@dataclass(frozen=True)
class _Dates:
    """Seconds since 1970, and the angles of the year, the week and the day."""

    line: _Numbers
    total: float
    kind = "date"
    accepts = ("date",)

    @classmethod
    def fit(cls, content: _Content) -> "_Dates":
        loose = cls(_Numbers.fit(content), 1.0)
        spread = loose.features(content)[:, 1:].var(axis=0).sum()
        return cls(loose.line, math.sqrt(spread) or 1.0)

    def features(self, content: _Content) -> Matrix:
        seconds, line = self.line.filled(content), self.line.features(content)
        circles = [
            turn(2 * np.pi * (seconds % length) / length)
            for length in (YEAR, WEEK, DAY)
            for turn in (np.sin, np.cos)
        ]
        moment = np.column_stack([line[:, 0], *circles]) / self.total
        return np.column_stack([content.missing, moment])


@dataclass(frozen=True)
class _Levels:
    """A 0/1 feature for each level."""

    encoder: OneHotEncoder
    accepts: tuple[str, ...]
    kind = "category"

    @classmethod
    def fit(cls, content: _Content, max_levels: int) -> "_Levels":
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=2,
            max_categories=max_levels + 1,  # the last is that of the others
            sparse_output=False,
        )
        accepts = ("boolean",) if content.kind == "boolean" else ("category", "text")
        return cls(encoder.fit(_levels(content)), accepts)

    def features(self, content: _Content) -> Matrix:
        return np.asarray(self.encoder.transform(_levels(content)), dtype=np.float64)


def _levels(content: _Content) -> NDArray[Any]:
    levels = [GAP if gone else v for v, gone in zip(content.items, content.missing, strict=True)]
    return np.array(levels, dtype=object)[:, None]


@dataclass(frozen=True)
class _Text:
    """Weights of letter sequences, learnt from each different text once, in few dimensions."""

    pipeline: Pipeline
    total: float
    kind = "text"
    accepts = ("text", "category")

    @classmethod
    def fit(cls, content: _Content, n_features: int) -> "_Text":
        distinct, place = _distinct(content)
        pipeline = Pipeline(
            [
                (
                    "letters",
                    HashingVectorizer(
                        analyzer="char_wb",
                        ngram_range=(3, 4),
                        n_features=2**14,
                        alternate_sign=False,
                        norm=None,
                    ),
                ),
                ("weights", TfidfTransformer(sublinear_tf=True)),
                ("reduce", TruncatedSVD(min(n_features, len(distinct)), random_state=0)),
            ]
        )
        with np.errstate(all="ignore"):  # where all texts are alike it divides by no variance
            reduced = pipeline.fit_transform(distinct)[place]
        return cls(pipeline, math.sqrt(reduced.var(axis=0).sum()) or 1.0)

    def features(self, content: _Content) -> Matrix:
        distinct, place = _distinct(content)
        reduced = self.pipeline.transform(distinct)[place] / self.total
        return np.column_stack([reduced, content.missing])


def _distinct(content: _Content) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts of a column, and which of them each row has."""
    distinct = sorted(set(content.items))
    number = {text: i for i, text in enumerate(distinct)}
    return distinct, np.array([number[text] for text in content.items])
