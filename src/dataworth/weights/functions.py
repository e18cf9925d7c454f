"""The weight functions that `KNNShapley(weights=...)` knows by name. A new one is an entry here."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dataworth.arrays import Floats

AUTO_BANDWIDTH_SHARE = 0.3
# If the median point is as near as the nearest one, h is 0, and this is the limit of h -> 0.
LEAST_BANDWIDTH = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Scale:
    """What a weight function may know about the distances of a validation point.

    Attributes
    ----------
    near, median, far : float, or (r, 1) array for several validation points
        The nearest, median and farthest distance.
    bandwidth : float or None
        The bandwidth that the user set; None if the function chooses it.
    """

    near: float | Floats
    median: float | Floats
    far: float | Floats
    bandwidth: float | None


@dataclass(frozen=True)
class WeightKind:
    """A weight function and what it needs.

    Attributes
    ----------
    name : str
        What `weights=` and the command line call it.
    words : str
        Its formula in words, for the documentation.
    unit : function
        Takes distances and their `Scale`, of one or several validation points, and returns weights
        in [0, 1] that never rise with distance.
    reach : function or None
        The inverse of `unit`: takes weights and the `Scale` of one or several validation points and
        returns the largest distances at which they are reached. With it, integer weights need no
        rounding, and points without weight are never sorted.
    needs_median : bool
        Whether the automatic bandwidth depends on the median distance. Then a search must know all
        distances, unless `support` or `bandwidth` is set.
    needs_far : bool
        Whether weights depend on the farthest distance. Then a search must know all distances,
        unless `support` is set.
    takes_bandwidth : bool
        Whether `bandwidth=` applies.
    equal : bool
        Whether all weights are the same, so that the unweighted kernels can be used.
    """

    name: str
    words: str
    unit: Callable[[Floats, Scale], Floats]
    reach: Callable[[Floats, Scale], Floats] | None = None
    needs_median: bool = False
    needs_far: bool = False
    takes_bandwidth: bool = False
    equal: bool = False


def _bandwidth(scale: Scale) -> float | Floats:
    if scale.bandwidth is not None:
        return scale.bandwidth
    return np.maximum(AUTO_BANDWIDTH_SHARE * (scale.median - scale.near), LEAST_BANDWIDTH)


def _rbf(distances: Floats, scale: Scale) -> Floats:
    with np.errstate(over="ignore", under="ignore"):  # far beyond h the exponent is -infinity
        unit: Floats = np.exp((scale.near - distances) / _bandwidth(scale))
    return unit


def _rbf_reach(weights: Floats, scale: Scale) -> Floats:
    reach: Floats = scale.near - _bandwidth(scale) * np.log(weights)
    return reach


def _linear(distances: Floats, scale: Scale) -> Floats:
    span = np.asarray(scale.far - scale.near)
    return np.divide(
        scale.far - distances, span, out=np.ones_like(distances), where=np.asarray(span > 0.0)
    )


def _inverse(distances: Floats, scale: Scale) -> Floats:
    # If some points are at distance 0, they have all the weight.
    alone = (distances == 0.0).astype(np.float64)
    return np.divide(scale.near, distances, out=alone, where=np.asarray(scale.near > 0.0))


def _uniform(distances: Floats, scale: Scale) -> Floats:
    return np.ones_like(distances)


WEIGHTS = {
    kind.name: kind
    for kind in (
        WeightKind(
            "rbf",
            "exp(-(d - d_1)/h), where h is the bandwidth",
            _rbf,
            reach=_rbf_reach,
            needs_median=True,
            takes_bandwidth=True,
        ),
        WeightKind("linear", "(d_N - d)/(d_N - d_1)", _linear, needs_far=True),
        WeightKind(
            "inverse",
            "d_1/d; points at distance 0, if there are any, have all the weight",
            _inverse,
        ),
        WeightKind("uniform", "all weights are the same, which is fastest", _uniform, equal=True),
    )
}
