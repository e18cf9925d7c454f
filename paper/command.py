"""`python -m paper`: its options, and what it makes of them."""

from pathlib import Path
from typing import Annotated

import typer

from paper.experiments import EXPERIMENTS, reproduce
from paper.networks import MODELS
from paper.run import NoData, Run

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="An experiment (--list shows them), or 'all'."),
    ] = None,
    *,
    listing: Annotated[
        bool, typer.Option("--list", help="List the experiments and the minutes each takes.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small, fast version, to see that it works.")
    ] = False,
    paper_setting: Annotated[
        bool,
        typer.Option(
            "--paper-setting", help="Use 50 training points, as the paper's figures imply."
        ),
    ] = False,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            envvar="DATAWORTH_DATA",
            help="The folder of the data; without it they are downloaded from OpenML.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for the results.")] = Path("results"),
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many seeds to use instead of the usual number.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="The network of 'selection': cnn or resnet18.")
    ] = "cnn",
    jobs: Annotated[
        int, typer.Option(min=1, help="How many threads to use; the figures stay the same.")
    ] = 1,
) -> None:
    """Run an experiment of the paper again. Parts that are finished already are not repeated."""
    if listing:
        width = max(len(n) for n in EXPERIMENTS)
        for n, experiment in EXPERIMENTS.items():
            typer.echo(f"{n:{width}}  {experiment.minutes:>4g} min  {experiment.about}")
        return
    if name is None:
        raise typer.BadParameter("NAME is missing; --list shows the experiments.")
    if out.exists() and not out.is_dir():
        raise typer.BadParameter(f"--out must be a folder; {str(out)!r} is a file.")
    if name not in ("all", *EXPERIMENTS):
        known = ", ".join(["all", *EXPERIMENTS])
        raise typer.BadParameter(f"NAME must be one of {known}; got {name!r}.")
    if model not in MODELS:
        raise typer.BadParameter(f"--model must be cnn or resnet18; got {model!r}.")
    if model != "cnn" and name != "selection":
        raise typer.BadParameter("--model is for 'selection' only.")
    names = list(EXPERIMENTS) if name == "all" else [name]
    for option, given, able in (
        ("--paper-setting", paper_setting, [n for n in names if EXPERIMENTS[n].paper_setting]),
        ("--seeds", seeds is not None, [n for n in names if EXPERIMENTS[n].seeds]),
    ):
        if given and not able:
            raise typer.BadParameter(f"{option} is not for {name!r}.")
        if given and able != names:
            rest = ", ".join(n for n in names if n not in able)
            typer.echo(f"Left out, as {option} is not for them: {rest}.", err=True)
            names = able
    for n in names:
        run = Run(n, out, data_dir, quick, paper_setting, seeds, model, jobs)
        try:
            reproduce(run)
        except NoData as error:
            raise NoData(f"{n}: {error}") from error
        typer.echo(f"wrote {out / run.stem}.md and .png")
