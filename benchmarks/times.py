"""Time whole runs on tables of several sizes; write benchmarks/TIMES.md.

`python -m benchmarks.times 1000 10000` times these sizes. Unlike everywhere else these are seconds,
for whoever wants to know whether to wait: on another machine they are others.
"""

import platform
import sys
import time
from pathlib import Path
from typing import Any

import joblib
from sklearn.datasets import make_classification

from dataworth import KNNShapley, LinearScores, OutOfBagForest

OUT = Path(__file__).parent / "TIMES.md"
SIZES = (1_000, 10_000, 100_000)
COLUMNS = 20
MOST = 10_000  # rows of the recipe with a ruler, which takes four times as long as without


def recipe() -> KNNShapley:
    """What finds most label errors."""
    encoder = ["auto", OutOfBagForest(n_jobs=-1), LinearScores()]
    return KNNShapley(encoder=encoder, n_neighbors=10, progress=False)


def seconds(valuator: KNNShapley, X: Any, y: Any, **options: Any) -> float:
    """How long it takes to fit and value all rows without a validation set."""
    start = time.perf_counter()
    valuator.fit(X, y).value(**options)
    return time.perf_counter() - start


def rows(sizes: tuple[int, ...]) -> list[list[str]]:
    """One row for each size."""
    found = []
    for n in sizes:
        X, y = make_classification(n, COLUMNS, n_informative=8, flip_y=0.1, random_state=0)
        for valuator in (KNNShapley(progress=False), recipe()):
            valuator.fit(X[:300], y[:300]).value()  # loads the kernels
        taken = [seconds(KNNShapley(progress=False), X, y), seconds(recipe(), X, y)]
        if n <= MOST:
            taken.append(seconds(recipe(), X, y, ruler=3))
        cells = [_time(one) for one in taken]
        found.append([f"{n:,}", *cells, *["–"] * (3 - len(cells))])
    return found


def _time(taken: float) -> str:
    if taken < 0.05:
        return "under 0.05 s"
    return f"{taken:.1f} s" if taken < 100 else f"{taken / 60:.1f} min"


def main(sizes: tuple[int, ...]) -> None:
    """Measure and write the page."""
    heads = ["rows", "defaults", "the recipe", "the recipe, `ruler=3`"]
    written = [heads, ["---"] * len(heads), *rows(sizes)]
    lines = "\n".join("| " + " | ".join(cells) + " |" for cells in written)
    OUT.write_text(
        f"# Times\n\n`python -m benchmarks.times`: `fit` and `value()` without a validation set, "
        f"{COLUMNS} columns, two classes, {joblib.cpu_count()} cores "
        f"({platform.machine()}, Python {platform.python_version()}). The recipe is "
        '`KNNShapley(encoder=["auto", OutOfBagForest(), LinearScores()], n_neighbors=10)`. Kernels '
        "are compiled already; the first run of all takes up to a minute longer. The forest grows "
        "on all cores, the rest has one thread; `n_jobs=-1` gives it all cores too.\n\n"
        + lines
        + "\n"
    )


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
