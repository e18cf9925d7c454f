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
from threadpoolctl import threadpool_limits

import dataworth
from dataworth import KNNShapley
from dataworth.games import hard as hard_game
from dataworth.games import soft
from dataworth.games.direct import DirectGame
from dataworth.games.game import Game, Setup
from dataworth.games.hard import HardGame
from dataworth.games.kernels import hard, weighted_mean
from dataworth.games.kernels.coefficients import room, shapley_like
from dataworth.games.kernels.subset_moments import Points
from dataworth.games.regression import Prior, RegressionGame
from dataworth.games.soft import SoftGame
from dataworth.games.weighted_mean import powers_table
from dataworth.neighbors import distances as neighbors
from dataworth.neighbors import ranking
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting

OUT = Path(__file__).parent / "RESULTS.md"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
SETTINGS = tuple((k, bits) for bits in (3, 5, 8) for k in (5, 10, 20, 50))
PATIENCE = 2.0  # seconds


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


def ranking_table() -> list[str]:
    lines = [
        "## Ranking a row against `numpy.argsort`",
        "",
        "One row, one thread, ties broken by index. Entries: time / argsort time.",
        "",
        "| " + " | ".join(f"N = {n:,}" for n in SIZES) + " |",
        "|" + "---|" * len(SIZES),
    ]
    cells = []
    for n in SIZES:
        row = np.random.default_rng(0).random((1, n))
        own, cutoff, order = np.array([ranking.NOBODY]), np.array([math.inf]), np.empty((1, n), int)
        ours, argsort = least(
            lambda: ranking.rank_rows(row, own, cutoff, order),  # noqa: B023
            lambda: np.argsort(row[0]),  # noqa: B023
            repeats=5 if n > 100_000 else 25,
        )
        cells.append(f"{ours / argsort:.2f} ×")
    lines.append("| " + " | ".join(cells) + " |")
    print(lines[-1], flush=True)
    return lines


def kernels(n: int, k: int, n_bits: int) -> dict[str, Callable[[], object]]:
    """The kernels of the weighted games for one validation point with two classes."""
    _, weights = weights_of_a_row(n, n_bits)
    top = 2**n_bits - 1
    right = np.random.default_rng(1).integers(0, 2, n).astype(np.float64)
    c, out, tail = shapley_like(n, k), np.empty(n), np.empty(2 * top + 1)
    inside, outside, _, _ = room(c, n, n, min(n, k))
    table, factors = powers_table(k, top, 1, idle=False)
    start = np.stack([factors, np.zeros_like(factors)])
    points = Points(weights, table, np.empty(0), np.empty(0), weights * right)
    return {
        "soft": lambda: weighted_mean.values(
            points, start, 0.5, inside, outside[:0], c.displace, c.inverse, out, np.empty((0, 0))
        ),
        "hard": lambda: hard.binary(weights, right, n, top, k, 1.0, c, out, tail),
    }


def kernel_table() -> list[str]:
    lines = [
        "",
        "## The kernels against `numpy.argsort` of the same row",
        "",
        "Two classes, one validation point, one thread, every weight non-zero (rbf, from 2^b − 1 "
        "down to 1). Entries: kernel time / argsort time; a dash where one run would take more "
        f"than {PATIENCE:g} s.",
        "",
        "| game | K | b | " + " | ".join(f"N = {n:,}" for n in SIZES) + " | growth exponent |",
        "|---|---|---|" + "---|" * (len(SIZES) + 1),
    ]
    for game, cost in (("soft", soft.seconds), ("hard", hard_game.seconds)):
        for k, n_bits in SETTINGS:
            cells, seconds = [], {}
            for n in SIZES:
                setup = Setup(2, k, Weighting("rbf", 0.5, n_bits), "one-vs-one", "right")
                if cost(setup, n) > PATIENCE:
                    cells.append("–")
                    continue
                row, _ = weights_of_a_row(n, n_bits)
                kernel, argsort = least(
                    kernels(n, k, n_bits)[game],
                    lambda: np.argsort(row),  # noqa: B023
                    repeats=3 if n > 100_000 else 9,
                )
                cells.append(f"{kernel / argsort:.2f} ×")
                seconds[n] = kernel
            high = max(seconds)
            cells.append(f"{exponent(seconds, 10_000, high):.2f}" if high > 10_000 else "–")
            lines.append(f"| {game} | {k} | {n_bits} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def distances_table() -> list[str]:
    lines = [
        "",
        "## Distances pair by pair against a product of matrices",
        "",
        "Distances are summed pair by pair in double precision, so that they have the same bits "
        "however many are computed together. Entries: time / time of BLAS for the product of the "
        "same matrices in the precision of the input, both with one thread; two million numbers.",
        "",
        "| features | input | 1 query | 8 queries | 64 queries |",
        "|---|---|---|---|---|",
    ]
    rng = np.random.default_rng(4)
    for n_features in (16, 128, 768):
        for kind in (np.float32, np.float64):
            points = rng.normal(size=(2_000_000 // n_features, n_features)).astype(kind)
            cells = []
            for n in (1, 8, 64):
                queries = rng.normal(size=(n, n_features)).astype(kind)
                with threadpool_limits(1):
                    ours, blas = least(
                        lambda: neighbors.distances(queries, points, "euclidean", {}),  # noqa: B023
                        lambda: np.dot(queries, points.T),  # noqa: B023
                    )
                cells.append(f"{ours / blas:.1f} ×")
            lines.append(f"| {n_features} | {kind.__name__} | {' | '.join(cells)} |")
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
    prior = Prior(0.0, 0.0, 1.0)
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
        "regression, weighted": (
            RegressionGame(targets, k, weighting(3), c, prior),
            ranked(3),
            0.5,
        ),
        "regression, unweighted": (RegressionGame(targets, k, even, c, prior), ones, 0.5),
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
        "default bandwidth, under which far points have weight 0; *all*: every weight non-zero. "
        "Nobody reads `values.notes`, which would compute all distances between training points.",
        "",
        "| K | b | weights | " + " | ".join(f"N = {n:,}" for n in SIZES) + " | growth exponent |",
        "|---|---|---|" + "---|" * (len(SIZES) + 1),
    ]
    rng = np.random.default_rng(1)
    for k, n_bits in ((5, 3), (20, 3), (50, 3), (5, 8)):
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
                    repeats=3,
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
    tables = (
        ranking_table,
        kernel_table,
        games_table,
        cut_off_table,
        end_to_end_table,
        distances_table,
    )
    OUT.write_text("\n".join([*head, *(line for table in tables for line in table()), ""]))
    print(f"\nwritten: {OUT}")


if __name__ == "__main__":
    main()
