"""A run: the parts of all blocks of validation points, added up in their order."""

import math
import sys
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from tqdm.auto import tqdm

from dataworth.run.checkpoints import Checkpoint
from dataworth.run.job import BLOCK, Leg, Part, Task


def total(
    legs: list[Leg],
    shape: tuple[int, int],
    *,
    n_jobs: int | None,
    progress: bool,
    kept: Checkpoint | None,
) -> tuple[NDArray[np.float64], float]:
    """Sums over all validation points, block after block, and the largest weight error."""
    sums, error, done = np.zeros(shape), 0.0, 0
    state = None if kept is None else kept.load()
    if state is not None:
        done, sums, error = state
    saved = done
    n_val = sum(leg.size for leg in legs)
    with tqdm(total=n_val, desc="valuing", unit="point", delay=2, disable=_hidden(progress)) as bar:
        try:
            seen = 0
            for leg in legs:
                blocks = math.ceil(leg.size / BLOCK)
                skip = min(max(done - seen, 0), blocks)
                bar.update(min(skip * BLOCK, leg.size))
                seen += blocks
                if skip == blocks:
                    continue
                for size, part in _parts(leg, skip, n_jobs):
                    _add(sums, part, leg.columns)
                    error = max(error, part.error)
                    done += 1
                    bar.update(size)
                    if kept is not None and kept.due():
                        kept.save(done, sums, error)
                        saved = done
        finally:
            if kept is not None and saved < done:
                kept.save(done, sums, error)
    return sums, error


def _hidden(progress: bool) -> bool | None:
    """What tqdm is told: None hides the bar where there is no terminal, but notebooks show it."""
    if not progress:
        return True
    return False if "ipykernel" in sys.modules else None


def _add(sums: NDArray[np.float64], part: Part, columns: NDArray[np.int64] | None) -> None:
    if part.columns is not None:
        columns = part.columns if columns is None else columns[part.columns]
    if columns is None:
        sums += part.sums
    else:
        sums[:, columns] += part.sums


def _run(task: Task, block: tuple[Any, ...]) -> list[Part]:
    return task.run(*block)


def _parts(leg: Leg, skip: int, n_jobs: int | None) -> Iterator[tuple[int, Part]]:
    """The size and the sums of each block of a leg, in order, from the first not skipped."""
    task, queries, targets, own = leg.open()
    start, width = skip * BLOCK, task.width
    # Dask keeps what is large on some workers and loses it with them: the task, of which several
    # have a copy, may be; a block, in its tuple, stays with the work it belongs to.
    work = (
        delayed(_run)(
            task,
            (
                queries[s : s + width],
                targets[s : s + width],
                None if own is None else own[s : s + width],
            ),
        )
        for s in range(start, leg.size, width)
    )
    for part in chain.from_iterable(_carried_out(work, n_jobs)):
        size = min(BLOCK, leg.size - start)
        yield size, part
        start += size


def _carried_out(work: Iterator[Any], n_jobs: int | None) -> Iterator[list[Part]]:
    """Results in order, as they come; in rounds where joblib's backend has no such thing."""
    try:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    except ValueError:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        while some := list(islice(work, 4 * effective_n_jobs(n_jobs))):
            yield from parallel(some)
        return
    yield from parallel(work)
