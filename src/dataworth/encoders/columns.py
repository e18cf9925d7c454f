"""How one column of a table becomes features.

A column is first read into a plain form, `Column`. The first of `KINDS` that takes it then learns
from it and makes its features. A new kind of column is one class with the methods of `ColumnKind`
and one entry in `KINDS`.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol, Self

import narwhals as nw
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from dataworth.arrays import Array, Flags, Floats, Ints
from dataworth.blas import one_thread
from dataworth.encoders import spellings
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import exactness, frames

CIRCLES = {"year": 365.2425 * 86400, "week": 7 * 86400, "day": 86400}  # their lengths in seconds
NEARLY = 0.95  # the share of entries that makes a column nearly numeric, or nearly unique
MANY = 100  # rows of which some would have the same income, or the same remark
NAME_WORDS = 4  # the most words that names of rows have, and sentences do not
WHOLE = ("int", "uint", "decimal", "object")  # types of columns of whole numbers, as ids are
_NAMED = re.compile(r"(?i:id|pid|uuid|guid|index|key|.+[_ .-]id)|.*[a-z](Id|ID)")
FAINT = 0.1  # the length below which what few dimensions keep of a text is mostly noise
GAP = "\0missing"  # the level of a missing category; no file of text holds it


@dataclass(frozen=True)
class Limits:
    """How many features a column may become: the parameters of `TableEncoder`."""

    max_levels: int
    text_features: int


@dataclass(frozen=True)
class Column:
    """The entries of one column in plain form.

    Parameters
    ----------
    name : object
        The name of the column.
    holds : str
        "numbers", "dates", "booleans", "categories" or "text"; "nothing" if all entries are
        missing, and "objects" if they are none of these.
    entries : ndarray of float64, or list
        Numbers, and seconds since 1970 for dates, with NaN for missing ones. Strings for booleans,
        categories and text, empty for missing ones. Python objects as they are.
    missing : ndarray of bool
        Which entries are missing.
    dtype : str
        The type of the column in its own library.
    large : mapping of float to number
        The numbers that a float64 may round, by what they become. No two become the same.
    """

    name: Any
    holds: str
    entries: Any
    missing: Flags
    dtype: str
    large: Mapping[float, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: Any, given: "nw.Series[Any] | Floats") -> Self:
        """Read a column of a data frame, or of an array of numbers.

        Parameters
        ----------
        name : object
            The name of the column.
        given : narwhals Series or ndarray of float64
            Its entries; those of an array are finite or NaN.

        Returns
        -------
        Column
            The entries in plain form.
        """
        dtype = str(given.dtype)
        missing = np.isnan(given) if isinstance(given, np.ndarray) else frames.missing(given)
        if missing.all():
            return cls(name, "nothing", [""] * len(missing), missing, dtype)
        if isinstance(given, np.ndarray):
            # As one run of memory: sums over strided numbers may round differently.
            return cls(name, "numbers", np.ascontiguousarray(given), missing, dtype)
        holds, entries = _read(given, missing)
        large: Mapping[float, Any] = {}
        if holds in ("numbers", "dates"):
            entries = _finite(entries, missing, name)
            large = exactness.told_apart(_large(given), "X", name)
        elif holds != "objects":
            entries = ["" if gone else str(v) for v, gone in zip(entries, missing, strict=True)]
        if holds == "text":
            holds, entries = _read_text(entries, missing)
        return cls(name, holds, entries, missing, dtype, large)


def _large(column: "nw.Series[Any]") -> list[Any]:
    """The numbers of a column that a float64 may round."""
    if column.dtype.is_integer():
        return exactness.large(column.drop_nulls().to_numpy())
    # Unknown to narwhals are decimals of 256 bits.
    exact = column.dtype.is_decimal() or column.dtype in (nw.Object, nw.Unknown)
    return exactness.large(column.drop_nulls().to_list()) if exact else []


def _read(column: "nw.Series[Any]", missing: Flags) -> tuple[str, Any]:
    """What a column holds, and its entries."""
    entries, dtype = frames.plain_column(column), column.dtype
    if isinstance(entries, np.ndarray) and entries.dtype.kind in "Mm":
        holds = "dates" if entries.dtype.kind == "M" else "numbers"
        return holds, entries.astype(f"{entries.dtype.kind}8[us]").astype(np.int64) / 1e6
    if dtype.is_numeric():
        return "numbers", entries
    if dtype == nw.Boolean:
        return "booleans", entries
    if dtype == nw.String:
        return "text", entries
    if dtype in (nw.Categorical, nw.Enum):
        return "categories", entries
    return _read_objects(entries, missing)


def _read_objects(entries: list[Any], missing: Flags) -> tuple[str, list[Any]]:
    """What Python objects hold: pandas keeps dates, and booleans with gaps, as objects."""
    present = [v for v, gone in zip(entries, missing, strict=True) if not gone]

    def every(*types: type) -> bool:
        return all(isinstance(v, types) for v in present)

    def mapped(function: Any) -> list[Any]:
        return [math.nan if gone else function(v) for v, gone in zip(entries, missing, strict=True)]

    if every(bool, np.bool_):
        return "booleans", entries
    if every(Real, Decimal):
        return "numbers", mapped(exactness.near)
    if every(time):
        return "numbers", mapped(lambda t: spellings.seconds(datetime.combine(date(1970, 1, 1), t)))
    if every(date):
        return "dates", mapped(spellings.seconds)
    if every(str, Real):
        return "text", entries
    return "objects", entries


def _read_text(entries: list[str], missing: Flags) -> tuple[str, Any]:
    """What text holds: dates and times of day may come as text, as they do from pandas."""
    distinct = {v for v, gone in zip(entries, missing, strict=True) if not gone}
    for holds, read in (("dates", spellings.day), ("numbers", spellings.clock)):
        known = {v: read(v) for v in distinct} if read(next(iter(distinct))) is not None else {}
        if known and None not in known.values():
            return holds, np.array([known.get(v, math.nan) for v in entries], dtype=np.float64)
    return "text", entries


def _finite(entries: Any, missing: Flags, name: Any) -> Floats:
    numbers = np.array(entries, dtype=np.float64)
    numbers[missing] = np.nan
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        came = f"column {name!r} is {numbers[row]} in row {row} (from 0)"
        raise InputError("X", "be finite", came)
    return numbers


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
        times = Counter(_present(column))
        known = [n for text, n in times.items() if spellings.number(text) is not None]
        many = Text.takes(column, limits) if len(known) == len(times) else len(known) > 10
        return many and sum(known) >= NEARLY * times.total()

    @classmethod
    def fit(cls, column: Column, limits: Limits) -> Self:
        others = tuple(text for text in _present(column) if spellings.number(text) is None)
        return cls(Numbers.fit(_as_numbers(column), limits), others)

    def features(self, column: Column) -> Floats:
        readable = column.holds in ("text", "categories")
        return self.line.features(_as_numbers(column) if readable else column)

    def endings(self) -> list[str]:
        return self.line.endings()


def _present(column: Column) -> list[str]:
    return [text for text, gone in zip(column.entries, column.missing, strict=True) if not gone]


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


def looks_like_ids(column: Column) -> bool:
    """Tell whether the entries of a column seem to name rows: hardly any comes twice.

    Codes and whole numbers that rise from row to row or leave few gaps do. Other whole numbers,
    and texts as short as people's names, do where all of many rows differ. Fractions and sentences
    never do: they differ anyway.
    """
    present = int((~column.missing).sum())
    if present < 20:
        return False
    many = present >= MANY
    if column.holds in ("text", "categories"):
        texts = _present(column)
        n_different = len(set(texts))
        words = [len(text.split()) for text in texts]
        if max(words) > 1:
            return many and n_different == present and float(np.median(words)) <= NAME_WORDS
        return n_different >= NEARLY * present
    if column.holds != "numbers":
        return False
    numbers = column.entries[~column.missing]
    n_different = np.unique(numbers).size
    if (numbers != np.floor(numbers)).any() or n_different < NEARLY * present:
        return False
    if many and n_different == present and column.dtype.lower().startswith(WHOLE):
        return True
    return bool((np.diff(numbers) > 0).all() or np.ptp(numbers) < 1.5 * present)


def is_named_like_ids(name: Any) -> bool:
    """Tell whether a column is called as columns that name rows are: id, pid, customer_id, key.

    Examples
    --------
    >>> from dataworth.encoders.columns import is_named_like_ids
    >>> [is_named_like_ids(name) for name in ("PID", "customer_id", "userId", "humid", 3)]
    [True, True, True, False, False]
    """
    return isinstance(name, str) and _NAMED.fullmatch(name.strip()) is not None


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
