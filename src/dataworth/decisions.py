"""Decisions about training points: read what the report wrote, and apply it to the training data.

`suspects` decides on all suspects alike, without a report.

A decisions file is a CSV in UTF-8 with one row per decision and these columns:

- `position`: which training point, counted from 0;
- `decision`: `keep`, `relabel` or `remove`;
- `new_label`: the new label, with `relabel` only;
- `label`, `id`: the label in the data and the point's id, if it has one;
- `label_column`, `id_column`: the names of their columns, if the report knew them;
- `data`: the number of labels, and a digest of all of them.

With the last five `apply` recognises the data that the decisions were made for, and refuses other
data. A cell that a spreadsheet could take for a formula has an apostrophe in front of it, which
`read` removes.
"""

import csv
import hashlib
import io
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from dataworth.errors import InputError, near
from dataworth.files import paths
from dataworth.files.spreadsheets import NUMBER, unguarded

if TYPE_CHECKING:
    from dataworth.result import DataValues

COLUMNS = (
    "position",
    "decision",
    "new_label",
    "label",
    "id",
    "label_column",
    "id_column",
    "data",
)
KINDS = ("keep", "relabel", "remove")


@dataclass(frozen=True)
class Decision:
    """What is to happen to one training point.

    Attributes
    ----------
    position : int
        Which training point, counted from 0.
    decision : {"keep", "relabel", "remove"}
        What to do with it.
    label : str
        The label that it had when the decision was made.
    new_label : str or None
        The label that it is to have, with "relabel" only.
    id : str or None
        Its id, if it has one.
    """

    position: int
    decision: str
    label: str
    new_label: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Decisions:
    """The decisions of a file, and what it says about the data that they are for.

    Attributes
    ----------
    rows : tuple of Decision
        The decisions, in the order of the file.
    label_column, id_column : str or None
        The names of the columns of labels and ids, if the file has them.
    data : str or None
        The number of labels and a digest of them, if the file has them.
    """

    rows: tuple[Decision, ...]
    label_column: str | None = None
    id_column: str | None = None
    data: str | None = None

    def __len__(self) -> int:
        return len(self.rows)


def read(path: str | os.PathLike[str]) -> Decisions:
    """Read a decisions file.

    Parameters
    ----------
    path : str or path
        The file that the report wrote.

    Returns
    -------
    Decisions
        The decisions, in the order of the file.

    Raises
    ------
    InputError
        If anything in the file is not as it must be; the message names the row.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dataworth import decisions
    >>> text = (
    ...     "position,decision,new_label,label,id,label_column,id_column,data\\n"
    ...     "1,relabel,cat,dog,,animal,,3 labels\\n"
    ...     "2,remove,,cat,,animal,,3 labels\\n"
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "decisions.csv")
    ...     _ = path.write_text(text)
    ...     made = decisions.read(path)
    >>> decisions.apply(made, {"animal": ["cat", "dog", "cat"], "legs": [4, 4, 3]})
    {'animal': ['cat', 'cat'], 'legs': [4, 4]}
    """
    try:
        text = paths.to_read(path).read_bytes().decode("utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except UnicodeDecodeError:
        raise InputError("path", "name a file in UTF-8", f"{str(path)!r} is not") from None
    except csv.Error as error:
        raise InputError("path", "name a CSV file", f"{str(path)!r} is not: {error}") from None
    name = repr(os.fspath(path))
    header = lines[0] if lines else []
    if sorted(header) != sorted(COLUMNS):
        raise InputError(
            "path",
            f"name a file with the columns {', '.join(COLUMNS)}",
            f"{name} has {', '.join(header)[:200] or 'none'}",
        )
    made: dict[int, Decision] = {}
    about: set[tuple[str, ...]] = set()
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(COLUMNS):
            raise InputError(
                f"{name}, row {number}", f"have {len(COLUMNS)} cells", f"it has {len(line)}"
            )
        cells = {key: unguarded(cell) for key, cell in zip(header, line, strict=True)}
        decision = _decision(cells, f"{name}, row {number}")
        if decision.position in made:
            raise InputError(
                "path",
                "name a file with one decision per point",
                f"{name}, row {number}: position {decision.position} is decided on twice",
            )
        made[decision.position] = decision
        about.add(tuple(cells[key] for key in ("label_column", "id_column", "data")))
    if not made:
        raise InputError("path", "name a file with at least one decision", f"{name} has none")
    if len(about) > 1:
        raise InputError(f"{name}: label_column, id_column and data", "be the same in all rows")
    return Decisions(tuple(made.values()), *(cell or None for cell in about.pop()))


def _decision(cells: Mapping[str, str], where: str) -> Decision:
    position, decision = cells["position"], cells["decision"]
    if not re.fullmatch("[0-9]{1,15}", position):
        raise InputError(f"{where}: position", "be a whole number from 0", f"got {position!r}")
    if decision not in KINDS:
        raise InputError(f"{where}: decision", f"be one of {', '.join(KINDS)}", f"got {decision!r}")
    if decision == "relabel" and not cells["new_label"]:
        raise InputError(f"{where}: new_label", "be given with relabel", "it is empty")
    if decision != "relabel" and cells["new_label"]:
        raise InputError(
            f"{where}: new_label", f"be empty with {decision}", f"got {cells['new_label']!r}"
        )
    return Decision(
        position=int(position),
        decision=decision,
        label=cells["label"],
        new_label=cells["new_label"] or None,
        id=cells["id"] or None,
    )


def suspects(values: "DataValues", decision: str, n: int | None = None) -> Decisions:
    """Decide on all suspects alike, where nobody is at hand who knows the data.

    Parameters
    ----------
    values : DataValues
        The values of the training points.
    decision : {"relabel", "remove"}
        Whether suspects get the label that the other points suggest, or go. A suspect that has the
        suggested label already is kept.
    n : int or None
        How many suspects; None leaves it to the ruler, as in `DataValues.suspects`.

    Returns
    -------
    Decisions
        One decision for each suspect, the most suspect first, for `apply`.

    Raises
    ------
    InputError
        If the number is left to a ruler that there is not, or that cannot tell; or if labels are
        numbers to predict, or judged from outside, so that no label is suggested.

    Examples
    --------
    >>> from dataworth import KNNShapley, decisions
    >>> table = {"x": [0.0, 0.1, 1.0, 1.1, 0.05], "y": ["a", "a", "b", "b", "b"]}
    >>> values = KNNShapley(n_neighbors=2).fit([[x] for x in table["x"]], table["y"]).value()
    >>> made = decisions.suspects(values, "relabel", n=1)
    >>> decisions.apply(made, table, label="y")["y"]
    ['a', 'a', 'b', 'b', 'a']
    """
    if decision not in KINDS[1:]:
        raise InputError("decision", "be relabel or remove", f"got {decision!r}")
    if decision == "relabel" and (values.numeric or values.suggested is None):
        why = "numbers are to be predicted" if values.numeric else "points were judged from outside"
        wanted, hint = "come with values that suggest labels", "Remove suspects instead."
        raise InputError("decision", wanted, f"here {why}", hint)
    chosen = values.suspects_first[: len(values.suspects(n))]
    named = not np.array_equal(values.index, np.arange(len(values)))
    rows = []
    for at in chosen.tolist():
        label, does, new = plain(values.labels[at]), decision, None
        if decision == "relabel" and values.suggested is not None:
            new = plain(values.suggested[at])
            does, new = ("keep", None) if new == label else (decision, new)
        rows.append(Decision(at, does, label, new, plain(values.index[at]) if named else None))
    return Decisions(tuple(rows), data=describe(values.labels.tolist()))


def apply(
    decisions: Decisions,
    columns: Any,
    *,
    label: str | None = None,
    id: str | None = None,
) -> Any:
    """Carry decisions out on a copy of the training data.

    Parameters
    ----------
    decisions : Decisions
        What `read` or `suspects` returned.
    columns : data frame, or mapping of str to sequence
        The training data by column, all columns of one length, in the order of the training points.
    label, id : str or None
        The names of the columns of labels and ids; None takes those that the decisions name.

    Returns
    -------
    data frame, or dict
        The data without the removed rows: a data frame of the same library, or the columns of a
        mapping as lists. A new label is written as the same label is elsewhere in the column, so
        that types and formats stay.

    Raises
    ------
    InputError
        If the decisions were made for other data: if the number of rows, the digest of all labels,
        or the label or id of a row decided on differs. Also if a new label is neither a label that
        the column has nor, in a column of numbers, a number.

    Examples
    --------
    See `read` and `suspects`.
    """
    frame = nw.from_native(columns, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        cells = {name: frame[name].to_list() for name in frame.columns}
        done = carried_out(decisions, cells, label=label, id=id)
        if done.relabelled:
            frame = frame.with_columns(_relabelled(frame[done.label], done.labels))
        return frame[done.kept].to_native()
    table = {name: list(column) for name, column in columns.items()}
    done = carried_out(decisions, table, label=label, id=id)
    table[done.label] = done.labels
    return {name: [column[at] for at in done.kept] for name, column in table.items()}


def _relabelled(column: "nw.Series[Any]", labels: Sequence[Any]) -> "nw.Series[Any]":
    """The column with these labels, taken from its own entries so that its type stays."""
    entries = column.to_list()
    first = {entry: place for place, entry in reversed(list(enumerate(entries)))}
    if any(label not in first for label in labels):  # a number that the column did not have
        return nw.new_series(column.name, list(labels), backend=column.implementation)
    return column[[first[label] for label in labels]]


@dataclass(frozen=True)
class Outcome:
    """What decisions make of training data.

    Attributes
    ----------
    label : str
        The column of labels.
    labels : list
        All labels, the new ones in their places.
    kept : list of int
        The positions of the rows that stay.
    relabelled, removed : int
        How many rows got a new label, and how many went.
    """

    label: str
    labels: list[Any]
    kept: list[int]
    relabelled: int
    removed: int


def carried_out(
    decisions: Decisions,
    table: Mapping[str, Sequence[Any]],
    *,
    label: str | None = None,
    id: str | None = None,
) -> Outcome:
    """Find out what decisions make of training data, which stay as they are.

    Parameters
    ----------
    decisions, label, id
        As in `apply`.
    table : mapping of str to sequence
        The training data by column.

    Returns
    -------
    Outcome
        The new labels, and the rows that stay.
    """
    sizes = {name: len(column) for name, column in table.items()}
    if len(set(sizes.values())) > 1:
        raise InputError("columns", "all have one length", f"got {sizes}")
    label = _column(table, label or decisions.label_column, "label")
    labels = list(table[label])
    if decisions.data is not None and not _same_data(decisions.data, labels):
        raise _other_data(
            f"they were made for {decisions.data}, and column {label!r} has {describe(labels)}"
        )
    _check_rows(decisions, labels, label)
    id = id or decisions.id_column
    if id is not None:
        ids = table[_column(table, id, "id")]
        for row in decisions.rows:
            if row.id is not None and not same(ids[row.position], row.id):
                raise _other_data(
                    f"the id at position {row.position} is {ids[row.position]!r}, "
                    f"and was {row.id!r}"
                )
    spelling = _Spelling(labels)
    for row in decisions.rows:
        if row.new_label is not None:
            labels[row.position] = spelling.of(row.new_label, label)
    removed = {row.position for row in decisions.rows if row.decision == "remove"}
    relabelled = sum(row.new_label is not None for row in decisions.rows)
    kept = [position for position in range(len(labels)) if position not in removed]
    return Outcome(label, labels, kept, relabelled, len(removed))


def _column(table: Mapping[str, Any], name: str | None, argument: str) -> str:
    if name is None:
        raise InputError(argument, "name a column", "the decisions do not name one")
    if name not in table:
        came = f"{name!r} is not among {list(table)}"
        raise InputError(argument, "name a column", came, near(name, table))
    return name


def _other_data(came: str) -> InputError:
    return InputError("decisions", "be for these data", came)


def _check_rows(decisions: Decisions, labels: Sequence[Any], column: str) -> None:
    for row in decisions.rows:
        if row.position >= len(labels):
            raise _other_data(f"position {row.position} is beyond the last row, {len(labels) - 1}")
        if not same(labels[row.position], row.label):
            raise _other_data(
                f"{column!r} at position {row.position} is {labels[row.position]!r}, "
                f"and was {row.label!r}"
            )


class _Spelling:
    """How the labels of a column are written."""

    def __init__(self, labels: Iterable[Any]) -> None:
        distinct = list(dict.fromkeys(labels))
        self._exact = {plain(label): label for label in reversed(distinct)}
        self._loose = {_normal(label): label for label in reversed(distinct)}
        self._numbers = all(NUMBER.fullmatch(plain(label)) for label in distinct)
        self._text = all(isinstance(label, str) for label in distinct)

    def of(self, label: str, column: str) -> Any:
        """Return a label as the column writes it."""
        if label in self._exact:
            return self._exact[label]
        if _normal(label) in self._loose:
            return self._loose[_normal(label)]
        if self._numbers and NUMBER.fullmatch(label):
            return label if self._text else float(label)
        raise InputError("new_label", f"be a label that column {column!r} has", f"got {label!r}")


def plain(value: Any) -> str:
    """Return a label or id as the report writes it, with '?' for what UTF-8 cannot hold."""
    text = str(value.item() if hasattr(value, "item") else value)
    return text.encode("utf-8", "replace").decode()


def _normal(value: Any) -> str:
    """Write alike what files and types write differently: 1, 01 and 1.0; true and True."""
    text = plain(value)
    if NUMBER.fullmatch(text):
        number = float(text)
        return repr(int(number)) if number.is_integer() and abs(number) < 2**53 else text
    return text.capitalize() if text.lower() in ("true", "false") else text


def same(one: Any, other: Any) -> bool:
    """Tell whether two labels or ids are the same, however numbers are written and rounded."""
    one, other = _normal(one), _normal(other)
    if one == other:
        return True
    if not (NUMBER.fullmatch(one) and NUMBER.fullmatch(other)):
        return False
    # A float32 target and its text agree to some seven digits; whole numbers must agree fully.
    whole = one.lstrip("+-").isdigit() and other.lstrip("+-").isdigit()
    return not whole and math.isclose(float(one), float(other), rel_tol=1e-6)


def describe(labels: Sequence[Any]) -> str:
    """Count labels and, unless they are fractions that formats may round, add a digest."""
    known = {label: _normal(label) for label in set(labels)}
    count = f"{len(labels)} labels"
    if any(NUMBER.fullmatch(text) and not text.lstrip("+-").isdigit() for text in known.values()):
        return count
    digest = hashlib.sha256()
    for label in labels:
        digest.update(known[label].encode() + b"\0")
    return f"{count} (sha256 {digest.hexdigest()[:16]})"


def _same_data(data: str, labels: Sequence[Any]) -> bool:
    found = describe(labels)
    return data == (found if "(" in data else found.split(" (")[0])
