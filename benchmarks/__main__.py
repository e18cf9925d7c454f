"""Measure what the values cost beside sorting and distances; write benchmarks/RESULTS.md.

Every figure is a ratio of two times taken in the same run, alternating, each the least of several
repetitions: this survives a noisy machine, bare seconds do not. The growth exponent is the slope
of log time over log N between the first and the last N named.
"""

import math
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

import dataworth
from dataworth import KNNShapley, neighbors
from dataworth.kernels import hard
from dataworth.weights import Weighting

OUT = Path(__file__).parent / "RESULTS.md"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
SETTINGS = ((5, 3), (10, 3), (20, 3), (5, 5), (10, 5), (20, 5))


def least(*tasks: Callable[[], object], repeats: int = 7) -> list[float]:
    """The least time of each task in seconds, taken in turns."""
    best = [math.inf] * len(tasks)
    for task in tasks:
        task()
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            start = time.perf_counter()
            task()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def exponent(seconds: dict[int, float], low: int, high: int) -> float:
    return math.log(seconds[high] / seconds[low]) / math.log(high / low)


def game(n: int, n_bits: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A row of distances, and signed weights nearest first that fall but never reach 0."""
    rng = np.random.default_rng(seed)
    row = rng.random(n)
    _, ranked = neighbors.rank(row)
    weights = np.maximum(Weighting("rbf", 0.5, n_bits).integers(ranked), 1)
    return row, weights * rng.choice([-1, 1], n)


def kernel_table() -> list[str]:
    lines = [
        "## The kernel against `numpy.argsort` of the same row",
        "",
        "Hard binary game, one validation point, one thread, every weight non-zero (rbf, from "
        "2^b − 1 down to 1). Entries: kernel time / argsort time.",
        "",
        "| K | b | " + " | ".join(f"N = {n:,}" for n in SIZES) + " | growth exponent 10⁴ → 10⁶ |",
        "|---|---|" + "---|" * (len(SIZES) + 1),
    ]
    for k, n_bits in SETTINGS:
        ratios, seconds = [], {}
        for n in SIZES:
            row, signed = game(n, n_bits)
            top = 2**n_bits - 1
            rank = np.maximum(np.arange(n + 1.0), 1.0)
            displace = k / (rank * np.maximum(rank - 1.0, 1.0))
            ids, inverse, out = signed + top, 1.0 / rank, row.copy()
            kernel, argsort = least(
                lambda: hard.binary(ids, top, k, displace, inverse, out),  # noqa: B023
                lambda: np.argsort(row),  # noqa: B023
                repeats=3 if n > 100_000 else 9,
            )
            ratios.append(kernel / argsort)
            seconds[n] = kernel
        cells = " | ".join(f"{r:.1f} ×" for r in ratios)
        slope = exponent(seconds, 10_000, 1_000_000)
        lines.append(f"| {k} | {n_bits} | {cells} | {slope:.2f} |")
        print(lines[-1], flush=True)
    return lines


def end_to_end_table(n_features: int = 16, n_val: int = 8) -> list[str]:
    lines = [
        "",
        "## End to end against distances and sort alone",
        "",
        f'`KNNShapley(game="hard", n_jobs=1)`, {n_features} features, {n_val} validation points. '
        "Entries: time of `value` / time of computing and ranking the same distances. *auto*: the "
        "default bandwidth, under which far points have weight 0; *all*: every weight non-zero.",
        "",
        "| K | b | weights | " + " | ".join(f"N = {n:,}" for n in SIZES) + " | growth exponent |",
        "|---|---|---|" + "---|" * (len(SIZES) + 1),
    ]
    rng = np.random.default_rng(1)
    for k, n_bits in SETTINGS:
        for name, weights in (("auto", "rbf"), ("all", never_zero)):
            ratios, seconds = [], {}
            for n in SIZES:
                X, y = rng.normal(size=(n, n_features)), rng.integers(0, 2, n)
                X_val, y_val = X[:n_val] + 0.1, y[:n_val]
                valuator = KNNShapley(
                    n_neighbors=k, weights=weights, n_bits=n_bits, n_jobs=1, progress=False
                ).fit(X, y)
                ours, ranked = least(
                    lambda: valuator.value(X_val, y_val),  # noqa: B023
                    lambda: [
                        neighbors.rank(row)
                        for row in neighbors.distances(X_val, X, "euclidean", {})  # noqa: B023
                    ],
                    repeats=1 if n > 100_000 else 3,
                )
                ratios.append(ours / ranked)
                seconds[n] = ours
            cells = " | ".join(f"{r:.1f} ×" for r in ratios)
            slope = exponent(seconds, 10_000, 1_000_000)
            lines.append(f"| {k} | {n_bits} | {name} | {cells} | {slope:.2f} |")
            print(lines[-1], flush=True)
    return lines


def never_zero(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights that fall from 1 to a half, so that none is rounded to 0."""
    result: NDArray[np.float64] = 1.0 - 0.5 * distances / distances[-1]
    return result


def main() -> None:
    head = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Ratios of times taken in one run on one machine.",
        "",
        f"dataworth {dataworth.__version__}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, numba {numba.__version__}, {platform.machine()}.",
        "",
    ]
    OUT.write_text("\n".join([*head, *kernel_table(), *end_to_end_table(), ""]))
    print(f"\nwritten: {OUT}")


if __name__ == "__main__":
    main()
