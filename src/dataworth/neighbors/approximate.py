"""Approximate search: an index proposes neighbours, and their distances are computed as ever."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dataworth.arrays import Array, Ints
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.ranking import nearest
from dataworth.neighbors.rows import Known

RECALL_SAMPLE = 32  # validation points on which an index is compared with all distances
LOW_RECALL = 0.9  # below this share, a search is worth a warning


class Index(Protocol):
    """What finds the likely neighbours of validation points."""

    def find(self, queries: Array, limit: int) -> Sequence[Ints | None]:
        """The positions found for each query, at least `limit`; None where there are fewer."""


@dataclass(frozen=True)
class Approximate:
    """The nearest points that an index finds; where it finds too few, those of all points."""

    index: Index
    points: Array
    measure: Measure
    limit: int
    width = 1

    def rows(self, queries: Array) -> Iterator[Known]:
        """One row for each validation point, in their order."""
        found = self.index.find(queries, self.limit)
        for i, index in enumerate(found):
            query = queries[i : i + 1]
            if index is None:
                yield self._exact(query)
            else:
                row = self.measure.distances(query, self.points[index])[0]
                yield Known.sorted(index, row)

    def _exact(self, query: Array) -> Known:
        row = self.measure.distances(query, self.points)[0]
        chosen = nearest(row, self.limit)
        return Known.sorted(chosen, row[chosen])

    def recall(self, queries: Any, n_queries: int) -> float:
        """The share of the nearest points that the index finds, for some of the queries."""
        sample = np.unique(np.linspace(0, n_queries - 1, RECALL_SAMPLE).astype(np.int64))
        hits = total = 0
        for i in sample.tolist():
            query = queries[i : i + 1]
            (row,) = self.rows(query)
            exact = self._exact(query)
            hits += np.intersect1d(exact.index, row.index).size
            total += exact.index.size
        return hits / total
