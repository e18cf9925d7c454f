"""Neighbours from a neighbours transformer.

This can be `KNeighborsTransformer` of scikit-learn, `PyNNDescentTransformer` of pynndescent, or
anything else whose `fit` and `transform` give a sparse graph of neighbours.
"""

import threading
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from dataworth.arrays import Array, Ints
from dataworth.errors import InputError
from dataworth.inputs import checks


class TransformerIndex:
    """The neighbours that a transformer finds among training points.

    A transformer that is already fitted is used as it is; otherwise a clone of it is fitted. Only
    one thread at a time may search, because few transformers can be shared by threads.
    """

    def __init__(self, points: Array, transformer: Any, *, anew: bool = False) -> None:
        self.n_points = points.shape[0]
        self.transformer = transformer
        if anew or not _is_fitted(transformer):
            try:
                self.transformer = clone(transformer).fit(points)
            except Exception as error:
                raise _said(error, "training") from error
        self._lock = threading.Lock()

    def find(self, queries: Array, limit: int) -> list[Ints | None]:
        """Return at least `limit` positions for each query."""
        try:
            with self._lock:
                graph = self.transformer.transform(queries)
        except Exception as error:
            raise _said(error, "validation") from error
        if not issparse(graph) or graph.shape != (queries.shape[0], self.n_points):
            raise InputError(
                "neighbors",
                f"give a sparse graph of {self.n_points} columns, one per training point",
                f"it gave {type(graph).__name__} of shape {getattr(graph, 'shape', '?')}",
            )
        graph = csr_array(graph)
        found: list[Ints | None] = []
        for i in range(queries.shape[0]):
            index = graph.indices[graph.indptr[i] : graph.indptr[i + 1]].astype(np.int64)
            index = np.unique(index)
            if index.size < limit:
                raise InputError(
                    "neighbors",
                    f"find {limit} neighbours, one more than support or max_rank asks for",
                    f"it found only {index.size} for one validation point",
                )
            found.append(index)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"n_points": self.n_points, "transformer": self.transformer}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def _said(error: Exception, points: str) -> InputError:
    return InputError(
        "neighbors", f"accept the {points} points", f"it says: {checks.reason(error)}"
    )


def _is_fitted(transformer: Any) -> bool:
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        return False
    return True
