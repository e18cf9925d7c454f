"""Adds up the parts of all blocks of validation points, in order."""

import logging
import math
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from itertools import chain
from typing import Any, Protocol

import numpy as np
from tqdm.auto import tqdm

from dataworth.arrays import Array, Floats, Ints
from dataworth.inputs.targets import Targets
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


def total(
    folds: Sequence[Fold],
    factors: Floats,
    settings: Settings,
    shape: tuple[int, int],
    kept: Checkpoint | None,
    plan: Plan = points,
    agreement: Agreement | None = None,
) -> tuple[Floats, float]:
    """Sum over all validation points, block by block.

    Parameters
    ----------
    folds : sequence of Fold
        The folds of the run.
    factors : (n_val,) array
        How much each validation point counts, in the order of the folds.
    settings : Settings
        The parameters of the run.
    shape : tuple of int
        The shape of the sums: 1 or 3 rows, and one column per training point, unless the plan is
        another.
    kept : Checkpoint or None
        The saved state of the run, if the user wants one.
    plan : function
        Who is valued.
    agreement : Agreement or None
        Receives the verdicts of the plan on its validation points.

    Returns
    -------
    sums : array
        The sums, of that shape.
    error : float
        The largest error of a utility that real weights cause.
    """
    with nullcontext() if kept is None else kept.held():
        return _total(folds, factors, settings, shape, kept, plan, agreement)


def _total(
    folds: Sequence[Fold],
    factors: Floats,
    settings: Settings,
    shape: tuple[int, int],
    kept: Checkpoint | None,
    plan: Plan,
    agreement: Agreement | None,
) -> tuple[Floats, float]:
    sums, error, done = np.zeros(shape), 0.0, 0
    arrays = {"sums": sums} if agreement is None else {"sums": sums, **agreement.arrays}
    state = None if kept is None else kept.load(arrays)
    if state is not None:
        done, error = state
    saved, counted = done, True  # an interruption may come between adding and counting a block
    n_val = factors.size
    if kept is not None and done:
        LOG.info(
            "the run goes on from %r, where %s of %s validation points are done.",
            str(kept.folder),
            f"{_points_done(folds, done):,}",
            f"{n_val:,}",
        )
    hidden = _hidden(settings.progress)
    with tqdm(total=n_val, desc="valuing", unit="point", delay=2, disable=hidden) as bar:
        try:
            seen = 0
            for fold, own in zip(folds, _split(factors, folds), strict=True):
                blocks = math.ceil(fold.size / BLOCK)
                skip = min(max(done - seen, 0), blocks)
                bar.update(min(skip * BLOCK, fold.size))
                seen += blocks
                if skip == blocks:
                    continue
                # Closed at once, so that workers stop even if a traceback holds on to this frame.
                with closing(_parts(fold, own, skip, settings, plan)) as parts:
                    for positions, part, columns, judged in parts:
                        counted = False
                        _add(sums, part, columns)
                        if agreement is not None and part.verdicts is not None:
                            agreement.add(positions, judged, part.verdicts)
                        error = max(error, part.error)
                        done += 1
                        counted = True
                        bar.update(positions.size)
                        if kept is not None and kept.due():
                            kept.save(done, arrays, error)
                            saved = done
        finally:
            if kept is not None and counted and saved < done:
                kept.save(done, arrays, error)
    return sums, error


def _split(factors: Floats, folds: Sequence[Fold]) -> list[Floats]:
    """Return the factors of each fold."""
    return np.split(factors, np.cumsum([fold.size for fold in folds])[:-1])


def _points_done(folds: Sequence[Fold], blocks: int) -> int:
    """Return how many validation points are in this many blocks; no block goes beyond its fold."""
    points = 0
    for fold in folds:
        here = min(blocks, math.ceil(fold.size / BLOCK))
        points += min(here * BLOCK, fold.size)
        blocks -= here
    return points


def _hidden(progress: bool) -> bool | None:
    """Return what to tell tqdm; None hides the bar unless there is a terminal."""
    if not progress:
        return True
    return False if "ipykernel" in sys.modules else None


def _add(sums: Floats, part: Part, columns: Ints | slice) -> None:
    """Add the sums of a part, whose columns are positions among these columns of the sums."""
    if isinstance(columns, slice):
        sums[:, part.columns] += part.sums
    else:
        sums[:, columns[part.columns]] += part.sums


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


def _parts(
    fold: Fold, factors: Floats, skip: int, settings: Settings, plan: Plan
) -> Generator[tuple[Ints, Part, Ints | slice, Targets], None, None]:
    """Yield each block of a fold, in order; the first `skip` blocks are left out.

    A block is the positions of its validation points, their part, the columns of the sums, and the
    targets of the judged points.
    """
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
        yield fold.positions[at : at + BLOCK], part, columns, opened.targets
        at += BLOCK
