"""What a command says about a table that it has read, and what to type next."""

import shlex
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from dataworth.arrays import Floats
from dataworth.cli import STANDARD_OUTPUT, terminal
from dataworth.encoders.tables import NAMES_ROWS, TableEncoder, kinds_in_words
from dataworth.errors import ReadingWarning
from dataworth.files.atomic import naming
from dataworth.inputs import frames

SKEWED = 2.0  # the skewness from which on a few numbers decide everything; exponential ones have it


def tell_columns(X: Any, encoder: str, out: TextIO) -> list[str]:
    """Say in a line what the columns of a table were taken for, and note what may be misread.

    Returns
    -------
    list of str
        The columns that do not become features, which a note names.
    """
    if encoder == "none" or frames.frame(X) is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # the notes say the same
        read = TableEncoder().fit(X)
    used = {name: kind for name, kind in read.kinds_.items() if kind != "constant"}
    unused = [name for name in read.kinds_ if name not in used]
    with naming(STANDARD_OUTPUT):
        print(f"{kinds_in_words(used)}.", file=out)
    for name in used:
        said = read.notes_.get(name)
        if said is not None:
            typed = shlex.quote(str(name))
            advice = f"; use --id {typed} or --drop {typed} if it does"
            terminal.note(f"column {name!r} {said}{advice if NAMES_ROWS in said else ''}.")
    texts = [name for name, kind in used.items() if kind == "text" and name not in read.notes_]
    if 2 * len(texts) >= len(used):
        terminal.note(
            "text is the main feature, and compared by its words and letters; embeddings of it "
            "may find more label errors: docs/text.md says how."
        )
    if unused:
        listed = ", ".join(map(repr, unused[:8])) + (", …" if len(unused) > 8 else "")
        are = "1 column is" if len(unused) == 1 else f"{len(unused)} columns are"
        terminal.note(
            f"{are} not used, as all entries are the same, missing, or categories that come only "
            f"once: {listed}."
        )
    return unused


def propose_logarithms(y: Any) -> None:
    """Note that numbers to predict are best valued as logarithms, if they are."""
    numbers = np.asarray(y, dtype=np.float64)
    if numbers.min() <= 0.0 or _skewness(numbers) < SKEWED:
        return
    if abs(_skewness(np.log(numbers))) < SKEWED / 2:
        terminal.note(
            "the numbers to predict are positive, and few of them are far larger than the others "
            "and decide everything: --log values their logarithms."
        )


def _skewness(numbers: Floats) -> float:
    deviation = float(numbers.std())
    return float(((numbers - numbers.mean()) ** 3).mean()) / deviation**3 if deviation else 0.0


def comparing(
    before: Path | str,
    label: str,
    *,
    id: str | None,
    drop: Sequence[str],
    after: Path | None = None,
) -> str:
    """The command that compares models before and after cleaning, with the same columns.

    Examples
    --------
    >>> from dataworth.cli.advice import comparing
    >>> comparing("a/train.csv", "y", id="name", drop=["unit no"])
    "dataworth compare a/train.csv a/train-cleaned.csv --label y --id name --drop 'unit no'"
    """
    given = Path(before)
    cleaned = after or given.with_name(f"{given.stem}-cleaned{given.suffix}")
    options = [
        ("--label", label),
        *([] if id is None else [("--id", id)]),
        *(("--drop", d) for d in drop),
    ]
    typed = " ".join(f"{option} {shlex.quote(name)}" for option, name in options)
    return f"dataworth compare {shlex.quote(str(given))} {shlex.quote(str(cleaned))} {typed}"
