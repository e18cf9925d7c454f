"""What a valuator was given, arranged as the columns, the labels and the ids of a report."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dataworth.arrays import Array
from dataworth.inputs import frames
from dataworth.report import cells
from dataworth.result import DataValues


@dataclass(frozen=True)
class Given:
    """Training points as a report takes them.

    Attributes
    ----------
    columns : dict
        The columns by name, that of the labels among them.
    label : str or None
        The name of the column of labels; None if another column has that name already.
    ids : array or None
        The ids of the points, if they have others than their positions.
    """

    columns: dict[str, cells.Values]
    label: str | None
    ids: Array | None

    @classmethod
    def of(cls, values: DataValues, points: Any, columns: Any, target: Any) -> Self:
        """Arrange training points, or the columns to show instead, under the name of the labels."""
        known = columns_of(points, "X") if columns is None else cells.mapping(columns, "columns")
        table = dict(known)
        named = isinstance(target, str) and target != ""
        name = target if named else "target" if values.numeric else "label"
        known_label = named or name not in table
        if name not in table:
            table[name] = values.labels
        plain = np.array_equal(values.index, np.arange(len(values)))
        return cls(table, name if known_label else None, None if plain else values.index)


def columns_of(points: Any, name: str) -> dict[str, cells.Values]:
    """Return what can be shown of points as they were given to a valuator, by column.

    Parameters
    ----------
    points : Any
        A data frame, an array or a list of texts. Of anything else nothing can be shown.
    name : str
        The name of the argument.

    Returns
    -------
    dict
        The columns; empty if there are none.
    """
    found = frames.frame(points, name, narrow=False)
    if found is not None:
        return {str(column): cells for column, cells in found.to_dict(as_series=False).items()}
    if isinstance(points, list | tuple) and all(isinstance(point, str) for point in points):
        return {"text": points}
    if isinstance(points, list | tuple):
        points = np.asarray(points)
    if not isinstance(points, np.ndarray) or points.ndim not in (1, 2):
        return {}
    if points.ndim == 1:
        return {"text": points}
    return {f"feature {k}": points[:, k] for k in range(points.shape[1])}
