"""Notes: rows that are copies of others, and rows that are far from all others."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self

import numpy as np

from dataworth.arrays import Array, Flags, Floats, Ints

Distant = tuple[Floats | None, Ints | None]

NOBODY = -1
FAR = 5.0  # robust standard deviations from the usual distance


class Surroundings:
    """How far rows are from each other, measured when somebody looks: it takes all distances.

    Parameters
    ----------
    measure : callable
        Returns `farness` and `near_copy_of` of `Notes`.
    """

    def __init__(self, measure: Callable[[], Distant]) -> None:
        self._measure: Callable[[], Distant] | None = measure
        self._found: Distant | None = None
        self._lock = Lock()

    def look(self) -> Distant:
        """Measure the distances, once, and return `farness` and `near_copy_of`."""
        with self._lock:
            if self._measure is not None:
                self._found = self._measure()
                self._measure = None  # lets go of the training points
        assert self._found is not None
        return self._found

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self.look(),)  # the training points stay behind


def _known(found: Distant) -> Surroundings:
    """Return surroundings that have been measured."""
    made = Surroundings(lambda: found)
    made.look()
    return made


@dataclass(frozen=True, eq=False)
class Notes:
    """What a look at the training rows alone shows, beside their values.

    After a run, distances between rows are computed when `farness`, `outlier` or `near_copy_of` is
    first read, when notes are shown, and when they are pickled.

    Attributes
    ----------
    duplicate_of : (n_train,) array of int
        The position of the first row that has the same features, or -1 for rows that have no such
        row before them.
    conflict : (n_train,) array of bool
        Whether a row with the same features has another label: one of the two is wrong, or the
        features do not tell them apart. Numbers to predict may well differ, so for them it is
        always False.
    surroundings : Surroundings or None
        Measures the distances; None if nobody can, or it would take too long.
    farness : (n_train,) array of float64 or None
        How far a row is from its neighbours: the logarithm of its distance to the K-th nearest
        other row, less the median over all rows, in units of their spread (1.4826 times the median
        absolute deviation, and at least 0.1), which is minus infinity for rows that have K copies.
        None without `surroundings`, or with fewer than 20 rows, of which no distance is usual.
    repeated_id : (n_train,) array of bool or None
        Whether another row has the same id: the same index in a table of pandas, or the same entry
        in the column of ids on the command line. None if no other ids than positions are known.
    near_copy_of : (n_train,) array of int or None
        The position of the nearest row of another group, if it is so near that one must be made of
        the other (at most a millionth of the usual distance to the K-th neighbour), else -1. None
        if there were no groups.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> X, y = [[0.0], [0.3], [0.3], [0.7], [1.0]], ["a", "a", "b", "b", "b"]
    >>> notes = KNNShapley(n_neighbors=2).fit(X, y).notes()
    >>> notes.duplicate_of, notes.conflict
    (array([-1, -1,  1, -1, -1]), array([False,  True,  True, False, False]))
    >>> print(notes)
    1 row is an exact copy of another, with another label.
    """

    duplicate_of: Ints
    conflict: Flags
    surroundings: Surroundings | None = field(default=None, repr=False)
    repeated_id: Flags | None = None

    def __len__(self) -> int:
        return self.duplicate_of.size

    @property
    def farness(self) -> Floats | None:
        """How far rows are from their neighbours, None if nobody measured it."""
        return None if self.surroundings is None else self.surroundings.look()[0]

    @property
    def near_copy_of(self) -> Ints | None:
        """The rows of other groups that rows nearly equal, None without groups."""
        return None if self.surroundings is None else self.surroundings.look()[1]

    @property
    def outlier(self) -> Flags:
        """Which rows are far from all others: the farness is above 5."""
        return np.zeros(len(self), bool) if self.farness is None else self.farness > FAR

    @property
    def any(self) -> Flags:
        """Which rows there is something to say about."""
        found: Flags = (self.duplicate_of != NOBODY) | self.conflict | self.outlier
        if self.near_copy_of is not None:
            found = found | (self.near_copy_of != NOBODY)
        return found if self.repeated_id is None else found | self.repeated_id

    def columns(self, index: Array) -> dict[str, Array]:
        """Arrange the notes as columns, with copies named by this index."""
        found = {
            "duplicate_of": _named(self.duplicate_of, index),
            "conflict": self.conflict,
            "outlier": self.outlier,
        }
        if self.near_copy_of is not None:
            found["near_copy_of"] = _named(self.near_copy_of, index)
        if self.repeated_id is not None and self.repeated_id.any():
            found["repeated_id"] = self.repeated_id
        return found

    def reasons(self, position: int, index: Sequence[object] | Array) -> list[str]:
        """Say in words what is odd about a row."""
        words = []
        first = int(self.duplicate_of[position])
        if first != NOBODY:
            words.append(f"copy of {index[first]}")
        elif (self.duplicate_of == position).any():
            words.append("has copies")
        if self.conflict[position]:
            words.append("a copy has another label")
        if self.near_copy_of is not None and self.near_copy_of[position] != NOBODY:
            words.append(f"nearly a copy of {index[self.near_copy_of[position]]} in another group")
        if self.repeated_id is not None and self.repeated_id[position]:
            words.append("another row has its id")
        if self.outlier[position]:
            words.append("far from all others")
        return words

    def __str__(self) -> str:
        copies, said = self.duplicate_of != NOBODY, []
        if copies.any():
            n, against = int(copies.sum()), int((copies & self.conflict).sum())
            what = "an exact copy of another" if n == 1 else "exact copies of others"
            some = f"{'' if n == against else f'{against:,} of them '}with another label"
            few = f" ({len(self) - n:,} different rows in all)" if 2 * n > len(self) else ""
            said.append(f"{_rows(n)} {what}{few}{f', {some}' if against else ''}")
        if self.near_copy_of is not None and (self.near_copy_of != NOBODY).any():
            n = int((self.near_copy_of != NOBODY).sum())
            said.append(f"{_rows(n)} nearly the same as a row of another group")
        if self.outlier.any():
            n = int(self.outlier.sum())
            said.append(f"{_rows(n)} far from all others: outlier{'s' if n > 1 else ''}")
        if self.repeated_id is not None and self.repeated_id.any():
            said.append(f"{int(self.repeated_id.sum()):,} rows share their id with another row")
        if said:
            return "; ".join(said) + "."
        far = "" if self.farness is None else ", and no rows far from all others"
        return f"No copies{far}."


def repeated(ids: Array) -> Flags:
    """Return which of these ids come more than once."""
    counts = Counter(ids.tolist())
    return np.array([counts[one] > 1 for one in ids.tolist()], bool)


def _rows(n: int) -> str:
    return f"{n:,} row is" if n == 1 else f"{n:,} rows are"


def _named(positions: Ints, index: Array) -> Array:
    """Return the names of these positions, None where there is nobody."""
    names = index[positions].astype(object)
    names[positions == NOBODY] = None
    return names
