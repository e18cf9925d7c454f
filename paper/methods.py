"""The methods that are compared, by name.

A name says which game and which weights, and at its end where the walk stops: with `sqrt` at rank
√N, otherwise nowhere. `strict` means that ties and the empty set are wrong (see `authors`).
`linear` weights are those of the paper's appendix and leave nothing to choose; `rbf` is the default
of this library; `chosen` are the weights of `CANDIDATES` under which the training set as a whole is
worth most to the validation points. K = 5 and 3 bits are the paper's. None of this looks at which
points are bad.
"""

from typing import Any

import numpy as np

from dataworth import KNNShapley
from dataworth.arrays import Floats
from paper.protocol import Task, auroc

N_NEIGHBORS, N_BITS = 5, 3
BASELINE = "soft-uniform"

TITLES = {
    "soft-uniform": "soft, unweighted",
    "hard-uniform": "hard, unweighted",
    "hard-linear": "hard, linear",
    "hard-linear-sqrt": "hard, linear, √N",
    "hard-rbf": "hard, rbf",
    "hard-rbf-sqrt": "hard, rbf, √N",
    "soft-linear": "soft, linear",
    "soft-linear-sqrt": "soft, linear, √N",
    "soft-rbf": "soft, rbf",
    "soft-rbf-sqrt": "soft, rbf, √N",
    "soft-chosen": "soft, chosen",
    "hard-uniform-strict": "hard, unweighted, ties wrong",
    "hard-linear-strict": "hard, linear, ties wrong",
    "soft-temp": "soft, T = 0.1",
    "hard-temp": "hard, T = 0.1",
    "hard-temp-sqrt": "hard, T = 0.1, √N",
    "hard-temp-strict": "hard, T = 0.1, ties wrong",
    "hard-temp-strict-sqrt": "hard, T = 0.1, ties wrong, √N",
    "hard-real": "hard, real weights",
    "hard-real-strict": "hard, real weights, ties wrong",
    "soft-real": "soft, real weights",
    "soft-real-sampled": "soft, real weights, Monte Carlo",
    "random": "at random",
}
NOTE = (
    "Soft and hard are the games, linear the weights of the paper's appendix, rbf those of this "
    "library by default, √N the walk that stops at rank √N; all others are exact. Of more than two "
    "classes √N counts the points of all, where the paper counts those of the two of each vote. In "
    "the hard game ties, and the empty set, count as right, as in the paper's text. "
    "The paper's columns are *hard, linear*: its main text names exp(−d) as weights, its appendix "
    "the linear ones, scaled to [0, 1], which is what rounding to bits needs."
)


def _rbf(share: float) -> Any:
    """Weights exp(-(d - d_1)/h), h a share of the way from the nearest to the median point."""

    def weights(distances: Floats) -> Floats:
        h = max(share * float(np.median(distances) - distances[0]), np.finfo(np.float64).tiny)
        return np.asarray(np.exp((distances[0] - distances) / h))

    return weights


CANDIDATES: dict[str, Any] = {
    "uniform": "uniform",
    "linear": "linear",
    "rbf, share 1": _rbf(1.0),
    "rbf, share 0.3": "rbf",
    "rbf, share 0.1": _rbf(0.1),
}


def valuator(method: str, **options: Any) -> KNNShapley:
    """The valuator of that name; the options given replace the usual ones."""
    game, weights, *cut = method.split("-")
    usual: dict[str, Any] = {
        "n_neighbors": N_NEIGHBORS,
        "n_bits": N_BITS,
        "max_rank": "sqrt" if cut else None,
        "progress": False,
    }
    return KNNShapley(**{"game": game, "weights": weights, **usual, **options})


def values_of(method: str, task: Task, **options: Any) -> Floats:
    """Values of the training points of a task."""
    fitted = valuator(method, **options).fit(task.X_train, task.y_train)
    return fitted.value(task.X_val, task.y_val).values


def found(method: str, task: Task, **options: Any) -> float:
    """AUROC of finding the bad points of a task."""
    return auroc(values_of(method, task, **options), task.bad)


def chosen(task: Task, **options: Any) -> tuple[str, float]:
    """The weights chosen for the soft game, and their AUROC.

    Values add up to U(all) - U(none), and U(none) is the same for all weights: the largest sum
    belongs to the weights that give the validation points' labels the highest mean probability.
    """
    tried = {
        name: values_of("soft-rbf", task, weights=weights, **options)
        for name, weights in CANDIDATES.items()
    }
    best = max(tried, key=lambda name: float(tried[name].sum()))
    return best, auroc(tried[best], task.bad)
