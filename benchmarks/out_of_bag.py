"""Times a forest judged out of bag, and the recipe, against one fit of the same forest.

python -m benchmarks.out_of_bag [n_jobs]
"""

import sys
import time
from collections.abc import Callable
from typing import Any

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from dataworth import KNNShapley, LinearScores, OutOfBagForest

ROWS, COLUMNS, TREES = 10_000, 20, 500


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(n_jobs: int) -> None:
    """Print all times and their ratios."""
    X, y = make_classification(ROWS, COLUMNS, n_informative=8, flip_y=0.05, random_state=0)
    forest = RandomForestClassifier(TREES, random_state=0, n_jobs=n_jobs)
    judged = OutOfBagForest(n_estimators=TREES, n_jobs=n_jobs)
    recipe = ["auto", judged, LinearScores()]
    valuators = {
        "leave-one-out with its own fit": KNNShapley(encoder=judged, n_jobs=n_jobs, progress=False),
        "the recipe": KNNShapley(encoder=recipe, n_neighbors=10, n_jobs=n_jobs, progress=False),
    }
    for valuator in valuators.values():
        valuator.fit(X[:100], y[:100]).value()  # compiles, or loads, the kernels
    fit = seconds(lambda: forest.fit(X, y))
    print(
        f"{ROWS:,} rows × {COLUMNS} columns, {TREES} trees, {n_jobs} thread(s): one fit {fit:.1f} s"
    )
    for name, valuator in valuators.items():
        value = seconds(lambda: valuator.fit(X, y).value())  # noqa: B023 (called at once)
        print(f"{name}: {value:.1f} s, {value / fit:.2f} times as long")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
