"""Searches: where the distances of validation points come from.

A search turns validation points into rows, one each: either the distances to all training points,
or, as `Known`, some of the training points, nearest first, all others being farther. Everything
behind it is the same for both.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dataworth.neighbors import distances as neighbors
from dataworth.neighbors.blocks import Blocks
from dataworth.weights import Known

Row = NDArray[np.float64] | Known


class Search(Protocol):
    """What a task needs of a search."""

    @property
    def width(self) -> int:
        """How many validation points are best searched at a time."""

    def rows(self, queries: Any) -> Iterator[Row]:
        """One row for each validation point, in their order."""


@dataclass(frozen=True)
class Brute:
    """All distances, or where there is a limit, that many of the nearest points.

    points : training points; with `Blocks` of them, one pass over the blocks serves `held` rows.
    held : how many rows of distances are held at a time.
    """

    points: NDArray[Any] | Blocks
    metric: neighbors.Metric
    params: dict[str, Any]
    held: int
    limit: int | None = None

    @property
    def width(self) -> int:
        """How many validation points are best searched at a time."""
        return self.held if isinstance(self.points, Blocks) else 1

    def rows(self, queries: Any) -> Iterator[Row]:
        """One row for each validation point, in their order."""
        for start in range(0, queries.shape[0], self.held):
            some = queries[start : start + self.held]
            if self.limit is not None:
                yield from self._nearest(some, self.limit)
            else:
                yield from self._distances(some)

    def _distances(self, queries: NDArray[Any]) -> NDArray[np.float64]:
        if not isinstance(self.points, Blocks):
            return neighbors.distances(queries, self.points, self.metric, self.params)
        out = np.empty((queries.shape[0], self.points.shape[0]))
        for start, block in self.points:
            part = neighbors.distances(queries, block, self.metric, self.params)
            out[:, start : start + block.shape[0]] = part
        return out

    def _nearest(self, queries: NDArray[Any], limit: int) -> list[Known]:
        assert isinstance(self.points, Blocks)
        best: list[Known] | None = None
        for start, block in self.points:
            found = nearest_of(block, start, queries, limit, self.metric, self.params)
            best = found if best is None else merge([best, found], limit)
        assert best is not None
        return best


@dataclass(frozen=True)
class Given:
    """Rows of distances that the user computed."""

    width = 1

    def rows(self, queries: NDArray[Any]) -> Iterator[Row]:
        """One row for each validation point, in their order."""
        yield from np.asarray(queries, dtype=np.float64)


@dataclass(frozen=True)
class Graph:
    """Known neighbours that the user computed, as a CSR array of distances."""

    width = 1

    def rows(self, queries: Any) -> Iterator[Row]:
        """One row for each validation point, in their order."""
        for i in range(queries.shape[0]):
            part = slice(queries.indptr[i], queries.indptr[i + 1])
            index = queries.indices[part].astype(np.int64)
            yield sorted_known(index, queries.data[part].astype(np.float64))


def sorted_known(index: NDArray[np.int64], distance: NDArray[np.float64]) -> Known:
    """These points, nearest first; equal distances by their index."""
    order = np.lexsort((index, distance))
    return Known(index[order], distance[order])


def nearest_of(
    block: NDArray[Any],
    start: int,
    queries: NDArray[Any],
    limit: int,
    metric: neighbors.Metric,
    params: dict[str, Any],
) -> list[Known]:
    """The nearest points of a block whose first point is training point `start`."""
    found = []
    for query in range(queries.shape[0]):
        row = neighbors.distances(queries[query : query + 1], block, metric, params)[0]
        chosen = neighbors.nearest(row, min(limit, row.size))
        found.append(Known(chosen + start, row[chosen]))
    return found


def merge(parts: list[list[Known]], limit: int) -> list[Known]:
    """The nearest points of all parts, for each validation point."""
    merged = []
    for rows in zip(*parts, strict=True):
        index = np.concatenate([row.index for row in rows])
        known = sorted_known(index, np.concatenate([row.distance for row in rows]))
        merged.append(Known(known.index[:limit], known.distance[:limit]))
    return merged
