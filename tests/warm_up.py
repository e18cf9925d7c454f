"""Compiles the kernels before the suite starts: `python -m tests.warm_up`.

The processes of the suite then load the code from disk, instead of waiting for each other.
"""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from dataworth import KNNShapley

GAMES: tuple[dict[str, Any], ...] = (
    {},
    {"game": "hard"},
    {"game": "hard", "multiclass": "direct"},
    {"game": "regression"},
)
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"weights": "uniform"},
    {"max_rank": 8},
    {"weights": "uniform", "max_rank": 8},
    {"support": 20},
    {"n_bits": None},
    {"n_bits": None, "max_rank": 8},
)


def main() -> None:
    rng = np.random.default_rng(0)
    X, y, X_val = rng.normal(size=(60, 3)), np.arange(60) % 3, rng.normal(size=(3, 3))
    warnings.simplefilter("ignore")
    for game in GAMES:
        regression = game.get("game") == "regression"
        for way in WAYS:
            if game.get("game") == "hard" and "n_bits" in way:
                continue  # the vote needs whole weights
            for labels in (y * 1.0,) if regression else (y, y % 2):
                valuator = KNNShapley(n_neighbors=3, **game, **way).fit(X, labels)
                valuator.value(X_val, labels[:3])
                valuator.value()
        whole = KNNShapley(n_neighbors=3, **game).fit(X, y * 1.0 if regression else y % 2)
        whole.value_owners(np.arange(60) % 3)
        whole.value_owners(np.arange(60) % 20)
        whole.value_owners(np.arange(60) % 3, method="sampling", tol=1.0)
    for metric in ("euclidean", "cosine", "hamming"):
        for points in (X, X.astype(np.float32)):
            KNNShapley(metric=metric).fit(points, y).value()
    KNNShapley().fit(csr_array(X), y).value()


if __name__ == "__main__":
    main()
