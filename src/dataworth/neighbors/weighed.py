"""Training points that an encoder weighs itself, so that nobody measures distances."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import joblib
import numpy as np
from scipy.sparse import csr_array

from dataworth.arrays import Array, Ints
from dataworth.neighbors.rows import Weighted
from dataworth.neighbors.search import Demand


class Shares(Protocol):
    """Makes weights of training points from what an encoder says about other points."""

    def weights(self, leaves: Ints) -> csr_array:
        """Return the weights of all training points (columns) for each point (rows)."""


@dataclass(frozen=True)
class Weighed:
    """Training points, by the leaves in which trees that may judge them put them.

    Attributes
    ----------
    leaves : (n_train, n_trees) array of int
        The leaf of each point in each tree, or the complement of its number if that tree must not
        judge the point.
    shares : Shares
        What each training point has to say in each leaf.
    """

    leaves: Ints
    shares: Shares

    @property
    def array(self) -> Array:
        """The leaves of the points in all trees."""
        return np.maximum(self.leaves, ~self.leaves)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of trees."""
        return self.leaves.shape[0], self.leaves.shape[1]

    def __getitem__(self, rows: slice) -> Array:
        """Return these rows as an array."""
        return self.leaves[rows]

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order."""
        return self.leaves[index]

    def digest(self) -> str:
        """Return a hash of the contents."""
        return str(joblib.hash(self.leaves))

    def queries(self, X_val: Any) -> Array:
        """Return validation points as they are: the encoder has checked them."""
        leaves: Array = X_val
        return leaves

    def search(self, demand: Demand) -> "Weighing":
        """Return a search that weighs these points."""
        return Weighing(self.shares)

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours; no, all others have no weight."""
        return False

    def part(self, columns: Ints) -> None:
        """Return None, because the encoder must not know the other points."""
        return


@dataclass(frozen=True)
class Weighing:
    """Weighs the training points for a few validation points at a time."""

    shares: Shares
    width = 1

    def rows(self, queries: Any) -> Iterator[Weighted]:
        """Yield one row for each validation point, in order."""
        found = self.shares.weights(queries)
        for start, stop in zip(found.indptr[:-1], found.indptr[1:], strict=True):
            some = slice(start, stop)
            yield Weighted(found.indices[some].astype(np.int64), found.data[some])
