"""Where our own time goes: distances, selection, weights, kernel, accumulation."""

import cProfile
import pstats
from pathlib import Path
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
HERE = str(Path(dataworth.__file__).parent)


def stage(file: str, function: str) -> str | None:
    """The stage of a function of ours by its module; None for all others."""
    if not file.startswith(HERE):
        return None
    path = Path(file).relative_to(HERE)
    if path.name == "neighbors.py":
        return "distances" if function == "distances" else "selection"
    if path.name == "searches.py":
        return "distances"
    if path.name == "weights.py":
        return "weights"
    if path.name in ("games.py", "solutions.py") or path.parts[0] == "kernels":
        return "kernel"
    if path.name in ("tasks.py", "runs.py"):
        return "accumulation"
    return None


def shares(n: int, features: int, n_val: int, params: dict[str, Any]) -> dict[str, float]:
    """The share of the time of `fit` and `value` in each stage.

    A compiled or built-in function counts for the stage of the Python function that calls it.
    """
    rng = np.random.default_rng(0)
    X, X_val = rng.normal(size=(n, features)), rng.normal(size=(n_val, features))
    y, y_val = (x[:, :2].sum(axis=1) > 0.0 for x in (X, X_val))
    valuator = KNNShapley(progress=False, **params)
    valuator.fit(X[:50], y[:50]).value(X_val[:2], y_val[:2])
    profiler = cProfile.Profile()
    profiler.runcall(lambda: valuator.fit(X, y).value(X_val, y_val))
    times = dict.fromkeys(STAGES, 0.0)
    statistics: Any = pstats.Stats(profiler)
    for (file, _, function), (_, _, own, _, callers) in statistics.stats.items():
        name = stage(file, function)
        if name is not None:
            times[name] += own
            continue
        rest = own
        for (their_file, _, their_function), (_, _, their_own, _) in callers.items():
            theirs = stage(their_file, their_function)
            if theirs is not None:
                times[theirs] += their_own
                rest -= their_own
        times["other"] += max(rest, 0.0)
    total = sum(times.values())
    return {name: seconds / total for name, seconds in times.items()}


def section(*, quick: bool) -> list[str]:
    """The part on where our time goes."""
    n, n_val = (2_000, 8) if quick else (100_000, 24)
    out = [
        "## Where our time goes",
        "",
        f"Shares of `fit` and `value`, N = {n:,}, {n_val} validation points, one thread, K = 5, "
        "3 bits. Selection is the sort, or the search for the points that have weight.",
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
