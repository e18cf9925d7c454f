"""Values by group, such as the owner of the data."""

import math
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import checks, frames
from dataworth.inputs.frames import Origin
from dataworth.inputs.listings import listing


def by(
    values: Floats, lower: Floats, upper: Floats, groups: Any, origin: Origin | None = None
) -> Any:
    """Add values up by group, the largest sum first; see `DataValues.by`."""
    owners = check(groups, values.size)
    names, codes = np.unique(owners, return_inverse=True)
    count = np.bincount(codes)
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(count)[:-1]

    def added(numbers: Floats) -> Floats:
        # fsum rounds only once, so that the sum does not depend on the order of the points.
        return np.array([math.fsum(part) for part in np.split(numbers[order], starts)])

    sums, total = added(values), math.fsum(values)
    columns = {
        "group": names,
        "count": count,
        "sum": sums,
        "mean": sums / count,
        "lower": added(lower),
        "upper": added(upper),
        "share": sums / total if total else np.full(sums.size, math.nan),
    }
    largest = np.argsort(-sums, kind="stable")
    return listing({name: column[largest] for name, column in columns.items()}, origin)


def owner_codes(groups: Any, n_points: int) -> tuple[Array, Ints]:
    """Return the owners, sorted, and the position of each point's owner among them."""
    owners = check(groups, n_points)
    if owners.dtype.kind == "U" and not np.all(owners != ""):
        at = int(np.flatnonzero(owners == "")[0])
        raise InputError(
            "groups",
            "name the owner of every training point",
            f"name {at} is empty",
        )
    names, codes = np.unique(owners, return_inverse=True)
    return names, codes.astype(np.int64)


def check(groups: Any, n_points: int) -> Array:
    """Check the groups, and return an array with a string, integer or boolean per point."""
    items = frames.entries(groups, "groups")
    array = np.asarray(items)
    if array.shape != (n_points,):
        raise InputError(
            "groups", f"hold one entry per training point, {n_points}", f"got shape {array.shape}"
        )
    if array.dtype.kind in "OUS":  # numpy turns mixed strings and numbers into text
        kinds = sorted({type(v).__name__ for v in items})
        checks.whole_texts(items, "groups")
        are_text = kinds in (["str"], ["str_"])
        array = np.array(list(items), dtype=str if are_text else None)
        if array.dtype.kind in "OUS" and not are_text:
            raise InputTypeError(
                "groups",
                "hold strings, integers or booleans, all of one kind",
                f"got {' and '.join(kinds)}",
            )
    if array.dtype.kind not in "biuU":
        raise InputTypeError(
            "groups", "hold strings, integers or booleans", f"got dtype {array.dtype}"
        )
    return array
