"""Data frames in and out: pandas, polars and pyarrow through narwhals, which imports none of them.

A frame stays in its own library: its rows are taken by position, and the result is a frame of the
same library, with the same index if there is one.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import _safe_indexing

from dataworth.arrays import Array, Flags, Ints
from dataworth.errors import InputError, InputTypeError

LIBRARIES = ("pandas", "polars", "pyarrow")
# The kinds that a numpy archive holds without pickle: booleans, numbers, dates, durations and text.
PLAIN_KINDS = "biufMmU"


@dataclass(frozen=True)
class Origin:
    """Where a table came from: its library and, as long as it is in memory, its index if any."""

    library: str
    index: Any = None


def frame(X: Any, name: str = "X", *, narrow: bool = True) -> "nw.DataFrame[Any] | None":
    """Return X as a table of narwhals, or None if it is neither a frame nor a series.

    Integers get the 64 bits that those of numpy have, unless `narrow` is False.
    """
    try:
        given = nw.from_native(X, pass_through=True, allow_series=True)
    except ValueError as error:  # narwhals refuses repeated column names in many lines
        said = " ".join(str(error).split()).rstrip(".: ")
        raise InputError(name, "have columns of different names", said) from None
    if isinstance(given, nw.LazyFrame):
        hint = f"Use {name}.collect()."
        raise InputTypeError(name, "be in memory", "got a lazy frame", hint)
    if isinstance(given, nw.Series):
        given = given.alias("series").to_frame()
    if not isinstance(given, nw.DataFrame):
        return None
    return _narrowed(given, name) if narrow else given


def _narrowed(table: "nw.DataFrame[Any]", name: str) -> "nw.DataFrame[Any]":
    for column, dtype in table.schema.items():
        if dtype not in (nw.Int128, nw.UInt128):
            continue
        try:
            table = table.with_columns(nw.col(column).cast(nw.Int64()))
        except Exception as error:  # each library has its own for numbers that do not fit
            raise InputError(
                name,
                "hold integers of at most 64 bits",
                f"got larger ones of type {dtype}",
                "Make text or categories of them.",
            ) from error
    return table


def origin(X: Any) -> Origin | None:
    """Return the library and the index of a data frame, or None if X is something else."""
    table = frame(X)
    if table is None:
        return None
    return Origin(table.implementation.name.lower(), nw.maybe_get_index(table))


def index(origin: Origin | None, n_points: int) -> Array:
    """Return the index of a table as a plain array, or the positions of its rows if it has none.

    Labels that a plain array cannot hold (several levels, time zones, mixed kinds) become text.
    """
    if origin is None or origin.index is None:
        return np.arange(n_points)
    kind = getattr(origin.index.dtype, "kind", "O")
    if kind in PLAIN_KINDS and getattr(origin.index.dtype, "tz", None) is None:
        plain = np.asarray(origin.index)
        if plain.dtype.kind in PLAIN_KINDS:
            return plain
    return np.array([str(label) for label in origin.index])


def take(X: Any, rows: Ints) -> Any:
    """Return rows by position; X may be a data frame, an array, a list or a sparse matrix."""
    table = None if isinstance(X, np.ndarray) else frame(X)
    if table is None:
        return _safe_indexing(X, rows)
    native = nw.from_native(X, allow_series=True)
    return native[rows].to_native()


def content(X: Any) -> Any:
    """Return the contents of a table in a form that hashes alike for every library."""
    table = frame(X)
    if table is None:
        return X
    return [
        (str(column.name), str(column.dtype), plain_column(column))
        for column in table.iter_columns()
    ]


def missing(column: "nw.Series[Any]") -> Flags:
    """Return which entries are missing: null, or not a number."""
    absent = column.is_null().to_numpy().astype(bool)
    if column.dtype.is_float():
        absent |= np.isnan(column.to_numpy().astype(np.float64))
    return absent


def plain_column(column: "nw.Series[Any]") -> Any:
    """Return a column as an array if it holds numbers, dates or booleans, else as a list.

    Missing entries of the list are None.
    """
    dtype = column.dtype
    if dtype.is_decimal():
        column = column.cast(nw.Float64())
    if dtype.is_numeric():
        return column.to_numpy()
    absent = missing(column)
    if dtype in (nw.Date, nw.Datetime, nw.Duration) or (dtype == nw.Boolean and not absent.any()):
        return column.to_numpy()
    return [None if gone else v for v, gone in zip(column.to_list(), absent, strict=True)]


def entries(value: Any, name: str) -> Any:
    """Return a series as an array or a list, and anything else as it is.

    A series with missing entries is refused.
    """
    if hasattr(value, "to_pylist") and not hasattr(value, "chunks"):  # a pyarrow array
        value = value.to_pylist()
        gaps = [i for i, v in enumerate(value) if v is None]
    else:
        table = None if isinstance(value, np.ndarray | list) else frame(value, name)
        if table is None:
            return value
        if table.shape[1] != 1:
            raise InputError(name, "be one column", f"got {table.shape[1]}")
        column = next(table.iter_columns())
        value, gaps = plain_column(column), np.flatnonzero(missing(column)).tolist()
    if gaps:
        more = f", and {len(gaps) - 1} more" if len(gaps) > 1 else ""
        came = f"row {gaps[0]} (from 0) is missing{more}"
        raise InputError(name, "not have missing entries", came)
    return value


def to_frame(columns: dict[str, Array], index: Array, origin: Origin | None, library: Any) -> Any:
    """Return a table in the given library, in that of the origin, or in one that is installed.

    In pandas the index becomes the index of the table, in others a first column called "index".
    """
    if library is not None and library not in LIBRARIES:
        listed = ", ".join(repr(name) for name in LIBRARIES)
        raise InputError("library", f"be one of {listed} or None", f"got {library!r}")
    name: Any = library or (origin.library if origin else None) or installed("to_frame")
    plain = {k: v.tolist() if v.dtype.kind == "U" else v for k, v in columns.items()}
    indexed = name in ("pandas", "modin", "cudf")
    if not indexed:
        plain = {"index": index.tolist() if index.dtype.kind == "U" else index, **plain}
    if find_spec(name) is None:
        raise ModuleNotFoundError(f"to_frame needs {name} here: pip install {name}")
    table = nw.from_dict(plain, backend=name).to_native()
    if indexed:
        kept = origin.index if origin is not None and origin.library == name else None
        table.index = index if kept is None else kept
    return table


def installed(what: str) -> Any:
    """Return the name of a data frame library that is installed, which `what` needs."""
    for name in LIBRARIES:
        if find_spec(name) is not None:
            return name
    raise ModuleNotFoundError(
        f"{what} needs a data frame library: pip install pandas (or polars, or pyarrow)"
    )
