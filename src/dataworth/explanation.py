"""Explanations: why a training point has the value it has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints, Table
from dataworth.inputs.listings import listing
from dataworth.inputs.listings import shown as clipped
from dataworth.run import workers
from dataworth.run.adding_up import blocks
from dataworth.run.job import Job
from dataworth.settings import Settings
from dataworth.training.folds import Fold, OpenedFold
from dataworth.training.judges import Judges
from dataworth.training.representations import Representation, mean_of
from dataworth.training.training_set import TrainingSet

SHOWN = 5  # how many validation points `hurts` and `helps` list


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Where the value of one training point comes from.

    Attributes
    ----------
    index : int
        Its position among the training points.
    value : float
        Its value: the mean of its contributions, weighted if validation points have weights.
    label : Any
        Its label, or target.
    suggested : Any
        What `neighbors` suggest instead: the label with the most weight among them (the first in
        sorted order if several have as much), or the weighted mean of their targets. None if they
        have no weight, or if there are none. With a validation set, an encoder that learns from
        labels has seen this one, too. `DataValues.suggested`, which files, terminals and the
        report show, counts all who vote on the point, in all representations.
    contributions : (n_val,) array
        What it adds to each validation point: 0 to itself, and 0 to those in its own fold.
    validation_labels : (n_val,) array
        The labels, or targets, of the validation points.
    validation : (n_val,) array of int
        The positions of the validation points among those given to `value`, or among the training
        points if these judged each other.
    neighbors : structured array
        Its K nearest training points except itself, nearest first, with the fields index, label,
        distance and weight. With an encoder that weighs points itself, the distance is 1 minus
        the weight before it is rounded. After cross-valuation these are the nearest of the points
        that it judged, by the encoder that had not seen its label. The array is empty with
        precomputed distances, and after cross-valuation for a point that never judged others. With
        several encoders they are those of the first, while value and contributions are means over
        all.
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
        """The validation points that it harms most, worst first.

        A structured array with the fields validation, label and contribution.
        """
        order = np.argsort(self.contributions, kind="stable")[:SHOWN]
        return self._table(order[self.contributions[order] < 0.0])

    @property
    def helps(self) -> Table:
        """The validation points that it serves best, best first.

        A structured array with the fields validation, label and contribution.
        """
        order = np.argsort(-self.contributions, kind="stable")[:SHOWN]
        return self._table(order[self.contributions[order] > 0.0])

    def __repr__(self) -> str:
        hurts, helps = (int(np.sum(c)) for c in (self.contributions < 0, self.contributions > 0))
        near = "" if self.suggested is None else f", its neighbours suggest {_said(self.suggested)}"
        return (
            f"Explanation(point {self.index}: label {_said(self.label)}{near}; value "
            f"{self.value:.4g}: it hurts {hurts:,} and helps {helps:,} of "
            f"{self.contributions.size:,} validation points)"
        )

    def _table(self, order: Ints) -> Table:
        table: Table = listing(
            {
                "validation": self.validation[order],
                "label": self.validation_labels[order],
                "contribution": self.contributions[order],
            }
        )
        return table


def _said(label: Any) -> str:
    """Return a label as it is written in Python, but without the names of numpy's types."""
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, float):
        return f"{plain:.6g}"
    return repr(clipped(plain) if isinstance(plain, str) else plain)


def explain(
    shown: Sequence[Representation], shares: Floats, judges: Judges, points: Ints
) -> list[Explanation]:
    """Explain the values of some points.

    Parameters
    ----------
    shown : sequence of Representation
        The representations of the run that valued the points.
    shares : array
        How much each representation counts.
    judges : Judges
        How much each validation point counted.
    points : array of int
        The positions of the points to explain.

    Returns
    -------
    list of Explanation
        One explanation per point.
    """
    first = shown[0]
    training, folds = first.training, first.folds
    parts = [_of_fold(first, fold, points) for fold in folds]
    each = [np.concatenate([part.contributions for part in parts])]
    for other in shown[1:]:
        more = [_contributions(other, fold, fold.open(), points) for fold in other.folds]
        aligned = np.empty_like(each[0])
        aligned[judges.places(other.folds)] = np.concatenate(more)
        each.append(aligned)
    contributions = mean_of(each, shares)
    names = np.concatenate([fold.labels() for fold in folds])
    labels = training.targets.given()
    explained = []
    for i, point in enumerate(points.tolist()):
        share = np.ascontiguousarray(contributions[:, i])
        near = next((part.near[point] for part in parts if point in part.near), None)
        neighbors, suggested = near or (
            _neighbor_table(labels, points[:0], share[:0], share[:0]),
            None,
        )
        explained.append(
            Explanation(
                index=point,
                value=float(np.average(share, weights=judges.factors)),
                label=labels[point],
                suggested=suggested,
                contributions=share,
                validation_labels=names,
                validation=judges.positions,
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
        What the points add to its validation points.
    near : dict
        For each point whose neighbours this fold can find, a table of them and what they suggest.
    """

    contributions: Floats
    near: dict[int, tuple[Table, Any]]


def _places(shown: Representation, fold: Fold) -> tuple[Ints, Ints]:
    """Return the judged points, and the place of each point among them; others get the one after.

    The second is an array over all training points.
    """
    n = shown.training.n_points
    judged = np.arange(n)[fold.judged]
    places = np.full(n, judged.size)
    places[judged] = np.arange(judged.size)
    return judged, places


def _contributions(shown: Representation, fold: Fold, opened: OpenedFold, points: Ints) -> Floats:
    """Return what the points add to the validation points of a fold."""
    job = Job.of(shown.settings, opened)
    judged, places = _places(shown, fold)
    inside = places[points] < judged.size
    work = ((*block, places[points[inside]]) for block in blocks(opened, 0, job.width))
    found = workers.in_order(job.contributions, work, shown.settings.n_jobs)
    contributions = np.zeros((fold.size, points.size))
    contributions[:, inside] = np.concatenate(list(found))
    return contributions


def _of_fold(shown: Representation, fold: Fold, points: Ints) -> _FoldPart:
    training, settings, opened = shown.training, shown.settings, fold.open()
    contributions = _contributions(shown, fold, opened, points)
    job = Job.of(settings, opened)
    judged, places = _places(shown, fold)
    near: dict[int, tuple[Table, Any]] = {}
    if settings.precomputed or training.n_points < 2:
        return _FoldPart(contributions, near)
    # Neighbours of a point that judges are taken from those it judges. If validation points come
    # from outside, they are taken from all other training points.
    rows = {p: i for i, p in enumerate(fold.positions.tolist())} if fold.inside else None
    for point in points.tolist():
        if rows is not None and point not in rows:
            continue
        at = point if rows is None else rows[point]
        source: Any = opened.points if rows is None else opened.queries
        own = int(places[point]) if places[point] < judged.size else None
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
    """Return the K nearest of the judged points, and what they suggest for this point."""
    near, weights = job.neighbors(query, own, settings.n_neighbors, settings.weighting.top)
    index = judged[near.index]
    labels = training.targets.given()
    table = _neighbor_table(labels, index, near.distance, weights)
    if not weights.sum():
        return table, None
    return table, training.targets.suggested(index, weights)


def _neighbor_table(labels: Array, index: Ints, distance: Array, weight: Array) -> Table:
    numbers = {"distance": distance.astype(np.float64), "weight": weight.astype(np.float64)}
    table: Table = listing({"index": index, "label": labels[index], **numbers})
    return table
