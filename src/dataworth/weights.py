"""Weights: one row of sorted distances in, integers 0..2^b - 1 out.

A weight in [0, 1] is rounded to the nearest of 2^b equally spaced points, as in Wang, Mittal and
Jia (arXiv 2401.11103); halves go to the even integer, as numpy rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]
WeightFunction = Callable[[Row], Row]

WEIGHT_NAMES = ("rbf", "linear", "inverse", "uniform")
AUTO_BANDWIDTH_SHARE = 0.3


def rbf(distances: Row, bandwidth: float | Literal["auto"]) -> Row:
    """exp(-d / h) divided by its largest, which is exp(-(d - d_1) / h).

    With `"auto"`, h is 0.3 times the distance from the nearest to the median point.
    """
    gap = distances - distances[0]
    if bandwidth == "auto":
        bandwidth = AUTO_BANDWIDTH_SHARE * float(np.median(gap))
        if bandwidth == 0.0:  # the median point is as near as the nearest: the limit of h -> 0
            return (gap == 0.0).astype(np.float64)
    with np.errstate(over="ignore"):  # a gap of many bandwidths is as good as infinite
        return np.exp(-gap / bandwidth)


def linear(distances: Row) -> Row:
    """(d_N - d) / (d_N - d_1); 1 for all where every distance is the same."""
    span = distances[-1] - distances[0]
    if span == 0.0:
        return np.ones_like(distances)
    return (distances[-1] - distances) / span


def inverse(distances: Row) -> Row:
    """1 / d divided by its largest; points at distance 0, if any, have all the weight."""
    if distances[0] == 0.0:
        return (distances == 0.0).astype(np.float64)
    return distances[0] / distances


@dataclass(frozen=True)
class Weighting:
    """How sorted distances become integer weights.

    Examples
    --------
    >>> import numpy as np
    >>> Weighting("linear", "auto", n_bits=3).integers(np.array([0.0, 1.0, 2.0, 4.0]))
    array([7, 5, 4, 0])
    """

    weights: str | WeightFunction
    bandwidth: float | Literal["auto"]
    n_bits: int

    @property
    def top(self) -> int:
        """The largest integer weight; equal weights need one level only."""
        return 1 if self.weights == "uniform" else 2**self.n_bits - 1

    def integers(self, distances: Row) -> NDArray[np.int64]:
        """Integer weights in 0..top of a row of distances, nearest first."""
        if self.weights == "uniform":
            return np.ones(distances.size, np.int64)
        if self.weights == "rbf":
            unit = rbf(distances, self.bandwidth)
        elif self.weights == "linear":
            unit = linear(distances)
        elif self.weights == "inverse":
            unit = inverse(distances)
        else:
            unit = self._call(distances)
        return np.rint(unit * self.top).astype(np.int64)

    def _call(self, distances: Row) -> Row:
        assert callable(self.weights)
        unit = np.asarray(self.weights(distances.copy()))
        wanted = f"the callable given as weights must return {distances.size} numbers in [0, 1]"
        if unit.shape != distances.shape:
            raise ValueError(f"{wanted}, one per distance; it returned shape {unit.shape}.")
        if unit.dtype.kind not in "biuf":
            raise ValueError(f"{wanted}; it returned dtype {unit.dtype}.")
        if not np.all((unit >= 0) & (unit <= 1)):
            bad = unit[~((unit >= 0) & (unit <= 1))][0]
            raise ValueError(f"{wanted}; it returned {bad}.")
        return unit.astype(np.float64)
