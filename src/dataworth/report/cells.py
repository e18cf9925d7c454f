"""Plain text and plain numbers of bounded size, made of whatever users' columns hold."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from dataworth import decisions
from dataworth.arrays import Array
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import frames, listings
from dataworth.report import words

Values = Sequence[Any] | Array
# A cell of the page: None if missing, a number, a text, or a text that was cut, with the numbers of
# characters that were cut off behind it and before it.
Cell = None | float | int | str | tuple[str, int, int]


@dataclass(frozen=True)
class Column:
    """A column of the page.

    Attributes
    ----------
    name : str
        Its name.
    items : list
        Its entries, None for each that is missing.
    is_number : bool
        Whether all entries that are not missing are numbers.
    """

    name: str
    items: list[Any]
    is_number: bool


def column(name: str, values: Values) -> Column:
    """Make a column of plain Python values."""
    if getattr(getattr(values, "dtype", None), "kind", None) in ("M", "m"):
        values = [None if str(v) == "NaT" else str(v) for v in values]
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    # Columns are long but hold few types, so first find the types that can be missing at all.
    kinds = set(map(type, items))
    may_miss = {k for k in kinds if not issubclass(k, str | Integral)}
    if may_miss:
        items = [None if type(v) in may_miss and is_missing(v) else v for v in items]
    kinds = set(map(type, items)) - {type(None)}
    is_number = bool(kinds) and bool not in kinds and all(issubclass(k, Real) for k in kinds)
    return Column(name, items, is_number)


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, or what data frames use for missing entries."""
    if isinstance(value, float) or value is None:
        return value is None or value != value
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and math.isnan(value)


def mapping(table: Any, argument: str) -> Mapping[str, Values]:
    """Return the columns of a mapping or of a data frame of any library, by name."""
    if table is None:
        return {}
    found = frames.frame(table, argument, narrow=False)
    return table if found is None else found.to_dict(as_series=False)


def checked(columns: Mapping[str, Values], argument: str, length: int | None) -> dict[str, Any]:
    """Check that all names are strings and that all columns have one length."""
    if not isinstance(columns, Mapping):
        raise InputTypeError(
            argument,
            "be a mapping of column names to sequences",
            f"got {type(columns).__name__}",
        )
    for name, values in columns.items():
        if not isinstance(name, str):
            raise InputTypeError(argument, "have names that are strings", f"got {name!r}")
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputTypeError(argument, "hold sequences", f"{name!r} is {values!r:.60}")
        length = len(values) if length is None else length
        if len(values) != length:
            raise InputError(
                argument, f"have {length} entries in each column", f"{name!r} has {len(values)}"
            )
    return dict(columns)


def significant(number: float, digits: int = 6) -> float | None:
    """Round a number to the digits that a page shows; None if it is not finite."""
    return float(f"{number:.{digits}g}") if math.isfinite(number) else None


def spread(column: Column) -> float | None:
    """Return how far the middle half of the numbers of a column reaches; None if it has none."""
    numbers = [float(v) for v in column.items if v is not None] if column.is_number else []
    finite = [v for v in numbers if math.isfinite(v)]
    if not finite:
        return None
    low, high = np.quantile(finite, [0.25, 0.75]).tolist()
    return significant(high - low)


def quantity(number: float) -> str:
    """Write a number as people do, with the minus of a printed page."""
    return listings.quantity(number).replace("-", "−")


def cell(value: Any) -> Cell:
    """Turn a value into a number, if a page can hold it as one, or into text."""
    if value is None:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool) and abs(int(value)) <= 2**53:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral) and math.isfinite(value):
        return significant(float(value))
    return decisions.plain(value)


def cut_to_budget(
    tables: Iterable[list[Cell]], budget: int, lengths: Sequence[int]
) -> tuple[int, Callable[[Cell, Iterable[str]], Cell]]:
    """Find the largest length at which all texts fit the budget, and a function that cuts to it.

    It takes a cell and the words that matter, and cuts so that these stay.
    """
    texts = [c for cells in tables for c in cells if isinstance(c, str) and len(c) > lengths[-1]]
    length = next((size for size in lengths if _fits(texts, size, budget)), lengths[-1])

    def cut(value: Cell, matter: Iterable[str]) -> Cell:
        if isinstance(value, str) and len(value) > length:
            first = words.start(value, matter, length)
            piece = value[first : first + length]
            return piece, len(value) - first - len(piece), first
        return value

    return length, cut


def _fits(texts: Iterable[str], length: int, budget: int) -> bool:
    for text in texts:
        budget -= len(embedded(text[:length]))
        if budget < 0:
            return False
    return True


def clipped(text: str, length: int) -> str:
    """Shorten a name so that it fits a chart or a menu."""
    return text if len(text) <= length else text[: length - 1] + "…"


def embedded(data: Any) -> str:
    """Write JSON that no HTML parser can take for markup, whatever it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
