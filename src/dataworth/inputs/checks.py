"""Checks of what users pass in: once, at the edge, before any work.

Every message names the argument, says what was given and what would be accepted.
"""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from dataworth.inputs import frames


def integer(
    value: Any, name: str, *, least: int, most: int | None = None, or_else: str = ""
) -> int:
    """A whole number in the given range; `or_else` says what else the argument may be."""
    wanted = (f"at least {least}" if most is None else f"from {least} to {most}") + or_else
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number {wanted}; got {value!r}.")
    number = int(value)
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} must be a whole number {wanted}; got {value!r}.")
    return number


def positive(value: Any, name: str, *, or_else: str = "") -> float:
    """A positive finite number; `or_else` says what else the argument may be."""
    wanted = f"{name} must be a positive number{or_else}; got {value!r}."
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(wanted)
    number = float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(wanted)
    return number


def choice(value: Any, name: str, known: Iterable[str], *, or_else: str = "") -> str:
    """One of the known names."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        listed = ", ".join(repr(n) for n in names)
        raise ValueError(f"{name} must be one of {listed}{or_else}; got {value!r}.")
    return value


def boolean(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def semivalue(value: Any) -> None:
    """The name of a semivalue, or ("beta", alpha, beta)."""
    if isinstance(value, str) and value in ("shapley", "banzhaf"):
        return
    wanted = "semivalue must be 'shapley', 'banzhaf' or ('beta', alpha, beta)"
    if not (isinstance(value, tuple | list) and len(value) == 3 and value[0] == "beta"):
        raise ValueError(f"{wanted}; got {value!r}.")
    for number in value[1:]:
        if not isinstance(number, Real) or not 1e-6 <= float(number) <= 1e6:
            raise ValueError(f"{wanted} with numbers from 1e-6 to 1e6; got {value!r}.")


def n_jobs(value: Any) -> int | None:
    """None, or a whole number other than 0, as joblib takes it."""
    if value is None:
        return None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"n_jobs must be None or a whole number other than 0; got {value!r}.")
    if value == 0:
        raise ValueError("n_jobs must be None or a whole number other than 0; got 0.")
    return int(value)


def matrix(
    value: Any,
    name: str,
    *,
    n_columns: int | None = None,
    columns: str = "features",
    sparse: bool = False,
    first_row: int = 0,
) -> Any:
    """A two-dimensional array of finite numbers, float32 or float64, in rows.

    float32 and float64 arrays come back as they are; float16 becomes float32 and integers and
    booleans become float64. Where `sparse` is allowed, a sparse array comes back in CSR format.
    `first_row` is the number of the first row, where this is a part of something larger.
    """
    if issparse(value):
        if not sparse:
            raise TypeError(f"{name} must be dense here; got a sparse array. Use {name}.toarray().")
        return _sparse(value, name, n_columns, columns)
    if value is None:
        raise TypeError(f"{name} must be an array of numbers (points × {columns}); got None.")
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a plain array; got a masked one. Use {name}.filled(...).")
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must have rows of one length; they differ.") from None
    if array.size == 0:
        raise ValueError(
            f"{name} must hold at least one point and one column; got shape {array.shape}."
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} must hold real numbers; got dtype {array.dtype}. "
            "Encode text, categories and dates as numbers first."
        )
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions (points × {columns}); got shape {array.shape}."
        )
    if n_columns is not None and array.shape[1] != n_columns:
        raise ValueError(f"{name} must have {n_columns} columns ({columns}); got {array.shape[1]}.")
    small = array.dtype in (np.float16, np.float32)
    exact_as_float(array, name)
    array = np.ascontiguousarray(array, dtype=np.float32 if small else np.float64)
    with np.errstate(all="ignore"):
        total = array.sum(dtype=np.float64)  # a sum needs no second array
    if not np.isfinite(total):
        finite = np.isfinite(array)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ValueError(
                f"{name} must be finite; row {first_row + row}, column {column} is "
                f"{array[row, column]}."
            )
    return array


def _sparse(value: Any, name: str, n_columns: int | None, columns: str) -> csr_array:
    """The checks of `matrix` on the stored entries of a sparse array."""
    if value.ndim != 2 or 0 in value.shape:
        raise ValueError(
            f"{name} must hold at least one point and one column; got shape {value.shape}."
        )
    if n_columns is not None and value.shape[1] != n_columns:
        raise ValueError(f"{name} must have {n_columns} columns ({columns}); got {value.shape[1]}.")
    array = csr_array(value)
    if array.nnz:
        low, high = int(array.indices.min()), int(array.indices.max())
        if low < 0 or high >= array.shape[1]:  # scipy does not look
            raise ValueError(
                f"{name} must store columns from 0 to {array.shape[1] - 1}; it stores column "
                f"{low if low < 0 else high}."
            )
        stored = matrix(array.data[:, None], name, columns="stored entries")[:, 0]
        array = csr_array((stored, array.indices, array.indptr), shape=array.shape)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def graph(value: Any, name: str) -> None:
    """A CSR array of distances to known neighbours: each once, at least one for every point."""
    if value.format != "csr":
        raise TypeError(f"{name} must be a graph in CSR format; got {value.format!r}.")
    counts = np.diff(value.indptr)
    if counts.min() == 0:
        raise ValueError(
            f"{name} must store at least one neighbour in each row; row {int(counts.argmin())} is "
            "empty."
        )
    ordered = csr_array((value.data, value.indices, value.indptr), shape=value.shape, copy=True)
    ordered.sum_duplicates()
    if ordered.nnz != value.nnz:
        raise ValueError(f"{name} must store each neighbour once; some are stored twice.")


def reason(error: Exception) -> str:
    """The first line of what an error of somebody else's code says, or its name if nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:160]


def positions(value: Any, name: str, n_points: int) -> NDArray[np.int64]:
    """Positions of points, each below their number."""
    chosen = [integer(v, name, least=0, most=n_points - 1) for v in value]
    return np.array(chosen, dtype=np.int64)


def rows(value: Any, name: str) -> int:
    """The number of points in what an encoder takes."""
    if value is None:
        raise TypeError(f"{name} must be what encoder takes; got None.")
    n = value.shape[0] if hasattr(value, "shape") else len(value)
    if n == 0:
        raise ValueError(f"{name} must hold at least one point; it is empty.")
    return int(n)


def labels(value: Any, name: str, *, n_points: int | None = None, of: str = "") -> NDArray[Any]:
    """A one-dimensional array of class labels: all strings, all integers or all booleans."""
    if value is None:
        raise TypeError(f"{name} must be an array of labels; got None.")
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a plain array; got a masked one. Use {name}.filled(...).")
    value = frames.entries(value, name)
    array = np.asarray(value)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; got shape {array.shape}.")
    if array.size == 0:
        raise ValueError(f"{name} must hold at least one label; it is empty.")
    if n_points is not None and array.size != n_points:
        raise ValueError(
            f"{name} must hold one label per row of {of}, {n_points}; got {array.size}."
        )
    if array.dtype.kind in "OUS":
        array = _uniform(value, name)
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array)) & (abs(array) < 2.0**53)
        if not whole.all():
            raise ValueError(
                f"{name} must hold class labels (strings, integers or booleans); "
                f"got the number {array[~whole][0]}. For numbers use game='regression'."
            )
        array = array.astype(np.int64)
    if array.dtype.kind not in "biuU":
        raise TypeError(
            f"{name} must hold class labels (strings, integers or booleans); "
            f"got dtype {array.dtype}."
        )
    return array


def targets(
    value: Any, name: str, *, n_points: int | None = None, of: str = ""
) -> NDArray[np.float64]:
    """A one-dimensional array of finite numbers, float64."""
    if value is None:
        raise TypeError(f"{name} must be an array of numbers; got None.")
    value = frames.entries(value, name)
    column = np.asarray(value)
    if column.ndim != 1:
        raise ValueError(f"{name} must have one dimension; got shape {column.shape}.")
    array = matrix(np.reshape(value, (-1, 1)), name, columns="target")[:, 0]
    if n_points is not None and array.size != n_points:
        raise ValueError(
            f"{name} must hold one number per row of {of}, {n_points}; got {array.size}."
        )
    if np.abs(array).max() > 1e150:
        raise ValueError(f"{name} must hold numbers of at most 1e150; their squares are needed.")
    return array.astype(np.float64)


def exact_as_float(array: NDArray[Any], name: str) -> None:
    """Refuse integers that a float64 would round."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or array.size == 0:
        return
    if int(array.max()) > 2**53 or int(array.min()) < -(2**53):
        raise ValueError(
            f"{name} must hold integers of at most 2^53; larger ones would be rounded."
        )


def _uniform(value: Any, name: str) -> NDArray[Any]:
    """An array of one kind from objects or strings, refusing what numpy would turn into text."""
    items = list(value)
    kinds = {
        "string" if isinstance(v, str) else "number" if isinstance(v, Real) else type(v).__name__
        for v in items
    }
    if kinds not in ({"string"}, {"number"}):
        raise TypeError(
            f"{name} must hold class labels of one kind (strings, integers or booleans); "
            f"got {' and '.join(sorted(kinds))}."
        )
    return np.asarray(items, dtype=str if kinds == {"string"} else None)


def encode(value: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Positions of labels among the sorted `classes` seen in training."""
    if (value.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise TypeError(
            f"{name} must hold labels of the kind given to fit, {classes.dtype}; got {value.dtype}."
        )
    position = {label: code for code, label in enumerate(classes.tolist())}
    given, inverse = np.unique(value, return_inverse=True)
    unseen = [label for label in given.tolist() if label not in position]
    if unseen:
        listed = ", ".join(repr(v) for v in unseen[:5])
        more = f" and {len(unseen) - 5} more" if len(unseen) > 5 else ""
        raise ValueError(
            f"{name} must hold labels seen in training only; never seen: {listed}{more}."
        )
    return np.array([position[label] for label in given.tolist()], dtype=np.int64)[inverse]
