"""Data frames in and out: pandas, polars and pyarrow through narwhals, none of them imported here.

What comes in stays in the library it came in. A frame is recognised, its rows are taken by
position, and the result answers in the same library, with the same index where there is one.
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
# What a numpy archive keeps without pickle: booleans, numbers, dates, durations and text.
PLAIN_KINDS = "biufMmU"


@dataclass(frozen=True)
class Origin:
    """Where a table came from: its library and, in memory only, its index if it has one."""

    library: str
    index: Any = None


def frame(X: Any, name: str = "X") -> "nw.DataFrame[Any] | None":
    """X as a table of narwhals, a series as a table of one column; None if X is neither."""
    try:
        given = nw.from_native(X, pass_through=True, allow_series=True)
    except ValueError as error:  # narwhals refuses repeated column names, at length
        said = str(error).splitlines()[0].rstrip(".: ")
        raise InputError(name, "have columns of different names", said) from None
    if isinstance(given, nw.LazyFrame):
        hint = f"Use {name}.collect()."
        raise InputTypeError(name, "be in memory", "got a lazy frame", hint)
    if isinstance(given, nw.Series):
        return given.alias("series").to_frame()
    return given if isinstance(given, nw.DataFrame) else None


def origin(X: Any) -> Origin | None:
    """The library and the index of a data frame; None if X is something else."""
    table = frame(X)
    if table is None:
        return None
    return Origin(table.implementation.name.lower(), nw.maybe_get_index(table))


def index(origin: Origin | None, n_points: int) -> Array:
    """The index of a table as a plain array, or the positions of its rows if it has no index.

    Labels that a plain array cannot hold (several levels, time zones, mixed kinds) become their
    text.
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
    """Rows of X by position. X may be a data frame, an array, a list or a sparse matrix."""
    table = None if isinstance(X, np.ndarray) else frame(X)
    if table is None:
        return _safe_indexing(X, rows)
    native = nw.from_native(X, allow_series=True)
    return native[rows].to_native()


def content(X: Any) -> Any:
    """What tells one table from another, in a form that hashes alike in every library."""
    table = frame(X)
    if table is None:
        return X
    return [
        (str(column.name), str(column.dtype), plain_column(column))
        for column in table.iter_columns()
    ]


def missing(column: "nw.Series[Any]") -> Flags:
    """Which entries are missing: null, or not a number."""
    absent = column.is_null().to_numpy().astype(bool)
    if column.dtype.is_float():
        absent |= np.isnan(column.to_numpy().astype(np.float64))
    return absent


def plain_column(column: "nw.Series[Any]") -> Any:
    """A column as a numpy array where it holds numbers, dates or booleans, else as a list.

    Missing entries of a list are None.
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
    """A series as an array or a list, refused if an entry is missing; all else as it came."""
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
    """A table in the library asked for, or in that of the origin, or in one that is installed.

    pandas gets the index as its index, the others as a first column called "index".
    """
    if library is not None and library not in LIBRARIES:
        listed = ", ".join(repr(name) for name in LIBRARIES)
        raise InputError("library", f"be one of {listed} or None", f"got {library!r}")
    name: Any = library or (origin.library if origin else None) or _installed()
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


def _installed() -> str:
    for name in LIBRARIES:
        if find_spec(name) is not None:
            return name
    raise ModuleNotFoundError(
        "to_frame needs a library of data frames: pip install pandas (or polars, or pyarrow)"
    )
