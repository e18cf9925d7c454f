"""What a game says of one validation point: values, and how far off they can be."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Flags, Floats
from dataworth.games.kernels import adding
from dataworth.weights.ranked import Ranked


@dataclass(frozen=True)
class ByClass:
    """Values of points behind those ranked, by class and integer weight.

    codes : (n_train,) class codes.
    table : (C, top+1) values.
    margin : (C,) what they can lack at most.
    right : (C,) which class is right; None where it is not known which way values are off.
    """

    codes: NDArray[np.int64]
    table: Floats
    margin: Floats
    right: Flags | None

    def values(self, ranked: Ranked) -> tuple[Floats, Floats]:
        """Values and margins of `ranked.others`."""
        assert ranked.behind is not None
        codes = self.codes[ranked.others]
        return self.table[codes, ranked.behind[ranked.others]], self.margin[codes]

    def add(self, ranked: Ranked, sums: Floats) -> None:
        """Add values, lower and upper ends of all points behind to the rows of the sums."""
        assert ranked.behind is not None
        below, above = _sides(self.margin, self.right)
        adding.add_behind(ranked.behind, self.codes, self.table, below, above, sums)


@dataclass(frozen=True)
class ByPoint:
    """Values of points behind those ranked, one by one, in the order of `Ranked.others`."""

    value: Floats
    margin: float
    right: Flags | None

    def values(self, ranked: Ranked) -> tuple[Floats, Floats]:
        """Values and margins of `ranked.others`."""
        return self.value, np.full(self.value.size, self.margin)

    def add(self, ranked: Ranked, sums: Floats) -> None:
        """Add values, lower and upper ends of all points behind to the rows of the sums."""
        below, above = _sides(np.full(self.value.size, self.margin), self.right)
        others = ranked.others
        sums[0, others] += self.value
        sums[1, others] += self.value - below
        sums[2, others] += self.value + above


@dataclass(frozen=True)
class Solution:
    """Values of all points for one validation point.

    inner : values of the ranked points.
    margin : what they can lack at most, a number or one per point.
    right : whether a ranked point's label is right. Where given, values of such points can only be
        too small and those of others only too large; where not, both can be either.
    outer : values of the points behind, if there are any.
    error : how far off values can be beyond that, both ways, as real weights are not exact.
    """

    inner: Floats
    margin: Any = 0.0
    right: Flags | None = None
    outer: ByClass | ByPoint | None = None
    error: float = 0.0

    def scaled(self, unit: float) -> "Solution":
        """The same in another unit of utility."""
        outer = self.outer
        if isinstance(outer, ByPoint):
            outer = ByPoint(outer.value * unit, outer.margin * unit, outer.right)
        return replace(
            self,
            inner=self.inner * unit,
            margin=self.margin * unit,
            outer=outer,
            error=self.error * unit,
        )

    def interval(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of the ranked points."""
        below, above = _sides(self.margin, self.right)
        return self.inner - below - self.error, self.inner + above + self.error

    def add_behind(self, ranked: Ranked, sums: Floats) -> None:
        """Add the points behind to the rows of the sums: values, lower and upper ends."""
        assert self.outer is not None
        self.outer.add(ranked, sums)
        if self.error:
            sums[1, ranked.others] -= self.error
            sums[2, ranked.others] += self.error

    def settled(self, ranked: Ranked, ratio: float) -> bool:
        """Whether margins are at most this share of the value for more than half of the points."""
        good = np.count_nonzero(self.margin <= ratio * np.abs(self.inner))
        assert self.outer is not None
        value, margin = self.outer.values(ranked)
        good += np.count_nonzero(margin <= ratio * np.abs(value))
        return bool(2 * good > self.inner.size + value.size)


def _sides(margin: Any, right: Flags | None) -> tuple[Any, Any]:
    """How far the exact value can lie below and above."""
    if right is None:
        return margin, margin
    return np.where(right, 0.0, margin), np.where(right, margin, 0.0)
