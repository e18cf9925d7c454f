"""Games whose utility is a weighted mean: what the soft and the regression game have in common."""

from functools import lru_cache

import numpy as np

from dataworth.arrays import Array, Flags, Floats
from dataworth.games import quadrature
from dataworth.games.game import Setup
from dataworth.games.kernels import weighted_mean
from dataworth.games.kernels.coefficients import Coefficients, room
from dataworth.games.kernels.mean_runs import MOST_NEIGHBORS
from dataworth.games.kernels.subset_moments import Points
from dataworth.games.kernels.walk import NEAR
from dataworth.games.solutions import ByPoint, Solution
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting

# Above this many numbers, powers of factors are computed anew for each point instead.
MOST_POWERS = 2**23


def is_tabled(neighbors: int, weighting: Weighting) -> bool:
    """Whether the powers of factors are looked up: those of integers, unless they are too many."""
    if weighting.n_bits is None:
        return False
    nodes = quadrature.integer_nodes(neighbors * weighting.top, 1)[0].size + 1
    return (weighting.top + 1) * (neighbors + 1) * nodes <= MOST_POWERS


def check(setup: Setup) -> None:
    """Accept every setup."""


# Roughly what a step of one level at one node takes, for whole and real weights, and a chance.
STEP, REAL_STEP, CHANCE = 0.8e-9, 2.2e-9, 1e-9


def seconds(setup: Setup, n: int, power: int) -> float:
    """Return roughly how long the kernel takes for n ranked points."""
    weighting, k = setup.weighting, min(setup.n_neighbors, n)
    if weighting.equal or k == 0:
        return CHANCE * n
    near = min(n, NEAR * k)
    if weighting.n_bits is None:
        table, kinds, runs = REAL_STEP * 32.0 * k * (power + 1), near, n
    else:
        nodes = quadrature.integer_nodes(k * weighting.top, power)[0].size
        table, runs = STEP * nodes * k * (power + 1), min(weighting.top, n)
        kinds = min(near, 2 * weighting.top) if power == 1 else near
    at_once = min(n, runs * k) if k <= MOST_NEIGHBORS else n  # what it counts in single ranks
    return table * (0.5 * kinds * near + at_once) + CHANCE * n * k


@lru_cache(maxsize=8)
def powers_table(neighbors: int, top: int, power: int, idle: bool) -> tuple[Floats, Floats]:
    """Return what the kernels need to know about integer weights.

    Parameters
    ----------
    neighbors : int
        K, the number of neighbours.
    top : int
        The largest weight.
    power : int
        The power of the mean, 1 or 2.
    idle : bool
        Whether a node is needed for sets of weight 0.

    Returns
    -------
    table : (top+1, (K+1) J) array
        The powers 0..K of the factors of each weight at J nodes.
    coefficients : (J,) array
        The coefficients of the nodes; that of the node for sets of weight 0, the last one, is 0.
    """
    rates, coefficients = quadrature.integer_nodes(neighbors * top, power)
    total = np.arange(top + 1)[:, None, None] * np.arange(neighbors + 1)[:, None]
    table = np.exp(-rates * total)
    if idle:
        table = np.concatenate([table, (total == 0).astype(np.float64)], axis=2)
        coefficients = np.append(coefficients, 0.0)
    return table.reshape(top + 1, -1), coefficients


class WeightedMean:
    """The values for one validation point when the utility is a power of a weighted mean.

    The utility is the mean itself (power 1) or minus its square (power 2).
    """

    def __init__(
        self, ranked: Ranked, neighbors: int, weighting: Weighting, c: Coefficients, power: int
    ) -> None:
        players = ranked.players
        k = min(neighbors, players)
        self.ranked, self.power, self.coefficients = ranked, power, c
        self.inside, self.outside, self.near, self.far = room(c, players, ranked.order.size, k)
        if ranked.behind is None:
            self.outside = self.outside[:0]
        weights = ranked.weights
        if ranked.behind is not None:
            weights = np.concatenate([weights, ranked.behind[ranked.others]])
        self.idle = not weights.all()  # whether there are points of weight 0
        self.rates, self.table = np.empty(0), np.empty((0, 0))
        self.error, self.rounding = 0.0, 0.0
        if is_tabled(neighbors, weighting):
            self.table, self.factors = powers_table(neighbors, weighting.top, power, self.idle)
            return
        least = 1.0
        if weighting.n_bits is None:
            least, most = float(weights[weights > 0].min()), k * float(weights.max())
            nodes = quadrature.real_nodes(quadrature.doublings(least, most), power)
            self.rates, self.factors = nodes.rates, nodes.coefficients
            self.error = nodes.error_of_products(k)
        else:
            self.rates, self.factors = quadrature.integer_nodes(neighbors * weighting.top, power)
        if self.idle:  # the rate of the last node makes every set that has weight vanish
            self.rates, self.factors = np.append(self.rates, 1e3), np.append(self.factors, 0.0)
        self.rates, self.factors = self.rates / least, self.factors / least**power

    def _points(self, weights: Array, quantity: Floats) -> Points:
        """Return points as the kernel takes them, by rows of the table or by real weights."""
        zeta = weights * quantity
        if not self.table.size:
            return Points(np.empty(0, np.int16), self.table, weights * 1.0, self.rates, zeta)
        ids = weights.astype(np.int16, copy=False)
        return Points(ids, self.table, np.empty(0), self.rates, zeta)

    def values(self, quantity: Floats, empty: float) -> Floats:
        """Return the values of the ranked points; the utility is made of the mean of `quantity`."""
        start = np.zeros((self.power + 1, self.factors.size))
        start[0] = self.factors if self.power == 1 else -self.factors
        if self.error:  # the utility of the empty set may be so large that its rounding is felt
            self.rounding = quadrature.ROUNDING * abs(empty)
        if self.idle:
            start[self.power, -1], empty = empty, 0.0
        self.tail, self.plain = np.empty_like(start), empty
        out = np.empty(quantity.size)
        weighted_mean.values(
            self._points(self.ranked.weights, quantity), start, empty, self.inside, self.outside,
            self.coefficients.displace, self.coefficients.inverse, out, self.tail,
        )  # fmt: skip
        return out

    def behind(self, weights: Array, quantity: Floats) -> Floats:
        """Return the values of points behind the ranked ones; call `values` before."""
        out = np.empty(quantity.size)
        plain = float(self.outside[0]) * self.plain
        weighted_mean.behind(self._points(weights, quantity), self.tail, plain, out)
        return out

    def solution(
        self, out: Floats, others: Floats, scale: float, right: Flags | None, rest: Flags | None
    ) -> Solution:
        """Return the solution, with the points behind valued one by one.

        Parameters
        ----------
        out : (n,) array
            The values of the ranked points.
        others : array
            The quantities of the points behind.
        scale : float
            The largest difference between two utilities.
        right, rest : array of bool or None
            Whether the labels of the ranked points, and of those behind, are right.

        Returns
        -------
        Solution
            The values of all points.
        """
        # The first is relative, but sets that have weight have utilities of at most 1.
        error = 2.0 * self.error + self.rounding
        behind = self.ranked.behind
        if behind is None:
            return Solution(out, error=error)
        sided = self.ranked.falling
        if self.ranked.capped:
            values, far = np.zeros(others.size), float(self.outside.sum() + self.far)
        else:
            values, far = self.behind(behind[behind >= 0], others), self.far
        outer = ByPoint(values, scale * far, rest if sided else None)
        return Solution(out, scale * self.near, right if sided else None, outer, error)
