"""Checks of what users pass in: done once, at the edge, before any work.

What is refused raises an `InputError`, which names the argument, what would be accepted and what
came instead. A wrong type raises an `InputTypeError`.
"""

import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import csr_array, issparse

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError, InputTypeError, near
from dataworth.inputs import exactness, frames

WRITTEN = re.compile(  # a number as people write it, such as $1,234.50 or (12,5 %)
    r"(?P<sign>[-+−(]*)[$€£¥]?\s?(?P<minus>[-+−]?)(?!0\d)"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d{1,3}(?:\s\d{3})+|\d+|(?=[.,]\d))(?:[.,](?P<part>\d*))?"
    r"(?P<power>[eE][+-]?\d{1,2})?\s?[$€£¥%]?\)?"
)
ENCODE = "Encode text, categories and dates as numbers first."


def integer(
    value: Any, name: str, *, least: int, most: int | None = None, or_else: str = ""
) -> int:
    """Return a whole number in the given range; `or_else` says what else would be accepted."""
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    wanted, came = f"be a whole number {limits}{or_else}", f"got {value!r}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise InputTypeError(name, wanted, came)
    number = int(value)
    if number < least or (most is not None and number > most):
        raise InputError(name, wanted, came)
    return number


def positive(value: Any, name: str, *, or_else: str = "") -> float:
    """Return a positive finite number; `or_else` says what else would be accepted."""
    wanted, came = f"be a positive number{or_else}", f"got {value!r}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputTypeError(name, wanted, came)
    number = float(value)
    if not 0.0 < number < np.inf:
        raise InputError(name, wanted, came)
    return number


def choice(value: Any, name: str, known: Iterable[str], *, or_else: str = "") -> str:
    """Return one of the known names; `or_else` says what else would be accepted."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        listed = ", ".join(repr(n) for n in names)
        raise InputError(name, f"be one of {listed}{or_else}", f"got {value!r}", near(value, names))
    return value


def boolean(value: Any, name: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(name, "be True or False", f"got {value!r}")
    return bool(value)


def n_jobs(value: Any) -> int | None:
    """Return None or a whole number other than 0, as joblib takes it."""
    if value is None:
        return None
    wanted, came = "be None or a whole number other than 0", f"got {value!r}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise InputTypeError("n_jobs", wanted, came)
    if value == 0:
        raise InputError("n_jobs", wanted, came)
    return int(value)


def matrix(
    value: Any,
    name: str,
    *,
    n_columns: int | None = None,
    columns: str = "features",
    sparse: bool = False,
    first_row: int = 0,
    names: Sequence[Any] | None = None,
) -> Any:
    """Return a two-dimensional array of finite numbers, with its rows contiguous in memory.

    Parameters
    ----------
    value : object
        What the user gave.
    name : str
        The name of the argument, for messages.
    n_columns : int, optional
        How many columns it must have.
    columns : str
        What the columns are, for messages.
    sparse : bool
        Whether it may be sparse.
    first_row : int
        The number of its first row, for messages, if it is a block of a larger array.
    names : sequence, optional
        The names of its columns, for messages. By default those of a data frame, and the positions
        of the columns for anything else.

    Returns
    -------
    ndarray or csr_array
        float32 and float64 stay as they are; float16 becomes float32, and integers and booleans
        become float64. A sparse array comes back in CSR format.
    """
    if issparse(value):
        if not sparse:
            hint = f"Use {name}.toarray()."
            raise InputTypeError(name, "be dense here", "got a sparse array", hint)
        return _sparse(value, name, n_columns, columns)
    if value is None:
        raise InputTypeError(name, f"be an array of numbers (points × {columns})", "got None")
    _not_masked(value, name)
    try:
        table = None if isinstance(value, np.ndarray | list | tuple) else frames.frame(value, name)
        if table is not None:
            _check_columns(table, name)
            value, names = table.to_native(), names or table.columns
        array = np.asarray(value)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(name, "have rows of equal length", "their lengths differ") from None
    if isinstance(value, list | tuple):
        exactness.check_list(value, array, name)
    shape = f"got shape {array.shape}"
    if array.size == 0:
        hint = ""
        if array.ndim == 2 and array.shape[0]:
            hint = f"There are 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        raise InputError(name, "hold at least one point and one column", shape, hint)
    if array.dtype.kind == "O":
        array = _numbers_of_objects(array, name, names)
    if array.dtype.kind == "c":
        hint = "Complex data not supported."
        raise InputTypeError(name, "hold real numbers", f"got dtype {array.dtype}", hint)
    if array.dtype.kind not in "biuf":
        text = array.dtype.kind in "US"
        came = f"got {_text(array.flat[0])}" if text else f"got dtype {array.dtype}"
        raise InputTypeError(name, "hold real numbers", came, ENCODE)
    if array.ndim != 2:
        raise InputError(name, f"have two dimensions (points × {columns})", shape)
    _n_columns(array.shape[1], name, n_columns, columns)
    small = array.dtype in (np.float16, np.float32)
    exactness.check(array, name)
    array = np.ascontiguousarray(array, dtype=np.float32 if small else np.float64)
    with np.errstate(all="ignore"):
        total = array.sum(dtype=np.float64)  # a sum needs no second array
    if not np.isfinite(total):
        finite = np.isfinite(array)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            bad = "NaN" if np.isnan(array[row, column]) else array[row, column]
            place = column if names is None else repr(names[column])
            came = f"row {first_row + row}, column {place} is {bad}"
            raise InputError(name, "be finite", came)
    return array


def _check_columns(table: "nw.DataFrame[Any]", name: str) -> None:
    """Refuse columns of a data frame with gaps, integers to be rounded, or no numbers at all."""
    for column in table.iter_columns():
        dtype, place = column.dtype, f"column {column.name!r}"
        if not (dtype.is_float() or dtype.is_integer() or dtype in (nw.Boolean, nw.Object)):
            first = next((item for item in column.to_list() if isinstance(item, str)), None)
            came = f"{place} has {f'type {dtype}' if first is None else _text(first)}"
            raise InputTypeError(name, "hold real numbers", came, ENCODE)
        if dtype.is_integer():  # numpy would round them beside a column of fractions
            exactness.check(column.drop_nulls().to_numpy(), name, place)
        gaps = column.is_null().to_numpy().astype(bool)
        if gaps.any():
            raise InputError(name, "be finite", f"row {int(gaps.argmax())}, {place} is NaN")


def _numbers_of_objects(array: Array, name: str, names: Sequence[Any] | None) -> Array:
    """Return an array of objects as floats if all of them are numbers."""
    places = (i for i, item in enumerate(array.flat) if not isinstance(item, Real))
    at = next(places, None)
    if at is None:
        exactness.check(array, name)
        return array.astype(np.float64)
    other = array.flat[at]
    who = "got" if names is None else f"column {names[at % len(names)]!r} has"
    if isinstance(other, str):
        raise InputTypeError(name, "hold real numbers", f"{who} {_text(other)}", ENCODE)
    raise InputTypeError(
        name,
        "hold real numbers",
        f"{who} dtype object with {other!r:.60} in it",
        "The argument must be encoded first: turn strings, categories and dates into numbers.",
    )


def _text(example: Any) -> str:
    return f"text, such as {str(example)!r:.60}"


def _not_masked(value: Any, name: str) -> None:
    if isinstance(value, np.ma.MaskedArray):
        hint = f"Use {name}.filled(...)."
        raise InputTypeError(name, "be a plain array", "got a masked one", hint)


def _n_columns(given: int, name: str, wanted: int | None, columns: str) -> None:
    if wanted is not None and given != wanted:
        raise InputError(name, f"have {wanted} columns ({columns})", f"got {given}")


def _sparse(value: Any, name: str, n_columns: int | None, columns: str) -> csr_array:
    """Do the checks of `matrix` on the stored entries of a sparse array."""
    if value.ndim != 2 or 0 in value.shape:
        shape = f"got shape {value.shape}"
        raise InputError(name, "hold at least one point and one column", shape)
    _n_columns(value.shape[1], name, n_columns, columns)
    if value.format == "csr":
        _check_indptr(value, name)
    array = csr_array(value)
    if array.nnz:
        low, high = int(array.indices.min()), int(array.indices.max())
        if low < 0 or high >= array.shape[1]:  # scipy does not check this
            wanted = f"store columns from 0 to {array.shape[1] - 1}"
            raise InputError(name, wanted, f"it stores column {low if low < 0 else high}")
        _finite_entries(array, name)
        stored = matrix(array.data[:, None], name, columns="stored entries")[:, 0]
        # scipy keeps 64-bit positions, but some metrics of scikit-learn take none.
        small = max(array.nnz, *array.shape) <= np.iinfo(np.int32).max
        kind = np.int32 if small else np.int64
        parts = (stored, array.indices.astype(kind), array.indptr.astype(kind))
        array = csr_array(parts, shape=array.shape)
        if not array.has_canonical_format:
            array = array.copy()  # sorts and adds up in place
            array.sum_duplicates()
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _finite_entries(array: csr_array, name: str) -> None:
    """Refuse stored entries that are not finite, and say where the first one is."""
    if array.data.dtype.kind != "f" or np.isfinite(array.data).all():
        return
    at = int(np.argmin(np.isfinite(array.data)))
    row = int(np.searchsorted(array.indptr, at, side="right")) - 1
    bad = "NaN" if np.isnan(array.data[at]) else array.data[at]
    raise InputError(name, "be finite", f"row {row}, column {array.indices[at]} is {bad}")


def _check_indptr(value: Any, name: str) -> None:
    """Refuse a CSR array whose parts do not belong together: compiled code would trust them."""
    starts, size = value.indptr, min(value.indices.size, value.data.size)
    sound = (
        starts.size == value.shape[0] + 1
        and starts[0] == 0
        and starts[-1] <= size
        and bool(np.all(np.diff(starts) >= 0))
    )
    if not sound:
        raise InputError(
            name,
            "be a sound sparse array",
            "its indptr does not rise from 0 to the number of stored entries",
        )


def graph(value: Any, name: str) -> None:
    """Check a CSR array of distances: each row stores at least one neighbour, and none twice."""
    if value.format != "csr":
        raise InputTypeError(name, "be a graph in CSR format", f"got {value.format!r}")
    counts = np.diff(value.indptr)
    if counts.min() == 0:
        empty = f"row {int(counts.argmin())} is empty"
        raise InputError(name, "store at least one neighbour in each row", empty)
    ordered = csr_array((value.data, value.indices, value.indptr), shape=value.shape, copy=True)
    ordered.sum_duplicates()
    if ordered.nnz != value.nnz:
        raise InputError(name, "store each neighbour once", "some are stored twice")


def reason(error: Exception) -> str:
    """Return the first line of an error from other code, or its type if it has no message."""
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return line[:160].rstrip(".:; ")


def positions(value: Any, name: str, n_points: int) -> Ints:
    """Return positions of points, each below the number of points."""
    chosen = [integer(v, name, least=0, most=n_points - 1) for v in value]
    return np.array(chosen, dtype=np.int64)


def places(names: Array, index: Array, name: str) -> Ints:
    """Return where the index has these names, each of which it must have once."""
    found: dict[Any, list[int]] = {}
    for place, entry in enumerate(index.tolist()):
        found.setdefault(entry, []).append(place)
    chosen = [found.get(entry, []) for entry in names.tolist()]
    for entry, at in zip(names.tolist(), chosen, strict=True):
        if len(at) != 1:
            came = f"the index has {entry!r} {len(at)} times"
            raise InputError(name, "name each point by what the index has once", came)
    return np.array([at[0] for at in chosen], dtype=np.int64)


def rows(value: Any, name: str) -> int:
    """Return the number of points in an array or table that an encoder is going to read."""
    if value is None:
        raise InputTypeError(name, "be an array or a table that the encoder can read", "got None")
    shape = getattr(value, "shape", None)
    if shape == () or not (shape or hasattr(value, "__len__")):
        came = f"got {value!r:.60}"
        raise InputTypeError(name, "be an array or a table that the encoder can read", came)
    n = shape[0] if shape else len(value)
    if n == 0:
        raise InputError(name, "hold at least one point", "it is empty")
    return int(n)


def labels(value: Any, name: str, *, n_points: int | None = None, of: str = "") -> Array:
    """Return a one-dimensional array of class labels: all strings, integers or booleans."""
    if value is None:
        raise InputTypeError(name, "be an array of labels", "got None")
    _not_masked(value, name)
    value = frames.entries(value, name)
    array = _flat(value, name)
    if array.size == 0:
        raise InputError(name, "hold at least one label", "it is empty")
    if n_points is not None and array.size != n_points:
        raise InputError(name, f"hold one label per row of {of}, {n_points}", f"got {array.size}")
    if array.dtype.kind in "OUS":
        array = _uniform(value, name)
    wanted = "hold class labels (strings, integers or booleans)"
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array)) & (abs(array) < 2.0**53)
        if not whole.all():
            came, hint = f"got the number {array[~whole][0]}", "For numbers use game='regression'."
            raise InputError(name, wanted, came, hint)
        array = array.astype(np.int64)
    if array.dtype.kind not in "biuU":
        raise InputTypeError(name, wanted, f"got dtype {array.dtype}")
    return array


def _flat(value: Any, name: str) -> Array:
    """Return an array of one dimension, whatever it holds."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        raise InputError(name, "have one dimension", "some of its entries are lists") from None
    if array.ndim != 1:
        raise InputError(name, "have one dimension", f"got shape {array.shape}")
    return array


def targets(value: Any, name: str, *, n_points: int | None = None, of: str = "") -> Floats:
    """Return a one-dimensional array of finite numbers, as float64."""
    if value is None:
        raise InputTypeError(name, "be an array of numbers", "got None")
    value = frames.entries(value, name)
    _flat(value, name)
    words: list[bool] = []
    if np.asarray(value).dtype.kind in "UO":
        words = [isinstance(item, str) and written_number(item) is None for item in value]
    if any(words) and not all(words):  # if all are, the words below fit
        row = words.index(True)
        hint = "Mend such rows or leave them out, so that all are numbers."
        came = f"row {row} is {str(value[row])!r:.60}"
        raise InputTypeError(name, "hold real numbers", came, hint)
    array = matrix(np.reshape(value, (-1, 1)), name, columns="target")[:, 0]
    if n_points is not None and array.size != n_points:
        raise InputError(name, f"hold one number per row of {of}, {n_points}", f"got {array.size}")
    if np.abs(array).max() > 1e150:
        raise InputError(
            name, "hold numbers of at most 1e150", "squares of larger ones may overflow"
        )
    return array.astype(np.float64)


def written_number(text: str) -> float | None:
    """Return the number that a text is for people, also with commas or a currency, or None.

    A code such as 007 is none.

    Examples
    --------
    >>> from dataworth.inputs.checks import written_number
    >>> [written_number(text) for text in ("$1,234.50", "-$5", "12,5 €", "1 234", "n.a.", "007")]
    [1234.5, -5.0, 12.5, 1234.0, None, None]
    """
    found = WRITTEN.fullmatch(text.strip())
    if found is None:
        return None
    whole = re.sub(r"[,\s]", "", found["whole"])
    sign = "-" if set(found["sign"] + found["minus"]) & set("-−(") else ""
    return float(f"{sign}{whole or 0}.{found['part'] or 0}{found['power'] or ''}")


def _uniform(value: Any, name: str) -> Array:
    """Return an array of one kind, and refuse a mixture that numpy would turn into text."""
    items = list(value)
    kinds = {
        "string" if isinstance(v, str) else "number" if isinstance(v, Real) else type(v).__name__
        for v in items
    }
    if kinds not in ({"string"}, {"number"}):
        wanted = "hold class labels of one kind (strings, integers or booleans)"
        raise InputTypeError(name, wanted, f"got {' and '.join(sorted(kinds))}")
    whole_texts(items, name)
    if any(isinstance(v, Integral) and int(v).bit_length() > 64 for v in items):
        wanted = "hold class labels (strings, booleans or integers of at most 64 bits)"
        raise InputError(name, wanted, "got a larger one", "Make text of them.")
    return np.asarray(items, dtype=str if kinds == {"string"} else None)


def whole_texts(items: Iterable[Any], name: str) -> None:
    """Refuse texts that end in a zero byte, which numpy would cut off."""
    for item in items:
        if isinstance(item, str) and item.endswith("\0"):
            raise InputError(name, "hold texts that do not end in a zero byte", f"got {item!r}")


def _in_words(labels: Array) -> str:
    return {"U": "text", "b": "booleans"}.get(labels.dtype.kind, "numbers")


def encode(value: Array, classes: Array, name: str) -> Ints:
    """Return the positions of labels among the sorted `classes` seen in training."""
    if (value.dtype.kind == "U") != (classes.dtype.kind == "U"):
        wanted = f"hold labels like those of fit, {_in_words(classes)}"
        raise InputTypeError(name, wanted, f"got {_in_words(value)}")
    position = {label: code for code, label in enumerate(classes.tolist())}
    given, inverse = np.unique(value, return_inverse=True)
    unseen = [label for label in given.tolist() if label not in position]
    if unseen:
        listed = ", ".join(repr(v) for v in unseen[:5])
        more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
        wanted = "hold only labels seen in training"
        raise InputError(name, wanted, f"never seen: {listed}{more}")
    return np.array([position[label] for label in given.tolist()], dtype=np.int64)[inverse]
