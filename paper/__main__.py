"""`dataworth reproduce`: what the command line makes of its arguments."""

from pathlib import Path
from typing import Annotated

import typer

from paper.experiments import EXPERIMENTS, reproduce
from paper.networks import MODELS
from paper.run import NoData, Run


def command(
    name: Annotated[
        str | None, typer.Argument(help="Experiment, or 'all'; --list shows them.")
    ] = None,
    *,
    listing: Annotated[
        bool, typer.Option("--list", help="List the experiments with the time they take.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small and fast, to see it work.")] = False,
    paper_setting: Annotated[
        bool,
        typer.Option("--paper-setting", help="50 training points, as the paper's figures imply."),
    ] = False,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            envvar="DATAWORTH_DATA", help="Folder of the data; without it, OpenML is asked."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("results"),
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many seeds, instead of the usual number.")
    ] = None,
    model: Annotated[str, typer.Option(help="Network of 'selection': cnn or resnet18.")] = "cnn",
    jobs: Annotated[int, typer.Option(min=1, help="Threads; the figures do not change.")] = 1,
) -> None:
    """Run an experiment of the paper again; what was finished before is not repeated."""
    if listing:
        width = max(len(n) for n in EXPERIMENTS)
        for n, experiment in EXPERIMENTS.items():
            typer.echo(f"{n:{width}}  {experiment.minutes:>4g} min  {experiment.about}")
        return
    if name is None:
        raise typer.BadParameter("is missing; --list shows the experiments.", param_hint="NAME")
    if out.exists() and not out.is_dir():
        raise typer.BadParameter(f"must be a folder; {str(out)!r} is none.", param_hint="--out")
    if name not in ("all", *EXPERIMENTS):
        known = ", ".join(["all", *EXPERIMENTS])
        raise typer.BadParameter(f"must be one of {known}; got {name!r}.", param_hint="NAME")
    if model not in MODELS:
        raise typer.BadParameter(f"must be cnn or resnet18; got {model!r}.", param_hint="--model")
    if model != "cnn" and name != "selection":
        raise typer.BadParameter("is for 'selection' only.", param_hint="--model")
    names = list(EXPERIMENTS) if name == "all" else [name]
    for option, given, able in (
        ("--paper-setting", paper_setting, [n for n in names if EXPERIMENTS[n].paper_setting]),
        ("--seeds", seeds is not None, [n for n in names if EXPERIMENTS[n].seeds]),
    ):
        if given and not able:
            raise typer.BadParameter(f"is not for {name!r}.", param_hint=option)
        if given and able != names:
            rest = ", ".join(n for n in names if n not in able)
            typer.echo(f"Left out, as {option} is not for them: {rest}.", err=True)
            names = able
    for n in names:
        run = Run(n, out, data_dir, quick, paper_setting, seeds, model, jobs)
        try:
            reproduce(run)
        except (NoData, ImportError) as error:
            typer.echo(f"{n}: {error}", err=True)
            raise typer.Exit(1) from error
        typer.echo(f"wrote {out / run.stem}.md and .png")


if __name__ == "__main__":
    typer.run(command)
