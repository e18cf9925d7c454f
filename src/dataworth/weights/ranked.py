"""Ranked neighbours: what weights hand on to the games."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.neighbors.rows import Known


@dataclass(frozen=True)
class Ranked:
    """The training points that can matter to one validation point.

    Null players are left out: points of weight 0 with only such points behind them.

    Attributes
    ----------
    order : (n,) array of int
        Training positions, nearest first; all of them, or as many as were asked for.
    weights : (n,) array
        Their weights, integers or real numbers.
    behind : (n_train,) array or None
        The weights of the points behind those, and -1 for all others; None where no points are
        behind them.
    falling : bool
        Whether weights never rise with distance.
    capped : bool
        Whether `behind` only says how large those weights can be.
    """

    order: Ints
    weights: Array
    behind: Array | None
    falling: bool
    capped: bool = False

    @cached_property
    def others(self) -> Ints:
        """Training positions of the points behind those ranked."""
        return np.empty(0, np.int64) if self.behind is None else np.flatnonzero(self.behind >= 0)

    @property
    def players(self) -> int:
        """How many points there are."""
        if self.behind is None:
            return self.order.size
        return self.order.size + self.others.size

    def cut(self, limit: int, n_train: int) -> "Ranked":
        """The same points with only the nearest `limit` ranked."""
        if limit >= self.order.size:
            return self
        behind = np.full(n_train, -1, self.weights.dtype)
        behind[self.order[limit:]] = self.weights[limit:]
        return Ranked(self.order[:limit], self.weights[:limit], behind, self.falling)

    def shifted(self, own: int) -> "Ranked":
        """Positions in the training set, where the point at `own` was left out of the row."""
        behind = self.behind
        if behind is not None:
            behind = np.concatenate([behind[:own], np.full(1, -1, behind.dtype), behind[own:]])
        order = self.order + (self.order >= own)
        return Ranked(order, self.weights, behind, self.falling, self.capped)


def trimmed(order: Ints, weights: Array) -> Ranked:
    """Points, nearest first, without the null players at their end."""
    nonzero = np.flatnonzero(weights)
    size = int(nonzero[-1]) + 1 if nonzero.size else 0
    return Ranked(order[:size], weights[:size], None, bool(np.all(np.diff(weights) <= 0)))


class RowRanker:
    """Ranks complete rows; a subclass says how, and what it makes of rows that are not."""

    def rank(self, row: Floats, limit: int | None = None) -> Ranked:
        """Rank the training points by one row of distances, only the nearest `limit` if given."""
        raise TypeError(f"{type(self).__name__} ranks no rows")

    def rank_all(self, distances: Floats, own: int | None, limit: int | None) -> Ranked:
        """The same without the training point `own`."""
        if own is None:
            return self.rank(distances, limit)
        others = np.concatenate([distances[:own], distances[own + 1 :]])
        return self.rank(others, limit).shifted(own)


class Within(RowRanker):
    """Ranks the points within a radius, all of the same weight and in the training order."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def rank(self, row: Floats, limit: int | None = None) -> Ranked:
        """The points within the radius; Settings has refused a limit."""
        within = np.flatnonzero(row <= self.radius)
        return Ranked(within, np.ones(within.size, np.int16), None, True)

    def rank_known(self, known: Known, n_train: int, own: int | None, limit: int | None) -> Ranked:
        """Settings has refused a radius where not all distances are known."""
        raise TypeError("a radius needs all distances")
