"""Ranked neighbours, which are handed on to the games."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.neighbors.rows import Known, Weighted


@dataclass(frozen=True)
class Ranked:
    """The training points that can matter to one validation point.

    Null players are left out: points of weight 0 that have only points of weight 0 behind them.

    Attributes
    ----------
    order : (n,) array of int
        The positions of the ranked points in the training set, nearest first: all points, or as
        many as were asked for.
    weights : (n,) array
        Their weights, integers or real numbers.
    behind : (n_train,) array or None
        The weights of the points behind the ranked ones, and -1 for all others; None if there are
        no points behind them.
    falling : bool
        Whether weights never rise with distance.
    capped : bool
        Whether `behind` holds upper bounds of the weights instead of the weights.
    """

    order: Ints
    weights: Array
    behind: Array | None
    falling: bool
    capped: bool = False

    @cached_property
    def others(self) -> Ints:
        """The positions of the points behind the ranked ones in the training set."""
        return np.empty(0, np.int64) if self.behind is None else np.flatnonzero(self.behind >= 0)

    @property
    def players(self) -> int:
        """The number of points, ranked or behind."""
        if self.behind is None:
            return self.order.size
        return self.order.size + self.others.size

    def cut(self, limit: int, n_train: int) -> "Ranked":
        """Return the same points with only the nearest `limit` of them ranked."""
        if limit >= self.order.size:
            return self
        behind = np.full(n_train, -1, self.weights.dtype)
        behind[self.order[limit:]] = self.weights[limit:]
        return Ranked(self.order[:limit], self.weights[:limit], behind, self.falling)

    def shifted(self, own: int) -> "Ranked":
        """Correct the positions, which were counted without the training point `own`."""
        behind = self.behind
        if behind is not None:
            behind = np.concatenate([behind[:own], np.full(1, -1, behind.dtype), behind[own:]])
        order = self.order + (self.order >= own)
        return Ranked(order, self.weights, behind, self.falling, self.capped)


@dataclass(frozen=True)
class RankedRows:
    """Training points ranked for each of several validation points.

    They are all points that can matter, unless only the nearest were asked for.

    Attributes
    ----------
    order : (r, n) array of int
        Their positions in the training set, nearest first, a row for each validation point.
    weights : (r, n) array
        Their weights, which never rise with distance.
    sizes : (r,) array of int
        How many points of each row count; what is written behind them does not.
    """

    order: Ints
    weights: Array
    sizes: Ints

    def row(self, i: int) -> Ranked:
        """Return one row of all points that can matter."""
        size = self.sizes[i]
        return Ranked(self.order[i, :size], self.weights[i, :size], None, True)


def trimmed(order: Ints, weights: Array) -> Ranked:
    """Return the points, which come nearest first, without the null players at the end."""
    nonzero = np.flatnonzero(weights)
    size = int(nonzero[-1]) + 1 if nonzero.size else 0
    return Ranked(order[:size], weights[:size], None, bool(np.all(np.diff(weights) <= 0)))


class RowRanker:
    """Ranks complete rows; a subclass defines `rank`, and `rank_known` for incomplete rows."""

    def rank(self, row: Floats, limit: int | None = None) -> Ranked:
        """Rank the training points by their distances, or only the nearest `limit` of them."""
        raise TypeError(f"{type(self).__name__} does not define rank")

    def rank_all(self, distances: Floats, own: int | None, limit: int | None) -> Ranked:
        """Do the same without the training point `own`."""
        if own is None:
            return self.rank(distances, limit)
        others = np.concatenate([distances[:own], distances[own + 1 :]])
        return self.rank(others, limit).shifted(own)


class Within(RowRanker):
    """Ranks the points within a radius, all of equal weight, in the order of the training set."""

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def rank(self, row: Floats, limit: int | None = None) -> Ranked:
        """Rank the points within the radius; Settings allows no limit with a radius."""
        within = np.flatnonzero(row <= self.radius)
        return Ranked(within, np.ones(within.size, np.int16), None, True)

    def rank_known(self, known: Known, n_train: int, own: int | None, limit: int | None) -> Ranked:
        """Refuse: Settings allows no radius unless all distances are known."""
        raise TypeError("a radius needs all distances")

    def rank_weighted(
        self, weighted: Weighted, n_train: int, own: int | None, limit: int | None
    ) -> Ranked:
        """Refuse: Settings allows no radius where there are weights but no distances."""
        raise TypeError("a radius needs distances")
