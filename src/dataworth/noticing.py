"""Looks at training rows alone: which are copies of others, and which are far from all others."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dataworth.arrays import Array, Flags, Floats, Ints
from dataworth.encoders.choice import own_metric, weighs
from dataworth.encoders.tables import TableEncoder
from dataworth.errors import InputError
from dataworth.neighbors.points import Indexed, InMemory
from dataworth.neighbors.search import CompleteSearch, Demand
from dataworth.notes import NOBODY, Distant, Notes, Surroundings
from dataworth.run import workers
from dataworth.settings import Settings
from dataworth.training.copies import equal_rows
from dataworth.training.training_set import TrainingSet

FEWEST_ROWS = 20  # to say what is usual
LEAST_SPREAD = 0.1  # distances in many dimensions hardly differ, and then little is a lot
NEAR = 1e-6  # of the usual distance


def notice(
    shown: Sequence[tuple[TrainingSet, Settings]],
    groups: Ints | None = None,
    most: float | None = None,
) -> Notes | None:
    """Look for copies and outliers.

    Parameters
    ----------
    shown : sequence of tuple
        The training rows as each encoder shows them, and the parameters: how distances are
        measured, and K. Rows are far as the first shows them that can say so without labels.
    groups : (n_train,) array of int or None
        The group of each row; near copies are looked for between groups.
    most : float or None
        How many distances may be computed, by which only copies are found if there are more, and
        none by an encoder that must be fitted first, or by a function of the user's. None for
        any number, by any encoder.

    Returns
    -------
    Notes or None
        What there is to say; None if the rows are not in memory, or only their distances are known.
        Distances are measured at once if `most` is None, and else when somebody reads the notes.
    """
    training, settings = shown[0]
    if training.is_away or settings.precomputed:
        return None
    first = equal_rows(training.raw)
    if first is None:
        first = np.arange(training.n_points)
    copies = np.where(first == np.arange(first.size), NOBODY, first)
    conflict = np.zeros(first.size, bool)
    if not settings.game.numeric:
        conflict = _differ(first, training.targets.codes)
    if first.size < (FEWEST_ROWS if groups is None else 2):
        return Notes(copies, conflict)
    for training, settings in shown:
        points = _points(training) if _may_be_asked(training, settings, most) else None
        if points is not None:
            break
    else:
        return Notes(copies, conflict)
    if most is None:
        later = Surroundings(partial(_measure, points, settings, groups))
        later.look()
    else:  # the user's own array may be another when somebody looks
        kept = replace(points, array=points.array.copy())
        later = Surroundings(partial(_measure, kept, settings, groups))
    return Notes(copies, conflict, later)


def _may_be_asked(training: TrainingSet, settings: Settings, most: float | None) -> bool:
    """Whether the encoder has seen no label, and distances cost no more than they may."""
    encoder = training.encoder
    if weighs(encoder) or own_metric(encoder) is not None:  # it learned from labels what is near
        return False
    return most is None or (
        float(training.n_points) ** 2 <= most
        and not callable(settings.measure.metric)
        and (encoder is None or isinstance(encoder, TableEncoder))
    )


def _measure(points: InMemory, settings: Settings, groups: Ints | None) -> Distant:
    """Return the farness of rows and which are nearly equal, None for what nobody can say."""
    n = points.shape[0]
    far, nearest, other = _distances(points, settings, groups)
    logs = np.log(far[far > 0.0])
    middle = float(np.median(logs)) if logs.size else -np.inf
    farness = np.full(n, -np.inf)
    if logs.size:
        spread = max(1.4826 * float(np.median(np.abs(logs - middle))), LEAST_SPREAD)
        farness[far > 0.0] = (logs - middle) / spread
    other[nearest > NEAR * np.exp(middle)] = NOBODY
    return farness if n >= FEWEST_ROWS else None, None if groups is None else other


def _differ(first: Ints, codes: Array) -> Flags:
    """Which rows have an equal one with another target."""
    unlike = codes != codes[first]  # than the first of them has
    mixed = np.zeros(first.size, bool)
    mixed[first[unlike]] = True
    return mixed[first]


def _points(training: TrainingSet) -> InMemory | None:
    """Return the rows as points; None if they cannot be encoded without labels."""
    encoder = training.encoder
    # What a run has encoded already need not be encoded again; tables are encoded without labels.
    ready = isinstance(encoder, TableEncoder) and training.is_encoded
    try:
        points = (training if ready else training.without_labels).points
    except InputError as error:
        if error.argument == "encoder":  # it needs labels
            return None
        raise
    known = points.points if isinstance(points, Indexed) else points
    return known if isinstance(known, InMemory) else None


def _distances(
    points: InMemory, settings: Settings, groups: Ints | None
) -> tuple[Floats, Floats, Ints]:
    """Return how far the K-th neighbour is, how far the nearest of another group, and who it is."""
    n = points.shape[0]
    k = min(settings.n_neighbors, n - 1)
    n_workers = workers.count(settings.n_jobs)
    # Few tasks, because workers that are other processes get all points with each.
    size = -(-n // (4 * n_workers))
    demand = Demand(
        nearest=None,
        bounded_support=False,
        sums=8.0 * n,  # distances are copied once to be partitioned
        room=settings.working_memory / n_workers,
        share=size,
    )
    search = points.all_distances(demand)
    work = ((search, points[s : s + size], s, k, groups) for s in range(0, n, size))
    parts = list(workers.in_order(_of_some, work, settings.n_jobs))
    far, nearest, other = (np.concatenate(some) for some in zip(*parts, strict=True))
    return far, nearest, other


def _of_some(
    search: CompleteSearch, queries: Array, start: int, k: int, groups: Ints | None
) -> tuple[Floats, Floats, Ints]:
    size = queries.shape[0]
    far, nearest = np.empty(size), np.full(size, np.inf)
    other, at = np.full(size, NOBODY), 0
    for table in search.tables(queries):
        own = start + at + np.arange(len(table))
        some = slice(at, at + len(table))
        table[np.arange(len(table)), own] = np.inf
        far[some] = np.partition(table, k - 1, axis=1)[:, k - 1]
        if groups is not None:
            table[groups[own][:, None] == groups] = np.inf
            other[some] = table.argmin(axis=1)
            nearest[some] = table.min(axis=1)
        at += len(table)
        del table  # before the next one is made
    other[np.isinf(nearest)] = NOBODY
    return far, nearest, other
