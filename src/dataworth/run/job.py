"""The work of one worker: it values blocks of validation points and adds up each block."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.games.game import Game, GameByRows, GameOfNearest
from dataworth.games.kernels import adding
from dataworth.games.solutions import Solution
from dataworth.neighbors.points import CACHED
from dataworth.neighbors.ranking import NOBODY
from dataworth.neighbors.rows import Known, Row
from dataworth.neighbors.search import CompleteSearch, Demand, Search
from dataworth.run import workers
from dataworth.settings import Settings
from dataworth.training.folds import OpenedFold
from dataworth.weights.ranked import Ranked, RankedRows, Within
from dataworth.weights.weighting import Weighting

# Validation points are summed in blocks of this many, and the blocks in order. It is a constant, so
# that neither memory nor the number of threads can change a bit of the result.
BLOCK = 8


@dataclass(frozen=True)
class Limit:
    """How many of the nearest points are ranked.

    Attributes
    ----------
    rank : int, "adaptive" or None
        A number, or "adaptive" for as many as it takes, or None for all.
    ratio : float
        If `rank` is "adaptive": ranking ends once the margin is at most this share of the value for
        more than half of the points.
    start : int
        If `rank` is "adaptive": how many points are ranked first. Each further try ranks four times
        as many.
    """

    rank: int | Literal["adaptive"] | None
    ratio: float
    start: int


@dataclass(frozen=True)
class Verdicts:
    """How the nearest training points vote on validation points.

    Attributes
    ----------
    worth : (b,) array
        The utility of the voters.
    votes : (b, ballot) array
        What they say.
    """

    worth: Floats
    votes: Floats

    def part(self, start: int, stop: int) -> "Verdicts":
        """Return those on some of the validation points."""
        return Verdicts(self.worth[start:stop], self.votes[start:stop])


@dataclass(frozen=True)
class Part:
    """Sums over one block of validation points.

    Attributes
    ----------
    sums : (1 or 3, n) array
        A row for the values and, if the values have bounds, one each for the lower and upper ends.
    columns : (n,) array of int or slice
        The training points that the columns belong to. The sums of all others are 0.
    error : float
        The largest error of a utility.
    verdicts : Verdicts or None
        How training points vote on each validation point of the block, if that is asked for.
    """

    sums: Floats
    columns: Ints | slice
    error: float
    verdicts: Verdicts | None = None


@dataclass(frozen=True)
class Sums:
    """Where the values for some validation points are added.

    Attributes
    ----------
    factors : (r,) array
        What the values for each are multiplied by.
    into : (r,) array of int
        The block of each.
    sums : (blocks, 1 or 3, n) array
        The sums of each block, as in `Part`.
    """

    factors: Floats
    into: Ints
    sums: Floats


# Ranks rows of distances, without the points `own`, and adds the values for these labels.
AddRows = Callable[[Floats, Ints, Array, Sums], RankedRows]


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
    voters : int or None
        How many of the nearest points vote on each validation point, if verdicts are wanted.
    """

    search: Search
    game: Game
    ranker: Weighting | Within
    limit: Limit
    bounded: bool
    voters: int | None

    @classmethod
    def of(cls, settings: Settings, fold: OpenedFold, *, verdicts: bool = False) -> "Job":
        """Return the job of valuing the training points of an opened fold."""
        n, n_classes = fold.targets.codes.size, fold.targets.n_classes
        bounded = settings.is_bounded(fold.points.is_partial(fold.queries, settings.limited))
        setup = settings.setup(n, n_classes, among=fold.own is not None)
        return cls(
            search=fold.points.search(_demand(settings, fold, bounded)),
            game=settings.game.load().game(setup, fold.targets.codes, settings.coefficients(n)),
            ranker=settings.ranker(),
            limit=Limit(settings.rank_limit(n), settings.adaptive_ratio, 4 * setup.n_neighbors),
            bounded=bounded,
            voters=settings.voters(n) if verdicts else None,
        )

    def __sizeof__(self) -> int:
        # Dask sends large objects to its workers once, instead of with each block.
        return object.__sizeof__(self) + 8 * self.game.n_points

    @property
    def width(self) -> int:
        """How many validation points to hand over at a time, in whole blocks."""
        return max(self.search.width // BLOCK, 1) * BLOCK

    def run(self, queries: Any, labels: Array, own: Ints | None, factors: Floats) -> list[Part]:
        """Return the sums over these validation points, one part for each block.

        `own` holds their positions in the training set if they are training points. Then each is
        left out of the points that it judges. What each says is multiplied by its factor.
        """
        search, verdicts = self.search, None
        if self.voters is not None:
            verdicts = Verdicts(np.empty(len(labels)), np.empty((len(labels), self.game.ballot)))
        add = self._by_rows()
        if add is not None and isinstance(search, CompleteSearch):
            parts = self._run_tables(search, add, queries, labels, own, factors, verdicts)
        else:
            solved = self._solved(search.rows(queries), labels, own, verdicts)
            found = zip(solved, factors.tolist(), strict=True)
            parts = [self._sum(islice(found, BLOCK)) for _ in range(0, len(labels), BLOCK)]
        if verdicts is None:
            return parts
        return [
            replace(part, verdicts=verdicts.part(i * BLOCK, (i + 1) * BLOCK))
            for i, part in enumerate(parts)
        ]

    def _solved(
        self, rows: Iterable[Row], labels: Array, own: Ints | None, verdicts: Verdicts | None
    ) -> Iterator[tuple[Ranked, Solution]]:
        """Yield the solution of each row, and write down the verdict on it."""
        for i, row in enumerate(rows):
            ranked, solution = self.solve(row, labels[i], None if own is None else own[i])
            if verdicts is not None:
                self._judge(ranked, labels[i : i + 1], verdicts.part(i, i + 1))
            yield ranked, solution

    def _judge(self, ranked: Ranked, label: Array, verdict: Verdicts) -> None:
        """Let the nearest of the ranked points vote on a validation point, or all if all may."""
        assert self.voters is not None
        order, weights = ranked.order, ranked.weights
        if ranked.behind is not None and not ranked.capped and self.voters >= ranked.players:
            order = np.concatenate([order, ranked.others])
            weights = np.concatenate([weights, ranked.behind[ranked.others]])
        rows = RankedRows(order[None], weights[None], np.array([order.size]))
        self.game.judge(rows, label, self.voters, verdict.worth, verdict.votes)

    def _by_rows(self) -> AddRows | None:
        """Return a function that ranks and adds up several rows at a time, or None without one."""
        ranker, game, rank = self.ranker, self.game, self.limit.rank
        if not (isinstance(ranker, Weighting) and ranker.by_rows):
            return None
        if rank is None and not self.bounded:
            if not (isinstance(game, GameByRows) and game.by_rows):
                return None

            def add(rows: Floats, own: Ints, labels: Array, to: Sums) -> RankedRows:
                ranked = ranker.rank_rows(rows, own)
                game.add_rows(ranked, labels, to.factors, to.into, to.sums[:, 0])
                return ranked

            return add
        if not (isinstance(game, GameOfNearest) and game.nearest_by_rows and isinstance(rank, int)):
            return None
        if max(rank, self.voters or 0) >= game.n_points - 1:  # all are ranked, or all vote
            return None

        def add_nearest(rows: Floats, own: Ints, labels: Array, to: Sums) -> RankedRows:
            ranked = ranker.nearest_rows(rows, own, rank)
            game.add_nearest_rows(ranked, own, labels, to.factors, to.into, to.sums)
            return ranked

        return add_nearest

    def _run_tables(
        self,
        search: CompleteSearch,
        add: AddRows,
        queries: Any,
        labels: Array,
        own: Ints | None,
        factors: Floats,
        verdicts: Verdicts | None,
    ) -> list[Part]:
        """Value several rows of distances at a time."""
        own = np.full(len(labels), NOBODY) if own is None else own
        step = _together(self.game.n_points)
        into = np.arange(len(labels)) // BLOCK
        height = 3 if self.bounded else 1
        sums = np.zeros((-(-len(labels) // BLOCK), height, self.game.n_points))
        at = 0
        for table in search.tables(queries):
            for start in range(0, table.shape[0], step):
                rows = table[start : start + step]
                some = slice(at, at + rows.shape[0])
                ranked = add(rows, own[some], labels[some], Sums(factors[some], into[some], sums))
                if self.voters is not None and verdicts is not None:
                    verdict = verdicts.part(some.start, some.stop)
                    self.game.judge(ranked, labels[some], self.voters, verdict.worth, verdict.votes)
                at = some.stop
        return [Part(one, slice(None), 0.0) for one in sums]

    def contributions(
        self,
        queries: Any,
        labels: Array,
        own: Ints | None,
        points: Ints,
    ) -> Floats:
        """Return what some training points (columns) add to each validation point (rows)."""
        out = np.zeros((len(labels), points.size))
        for i, row in enumerate(self.search.rows(queries)):
            ranked, solution = self.solve(row, labels[i], None if own is None else own[i])
            values = np.zeros(self.game.n_points)
            values[ranked.order] = solution.inner
            if ranked.behind is not None and solution.outer is not None:
                values[ranked.others] = solution.outer.values(ranked)[0]
            out[i] = values[points]
        return out

    def _sum(self, solved: Iterable[tuple[tuple[Ranked, Solution], float]]) -> Part:
        """Return the sums of one block, added up in order, each solution times its factor.

        If few points have a value, as when a search finds only some neighbours, only they are kept.
        """
        n, height = self.game.n_points, 3 if self.bounded else 1
        waiting: list[tuple[Ranked, Solution]] = []
        sums, size, error = None, 0, 0.0
        for (ranked, solution), factor in solved:
            error = max(error, solution.error)
            waiting.append((ranked, solution if factor == 1.0 else solution.scaled(factor)))
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
        """Return the nearest training points of a point, except `own`, and their unit weights."""
        (row,) = self.search.rows(query)
        near = row.nearest(n_neighbors, own)
        ranked = row.ranked_by(self.ranker, self.game.n_points, own, None)
        weights = np.zeros(self.game.n_points)
        weights[ranked.order] = ranked.weights / top
        return near, weights[near.index]

    def solve(self, row: Row, label: Any, own: int | None) -> tuple[Ranked, Solution]:
        """Rank a row without `own`, and value the points for its label."""
        whole = self._rank(row, own)
        if self.limit.rank != "adaptive":
            return whole, self.game.solve(whole, label)
        size = self.limit.start
        while 4 * size <= whole.players:  # if more are ranked, exact values cost little more
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
        adding.add_at(places, solution.inner, 1.0, sums[0])
        if not self.bounded:
            return
        lower, upper = solution.interval()
        adding.add_at(places, lower, 1.0, sums[1])
        adding.add_at(places, upper, 1.0, sums[2])
        if ranked.behind is not None:
            solution.add_behind(ranked, sums)


def _demand(settings: Settings, fold: OpenedFold, bounded: bool) -> Demand:
    """Return what the search must deliver.

    A worker holds rows of distances and, for each block of them, the sums of all training points,
    unless bounded support leaves most of these at 0. As many sums again wait to be added up.
    """
    n, support = fold.points.shape[0], settings.weighting.support is not None
    few, n_workers = support and settings.max_rank is None, workers.count(settings.n_jobs)
    return Demand(
        nearest=settings.nearest_needed(n),
        bounded_support=support,
        sums=0 if few else 2 * (24 if bounded else 8) * n / BLOCK,
        room=settings.working_memory / n_workers,
        share=-(-fold.codes.size // (4 * n_workers)),
    )


def _together(n: int) -> int:
    """Return how many rows of n distances are ranked and valued together."""
    return max(CACHED // n, 1)
