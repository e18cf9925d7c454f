"""What the command line shows in the terminal."""

import logging
import sys
import warnings
from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dataworth.arrays import Array
from dataworth.cli import STANDARD_OUTPUT
from dataworth.cli.options import typed
from dataworth.errors import ReadingWarning
from dataworth.files.atomic import naming
from dataworth.inputs.groups import by
from dataworth.inputs.listings import quantity
from dataworth.owner_values import OwnerValues
from dataworth.result import DataValues

if TYPE_CHECKING:  # it loads models, which few commands need
    from dataworth.comparison import Comparison


# Columns of texts; numbers are on the right.
LEFT = {"index", "label", "suggested", "group", "owner", "model", "metric", "verdict"}


def note(text: str) -> None:
    """Say something that is not part of the results."""
    shown = "".join(c if c.isprintable() else "�" for c in text)
    print(f"dataworth: note: {shown}", file=sys.stderr)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def notes_of_the_run() -> Iterator[None]:
    """Show as notes what the library logs while it works."""
    logger, handler = logging.getLogger("dataworth"), _Notes()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@contextmanager
def notes() -> Iterator[None]:
    """Say warnings about what was read as notes, in the words of the command line.

    They are said at the end, and only if all went well: an error is a single line.
    """
    said: list[str] = []
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, ReadingWarning):
                said.append(typed(str(message)))
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        warnings.simplefilter("always", ReadingWarning)
        yield
    for text in dict.fromkeys(said):
        note(text)


@naming(STANDARD_OUTPUT)
def summary(
    values: DataValues,
    groups: Array | None,
    top: int,
    out: TextIO,
    *,
    n_features: int | None = None,
    how: str | None = None,
    id: str | None = None,
) -> None:
    """The facts of a run in a line, the least valuable points, and pay-outs by group.

    `id` is the name of the column that the ids of the points come from.
    """
    console = Console(file=out, highlight=False, markup=False)
    facts = [f"{len(values):,} training points"]
    if n_features is not None:
        facts.append("1 feature" if n_features == 1 else f"{n_features:,} features")
    if how is not None:
        facts.append(how)
    elif values.n_validation:
        facts.append(f"{values.n_validation:,} validation points")
    scale, worth = values.scale, values.values / values.scale
    facts.append(f"values from {worth.min():.4g} to {worth.max():.4g}{values.unit}")
    console.print(", ".join(facts) + ".")
    if values.notes is not None and values.notes.any.any():
        console.print(str(values.notes))
    if values.unit:
        console.print(f"Values are shown as shares{values.unit}.")
    bounded = not np.array_equal(values.lower, values.upper)
    if values.ruler is not None:
        times = "once" if values.ruler.n_repeats == 1 else f"{values.ruler.n_repeats} times"
        measured = f"(Measured on errors planted {times}.)"
        console.print(f"{values.ruler.sentence} {measured}", soft_wrap=True)
    if values.far_off_said:
        console.print(values.far_off_said)
    if top:
        console.print(_worst(values, top, bounded, id))
    if groups is not None:
        names = ["group", "points", "sum", *(("lower", "upper") if bounded else ()), "share"]
        table = _table("By group", names)
        for row in by(values.values, values.lower, values.upper, groups):
            ends = [f"{row[name] / scale:.6g}" for name in (("lower", "upper") if bounded else ())]
            share = _percent(row["share"])
            total = f"{row['sum'] / scale:.6g}"
            cells = [_shown(row["group"]), f"{row['count']:,}", total, *ends, share]
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table)


def _worst(values: DataValues, top: int, bounded: bool, id: str | None) -> Table:
    """The most suspect points or, if nobody knows who agrees with them, the least valuable."""
    order = values.suspects_first[:top]

    def shares(column: Array) -> list[str]:
        return [f"{entry / values.scale:.6g}" for entry in column[order].tolist()]

    def labels(column: Array) -> list[str]:
        written = quantity if values.numeric else _shown
        return [written(entry) for entry in column[order].tolist()]

    columns = {"value": shares(values.values)}
    if bounded:
        columns |= {"lower": shares(values.lower), "upper": shares(values.upper)}
    columns["target" if values.numeric else "label"] = labels(values.labels)
    which = "least valuable"
    if values.agreement is not None and values.suggested is not None:
        which = "most suspect"
        columns |= {"suggested": labels(values.suggested), "agreement": shares(values.agreement)}
        columns["score"] = [f"{score:.2f}" for score in values.score[order]]
    left = LEFT - {"suggested"} if values.numeric else LEFT
    table = _table(f"The {min(top, len(values))} {which}", ["index", *columns], left)
    numbered = np.array_equal(values.index, np.arange(len(values)))
    table.columns[0].header = Text(_shown(id or ("index" if numbered else "id")))
    for index, *cells in zip(values.index[order].tolist(), *columns.values(), strict=True):
        table.add_row(*(Text(cell) for cell in (_shown(index), *cells)))
    return table


@naming(STANDARD_OUTPUT)
def comparison(made: "Comparison") -> None:
    """The verdict in a line, what each model scores before and after, and how they were judged."""
    console = Console(file=sys.stdout, highlight=False, markup=False)
    console.print(f"{made}")
    rows = f"{made.n_before:,} rows before and {made.n_after:,} after"
    console.print(f"{rows}, judged on {made.how}", soft_wrap=True)
    table = _table("", ["model", "before", "after", "difference", "95 % interval", "verdict"])
    for score in made.in_headline:
        ends = f"{score.shown(score.lower)} to {score.shown(score.upper)}"
        numbers = [score.shown(x) for x in (score.before, score.after, score.difference)]
        cells = [_shown(score.model), *numbers, ends, score.verdict]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    for score in made.scores:
        if score.model == made.headline.model and score.metric != made.headline.metric:
            console.print(f"{score.verdict}: {score}", soft_wrap=True)
    for said in made.of_scores:  # those of columns are told with what they were taken for
        note(said)


@naming(STANDARD_OUTPUT)
def owners(paid: OwnerValues, budget: str | None, out: TextIO) -> None:
    """What each owner's data set is worth, with pay-outs if there is a budget."""
    console = Console(file=out, highlight=False, markup=False)
    names = ["owner", "points", "value", "± 95 %", "share", "by points"]
    table = _table("Owners as a whole", [*names, *(("amount",) if budget else ())])
    columns = paid.columns(budget)
    for i in range(len(paid)):
        value = columns["value"][i] / paid.scale
        margin = columns["upper"][i] / paid.scale - value
        cells = [
            _shown(columns["owner"][i]),
            f"{columns['n_points'][i]:,}",
            f"{value:.6g}",
            "-" if np.isnan(margin) else f"{margin:.2g}",
            *(_percent(columns[name][i]) for name in ("share", "point_share")),
            *((f"{columns['amount'][i]:,.2f}",) if budget else ()),
        ]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    if not paid.exact:
        note("owners were sampled; the intervals include what that adds.")
    if np.any(paid.share < 0.0):
        note("where a share is negative, predictions are better without that owner's data.")


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f} %"


@naming(STANDARD_OUTPUT)
def parameters(values: DataValues, out: TextIO) -> None:
    """How the values were computed, one parameter per line."""
    console = Console(file=out, highlight=False, markup=False)
    if not values.version:
        console.print("Parameters are not known, because CSV and TSV files do not keep them.")
        return
    facts = {
        "dataworth": values.version,
        "validation points": values.n_validation,
        **{name: "none" if p is None else p for name, p in values.params.items()},
    }
    if values.weight_error:
        facts["weight error"] = f"{values.weight_error / values.scale:.3g}"
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, fact in facts.items():
        table.add_row(Text(_shown(name)), Text(_shown(fact)))
    console.print(table)


def _table(title: str, names: list[str], left: Set[str] = LEFT) -> Table:
    table = Table(title=title, title_justify="left", box=None, title_style="bold")
    for name in names:
        justify: Literal["left", "right"] = "left" if name in left else "right"
        table.add_column(name, justify=justify, overflow="ellipsis")
    return table


def _shown(value: Any) -> str:
    """Anything as one short printable line, so that data cannot steer the terminal."""
    text = "".join(c if c.isprintable() else "�" for c in str(value))
    return text if len(text) <= 40 else text[:39] + "…"
