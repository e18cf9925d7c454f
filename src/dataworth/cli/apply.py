"""`dataworth apply`: carry out what was decided in the report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dataworth.cli import options
from dataworth.errors import InputError, near

if TYPE_CHECKING:
    from dataworth.decisions import Decisions


def apply_(
    decisions: Annotated[
        Path,
        typer.Argument(
            metavar="DECISIONS",
            help="The CSV file that the report wrote; with --relabel or --remove, a file of values "
            "that `dataworth value -o` wrote.",
        ),
    ],
    train: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="The table that the decisions are about.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the new table.")],
    label: Annotated[
        str | None,
        typer.Option(help="The column of labels; by default, the one that DECISIONS names."),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(help="The column of ids; by default, the one that DECISIONS names."),
    ] = None,
    relabel: Annotated[
        bool,
        typer.Option(
            "--relabel", help="Give all suspects of a file of values the label that is suggested."
        ),
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove all suspects of a file of values.")
    ] = False,
    suspects: Annotated[
        int | None,
        typer.Option(
            help="How many suspects --relabel or --remove takes; by default, as many as the ruler "
            "says.",
            min=1,
        ),
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Remove and relabel points as decided in the report, and write the cleaned table.

    \b
    Examples:
      dataworth apply decisions.csv train.csv -o cleaned.csv
      dataworth apply values.parquet train.csv --label y --relabel -o cleaned.csv
    """
    import numpy as np

    from dataworth.cli import advice, terminal
    from dataworth.cli import data as inputs
    from dataworth.decisions import carried_out
    from dataworth.files import paths, tables
    from dataworth.files import values as value_files
    from dataworth.inputs.targets import shares_changed

    if relabel and remove:
        raise typer.BadParameter("--relabel must not be given with --remove.")
    if suspects is not None and not (relabel or remove):
        raise typer.BadParameter("--suspects must come with --relabel or --remove.")
    binary = set(value_files.ENDINGS) - set(tables.SEPARATORS)
    if not (relabel or remove) and decisions.suffix.lower() in binary:
        raise typer.BadParameter(
            "DECISIONS must be the CSV file that the report wrote; with a file of values, give "
            "--relabel or --remove."
        )
    inputs.keep_apart({"--output": output}, {"DECISIONS": decisions, "TRAIN": train})
    for path, argument in ((train, "TRAIN"), (output, "--output")):
        inputs.usage(tables.check_ending, path, tables.TABLES, argument)
    if train.suffix.lower() in tables.SEPARATORS and output.suffix.lower() not in tables.SEPARATORS:
        raise typer.BadParameter(
            "--output must be .csv or .tsv, as TRAIN is: cells stay as they are."
        )
    for path, argument in ((decisions, "DECISIONS"), (train, "TRAIN")):
        inputs.usage(paths.to_read, path, argument)
    inputs.usage(paths.to_write, output, "--output")
    made = _made(decisions, relabel=relabel, remove=remove, n=suspects)
    table = tables.read_table(train, text=True)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    listed = ", ".join(map(repr, columns))
    for name, option in ((label, "--label"), (id, "--id")):
        if name is not None and name not in columns:
            wanted = f"name a column of {train}, one of {listed}"
            raise InputError(option, wanted, f"got {name!r}", near(name, columns))
    for typed, name in ((label, made.label_column), (id, made.id_column)):
        if typed is None and name is not None and name not in columns:
            wanted = f"be the table that {decisions} was made for, which has a column {name!r}"
            raise InputError("TRAIN", wanted, f"{train} has {listed}")
    said = {"label": "--label", "decisions": "DECISIONS", "new_label": f"new_label in {decisions}"}
    with inputs.renaming(said):
        done = carried_out(made, columns, label=label, id=id)
    relabelled = tables.with_column(table, done.label, done.labels)
    tables.write_table(output, relabelled.take(np.array(done.kept, np.int64)), like=train)
    print(
        f"{done.relabelled:,} relabelled, {done.removed:,} removed: {table.num_rows:,} rows in, "
        f"{len(done.kept):,} rows out, in {output}."
    )
    changed = shares_changed(columns[done.label], [done.labels[at] for at in done.kept])
    if changed:
        terminal.note(changed)
    then = advice.comparing(
        train, done.label, id=made.id_column if id is None else id, drop=(), after=output
    )
    print(
        "Is a model better with it? Add --test if you have test rows, and --drop if `value` had it:"
    )
    print(then)


def _made(path: Path, *, relabel: bool, remove: bool, n: int | None) -> "Decisions":
    """The decisions of a file, or those about the suspects of a file of values."""
    from dataworth.cli import data as inputs
    from dataworth.decisions import read, suspects

    if not (relabel or remove):
        with inputs.renaming({"path": "DECISIONS"}):
            return read(path)
    values, _ = inputs.values(path, "DECISIONS")
    with inputs.renaming({"n": "--suspects", "decision": "--relabel" if relabel else "--remove"}):
        return suspects(values, "relabel" if relabel else "remove", n)
