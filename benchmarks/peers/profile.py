"""Where our own time goes: distances, ranks and weights, kernel."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

from dataworth import KNNShapley
from dataworth.games.hard import HardGame
from dataworth.games.soft import SoftGame
from dataworth.neighbors.distances import Measure
from dataworth.weights.weighting import Weighting

STAGES: dict[str, tuple[tuple[type, str], ...]] = {  # the methods that a run spends its time in
    "distances": ((Measure, "distances"),),
    "ranks and weights": ((Weighting, "rank_rows"),),
    "kernel, sums": ((SoftGame, "add_rows"), (HardGame, "add_rows")),
}
RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("soft, unweighted", {"weights": "uniform"}),
    ("soft, default weights", {}),
    ("soft, every weight non-zero", {"weights": "linear"}),
    ("hard, default weights", {"game": "hard"}),
    ("hard, every weight non-zero", {"game": "hard", "weights": "linear"}),
)
REPEATS = 3


@contextmanager
def watched(seconds: dict[str, float]) -> Iterator[None]:
    """Add up the time that is spent in each stage. Each call is a whole block of rows."""
    with ExitStack() as stack:
        for stage, methods in STAGES.items():
            for owner, name in methods:
                timed = _timed(getattr(owner, name), stage, seconds)
                stack.enter_context(patch.object(owner, name, timed))
        yield


def _timed(method: Callable[..., Any], stage: str, seconds: dict[str, float]) -> Any:
    def timed(*args: Any) -> Any:
        start = time.perf_counter()
        try:
            return method(*args)
        finally:
            seconds[stage] += time.perf_counter() - start

    return timed


def shares(n: int, features: int, n_val: int, params: dict[str, Any]) -> dict[str, float]:
    """The share of the time of `fit` and `value` in each stage, the median of some runs."""
    rng = np.random.default_rng(0)
    X, X_val = rng.normal(size=(n, features)), rng.normal(size=(n_val, features))
    y, y_val = (x[:, :2].sum(axis=1) > 0.0 for x in (X, X_val))
    valuator = KNNShapley(progress=False, n_jobs=1, **params)
    valuator.fit(X[:50], y[:50]).value(X_val[:2], y_val[:2])
    runs = []
    for _ in range(REPEATS):
        seconds = dict.fromkeys(STAGES, 0.0)
        with watched(seconds):
            start = time.perf_counter()
            valuator.fit(X, y).value(X_val, y_val)
            whole = time.perf_counter() - start
        runs.append({stage: spent / whole for stage, spent in seconds.items()})
    return {stage: median([run[stage] for run in runs]) for stage in STAGES}


def section(*, quick: bool) -> list[str]:
    """The part on where our time goes."""
    n, n_val = (2_000, 8) if quick else (100_000, 24)
    out = [
        "## Where our time goes",
        "",
        f"Shares of the time of `fit` and `value` (median of {REPEATS} runs), N = {n:,}, "
        f"{n_val} validation points, one thread, K = 5, 3 bits. The rest is mostly a copy and "
        "a check of the input, and the search for copies of points.",
        "",
        f"| game | features | {' | '.join(STAGES)} | rest |",
        "|---|---|" + "---|" * (len(STAGES) + 1),
    ]
    for name, params in RUNS:
        for features in (2, 128):
            share = [*shares(n, features, n_val, params).values()]
            cells = " | ".join(f"{100 * s:.0f} %" for s in [*share, 1.0 - sum(share)])
            out.append(f"| {name} | {features} | {cells} |")
    return [*out, ""]
