"""The report: one HTML file that shows what training points are worth, and why.

The file holds all that it needs, loads nothing else, and works without a network. `write` prepares
the data: `summary` aggregates what the panels show, `table` takes the most suspect points and
what explains them, `words` finds the words that texts share, `images` makes thumbnails, `cells`
makes plain text and numbers of what users give, and `page` puts it all into one file with the
scripts of `assets` and a charting library, `vendor`. `given` arranges what a valuator was given.

A new panel is one entry in `summary.PANELS`, which makes its data, and one in `PANELS` of
`assets/charts.js`, which draws it.
"""

import hashlib
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dataworth import decisions
from dataworth.errors import InputError, InputTypeError, near
from dataworth.explanation import Explanation
from dataworth.files import paths, tables
from dataworth.files.atomic import atomic
from dataworth.inputs import checks
from dataworth.owner_values import OwnerValues
from dataworth.report import cells, page, summary, words
from dataworth.report.images import Gallery
from dataworth.report.table import (
    MOST_COLUMNS,
    MOST_ROWS,
    ROWS,
    Points,
    Table,
    check_explanations,
)
from dataworth.result import DataValues

__all__ = ["Explanation", "write"]

TITLE = "What the training data are worth"
DECISIONS = "decisions.csv"  # what the browser saves


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
    source: str | os.PathLike[str] | None = None,
    title: str = TITLE,
    rows: int = ROWS,
    owners: OwnerValues | None = None,
    budget: Any = None,
) -> None:
    """Write a report about values as one HTML file, whole or not at all.

    Parameters
    ----------
    path : str or path
        The file to write.
    values : DataValues
        The values to report.
    columns : mapping of str to sequence, or data frame, or None
        What to show of the training points, one entry per point: numbers, texts, or anything that
        can be printed; None or NaN if it is missing. Texts are shown first, and 60 columns at most.
    explanations : iterable of Explanation
        What `KNNShapley.explain` returned, in any order. Explanations of points outside the table
        are not used; each shows at most ten neighbours and ten validation points.
    label : str or None
        The name of the column that holds the labels. The table does not repeat it, and the
        decisions name it so that they can be applied without naming it again.
    ids : str, sequence or None
        The name of a column of ids, or the ids themselves.
    group : str or None
        The name of a column of sources, annotators and the like. Its numbers are never binned.
    by : str or sequence of str
        The columns to break values down by. Columns of more than 12 different numbers are binned.
    image : str or None
        The name of a column of image files (png, jpeg, gif, webp), or of arrays: height × width,
        or height × width × 1, 3 or 4. Bytes are shown as they are, other numbers from black, the
        smallest of the column, to white, the largest. Needs Pillow.
    image_root : str, path or None
        The folder that image files are in, at any depth; relative paths start from it. None is the
        current one. Files outside are not shown.
    validation : mapping of str to sequence, data frame, "train" or None
        What to show of the validation points, as in `columns`; "train" if the training points
        judge each other, as in leave-one-out and cross-valuation.
    source : str, path or None
        The file that holds the training points, if it is a table with the column `label`. The page
        then ends with the command that applies the decisions to this file, and otherwise with the
        call that does so in Python.
    title : str
        The headline.
    rows : int
        How many points the table has, from 1 to 2,000: the most suspect or, where points from
        outside judged, the least valuable. No label gets more than three times its share of them,
        so that a rare label does not fill the table, unless they are above the ruler's cut-off.
    owners : OwnerValues or None
        What whole data sets are worth, for a panel of their own.
    budget : number, str or None
        What is shared out among the owners, as in `OwnerValues.payouts`.

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
    rows = checks.integer(rows, "rows", least=1, most=MOST_ROWS)
    _check_kinds(values, explanations, by, title, owners)
    if budget is not None and owners is None:
        raise InputError("budget", "be None without owners", f"got {budget!r:.60}")
    command = _command(source, label)
    table = cells.checked(cells.mapping(columns, "columns"), "columns", len(values))
    by = [by] if isinstance(by, str) else list(by)
    id_column = ids if isinstance(ids, str) else None
    asked = [("label", label), ("ids", id_column), ("group", group), ("image", image)]
    for argument, name in [*asked, *(("by", name) for name in by)]:
        if name is not None and name not in table:
            came = f"{name!r} is not among {list(table)}"
            raise InputError(argument, "name a column", came, near(name, table))
        if name is not None and name == image and argument != "image":
            raise InputError(argument, f"name another column than image, {image!r}")
    shown = [name for name in table if name not in (label, id_column, image)]
    texts = {name for name in shown if words.are_texts(table[name])}
    shown.sort(key=lambda name: name not in texts)  # what people read comes first
    used = {*shown[:MOST_COLUMNS], *(name for _, name in asked), *by}
    kept = {name: column for name, column in table.items() if name in used}
    train = _points(kept, _ids(ids, table, len(values)), image, image_root, "columns")
    judges, n_judges = train, len(values)
    if not isinstance(validation, str) or validation != "train":
        judged = cells.checked(cells.mapping(validation, "validation"), "validation", None)
        n_judges = max((len(column) for column in judged.values()), default=-1)
        judges = _points(judged, None, image, image_root, "validation")
    why = check_explanations(explanations, len(values), n_judges)
    if label is not None:
        _check_labels(train.columns[label], values)
    groups = _groups(values, train.columns, group, by)
    content = Table(values, train, shown[:MOST_COLUMNS], why, rows)
    if len(shown) > MOST_COLUMNS:
        content.notes.append(f"Of {len(shown)} columns the first {MOST_COLUMNS} are shown.")
    shares = values.values / values.scale
    data = {
        **_facts(values),
        **{name: panel(shares, groups) for name, panel in summary.PANELS.items()},
        "owners": None if owners is None else summary.owners(owners, budget),
        "columns": [
            {
                "name": c.name,
                "number": c.is_number,
                "text": c.name in texts,
                "spread": cells.spread(c),
            }
            for c in content.columns
        ],
        "rows": content.rows(groups),
        "nNoticed": content.n_noticed,
        "nSuspects": content.n_suspects,
        "quota": content.quota,
        "train": content.neighbors(),
        "judges": content.judges(judges),
        "judgedBy": "training" if judges is train else "validation",
        "images": content.album.addresses,
        "hasImages": image is not None,
        "labelColumn": label or "",
        "idColumn": id_column or "",
        "hasIds": ids is not None,
        "notes": content.notes,
        "command": command,
    }
    if content.album.is_full:
        content.notes.append("Some pictures are left out to keep the file small.")
    # The browser keeps marks under this name, so that a report of the same rows finds them again.
    data["key"] = hashlib.sha256(cells.embedded(data["rows"]).encode()).hexdigest()[:16]
    with atomic(path) as file:
        file.write(page.assembled(title, data).encode())


def _check_kinds(values: Any, explanations: Any, by: Any, title: Any, owners: Any) -> None:
    """Refuse arguments of the wrong type that nothing further down would name."""
    for name, given, kind, wanted in (
        ("values", values, DataValues, "be a DataValues"),
        ("explanations", explanations, Iterable, "be what explain returned"),
        ("by", by, Iterable, "name columns"),
        ("title", title, str, "be a text"),
        ("owners", owners, OwnerValues | None, "be what value_owners returned"),
    ):
        if not isinstance(given, kind):
            raise InputTypeError(name, wanted, f"got {given!r:.60}")


def _command(source: Any, label: str | None) -> str:
    """Return what applies the decisions, ready to be copied: a command, or a call in Python."""
    if source is None:
        named = "" if label is not None else ", label='…'"
        call = f"decisions.apply(decisions.read({DECISIONS!r}), train{named})"
        return f"from dataworth import decisions; cleaned = {call}"
    path = paths.named(source, "source")
    tables.check_ending(path, tables.TABLES, "source")
    if label is None:
        raise InputError("source", "come with label, which tells apply what to change")
    cleaned = path.with_name(f"{path.stem}-cleaned{path.suffix}")
    return shlex.join(["dataworth", "apply", DECISIONS, str(path), "-o", str(cleaned)])


def _ids(ids: Any, table: Mapping[str, cells.Values], n_train: int) -> Sequence[Any] | None:
    if ids is None:
        return None
    if not isinstance(ids, Iterable):
        raise InputTypeError("ids", "name a column, or hold an id per point", f"got {ids!r:.60}")
    given: Any = table[ids] if isinstance(ids, str) else ids
    ids = cells.column("ids", given).items
    if len(ids) != n_train:
        raise InputError("ids", f"hold one id per training point, {n_train}", f"got {len(ids)}")
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
            raise InputError(
                "label",
                "name the column of the labels that were valued",
                f"{column.name!r} has {given!r} where the label is {label!r}",
            )


def _groups(
    values: DataValues, columns: Mapping[str, cells.Column], group: str | None, by: Sequence[str]
) -> list[summary.Groups]:
    labels = values.labels.tolist()
    if values.numeric:
        groups = [summary.bins("target", labels)]
    else:
        groups = [summary.categories("label", labels)]
    if group is not None:
        groups.append(summary.categories(group, columns[group].items))
    return groups + [summary.by_column(columns[name]) for name in by if name != group]


def _facts(values: DataValues) -> dict[str, Any]:
    labels, notes = [] if values.numeric else sorted(set(values.labels.tolist())), values.notes
    shares, ruler, far = values.values / values.scale, values.ruler, values.far_off_said
    return {
        "headline": " ".join(filter(None, ["" if ruler is None else str(ruler), far])) or None,
        "oneSided": values.one_sided,
        "n": len(values),
        "negative": int((values.values < 0).sum()),
        "sum": cells.significant(float(values.values.sum()) / values.scale),
        "range": [cells.significant(float(end)) for end in (shares.min(), shares.max())],
        "ranked": values.agreement is not None,
        "cutoff": None if ruler is None else ruler.cutoff,
        "unit": values.unit,
        "noticed": None if notes is None or not notes.any.any() else str(notes),
        "nValidation": values.n_validation,
        "bounded": bool((values.lower < values.upper).any()),
        "numeric": values.numeric,
        "semivalue": decisions.plain(values.params.get("semivalue", "shapley")),
        "game": decisions.plain(values.params.get("game", "")),
        "params": [[name, decisions.plain(value)] for name, value in values.params.items()],
        "version": values.version,
        "classes": [decisions.plain(label) for label in labels],
        "data": decisions.describe(values.labels.tolist()),
    }
