"""Options that several commands have, and the names that an option can choose from."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import typer

from dataworth.games.registry import GAMES
from dataworth.games.semivalues import SEMIVALUES
from dataworth.games.ties import TIES
from dataworth.weights.functions import WEIGHTS

DATA, RESULTS, METHOD = "Data", "Results", "Method"  # the panels of --help


# Arguments of the library, and the options that they come from.
OPTIONS = {
    "n_neighbors": "--neighbors",
    "n_bits": "--bits",
    "n_jobs": "--jobs",
    "max_rank": "--max-rank",
    "class_weight": "--class-weight",
    "groups": "--group",
} | {
    name: f"--{name}"
    for name in (
        "bandwidth",
        "budget",
        "checkpoint",
        "cv",
        "encoder",
        "game",
        "log",
        "metric",
        "radius",
        "ruler",
        "semivalue",
        "support",
        "ties",
        "weights",
    )
}


_SPELLED = re.compile(rf"\b({'|'.join(OPTIONS)})=('[^']*'|[\w.]+)")


# What errors advise, and what that is on the command line.
_SAID = {
    "value(cv=5)": "--cv 5",
    "without X_val": "without --validation",
    "value() without validation points": "leaving out --validation",
    "Leave it out, or pass an encoder that takes it.": "Leave it out with --drop.",
    "text or of categories, or leave it out.": "text, or leave it out with --drop.",
}


def typed(text: str) -> str:
    """Write parameters in a message as they are typed on the command line.

    Examples
    --------
    >>> from dataworth.cli.options import typed
    >>> typed("be 'auto' with weights='uniform' and max_rank=None")
    "be 'auto' with --weights uniform and no --max-rank"
    """

    def option(found: re.Match[str]) -> str:
        name, value = OPTIONS[found[1]], found[2].strip("'")
        if value == "None":
            return "--bits none" if found[1] == "n_bits" else f"no {name}"
        return name if value == "True" else f"{name} {value}"

    for said, meant in _SAID.items():
        text = text.replace(said, meant)
    text = re.sub(r", ('\w+') or None", r" or \1", _SPELLED.sub(option, text))
    return re.sub(r",? or None|None or ", "", text)


class Entry(NamedTuple):
    """A name to choose, and what it means in words."""

    name: str
    words: str


def _entries(**words: str) -> dict[str, Entry]:
    return {name: Entry(name, said) for name, said in words.items()}


ENCODERS: Mapping[str, Entry] = _entries(
    **{
        "auto": "encodes the columns of tables and takes arrays as they are",
        "none": "takes numbers as they are",
        "forest": "learns from the labels (give --validation or --cv with it)",
        "out-of-bag": "takes the weights of a forest whose trees judge only what they never saw",
        "recipe": "auto, out-of-bag and, for classes, a linear model together, with K = 10: what "
        "finds most label errors",
    }
)

CLASS_WEIGHTS: Mapping[str, Entry] = _entries(
    none="every validation point counts the same",
    balanced="every class counts the same, however many validation points have it",
)

TASKS: Mapping[str, Entry] = _entries(
    auto="takes labels for numbers to predict if there are many different ones, and says so",
    classes="takes each label for a class",
    numbers="takes labels for numbers to predict",
)

SEMIVALUES_TYPED = ", ".join(kind.typed for kind in SEMIVALUES.values())

# Choices are read from registries at run time, which a type checker cannot follow.
if TYPE_CHECKING:
    GameName: TypeAlias = str
    WeightName: TypeAlias = str
    EncoderName: TypeAlias = str
    TieName: TypeAlias = str
    TaskName: TypeAlias = str
    ClassWeightName: TypeAlias = str
else:
    GameName, WeightName = Literal[*GAMES], Literal[*WEIGHTS]
    EncoderName, TieName, TaskName = Literal[*ENCODERS], Literal[*TIES], Literal[*TASKS]
    ClassWeightName = Literal[*CLASS_WEIGHTS]


def option(panel: str, help: str, *names: str, **rest: Any) -> Any:
    """An option in a panel of --help; without names it is called as its parameter is."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **rest)


def listed(entries: Mapping[str, Any]) -> str:
    """Every name with its words, for --help; the short ones where there are such."""
    said = {name: getattr(entry, "short", entry.words) for name, entry in entries.items()}
    return "; ".join(f"{name}: {words}" for name, words in said.items()) + "."


Task = Annotated[
    TaskName,
    option(
        DATA,
        f"What the labels are. {listed(TASKS)}",
    ),
]
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
Owners = Annotated[
    str | None,
    option(
        DATA,
        "A column of data owners, as --group, who are also valued as a whole: what is each owner's "
        "data set worth?",
    ),
]
Budget = Annotated[
    str | None,
    option(
        RESULTS,
        "Share out this amount among the owners of --owners by value, to the cent, e.g. 10000.",
    ),
]
Payouts = Annotated[
    Path | None,
    option(RESULTS, "Where to write what the owners of --owners are worth: .csv or .tsv."),
]
By = Annotated[
    list[str] | None,
    option(RESULTS, "A column by which the report breaks the values down. Repeat it for more."),
]
Image = Annotated[
    str | None,
    option(RESULTS, "A column of image files to show in the report. It is not a feature."),
]
ImageRoot = Annotated[
    Path | None,
    option(
        RESULTS,
        "The folder of the image files; by default, that of TRAIN. Files outside are not shown.",
    ),
]
Title = Annotated[str | None, option(RESULTS, "The headline of the report.")]
Rows = Annotated[
    int | None,
    option(
        RESULTS,
        "How many of the least valuable points the report lists, 500 by default. No label gets "
        "more than three times its share of them.",
        min=1,
        max=2000,
    ),
]
Top = Annotated[int, option(RESULTS, "How many of the least valuable points to show.", min=0)]
ValuesFile = Annotated[
    Path,
    typer.Argument(metavar="VALUES", help="A file of values that `dataworth value -o` wrote."),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show where in the program an error occurred.")
]
