"""What a command is given: options, files and columns, checked before any work.

What is wrong with them is a `typer.BadParameter` or an `InputError`, which end the program with
code 2.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from sklearn.pipeline import make_pipeline

from dataworth import owner_values
from dataworth.arrays import Array
from dataworth.cli import options, terminal
from dataworth.cli.options import OPTIONS
from dataworth.encoders.forest import ForestLeaves
from dataworth.encoders.linear import LinearScores
from dataworth.encoders.out_of_bag import OutOfBagForest
from dataworth.encoders.tables import TableEncoder
from dataworth.errors import InputError, ReadingWarning
from dataworth.estimator import KNNShapley
from dataworth.files import paths, tables
from dataworth.files import values as value_files
from dataworth.games import semivalues
from dataworth.games.registry import NUMERIC_GAME
from dataworth.inputs import checks, frames, groups
from dataworth.inputs.targets import PLAIN_NUMBERS, are_quantities, quantities_as_text
from dataworth.neighbors.distances import FITTED_METRICS, METRIC_NAMES
from dataworth.report.images import Gallery
from dataworth.result import DataValues, is_numeric, read_values
from dataworth.run.checkpoints import STATES
from dataworth.settings import Settings


@dataclass(frozen=True)
class Data:
    """The training points of a command, and which columns are what."""

    source: tables.Source
    label: str
    id: str | None
    ids: Array | None
    group: str | None
    owners: Array | None
    image: str | None
    by: tuple[str, ...]
    features: list[str]


@dataclass(frozen=True)
class Judges:
    """The validation points of a command, and the file that was read for them, if there was one."""

    X: Any
    y: Any
    source: tables.Source | None


@contextmanager
def renaming(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors name what the user typed, instead of the arguments of a function.

    Parameters
    ----------
    names : mapping of str to str
        What to call an argument. Errors about other arguments keep its name, and errors that are
        not about arguments pass unchanged.
    """
    try:
        yield
    except InputError as error:
        name = names.get(error.argument, error.argument)
        words = [error.wanted, error.came, error.hint]
        if name == "--bits":  # the only option for which none is a value
            words = [word.replace("None", "none") for word in words]
        raise type(error)(name, *(options.typed(word) for word in words)) from error


def usage(check: Callable[..., Any], *args: Any) -> Any:
    """Run a check of options; what it refuses is a wrong command, not a failed run."""
    try:
        with renaming(OPTIONS):
            return check(*args)
    except (TypeError, ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error


def in_words(
    data: Data, validation: Path | None, *, groups: str = "--group"
) -> AbstractContextManager[None]:
    """Let errors about X and y name files and columns, and all others options.

    `groups` is the option that names the column of owners.
    """
    name, column = data.source.name, f"column {data.label!r} of"
    files = {"X": name, "y": f"{column} {name}"}
    if validation is not None:
        files |= {"X_val": str(validation), "y_val": f"{column} {validation}"}
    else:
        files |= {"X_val": f"X_val of {name}", "y_val": f"y_val of {name}"}
    return renaming({**OPTIONS, **files, "groups": groups})


def valuator(**params: Any) -> KNNShapley:
    """A valuator whose parameters have been checked, alone and together."""
    if params.get("metric") is not None:
        usable = [n for n in METRIC_NAMES if n != "precomputed" and n not in FITTED_METRICS]
        usage(checks.choice, params["metric"], "--metric", usable)
    made = KNNShapley(**params)
    usage(Settings.of, made.get_params(deep=False))
    return made


def check_task(task: str, game: str | None, *, log: bool) -> None:
    """Refuse a game that does not fit the task, and logarithms of classes."""
    if task != "auto" and game is not None and is_numeric(game) != (task == "numbers"):
        raise typer.BadParameter(f"--task must fit --game; got {task} and {game}.")
    if log and (task == "classes" or (game is not None and not is_numeric(game))):
        given = "--task classes" if task == "classes" else f"--game {game}"
        raise typer.BadParameter(f"--log must be left out with {given}: classes have no logarithm.")


def decide_task(valuator: KNNShapley, y: Any) -> None:
    """Play the game of numbers if the labels look like quantities, and say so."""
    labels = np.asarray(frames.entries(y, "y"))
    said = quantities_as_text(labels)
    if said:
        hint = f"{PLAIN_NUMBERS} With --task classes, each entry is a class."
        raise InputError("y", "hold numbers or classes", f"it holds {said}", hint)
    whole = labels.dtype.kind in "iu" or (labels.dtype.kind == "f" and (labels % 1 == 0).all())
    if not whole or not are_quantities(labels):  # fractions are refused further down
        return
    valuator.set_params(game=NUMERIC_GAME)
    usage(Settings.of, valuator.get_params(deep=False))
    warnings.warn(
        f"the targets are {np.unique(labels).size:,} different numbers, so they are predicted as "
        f"numbers (--game {NUMERIC_GAME}); --task classes takes each for a class.",
        ReadingWarning,
        stacklevel=2,
    )


def number(text: str | None, option: str, kind: Callable[[str], Any], *words: str) -> Any:
    """An option that is a number or one of some words; None if it was not given."""
    if text is None or text in words:
        return text
    try:
        return kind(text)
    except ValueError:
        wanted = ", ".join(["a whole number" if kind is int else "a number", *words[:-1]])
        wanted += f" or {words[-1]}" if words else ""
        raise typer.BadParameter(f"{option} must be {wanted}; got {text!r}.") from None


def semivalue(text: str) -> Any:
    """The semivalue of an option: a name, or a name and numbers as in beta:4,1."""
    return usage(semivalues.typed, text)


def keep_apart(
    outputs: Mapping[str, Any], given: Mapping[str, Any], checkpoint: Path | None = None
) -> None:
    """Refuse to write over a file that is read, or over another output.

    Parameters
    ----------
    outputs, given : mapping of str to path or None
        Files that are written and read, by what the command calls them; "-" is standard output.
    checkpoint : Path, optional
        The folder of the checkpoint, whose states are written too.
    """
    taken = {}
    for name, path in given.items():
        if path is not None:
            taken[Path(path).resolve()] = name
    states = [] if checkpoint is None else [checkpoint / name for name in STATES]
    for name, path in [*(("--checkpoint", state) for state in states), *outputs.items()]:
        if path is None or str(path) == "-":
            continue
        target = Path(path).resolve()
        same = [used for used in taken if used == target or _is_same_file(used, target)]
        if same:
            raise typer.BadParameter(
                f"{name} must be another file than {taken[same[0]]}; got {str(path)!r} for both."
            )
        if target.suffix.lower() != Path(path).suffix.lower():
            raise typer.BadParameter(
                f"{name} must not be a link to a file of another kind; got {str(path)!r}."
            )
        taken[target] = name


def _is_same_file(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def check_output(output: str | None, report: Path | None, *, page: str = "--report") -> None:
    """Check that results can be written, before hours are spent on them.

    Parameters
    ----------
    output : str, optional
        Where the values are to go; "-" is standard output.
    report : Path, optional
        Where the report is to go.
    page : str
        The option that names the report, for messages.
    """
    if output not in (None, "-"):
        usage(tables.check_ending, output, value_files.ENDINGS, "--output")
    if report is not None:
        usage(tables.check_ending, report, (".html", ".htm"), page)
    for path, option in ((output, "--output"), (report, page)):
        if path not in (None, "-"):
            usage(paths.to_write, path, option)


def check_owners(
    valuator: KNNShapley,
    owners: str | None,
    group: str | None,
    budget: str | None,
    payouts: Path | None,
) -> None:
    """Check what is to be done for owners, before hours are spent on it."""
    if owners is not None:
        usage(Settings.of(valuator.get_params(deep=False)).check_owners, False)
    if owners is not None and group is not None:
        raise typer.BadParameter("--owners must not be given with --group, which it includes.")
    for option, given in (("--budget", budget), ("--payouts", payouts)):
        if given is not None and owners is None:
            raise typer.BadParameter(f"{option} must come with --owners.")
    if budget is not None:
        usage(owner_values.cents, budget)
    if payouts is not None:
        usage(tables.check_ending, payouts, tables.SEPARATORS, "--payouts")
        usage(paths.to_write, payouts, "--payouts")


def for_report(report: Path | None, asked: Mapping[str, Any]) -> None:
    """Refuse options that only a report uses if there is none to write."""
    unused = [name for name, value in asked.items() if value]
    if report is None and unused:
        raise typer.BadParameter(f"{unused[0]} must come with --report, which shows it.")


def check_image_root(root: Path | None, image: str | None) -> None:
    """Refuse a folder of pictures that is none, or that has no use."""
    if root is None:
        return
    if image is None:
        raise typer.BadParameter("--image-root needs --image.")
    if not root.is_dir():
        raise typer.BadParameter(f"--image-root must name a folder; got {str(root)!r}.")


def read(path: Path, option: str, names: Sequence[str] = ()) -> tables.Source:
    """Read a file of points; `names` are columns that stay text, as in `tables.read`."""
    usage(tables.check_ending, path, tables.READABLE, option)
    usage(paths.to_read, path, option)
    return tables.read(path, names)


def values(path: Path, argument: str = "VALUES") -> tuple[DataValues, Array | None]:
    """Read a file of values, and the group of each point if the file has them."""
    usage(tables.check_ending, path, value_files.ENDINGS, argument)
    usage(paths.to_read, path, argument)
    with renaming({"path": argument}):
        return read_values(path)


def training(
    path: Path,
    label: str | None,
    *,
    id: str | None = None,
    group: str | None = None,
    image: str | None = None,
    by: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    group_option: str = "--group",
) -> Data:
    """Read the training points and find out which column is what."""
    source = read(path, "TRAIN", [name for name in (id, group) if name is not None])
    source, label = _labelled(source, label)
    if id is None and source.table is not None and source.names[0] == "":
        terminal.note("the first column has no name, so it is used as --id.")
        id = ""
    asked: dict[str, list[Any]] = {
        "--label": [label],
        "--id": [id],
        group_option: [group],
        "--image": [image],
    }
    asked |= {
        "--by": list(by or ()),
        "--drop": list(drop or ()),
        "--features": list(features or ()),
    }
    for option, names in asked.items():
        for name in names:
            if name is not None:
                source.column(name, option)
    apart = {label, id, group, image, *asked["--drop"]} - {None}
    mixed = apart & set(asked["--features"])
    if mixed:
        raise typer.BadParameter(
            f"--features must not have another use; {min(mixed)!r} has one already."
        )
    used = asked["--features"] or [name for name in source.names if name not in apart]
    if not used:
        raise InputError(str(path), "have a column of features", "it has none")
    owners = None
    if group is not None:
        with renaming({"groups": group_option}):
            owners = groups.check(source.column(group, group_option), len(source))
    ids = None if id is None else _ids(source, id)
    return Data(source, label, id, ids, group, owners, image, tuple(by or ()), used)


def label_file(label: str | None) -> Path | None:
    """The file that holds the labels, where `--label` names one."""
    return Path(label) if label is not None and label.endswith(".npy") else None


def _labelled(source: tables.Source, label: str | None) -> tuple[tables.Source, str]:
    """The points with their labels, which may be in an .npy file of their own, and their name."""
    if label is None:
        if "y" not in source.others:
            raise typer.BadParameter("--label must name the column of labels.")
        return source, "y"
    if source.matrix is not None and label.endswith(".npy"):
        usage(paths.to_read, label, "--label")
        labels = tables.load_array(label)
        return replace(source, others={**source.others, label: labels}), label
    if source.matrix is not None and label.startswith("-") and label[1:].isdigit():
        place = int(label) + source.matrix.shape[1]
        return source, label if place < 0 else str(place)
    return source, label


def _ids(source: tables.Source, id: str) -> Array:
    ids = np.asarray(frames.entries(source.column(id, "--id"), "--id"))
    return ids if ids.dtype.kind in frames.PLAIN_KINDS else ids.astype(str)


def arrays(data: Data, validation: Path | None, cv: int | None) -> tuple[Any, Any, Judges | None]:
    """Features and labels of the training points, and the validation points if there are any."""
    source, label = data.source, data.label
    X, y = source.features(data.features), source.column(label, "--label")
    _check_numbers(X, data, source.name)
    if cv is not None and cv > len(source):
        raise typer.BadParameter(f"--cv must be at most the number of points, {len(source)}.")
    if validation is not None:
        if cv is not None:
            raise typer.BadParameter("--cv must not be given with --validation.")
        if label.endswith(".npy"):
            raise typer.BadParameter(
                "--validation needs labels in a column; or put X, y, X_val and y_val into one "
                ".npz file."
            )
        other = read(validation, "--validation")
        _same_width(source, other.matrix, str(validation))
        X_val = other.features(data.features)
        _check_numbers(X_val, data, other.name)
        return X, y, Judges(X_val, other.column(label, "--label"), other)
    inside = {"X_val", "y_val"} & set(source.others)
    if len(inside) == 1:
        lacking = min({"X_val", "y_val"} - inside)
        raise InputError(source.name, "hold X_val and y_val, or neither", f"it has no {lacking}")
    if inside and cv is not None:
        terminal.note(f"X_val of {source.name} is not used, because of --cv.")
    if cv is None and inside:
        matrix, name = source.others["X_val"], f"X_val of {source.name}"
        if matrix.ndim != 2 or not matrix.size:
            raise InputError(name, "be a two-dimensional array", f"got shape {matrix.shape}")
        _same_width(source, matrix, name)
        X_val = replace(source, matrix=matrix).features(data.features)
        _check_numbers(X_val, data, name)
        return X, y, Judges(X_val, source.others["y_val"], None)
    return X, y, None


def _check_numbers(X: Any, data: Data, name: str) -> None:
    """Check features that are an array, and name a bad column by its number in the file."""
    if data.source.matrix is not None and isinstance(X, np.ndarray):
        checks.matrix(X, name, names=[int(column) for column in data.features])


def check_pictures(data: Data, root: Path | None) -> None:
    """Check a column of pictures before any work, and say how many of them are not there."""
    if data.image is None:
        return
    folder = image_folder(data, root)
    gallery = Gallery(data.source.columns()[data.image], folder)
    gallery.check("--image")
    count = gallery.count()
    if count.found < count.named:
        outside = f"; {count.outside:,} would be outside of it" if count.outside else ""
        terminal.note(
            f"{count.found:,} of {count.named:,} pictures in column {data.image!r} were found in "
            f"{str(folder)!r}{outside}."
        )


def image_folder(data: Data, root: Path | None) -> Path:
    """The folder that pictures are in: the one given, or that of the training points."""
    return (root or Path(data.source.name).parent).resolve()


def _same_width(source: tables.Source, matrix: Array | None, name: str) -> None:
    """Refuse an array with other columns than the training points, as columns have no names."""
    if source.matrix is None or matrix is None or matrix.ndim != 2:
        return
    wanted, given = source.matrix.shape[1], matrix.shape[1]
    if given != wanted:
        raise InputError(name, f"have {wanted} columns, as {source.name} has", f"got {given}")


def set_encoder(valuator: KNNShapley, name: str, X: Any, y: Any, *, alone: bool) -> None:
    """Set the encoder of this name; `alone` says that training points judge one another."""
    if name == "none":
        valuator.set_params(encoder=None)
    forest = OutOfBagForest(n_jobs=valuator.n_jobs)
    if name == "out-of-bag":
        valuator.set_params(encoder=forest)
    if name == "recipe":
        linear = [] if is_numeric(str(valuator.game)) else [LinearScores()]
        if linear and alone and 1 in Counter(frames.entries(y, "y")).values():
            linear = []
            terminal.note("only one row has some label, so the recipe goes without linear models.")
        valuator.set_params(encoder=["auto", forest, *linear])
    if name != "forest":
        return
    if alone:
        raise typer.BadParameter("--encoder forest learns from labels: give --validation or --cv.")
    mixed = frames.frame(X) is not None
    leaves = make_pipeline(TableEncoder(), ForestLeaves()) if mixed else ForestLeaves()
    valuator.set_params(encoder=leaves)
    if valuator.metric is None:
        valuator.set_params(metric=ForestLeaves.metric)  # files of values keep what was used
