"""The soft game: the weighted share of the right label among the K nearest."""

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.games import weighted_mean
from dataworth.games.game import Classification, Game, Setup
from dataworth.games.kernels import unweighted
from dataworth.games.kernels import votes as vote
from dataworth.games.kernels import weighted_mean as kernel
from dataworth.games.kernels.coefficients import Coefficients
from dataworth.games.solutions import ByPoint, Solution
from dataworth.games.weighted_mean import WeightedMean
from dataworth.weights.ranked import Ranked, RankedRows

check = weighted_mean.check


def game(setup: Setup, targets: Ints, coefficients: Coefficients) -> Game:
    """Return the soft game of these class codes."""
    return SoftGame(targets, setup.n_classes, setup.n_neighbors, setup.weighting, coefficients)


def seconds(setup: Setup, n: int) -> float:
    """Return roughly how long n ranked points take."""
    return weighted_mean.seconds(setup, n, 1)


class SoftGame(Classification):
    """The weighted share of the right label."""

    def solve(self, ranked: Ranked, label: int) -> Solution:
        """Values for one validation point."""
        size = ranked.order.size
        if size == 0:
            return Solution(np.empty(0))
        if self.n_classes == 1:  # the share is always 1, even that of the empty set
            nothing = ByPoint(np.zeros(ranked.others.size), 0.0, None)
            return Solution(np.zeros(size), outer=nothing)
        empty = 1.0 / self.n_classes
        if self.weighting.equal:
            out = np.empty(size)
            good, bad, near, far = unweighted.soft(
                self.codes, ranked.order, label, empty, ranked.players, self.n_neighbors,
                self.coefficients, out,
            )  # fmt: skip
            if ranked.behind is None:
                return Solution(out)
            own = np.arange(self.n_classes)[:, None] == label
            table = np.where(own, good, bad) * np.array([0.0, 1.0])
            return self.solution(ranked, label, out, table, (near, far), ranked.falling)
        right = self.codes[ranked.order] == label
        mean = WeightedMean(ranked, self.n_neighbors, self.weighting, self.coefficients, 1)
        out = mean.values(right.astype(np.float64), empty)
        if self.weighting.n_bits is None:
            others = self.codes[ranked.others] == label
            return mean.solution(out, others.astype(np.float64), 1.0, right, others)
        if ranked.behind is None:
            return Solution(out)
        levels = np.arange(self.weighting.top + 1)
        own, rival = (mean.behind(levels, np.full(levels.size, a)) for a in (1.0, 0.0))
        table = np.where(np.arange(self.n_classes)[:, None] == label, own, rival)
        return self.solution(ranked, label, out, table, (mean.near, mean.far), ranked.falling)

    def add_rows(
        self, ranked: RankedRows, labels: Ints, factors: Floats, into: Ints, sums: Floats
    ) -> None:
        """Add the values for several validation points to sums, times their factors."""
        if self.n_classes == 1:
            return
        order, sizes, empty = ranked.order, ranked.sizes, 1.0 / self.n_classes
        if self.weighting.equal:
            unweighted.soft_rows(
                self.codes, order, sizes, labels, factors, empty, self.n_neighbors,
                self.coefficients, into, sums,
            )  # fmt: skip
            return
        table, of_nodes = weighted_mean.powers_table(
            self.n_neighbors, self.weighting.top, 1, idle=False
        )
        start = np.stack([of_nodes, np.zeros_like(of_nodes)])
        kernel.soft_rows(
            self.codes, order, ranked.weights, sizes, labels, factors, empty, self.n_neighbors,
            table, start, self.coefficients, into, sums,
        )  # fmt: skip

    def add_nearest_rows(
        self,
        ranked: RankedRows,
        own: Ints,
        labels: Ints,
        factors: Floats,
        into: Ints,
        sums: Floats,
    ) -> None:
        """Add values and bounds where only the nearest points are ranked, of equal weight."""
        if self.n_classes > 1:
            unweighted.soft_nearest_rows(
                self.codes, ranked.order, own, labels, factors, 1.0 / self.n_classes,
                self.n_neighbors, self.coefficients, into, sums,
            )  # fmt: skip

    @property
    def nearest_by_rows(self) -> bool:
        """Whether `add_nearest_rows` can be used."""
        return self.weighting.equal

    def judge(
        self, ranked: RankedRows, labels: Ints, voters: int, worth: Floats, votes: Floats
    ) -> None:
        """Return the share of the label in the vote."""
        self.tally(ranked, voters, votes)
        vote.share(votes, labels, 1.0 / self.n_classes, worth)

    @property
    def by_rows(self) -> bool:
        """Whether `add_rows` can be used: not with real weights, or if tables were too large."""
        return self.weighting.equal or weighted_mean.is_tabled(self.n_neighbors, self.weighting)
