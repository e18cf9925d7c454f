"""Explanations: why a training point has the value it has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from dataworth.arrays import Array, Floats, Ints, Table
from dataworth.run.adding_up import blocks
from dataworth.run.job import Job
from dataworth.settings import Settings
from dataworth.training.folds import Fold
from dataworth.training.training_set import TrainingSet

SHOWN = 5  # validation points that `hurts` and `helps` list


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where the value of one training point comes from.

    Attributes
    ----------
    index : int
        Its position among the training points.
    value : float
        Its value: the mean of its contributions.
    label : Any
        Its label, or target.
    suggested : Any
        The label with the most weight among `neighbors`, the first of the sorted labels where
        several have as much; their weighted mean for numbers. None where none of them has weight,
        and where `neighbors` is empty.
    contributions : (n_val,) array
        What it adds to each validation point; 0 where it is the validation point itself, or in
        its fold.
    validation_labels : (n_val,) array
        The labels, or targets, of the validation points.
    validation : (n_val,) array of int
        The positions of the validation points: among those given to `value`, or among the training
        points where these judge each other.
    neighbors : structured array
        Its K nearest training points but itself, nearest first, with the fields index, label,
        distance and weight. After cross-valuation they are among the points that it judged, by the
        encoder that had not seen its label. Empty with precomputed distances, which do not tell
        them, and after cross-valuation for a point that never judged.
    """

    index: int
    value: float
    label: Any
    suggested: Any
    contributions: Floats
    validation_labels: Array
    validation: Ints
    neighbors: Table

    @property
    def hurts(self) -> Table:
        """The validation points it harms most, worst first: validation, label, contribution."""
        order = np.argsort(self.contributions, kind="stable")[:SHOWN]
        return self._table(order[self.contributions[order] < 0.0])

    @property
    def helps(self) -> Table:
        """The validation points it serves best, best first; as `hurts` otherwise."""
        order = np.argsort(-self.contributions, kind="stable")[:SHOWN]
        return self._table(order[self.contributions[order] > 0.0])

    def _table(self, order: Ints) -> Table:
        fields = [
            ("validation", "i8"),
            ("label", self.validation_labels.dtype),
            ("contribution", "f8"),
        ]
        table = np.empty(order.size, fields)
        table["validation"] = self.validation[order]
        table["label"] = self.validation_labels[order]
        table["contribution"] = self.contributions[order]
        return table


def explain(
    training: TrainingSet, settings: Settings, folds: Sequence[Fold], points: Ints
) -> list[Explanation]:
    """Explanations of these points, through the folds that valued them."""
    parts = [_of_fold(training, settings, fold, points) for fold in folds]
    contributions = np.concatenate([part.contributions for part in parts])
    names = np.concatenate([fold.labels() for fold in folds])
    positions = np.concatenate([fold.positions for fold in folds])
    labels = training.targets.given()
    explained = []
    for i, point in enumerate(points.tolist()):
        share = np.ascontiguousarray(contributions[:, i])
        near = next((part.near[point] for part in parts if point in part.near), None)
        neighbors, suggested = near or (_neighbor_table(labels, 0), None)
        explained.append(
            Explanation(
                index=point,
                value=float(share.mean()),
                label=labels[point],
                suggested=suggested,
                contributions=share,
                validation_labels=names,
                validation=positions,
                neighbors=neighbors,
            )
        )
    return explained


@dataclass(frozen=True)
class _FoldPart:
    """What one fold says about the points that are explained.

    Attributes
    ----------
    contributions : (n_val, n_points) array
        What they add to its validation points.
    near : dict
        The neighbours of points that it can tell, and what these suggest.
    """

    contributions: Floats
    near: dict[int, tuple[Table, Any]]


def _of_fold(training: TrainingSet, settings: Settings, fold: Fold, points: Ints) -> _FoldPart:
    opened = fold.open()
    job = Job.of(settings, opened)
    # Where each point stands among those judged; the last place stands for nobody.
    judged = np.arange(training.n_points)[fold.judged]
    places = np.full(training.n_points, judged.size)
    places[judged] = np.arange(judged.size)
    inside = places[points] < judged.size
    found = Parallel(n_jobs=settings.n_jobs, prefer="threads")(
        delayed(job.contributions)(*block, places[points[inside]])
        for block in blocks(opened, 0, job.width)
    )
    contributions = np.zeros((fold.size, points.size))
    contributions[:, inside] = np.concatenate(found)
    near: dict[int, tuple[Table, Any]] = {}
    if settings.precomputed or training.n_points < 2:
        return _FoldPart(contributions, near)
    # A point that judges is compared with those it judges. Where validation points come from
    # outside, it is compared with all other training points.
    rows = {p: i for i, p in enumerate(fold.positions.tolist())} if fold.inside else None
    for point in points.tolist():
        if rows is not None and point not in rows:
            continue
        at = point if rows is None else rows[point]
        source: Any = opened.points if rows is None else opened.queries
        own = point if opened.own is not None or rows is None else None
        near[point] = _neighbors(training, settings, job, judged, source[at : at + 1], own)
    return _FoldPart(contributions, near)


def _neighbors(
    training: TrainingSet,
    settings: Settings,
    job: Job,
    judged: Ints,
    query: Any,
    own: int | None,
) -> tuple[Table, Any]:
    """The K nearest points of one, among those judged, and what they suggest for it."""
    near, weights = job.neighbors(query, own, settings.n_neighbors, settings.weighting.top)
    index = judged[near.index]
    labels = training.targets.given()
    table = _neighbor_table(labels, index.size)
    table["index"], table["distance"] = index, near.distance
    table["label"], table["weight"] = labels[index], weights
    if not weights.sum():
        return table, None
    return table, training.targets.suggested(index, weights)


def _neighbor_table(labels: Array, size: int) -> Table:
    fields = [("index", "i8"), ("label", labels.dtype), ("distance", "f8"), ("weight", "f8")]
    return np.empty(size, fields)
