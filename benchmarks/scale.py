"""Measure runs that outgrow memory or one machine; write benchmarks/SCALE.md.

Ratios of times in one run, each the least of several repetitions taken in turns; peak memory is
that of a process of its own.
"""

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from benchmarks.__main__ import least
from dataworth import KNNShapley
from dataworth.neighbors import distances as neighbors
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.rows import Known, merge
from dataworth.neighbors.search import nearest_of

OUT = Path(__file__).parent / "SCALE.md"
FEATURES, VALIDATION = 128, 100


def points(n: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, FEATURES), dtype=np.float32)
    X_val = rng.standard_normal((VALIDATION, FEATURES), dtype=np.float32)
    return X, rng.integers(0, 2, n), X_val, rng.integers(0, 2, VALIDATION)


def distances_alone(X: NDArray[Any], X_val: NDArray[Any]) -> None:
    """All distances on both cores, eight rows at a time, kept by nobody."""

    def some(start: int) -> None:
        neighbors.distances(X_val[start : start + 8], X, "euclidean", {})

    Parallel(n_jobs=2, prefer="threads")(delayed(some)(s) for s in range(0, VALIDATION, 8))


def child(n: int, runs: list[dict[str, Any]]) -> None:
    """In a process of its own: seconds of the distances and of each run, and the peak memory."""
    import resource

    X, y, X_val, y_val = points(n)
    valuators = [KNNShapley(n_jobs=2, progress=False, **params).fit(X, y) for params in runs]
    times = least(
        lambda: distances_alone(X, X_val),
        *(lambda v=v: v.value(X_val, y_val) for v in valuators),
        repeats=2 if n > 100_000 else 12,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": times, "peak": peak}))


def measured(n: int, runs: list[dict[str, Any]]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale", str(n), json.dumps(runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def one_machine() -> list[str]:
    runs: list[dict[str, Any]] = [
        {"weights": "uniform"},
        {"game": "hard"},
        {"game": "soft"},
        {"game": "hard", "weights": "linear"},
        {"game": "soft", "weights": "linear"},
    ]
    names = [
        "unweighted soft",
        "hard, default weights",
        "soft, default weights",
        "hard, every weight non-zero",
        "soft, every weight non-zero",
    ]
    exact = measured(100_000, runs)
    lines = [
        f"## One machine, two threads, {FEATURES} float32 features, {VALIDATION} validation points",
        "",
        "N = 100,000, K = 5, 3 bits, exact:",
        "",
        "| run | against distances alone | against unweighted |",
        "|---|---|---|",
    ]
    alone, unweighted = exact["seconds"][:2]
    for name, seconds in zip(names, exact["seconds"][1:], strict=True):
        lines.append(f"| {name} | {seconds / alone:.2f} × | {seconds / unweighted:.2f} × |")
    lines += ["", "N = 1,000,000, `max_rank`, `support` or an index:", ""]
    lines += ["| run | against distances alone | peak memory |", "|---|---|---|"]
    for name, params in (
        ('soft, `max_rank="sqrt"`', {"max_rank": "sqrt"}),
        ('hard, `max_rank="sqrt"`', {"max_rank": "sqrt", "game": "hard"}),
        ("soft, `support=100`", {"support": 100}),
    ):
        result = measured(1_000_000, [params])
        alone, seconds = result["seconds"]
        lines.append(f"| {name} | {seconds / alone:.2f} × | {result['peak']:.2f} GB |")
    return [*lines, ""]


def index() -> list[str]:
    """Clustered points, as embeddings are: independent noise has no near neighbours to find."""
    n, rng = 200_000, np.random.default_rng(0)
    centres = rng.standard_normal((500, FEATURES)).astype(np.float32)
    labels = rng.integers(0, 500, n)
    X = centres[labels] + 0.5 * rng.standard_normal((n, FEATURES), dtype=np.float32)
    y = labels % 2
    X_val, y_val = X[:1000] + np.float32(0.1), y[:1000]
    brute = KNNShapley(support=100, n_jobs=2, progress=False).fit(X, y)
    lines = [
        f"## faiss, N = {n:,} in 500 clusters, `support=100`, 1,000 validation points",
        "",
        "| index | recall of the 101 nearest | time of `value` against brute force |",
        "|---|---|---|",
    ]
    for name, params in (
        ("default (inverted file)", None),
        ("`HNSW32`, `efSearch=200`", {"index": "HNSW32", "search": "efSearch=200"}),
    ):
        valuator = KNNShapley(
            support=100, n_jobs=2, progress=False, neighbors="faiss", neighbors_params=params
        ).fit(X, y)
        values = valuator.value(X_val, y_val)
        fast, slow = least(
            lambda: valuator.value(X_val, y_val),  # noqa: B023
            lambda: brute.value(X_val, y_val),
            repeats=3,
        )
        lines.append(f"| {name} | {values.recall:.3f} | {fast / slow:.2f} × |")
    lines += ["", "The time of `value` includes measuring the recall on 32 points by brute force."]
    return [*lines, ""]


def shards() -> list[str]:
    """The three constants that the plan of docs/scaling.md is made of."""
    X, y, X_val, _ = points(1_000_000)
    lines = [
        "## Shards: seconds of one core for one validation point",
        "",
        "| M, the neighbours asked for | search in a shard of 1,000,000 | merge of eight "
        "| kernel, soft | kernel, hard |",
        "|---|---|---|---|---|",
    ]
    for size in (100, 1_000, 32_000):
        parts = [
            [Known(np.arange(size) + i, np.sort(np.random.default_rng(i).random(size)))]
            for i in range(8)
        ]
        row = np.sort(np.random.default_rng(9).random((1, size)), axis=1)
        kernels = [
            KNNShapley(game=game, weights="linear", metric="precomputed", progress=False).fit(
                None, y[:size]
            )
            for game in ("soft", "hard")
        ]
        times = least(
            lambda: nearest_of(X, 0, X_val[:1], size, Measure("euclidean")),  # noqa: B023
            lambda: merge(parts, size),  # noqa: B023
            *(lambda k=k: k.value(row, y[:1]) for k in kernels),  # noqa: B023
            repeats=5,
        )
        lines.append(f"| {size:,} | " + " | ".join(f"{t:.2g} s" for t in times) + " |")
    return [*lines, ""]


def main() -> None:
    if len(sys.argv) == 3:
        child(int(sys.argv[1]), json.loads(sys.argv[2]))
        return
    head = [
        "# At scale",
        "",
        f"`python -m benchmarks.scale`; {platform.machine()}, Python {platform.python_version()}, "
        f"numpy {np.__version__}.",
        "",
    ]
    OUT.write_text("\n".join([*head, *one_machine(), *index(), *shards()]))
    print(OUT.read_text())


if __name__ == "__main__":
    main()
