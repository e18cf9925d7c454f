"""Games: from the ranked neighbours of one validation point to values, through a kernel.

A game holds what is the same for all validation points of a run and answers one question: given
the points that can matter, nearest first, what is each of them worth?
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dataworth.games import quadrature
from dataworth.games.kernels import direct, hard
from dataworth.games.kernels import unweighted as closed
from dataworth.games.kernels import weighted_mean as nodes
from dataworth.games.kernels.coefficients import Coefficients, reach, room
from dataworth.games.kernels.subset_moments import Points
from dataworth.games.solutions import ByClass, ByPoint, Flags, Floats, Solution
from dataworth.weights import Ranked, Weighting

Ints = NDArray[np.int64]

GAME_NAMES = ("soft", "hard", "regression")


class Game(Protocol):
    """What a run needs of a game."""

    @property
    def n_points(self) -> int:
        """The number of training points."""

    def solve(self, ranked: Ranked, label: Any) -> Solution:
        """Values for one validation point, given its label's code or its target."""


@dataclass(frozen=True)
class Classification:
    """What the games with labels share.

    codes : (n_train,) class codes of the training points, below n_classes.
    n_neighbors : at most the number of training points.
    """

    codes: Ints
    n_classes: int
    n_neighbors: int
    weighting: Weighting
    coefficients: Coefficients

    @property
    def n_points(self) -> int:
        """The number of training points."""
        return self.codes.size

    def _solution(
        self,
        ranked: Ranked,
        label: int,
        out: Floats,
        table: Floats,
        margins: tuple[Any, Any],
        sided: bool,
    ) -> Solution:
        """Values with their margins; `table` is by class and weight, margins by class."""
        if ranked.behind is None:
            return Solution(out)
        if ranked.capped:
            table, margins = np.zeros_like(table), (margins[0], self._reach(ranked, label))
        codes = self.codes[ranked.order]
        right = np.arange(self.n_classes) == label
        near, far = np.empty((2, self.n_classes))
        near[:], far[:] = margins
        outer = ByClass(self.codes, table, far, right if sided else None)
        return Solution(out, near[codes], right[codes] if sided else None, outer)

    def _reach(self, ranked: Ranked, label: int) -> Any:
        """What points of unknown weight behind those ranked can be worth at most, by class."""
        return reach(self.coefficients, ranked.players, ranked.order.size, self.n_neighbors)


class HardGame(Classification):
    """The weighted vote; one-vs-one where there are more than two classes."""

    def solve(self, ranked: Ranked, label: int) -> Solution:
        """Values for one validation point."""
        codes = self.codes[ranked.order]
        _, players = self._counts(ranked)
        top = self.weighting.top
        out = np.empty(codes.size)
        table, margins = np.empty((self.n_classes, top + 1)), np.empty((2, self.n_classes))
        hard.one_vs_one(
            codes, ranked.weights, label, players, top, self.n_neighbors, self.coefficients,
            out, table, margins,
        )  # fmt: skip
        return self._solution(ranked, label, out, table, (margins[0], margins[1]), ranked.falling)

    def _counts(self, ranked: Ranked) -> tuple[Ints, Ints]:
        """How many points of each class are ranked, and how many there are."""
        near = np.bincount(self.codes[ranked.order], minlength=self.n_classes)
        if ranked.behind is None:
            return near, near
        return near, near + np.bincount(self.codes[ranked.others], minlength=self.n_classes)

    def _reach(self, ranked: Ranked, label: int) -> Floats:
        near, players = self._counts(ranked)
        out = np.zeros(self.n_classes)
        for rival in range(self.n_classes):
            if rival != label and players[rival] > 0:
                pair = [label, rival]
                out[pair] += reach(
                    self.coefficients,
                    int(players[pair].sum()),
                    int(near[pair].sum()),
                    self.n_neighbors,
                )
        return out / max(self.n_classes - 1, 1)


class DirectGame(Classification):
    """The weighted vote of up to four classes at once."""

    def solve(self, ranked: Ranked, label: int) -> Solution:
        """Values for one validation point."""
        top = self.weighting.top
        table = np.zeros((self.n_classes, top + 1))
        if ranked.order.size == 0 or self.n_classes == 1:
            return self._solution(
                ranked, label, np.zeros(ranked.order.size), table, (0.0, 0.0), True
            )
        # The label's own class comes first on the lattice, the others keep their order.
        place = np.arange(self.n_classes)
        place[:label] += 1
        place[label] = 0
        ids = place[self.codes[ranked.order]] * (top + 1) + ranked.weights
        players = ranked.players
        k = min(self.n_neighbors, players)
        out, tail = np.empty(ids.size), np.zeros(table.size)
        margins = direct.values(
            ids, direct.lattice(self.n_classes, k, top), players, k, self.coefficients, out, tail
        )
        # With two rivals or more, a wrong point may help by pushing out one that is worse.
        sided = ranked.falling and self.n_classes == 2
        return self._solution(ranked, label, out, tail.reshape(table.shape)[place], margins, sided)


class SoftGame(Classification):
    """The weighted share of the right label."""

    def solve(self, ranked: Ranked, label: int) -> Solution:
        """Values for one validation point."""
        size = ranked.order.size
        if size == 0:
            return Solution(np.empty(0))
        if self.n_classes == 1:  # every share is 1, with or without anyone
            nothing = ByPoint(np.zeros(ranked.others.size), 0.0, None)
            return Solution(np.zeros(size), outer=nothing)
        empty = 1.0 / self.n_classes
        if self.weighting.weights == "uniform":
            out = np.empty(size)
            good, bad, near, far = closed.soft(
                self.codes, ranked.order, label, empty, ranked.players, self.n_neighbors,
                self.coefficients, out,
            )  # fmt: skip
            if ranked.behind is None:
                return Solution(out)
            own = np.arange(self.n_classes)[:, None] == label
            table = np.where(own, good, bad) * np.array([0.0, 1.0])
            return self._solution(ranked, label, out, table, (near, far), ranked.falling)
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
        return self._solution(ranked, label, out, table, (mean.near, mean.far), ranked.falling)


@dataclass(frozen=True)
class RegressionGame:
    """Minus the squared error of the weighted mean of targets."""

    targets: Floats
    n_neighbors: int
    weighting: Weighting
    coefficients: Coefficients

    @property
    def n_points(self) -> int:
        """The number of training points."""
        return self.targets.size

    def solve(self, ranked: Ranked, label: float) -> Solution:
        """Values for one validation point, given its target."""
        error, others = self.targets[ranked.order] - label, self.targets[ranked.others] - label
        if error.size == 0:
            return Solution(np.empty(0))
        # In units of the largest error, so that no square overflows or vanishes.
        unit = max(float(np.abs(error).max()), float(np.abs(others).max(initial=0.0)), 1e-150)
        error, others, empty = error / unit, others / unit, -((label / unit) ** 2)
        solution = self._solve(ranked, error, others, empty)
        return solution.scaled(unit * unit)

    def _solve(self, ranked: Ranked, error: Floats, others: Floats, empty: float) -> Solution:
        # How far apart two utilities can be. That of the empty set is never among those left out,
        # but sets of weight 0 have it too.
        idle = not ranked.weights.all() or (ranked.behind is not None and not ranked.behind.all())
        scale = max(1.0, -empty) if idle or ranked.capped else 1.0
        if self.weighting.weights == "uniform":
            out = np.empty(error.size)
            tail, near, far = closed.regression(
                error, empty, ranked.players, self.n_neighbors, self.coefficients, out
            )
            outer = ByPoint(tail[0] + others * (tail[1] + others * tail[2]), scale * far, None)
            return Solution(out, scale * near, None, outer)
        mean = WeightedMean(ranked, self.n_neighbors, self.weighting, self.coefficients, 2)
        return mean.solution(mean.values(error, empty), others, scale, None, None)


class WeightedMean:
    """One validation point of a game whose utility is a weighted mean to the first or second power.

    A mean of squares counts as negative: U = -(mean)^2.
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
        self.error = 0.0
        if self.real:
            weights = ranked.weights
            if ranked.behind is not None:
                weights = np.concatenate([weights, ranked.behind])
            least, most = float(weights[weights > 0].min()), k * float(weights.max())
            rates, factors, self.error = quadrature.real_nodes(
                quadrature.doublings(least, most), power
            )
            # The last node is for sets of total weight 0: there any other factor vanishes.
            self.rates = np.append(rates, 1e3) / least
            self.table, self.factors = np.empty((0, 0)), factors / least**power
        else:
            self.rates = np.empty(0)
            self.table, self.factors = quadrature.integer_nodes(k, weighting.top, power)
        self.tail = np.empty((power + 1, self.factors.size + 1))

    def _points(self, weights: NDArray[Any], quantity: Floats) -> Points:
        """Points as the kernel takes them: rows of the table of factors, or real weights."""
        zeta = weights * quantity
        if self.real:
            return Points(np.empty(0, np.int64), self.table, weights, self.rates, zeta)
        ids = weights.astype(np.int64)
        return Points(ids, self.table, np.empty(0), self.rates, zeta)

    def values(self, quantity: Floats, empty: float) -> Floats:
        """Values of the ranked points, whose mean `quantity` is what the utility is made of."""
        start = np.zeros_like(self.tail)
        start[0, :-1] = self.factors if self.power == 1 else -self.factors
        start[self.power, -1] = empty
        out = np.empty(quantity.size)
        points = self._points(self.ranked.weights, quantity)
        nodes.weighted_mean(
            points, start, self.inside, self.outside,
            self.coefficients.displace, self.coefficients.inverse, out, self.tail,
        )  # fmt: skip
        return out

    def behind(self, weights: NDArray[Any], quantity: Floats) -> Floats:
        """Values of points behind those ranked; `values` comes first."""
        out = np.empty(quantity.size)
        nodes.behind(self._points(weights, quantity), self.tail, out)
        return out

    def solution(
        self, out: Floats, others: Floats, scale: float, right: Flags | None, rest: Flags | None
    ) -> Solution:
        """The solution where points behind are valued one by one; `scale`: the largest utility."""
        error = 2.0 * self.error  # of utilities of sets that have weight, which are at most 1
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
