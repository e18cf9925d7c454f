"""Approximate search: an index proposes neighbours, and their distances are computed as usual."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dataworth.arrays import Array, Ints
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.ranking import nearest
from dataworth.neighbors.rows import Known

RECALL_SAMPLE = 32  # validation points on which an index is compared with all distances
LOW_RECALL = 0.9  # if an index finds a smaller share, the user is warned


class Index(Protocol):
    """Finds the likely neighbours of validation points."""

    def find(self, queries: Array, limit: int) -> Sequence[Ints | None]:
        """Return at least `limit` positions for each query, or None if it finds fewer."""


@dataclass(frozen=True)
class Approximate:
    """Searches an index, and all points for a query where the index finds too few."""

    index: Index
    points: Array
    measure: Measure
    limit: int
    width = 1

    def rows(self, queries: Array) -> Iterator[Known]:
        """Yield one row for each validation point, in order."""
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
        """Return the share of the nearest points that the index finds, on a sample of queries."""
        sample = np.unique(np.linspace(0, n_queries - 1, RECALL_SAMPLE).astype(np.int64))
        hits = total = 0
        for i in sample.tolist():
            query = queries[i : i + 1]
            (row,) = self.rows(query)
            exact = self._exact(query)
            hits += np.intersect1d(exact.index, row.index).size
            total += exact.index.size
        return hits / total
