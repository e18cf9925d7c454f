"""All commands of `dataworth`.

A new command is a function in a file of its own, and one entry of `COMMANDS`.
"""

from collections.abc import Callable
from typing import Annotated

import typer

import dataworth
from dataworth.cli.apply import apply_
from dataworth.cli.compare import compare
from dataworth.cli.demo import demo
from dataworth.cli.info import info
from dataworth.cli.report import report
from dataworth.cli.value import value

__all__ = ["COMMANDS", "app", "apply_", "compare", "demo", "info", "report", "value"]

# In the order in which --help shows them.
COMMANDS: dict[str, Callable[..., None]] = {
    "value": value,
    "demo": demo,
    "info": info,
    "report": report,
    "apply": apply_,
    "compare": compare,
}

app = typer.Typer(
    help="What is each training example worth? Exact Shapley values for nearest neighbours.",
    pretty_exceptions_enable=False,
)
for name, command in COMMANDS.items():
    app.command(name)(command)


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
