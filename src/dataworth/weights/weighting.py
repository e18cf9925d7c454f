"""How distances become weights.

A weight in [0, 1] is rounded to the nearest of 2^b equally spaced points, as in Wang, Mittal and
Jia (arXiv 2401.11103), and becomes an integer in 0..2^b - 1. Halves are rounded to the even
integer, as in numpy. Without a number of bits, a weight stays a real number.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError
from dataworth.neighbors import ranking
from dataworth.neighbors.rows import Known, Weighted
from dataworth.weights import levels
from dataworth.weights.functions import WEIGHTS, Scale, WeightKind
from dataworth.weights.ranked import Ranked, RankedRows, RowRanker, trimmed

WeightFunction = Callable[[Floats], Floats]
OF_ENCODER = "encoder"  # in place of a weight function: rows come with weights of their own


@dataclass(frozen=True)
class Weighting(RowRanker):
    """How distances become weights.

    Attributes
    ----------
    weights : str or callable
        The name of a weight function, or a function of sorted distances, or `OF_ENCODER`.
    bandwidth : float or "auto"
        The bandwidth of a function that takes one.
    n_bits : int or None
        Weights are rounded to 2^n_bits levels. None keeps real numbers.
    smallest : float
        Real weights below this count as 0.
    support : int or None
        Only this many nearest points have weight. The farthest of them then takes the place of both
        the farthest and the median training point.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.weights.weighting import Weighting
    >>> weighting = Weighting("linear", "auto", n_bits=3)
    >>> weighting.rank(np.array([4.0, 0.0, 1.0, 2.0])).weights
    array([7, 5, 4], dtype=int16)
    """

    weights: str | WeightFunction
    bandwidth: float | Literal["auto"]
    n_bits: int | None
    smallest: float = 1e-300
    support: int | None = None

    @cached_property
    def kind(self) -> WeightKind | None:
        """The weight function; None if it is a callable, or if there is none."""
        if callable(self.weights) or self.weights == OF_ENCODER:
            return None
        return WEIGHTS[self.weights]

    @property
    def equal(self) -> bool:
        """Whether all weights are the same."""
        return self.kind is not None and self.kind.equal

    @property
    def top(self) -> int:
        """The largest integer weight, which is 1 if all weights are equal."""
        return 1 if self.equal or self.n_bits is None else 2**self.n_bits - 1

    def rank(self, row: Floats, limit: int | None = None) -> Ranked:
        """Rank the training points by their distances, or only the nearest `limit` of them.

        Null players are never sorted. With a limit, the time is O(N + limit log limit), unless many
        points are as far away as the last of these. A callable always sees the whole sorted row, or
        the first `support` distances of it.
        """
        if limit is not None and limit >= row.size:
            limit = None
        if self.support is not None:
            order = ranking.nearest(row, min(self.support, row.size))
            whole = self._supported(order, row[order])
            return whole if limit is None else whole.cut(limit, row.size)
        if self.kind is None:
            order, ranked = ranking.rank(row)
            whole = trimmed(order, self._called(ranked))
            return whole if limit is None else whole.cut(limit, row.size)
        if limit is None:
            return self.rank_rows(row[None], np.full(1, ranking.NOBODY)).row(0)
        scale = _of_row(self._scales(row[None], np.full(1, ranking.NOBODY), self.kind), 0)
        order = ranking.nearest(row, limit)
        weights = self._weights(row, scale, self.kind)
        behind = np.where(weights > 0, weights, -1)
        ranked_weights = weights[order]
        size = int(np.count_nonzero(ranked_weights))
        behind[order] = -1
        # If there is a null player among the ranked points, all points behind are null players.
        exact = size < limit or not np.any(behind > 0)
        return Ranked(order[:size], ranked_weights[:size], None if exact else behind, True)

    @property
    def by_rows(self) -> bool:
        """Whether `rank_rows` can be used: not with a callable or a bounded support."""
        return self.kind is not None and self.support is None

    def rank_rows(self, rows: Floats, own: Ints) -> RankedRows:
        """Rank all training points for several validation points.

        Parameters
        ----------
        rows : (r, n) array
            The distances of each validation point to all training points.
        own : (r,) array of int
            The training point to leave out of each row, or `ranking.NOBODY`.

        Returns
        -------
        RankedRows
            The points that have weight.
        """
        assert self.kind is not None
        rows = np.ascontiguousarray(rows, np.float64)
        order, cutoffs = np.empty(rows.shape, np.int64), np.full(rows.shape[0], np.inf)
        if self.kind.equal:
            ranking.extents(rows, own)
            sizes = ranking.rank_rows(rows, own, cutoffs, order)
            return RankedRows(order, np.ones(rows.shape, np.int16), sizes)
        scales = self._scales(rows, own, self.kind)
        if self.n_bits is None:
            sizes = ranking.rank_rows(rows, own, cutoffs, order)
            real = np.empty(rows.shape)
            for r in range(rows.shape[0]):
                ranked, scale = rows[r][order[r, : sizes[r]]], _of_row(scales, r)
                some = real[r, : sizes[r]] = self._rounded(self.kind.unit(ranked, scale))
                sizes[r] = np.count_nonzero(some)  # weights never rise, so zeros come last
            return RankedRows(order, real, sizes)
        weights = np.empty(rows.shape, np.int16)
        if self.kind.reach is None:
            sizes = ranking.rank_rows(rows, own, cutoffs, order)
            ends = self._ends(rows, order, sizes, scales, self.kind)
            levels.fill(ends, weights)
            return RankedRows(order, weights, np.ascontiguousarray(ends[:, 0]))
        bounds = self.kind.reach(self._steps, scales)
        # If all points have weight, none has to be left out.
        cutoffs = np.where(bounds[:, :1] < scales.far, bounds[:, :1], np.inf)[:, 0]
        sizes = ranking.rank_rows(rows, own, cutoffs, order)
        levels.runs(rows, order, sizes, bounds, weights)
        return RankedRows(order, weights, sizes)

    def nearest_rows(self, rows: Floats, own: Ints, limit: int) -> RankedRows:
        """Rank only the nearest points for several validation points, where all weights are equal.

        Parameters
        ----------
        rows, own
            As in `rank_rows`.
        limit : int
            How many points are ranked, fewer than there are.

        Returns
        -------
        RankedRows
            The nearest points.
        """
        assert self.equal
        rows = np.ascontiguousarray(rows, np.float64)
        ranking.extents(rows, own)
        order = ranking.nearest_rows(rows, own, limit)
        sizes = np.full(rows.shape[0], limit)
        return RankedRows(order, np.ones(order.shape, np.int16), sizes)

    def rank_known(self, known: Known, n_train: int, own: int | None, limit: int | None) -> Ranked:
        """Rank as `rank` does if only some training points are known, without `own`."""
        if own is not None:
            known = known.without(own)
        everyone = n_train - (own is not None)
        if self.support is not None:
            size = min(self.support, everyone)
            if known.index.size < size:
                raise InputError(
                    "support",
                    "be at most the number of known neighbours of each validation point",
                    f"support={self.support} needs the {size} nearest training points of each "
                    f"validation point, but one has only {known.index.size} known neighbours",
                )
            whole = self._supported(known.index[:size], known.distance[:size])
            return whole if limit is None else whole.cut(limit, n_train)
        if known.index.size == everyone:
            row = np.empty(n_train)
            row[known.index] = known.distance
            return self.rank_all(row, own, limit)
        assert self.kind is not None  # Settings allows no callable here
        order, distances = known.index, known.distance
        scale = Scale(float(distances[0]), np.nan, np.nan, self._bandwidth)
        weights = self._weights(distances, scale, self.kind)
        size = int(np.count_nonzero(weights))
        if size < order.size:  # the points that are not known have no weight either
            whole = Ranked(order[:size], weights[:size], None, True)
            return whole if limit is None else whole.cut(limit, n_train)
        order, weights = order[:limit], weights[:limit]
        behind = np.full(n_train, weights[-1])
        behind[order] = -1
        if own is not None:
            behind[own] = -1
        return Ranked(order, weights, behind, True, capped=not self.kind.equal)

    def rank_weighted(
        self, weighted: Weighted, n_train: int, own: int | None, limit: int | None
    ) -> Ranked:
        """Rank points that come with weights, heaviest first, without `own`.

        Equal weights are ranked by position. Null players are never sorted.
        """
        others = weighted.without(own)
        rounded = self._rounded(others.unit)
        some = np.flatnonzero(rounded)
        order = some[np.lexsort((others.index[some], -others.weight[some]))][: self.support]
        whole = Ranked(others.index[order], rounded[order], None, True)
        return whole if limit is None else whole.cut(limit, n_train)

    def _supported(self, order: Ints, distances: Floats) -> Ranked:
        """Weigh the nearest points by their sorted distances; no other points have weight."""
        if self.kind is None:
            return trimmed(order, self._called(distances))
        near, far = float(distances[0]), float(distances[-1])
        scale = Scale(near, far, far, self._bandwidth)
        return trimmed(order, self._weights(distances, scale, self.kind))

    def _scales(self, rows: Floats, own: Ints, kind: WeightKind) -> Scale:
        ends, middle = ranking.extents(rows, own), np.zeros(rows.shape[0])
        if kind.needs_median and self._bandwidth is None:
            middle = ranking.medians(rows, own)
        return Scale(ends[:, :1], middle[:, None], ends[:, 1:], self._bandwidth)

    def _ends(
        self, rows: Floats, order: Ints, sizes: Ints, scales: Scale, kind: WeightKind
    ) -> Ints:
        """Count the ranked points of each row whose weight is at least 1, 2, ..., top.

        Weights never rise, so those of some ranks say between which two the weights of all have to
        be known. The rows have equal sizes.
        """
        row, n, wanted = np.arange(rows.shape[0])[:, None], int(sizes[0]), np.arange(self.top) + 1
        step = max(math.isqrt(n // self.top), 1)

        def weights(ranks: Ints) -> Array:
            return self._rounded(kind.unit(rows[row, order[row, ranks]], scales))

        assert (sizes == n).all()
        found = np.zeros((rows.shape[0], self.top), np.int64)
        if n:
            some = weights(np.arange(0, n, step)[None])
            for r in range(rows.shape[0]):
                found[r] = np.searchsorted(-some[r], -wanted, side="right")
        if step > 1:
            first = np.maximum(found - 1, 0) * step
            ranks = (first[:, :, None] + np.arange(step)).reshape(rows.shape[0], -1)
            near = weights(np.minimum(ranks, n - 1)).reshape(*found.shape, step)
            reached = (near >= wanted[:, None]) & (ranks.reshape(near.shape) < n)
            found = first + np.count_nonzero(reached, axis=2)
        return found

    @property
    def _bandwidth(self) -> float | None:
        return None if self.bandwidth == "auto" else float(self.bandwidth)

    @cached_property
    def _steps(self) -> Floats:
        """The weights from which on the integer weight is 1, 2, ..., top."""
        return (np.arange(1, self.top + 1) - 0.5) / self.top

    def _weights(self, distances: Floats, scale: Scale, kind: WeightKind) -> Array:
        if kind.equal:
            return np.ones(distances.size, np.int16)
        if kind.reach is None or self.n_bits is None:
            return self._rounded(kind.unit(distances, scale))
        out = np.empty(distances.size, np.int16)
        levels.levels(distances, kind.reach(self._steps, scale), out)
        return out

    def _rounded(self, unit: Floats) -> Array:
        if self.n_bits is None:
            return np.where(unit < self.smallest, 0.0, unit)
        return np.rint(unit * self.top).astype(np.int16)

    def _called(self, ranked: Floats) -> Array:
        assert callable(self.weights)
        wanted = f"return {ranked.size} numbers in [0, 1]"
        try:
            unit = np.asarray(self.weights(ranked.copy()))
        except Exception as error:  # the function is the user's own
            came = f"it raised {type(error).__name__}: {error}"
            raise InputError("weights", wanted, came) from error
        if unit.shape != ranked.shape:
            raise InputError(
                "weights", f"{wanted}, one per distance", f"it returned shape {unit.shape}"
            )
        if unit.dtype.kind not in "biuf":
            raise InputError("weights", wanted, f"it returned dtype {unit.dtype}")
        if not np.all((unit >= 0) & (unit <= 1)):
            bad = unit[~((unit >= 0) & (unit <= 1))][0]
            raise InputError("weights", wanted, f"it returned {bad}")
        return self._rounded(unit.astype(np.float64))


def _of_row(scales: Scale, r: int) -> Scale:
    """Return what is known about the distances of one of several validation points."""
    near, median, far = (
        float(np.asarray(some)[r, 0]) for some in (scales.near, scales.median, scales.far)
    )
    return Scale(near, median, far, scales.bandwidth)
