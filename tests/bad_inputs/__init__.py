"""Bad inputs by the hundred: what is done, and the argument that the message must name.

`tests/test_bad_inputs.py` tries them all. A new parameter gets its rows here.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dataworth import DataValues, KNNShapley

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])
X_VAL = np.array([[0.5, 1.0], [3.0, 4.0]])
Y_VAL = np.array([0, 1])
NAN, INF = float("nan"), float("inf")


class Row(NamedTuple):
    """One bad input."""

    done: str
    argument: str
    call: Callable[[], Any]


def row(argument: str, done: str, function: Callable[..., Any], *args: Any, **options: Any) -> Row:
    """A call with bad arguments."""
    return Row(done, argument, partial(function, *args, **options))


def each(
    argument: str, done: str, function: Callable[[Any], Any], bads: Iterable[Any]
) -> Iterator[Row]:
    """The same call with one bad argument after the other."""
    for bad in bads:
        yield row(argument, f"{done}: {said(bad)}", function, bad)


def said(value: Any) -> str:
    """A value in one short line that is the same in every process."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(repr(value).split()))
    return text[:70]


def spoiled(entry: Any, dtype: Any = None) -> Any:
    """Training points, one number of which is something else."""
    bad = X.astype(dtype) if dtype else X.copy()
    bad[3, 1] = entry
    return bad


def result() -> DataValues:
    """Good values, for functions that take some."""
    return KNNShapley(n_neighbors=2).fit(X, Y).value(X_VAL, Y_VAL)
