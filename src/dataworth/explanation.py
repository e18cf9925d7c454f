"""Explanations: why a training point has the value it has."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from dataworth import plans
from dataworth.run.job import Leg
from dataworth.weights import Known

SHOWN = 5  # validation points that `hurts` and `helps` list


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where the value of one training point comes from.

    Attributes
    ----------
    index : its position among the training points.
    value : its value: the mean of its contributions.
    label : its label, or target.
    suggested : the label with the most weight among its own K nearest training points, the first
        of the sorted labels where several have as much; their weighted mean for regression. None
        where none of them has weight, and with precomputed distances, where nobody knows them.
    contributions : (n_val,) what it adds to each validation point; 0 where it is the validation
        point itself, or in its fold.
    validation_labels : (n_val,) labels, or targets, of the validation points.
    validation : (n_val,) positions of the validation points: among those given to `value`, or
        among the training points where these judge each other.
    neighbors : its K nearest training points but itself, nearest first: a structured array with
        the fields index, label, distance and weight; empty with precomputed distances.
    """

    index: int
    value: float
    label: Any
    suggested: Any
    contributions: NDArray[np.float64]
    validation_labels: NDArray[Any]
    validation: NDArray[np.int64]
    neighbors: NDArray[np.void]

    @property
    def hurts(self) -> NDArray[np.void]:
        """The validation points it harms most, worst first: validation, label, contribution."""
        order = np.argsort(self.contributions, kind="stable")[:SHOWN]
        return self._table(order[self.contributions[order] < 0.0])

    @property
    def helps(self) -> NDArray[np.void]:
        """The validation points it serves best, best first; as `hurts` otherwise."""
        order = np.argsort(-self.contributions, kind="stable")[:SHOWN]
        return self._table(order[self.contributions[order] > 0.0])

    def _table(self, order: NDArray[np.int64]) -> NDArray[np.void]:
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


def explain(v: Any, legs: list[Leg], points: NDArray[np.int64]) -> list[Explanation]:
    """Explanations of these points of a fitted valuator."""
    shares: list[NDArray[np.float64]] = []
    labels: list[NDArray[Any]] = []
    validation: list[NDArray[np.int64]] = []
    for leg in legs:
        task, queries, targets, own = leg.open()
        columns = np.arange(v._targets.size) if leg.columns is None else leg.columns
        # Where each point stands among those of this part; the last column stands for nobody.
        places = np.full(v._targets.size, columns.size)
        places[columns] = np.arange(columns.size)
        inside = places[points] < columns.size
        part = np.zeros((leg.size, points.size))
        starts = range(0, leg.size, task.width)
        found = Parallel(n_jobs=v.n_jobs, prefer="threads")(
            delayed(task.contributions)(
                queries[s : s + task.width],
                targets[s : s + task.width],
                None if own is None else own[s : s + task.width],
                places[points[inside]],
            )
            for s in starts
        )
        part[:, inside] = np.concatenate(found)
        shares.append(part)
        if leg.rows is not None:
            names, where = v._labels()[leg.rows], leg.rows
        else:
            names, where = targets, np.arange(leg.size)
            if v.game != "regression":
                names = v.classes_[targets]
        labels.append(names)
        validation.append(where)
    contributions, names = np.concatenate(shares), np.concatenate(labels)
    where = np.concatenate(validation)
    explained = []
    for i, point in enumerate(points.tolist()):
        neighbors, suggested = _neighbors(v, point)
        share = np.ascontiguousarray(contributions[:, i])
        label = v._labels()[point]
        explained.append(
            Explanation(
                point, float(share.mean()), label, suggested, share, names, where, neighbors
            )
        )
    return explained


def _neighbors(v: Any, point: int) -> tuple[NDArray[np.void], Any]:
    """The K nearest training points of one of them, and the label that they suggest."""
    targets = v._labels()
    fields = [("index", "i8"), ("label", targets.dtype), ("distance", "f8"), ("weight", "f8")]
    if v._points is None or targets.size < 2:
        return np.empty(0, fields), None
    task = plans.task(v, None)
    row = next(task.search.rows(v._points[point : point + 1]))
    if isinstance(row, Known):
        row = row.without(point)
        nearest, distances = row.index, row.distance
        ranked = task.weighting.rank_known(row, targets.size, point, None)
    else:
        others = np.delete(row, point)
        nearest = np.argsort(others, kind="stable")
        distances = others[nearest]
        nearest = nearest + (nearest >= point)
        ranked = task._rank(row, point)
    size = min(int(v.n_neighbors), nearest.size)
    weights = np.zeros(targets.size)
    weights[ranked.order] = ranked.weights / task.weighting.top
    table = np.empty(size, fields)
    table["index"], table["distance"] = nearest[:size], distances[:size]
    table["label"] = targets[nearest[:size]]
    table["weight"] = weights[nearest[:size]]
    total = table["weight"].sum()
    if not total:
        return table, None
    if v.game == "regression":
        return table, float(table["weight"] @ table["label"] / total)
    votes = np.bincount(v._targets[nearest[:size]], table["weight"], v.classes_.size)
    return table, v.classes_[int(votes.argmax())]
