"""Where our own time goes: distances, selection, weights, kernel, accumulation."""

import cProfile
import pstats
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import dataworth
from dataworth import KNNShapley

STAGES = ("distances", "selection", "weights", "kernel", "accumulation", "other")
RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("soft, unweighted", {"weights": "uniform"}),
    ("soft, default weights", {}),
    ("hard, inverse distance", {"game": "hard", "weights": "inverse"}),
)
SELECTION = ("rank", "nearest", "extent", "median", "_sort_ties", "_check_distances")
BY_NAME = {  # functions of ours whose module is not that of their stage
    "add_at": "accumulation",
    "add_behind": "accumulation",
    "levels": "weights",
    "_candidates": "selection",
}
REPEATS = 3
Function = tuple[str, int, str]
HERE = str(Path(dataworth.__file__).parent)


def stage(file: str, function: str) -> str | None:
    """The stage of a function of ours by its module; None for all others."""
    if not file.startswith(HERE):
        return None
    path = Path(file).relative_to(HERE)
    if function in BY_NAME:
        return BY_NAME[function]
    if path.name == "neighbors.py":
        return "selection" if function in SELECTION else "distances"
    if path.name == "searches.py":
        return "distances"
    if path.name in ("tasks.py", "runs.py"):
        return "accumulation"
    if path.name == "weights.py":
        return "weights"
    if path.name in ("games.py", "solutions.py") or path.parts[0] == "kernels":
        return "kernel"
    return None


def shares(n: int, features: int, n_val: int, params: dict[str, Any]) -> dict[str, float]:
    """The share of the processor time of `fit` and `value` in each stage, the median of some runs.

    What is not ours, as a sort of numpy's, counts for the stages that call it.
    """
    rng = np.random.default_rng(0)
    X, X_val = rng.normal(size=(n, features)), rng.normal(size=(n_val, features))
    y, y_val = (x[:, :2].sum(axis=1) > 0.0 for x in (X, X_val))
    valuator = KNNShapley(progress=False, **params)
    valuator.fit(X[:50], y[:50]).value(X_val[:2], y_val[:2])
    runs = []
    for _ in range(REPEATS):
        profiler = cProfile.Profile(time.process_time)
        profiler.runcall(lambda: valuator.fit(X, y).value(X_val, y_val))
        times = dict.fromkeys(STAGES, 0.0)
        statistics: Any = pstats.Stats(profiler)
        for function, (_, _, own, _, _) in statistics.stats.items():
            for name, part in _stages(function, statistics.stats, frozenset()).items():
                times[name] += own * part
        total = sum(times.values())
        runs.append({name: seconds / total for name, seconds in times.items()})
    return {name: median([run[name] for run in runs]) for name in STAGES}


def _stages(function: Function, calls: Any, inner: frozenset[Function]) -> dict[str, float]:
    """The stages that a function works for, directly or through what it calls, as shares of 1."""
    name = stage(function[0], function[2])
    if name is not None:
        return {name: 1.0}
    callers = {c: times[3] for c, times in calls[function][4].items() if c not in inner}
    total = sum(callers.values())
    if total <= 0.0:
        return {"other": 1.0}
    parts = dict.fromkeys(STAGES, 0.0)
    for caller, seconds in callers.items():
        for theirs, part in _stages(caller, calls, inner | {function}).items():
            parts[theirs] += part * seconds / total
    return parts


def section(*, quick: bool) -> list[str]:
    """The part on where our time goes."""
    n, n_val = (2_000, 8) if quick else (100_000, 24)
    out = [
        "## Where our time goes",
        "",
        f"Shares of the processor time of `fit` and `value` (median of {REPEATS} runs), N = {n:,}, "
        f"{n_val} validation points, one thread, K = 5, 3 bits. Selection is the sort, or the "
        "search for the points that have weight. cProfile slows every call, so that stages of "
        "many small calls look larger than they are.",
        "",
        f"| game | features | {' | '.join(STAGES)} |",
        "|---|---|" + "---|" * len(STAGES),
    ]
    for name, params in RUNS:
        for features in (2, 128):
            share = shares(n, features, n_val, params)
            cells = " | ".join(f"{100 * share[s]:.0f} %" for s in STAGES)
            out.append(f"| {name} | {features} | {cells} |")
    return [*out, ""]
