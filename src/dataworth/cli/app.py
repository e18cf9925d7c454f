"""The commands of `dataworth`. `cli.main` runs them and turns errors into one line.

A further command is registered by `app.command("name")(function)`.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

import dataworth
from dataworth import DataValues
from dataworth import report as report_writer
from dataworth.cli import data as inputs
from dataworth.cli import terminal
from dataworth.decisions import apply as apply_decisions
from dataworth.decisions import read as read_decisions
from dataworth.explanation import Explanation
from dataworth.files import tables

REPORTED = 500  # points in the table of a report
MOST_CONTRIBUTIONS = 2**25  # numbers held while they are explained

app = typer.Typer(
    help="What is each training example worth? Exact Shapley values for nearest neighbours.",
    pretty_exceptions_enable=False,
)


def _in(panel: str, help: str, *names: str, **rest: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **rest)


DATA, RESULTS, METHOD = "Data", "Results", "Method"
# Options that several commands have.
Label = Annotated[
    str | None,
    _in(
        DATA,
        "The column of labels. In .npz files the name of an array, y by default; in .npy files the "
        "number of a column from 0, or another .npy file.",
    ),
]
Id = Annotated[str | None, _in(DATA, "A column that names the points; not a feature.")]
Group = Annotated[
    str | None, _in(DATA, "A column of data owners: adds their pay-outs; not a feature.")
]
By = Annotated[
    list[str] | None,
    _in(RESULTS, "A column by which the report breaks values down; repeat it for more."),
]
Image = Annotated[
    str | None, _in(RESULTS, "A column of image files for the report; not a feature.")
]
Title = Annotated[str | None, _in(RESULTS, "The headline of the report.")]
Top = Annotated[int, _in(RESULTS, "How many of the least valuable points to show.", min=0)]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def _version(asked: bool) -> None:
    if asked:
        print(f"dataworth {dataworth.__version__}")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def value(
    train: Annotated[
        Path,
        typer.Argument(
            help="The training points: .csv, .tsv, .parquet, .arrow, .feather, .npz or .npy.",
        ),
    ],
    label: Label = None,
    validation: Annotated[
        Path | None,
        _in(
            DATA,
            "Validation points with the same columns. Without it, and without --cv, every training "
            "point judges the others (leave-one-out).",
        ),
    ] = None,
    cv: Annotated[
        int | None, _in(DATA, "Cross-valuation: each of so many folds judges the others.", min=2)
    ] = None,
    id: Id = None,
    group: Group = None,
    features: Annotated[
        list[str] | None, _in(DATA, "A column to use; repeat it for more. Default: all others.")
    ] = None,
    drop: Annotated[
        list[str] | None, _in(DATA, "A column not to use as a feature; repeat it for more.")
    ] = None,
    output: Annotated[
        str | None,
        _in(
            RESULTS,
            "Where to write the values: .parquet, .arrow, .feather, .csv, .tsv, .npz, or - for CSV "
            "on standard output.",
            "--output",
            "-o",
        ),
    ] = None,
    report: Annotated[Path | None, _in(RESULTS, "Write an HTML report there.")] = None,
    by: By = None,
    image: Image = None,
    title: Title = None,
    top: Top = 10,
    neighbors: Annotated[int, _in(METHOD, "K.", "--neighbors", "-k")] = 5,
    game: Annotated[
        Literal["soft", "hard", "regression"],
        _in(METHOD, "What a set of points is worth: a share of the vote, the vote, or the error."),
    ] = "soft",
    weights: Annotated[
        Literal["rbf", "linear", "inverse", "uniform"],
        _in(METHOD, "How much a neighbour counts by its distance."),
    ] = "rbf",
    bandwidth: Annotated[str, _in(METHOD, "That of rbf: a number, or auto.")] = "auto",
    bits: Annotated[str, _in(METHOD, "Weights have 2^bits levels: 1 to 10, or none.")] = "3",
    metric: Annotated[
        str | None, _in(METHOD, "Any metric of scikit-learn; euclidean by default.")
    ] = None,
    radius: Annotated[
        float | None, _in(METHOD, "All points so near count, instead of the K nearest.")
    ] = None,
    semivalue: Annotated[
        str, _in(METHOD, "shapley, banzhaf, or beta:4,1 for Beta(4, 1).")
    ] = "shapley",
    support: Annotated[
        int | None, _in(METHOD, "Only so many nearest points have weight: exact, and fast.")
    ] = None,
    max_rank: Annotated[
        str | None, _in(METHOD, "Rank only so many points: a number, sqrt or adaptive.")
    ] = None,
    encoder: Annotated[
        Literal["auto", "none", "forest"],
        _in(
            METHOD,
            "How columns become numbers: auto encodes tables and takes arrays as they are, none "
            "takes numbers as they are, forest learns from labels (with --validation or --cv).",
        ),
    ] = "auto",
    jobs: Annotated[int, _in(METHOD, "Threads; -1 is all cores.", "--jobs", "-j")] = -1,
    checkpoint: Annotated[
        Path | None,
        _in(METHOD, "Keep the state in this folder; the same command goes on from it."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Value every training point of a file.

    \b
    Examples:
      dataworth value train.csv --label y -o values.parquet
      dataworth value train.csv --label y --validation val.csv --id name -o -
      dataworth value train.parquet --label y --group owner --max-rank sqrt
    """
    valuator = inputs.valuator(
        n_neighbors=neighbors,
        game=game,
        weights=weights,
        bandwidth=inputs.number(bandwidth, "--bandwidth", float, "auto"),
        n_bits=None if bits == "none" else inputs.number(bits, "--bits", int),
        metric=metric,
        radius=radius,
        semivalue=inputs.semivalue(semivalue),
        support=support,
        max_rank=inputs.number(max_rank, "--max-rank", int, "sqrt", "adaptive"),
        n_jobs=jobs,
    )
    inputs.check_output(output, report)
    data = inputs.training(
        train, label, id=id, group=group, image=image, by=by, features=features, drop=drop
    )
    X, y, judges = inputs.arrays(data, validation, cv)
    inputs.set_encoder(valuator, encoder, X, alone=judges is None and cv is None)
    with inputs.in_words(data, validation):
        values = valuator.fit(X, y).value(*(judges or ()), cv=cv, checkpoint=checkpoint)
    values = replace(values, origin=None, index=values.index if data.ids is None else data.ids)
    if game != "regression" and np.unique(values.labels).size == 1:
        print("dataworth: note: all labels are the same, so every value is 0.", file=sys.stderr)
    how = None if judges else "leave-one-out" if cv is None else f"{cv} folds"
    out = sys.stderr if output == "-" else sys.stdout
    terminal.summary(values, data.owners, top, out, n_features=len(data.features), how=how)
    _write_values(output, values, data)
    if report is not None:
        worst = np.argsort(values.values, kind="stable")[: _explained(values)].tolist()
        with inputs.in_words(data, validation):
            why = valuator.explain(worst)
        _write_report(report, values, data, "train" if judges is None else validation, title, why)
        print(f"The report is in {report}.", file=out)


@app.command()
def demo(debug: Debug = False) -> None:
    """Find planted label errors among handwritten digits.

    \b
    Example:
      dataworth demo
    """
    from dataworth import demo as example

    example.main()


@app.command()
def info(
    path: Annotated[Path, typer.Argument(metavar="VALUES", help="A file of values.")],
    top: Top = 10,
    debug: Debug = False,
) -> None:
    """Show what a file of values holds: how they were computed, and the least valuable points.

    \b
    Example:
      dataworth info values.parquet --top 20
    """
    inputs.usage(tables.check_ending, path, tables.WRITABLE, "VALUES")
    values, owners = tables.read_values(path)
    terminal.parameters(values, sys.stdout)
    terminal.summary(values, owners, top, sys.stdout)


@app.command()
def report(
    path: Annotated[Path, typer.Argument(metavar="VALUES", help="A file of values.")],
    train: Annotated[Path, typer.Argument(help="The training points, in the same order.")],
    output: Annotated[Path, _in(RESULTS, "Where to write the report: .html.", "--output", "-o")],
    label: Label = None,
    id: Id = None,
    group: Group = None,
    validation: Annotated[
        Path | None, _in(DATA, "The validation points that the values come from.")
    ] = None,
    by: By = None,
    image: Image = None,
    title: Title = None,
    debug: Debug = False,
) -> None:
    """Write the HTML report of values that were computed before.

    Which points hurt whom is known to the run only: `dataworth value --report` shows it too.

    \b
    Example:
      dataworth report values.parquet train.csv --label y -o report.html
    """
    inputs.usage(tables.check_ending, path, tables.WRITABLE, "VALUES")
    inputs.check_output(None, output)
    data = inputs.training(train, label, id=id, group=group, image=image, by=by)
    values, _ = tables.read_values(path)
    if len(values) != len(data.source):
        raise ValueError(
            f"{train} must hold the {len(values)} points of {path}; it has {len(data.source)}."
        )
    _write_report(output, values, data, validation, title)
    print(f"The report is in {output}, without reasons: `dataworth value --report` finds them too.")


@app.command("apply")
def apply_(
    decisions: Annotated[Path, typer.Argument(help="The CSV file that the report wrote.")],
    train: Annotated[Path, typer.Argument(help="The table that the decisions are about.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the new table.")],
    label: Annotated[
        str | None, typer.Option(help="The column of labels; by default, what the file says.")
    ] = None,
    id: Annotated[
        str | None, typer.Option(help="The column of ids; by default, what the file says.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Remove and relabel points as decided in the report, and write the cleaned table.

    \b
    Example:
      dataworth apply decisions.csv train.csv -o cleaned.csv
    """
    for path, argument in ((train, "TRAIN"), (output, "--output")):
        inputs.usage(tables.check_ending, path, tables.TABLES, argument)
    if train.suffix.lower() in tables.SEPARATORS and output.suffix.lower() not in tables.SEPARATORS:
        raise typer.BadParameter(
            "--output must be .csv or .tsv, as TRAIN is: cells stay as they are."
        )
    try:
        made = read_decisions(decisions)
    except ValueError as error:
        raise ValueError(str(error).replace("path must", "DECISIONS must")) from error
    table = tables.read_table(train, text=True)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    place = "\0position"  # no column of a file has this name
    done = apply_decisions(made, {**columns, place: range(table.num_rows)}, label=label, id=id)
    column = label or made.label_column
    assert column is not None  # or nothing could have been applied
    cleaned = tables.with_column(table.take(np.array(done[place], np.int64)), column, done[column])
    tables.write_table(output, cleaned, like=train)
    print(f"{table.num_rows:,} rows in, {cleaned.num_rows:,} rows out: {output}.")


def _explained(values: DataValues) -> int:
    """How many of the least valuable points are explained: as many as the report shows, if few."""
    return max(min(REPORTED, MOST_CONTRIBUTIONS // values.n_validation), 1)


def _write_values(output: str | None, values: DataValues, data: inputs.Data) -> None:
    ids = data.ids is not None
    if output == "-":
        columns = tables.value_columns(values, ids, data.owners)
        tables.write_csv(sys.stdout.buffer, {k: v.tolist() for k, v in columns.items()})
    elif output is not None:
        tables.write_values(output, values, ids=ids, groups=data.owners)
        print(f"The values are in {output}.")


def _write_report(
    path: Path,
    values: DataValues,
    data: inputs.Data,
    judges: Path | Literal["train"] | None,
    title: str | None,
    explanations: Sequence[Explanation] = (),
) -> None:
    """`judges` is the file of the validation points, or "train" where training points judge."""
    validation: Any = judges
    if isinstance(judges, Path):
        validation = inputs.read(judges, "--validation").columns()
    places = np.arange(len(values))  # by which the report counts points
    named = None if np.array_equal(values.index, places) else values.index
    report_writer.write(
        path,
        replace(values, index=places),
        data.source.columns(),
        explanations=explanations,
        label=data.label,
        ids=named if data.id is None else data.id,
        group=data.group,
        by=data.by,
        image=data.image,
        image_root=Path(data.source.name).resolve().parent,
        validation=validation,
        title=title or report_writer.TITLE,
    )
