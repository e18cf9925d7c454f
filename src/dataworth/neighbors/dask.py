"""Training sets as Dask arrays, sharded over the workers of a cluster.

Shards stay where they are. Validation points travel to them, each worker finds the nearest points
of its shards, and a tree of merges brings the nearest of all back. Each neighbour of a validation
point costs 16 bytes of traffic, a few times over, whatever the number of training points. If a
worker dies, Dask makes its shards again from their graph and repeats its searches.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError
from dataworth.inputs import checks
from dataworth.neighbors.blocks import MOST_HELD
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.rows import Known, merge
from dataworth.neighbors.search import CompleteSearch, Demand, nearest_of

FAN_IN = 8  # how many shards' neighbours one task merges


def _checked(block: Array, start: int) -> Array:
    array: Array = checks.matrix(block, "X", first_row=start)
    return array


def _check(block: Array, start: int) -> np.dtype[Any]:
    return _checked(block, start).dtype


def _digest(block: Array) -> str:
    return hashlib.sha256(_checked(block, 0).tobytes()).hexdigest()


def _distances(block: Array, queries: Array, measure: Measure) -> Floats:
    return measure.distances(queries, _checked(block, 0))


def _nearest(block: Array, start: int, queries: Array, limit: int, measure: Measure) -> list[Known]:
    return nearest_of(_checked(block, start), start, queries, limit, measure)


class DaskPoints:
    """The rows of a Dask array, checked and searched where they are."""

    def __init__(self, X: Any, measure: Measure) -> None:
        import dask

        if X.ndim != 2 or 0 in X.shape:
            raise InputError(
                "X",
                "have two dimensions (points × features) and hold at least one point and one "
                "column",
                f"got shape {X.shape}",
            )
        if np.isnan(X.shape[0]):
            raise InputError(
                "X", "have known chunk sizes", hint="Call X.compute_chunk_sizes() first."
            )
        X = X.rechunk({1: -1})
        self.array = X
        self.measure = measure
        self.shape: tuple[int, int] = X.shape
        starts = np.concatenate([[0], np.cumsum(X.chunks[0])[:-1]]).tolist()
        filled = np.flatnonzero(X.chunks[0])
        self.shards = [X.to_delayed()[i, 0] for i in filled]
        self.starts = [starts[i] for i in filled]
        check = dask.delayed(_check, pure=True)
        found = [check(b, s) for b, s in zip(self.shards, self.starts, strict=True)]
        self.dtype = np.result_type(*dask.compute(*found))

    def __getitem__(self, rows: slice) -> Array:
        """Return these rows as an array in local memory."""
        return np.ascontiguousarray(self.array[rows].compute(), dtype=self.dtype)

    def take(self, index: Ints) -> Array:
        """Return these rows as an array in local memory, in this order."""
        return np.ascontiguousarray(self.array[index].compute(), dtype=self.dtype)

    def digest(self) -> str:
        """Return a hash of the contents, computed by the workers."""
        import dask

        digest = dask.delayed(_digest, pure=True)
        return " ".join(dask.compute(*(digest(shard) for shard in self.shards)))

    def queries(self, X_val: Any) -> Array:
        """Check validation points and return them in the form that the search takes."""
        return checks.matrix(X_val, "X_val", n_columns=self.shape[1])

    def search(self, demand: Demand) -> "ShardDistances | ShardNearest":
        """Return a search among these points that meets the demand."""
        if demand.nearest is None:
            return ShardDistances(self, _held(demand, 8 * self.shape[0]))
        # One more than needed, because one of them may be the validation point itself.
        limit = demand.nearest + 1
        return ShardNearest(self, _held(demand, 64 * limit), limit)

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours, as it does if the run is limited."""
        return limited

    def part(self, columns: Ints) -> None:
        """Refuse: a part of a Dask array cannot be valued."""
        raise InputError("cv", "be None if X is a Dask array")


def _held(demand: Demand, row: float) -> int:
    """Return how many rows of this many bytes to ask for at a time."""
    return int(min(max(demand.room / (row + demand.sums), 1), MOST_HELD))


@dataclass(frozen=True)
class ShardDistances(CompleteSearch):
    """Computes the distances to the points of all shards."""

    points: DaskPoints
    width: int

    def tables(self, queries: Any) -> Iterator[Floats]:
        """Yield the distances of some validation points (rows), in order, in fresh arrays."""
        for start in range(0, len(queries), self.width):
            yield self._distances(queries[start : start + self.width])

    def _distances(self, queries: Array) -> Floats:
        import dask

        sent = dask.delayed(queries)
        measure = dask.delayed(_distances, pure=True)
        parts = [measure(shard, sent, self.points.measure) for shard in self.points.shards]
        out = np.empty((len(queries), self.points.shape[0]))
        for start, part in zip(self.points.starts, dask.compute(*parts), strict=True):
            out[:, start : start + part.shape[1]] = part
        return out


@dataclass(frozen=True)
class ShardNearest:
    """Finds the nearest points of each shard on its worker, and merges them in a tree."""

    points: DaskPoints
    width: int
    limit: int

    def rows(self, queries: Array) -> Iterator[Known]:
        """Yield one row for each validation point, in order."""
        for start in range(0, len(queries), self.width):
            yield from self._nearest(queries[start : start + self.width])

    def _nearest(self, queries: Array) -> list[Known]:
        import dask

        sent = dask.delayed(queries)
        search = dask.delayed(_nearest, pure=True)
        merged = dask.delayed(merge, pure=True)
        found = [
            search(shard, start, sent, self.limit, self.points.measure)
            for shard, start in zip(self.points.shards, self.points.starts, strict=True)
        ]
        while len(found) > 1:
            groups = [found[i : i + FAN_IN] for i in range(0, len(found), FAN_IN)]
            found = [merged(group, self.limit) for group in groups]
        nearest: list[Known] = found[0].compute()
        return nearest
