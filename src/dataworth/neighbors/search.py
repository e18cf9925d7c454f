"""Searches: validation points in, one row of neighbours for each of them out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from dataworth.arrays import Array, Floats, Ints
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.ranking import nearest
from dataworth.neighbors.rows import Everyone, Known, Row


@dataclass(frozen=True)
class Demand:
    """What a run asks of a search.

    Attributes
    ----------
    nearest : int or None
        How many nearest training points of each validation point are enough. None stands for all
        distances.
    bounded_support : bool
        Whether all points beyond these have no weight.
    sums : float
        Bytes that the sums over training points take for each validation point that is held.
    room : float
        Bytes that one worker may use.
    block : int
        How many validation points are summed together.
    """

    nearest: int | None
    bounded_support: bool
    sums: float
    room: float
    block: int


class Search(Protocol):
    """What a run needs of a search."""

    @property
    def width(self) -> int:
        """How many validation points are best searched at a time."""

    def rows(self, queries: Any) -> Iterator[Row]:
        """One row for each validation point, in their order."""


class CompleteSearch(Search, Protocol):
    """A search whose rows hold the distances to all training points."""

    def rows(self, queries: Any) -> Iterator[Everyone]:
        """One row for each validation point, in their order."""


@dataclass(frozen=True)
class Brute:
    """All distances to points in memory; `held` rows of them at a time."""

    points: Array
    measure: Measure
    held: int
    width = 1

    def rows(self, queries: Any) -> Iterator[Everyone]:
        """One row for each validation point, in their order."""
        for start in range(0, queries.shape[0], self.held):
            some = queries[start : start + self.held]
            for row in self.measure.distances(some, self.points):
                yield Everyone(row)


@dataclass(frozen=True)
class Given:
    """Rows that the user computed: of all distances, or of known neighbours in a CSR array."""

    width = 1

    def rows(self, queries: Any) -> Iterator[Row]:
        """One row for each validation point, in their order."""
        if not issparse(queries):
            for row in np.asarray(queries, dtype=np.float64):
                yield Everyone(row)
            return
        for i in range(queries.shape[0]):
            part = slice(queries.indptr[i], queries.indptr[i + 1])
            index = queries.indices[part].astype(np.int64)
            yield Known.sorted(index, queries.data[part].astype(np.float64))


@dataclass(frozen=True)
class Picked:
    """The rows of a complete search, with some of the training points only."""

    search: CompleteSearch
    columns: Ints

    @property
    def width(self) -> int:
        """How many validation points are best searched at a time."""
        return self.search.width

    def rows(self, queries: Any) -> Iterator[Everyone]:
        """One row for each validation point, in their order."""
        for row in self.search.rows(queries):
            yield Everyone(row.distances[self.columns])


def nearest_of(
    block: Array, start: int, queries: Array, limit: int, measure: Measure
) -> list[Known]:
    """The nearest points of a block whose first point is training point `start`."""
    found = []
    for query in range(queries.shape[0]):
        row: Floats = measure.distances(queries[query : query + 1], block)[0]
        chosen = nearest(row, min(limit, row.size))
        found.append(Known(chosen + start, row[chosen]))
    return found
