"""`dataworth report`: the HTML report of values that were computed before."""

from pathlib import Path
from typing import Annotated

import typer

from dataworth.cli import options
from dataworth.cli.options import DATA, RESULTS, option
from dataworth.errors import InputError


def report(
    path: options.ValuesFile,
    train: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="The training points, in the same order.")
    ],
    output: Annotated[Path, option(RESULTS, "Where to write the report: .html.", "--output", "-o")],
    label: options.Label = None,
    id: options.Id = None,
    group: options.Group = None,
    validation: Annotated[
        Path | None, option(DATA, "The validation points that the values were computed with.")
    ] = None,
    by: options.By = None,
    image: options.Image = None,
    image_root: options.ImageRoot = None,
    title: options.Title = None,
    rows: options.Rows = None,
    debug: options.Debug = False,
) -> None:
    """Write the HTML report of values that were computed before.

    A file of values does not say which points hurt which: `dataworth value --report` shows that
    too, because it has just computed it.

    \b
    Example:
      dataworth report values.parquet train.csv --label y -o report.html
    """
    from dataworth.cli import data as inputs
    from dataworth.cli import results

    inputs.check_output(None, output, page="--output")
    inputs.keep_apart(
        {"--output": output}, {"VALUES": path, "TRAIN": train, "--validation": validation}
    )
    values, _ = inputs.values(path)
    inputs.check_image_root(image_root, image)
    data = inputs.training(train, label, id=id, group=group, image=image, by=by)
    if len(values) != len(data.source):
        wanted = f"hold the {len(values)} points of {path}"
        raise InputError(str(train), wanted, f"it has {len(data.source)}")
    inputs.check_pictures(data, image_root)
    judges = None if validation is None else inputs.read(validation, "--validation")
    results.write_report(
        output, values, data, judges, title=title, rows=rows, image_root=image_root
    )
    print(
        f"The report is in {output}. It does not explain the values; `dataworth value --report` "
        "writes one that does."
    )
