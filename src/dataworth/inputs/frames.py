"""Data frames in and out: pandas, polars and pyarrow through narwhals, none of them imported here.

What comes in stays in the library it came in. A frame is recognised, its rows are taken by
position, and the result answers in the same library, with the same index where there is one.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

LIBRARIES = ("pandas", "polars", "pyarrow")
# What a numpy archive keeps without pickle: booleans, numbers, dates, durations and text.
PLAIN_KINDS = "biufMmU"


@dataclass(frozen=True)
class Origin:
    """Where a table came from: its library and, in memory only, its index if it has one."""

    library: str
    index: Any = None


def frame(X: Any, name: str = "X") -> "nw.DataFrame[Any] | None":
    """The table behind X, a series being a table of one column; None where X is no data frame."""
    try:
        given = nw.from_native(X, pass_through=True, allow_series=True)
    except ValueError as error:  # narwhals refuses repeated column names, at length
        raise ValueError(
            f"{name} must have columns of different names; {str(error).split(chr(10))[0]}"
        ) from None
    if isinstance(given, nw.LazyFrame):
        raise TypeError(f"{name} must be in memory; got a lazy frame. Use {name}.collect().")
    if isinstance(given, nw.Series):
        return given.alias("series").to_frame()
    return given if isinstance(given, nw.DataFrame) else None


def origin(X: Any) -> Origin | None:
    """The library and the index of a data frame; None where X is none."""
    table = frame(X)
    if table is None:
        return None
    return Origin(table.implementation.name.lower(), nw.maybe_get_index(table))


def index(origin: Origin | None, n_points: int) -> NDArray[Any]:
    """The index of a table as a plain array: positions where there is none.

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


def take(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of X by position, in its own library; of arrays, lists and sparse matrices too."""
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


def missing(column: "nw.Series[Any]") -> NDArray[np.bool_]:
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
    """A series as an array or a list without gaps; anything but a series as it is."""
    if hasattr(value, "to_pylist") and not hasattr(value, "chunks"):  # a pyarrow array
        value = value.to_pylist()
        gaps = [i for i, v in enumerate(value) if v is None]
    else:
        table = None if isinstance(value, np.ndarray | list) else frame(value, name)
        if table is None:
            return value
        if table.shape[1] != 1:
            raise ValueError(f"{name} must be one column; got {table.shape[1]}.")
        column = next(table.iter_columns())
        value, gaps = plain_column(column), np.flatnonzero(missing(column)).tolist()
    if gaps:
        raise ValueError(
            f"{name} must not have missing entries; row {gaps[0]} (from 0) is missing"
            + (f", and {len(gaps) - 1} more." if len(gaps) > 1 else ".")
        )
    return value


def to_frame(
    columns: dict[str, NDArray[Any]], index: NDArray[Any], origin: Origin | None, library: Any
) -> Any:
    """A table in the library asked for, else that of the origin, else one that is installed.

    pandas gets an index, the others a first column of that name.
    """
    if library is not None and library not in LIBRARIES:
        listed = ", ".join(repr(name) for name in LIBRARIES)
        raise ValueError(f"library must be one of {listed} or None; got {library!r}.")
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
