"""`dataworth apply`: carry out what was decided in the report."""

from pathlib import Path
from typing import Annotated

import typer

from dataworth.cli import options
from dataworth.errors import InputError, near


def apply_(
    decisions: Annotated[
        Path, typer.Argument(metavar="DECISIONS", help="The CSV file that the report wrote.")
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
    debug: options.Debug = False,
) -> None:
    """Remove and relabel points as decided in the report, and write the cleaned table.

    \b
    Example:
      dataworth apply decisions.csv train.csv -o cleaned.csv
    """
    import numpy as np

    from dataworth.cli import columns as told
    from dataworth.cli import data as inputs
    from dataworth.cli import terminal
    from dataworth.decisions import carried_out, read
    from dataworth.files import paths, tables
    from dataworth.inputs.targets import shares_changed

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
    with inputs.renaming({"path": "DECISIONS"}):
        made = read(decisions)
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
    then = told.comparing(train, done.label, id=id or made.id_column, drop=(), after=output)
    print(f"Is a model better with it? {then}")
