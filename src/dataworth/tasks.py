"""The work of one thread: values of a block of validation points, added up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth import neighbors
from dataworth.games import Game
from dataworth.solutions import Solution
from dataworth.weights import Ranked, Weighting, cut, without


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
class Leg:
    """A part of a run whose validation points share a training set.

    size : how many validation points it has.
    open : makes the task, and its validation points, their labels and, where they are training
        points themselves, their positions among those.
    columns : the training points of this part among all of them; None for all.
    """

    size: int
    open: Callable[[], tuple["Task", NDArray[Any], NDArray[Any], NDArray[np.int64] | None]]
    columns: NDArray[np.int64] | None


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
        self, queries: NDArray[Any], labels: NDArray[Any], own: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.float64], float]:
        """Sums over these validation points, in their order, and the largest utility error.

        `own` are their positions in the training set, if they are training points: each is left
        out where it is the validation point.
        The sums have one row for the values and, where bounded, one each for their lower and upper
        ends.
        """
        sums = np.zeros((3 if self.bounded else 1, self.game.n_points))
        error = 0.0
        for start in range(0, queries.shape[0], self.rows):
            some = queries[start : start + self.rows]
            if self.points is None:
                distances = np.asarray(some, dtype=np.float64)
            else:
                distances = neighbors.distances(some, self.points, self.metric, self.metric_params)
            for i, row in enumerate(distances, start):
                ranked, solution = self._solve(row, labels[i], None if own is None else own[i])
                self._add(sums, ranked, solution)
                error = max(error, solution.error)
        return sums, error

    def _solve(
        self, row: NDArray[np.float64], label: Any, own: int | None
    ) -> tuple[Ranked, Solution]:
        whole = self._rank(row, own)
        if self.limit.rank != "adaptive":
            return whole, self.game.solve(whole, label)
        size = self.limit.start
        while 4 * size <= whole.players:  # beyond, the exact values cost little more
            ranked = cut(whole, size, row.size)
            solution = self.game.solve(ranked, label)
            if solution.settled(ranked, self.limit.ratio):
                return ranked, solution
            size *= 4
        return whole, self.game.solve(whole, label)

    def _rank(self, row: NDArray[np.float64], own: int | None) -> Ranked:
        if own is not None:
            return without(self._rank(np.delete(row, own), None), own)
        if self.radius is not None:
            within = np.flatnonzero(row <= self.radius)
            return Ranked(within, np.ones(within.size, np.int16), None, True)
        return self.weighting.rank(row, None if self.limit.rank == "adaptive" else self.limit.rank)

    def _add(self, sums: NDArray[np.float64], ranked: Ranked, solution: Solution) -> None:
        sums[0, ranked.order] += solution.inner
        if not self.bounded:
            return
        lower, upper = solution.interval()
        sums[1, ranked.order] += lower
        sums[2, ranked.order] += upper
        if ranked.behind is not None:
            solution.add_behind(ranked, sums)
