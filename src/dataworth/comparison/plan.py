"""What is compared: tables that are read alike, and the rows that models learn from and judge."""

import warnings
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from dataworth.arrays import Array, Ints
from dataworth.errors import InputError, InputTypeError, near
from dataworth.inputs import checks, frames
from dataworth.inputs.targets import PLAIN_NUMBERS, are_quantities, quantities_as_text

FAVOURS = (
    "Only rows that no decision touched are judged, which favours the cleaned data; rows that were "
    "kept apart (test) give a fair answer."
)


@dataclass(frozen=True)
class Side:
    """The rows of one table: their features, their targets, and all of their cells."""

    X: Any
    y: Array
    table: "nw.DataFrame[Any]"

    @property
    def size(self) -> int:
        return self.y.size


@dataclass(frozen=True)
class Data:
    """All tables by name, read alike."""

    sides: Mapping[str, Side]
    numeric: bool
    id: str | None


@dataclass(frozen=True)
class Part:
    """One training of every model before and after.

    Attributes
    ----------
    seed : int
        Which repetition it belongs to.
    learn : dict of str to array of int, or None
        The rows to learn from, before and after; None stands for all.
    judged : array of int
        Which of the judged rows are predicted, by their places in `Plan.judged`.
    """

    seed: int
    learn: Mapping[str, Ints] | None
    judged: Ints


@dataclass(frozen=True)
class Plan:
    """What is trained and judged.

    Attributes
    ----------
    side : str
        The table that the judged rows are in.
    judged : array of int
        Their positions there.
    parts : sequence of Part
        The trainings.
    n_seeds : int
        How many repetitions there are.
    how, notes
        As in `Comparison`.
    """

    side: str
    judged: Ints
    parts: Sequence[Part]
    n_seeds: int
    how: str
    notes: tuple[str, ...] = ()


def table(given: Any, name: str) -> "nw.DataFrame[Any]":
    if isinstance(given, Mapping):
        columns = {key: list(column) for key, column in given.items()}
        given = nw.from_dict(columns, backend=frames.installed(name)).to_native()
    table = frames.frame(given, name)
    if table is None:
        came = f"got {type(given).__name__}"
        raise InputTypeError(name, "be a data frame or a mapping of columns", came)
    if 0 in table.shape:
        raise InputError(name, "have rows and columns", f"got shape {table.shape}")
    return table


def read(
    tables: Mapping[str, "nw.DataFrame[Any]"],
    label: Any,
    id: str | None,
    drop: Sequence[str],
    task: str,
) -> Data:
    """Find out which columns are what, the same in all tables."""
    for argument, names in (("label", [label]), ("id", [] if id is None else [id]), ("drop", drop)):
        for column in names:
            if column not in tables["before"].columns:
                came = f"{column!r} is not among {tables['before'].columns}"
                hint = near(column, tables["before"].columns)
                raise InputError(argument, "name a column of before", came, hint)
    features = [c for c in tables["before"].columns if c not in {label, id, *drop}]
    if not features:
        raise InputError("before", "have a column of features", "it has none")
    for name, table in tables.items():
        wanted = [*features, label, *([] if id is None or name == "test" else [id])]
        lacking = [column for column in wanted if column not in table.columns]
        if lacking:
            raise InputError(name, "have the columns of before", f"missing: {lacking[0]!r}")
    alike = _alike(tables, features if id is None else [*features, id])
    labels = np.asarray(frames.entries(tables["before"][label].to_native(), "before"))
    said = quantities_as_text(labels) if task == "auto" else ""
    if said:
        hint = f"{PLAIN_NUMBERS} With task classes, each entry is a class."
        must = "hold numbers or classes"
        raise InputError(f"{label!r} of before", must, f"it holds {said}", hint)
    numeric = task == "numbers" or (task == "auto" and are_quantities(labels))
    read = checks.targets if numeric else checks.labels
    sides = {}
    for name, table in alike.items():
        y = read(table[label].to_native(), f"{label!r} of {name}", n_points=len(table), of=name)
        sides[name] = Side(
            table.select(features).to_native(), y if numeric else y.astype(str), table
        )
    return Data(sides, numeric, id)


def _alike(
    tables: Mapping[str, "nw.DataFrame[Any]"], features: Sequence[str]
) -> dict[str, "nw.DataFrame[Any]"]:
    """Make text of columns whose kind differs between tables.

    A column can become one of numbers just because the row with its only other entry was removed.
    """
    out = dict(tables)
    for column in features:
        kinds = [table.schema[column] for table in tables.values() if column in table.columns]
        if all(kind.is_numeric() for kind in kinds) or len(set(map(str, kinds))) == 1:
            continue
        text = nw.col(column).cast(nw.String())
        has = {name: table for name, table in out.items() if column in table.columns}
        out |= {name: table.with_columns(text) for name, table in has.items()}
    return out


def on_test_rows(data: Data, seeds: int) -> Plan:
    """All rows are learnt from, and all test rows are judged, with every seed."""
    rows = np.arange(data.sides["test"].size)
    parts = [Part(seed, None, rows) for seed in range(seeds)]
    how = f"{rows.size:,} test rows, {_times(seeds, 'seed')}"
    return Plan("test", rows, parts, seeds, how)


def on_untouched_rows(data: Data, seeds: int, folds: int) -> Plan:
    """Each fold of the rows that both have is left out of both, and judged."""
    own, others = untouched(data.sides["before"].table, data.sides["after"].table, data.id)
    if own.size < 2 * folds:
        wanted = f"share at least {2 * folds} unchanged rows with before"
        hint = "Give test rows, or name the rows by id."
        raise InputError("after", wanted, f"it shares {own.size}", hint)
    y = data.sides["before"].y[own]
    parts = []
    for seed in range(seeds):
        kind = KFold if data.numeric else StratifiedKFold
        with warnings.catch_warnings():  # a class with fewer rows than folds is no reason to stop
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = list(kind(folds, shuffle=True, random_state=seed).split(y, y))
        for _, judged in splits:
            learn = {
                "before": np.setdiff1d(np.arange(data.sides["before"].size), own[judged]),
                "after": np.setdiff1d(np.arange(data.sides["after"].size), others[judged]),
            }
            parts.append(Part(seed, learn, judged))
    how = f"{own.size:,} rows that no decision touched, {folds} folds, {_times(seeds, 'time')}"
    return Plan("before", own, parts, seeds, how, (FAVOURS,))


def _times(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def untouched(
    before: "nw.DataFrame[Any]", after: "nw.DataFrame[Any]", id: str | None
) -> tuple[Ints, Ints]:
    """Find the rows of one table that another has unchanged.

    Parameters
    ----------
    before, after : DataFrame of narwhals
        The tables; the second has the columns of the first.
    id : str or None
        A column that names rows, each once; None finds rows by their contents alone, equal rows in
        the order in which they come.

    Returns
    -------
    own, others : array of int
        The positions of these rows before and after, in the order of `before`.

    Examples
    --------
    >>> import narwhals as nw
    >>> import pandas
    >>> from dataworth.comparison.plan import untouched
    >>> before = nw.from_native(pandas.DataFrame({"x": [1, 2, 2, 3], "y": ["a", "b", "b", "c"]}))
    >>> after = nw.from_native(pandas.DataFrame({"x": [2, 2, 3], "y": ["b", "c", "c"]}))
    >>> own, others = untouched(before, after, None)
    >>> own.tolist(), others.tolist()
    ([1, 3], [0, 2])
    """
    columns = list(before.columns)
    if id is not None:
        for name, table in (("before", before), ("after", after)):
            repeated = len(table) - table[id].n_unique()
            if repeated:
                raise InputError("id", f"name each row of {name} once", f"{repeated} are repeated")
    waiting: dict[Any, deque[int]] = defaultdict(deque)
    for place, row in enumerate(_rows(after.select(columns))):
        waiting[row].append(place)
    pairs = [
        (place, waiting[row].popleft())
        for place, row in enumerate(_rows(before))
        if waiting.get(row)
    ]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _rows(table: "nw.DataFrame[Any]") -> Iterator[tuple[Any, ...]]:
    """The rows as tuples that equal ones find each other by; None stands for what is missing."""
    columns = []
    for column in table.iter_columns():
        gone = frames.missing(column)
        cells = column.to_list()
        columns.append([None if g else _cell(c) for c, g in zip(cells, gone, strict=True)])
    return zip(*columns, strict=True)


def _cell(cell: Any) -> Any:
    try:
        hash(cell)
    except TypeError:
        return repr(cell)
    return cell
