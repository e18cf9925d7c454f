"""Decisions about training points: read what the report wrote, and apply it to the training data.

A decisions file is a CSV in UTF-8 with one row per decision and these columns:

- `position`: which training point, counted from 0;
- `decision`: `keep`, `relabel` or `remove`;
- `new_label`: with `relabel` only;
- `label`, `id`: the label given and the point's id, if it has one;
- `label_column`, `id_column`: the names of their columns, where the report knew them;
- `data`: the number of labels, and a digest of all of them.

The last five let `apply` refuse data that the decisions were not made for. A cell that a
spreadsheet could take for a formula has an apostrophe in front, which `read` takes away.
"""

import csv
import hashlib
import io
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

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
# Where a cell, or a part of it that another separator would make a cell, could be a formula. The
# report puts one apostrophe there whatever follows, so that taking one away always undoes it.
_GUARD = re.compile(r"""(?:^|(?<=[;,\t\n\r]))'(?=[ \t\r\n'"]*[=+\-@\t\r\n＝＋－＠])""")
_NUMBER = re.compile(r"[+-]?([0-9]{1,300}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True)
class Decision:
    """What is to happen to one training point."""

    position: int
    decision: str
    label: str
    new_label: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Decisions:
    """All decisions of a file, in its order, and what it says about the data they are for."""

    rows: tuple[Decision, ...]
    label_column: str | None = None
    id_column: str | None = None
    data: str | None = None

    def __len__(self) -> int:
        return len(self.rows)


def read(path: str | os.PathLike[str]) -> Decisions:
    """Read a decisions file; anything odd in it is an error that names the line.

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
    name = repr(os.fspath(path))
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except UnicodeDecodeError:
        raise ValueError(f"path must name a file in UTF-8; {name} is not.") from None
    except csv.Error as error:
        raise ValueError(f"path must name a CSV file; {name} is not: {error}.") from None
    header = lines[0] if lines else []
    if sorted(header) != sorted(COLUMNS):
        raise ValueError(
            f"path must name a file with the columns {', '.join(COLUMNS)}; {name} has "
            f"{', '.join(header)[:200] or 'none'}."
        )
    made: dict[int, Decision] = {}
    about: set[tuple[str, ...]] = set()
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(COLUMNS):
            raise ValueError(
                f"{name}, row {number}: must have {len(COLUMNS)} cells; has {len(line)}."
            )
        cells = {key: unguarded(cell) for key, cell in zip(header, line, strict=True)}
        decision = _decision(cells, f"{name}, row {number}")
        if decision.position in made:
            raise ValueError(
                f"{name}, row {number}: position {decision.position} is decided on twice."
            )
        made[decision.position] = decision
        about.add(tuple(cells[key] for key in ("label_column", "id_column", "data")))
    if not made:
        raise ValueError(f"path must name a file with at least one decision; {name} has none.")
    if len(about) > 1:
        raise ValueError(f"{name}: label_column, id_column and data must be the same in all rows.")
    return Decisions(tuple(made.values()), *(cell or None for cell in about.pop()))


def _decision(cells: Mapping[str, str], where: str) -> Decision:
    position, decision = cells["position"], cells["decision"]
    if not re.fullmatch("[0-9]{1,15}", position):
        raise ValueError(f"{where}: position must be a whole number from 0; got {position!r}.")
    if decision not in KINDS:
        raise ValueError(f"{where}: decision must be one of {', '.join(KINDS)}; got {decision!r}.")
    if decision == "relabel" and not cells["new_label"]:
        raise ValueError(f"{where}: new_label must be given with relabel; it is empty.")
    if decision != "relabel" and cells["new_label"]:
        raise ValueError(
            f"{where}: new_label must be empty with {decision}; got {cells['new_label']!r}."
        )
    return Decision(
        position=int(position),
        decision=decision,
        label=cells["label"],
        new_label=cells["new_label"] or None,
        id=cells["id"] or None,
    )


def apply(
    decisions: Decisions,
    columns: Mapping[str, Sequence[Any] | NDArray[Any]],
    *,
    label: str | None = None,
    id: str | None = None,
) -> dict[str, list[Any]]:
    """The training data with the decisions carried out; what was given is not changed.

    Parameters
    ----------
    decisions : what `read` returns.
    columns : one sequence per column, all of one length, in the order of the training points.
    label, id : the names of the columns of labels and ids; by default those the decisions name.

    Returns
    -------
    dict
        The columns as lists, without the removed rows. A new label is written as that label is
        written elsewhere in the column, so that types and formats stay.

    Raises
    ------
    ValueError
        Where the decisions were made for other data: the number of rows, the digest of all labels,
        or the label or id of a row decided on differs. Also where a new label is neither a label
        that the column has nor, in a column of numbers, a number.

    Examples
    --------
    See `read`.
    """
    table = {name: list(column) for name, column in columns.items()}
    sizes = {name: len(column) for name, column in table.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"columns must all have one length; got {sizes}.")
    label = _column(table, label or decisions.label_column, "label")
    labels = table[label]
    if decisions.data is not None and not _same_data(decisions.data, labels):
        raise ValueError(
            f"decisions must be for these data; they were made for {decisions.data}, "
            f"and column {label!r} has {describe(labels)}."
        )
    _check_rows(decisions, labels, label)
    id = id or decisions.id_column
    if id is not None:
        ids = table[_column(table, id, "id")]
        for row in decisions.rows:
            if row.id is not None and not same(ids[row.position], row.id):
                raise ValueError(
                    f"decisions must be for these data; the id at position {row.position} is "
                    f"{ids[row.position]!r}, and was {row.id!r}."
                )
    spelling = _Spelling(labels)
    for row in decisions.rows:
        if row.new_label is not None:
            labels[row.position] = spelling.of(row.new_label, label)
    removed = {row.position for row in decisions.rows if row.decision == "remove"}
    return {
        name: [cell for position, cell in enumerate(column) if position not in removed]
        for name, column in table.items()
    }


def _column(table: Mapping[str, Any], name: str | None, argument: str) -> str:
    if name is None:
        raise ValueError(f"{argument} must name a column; the decisions do not name one.")
    if name not in table:
        raise ValueError(f"{argument} must name a column; {name!r} is not among {list(table)}.")
    return name


def _check_rows(decisions: Decisions, labels: Sequence[Any], column: str) -> None:
    for row in decisions.rows:
        if row.position >= len(labels):
            raise ValueError(
                f"decisions must be for these data; position {row.position} is beyond the last "
                f"row, {len(labels) - 1}."
            )
        if not same(labels[row.position], row.label):
            raise ValueError(
                f"decisions must be for these data; {column!r} at position {row.position} is "
                f"{labels[row.position]!r}, and was {row.label!r}."
            )


class _Spelling:
    """How labels are written in a column."""

    def __init__(self, labels: Iterable[Any]) -> None:
        distinct = list(dict.fromkeys(labels))
        self._exact = {plain(label): label for label in reversed(distinct)}
        self._loose = {_normal(label): label for label in reversed(distinct)}
        self._numbers = all(_NUMBER.fullmatch(plain(label)) for label in distinct)
        self._text = all(isinstance(label, str) for label in distinct)

    def of(self, label: str, column: str) -> Any:
        if label in self._exact:
            return self._exact[label]
        if _normal(label) in self._loose:
            return self._loose[_normal(label)]
        if self._numbers and _NUMBER.fullmatch(label):
            return label if self._text else float(label)
        raise ValueError(f"new_label must be a label that column {column!r} has; got {label!r}.")


def unguarded(cell: str) -> str:
    """A cell without the apostrophes that keep spreadsheets from reading formulas."""
    return _GUARD.sub("", cell)


def plain(value: Any) -> str:
    """A label or id as the report writes it: what no UTF-8 file can hold becomes '?'."""
    text = str(value.item() if hasattr(value, "item") else value)
    return text.encode("utf-8", "replace").decode()


def _normal(value: Any) -> str:
    """One form for what files and types write differently: 1, 01 and 1.0; true and True."""
    text = plain(value)
    if _NUMBER.fullmatch(text):
        number = float(text)
        return repr(int(number)) if number.is_integer() and abs(number) < 2**53 else text
    return text.capitalize() if text.lower() in ("true", "false") else text


def same(one: Any, other: Any) -> bool:
    """Whether two labels or ids are the same, up to how numbers are written and rounded."""
    one, other = _normal(one), _normal(other)
    if one == other:
        return True
    if not (_NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)):
        return False
    # A float32 target and its text agree to some seven digits; whole numbers must agree fully.
    whole = one.lstrip("+-").isdigit() and other.lstrip("+-").isdigit()
    return not whole and math.isclose(float(one), float(other), rel_tol=1e-6)


def describe(labels: Sequence[Any]) -> str:
    """The number of labels and, unless they are fractions that formats may round, a digest."""
    known = {label: _normal(label) for label in set(labels)}
    count = f"{len(labels)} labels"
    if any(_NUMBER.fullmatch(text) and not text.lstrip("+-").isdigit() for text in known.values()):
        return count
    digest = hashlib.sha256()
    for label in labels:
        digest.update(known[label].encode() + b"\0")
    return f"{count} (sha256 {digest.hexdigest()[:16]})"


def _same_data(data: str, labels: Sequence[Any]) -> bool:
    found = describe(labels)
    return data == (found if "(" in data else found.split(" (")[0])
