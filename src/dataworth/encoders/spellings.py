"""How dates, times and numbers are spelled in text."""

import math
import re
from datetime import UTC, date, datetime

import numpy as np

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?)?")
_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")


def day(text: str) -> float | None:
    """Seconds since 1970 of an ISO date, or None if it is none."""
    try:
        return seconds(datetime.fromisoformat(text)) if _DAY.fullmatch(text) else None
    except ValueError:  # such as the 30th of February
        return None


def clock(text: str) -> float | None:
    """The seconds of a time such as 9:46, or None if it is none."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        return None
    return 3600.0 * int(found[1]) + 60.0 * int(found[2]) + float(found[3] or 0.0)


def number(text: str) -> float | None:
    """The number that a text spells, or None if it is a word, or a code such as 007.

    Whole numbers of more than 15 digits are codes too: a float64 would confuse them.

    Examples
    --------
    >>> from dataworth.encoders.spellings import number
    >>> number("-1.5e3"), number("n.k."), number("007")
    (-1500.0, None, None)
    """
    if _NUMBER.fullmatch(text) is None:
        return None
    digits = text.lstrip("+-")
    is_code = digits.isdigit() and len(digits) > 15
    return None if is_code or math.isinf(float(text)) else float(text)


def seconds(day: date) -> float:
    """Seconds since 1970, in UTC if the date has a time zone."""
    if isinstance(day, datetime) and day.tzinfo is not None:
        day = day.astimezone(UTC).replace(tzinfo=None)
    return float(np.datetime64(day, "us").astype(np.int64)) / 1e6
