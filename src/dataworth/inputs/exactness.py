"""Numbers that a float64 cannot hold exactly: integers beyond 2^53, and long decimals.

Arrays of features must not hold them. A column of a data frame may, such as one of hashes, as long
as no two different numbers become one.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np

from dataworth.arrays import Array
from dataworth.errors import InputError

MOST = 2**53  # all integers up to this one have a float64 of their own
DIGITS = 15  # and so have all decimals of up to this many digits


def check(array: Array, name: str, place: str = "") -> None:
    """Refuse an array with integers that a float64 would round; `place` says where it is."""
    if array.dtype.kind == "O":
        rounded = any(isinstance(item, Integral) and abs(int(item)) > MOST for item in array.flat)
    elif array.dtype.kind in "iu" and array.dtype.itemsize >= 8 and array.size:
        rounded = int(array.max()) > MOST or int(array.min()) < -MOST
    else:
        return
    if rounded:
        came = f"larger ones{place and f' in {place}'} would be rounded"
        raise InputError(name, "hold integers of at most 2^53", came)


def check_list(value: Any, array: Array, name: str) -> None:
    """Refuse a list whose integers numpy has rounded, since there are fractions beside them."""
    if array.dtype.kind == "f" and array.size and np.abs(array).max() >= MOST:
        check(np.asarray(value, dtype=object), name)


def near(value: Any) -> float:
    """Return the nearest float64, which is infinite for integers beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def large(numbers: Any) -> list[Any]:
    """Return those of some numbers that a float64 may round, each once.

    Parameters
    ----------
    numbers : array or iterable
        An array of integers, or numbers of any kind.

    Returns
    -------
    list
        Integers of at least 2^53, decimals of more than 15 digits, and what these are rounded to.
    """
    if isinstance(numbers, np.ndarray):
        beyond = numbers[np.abs(numbers.astype(np.float64)) >= MOST]
        return np.unique(beyond).tolist()
    different = set(numbers)
    rounded = {near(item) for item in different if _is_large(item)}
    return [item for item in different if near(item) in rounded] if rounded else []


def _is_large(item: Any) -> bool:
    if isinstance(item, Decimal):
        if not item.is_finite():
            return False
        # Not `normalize`, which rounds to 28 digits itself.
        digits = "".join(map(str, item.as_tuple().digits))
        return abs(item) >= MOST or len(digits.strip("0")) > DIGITS
    return isinstance(item, Integral) and abs(int(item)) >= MOST


def told_apart(
    numbers: Iterable[Any], name: str, column: Any, known: Mapping[float, Any] | None = None
) -> dict[float, Any]:
    """Return numbers by what they become as a float64, and refuse two that become one.

    Parameters
    ----------
    numbers : iterable
        What `large` returned.
    name : str
        The name of the argument, for messages.
    column : object
        The name of the column, for messages.
    known : mapping of float to number, optional
        Numbers of the same column that were seen before.

    Returns
    -------
    dict
        The numbers.
    """
    seen, found = dict(known or {}), {}
    for number in numbers:
        rounded = near(number)
        other = seen.setdefault(rounded, number)
        if other != number:
            raise InputError(
                name,
                "hold numbers that differ after rounding to a float64",
                f"column {column!r} has {min(other, number)} and {max(other, number)}",
                "Make it a column of text or of categories, or leave it out.",
            )
        found[rounded] = number
    return found
