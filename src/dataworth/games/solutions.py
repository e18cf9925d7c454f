"""What a game says about one validation point: values, and how far off they can be."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Flags, Floats
from dataworth.games.kernels import adding
from dataworth.weights.ranked import Ranked


@dataclass(frozen=True)
class ByClass:
    """The values of the points behind the ranked ones, by class and integer weight.

    Attributes
    ----------
    codes : (n_train,) array of int
        Class codes of all training points.
    table : (C, top+1) array
        Values by class and weight.
    margin : (C,) array
        How far off they can be at most, by class.
    right : (C,) array of bool or None
        Which class is right. None if it is not known in which direction values are off.
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
    """The values of the points behind the ranked ones, in the order of `Ranked.others`.

    Attributes
    ----------
    value : (n,) array
        The values.
    margin : float
        How far off they can be at most.
    right : (n,) array of bool or None
        Whether the label of each point is right. None if it is not known in which direction values
        are off.
    """

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
    """The values of all points for one validation point.

    Attributes
    ----------
    inner : (n,) array
        The values of the ranked points.
    margin : float or (n,) array
        How far off they can be at most.
    right : (n,) array of bool or None
        Whether the label of each ranked point is right. If this is given, values of right points
        can only be too small and those of wrong points only too large. If it is None, all of them
        can be off in either direction.
    outer : ByClass, ByPoint or None
        The values of the points behind the ranked ones, if there are any.
    error : float
        How much farther off values can be, in either direction, because the division by a sum of
        real weights is approximate.
    """

    inner: Floats
    margin: Any = 0.0
    right: Flags | None = None
    outer: ByClass | ByPoint | None = None
    error: float = 0.0

    def scaled(self, unit: float) -> "Solution":
        """Return the same solution in another unit of utility."""
        outer = self.outer
        if isinstance(outer, ByPoint):
            outer = ByPoint(outer.value * unit, outer.margin * unit, outer.right)
        elif isinstance(outer, ByClass):
            outer = replace(outer, table=outer.table * unit, margin=outer.margin * unit)
        return replace(
            self,
            inner=self.inner * unit,
            margin=self.margin * unit,
            outer=outer,
            error=self.error * unit,
        )

    def interval(self) -> tuple[Floats, Floats]:
        """Return the lower and upper ends of the values of the ranked points."""
        below, above = _sides(self.margin, self.right)
        return self.inner - below - self.error, self.inner + above + self.error

    def add_behind(self, ranked: Ranked, sums: Floats) -> None:
        """Add values, lower and upper ends of all points behind to the rows of the sums."""
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
    """Return how far the exact values can lie below and above."""
    if right is None:
        return margin, margin
    return np.where(right, 0.0, margin), np.where(right, margin, 0.0)
