"""Searches: they take validation points and return one row of neighbours for each."""

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
        How many of the nearest training points each validation point needs. None means that all
        distances are needed.
    bounded_support : bool
        Whether no point beyond these has weight.
    sums : float
        How many bytes sums over training points and copies of distances take, for each validation
        point in memory.
    room : float
        How many bytes one worker may use.
    share : int
        How many validation points a worker may get at a time, so that all workers get some.
    """

    nearest: int | None
    bounded_support: bool
    sums: float
    room: float
    share: int


class Search(Protocol):
    """What a run needs of a search."""

    @property
    def width(self) -> int:
        """How many validation points are best searched at a time."""

    def rows(self, queries: Any) -> Iterator[Row]:
        """Yield one row for each validation point, in order."""


class CompleteSearch:
    """A search whose rows hold the distances to all training points."""

    width: int

    def tables(self, queries: Any) -> Iterator[Floats]:
        """Yield the distances of some validation points (rows), in order, in fresh arrays."""
        raise TypeError(f"{type(self).__name__} does not define tables")

    def rows(self, queries: Any) -> Iterator[Everyone]:
        """Yield one row for each validation point, in order."""
        for table in self.tables(queries):
            for row in table:
                yield Everyone(row)


@dataclass(frozen=True)
class Brute(CompleteSearch):
    """Computes the distances to all points in memory, `held` rows at a time."""

    points: Array
    measure: Measure
    held: int
    width: int

    def tables(self, queries: Any) -> Iterator[Floats]:
        """Yield the distances of some validation points (rows), in order, in fresh arrays."""
        for start in range(0, queries.shape[0], self.held):
            yield self.measure.distances(queries[start : start + self.held], self.points)


@dataclass(frozen=True)
class Given:
    """Reads rows that the user computed: all distances, or a CSR array of known neighbours."""

    width = 1

    def rows(self, queries: Any) -> Iterator[Row]:
        """Yield one row for each validation point, in order."""
        if not issparse(queries):
            for row in np.asarray(queries, dtype=np.float64):
                yield Everyone(row)
            return
        for i in range(queries.shape[0]):
            part = slice(queries.indptr[i], queries.indptr[i + 1])
            index = queries.indices[part].astype(np.int64)
            yield Known.sorted(index, queries.data[part].astype(np.float64))


@dataclass(frozen=True)
class Picked(CompleteSearch):
    """Picks some of the training points from the rows of a complete search."""

    search: CompleteSearch
    columns: Ints
    width: int

    def tables(self, queries: Any) -> Iterator[Floats]:
        """Yield the distances of some validation points (rows), in order, in fresh arrays."""
        for table in self.search.tables(queries):
            yield np.take(table, self.columns, axis=1)


def nearest_of(
    block: Array, start: int, queries: Array, limit: int, measure: Measure
) -> list[Known]:
    """Find the nearest points of a block, whose first point is training point `start`."""
    found = []
    for query in range(queries.shape[0]):
        row: Floats = measure.distances(queries[query : query + 1], block)[0]
        chosen = nearest(row, min(limit, row.size))
        found.append(Known(chosen + start, row[chosen]))
    return found
