"""The regression game: minus the squared error of the weighted mean of the K nearest targets."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dataworth.arrays import Floats
from dataworth.games import weighted_mean
from dataworth.games.game import Game, Setup
from dataworth.games.kernels import unweighted
from dataworth.games.kernels import votes as vote
from dataworth.games.kernels.coefficients import Coefficients
from dataworth.games.solutions import ByPoint, Solution
from dataworth.games.weighted_mean import WeightedMean
from dataworth.weights.ranked import Ranked, RankedRows
from dataworth.weights.weighting import Weighting

check = weighted_mean.check


def game(setup: Setup, targets: Floats, coefficients: Coefficients) -> Game:
    """Return the regression game of these targets."""
    prior = Prior.of(setup, targets)
    return RegressionGame(targets, setup.n_neighbors, setup.weighting, coefficients, prior)


def seconds(setup: Setup, n: int) -> float:
    """Return roughly how long n ranked points take."""
    return weighted_mean.seconds(setup, n, 2)


@dataclass(frozen=True)
class Prior:
    """What a set predicts that is empty or has no weight: 0, or the mean of the targets.

    Attributes
    ----------
    mean, rest : float
        The mean is the sum of the two. It is rounded where targets are large and differ by little,
        and `rest` is what rounding took.
    others : float
        What to multiply the error of the mean by. A validation point that is a training point does
        not count in the mean: that of the n - 1 others is off by n / (n - 1) times as much.
    """

    mean: float
    rest: float
    others: float

    @classmethod
    def of(cls, setup: Setup, targets: Floats) -> Self:
        """Return the prior of a game among these targets."""
        n = targets.size
        if not setup.center:
            return cls(0.0, 0.0, 1.0)
        mean = math.fsum(targets) / n  # the order of the points makes no difference to `fsum`
        rest = math.fsum(targets - mean) / n
        return cls(mean, rest, n / (n - 1) if setup.among else 1.0)

    def error(self, label: Any) -> Any:
        """Return the prediction minus the truth, or for several truths."""
        return (self.mean - label + self.rest) * self.others


@dataclass(frozen=True)
class RegressionGame:
    """Minus the squared error of the weighted mean of targets."""

    targets: Floats
    n_neighbors: int
    weighting: Weighting
    coefficients: Coefficients
    prior: Prior
    ballot = 2

    @property
    def n_points(self) -> int:
        """The number of training points."""
        return self.targets.size

    def solve(self, ranked: Ranked, label: float) -> Solution:
        """Values for one validation point, given its target."""
        error, others = self.targets[ranked.order] - label, self.targets[ranked.others] - label
        if error.size == 0:
            return Solution(np.empty(0))
        # In units of the largest error, so that no square overflows or vanishes. Where all errors
        # are 0, that of the empty set must not overflow in those units.
        nothing = self.prior.error(label)
        largest = max(float(np.abs(error).max()), float(np.abs(others).max(initial=0.0)))
        unit = max(largest, 1e-150, 1e-150 * abs(nothing))
        error, others, empty = error / unit, others / unit, -((nothing / unit) ** 2)
        solution = self._solve(ranked, error, others, empty)
        return solution.scaled(unit * unit)

    def judge(
        self, ranked: RankedRows, labels: Floats, voters: int, worth: Floats, votes: Floats
    ) -> None:
        """Return minus the squared error of the mean of the voters."""
        vote.squared_error(
            self.targets, ranked.order, ranked.weights, ranked.sizes, labels, voters,
            self.prior.error(labels), worth, votes,
        )  # fmt: skip

    def _solve(self, ranked: Ranked, error: Floats, others: Floats, empty: float) -> Solution:
        # The scale is the largest difference between two utilities. The empty set is never among
        # the sets left out, but sets of weight 0, which may be, have the same utility.
        idle = not ranked.weights.all() or (ranked.behind is not None and not ranked.behind.all())
        scale = max(1.0, -empty) if idle or ranked.capped else 1.0
        if self.weighting.equal:
            out = np.empty(error.size)
            tail, near, far = unweighted.regression(
                error, empty, ranked.players, self.n_neighbors, self.coefficients, out
            )
            outer = ByPoint(tail[0] + others * (tail[1] + others * tail[2]), scale * far, None)
            return Solution(out, scale * near, None, outer)
        mean = WeightedMean(ranked, self.n_neighbors, self.weighting, self.coefficients, 2)
        return mean.solution(mean.values(error, empty), others, scale, None, None)
