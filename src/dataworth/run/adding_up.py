"""Adds up the parts of all blocks of validation points, in order."""

import logging
import math
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.inputs.targets import Targets
from dataworth.progress import bar
from dataworth.run import workers
from dataworth.run.agreement import Agreement
from dataworth.run.checkpoints import Checkpoint
from dataworth.run.job import BLOCK, Job, Part
from dataworth.settings import Settings
from dataworth.training.folds import Fold, OpenedFold

LOG = logging.getLogger(__name__)


class Work(Protocol):
    """The job of a worker: it values blocks of validation points, `width` points at a time."""

    @property
    def width(self) -> int:
        """How many validation points to hand over at a time, in whole blocks."""

    def run(self, queries: Any, labels: Array, own: Ints | None, factors: Floats) -> list[Part]:
        """Return the sums over these validation points, one part for each block."""


# Returns the job of a fold, and to which columns of the sums its columns belong.
Plan = Callable[[Settings, Fold, OpenedFold], tuple[Work, Ints | slice]]


def points(settings: Settings, fold: Fold, opened: OpenedFold) -> tuple[Job, Ints | slice]:
    """Plan to value the training points of a fold, with one column for each training point."""
    return Job.of(settings, opened, verdicts=fold.inside), fold.judged


@dataclass(frozen=True)
class Tally:
    """What is added up for one of the games of a run.

    Attributes
    ----------
    settings : Settings
        The parameters.
    folds : sequence of Fold
        The folds.
    factors : (n_val,) array
        How much each validation point counts, in the order of the folds.
    sums : array
        The sums: 1 or 3 rows, and one column per training point, unless the plan is another.
    plan : function
        Who is valued.
    agreement : Agreement or None
        Receives the verdicts of the plan on its validation points.
    worst : (1,) array
        The largest error that real weights cause in the values of a validation point.
    """

    settings: Settings
    folds: Sequence[Fold]
    factors: Floats
    sums: Floats
    plan: Plan = points
    agreement: Agreement | None = None
    worst: Floats = field(default_factory=lambda: np.zeros(1))

    @property
    def arrays(self) -> dict[str, Array]:
        """All of its arrays, by name."""
        found: dict[str, Array] = {"sums": self.sums, "worst": self.worst}
        return found if self.agreement is None else {**found, **self.agreement.arrays}

    def add(self, block: "_Block") -> None:
        """Add the part of a block of validation points."""
        part, columns = block.part, block.columns
        if isinstance(columns, slice):
            self.sums[:, part.columns] += part.sums
        else:
            self.sums[:, columns[part.columns]] += part.sums
        self.worst[0] = max(self.worst[0], part.error)
        if self.agreement is not None and part.verdicts is not None:
            self.agreement.add(block.positions, block.judged, part.verdicts)


def total(games: Sequence[Tally], kept: Checkpoint | None) -> None:
    """Add up all validation points, block by block, game after game.

    Parameters
    ----------
    games : sequence of Tally
        The games, which receive the sums. They have the same validation points.
    kept : Checkpoint or None
        The saved state of the run, if the user wants one.
    """
    with nullcontext() if kept is None else kept.held():
        _total(games, kept)


def _total(games: Sequence[Tally], kept: Checkpoint | None) -> None:
    arrays = {f"{n}-{i}": a for i, game in enumerate(games) for n, a in game.arrays.items()}
    done = 0 if kept is None else kept.load(arrays)
    saved, counted = done, True  # an interruption may come between adding and counting a block
    n_val = sum(game.factors.size for game in games)
    if kept is not None and done:
        LOG.info(
            "the run goes on from %r, where %s of %s validation points are done.",
            str(kept.folder),
            f"{_points_done([fold for game in games for fold in game.folds], done):,}",
            f"{n_val:,}",
        )
    with bar(n_val, "valuing", "point", shown=games[0].settings.progress) as shown:
        try:
            seen = 0
            for game, fold, own in _folds(games):
                blocks = math.ceil(fold.size / BLOCK)
                skip = min(max(done - seen, 0), blocks)
                shown.update(min(skip * BLOCK, fold.size))
                seen += blocks
                if skip == blocks:
                    continue
                # Closed at once, so that workers stop even if a traceback holds on to this frame.
                with closing(_blocks(fold, own, skip, game.settings, game.plan)) as found:
                    for block in found:
                        counted = False
                        game.add(block)
                        done += 1
                        counted = True
                        shown.update(block.positions.size)
                        if kept is not None and kept.due():
                            kept.save(done, arrays)
                            saved = done
        finally:
            if kept is not None and counted and saved < done:
                kept.save(done, arrays)


def _folds(games: Sequence[Tally]) -> Iterator[tuple[Tally, Fold, Floats]]:
    """Yield each fold of each game, with the factors of its validation points."""
    for game in games:
        at = 0
        for fold in game.folds:
            yield game, fold, game.factors[at : at + fold.size]
            at += fold.size


def _points_done(folds: Sequence[Fold], blocks: int) -> int:
    """Return how many validation points are in this many blocks; no block goes beyond its fold."""
    points = 0
    for fold in folds:
        here = min(blocks, math.ceil(fold.size / BLOCK))
        points += min(here * BLOCK, fold.size)
        blocks -= here
    return points


def _run(job: Work, block: tuple[Any, ...]) -> list[Part]:
    return job.run(*block)


def blocks(opened: OpenedFold, start: int, width: int) -> Iterator[tuple[Any, ...]]:
    """Yield validation points with their codes and own positions, `width` at a time."""
    for s in range(start, opened.codes.size, width):
        some = slice(s, s + width)
        yield (
            opened.queries[some],
            opened.codes[some],
            None if opened.own is None else opened.own[some],
        )


@dataclass(frozen=True)
class _Block:
    """A block of validation points.

    Attributes
    ----------
    positions : (b,) array of int
        Their positions, as in `Fold`.
    part : Part
        The sums over them.
    columns : array of int or slice
        To which columns of the sums the columns of the part belong.
    judged : Targets
        The targets of the points that they judge.
    """

    positions: Ints
    part: Part
    columns: Ints | slice
    judged: Targets


def _blocks(
    fold: Fold, factors: Floats, skip: int, settings: Settings, plan: Plan
) -> Generator[_Block, None, None]:
    """Yield the blocks of a fold, in order, without the first `skip` of them."""
    opened = fold.open()
    job, columns = plan(settings, fold, opened)
    start = at = skip * BLOCK
    # Dask keeps large arguments on some workers and loses them if these die. The job may be kept
    # that way, since several workers have a copy. A block must not, so it comes in a tuple, which
    # always travels with its task.
    work = (
        (job, (*block, factors[start + i * job.width :][: job.width]))
        for i, block in enumerate(blocks(opened, start, job.width))
    )
    for part in chain.from_iterable(workers.in_order(_run, work, settings.n_jobs)):
        yield _Block(fold.positions[at : at + BLOCK], part, columns, opened.targets)
        at += BLOCK
