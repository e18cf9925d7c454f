"""Values by data owner."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.inputs import frames


def by(
    values: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    groups: Any,
) -> NDArray[np.void]:
    """Sums by group, the largest first; see `DataValues.by`."""
    owners = check(groups, values.size)
    names, codes = np.unique(owners, return_inverse=True)
    fields = [("group", names.dtype), ("count", np.int64)]
    fields += [(name, np.float64) for name in ("sum", "mean", "lower", "upper", "share")]
    table = np.empty(names.size, fields)
    table["group"] = names
    table["count"] = np.bincount(codes)
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(table["count"])[:-1]
    for name, numbers in (("sum", values), ("lower", lower), ("upper", upper)):
        # An exact sum, rounded once: the order of the points cannot change it.
        table[name] = [math.fsum(part) for part in np.split(numbers[order], starts)]
    table["mean"] = table["sum"] / table["count"]
    total = math.fsum(values)
    table["share"] = table["sum"] / total if total else math.nan
    return table[np.argsort(-table["sum"], kind="stable")]


def check(groups: Any, n_points: int) -> NDArray[Any]:
    """One name or number for each point: strings, integers or booleans, none missing."""
    items = frames.entries(groups, "groups")
    array = np.asarray(items)
    if array.shape != (n_points,):
        raise ValueError(
            f"groups must hold one entry per training point, {n_points}; got shape {array.shape}."
        )
    if array.dtype.kind in "OUS":  # numpy makes text of a mixture
        kinds = sorted({type(v).__name__ for v in items})
        array = np.array(list(items), dtype=str if kinds in (["str"], ["str_"]) else None)
        if array.dtype.kind in "OUS" and kinds not in (["str"], ["str_"]):
            raise TypeError(
                "groups must hold strings, integers or booleans, all of one kind; "
                f"got {' and '.join(kinds)}."
            )
    if array.dtype.kind not in "biuU":
        raise TypeError(f"groups must hold strings, integers or booleans; got dtype {array.dtype}.")
    return array
