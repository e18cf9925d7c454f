"""Games whose utility is a weighted mean: what the soft and the regression game have in common."""

import numpy as np

from dataworth.arrays import Array, Flags, Floats
from dataworth.errors import InputError
from dataworth.games import quadrature
from dataworth.games.game import Setup
from dataworth.games.kernels import weighted_mean
from dataworth.games.kernels.coefficients import Coefficients, room
from dataworth.games.kernels.subset_moments import Points
from dataworth.games.solutions import ByPoint, Solution
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting

MOST_BYTES = 2**30


def check(setup: Setup) -> None:
    """Refuse a game whose quadrature would take too much memory."""
    weighting = setup.weighting
    if weighting.n_bits is None or weighting.equal:
        return
    size = quadrature.table_bytes(setup.n_neighbors, weighting.top)
    if size > MOST_BYTES:
        raise InputError(
            "n_bits",
            f"be lower with n_neighbors={setup.n_neighbors}, or None",
            f"n_bits={weighting.n_bits} with n_neighbors={setup.n_neighbors} would take "
            f"{size / 2**30:.0f} GB of memory",
        )


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
        self.real = weighting.n_bits is None
        self.error, self.rounding = 0.0, 0.0
        if self.real:
            weights = ranked.weights
            if ranked.behind is not None:
                weights = np.concatenate([weights, ranked.behind])
            least, most = float(weights[weights > 0].min()), k * float(weights.max())
            rates, factors, self.error = quadrature.real_nodes(
                quadrature.doublings(least, most), power
            )
            # The last node is for sets of total weight 0: its rate makes every other set vanish.
            self.rates = np.append(rates, 1e3) / least
            self.table, self.factors = np.empty((0, 0)), factors / least**power
        else:
            self.rates = np.empty(0)
            self.table, self.factors = quadrature.integer_nodes(k, weighting.top, power)
        self.tail = np.empty((power + 1, self.factors.size + 1))

    def _points(self, weights: Array, quantity: Floats) -> Points:
        """Return points as the kernel takes them, by rows of the table or by real weights."""
        zeta = weights * quantity
        if self.real:
            return Points(np.empty(0, np.int64), self.table, weights, self.rates, zeta)
        ids = weights.astype(np.int64)
        return Points(ids, self.table, np.empty(0), self.rates, zeta)

    def values(self, quantity: Floats, empty: float) -> Floats:
        """Return the values of the ranked points; the utility is made of the mean of `quantity`."""
        start = np.zeros_like(self.tail)
        start[0, :-1] = self.factors if self.power == 1 else -self.factors
        start[self.power, -1] = empty
        if self.real:  # the utility of the empty set may be so large that its rounding is felt
            self.rounding = quadrature.ROUNDING * abs(empty)
        out = np.empty(quantity.size)
        points = self._points(self.ranked.weights, quantity)
        weighted_mean.values(
            points, start, self.inside, self.outside,
            self.coefficients.displace, self.coefficients.inverse, out, self.tail,
        )  # fmt: skip
        return out

    def behind(self, weights: Array, quantity: Floats) -> Floats:
        """Return the values of points behind the ranked ones; call `values` before."""
        out = np.empty(quantity.size)
        weighted_mean.behind(self._points(weights, quantity), self.tail, out)
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
