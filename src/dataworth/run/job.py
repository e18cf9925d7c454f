"""The work of one worker: values of blocks of validation points, added up."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs

from dataworth.arrays import Array, Floats, Ints
from dataworth.games.game import Game
from dataworth.games.kernels import adding
from dataworth.games.solutions import Solution
from dataworth.neighbors.points import Points
from dataworth.neighbors.rows import Known, Row
from dataworth.neighbors.search import Demand, Search
from dataworth.settings import Settings
from dataworth.training.folds import OpenedFold
from dataworth.weights.ranked import Ranked, Within
from dataworth.weights.weighting import Weighting

# Validation points are summed in blocks of this many, and the blocks in their order. It is a
# constant, and not a matter of memory or threads, so that neither can change a bit of the result.
BLOCK = 8


@dataclass(frozen=True)
class Limit:
    """How many of the nearest points are ranked.

    Attributes
    ----------
    rank : int, "adaptive" or None
        A number, or as many as it takes, or all.
    ratio : float
        Where `rank` is "adaptive": four times as many are ranked, from `start`, until what is left
        out is at most this share of the value for more than half of the points.
    start : int
        How many are ranked first.
    """

    rank: int | Literal["adaptive"] | None
    ratio: float
    start: int


@dataclass(frozen=True)
class Part:
    """Sums over one block of validation points.

    Attributes
    ----------
    sums : (1 or 3, n) array
        A row for the values and, where bounded, one each for their lower and upper ends.
    columns : (n,) array of int or slice
        The training points of the sums; all others are 0.
    error : float
        The largest error of a utility.
    """

    sums: Floats
    columns: Ints | slice
    error: float


@dataclass(frozen=True)
class Job:
    """Everything a worker needs to value blocks of validation points.

    Attributes
    ----------
    search : Search
        Finds the neighbours of validation points.
    game : Game
        What a set of training points is worth.
    ranker : Weighting or Within
        Ranks and weighs the neighbours.
    limit : Limit
        How many of them are ranked.
    bounded : bool
        Whether lower and upper ends are wanted beside the values.
    """

    search: Search
    game: Game
    ranker: Weighting | Within
    limit: Limit
    bounded: bool

    @classmethod
    def of(cls, settings: Settings, fold: OpenedFold) -> "Job":
        """The job of valuing the training points of an opened fold."""
        n, n_classes = fold.targets.codes.size, fold.targets.n_classes
        bounded = settings.is_bounded(fold.points.is_partial(fold.queries, settings.limited))
        setup = settings.setup(n, n_classes)
        return cls(
            search=fold.points.search(_demand(settings, fold.points, bounded)),
            game=settings.game.load().game(setup, fold.targets.codes, settings.coefficients(n)),
            ranker=settings.ranker(),
            limit=Limit(settings.rank_limit(n), settings.adaptive_ratio, 4 * setup.n_neighbors),
            bounded=bounded,
        )

    def __sizeof__(self) -> int:
        # Dask sends what is large to its workers once, and not with each block.
        return object.__sizeof__(self) + 8 * self.game.n_points

    @property
    def width(self) -> int:
        """How many validation points to hand over at a time: whole blocks of them."""
        return max(self.search.width // BLOCK, 1) * BLOCK

    def run(self, queries: Any, labels: Array, own: Ints | None) -> list[Part]:
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
        labels: Array,
        own: Ints | None,
        points: Ints,
    ) -> Floats:
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

    def _sum(self, solved: Iterable[tuple[Ranked, Solution]]) -> Part:
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
            return Part(sums, slice(None), error)
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

    def neighbors(
        self, query: Any, own: int | None, n_neighbors: int, top: int
    ) -> tuple[Known, Floats]:
        """The nearest training points of a point but `own`, and their weights from 0 to 1."""
        (row,) = self.search.rows(query)
        near = row.nearest(n_neighbors, own)
        ranked = row.ranked_by(self.ranker, self.game.n_points, own, None)
        weights = np.zeros(self.game.n_points)
        weights[ranked.order] = ranked.weights / top
        return near, weights[near.index]

    def _solve(self, row: Row, label: Any, own: int | None) -> tuple[Ranked, Solution]:
        whole = self._rank(row, own)
        if self.limit.rank != "adaptive":
            return whole, self.game.solve(whole, label)
        size = self.limit.start
        while 4 * size <= whole.players:  # beyond, the exact values cost little more
            ranked = whole.cut(size, self.game.n_points)
            solution = self.game.solve(ranked, label)
            if solution.settled(ranked, self.limit.ratio):
                return ranked, solution
            size *= 4
        return whole, self.game.solve(whole, label)

    def _rank(self, row: Row, own: int | None) -> Ranked:
        limit = None if self.limit.rank == "adaptive" else self.limit.rank
        return row.ranked_by(self.ranker, self.game.n_points, own, limit)

    def _add(
        self,
        sums: Floats,
        places: Ints,
        ranked: Ranked,
        solution: Solution,
    ) -> None:
        adding.add_at(places, solution.inner, sums[0])
        if not self.bounded:
            return
        lower, upper = solution.interval()
        adding.add_at(places, lower, sums[1])
        adding.add_at(places, upper, sums[2])
        if ranked.behind is not None:
            solution.add_behind(ranked, sums)


def _demand(settings: Settings, points: Points, bounded: bool) -> Demand:
    """What the search is asked for.

    One worker holds rows of distances, and for each block of them the sums of all training points,
    unless weights of bounded support leave most of these 0.
    """
    n, support = points.shape[0], settings.weighting.support is not None
    few = support and settings.max_rank is None
    return Demand(
        nearest=settings.nearest_needed(n),
        bounded_support=support,
        sums=0 if few else (24 if bounded else 8) * n / BLOCK,
        room=settings.working_memory / effective_n_jobs(settings.n_jobs),
        block=BLOCK,
    )
