"""The work of one thread: values of blocks of validation points, added up."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dataworth.games.all import Game
from dataworth.games.kernels import row_passes as rows
from dataworth.games.solutions import Solution
from dataworth.neighbors.search import Row, Search
from dataworth.weights import Known, Ranked, Weighting, cut, without

# Validation points are summed in blocks of this many, and the blocks in their order. It is a
# constant, and not a matter of memory or threads, so that neither can change a bit of the result.
BLOCK = 8


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
    rows : positions of its validation points where these are training points; else None.
    """

    size: int
    open: Callable[[], tuple["Task", Any, NDArray[Any], NDArray[np.int64] | None]]
    columns: NDArray[np.int64] | None
    rows: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Part:
    """Sums over one block of validation points.

    sums : a row for the values and, where bounded, one each for their lower and upper ends.
    columns : the training points of the sums, all others being 0; None for all of them.
    error : the largest utility error.
    """

    sums: NDArray[np.float64]
    columns: NDArray[np.int64] | None
    error: float


@dataclass(frozen=True)
class Task:
    """Everything a worker needs to value blocks of validation points.

    columns : the training points of the search that take part; None for all.
    bounded : whether lower and upper ends are wanted beside the values.
    """

    search: Search
    game: Game
    weighting: Weighting
    radius: float | None
    limit: Limit
    columns: NDArray[np.int64] | None
    bounded: bool

    def __sizeof__(self) -> int:
        # Dask sends what is large to its workers once, and not with each block.
        return object.__sizeof__(self) + 8 * self.game.n_points

    @property
    def width(self) -> int:
        """How many validation points to hand over at a time: whole blocks of them."""
        return max(self.search.width // BLOCK, 1) * BLOCK

    def run(self, queries: Any, labels: NDArray[Any], own: NDArray[np.int64] | None) -> list[Part]:
        """Sums over these validation points, a part for each block of them.

        `own` are their positions in the training set, if they are training points: each is left
        out where it is the validation point.
        """
        found = enumerate(self.search.rows(queries))
        parts = []
        for _ in range(0, len(labels), BLOCK):
            solved = (
                self._solve(row, labels[i], None if own is None else own[i])
                for i, row in islice(found, BLOCK)
            )
            parts.append(self._sum(solved))
        return parts

    def contributions(
        self,
        queries: Any,
        labels: NDArray[Any],
        own: NDArray[np.int64] | None,
        points: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """What some training points add to each of these validation points, (n_val, points)."""
        out = np.zeros((len(labels), points.size))
        for i, row in enumerate(self.search.rows(queries)):
            ranked, solution = self._solve(row, labels[i], None if own is None else own[i])
            values = np.zeros(self.game.n_points)
            values[ranked.order] = solution.inner
            if ranked.behind is not None and solution.outer is not None:
                values[ranked.others] = solution.outer.values(ranked)[0]
            out[i] = values[points]
        return out

    def _sum(self, solved: Any) -> Part:
        """The sums of one block, in its order.

        Where few points have a value, as with neighbours that a search found, only these are kept.
        """
        n, height = self.game.n_points, 3 if self.bounded else 1
        waiting: list[tuple[Ranked, Solution]] = []
        sums, size, error = None, 0, 0.0
        for ranked, solution in solved:
            error = max(error, solution.error)
            waiting.append((ranked, solution))
            size += ranked.order.size
            if sums is None and (ranked.behind is not None or 16 * size > n):
                sums = np.zeros((height, n))
            if sums is not None:
                for each in waiting:
                    self._add(sums, each[0].order, *each)
                waiting.clear()
        if sums is not None:
            return Part(sums, None, error)
        if not waiting:
            return Part(np.zeros((height, 0)), np.empty(0, np.int64), error)
        orders = [ranked.order for ranked, _ in waiting]
        columns, places = np.unique(np.concatenate(orders), return_inverse=True)
        sums = np.zeros((height, columns.size))
        at = 0
        for ranked, solution in waiting:
            self._add(sums, places[at : at + ranked.order.size], ranked, solution)
            at += ranked.order.size
        return Part(sums, columns, error)

    def _solve(self, row: Row, label: Any, own: int | None) -> tuple[Ranked, Solution]:
        whole = self._rank(row, own)
        if self.limit.rank != "adaptive":
            return whole, self.game.solve(whole, label)
        size = self.limit.start
        while 4 * size <= whole.players:  # beyond, the exact values cost little more
            ranked = cut(whole, size, self.game.n_points)
            solution = self.game.solve(ranked, label)
            if solution.settled(ranked, self.limit.ratio):
                return ranked, solution
            size *= 4
        return whole, self.game.solve(whole, label)

    def _rank(self, row: Row, own: int | None) -> Ranked:
        limit = None if self.limit.rank == "adaptive" else self.limit.rank
        if isinstance(row, Known):
            return self.weighting.rank_known(row, self.game.n_points, own, limit)
        if self.columns is not None:
            row = row[self.columns]
        if own is not None:
            others = np.concatenate([row[:own], row[own + 1 :]])
            return without(self._rank(others, None), own)
        if self.radius is not None:
            within = np.flatnonzero(row <= self.radius)
            return Ranked(within, np.ones(within.size, np.int16), None, True)
        return self.weighting.rank(row, limit)

    def _add(
        self,
        sums: NDArray[np.float64],
        places: NDArray[np.int64],
        ranked: Ranked,
        solution: Solution,
    ) -> None:
        rows.add_at(places, solution.inner, sums[0])
        if not self.bounded:
            return
        lower, upper = solution.interval()
        rows.add_at(places, lower, sums[1])
        rows.add_at(places, upper, sums[2])
        if ranked.behind is not None:
            solution.add_behind(ranked, sums)
