"""What a command is given: options, files and columns, checked before any work.

A wrong option is a `typer.BadParameter`, which ends the program with 2; wrong data are a ValueError
or a TypeError, which end it with 1.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline

from dataworth import ForestLeaves, KNNShapley, TableEncoder, parameters
from dataworth.files import tables
from dataworth.inputs import checks, frames, groups

# What messages call an argument, and the option that it comes from.
OPTIONS = {
    "n_neighbors": "--neighbors",
    "n_bits": "--bits",
    "n_jobs": "--jobs",
    "max_rank": "--max-rank",
    "groups": "--group",
} | {
    name: f"--{name}"
    for name in (
        "bandwidth",
        "checkpoint",
        "cv",
        "metric",
        "radius",
        "semivalue",
        "support",
        "weights",
    )
}


@dataclass(frozen=True)
class Data:
    """The training points of a command, and which columns are what."""

    source: tables.Source
    label: str
    id: str | None
    ids: NDArray[Any] | None
    group: str | None
    owners: NDArray[Any] | None
    image: str | None
    by: tuple[str, ...]
    features: list[str]


def usage(check: Callable[..., Any], *args: Any) -> None:
    """Run a check of options; what it refuses is a wrong command, not a failed run."""
    try:
        check(*args)
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(_renamed(str(error))) from error


def _renamed(message: str) -> str:
    first, space, rest = message.partition(" ")
    return OPTIONS.get(first, first) + space + rest


@contextmanager
def in_words(data: Data, validation: Path | None) -> Iterator[None]:
    """Make messages about X and y messages about files and columns."""
    name = data.source.name
    judged = name if validation is None else str(validation)
    said = {"X": name, "X_val": judged}
    said |= {"y": f"column {data.label!r} of {name}", "y_val": f"column {data.label!r} of {judged}"}
    try:
        yield
    except (TypeError, ValueError) as error:
        first, space, rest = str(error).partition(" ")
        known = said[first] + space + rest if first in said else _renamed(str(error))
        raise type(error)(known) from error


def valuator(**params: Any) -> KNNShapley:
    """A valuator of parameters that go together."""
    made = KNNShapley(**params)
    usage(parameters.check, made)
    return made


def number(text: str | None, option: str, kind: Callable[[str], Any], *words: str) -> Any:
    """A number, or one of some words, or nothing."""
    if text is None or text in words:
        return text
    try:
        return kind(text)
    except ValueError:
        wanted = " or ".join(["a whole number" if kind is int else "a number", *words])
        raise typer.BadParameter(f"{option} must be {wanted}; got {text!r}.") from None


def semivalue(text: str) -> Any:
    """shapley, banzhaf or beta:a,b."""
    if text in ("shapley", "banzhaf"):
        return text
    head, _, tail = text.partition(":")
    parts = tail.split(",")
    if head != "beta" or len(parts) != 2:
        raise typer.BadParameter(f"--semivalue must be shapley, banzhaf or beta:a,b; got {text!r}.")
    return ("beta", *(number(part, "--semivalue beta:a,b", float) for part in parts))


def check_output(output: str | None, report: Path | None) -> None:
    """Whether results can be written at all, before hours are spent on them."""
    if output not in (None, "-"):
        usage(tables.check_ending, output, tables.WRITABLE, "--output")
    if report is not None:
        usage(tables.check_ending, report, (".html", ".htm"), "--report")
    for path in (output, report):
        if path in (None, "-"):
            continue
        target = Path(str(path)).resolve()
        if not target.parent.is_dir():
            raise FileNotFoundError(f"{path} must be in a folder that exists.")
        if target.is_dir():
            raise IsADirectoryError(f"{path} must be a file; it is a folder.")
        if not os.access(target.parent, os.W_OK):
            raise PermissionError(f"{path} must be in a folder that can be written to.")


def read(path: Path, option: str, names: Sequence[str] = ()) -> tables.Source:
    """The points in a file of a known kind."""
    usage(tables.check_ending, path, tables.READABLE, option)
    return tables.read(path, names)


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
) -> Data:
    """Read the training points and find out which column is what."""
    source = read(path, "TRAIN", [name for name in (id, group) if name is not None])
    source, label = _labelled(source, label)
    if id is None and source.table is not None and source.names[0] == "":
        typer.echo("note: the first column has no name; it is taken for --id.", err=True)
        id = ""
    asked: dict[str, list[Any]] = {
        "--label": [label],
        "--id": [id],
        "--group": [group],
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
        raise typer.BadParameter(f"--features must not have another use; {min(mixed)!r} has.")
    used = asked["--features"] or [name for name in source.names if name not in apart]
    if not used:
        raise ValueError(f"{path} must have a column of features; it has none.")
    owners = None
    if group is not None:
        try:
            owners = groups.check(source.column(group, "--group"), len(source))
        except (TypeError, ValueError) as error:
            raise type(error)(_renamed(str(error))) from error
    ids = None if id is None else _ids(source, id)
    return Data(source, label, id, ids, group, owners, image, tuple(by or ()), used)


def _labelled(source: tables.Source, label: str | None) -> tuple[tables.Source, str]:
    """The name of the column of labels, which arrays may have in a file of their own."""
    if label is None:
        if "y" not in source.others:
            raise typer.BadParameter("--label must name the column of labels.")
        return source, "y"
    if source.matrix is not None and label.endswith(".npy"):
        labels = tables.load_array(label)
        return replace(source, others={**source.others, label: labels}), label
    if source.matrix is not None and label.startswith("-") and label[1:].isdigit():
        return source, str(int(label) + source.matrix.shape[1])
    return source, label


def _ids(source: tables.Source, id: str) -> NDArray[Any]:
    ids = np.asarray(frames.entries(source.column(id, "--id"), "--id"))
    return ids if ids.dtype.kind in frames.PLAIN_KINDS else ids.astype(str)


def arrays(data: Data, validation: Path | None, cv: int | None) -> tuple[Any, Any, Any]:
    """Features and labels of the training points and, where there are any, of those that judge."""
    source, label = data.source, data.label
    X, y = source.features(data.features), source.column(label, "--label")
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
        return X, y, (other.features(data.features), other.column(label, "--label"))
    if cv is None and {"X_val", "y_val"} <= set(source.others):
        judges = replace(source, matrix=checks.matrix(source.others["X_val"], "X_val"))
        return X, y, (judges.features(data.features), source.others["y_val"])
    return X, y, None


def set_encoder(valuator: KNNShapley, name: str, X: Any, *, alone: bool) -> None:
    """Set the encoder of this name; `alone` is leave-one-out."""
    if name == "none":
        valuator.set_params(encoder=None)
    if name != "forest":
        return
    if alone:
        raise typer.BadParameter("--encoder forest learns from labels: give --validation or --cv.")
    forest = ForestLeaves()
    mixed = frames.frame(X) is not None
    valuator.set_params(encoder=make_pipeline(TableEncoder(), forest) if mixed else forest)
    if valuator.metric is None:
        valuator.set_params(metric=forest.metric)
