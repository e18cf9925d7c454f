"""How one column of a table becomes features.

A column comes in a plain form, `Column`. The first of `KINDS` that takes it then learns
from it and makes its features. A new kind of column is one class with the methods of `ColumnKind`
and one entry in `KINDS`.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from dataworth.arrays import Array, Floats, Ints
from dataworth.blas import one_thread
from dataworth.encoders import spellings
from dataworth.encoders.reading import Column
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import exactness

CIRCLES = {"year": 365.2425 * 86400, "week": 7 * 86400, "day": 86400}  # their lengths in seconds
NEARLY = 0.95  # the share of entries that makes a column nearly numeric
FAINT = 0.1  # the length below which what few dimensions keep of a text is mostly noise
GAP = "\0missing"  # the level of a missing category; no file of text holds it


@dataclass(frozen=True)
class Limits:
    """How many features a column may become: the parameters of `TableEncoder`."""

    max_levels: int
    text_features: int


class ColumnKind(Protocol):
    """What was learnt from one column, and how it makes features of that column.

    Attributes
    ----------
    kind : str
        What `TableEncoder.kinds_` calls such a column.
    accepts : tuple of str
        What the column may hold when features are made of it, what it was fitted on first. A column
        that holds nothing is always accepted.
    """

    @property
    def kind(self) -> str: ...

    @property
    def accepts(self) -> tuple[str, ...]: ...

    @classmethod
    def takes(cls, column: Column, limits: Limits) -> bool:
        """Whether this is the kind for the column."""
        ...

    @classmethod
    def fit(cls, column: Column, limits: Limits) -> Self:
        """Learn from a column that has an entry."""
        ...

    def features(self, column: Column) -> Floats:
        """The features of each row, (n_rows, n_features)."""
        ...

    def endings(self) -> list[str]:
        """What follows the name of the column in that of each feature; "" for the bare name."""
        ...


@dataclass(frozen=True)
class Numbers:
    """Standardised numbers and whether they are missing.

    All are divided by the size of the largest first, so that no square overflows.
    """

    median: float
    size: float
    mean: float
    deviation: float
    large: Mapping[float, Any]
    kind = "number"
    accepts = ("numbers", "booleans")

    @classmethod
    def takes(cls, column: Column, limits: Limits) -> bool:
        return column.holds == "numbers"

    @classmethod
    def fit(cls, column: Column, limits: Limits) -> Self:
        median = float(np.median(column.entries[~column.missing]))
        filled = np.where(column.missing, median, column.entries)
        size = float(np.abs(filled).max()) or 1.0
        deviation = float((filled / size).std()) if np.ptp(filled / size) else 1.0
        return cls(median, size, float((filled / size).mean()), deviation, column.large)

    def filled(self, column: Column) -> Floats:
        """The numbers, with the median for those that are missing."""
        if column.holds in ("booleans", "nothing"):
            numbers = np.array([float(text == "True") for text in column.entries])
        else:
            exactness.told_apart(column.large.values(), "X", column.name, self.large)
            numbers = column.entries
        return np.where(column.missing, self.median, numbers)

    def features(self, column: Column) -> Floats:
        scaled = (self.filled(column) / self.size - self.mean) / self.deviation
        return np.column_stack([scaled, column.missing])

    def endings(self) -> list[str]:
        return ["", "missing"]


@dataclass(frozen=True)
class NearNumbers:
    """Text of which nearly all entries are numbers; the others count as missing."""

    line: Numbers
    others: tuple[str, ...]
    kind = "number"
    accepts = ("text", "numbers", "booleans", "categories")

    @classmethod
    def takes(cls, column: Column, limits: Limits) -> bool:
        """Text of many different numbers. A few different ones are levels of a category."""
        if column.holds != "text":
            return False
        times = Counter(column.present)
        known = [n for text, n in times.items() if spellings.number(text) is not None]
        many = Text.takes(column, limits) if len(known) == len(times) else len(known) > 10
        return many and sum(known) >= NEARLY * times.total()

    @classmethod
    def fit(cls, column: Column, limits: Limits) -> Self:
        others = tuple(text for text in column.present if spellings.number(text) is None)
        return cls(Numbers.fit(_as_numbers(column), limits), others)

    def features(self, column: Column) -> Floats:
        readable = column.holds in ("text", "categories")
        return self.line.features(_as_numbers(column) if readable else column)

    def endings(self) -> list[str]:
        return self.line.endings()


def _as_numbers(column: Column) -> Column:
    """A column of text with its numbers as numbers, and all else missing."""
    read = [spellings.number(text) for text in column.entries]
    entries = np.array([math.nan if x is None else x for x in read])
    return replace(column, holds="numbers", entries=entries, missing=np.isnan(entries))


@dataclass(frozen=True)
class Dates:
    """The time itself, and the angles of the year, the week and the day."""

    line: Numbers
    total: float
    kind = "date"
    accepts = ("dates",)

    @classmethod
    def takes(cls, column: Column, limits: Limits) -> bool:
        return column.holds == "dates"

    @classmethod
    def fit(cls, column: Column, limits: Limits) -> Self:
        loose = cls(Numbers.fit(column, limits), 1.0)
        spread = loose.features(column)[:, 1:].var(axis=0).sum()
        return cls(loose.line, math.sqrt(spread) or 1.0)

    def features(self, column: Column) -> Floats:
        seconds, line = self.line.filled(column), self.line.features(column)
        circles = [
            turn(2 * np.pi * (seconds % length) / length)
            for length in CIRCLES.values()
            for turn in (np.sin, np.cos)
        ]
        moment = np.column_stack([line[:, 0], *circles]) / self.total
        return np.column_stack([column.missing, moment])

    def endings(self) -> list[str]:
        return ["missing", "", *(f"{c}_{turn}" for c in CIRCLES for turn in ("sin", "cos"))]


@dataclass(frozen=True)
class Text:
    """Weights of words and letter sequences, learnt from each different text once, reduced.

    Only the direction of a text counts in the few dimensions left: long and short texts can say the
    same.
    """

    pipeline: Pipeline
    total: float
    kind = "text"
    accepts = ("text", "categories")

    @classmethod
    def takes(cls, column: Column, limits: Limits) -> bool:
        """Text of many different entries; text of few is a category."""
        if column.holds != "text":
            return False
        n_levels = len(set(column.entries))
        return bool(n_levels > min(limits.max_levels, (~column.missing).sum() / 2))

    @classmethod
    def fit(cls, column: Column, limits: Limits) -> Self:
        distinct, place = _distinct(column)
        words, letters = _weights(), _weights(analyzer="char_wb", ngram_range=(3, 4))
        terms = FeatureUnion([("words", words), ("letters", letters)])
        reduce = TruncatedSVD(min(limits.text_features, len(distinct)), random_state=0)
        pipeline = Pipeline([("terms", terms), ("reduce", reduce)])
        # If all texts are alike, scikit-learn divides by a variance of 0.
        with np.errstate(all="ignore"), one_thread():
            reduced = _directions(pipeline.fit_transform(distinct))[place]
        return cls(pipeline, math.sqrt(reduced.var(axis=0).sum()) or 1.0)

    def features(self, column: Column) -> Floats:
        distinct, place = _distinct(column)
        reduced = _directions(self.pipeline.transform(distinct))[place] / self.total
        return np.column_stack([reduced, column.missing])

    def endings(self) -> list[str]:
        return [*map(str, range(len(self.pipeline["reduce"].components_))), "missing"]


def _weights(**how: Any) -> Pipeline:
    """Tf-idf weights of words, or of other parts of a text."""
    counts = HashingVectorizer(n_features=2**14, alternate_sign=False, norm=None, **how)
    return make_pipeline(counts, TfidfTransformer(sublinear_tf=True))


def _directions(reduced: Floats) -> Floats:
    lengths = np.linalg.norm(reduced, axis=1, keepdims=True)
    return reduced / np.maximum(lengths, FAINT)


def _distinct(column: Column) -> tuple[list[str], Ints]:
    """The different texts of a column, and which of them each row has."""
    distinct = sorted(set(column.entries))
    number = {text: i for i, text in enumerate(distinct)}
    return distinct, np.array([number[text] for text in column.entries])


@dataclass(frozen=True)
class Levels:
    """A 0/1 feature for each level."""

    encoder: OneHotEncoder
    accepts: tuple[str, ...]
    kind = "category"

    @classmethod
    def takes(cls, column: Column, limits: Limits) -> bool:
        return column.holds in ("booleans", "categories", "text")

    @classmethod
    def fit(cls, column: Column, limits: Limits) -> Self:
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=2,
            max_categories=limits.max_levels + 1,  # the last is shared by all other levels
            sparse_output=False,
        )
        accepts = ("booleans",) if column.holds == "booleans" else ("categories", "text")
        return cls(encoder.fit(_levels(column)), accepts)

    def features(self, column: Column) -> Floats:
        return np.asarray(self.encoder.transform(_levels(column)), dtype=np.float64)

    def endings(self) -> list[str]:
        prefix = "level_"
        names = [n.removeprefix(prefix) for n in self.encoder.get_feature_names_out(["level"])]
        endings = ["missing" if name == GAP else name for name in names]
        if self.encoder.infrequent_categories_[0] is not None:  # they share the last feature
            endings[-1] = "other"
        return endings


def _levels(column: Column) -> Array:
    levels = [GAP if gone else v for v, gone in zip(column.entries, column.missing, strict=True)]
    return np.array(levels, dtype=object)[:, None]


# The first that takes a column encodes it: Levels takes the text that the others leave.
KINDS: tuple[type[ColumnKind], ...] = (Numbers, Dates, NearNumbers, Text, Levels)


def fitted(column: Column, limits: Limits) -> ColumnKind:
    """Fit the kind that takes a column.

    Parameters
    ----------
    column : Column
        A column with at least one entry that is not missing.
    limits : Limits
        How many features it may become.

    Returns
    -------
    ColumnKind
        What was learnt from the column.
    """
    for kind in KINDS:
        if kind.takes(column, limits):
            return kind.fit(column, limits)
    raise unreadable(column)


def features(part: ColumnKind, column: Column) -> Floats:
    """Make the features of a column that may differ from the one that was fitted.

    Parameters
    ----------
    part : ColumnKind
        What was learnt from the column of this name in training.
    column : Column
        The column now.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        The features of each row.
    """
    if column.holds in (*part.accepts, "nothing"):
        return part.features(column)
    if column.holds == "objects":
        raise unreadable(column)
    came = f"column {column.name!r} was {part.accepts[0]} and is {column.holds} now"
    raise InputError("X", "have columns of the kinds given to fit", came)


def unreadable(column: Column) -> InputTypeError:
    """The error about a column that no kind takes."""
    return InputTypeError(
        "X",
        "have columns of numbers, booleans, categories, dates or text",
        f"{column.name!r} has type {column.dtype}",
        "Leave it out, or pass an encoder that takes it.",
    )
