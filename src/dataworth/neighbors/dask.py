"""Training sets sharded over the workers of a cluster, as Dask arrays.

Shards stay where they are. Validation points travel to them, each worker finds the nearest points
of its shards, and a tree of merges brings the nearest of all back: per validation point 16 bytes
for each neighbour, a few times over, whatever the number of training points. A worker that dies is
Dask's affair: the shards it held are made again from their graph and its searches repeated.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.inputs import checks
from dataworth.neighbors import distances as neighbors
from dataworth.neighbors import search as searches
from dataworth.neighbors.search import Row
from dataworth.weights import Known

FAN_IN = 8  # how many shards' neighbours one task merges


def _checked(block: NDArray[Any], start: int) -> NDArray[Any]:
    array: NDArray[Any] = checks.matrix(block, "X", first_row=start)
    return array


def _check(block: NDArray[Any], start: int) -> np.dtype[Any]:
    return _checked(block, start).dtype


def _digest(block: NDArray[Any]) -> str:
    return hashlib.sha256(_checked(block, 0).tobytes()).hexdigest()


def _distances(
    block: NDArray[Any], queries: NDArray[Any], metric: neighbors.Metric, params: dict[str, Any]
) -> NDArray[np.float64]:
    return neighbors.distances(queries, _checked(block, 0), metric, params)


def _nearest(block: NDArray[Any], start: int, queries: NDArray[Any], *rest: Any) -> list[Any]:
    return searches.nearest_of(_checked(block, start), start, queries, *rest)


class ShardedPoints:
    """The blocks of rows of a Dask array, checked where they are."""

    def __init__(self, X: Any) -> None:
        import dask

        if X.ndim != 2 or 0 in X.shape:
            raise ValueError(
                "X must have two dimensions (points × features) and hold at least one point and "
                f"one column; got shape {X.shape}."
            )
        if np.isnan(X.shape[0]):
            raise ValueError("X must know its chunk sizes; call X.compute_chunk_sizes() first.")
        X = X.rechunk({1: -1})
        self.array = X
        self.shape: tuple[int, int] = X.shape
        starts = np.concatenate([[0], np.cumsum(X.chunks[0])[:-1]]).tolist()
        filled = np.flatnonzero(X.chunks[0])
        self.blocks = [X.to_delayed()[i, 0] for i in filled]
        self.starts = [starts[i] for i in filled]
        check = dask.delayed(_check, pure=True)
        found = [check(b, s) for b, s in zip(self.blocks, self.starts, strict=True)]
        self.dtype = np.result_type(*dask.compute(*found))

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """These rows, brought here."""
        return np.ascontiguousarray(self.array[rows].compute(), dtype=self.dtype)

    def digest(self) -> str:
        """A hash of the contents, taken where they are."""
        import dask

        digest = dask.delayed(_digest, pure=True)
        return " ".join(dask.compute(*(digest(block) for block in self.blocks)))


@dataclass(frozen=True)
class Sharded:
    """The nearest points of all shards; all distances where there is no limit."""

    points: ShardedPoints
    metric: neighbors.Metric
    params: dict[str, Any]
    limit: int | None
    held: int

    @property
    def width(self) -> int:
        """How many validation points are best searched at a time."""
        return self.held

    def rows(self, queries: NDArray[Any]) -> Iterator[Row]:
        """One row for each validation point, in their order."""
        for start in range(0, len(queries), self.held):
            some = queries[start : start + self.held]
            yield from self._distances(some) if self.limit is None else self._nearest(some)

    def _distances(self, queries: NDArray[Any]) -> NDArray[np.float64]:
        import dask

        sent = dask.delayed(queries)
        measure = dask.delayed(_distances, pure=True)
        parts = [measure(b, sent, self.metric, self.params) for b in self.points.blocks]
        out = np.empty((len(queries), self.points.shape[0]))
        for start, part in zip(self.points.starts, dask.compute(*parts), strict=True):
            out[:, start : start + part.shape[1]] = part
        return out

    def _nearest(self, queries: NDArray[Any]) -> list[Known]:
        import dask

        sent = dask.delayed(queries)
        search = dask.delayed(_nearest, pure=True)
        merge = dask.delayed(searches.merge, pure=True)
        found = [
            search(block, start, sent, self.limit, self.metric, self.params)
            for block, start in zip(self.points.blocks, self.points.starts, strict=True)
        ]
        while len(found) > 1:
            groups = [found[i : i + FAN_IN] for i in range(0, len(found), FAN_IN)]
            found = [merge(group, self.limit) for group in groups]
        nearest: list[Known] = found[0].compute()
        return nearest
