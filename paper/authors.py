"""The weighted hard game as the code of the paper's authors plays it.

In the paper's text a tied vote counts as right, and so does the empty set. In its authors' code
(github.com/Jiachen-T-Wang/weighted-knn-shapley) both count as wrong. With more than two classes,
the label of the validation point stands against each rival on the points of these two classes
alone, and the mean over rivals counts.

The weights of that code are exp(-(d / d_max) / T), divided by the largest of them, with T = 0.1 in
the command it gives. The nearest and the farthest point are those of all classes, so that weights
are the same in each vote.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from dataworth import KNNShapley
from dataworth.arrays import Floats
from dataworth.baselines import quadratic
from dataworth.neighbors import distances as neighbors
from paper.methods import BASELINE, N_BITS, N_NEIGHBORS, found
from paper.protocol import Task, auroc, root

TEMPERATURE = 0.1
# In the order of the paper's columns; then the methods that show which difference matters.
COLUMNS = (BASELINE, "hard-uniform-strict", "hard-temp-strict", "hard-temp-strict-sqrt")
METHODS = (*COLUMNS, "hard-linear", "hard-linear-strict", "hard-temp", "hard-temp-sqrt")
BESIDE = ("hard-linear-strict", "hard-temp", "hard-temp-strict", "soft-temp")  # at other sizes


def weighting(distances: Floats, weights: str) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Distances, scaled row by row, and the function that makes weights in [0, 1] of them."""
    near, far = distances.min(axis=1, keepdims=True), distances.max(axis=1, keepdims=True)
    if weights == "temp":
        return (distances - near) / np.where(far > 0.0, far, 1.0), _falling
    if weights == "linear":
        return (distances - near) / np.where(far > near, far - near, 1.0), _linear
    return distances, np.ones_like


def _falling(scaled: Floats) -> Floats:
    return np.asarray(np.exp(-scaled / TEMPERATURE))


def _of_ranked(distances: Floats) -> Floats:
    scaled, function = weighting(distances[None], "temp")
    return function(scaled[0])


def _linear(scaled: Floats) -> Floats:
    return 1.0 - scaled


def votes(
    task: Task,
    weights: str,
    *,
    strict: bool,
    cut: bool = False,
    n_neighbors: int = N_NEIGHBORS,
    n_jobs: int = 1,
) -> Floats:
    """Values of the training points in the hard game, one vote for each rival class.

    Parameters
    ----------
    task : Task
        Training and validation points.
    weights : {"temp", "linear", "uniform"}
        How weights fall with distance.
    strict : bool
        Whether ties and the empty set are wrong.
    cut : bool
        Whether to stop at rank √N, by the paper's approximation, where N counts the points of the
        two classes of a vote.
    n_neighbors : int
        K, the number of neighbours that vote.
    n_jobs : int
        How many threads to use.

    Returns
    -------
    (n,) array of float
        The values.
    """
    distances = neighbors.distances(task.X_val, task.X_train, "euclidean", {})
    scaled, function = weighting(distances, weights)
    ties: Literal["right", "wrong"] = "wrong" if strict else "right"
    if not cut:
        model = KNNShapley(
            n_neighbors=n_neighbors, n_bits=N_BITS, game="hard", ties=ties, metric="precomputed",
            weights=function, progress=False, n_jobs=n_jobs,
        )  # fmt: skip
        return model.fit(None, task.y_train).value(scaled, task.y_val).values
    classes = np.unique(task.y_train)
    total = np.zeros(task.y_train.size)
    for row, y in zip(scaled, task.y_val, strict=True):
        order = np.argsort(row, kind="stable")
        labels = task.y_train[order]
        integers = np.rint((2**N_BITS - 1) * function(row[order])).astype(np.int64)
        for rival in classes[classes != y]:
            voters = (labels == y) | (labels == rival)
            # √N of the two classes, as the paper counts it, where `max_rank="sqrt"` counts all.
            total[order[voters]] += quadratic(
                labels[voters] == y, integers[voters], n_neighbors=n_neighbors,
                max_rank=root(int(voters.sum())), ties=ties,
            )  # fmt: skip
    return total / ((classes.size - 1) * task.y_val.size)


def measure(task: Task, methods: tuple[str, ...], n_jobs: int) -> dict[str, float]:
    """AUROC by method."""
    each = {}
    for method in methods:
        _, weights, *rest = method.split("-")
        if method in (BASELINE, "hard-linear"):
            each[method] = found(method, task, n_jobs=n_jobs)
        elif method == "soft-temp":
            each[method] = found(method, task, weights=_of_ranked, n_jobs=n_jobs)
        else:
            strict, cut = "strict" in rest, "sqrt" in rest
            values = votes(task, weights, strict=strict, cut=cut, n_jobs=n_jobs)
            each[method] = auroc(values, task.bad)
    return each
