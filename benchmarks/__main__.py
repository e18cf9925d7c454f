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
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import dataworth
from dataworth import KNNShapley
from dataworth.games.direct import DirectGame
from dataworth.games.game import Game
from dataworth.games.hard import HardGame
from dataworth.games.kernels import hard
from dataworth.games.kernels.coefficients import shapley_like
from dataworth.games.regression import RegressionGame
from dataworth.games.soft import SoftGame
from dataworth.neighbors import distances as neighbors
from dataworth.neighbors import ranking
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting

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


def weights_of_a_row(
    n: int, n_bits: int | None, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """A row of distances, and their weights nearest first, which fall but never reach 0."""
    row = np.random.default_rng(seed).random(n)
    ranked = np.exp(-np.sort(row) / 0.5)
    if n_bits is None:
        return row, ranked
    return row, np.maximum(np.rint(ranked * (2**n_bits - 1)), 1).astype(np.int16)


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
            row, weights = weights_of_a_row(n, n_bits)
            top = 2**n_bits - 1
            right = np.random.default_rng(1).integers(0, 2, n).astype(np.float64)
            c, out, tail = shapley_like(n, k), np.empty(n), np.empty(2 * top + 1)
            kernel, argsort = least(
                lambda: hard.binary(weights, right, n, top, k, 1.0, c, out, tail),  # noqa: B023
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


def games(n: int, k: int) -> dict[str, tuple[Game, Ranked, Any]]:
    """Every exact game on the same points; the direct vote has three classes and 2 bits."""
    rng = np.random.default_rng(2)
    codes, targets, order = rng.integers(0, 2, n), rng.normal(size=n), np.arange(n)
    three = rng.integers(0, 3, n)
    c = shapley_like(n, k)

    def ranked(n_bits: int | None) -> Ranked:
        return Ranked(order, weights_of_a_row(n, n_bits)[1], None, True)

    def weighting(n_bits: int | None) -> Weighting:
        return Weighting("rbf", 0.5, n_bits)

    even, ones = Weighting("uniform", "auto", 1), Ranked(order, np.ones(n, np.int16), None, True)
    return {
        "hard, weighted": (HardGame(codes, 2, k, weighting(3), c, 1.0), ranked(3), 1),
        "hard, unweighted": (HardGame(codes, 2, k, even, c, 1.0), ones, 1),
        "hard, direct, 3 classes, 2 bits": (
            DirectGame(three, 3, k, weighting(2), c, 1.0),
            ranked(2),
            1,
        ),
        "soft, weighted": (SoftGame(codes, 2, k, weighting(3), c), ranked(3), 1),
        "soft, real weights": (SoftGame(codes, 2, k, weighting(None), c), ranked(None), 1),
        "soft, unweighted": (SoftGame(codes, 2, k, even, c), ones, 1),
        "regression, weighted": (RegressionGame(targets, k, weighting(3), c), ranked(3), 0.5),
        "regression, unweighted": (RegressionGame(targets, k, even, c), ones, 0.5),
    }


def games_table() -> list[str]:
    lines = [
        "",
        "## Every exact game against the hard weighted one",
        "",
        "One validation point, one thread, b = 3, weights non-zero, neighbours ranked already. "
        "Entries: time / time of the hard weighted game at the same N and K = 5.",
        "",
        "| game | K = 5, N = 100,000 | K = 20, N = 100,000 | growth exponent, K = 5, 10⁴ → 10⁶ |",
        "|---|---|---|---|",
    ]
    names = list(games(1_000, 5))
    timed: dict[tuple[int, int], list[float]] = {}
    for n, k in ((10_000, 5), (100_000, 5), (1_000_000, 5), (100_000, 20)):
        chosen = games(n, k)
        tasks = []
        for name in names:
            solver, ranked, label = chosen[name]
            if "direct" in name and (n > 100_000 or k > 5):
                ranked = Ranked(ranked.order[:0], ranked.weights[:0], None, True)
            tasks.append(lambda s=solver, r=ranked, y=label: s.solve(r, y))
        timed[n, k] = least(*tasks, repeats=1 if n > 100_000 else 3)
    base = timed[100_000, 5][0]
    for i, name in enumerate(names):
        five, twenty = timed[100_000, 5][i] / base, timed[100_000, 20][i] / base
        low, high = (10_000, 100_000) if "direct" in name else (10_000, 1_000_000)
        slope = math.log(timed[high, 5][i] / timed[low, 5][i]) / math.log(high / low)
        far = "(to 10⁵)" if "direct" in name else ""
        more = "not run" if "direct" in name else f"{twenty:.1f} ×"
        lines.append(f"| {name} | {five:.2f} × | {more} | {slope:.2f} {far}|")
        print(lines[-1], flush=True)
    return lines


def cut_off_table(n: int = 1_000_000) -> list[str]:
    """What `max_rank="sqrt"` costs beyond the distances."""
    rng = np.random.default_rng(3)
    row, y = rng.random((1, n)), rng.integers(0, 2, n)
    lines = [
        "",
        '## `max_rank="sqrt"` against exact, beyond the distances',
        "",
        f"One validation point, N = {n:,}, precomputed distances, every weight non-zero (rbf, "
        "bandwidth 0.6). Entries: time of `value` / time of the exact hard game.",
        "",
        '| game | exact | `max_rank="sqrt"` |',
        "|---|---|---|",
    ]
    tasks = []
    for kind in ("hard", "soft"):
        for limit in (None, "sqrt"):
            valuator = KNNShapley(
                game=kind, bandwidth=0.6, max_rank=limit, metric="precomputed", progress=False
            ).fit(None, y)
            tasks.append(lambda v=valuator: v.value(row, [1]))
    hard_time, hard_cut, soft_time, soft_cut = least(*tasks, repeats=5)
    lines.append(f"| hard | 1.00 × | {hard_cut / hard_time:.2f} × |")
    lines.append(f"| soft | {soft_time / hard_time:.2f} × | {soft_cut / hard_time:.2f} × |")
    print("\n".join(lines[-2:]), flush=True)
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
                    game="hard",
                    n_neighbors=k,
                    weights=weights,
                    n_bits=n_bits,
                    n_jobs=1,
                    progress=False,
                ).fit(X, y)
                ours, ranked = least(
                    lambda: valuator.value(X_val, y_val),  # noqa: B023
                    lambda: [
                        ranking.rank(row)
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
    tables = (kernel_table, games_table, cut_off_table, end_to_end_table)
    OUT.write_text("\n".join([*head, *(line for table in tables for line in table()), ""]))
    print(f"\nwritten: {OUT}")


if __name__ == "__main__":
    main()
