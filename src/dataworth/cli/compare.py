"""`dataworth compare`: is a model better with the cleaned data?"""

import sys
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from dataworth.cli import options
from dataworth.cli.options import DATA, METHOD, RESULTS, option
from dataworth.errors import extra


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="The training table as it was.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The same table after cleaning.")],
    label: Annotated[str, option(DATA, "The column of labels.")],
    test: Annotated[
        Path | None,
        option(
            DATA,
            "Rows to judge on that neither table has. Without them, models are cross-validated on "
            "the rows that are the same before and after.",
        ),
    ] = None,
    task: options.Task = "auto",
    id: options.Id = None,
    drop: Annotated[
        list[str] | None, option(DATA, "A column not to use as a feature. Repeat it for more.")
    ] = None,
    plot: Annotated[
        Path | None, option(RESULTS, "Where to draw the differences: .png, .svg or .pdf.")
    ] = None,
    seeds: Annotated[
        int, option(METHOD, "How often models are trained, each time with another seed.", min=1)
    ] = 5,
    folds: Annotated[
        int, option(METHOD, "How many folds the cross-validation without --test has.", min=2)
    ] = 5,
    jobs: Annotated[
        int, option(METHOD, "How many threads to use; -1 means all cores.", "--jobs", "-j")
    ] = -1,
    debug: options.Debug = False,
) -> None:
    """Train a few models before and after cleaning, and say whether they got better.

    \b
    Example:
      dataworth compare train.csv train-cleaned.csv --test test.csv --label y
    """
    from dataworth import comparison
    from dataworth.cli import advice, terminal
    from dataworth.cli import data as inputs
    from dataworth.errors import ReadingWarning
    from dataworth.files import paths, tables
    from dataworth.files.atomic import atomic

    files = {"BEFORE": before, "AFTER": after, "--test": test}
    read = {}
    for name, path in files.items():
        if path is not None:
            inputs.usage(tables.check_ending, path, tables.TABLES, name)
            inputs.usage(paths.to_read, path, name)
            read[name] = path
    if plot is not None:
        inputs.usage(tables.check_ending, plot, (".png", ".svg", ".pdf"), "--plot")
        inputs.usage(paths.to_write, plot, "--plot")
        inputs.keep_apart({"--plot": plot}, files)
        matplotlib = extra("matplotlib.figure", "--plot", "plot")
    given = {name: tables.read_table(path, names=[id] if id else []) for name, path in read.items()}
    first, apart = given["BEFORE"].column_names[0], list(drop or ())
    if id is None and first == "" and first not in apart:
        ids = given["BEFORE"].column(first).to_pylist()
        if len(set(ids)) == len(ids):
            terminal.note("the first column has no name, so it is used as --id.")
            id = first
        else:
            terminal.note("the first column has no name and repeats entries, so it is not used.")
            apart.append(first)
    words = {"before": str(before), "after": str(after), "test": str(test)}
    words |= {f"{label!r} of {key}": f"column {label!r} of {path}" for key, path in words.items()}
    words |= {name: f"--{name}" for name in ("label", "id", "drop", "task", "seeds", "folds")}
    # A terminal shows a progress bar; elsewhere, a line says what takes so long.
    said = nullcontext() if sys.stderr.isatty() else terminal.notes_of_the_run()
    with inputs.renaming({**words, "n_jobs": "--jobs"}), terminal.notes(), said:
        warnings.simplefilter("ignore", ReadingWarning)  # the columns are told below
        made = comparison.compare(
            given["BEFORE"],
            given["AFTER"],
            label=label,
            test=given.get("--test"),
            id=id,
            drop=apart,
            task=task,
            seeds=seeds,
            folds=folds,
            n_jobs=jobs,
        )
    table = given["BEFORE"]
    features = [name for name in table.column_names if name not in {label, id, *apart}]
    advice.tell_columns(table.select(features), "auto", sys.stdout)
    terminal.comparison(made)
    if plot is not None:
        height = 1.2 + 0.45 * len(made.in_headline)
        figure = matplotlib.Figure(figsize=(6.4, height), layout="constrained")
        made.plot(ax=figure.subplots())
        with atomic(plot) as file:
            figure.savefig(file, format=plot.suffix.lower()[1:], dpi=150)
        print(f"The chart is in {plot}.")
