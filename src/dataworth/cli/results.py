"""What a command writes: files of values, and reports."""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dataworth import KNNShapley, report, result
from dataworth.cli import STANDARD_OUTPUT
from dataworth.cli.data import Data, image_folder, renaming
from dataworth.errors import ReadingWarning
from dataworth.explanation import Explanation
from dataworth.files import tables
from dataworth.files import values as value_files
from dataworth.files.atomic import naming
from dataworth.notes import Notes, repeated
from dataworth.owner_values import OwnerValues
from dataworth.report.table import ROWS
from dataworth.result import DataValues, value_columns


def write_values(output: str | None, values: DataValues, data: Data) -> None:
    """Write values to a file, or as CSV to standard output where `output` is "-"."""
    ids = data.ids is not None
    if output == "-":
        columns = value_columns(values, ids=ids, groups=data.owners)
        with naming(STANDARD_OUTPUT):
            value_files.write_csv(sys.stdout.buffer, columns)
    elif output is not None:
        result.write_values(output, values, ids=ids, groups=data.owners)
        print(f"The values are in {output}.")


def noticed(valuator: KNNShapley, values: DataValues, data: Data) -> Notes | None:
    """What a look at the rows shows: between their groups too, and with ids that repeat."""
    notes = values.notes
    if notes is None:
        return None
    if data.owners is not None and notes.surroundings is not None:
        notes = valuator.notes(data.owners)
    if notes.surroundings is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadingWarning)  # the run has said it
            notes.surroundings.look()
    return notes if data.ids is None else replace(notes, repeated_id=repeated(data.ids))


def _features_first(data: Data) -> dict[str, list[Any]]:
    """All columns of the training points, those that were not used behind those that were."""
    columns = data.source.columns()
    used = dict.fromkeys(name for name in data.features if name in columns)
    return {name: columns[name] for name in (used | columns)}


def write_report(
    path: Path,
    values: DataValues,
    data: Data,
    judges: tables.Source | Literal["train"] | None,
    *,
    title: str | None = None,
    rows: int | None = None,
    explanations: Sequence[Explanation] = (),
    image_root: Path | None = None,
    owners: OwnerValues | None = None,
    budget: str | None = None,
) -> None:
    """Write the report of values.

    Parameters
    ----------
    path : Path
        Where to write it.
    values : DataValues
        The values of the training points.
    data : Data
        The training points.
    judges : Source, "train" or None
        The validation points; "train" if the training points judged one another, and None if they
        are not known.
    title : str, optional
        The headline.
    rows : int, optional
        How many points the table lists.
    explanations : sequence of Explanation
        Why the least valuable points are worth what they are, if that is known.
    image_root : Path, optional
        The folder that image files are in; by default that of the training points.
    owners : OwnerValues, optional
        What whole data sets are worth.
    budget : str, optional
        What is shared out among their owners.
    """
    places = np.arange(len(values))  # the report counts points by their places in the file
    named = None if np.array_equal(values.index, places) else values.index
    options = {name: f"--{name}" for name in ("label", "group", "by", "image", "title")}
    with renaming({**options, "ids": "--id", "columns": data.source.name}):
        report.write(
            path,
            replace(values, index=places),
            _features_first(data),
            explanations=explanations,
            label=data.label,
            ids=named if data.id is None else data.id,
            group=data.group,
            by=data.by,
            image=data.image,
            image_root=image_folder(data, image_root),
            validation=judges.columns() if isinstance(judges, tables.Source) else judges,
            source=data.source.name if data.source.table is not None else None,
            title=title or report.TITLE,
            rows=rows or ROWS,
            owners=owners,
            budget=budget,
        )
