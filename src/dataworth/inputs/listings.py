"""Small tables for people to read: frames of the library that came in, or plain tables."""

import html
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from dataworth.arrays import Array
from dataworth.inputs import frames
from dataworth.inputs.frames import Origin

SHOWN = 30  # rows that are written out
LONGEST = 40  # characters of a cell


class Listing(np.ndarray[Any, np.dtype[np.void]]):
    """A structured array that looks like the table it is.

    Fields are plain arrays: `table["index"]`.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.inputs.listings import listing
    >>> listing({"index": np.array([4, 10]), "value": np.array([-0.25, 1 / 3])})
      index     value
          4     -0.25
         10  0.333333
    """

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        plain = isinstance(found, np.ndarray) and found.dtype.names is None
        return found.view(np.ndarray) if plain else found

    def __repr__(self) -> str:
        if self.ndim != 1 or not self.dtype.names:
            return super().__repr__()
        columns = []
        for name in self.dtype.names:
            texts = [name, *(shown(entry) for entry in self[name][:SHOWN].tolist())]
            wide = max(map(len, texts))
            number = self.dtype[name].kind in "iuf"
            columns.append([text.rjust(wide) if number else text.ljust(wide) for text in texts])
        lines = ["  " + "  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
        return "\n".join([*lines, *self._rest("  ")])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        names = self.dtype.names or ()
        said = "".join(f"<p>{html.escape(text)}</p>" for text in self._rest(""))
        return as_html({name: self[name][:SHOWN].tolist() for name in names}) + said

    def _rest(self, before: str) -> list[str]:
        return [f"{before}… {len(self) - SHOWN:,} more rows"] if len(self) > SHOWN else []


def listing(columns: Mapping[str, Array], origin: Origin | None = None) -> Any:
    """Make a table of columns in the library that a training table came from.

    Parameters
    ----------
    columns : mapping of str to array
        The columns, all of one length.
    origin : Origin or None
        Where the training table came from. Without one, or where its library is not installed, as
        may be for values from a file, the table is a `Listing`.

    Returns
    -------
    data frame or Listing
        The table.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.inputs.frames import Origin
    >>> from dataworth.inputs.listings import listing
    >>> listing({"index": np.array([4, 10])}, Origin("pandas"))["index"].tolist()
    [4, 10]
    """
    if origin is not None and find_spec(origin.library) is not None:
        plain = {n: c.tolist() if c.dtype.kind == "U" else c for n, c in columns.items()}
        library: Any = origin.library
        return nw.from_dict(plain, backend=library).to_native()
    size = len(next(iter(columns.values())))
    table = np.empty(size, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        table[name] = column
    return table.view(Listing)


def named_points(points: Any) -> Array | None:
    """Return the names of points in the column `index` of a table, or None if there is none.

    A series called index, which is such a column, is as good.
    """
    if isinstance(points, np.ndarray):
        return points["index"] if "index" in (points.dtype.names or ()) else None
    given = nw.from_native(points, pass_through=True, allow_series=True)
    if isinstance(given, nw.Series):
        given = given.to_frame()
    if not isinstance(given, nw.DataFrame) or "index" not in given.columns:
        return None
    return np.asarray(frames.plain_column(given["index"]))


def shown(entry: Any) -> str:
    """Return an entry as one short printable line: a number to six digits, or text."""
    if isinstance(entry, float):
        return f"{entry:.6g}"
    text = "".join(c if c.isprintable() else "�" for c in str(entry))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def quantity(number: float) -> str:
    """Write a number as people do: 3,800,000 or 0.1235, never 3.8e+06.

    Examples
    --------
    >>> from dataworth.inputs.listings import quantity
    >>> quantity(3.8e6), quantity(-12.34567)
    ('3,800,000', '-12.35')
    """
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


def as_html(columns: Mapping[str, Sequence[Any]]) -> str:
    """Write columns as an HTML table, in which everything from the data is text."""
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    rows = (
        "".join(f"<td>{html.escape(shown(entry))}</td>" for entry in row)
        for row in zip(*columns.values(), strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
