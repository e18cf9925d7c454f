"""The report: one HTML file that shows what training points are worth, and why.

It holds all it needs, asks for nothing, and works without a network. `write` prepares the data:
`summary` aggregates what the charts show, `table` takes the least valuable points and what
explains them, `images` makes thumbnails, `cells` makes values fit for a page, and `page` puts it
all into one file with the scripts of `assets` and a charting library, `vendor`.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dataworth import DataValues, decisions
from dataworth.explanation import Explanation
from dataworth.files import atomic as files
from dataworth.inputs import checks, frames
from dataworth.report import cells, page, summary
from dataworth.report.images import Gallery
from dataworth.report.table import Points, Table, check_explanations

__all__ = ["Explanation", "write"]

TITLE = "What the training data are worth"


def write(
    path: str | os.PathLike[str],
    values: DataValues,
    columns: Any = None,
    *,
    explanations: Iterable[Explanation] = (),
    label: str | None = None,
    ids: str | cells.Values | None = None,
    group: str | None = None,
    by: str | Sequence[str] = (),
    image: str | None = None,
    image_root: str | os.PathLike[str] | None = None,
    validation: Any = None,
    title: str = TITLE,
    rows: int = 500,
) -> None:
    """Write a report about values as one HTML file, whole or not at all.

    Parameters
    ----------
    path : where to write it.
    values : the values to report.
    columns : by name, one entry per training point, or a data frame; None or NaN where missing.
        Numbers, texts, or anything that prints. The first 60 are shown.
    explanations : what `KNNShapley.explain` returns, in any order; those of points that are not in
        the table are not used, and of each at most ten neighbours and validation points.
    label : the name of the column that holds the labels. It is not shown twice, and is written
        into the decisions so that they can be applied without asking.
    ids : the name of a column of ids, or the ids.
    group : the name of a column of sources, annotators and the like: never binned.
    by : one or more names of columns to break the share of negative points down by. Columns of
        more than 12 different numbers are binned.
    image : the name of a column of image files (png, jpeg, gif, webp), or of arrays: height ×
        width, or height × width × 1, 3 or 4. Bytes are shown as they are, other numbers from the
        column's smallest, black, to its largest, white. Needs Pillow.
    image_root : the folder that relative paths start from; by default the present one.
    validation : columns of the validation points, as `columns`; "train" where the training points
        judge each other, in leave-one-out and cross-valuation.
    title : the headline.
    rows : how many of the least valuable points the table has, 1 to 2,000.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dataworth import KNNShapley, report
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> values = KNNShapley(n_neighbors=2).fit(X, y).value([[0.0], [1.0]], ["a", "b"])
    >>> with TemporaryDirectory() as folder:
    ...     report.write(Path(folder, "report.html"), values, {"x": [x for x, in X]}, by=["x"])
    """
    rows = checks.integer(rows, "rows", least=1, most=2000)
    table = cells.checked(_columns(columns, "columns"), "columns", len(values))
    by = [by] if isinstance(by, str) else list(by)
    id_column = ids if isinstance(ids, str) else None
    asked = [("label", label), ("ids", id_column), ("group", group), ("image", image)]
    for argument, name in [*asked, *(("by", name) for name in by)]:
        if name is not None and name not in table:
            raise ValueError(f"{argument} must name a column; {name!r} is not among {list(table)}.")
        if name is not None and name == image and argument != "image":
            raise ValueError(f"{argument} must name another column than image, {image!r}.")
    train = _points(table, _ids(ids, table, len(values)), image, image_root, "columns")
    judges, n_judges = train, len(values)
    if not isinstance(validation, str) or validation != "train":
        judged = cells.checked(_columns(validation, "validation"), "validation", None)
        n_judges = max((len(column) for column in judged.values()), default=-1)
        judges = _points(judged, None, image, image_root, "validation")
    why = check_explanations(explanations, len(values), n_judges)
    if label is not None:
        _check_labels(train.columns[label], values)
    shown = [c for name, c in train.columns.items() if name not in (label, id_column)]
    groups = _groups(values, train.columns, group, by)
    content = Table(values, shown, why, rows)
    data = {
        **_facts(values),
        "histogram": summary.histogram(values.values, groups[0]),
        "curve": summary.curve(values.values),
        "breakdowns": [summary.breakdown(values.values, part) for part in groups],
        "columns": [{"name": c.name, "number": c.is_number} for c in content.columns],
        "rows": content.rows(train, groups),
        "train": content.neighbors(train),
        "judges": content.judges(judges),
        "judgedBy": "training" if judges is train else "validation",
        "images": content.album.addresses,
        "hasImages": image is not None,
        "labelColumn": label or "",
        "idColumn": id_column or "",
        "hasIds": ids is not None,
        "notes": content.notes,
    }
    if content.album.is_full:
        content.notes.append("Some pictures are left out to keep the file small.")
    # Marks are kept by the browser under this name: the same rows, the same marks.
    data["key"] = hashlib.sha256(cells.embedded(data["rows"]).encode()).hexdigest()[:16]
    with files.atomic(path) as file:
        file.write(page.assembled(title, data).encode())


def _columns(table: Any, name: str) -> Mapping[str, cells.Values]:
    """Columns by name, of a mapping or a data frame of any library."""
    if table is None:
        return {}
    found = frames.frame(table, name)
    return table if found is None else found.to_dict(as_series=False)


def _ids(ids: Any, table: Mapping[str, cells.Values], n_train: int) -> Sequence[Any] | None:
    if ids is None:
        return None
    ids = cells.column("ids", table[ids] if isinstance(ids, str) else ids).items
    if len(ids) != n_train:
        raise ValueError(f"ids must hold one id per training point, {n_train}; got {len(ids)}.")
    return ids


def _points(
    table: Mapping[str, cells.Values],
    ids: Sequence[Any] | None,
    image: str | None,
    root: str | os.PathLike[str] | None,
    argument: str,
) -> Points:
    columns = {name: cells.column(name, column) for name, column in table.items() if name != image}
    gallery = None
    if image is not None and image in table:
        gallery = Gallery(table[image], root)
        gallery.check(f"{argument}[{image!r}]")
    return Points(columns, ids, gallery)


def _check_labels(column: cells.Column, values: DataValues) -> None:
    for given, label in set(zip(column.items, values.labels.tolist(), strict=True)):
        if not decisions.same(given, label):
            raise ValueError(
                "label must name the column of the labels that were valued; "
                f"{column.name!r} has {given!r} where the label is {label!r}."
            )


def _groups(
    values: DataValues, columns: Mapping[str, cells.Column], group: str | None, by: Sequence[str]
) -> list[summary.Groups]:
    labels = values.labels.tolist()
    if _is_regression(values):
        groups = [summary.bins("target", labels)]
    else:
        groups = [summary.categories("label", labels)]
    if group is not None:
        groups.append(summary.categories(group, columns[group].items))
    return groups + [summary.by_column(columns[name]) for name in by if name != group]


def _is_regression(values: DataValues) -> bool:
    return values.params.get("game") == "regression"


def _facts(values: DataValues) -> dict[str, Any]:
    labels = [] if _is_regression(values) else sorted(set(values.labels.tolist()))
    return {
        "n": len(values),
        "negative": int((values.values < 0).sum()),
        "sum": cells.significant(float(values.values.sum())),
        "nValidation": values.n_validation,
        "bounded": bool((values.lower < values.upper).any()),
        "regression": _is_regression(values),
        "semivalue": decisions.plain(values.params.get("semivalue", "shapley")),
        "game": decisions.plain(values.params.get("game", "")),
        "params": [[name, decisions.plain(value)] for name, value in values.params.items()],
        "version": values.version,
        "classes": [decisions.plain(label) for label in labels],
        "data": decisions.describe(values.labels.tolist()),
    }
