"""Approximate neighbour search with faiss, for runs that need few neighbours of each point."""

import re
from typing import Any

import numpy as np

from dataworth.arrays import Array, Ints
from dataworth.errors import InputError, extra
from dataworth.neighbors.distances import Measure

PARAMETERS = ("index", "search")


def check(measure: Measure, params: dict[str, Any]) -> None:
    """Refuse a metric or parameters that faiss cannot take."""
    if measure.metric not in ("euclidean", "l2", "cosine"):
        raise InputError(
            "metric",
            "be 'euclidean' or 'cosine' with neighbors='faiss'",
            f"got {measure.metric!r}",
        )
    unknown = sorted(set(params) - set(PARAMETERS))
    if unknown or not all(isinstance(v, str) for v in params.values()):
        raise InputError(
            "neighbors_params",
            "hold strings under no other names than 'index' (a factory string of faiss such as "
            "'HNSW32') and 'search' (such as 'efSearch=128')",
            f"got {params!r}",
        )


def default_index(n_points: int) -> str:
    """Return the factory string of an inverted file with about sqrt(N) lists."""
    lists = max(1, min(int(2 * n_points**0.5), n_points // 40))
    return f"IVF{lists},Flat"


class Index:
    """A faiss index of training points.

    One thread builds it, so that the same points always give the same index.
    """

    def __init__(self, points: Array, measure: Measure, params: dict[str, str]) -> None:
        faiss = _faiss()
        self.cosine = measure.metric == "cosine"
        if np.abs(points).max() > np.finfo(np.float32).max:
            raise InputError(
                "X", "fit into float32 with neighbors='faiss'", hint="Scale the features."
            )
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
            # Where in faiss it happened does not help; what it says about the parameters does.
            why = re.sub(r"^Error in .*?\.(cpp|h):\d+:\s*", "", " ".join(str(error).split()))
            why = why.rsplit("failed:", 1)[-1].strip()[:160]
            raise InputError(
                "neighbors_params",
                "suit faiss and X",
                f"faiss refused the index or the points: {why}",
            ) from error
        finally:
            faiss.omp_set_num_threads(threads)
        self.index = index

    def _vectors(self, points: Array) -> Array:
        if self.cosine:
            lengths = np.linalg.norm(points, axis=1, keepdims=True)
            points = points / np.where(lengths > 0.0, lengths, 1.0)
        return np.ascontiguousarray(points, dtype=np.float32)

    def find(self, queries: Array, limit: int) -> list[Ints | None]:
        """Return the positions found for each query, or None if the lists searched hold too few.

        Queries are searched one at a time, because faiss may find other neighbours for a batch.
        """
        vectors = self._vectors(queries)
        found = [self.index.search(vectors[i : i + 1], limit)[1][0] for i in range(len(vectors))]
        return [row if row.min() >= 0 else None for row in found]

    def __getstate__(self) -> dict[str, Any]:
        return {"cosine": self.cosine, "index": _faiss().serialize_index(self.index)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.cosine = state["cosine"]
        self.index = _faiss().deserialize_index(state["index"])


def _faiss() -> Any:
    return extra("faiss", "neighbors='faiss'", "ann")
