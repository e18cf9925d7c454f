"""Reads one column of a table into a plain form."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import narwhals as nw
import numpy as np

from dataworth.arrays import Flags, Floats
from dataworth.encoders import spellings
from dataworth.errors import InputError
from dataworth.inputs import exactness, frames


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

    @property
    def present(self) -> list[Any]:
        """The entries that are not missing."""
        return [entry for entry, gone in zip(self.entries, self.missing, strict=True) if not gone]


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
