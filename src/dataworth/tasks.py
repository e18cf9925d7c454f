"""The work of one thread: values of a block of validation points, added up."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth import neighbors
from dataworth.games import Game
from dataworth.solutions import Solution
from dataworth.weights import Ranked, Weighting, cut


@dataclass(frozen=True)
class Limit:
    """How many of the nearest points are ranked: a number, or what it takes.

    `ratio` applies where `rank` is "adaptive": four times as many are ranked, from `start`, until
    what is left out is at most this share of the value for more than half of the points.
    """

    rank: int | Literal["adaptive"] | None
    ratio: float
    start: int


@dataclass(frozen=True)
class Task:
    """Everything a worker needs to value blocks of validation points.

    points : training points, or None where queries are rows of distances.
    rows : how many rows of distances are held at a time.
    bounded : whether lower and upper ends are wanted beside the values.
    """

    points: NDArray[Any] | None
    game: Game
    weighting: Weighting
    metric: neighbors.Metric
    metric_params: dict[str, Any]
    radius: float | None
    limit: Limit
    rows: int
    bounded: bool

    def block(
        self, queries: NDArray[Any], labels: NDArray[Any]
    ) -> tuple[NDArray[np.float64], float]:
        """Sums over these validation points, in their order, and the largest utility error.

        The sums have one row for the values and, where bounded, one each for their lower and upper
        ends.
        """
        sums = np.zeros((3 if self.bounded else 1, self.game.n_points))
        error = 0.0
        for start in range(0, len(queries), self.rows):
            some = queries[start : start + self.rows]
            if self.points is None:
                distances = np.asarray(some, dtype=np.float64)
            else:
                distances = neighbors.distances(some, self.points, self.metric, self.metric_params)
            for row, label in zip(distances, labels[start : start + self.rows], strict=True):
                ranked, solution = self._solve(row, label)
                self._add(sums, ranked, solution)
                error = max(error, solution.error)
        return sums, error

    def _solve(self, row: NDArray[np.float64], label: Any) -> tuple[Ranked, Solution]:
        if self.radius is not None:
            within = np.flatnonzero(row <= self.radius)
            ranked = Ranked(within, np.ones(within.size, np.int16), None, True)
            return ranked, self.game.solve(ranked, label)
        if self.limit.rank != "adaptive":
            ranked = self.weighting.rank(row, self.limit.rank)
            return ranked, self.game.solve(ranked, label)
        whole = self.weighting.rank(row)
        size = self.limit.start
        while 4 * size <= whole.players:  # beyond, the exact values cost little more
            ranked = cut(whole, size, row.size)
            solution = self.game.solve(ranked, label)
            if solution.settled(ranked, self.limit.ratio):
                return ranked, solution
            size *= 4
        return whole, self.game.solve(whole, label)

    def _add(self, sums: NDArray[np.float64], ranked: Ranked, solution: Solution) -> None:
        sums[0, ranked.order] += solution.inner
        if not self.bounded:
            return
        lower, upper = solution.interval()
        sums[1, ranked.order] += lower
        sums[2, ranked.order] += upper
        if ranked.behind is not None:
            solution.add_behind(ranked, sums)
