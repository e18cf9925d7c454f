"""Approximate neighbour search with faiss, for runs that need few neighbours of each point."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.neighbors import distances as neighbors
from dataworth.neighbors.search import sorted_known
from dataworth.weights import Known

PARAMETERS = ("index", "search")


def check(metric: neighbors.Metric, params: dict[str, Any]) -> None:
    """Refuse what faiss cannot do, before any work."""
    if metric not in ("euclidean", "l2", "cosine"):
        raise ValueError(
            f"metric must be 'euclidean' or 'cosine' with neighbors='faiss'; got {metric!r}."
        )
    unknown = sorted(set(params) - set(PARAMETERS))
    if unknown or not all(isinstance(v, str) for v in params.values()):
        raise ValueError(
            "neighbors_params must hold strings under 'index' (a faiss factory string such as "
            f"'HNSW32') and 'search' (such as 'efSearch=128') only; got {params!r}."
        )


def default_index(n_points: int) -> str:
    """An inverted file with about sqrt(N) lists."""
    lists = max(1, min(int(2 * n_points**0.5), n_points // 40))
    return f"IVF{lists},Flat"


class Index:
    """A faiss index of training points; the same points give the same index.

    It is built by one thread, as the result of several is a matter of chance.
    """

    def __init__(self, points: NDArray[Any], cosine: bool, params: dict[str, str]) -> None:
        faiss = _faiss()
        self.cosine = cosine
        if np.abs(points).max() > np.finfo(np.float32).max:
            raise ValueError("X must fit into float32 with neighbors='faiss'; scale the features.")
        vectors = self._vectors(points)
        factory = params.get("index", default_index(points.shape[0]))
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            index = faiss.index_factory(points.shape[1], factory)
            index.train(vectors)
            index.add(vectors)
            search = params.get("search", "")
            if not search and "index" not in params:
                search = f"nprobe={max(16, index.nlist // 8)}"
            if search:
                faiss.ParameterSpace().set_index_parameters(index, search)
        except RuntimeError as error:
            why = str(error).strip().rsplit("failed:", 1)[-1].strip().splitlines()[0][:160]
            raise ValueError(f"faiss refused the index or the points: {why}") from error
        finally:
            faiss.omp_set_num_threads(threads)
        self.index = index

    def _vectors(self, points: NDArray[Any]) -> NDArray[np.float32]:
        if self.cosine:
            lengths = np.linalg.norm(points, axis=1, keepdims=True)
            points = points / np.where(lengths > 0.0, lengths, 1.0)
        return np.ascontiguousarray(points, dtype=np.float32)

    def find(self, queries: NDArray[Any], limit: int) -> NDArray[np.int64]:
        """The indices found for each query, in no order that counts; -1 where there are too few.

        One query at a time: of several together faiss may find other neighbours.
        """
        vectors = self._vectors(queries)
        found = [self.index.search(vectors[i : i + 1], limit)[1] for i in range(len(vectors))]
        return np.concatenate(found)

    def __getstate__(self) -> dict[str, Any]:
        return {"cosine": self.cosine, "index": _faiss().serialize_index(self.index)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.cosine = state["cosine"]
        self.index = _faiss().deserialize_index(state["index"])


@dataclass(frozen=True)
class Approximate:
    """The nearest points that an index finds; their distances are then computed as ever."""

    index: Index
    points: NDArray[Any]
    metric: neighbors.Metric
    limit: int
    width = 1

    def rows(self, queries: NDArray[Any]) -> Iterator[Known]:
        """One row for each validation point, in their order."""
        limit = min(self.limit, self.points.shape[0])
        for query, found in zip(queries, self.index.find(queries, limit), strict=True):
            if found.min() >= 0:
                row = neighbors.distances(query[None], self.points[found], self.metric, {})[0]
                yield sorted_known(found, row)
            else:  # the lists that were looked into hold too few points
                yield self._exact(query, limit)

    def _exact(self, query: NDArray[Any], limit: int) -> Known:
        row = neighbors.distances(query[None], self.points, self.metric, {})[0]
        chosen = neighbors.nearest(row, limit)
        return sorted_known(chosen, row[chosen])

    def recall(self, queries: NDArray[Any]) -> float:
        """The share of the nearest points of these queries that the index finds."""
        hits = total = 0
        for query, row in zip(queries, self.rows(queries), strict=True):
            exact = self._exact(query, min(self.limit, self.points.shape[0]))
            hits += np.intersect1d(exact.index, row.index).size
            total += exact.index.size
        return hits / total


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise ImportError("neighbors='faiss' needs faiss: pip install 'dataworth[ann]'.") from None
    return faiss
