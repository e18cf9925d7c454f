"""Options that several commands have, and the names that an option can choose from."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import typer

DATA, RESULTS, METHOD = "Data", "Results", "Method"  # the panels of --help


class Entry(NamedTuple):
    """A name to choose, and what it means in words."""

    name: str
    words: str


def _entries(**words: str) -> dict[str, Entry]:
    return {name: Entry(name, said) for name, said in words.items()}


GAMES: Mapping[str, Entry] = _entries(
    soft="the share of the vote that the right label gets",
    hard="1 if the vote gets the label right, else 0",
    regression="minus the squared error of the prediction",
)
WEIGHTS: Mapping[str, Entry] = _entries(
    rbf="falling exponentially with distance",
    linear="falling in a straight line to 0 at the farthest point",
    inverse="one over the distance",
    uniform="the same for all, which is fastest",
)
SEMIVALUES = ("shapley", "banzhaf")  # and beta, which has two numbers
ENCODERS: Mapping[str, Entry] = _entries(
    auto="encodes the columns of tables and takes arrays as they are",
    none="takes numbers as they are",
    forest="learns from the labels (give --validation or --cv with it)",
)

# Choices are read from registries at run time, which a type checker cannot follow.
if TYPE_CHECKING:
    GameName: TypeAlias = str
    WeightName: TypeAlias = str
    EncoderName: TypeAlias = str
else:
    GameName, WeightName, EncoderName = Literal[*GAMES], Literal[*WEIGHTS], Literal[*ENCODERS]


def option(panel: str, help: str, *names: str, **rest: Any) -> Any:
    """An option in a panel of --help; without names it is called as its parameter is."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **rest)


def listed(entries: Mapping[str, Any]) -> str:
    """Every name with its words, for --help."""
    return "; ".join(f"{name}: {entry.words}" for name, entry in entries.items()) + "."


Label = Annotated[
    str | None,
    option(
        DATA,
        "The column of labels. In .npz files it is the name of an array, y by default; in .npy "
        "files it is the number of a column, counted from 0, or another .npy file.",
    ),
]
Id = Annotated[str | None, option(DATA, "A column that names the points. It is not a feature.")]
Group = Annotated[
    str | None,
    option(DATA, "A column of data owners: shows what each is paid. It is not a feature."),
]
By = Annotated[
    list[str] | None,
    option(RESULTS, "A column by which the report breaks the values down. Repeat it for more."),
]
Image = Annotated[
    str | None,
    option(RESULTS, "A column of image files to show in the report. It is not a feature."),
]
Title = Annotated[str | None, option(RESULTS, "The headline of the report.")]
Top = Annotated[int, option(RESULTS, "How many of the least valuable points to show.", min=0)]
ValuesFile = Annotated[
    Path,
    typer.Argument(metavar="VALUES", help="A file of values that `dataworth value -o` wrote."),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show where in the program an error occurred.")
]
