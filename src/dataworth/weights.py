"""Weights: one row of distances in, ranked and weighted neighbours out.

A weight in [0, 1] is rounded to the nearest of 2^b equally spaced points, as in Wang, Mittal and
Jia (arXiv 2401.11103), and becomes an integer 0..2^b - 1; halves go to the even integer, as numpy
rounds. Without a number of bits it stays a real number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth.games.kernels import row_passes as rows
from dataworth.neighbors import distances as neighbors

Row = NDArray[np.float64]
Indices = NDArray[np.int64]
WeightFunction = Callable[[Row], Row]

WEIGHT_NAMES = ("rbf", "linear", "inverse", "uniform")
AUTO_BANDWIDTH_SHARE = 0.3


@dataclass(frozen=True)
class Ranked:
    """The training points that can matter to one validation point.

    Null players are left out: points of weight 0 with none but such points behind them.

    order : training indices, nearest first; all of them, or as many as were asked for.
    weights : their weights, integers or real numbers.
    behind : (n_train,) weights of the points behind those, and -1 for all others; None where
        there are no such points.
    falling : whether weights never rise with distance.
    capped : whether `behind` only says what those weights are at most.
    """

    order: Indices
    weights: NDArray[Any]
    behind: NDArray[Any] | None
    falling: bool
    capped: bool = False

    @cached_property
    def others(self) -> Indices:
        """Training indices of the points behind those ranked."""
        return np.empty(0, np.int64) if self.behind is None else np.flatnonzero(self.behind >= 0)

    @property
    def players(self) -> int:
        """How many points there are."""
        if self.behind is None:
            return self.order.size
        return self.order.size + self.others.size


@dataclass(frozen=True)
class Known:
    """What a search knows of one validation point: some training points, nearest first.

    All others are farther, and nothing else is known of them.
    """

    index: Indices
    distance: Row

    def without(self, own: int) -> "Known":
        """The same but for one training point."""
        keep = self.index != own
        return Known(self.index[keep], self.distance[keep])


@dataclass(frozen=True)
class Weighting:
    """How distances become weights.

    `smallest` is where real weights end: those below it count as 0, as they would when rounded.
    With `support`, only that many nearest points have weight, and the farthest of them stands for
    the farthest and for the median of all.

    Examples
    --------
    >>> import numpy as np
    >>> weighting = Weighting("linear", "auto", n_bits=3)
    >>> weighting.rank(np.array([4.0, 0.0, 1.0, 2.0])).weights
    array([7, 5, 4], dtype=int16)
    """

    weights: str | WeightFunction
    bandwidth: float | Literal["auto"]
    n_bits: int | None
    smallest: float = 1e-300
    support: int | None = None

    @property
    def top(self) -> int:
        """The largest integer weight; equal weights need one level only."""
        return 1 if self.weights == "uniform" or self.n_bits is None else 2**self.n_bits - 1

    def weights_of(self, distances: Row, near: float, median: float, far: float) -> NDArray[Any]:
        """Weights of some distances by the nearest, median and farthest of all of them."""
        if self.weights == "uniform":
            return np.ones(distances.size, np.int16)
        if self.weights == "linear":
            span = far - near
            return self._rounded(
                (far - distances) / span if span > 0.0 else np.ones_like(distances)
            )
        if self.weights == "inverse":
            if near == 0.0:  # points at distance 0 have all the weight
                return self._rounded((distances == 0.0).astype(np.float64))
            return self._rounded(near / distances)
        h = self._bandwidth(near, median)
        if self.n_bits is None:
            with np.errstate(over="ignore", under="ignore"):  # far beyond h is infinity
                return self._rounded(np.exp((near - distances) / h))
        out = np.empty(distances.size, np.int16)
        rows.levels(distances, self._bounds(near, h), out)
        return out

    def _bandwidth(self, near: float, median: float) -> float:
        if self.bandwidth != "auto":
            return float(self.bandwidth)
        # Where the median point is as near as the nearest, the limit of h -> 0.
        return max(AUTO_BANDWIDTH_SHARE * (median - near), np.finfo(np.float64).tiny)

    def _bounds(self, near: float, h: float) -> Row:
        """The distance up to which exp(-(d - d_1) / h) rounds to at least 1, 2, ..., top."""
        bounds: Row = near - h * np.log((np.arange(1, self.top + 1) - 0.5) / self.top)
        return bounds

    def _rounded(self, unit: Row) -> NDArray[Any]:
        if self.n_bits is None:
            return np.where(unit < self.smallest, 0.0, unit)
        return np.rint(unit * self.top).astype(np.int16)

    def _called(self, ranked: Row) -> NDArray[Any]:
        assert callable(self.weights)
        unit = np.asarray(self.weights(ranked.copy()))
        wanted = f"the callable given as weights must return {ranked.size} numbers in [0, 1]"
        if unit.shape != ranked.shape:
            raise ValueError(f"{wanted}, one per distance; it returned shape {unit.shape}.")
        if unit.dtype.kind not in "biuf":
            raise ValueError(f"{wanted}; it returned dtype {unit.dtype}.")
        if not np.all((unit >= 0) & (unit <= 1)):
            bad = unit[~((unit >= 0) & (unit <= 1))][0]
            raise ValueError(f"{wanted}; it returned {bad}.")
        return self._rounded(unit.astype(np.float64))

    def rank(self, row: Row, limit: int | None = None) -> Ranked:
        """Rank the training points by one row of distances, only the nearest `limit` if given.

        Null players are never sorted; with a limit, the time is O(N + limit log limit). A callable
        always sees the whole row, sorted; with support, that many distances.
        """
        if limit is not None and limit >= row.size:
            limit = None
        if self.support is not None:
            order = neighbors.nearest(row, min(self.support, row.size))
            whole = self._supported(order, row[order])
            return whole if limit is None else cut(whole, limit, row.size)
        if callable(self.weights):
            return self._rank_called(row, limit)
        if self.weights == "uniform" and limit is None:
            order, _ = neighbors.rank(row)
            return Ranked(order, np.ones(order.size, np.int16), None, True)
        near, far = neighbors.extent(row)
        median = 0.0
        if self.weights == "rbf" and self.bandwidth == "auto":
            median = neighbors.median(row)
        if limit is None:
            chosen = self._candidates(row, near, median, far)
            order, ranked = neighbors.rank(row if chosen is None else row[chosen])
            weights = self.weights_of(ranked, near, median, far)
            size = int(np.count_nonzero(weights))  # weights fall, so that zeros come last
            order = order[:size] if chosen is None else chosen[order[:size]]
            return Ranked(order, weights[:size], None, True)
        order = neighbors.nearest(row, limit)
        weights = self.weights_of(row, near, median, far)
        behind = np.where(weights > 0, weights, -1)
        ranked_weights = weights[order]
        size = int(np.count_nonzero(ranked_weights))
        behind[order] = -1
        # A null player among the ranked means that there are only such behind them.
        exact = size < limit or not np.any(behind > 0)
        return Ranked(order[:size], ranked_weights[:size], None if exact else behind, True)

    def _candidates(self, row: Row, near: float, median: float, far: float) -> Indices | None:
        """The points whose weight is not 0 by their distance; None for all of them."""
        if self.weights != "rbf" or self.n_bits is None:
            return None
        cutoff = self._bounds(near, self._bandwidth(near, median))[0]
        return None if cutoff >= far else np.flatnonzero(row <= cutoff)

    def rank_known(self, known: Known, n_train: int, own: int | None, limit: int | None) -> Ranked:
        """As `rank` where only some of the distances are known; `own` is no training point."""
        if own is not None:
            known = known.without(own)
        everyone = n_train - (own is not None)
        if self.support is not None:
            size = min(self.support, everyone)
            if known.index.size < size:
                raise ValueError(
                    f"support={self.support} needs the {size} nearest training points of each "
                    f"validation point; of one, {known.index.size} are known."
                )
            whole = self._supported(known.index[:size], known.distance[:size])
            return whole if limit is None else cut(whole, limit, n_train)
        if known.index.size == everyone:
            row = np.empty(n_train)
            row[known.index] = known.distance
            if own is None:
                return self.rank(row, limit)
            return without(self.rank(np.delete(row, own), limit), own)
        order, distances = known.index, known.distance
        weights = self.weights_of(distances, float(distances[0]), np.nan, np.nan)
        size = int(np.count_nonzero(weights))
        if size < order.size:  # the others weigh nothing either
            whole = Ranked(order[:size], weights[:size], None, True)
            return whole if limit is None else cut(whole, limit, n_train)
        order, weights = order[:limit], weights[:limit]
        behind = np.full(n_train, weights[-1])
        behind[order] = -1
        if own is not None:
            behind[own] = -1
        return Ranked(order, weights, behind, True, capped=self.weights != "uniform")

    def _supported(self, order: Indices, distances: Row) -> Ranked:
        """The nearest points by their sorted distances; none but these have weight."""
        if callable(self.weights):
            return _trimmed(order, self._called(distances))
        near, far = float(distances[0]), float(distances[-1])
        return _trimmed(order, self.weights_of(distances, near, far, far))

    def _rank_called(self, row: Row, limit: int | None) -> Ranked:
        order, ranked = neighbors.rank(row)
        whole = _trimmed(order, self._called(ranked))
        return whole if limit is None else cut(whole, limit, row.size)


def _trimmed(order: Indices, weights: NDArray[Any]) -> Ranked:
    """Points, nearest first, without the null players at their end."""
    nonzero = np.flatnonzero(weights)
    size = int(nonzero[-1]) + 1 if nonzero.size else 0
    return Ranked(order[:size], weights[:size], None, bool(np.all(np.diff(weights) <= 0)))


def cut(ranked: Ranked, limit: int, n_train: int) -> Ranked:
    """The same points with only the nearest `limit` ranked."""
    if limit >= ranked.order.size:
        return ranked
    behind = np.full(n_train, -1, ranked.weights.dtype)
    behind[ranked.order[limit:]] = ranked.weights[limit:]
    return Ranked(ranked.order[:limit], ranked.weights[:limit], behind, ranked.falling)


def without(ranked: Ranked, own: int) -> Ranked:
    """Training indices as they are where the point at position `own` was left out of the row."""
    behind = ranked.behind
    if behind is not None:
        behind = np.concatenate([behind[:own], np.full(1, -1, behind.dtype), behind[own:]])
    order = ranked.order + (ranked.order >= own)
    return Ranked(order, ranked.weights, behind, ranked.falling, ranked.capped)
