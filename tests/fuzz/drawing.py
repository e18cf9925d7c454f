"""Draws cases at random: everything that the package takes, and mostly where things break."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.fuzz.case import LAYOUTS, SPARSE, Case, knows_enough
from tests.fuzz.playing import METRICS, TIES, UTILITIES

Rng = np.random.Generator
Rows = list[list[float]]

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "bool")
NAMED = ("rbf", "linear", "inverse", "uniform")
MOST_SETS = 6_000  # that the oracle goes through in games of middle size
MOST_CELLS = 30_000  # of the table of a direct vote, so that one game takes no longer than others


def pick(rng: Rng, options: Sequence[Any], chances: Sequence[float] | None = None) -> Any:
    """Return one of the options as it is; numpy would turn them into arrays."""
    p = None if chances is None else np.array(chances) / sum(chances)
    return options[int(rng.choice(len(options), p=p))]


def draw(seed: int, index: int, large_share: float = 0.04) -> Case:
    """Return the case of this seed and index."""
    rng = np.random.default_rng([seed, index])
    check = pick(rng, ["enumeration", "neighbors"], [9, 1])
    n = int(rng.integers(1, 10)) if check == "enumeration" else int(rng.integers(8, 41))
    if rng.random() < large_share:
        check = "large"
        n = int(rng.integers(10, 200)) if rng.random() < 0.8 else int(rng.integers(200, 2001))
    case = Case(check, {}, [], [], [], [])
    params = case.params
    params["game"] = pick(rng, list(UTILITIES))
    n_val = int(rng.integers(1, {"enumeration": 4, "neighbors": 2, "large": 21}[check]))
    source = pick(rng, ["features", "distances", "graph"], [4, 4, 2])
    most = {"enumeration": n, "neighbors": 12, "large": 300}[check]
    inside = source == "features" and 1 < n <= most and rng.random() < 0.35
    _targets(rng, case, n, n_val)
    if source == "features":
        _points(rng, case, n, n_val)
    else:
        _distances(rng, case, n, n_val)
    if inside:
        case.y_val, case.queries = [], []
        if rng.random() < 0.5:
            case.folds = _folds(rng, case)
    _game(rng, case)
    _weights(rng, case)
    _limits(rng, case, source)
    if check == "neighbors":
        _few_sets(case)
    _affordable(rng, case)
    if rng.random() < 0.02:  # threads take longer to start than small games to play
        params["n_jobs"] = 2
    if rng.random() < 0.1:
        params["working_memory"] = 0.001
    return case


def _targets(rng: Rng, case: Case, n: int, n_val: int) -> None:
    if case.numeric:
        drawn = pick(rng, [rng.normal(size=n), rng.integers(-3, 4, n), np.zeros(n)], [6, 3, 1])
        unit = float(pick(rng, [1.0, 1e-8, 1e6, 1e100, 1e-140, 2.0**470], [12, 1, 1, 1, 1, 1]))
        offset = float(pick(rng, [0.0, 1.0, -1e4, 1e6], [6, 2, 1, 1]))
        values = (drawn + offset) * unit
        case.y = [float(v) for v in values]
        near = [float((rng.normal() + offset) * unit) for _ in range(n_val)]
        case.y_val = [v if rng.random() < 0.6 else float(pick(rng, case.y)) for v in near]
        return
    case.labels = pick(rng, ["int", "str", "bool", "float"], [5, 2, 1, 1])
    n_classes = 2 if case.labels == "bool" else int(rng.integers(1, 6))
    skewed = rng.random() < 0.3
    p = rng.dirichlet(np.full(n_classes, 0.5)) if skewed else None
    case.y = [int(c) for c in rng.choice(n_classes, n, p=p)]
    case.y_val = [int(pick(rng, case.y)) for _ in range(n_val)]


def _points(rng: Rng, case: Case, n: int, n_val: int) -> None:
    """Features whose distances are exact: whole numbers times a power of two, or one column."""
    metric = pick(rng, list(METRICS), [6, 2, 1, 1])
    if metric != "euclidean":
        case.params["metric"] = metric
    both = [pick(rng, [*FLOATS, *INTEGERS], [3, 4, 8, *[1] * len(INTEGERS)]) for _ in range(2)]
    if rng.random() < 0.6:
        both[1] = both[0]
    case.dtype, case.dtype_val = both
    whole = not all(np.dtype(d).kind == "f" for d in both) or rng.random() < 0.6
    width = int(rng.integers(1, 5)) if whole else 1
    high = 2 if "bool" in both else int(pick(rng, [2, 3, 8, 100]))
    low = 0 if any(np.dtype(d).kind in "ub" for d in both) else -high + 1
    shape = (n + n_val, width)
    drawn: Any = rng.integers(low, high, shape) if whole else rng.normal(size=shape)
    points, queries = drawn[:n], drawn[n:]
    unit, offset = _unit(rng, both)
    case.points = _cast(points * unit + offset, case.dtype)
    case.queries = _cast(queries * unit + offset, case.dtype_val)
    _repeat(rng, case.points, case.queries)
    case.layout, case.layout_val = (pick(rng, LAYOUTS) for _ in range(2))
    if rng.random() < 0.05:
        case.layout = case.layout_val = "frame"
    if rng.random() < 0.25 and metric in ("euclidean", "manhattan"):
        case.layout, case.layout_val = (pick(rng, SPARSE) for _ in range(2))
        if rng.random() < 0.3:
            case.layout_val = pick(rng, ["C", "F"])
    if case.layout in SPARSE:  # scipy has no sparse float16
        case.dtype, case.dtype_val = (d.replace("float16", "float32") for d in both)


def _unit(rng: Rng, dtypes: Sequence[str]) -> tuple[float, float]:
    """Return a power of two and an offset that all dtypes hold exactly."""
    if any(np.dtype(d).kind != "f" for d in dtypes):
        return 1.0, 0.0
    most = 5 if "float16" in dtypes else 50 if "float32" in dtypes else 440
    exponent = int(rng.integers(-most, most + 1)) if rng.random() < 0.3 else 0
    offset = 2.0**30 if rng.random() < 0.1 and most == 440 and not exponent else 0.0
    return 2.0**exponent, offset


def _cast(rows: Any, dtype: str) -> Rows:
    cast: Rows = rows.astype(np.dtype(dtype)).astype(np.float64).tolist()
    return cast


def _repeat(rng: Rng, points: Rows, queries: Rows) -> None:
    """Make some points equal to others, in training and validation."""
    if rng.random() < 0.3:
        for _ in range(len(points) // 3 + 1):
            points[int(rng.integers(len(points)))] = list(pick(rng, points))
    if rng.random() < 0.05:
        points[:] = [list(points[0]) for _ in points]


def _distances(rng: Rng, case: Case, n: int, n_val: int) -> None:
    way = pick(rng, ["whole", "real", "constant", "zeros", "huge", "tiny"], [6, 8, 1, 1, 1, 1])
    drawn: Any = rng.random((n_val, n))
    if way == "whole":
        drawn = rng.integers(0, int(pick(rng, [2, 4, 10, 1000])), (n_val, n)).astype(np.float64)
    elif way == "constant":
        drawn = np.full((n_val, n), float(rng.integers(0, 3)))
    elif way == "zeros":
        drawn = np.where(rng.random((n_val, n)) < 0.5, 0.0, drawn)
    case.dtype_val = pick(rng, [*FLOATS, "int32", "uint8"] if way == "whole" else FLOATS)
    if way == "whole" and case.dtype_val == "uint8":
        drawn = np.minimum(drawn, 255.0)
    if way in ("huge", "tiny"):
        case.dtype_val = "float64"
        drawn = drawn * 2.0 ** (980 if way == "huge" else -980)
    case.queries = _cast(drawn, case.dtype_val)
    case.layout_val = pick(rng, LAYOUTS)


def _folds(rng: Rng, case: Case) -> list[list[list[int]]] | None:
    """Return folds in which every class that judges is judged too; None if we find none."""
    for _ in range(10):
        parts = int(rng.integers(2, min(case.n, 5) + 1))
        place = rng.integers(0, parts, case.n)
        found = []
        for part in range(parts):
            judged, judges = np.flatnonzero(place != part), np.flatnonzero(place == part)
            if judged.size and rng.random() < 0.2:
                judged = rng.permutation(judged)[: rng.integers(1, judged.size + 1)]
            if judged.size == 0 or judges.size == 0:
                continue
            seen = {case.y[j] for j in judged}
            if not case.numeric and not {case.y[i] for i in judges} <= seen:
                continue
            found.append([[int(j) for j in judged], [int(i) for i in judges]])
        if found:
            return found
    return None


def _game(rng: Rng, case: Case) -> None:
    params, n = case.params, case.n
    small = int(rng.integers(1, 8))
    others = [1, max(n - 1, 1), n, n + 1, 3 * n]
    params["n_neighbors"] = pick(rng, [small, *others], [8, 1, 1, 1, 1, 1])
    if case.game == "hard":
        if rng.random() < 0.5:
            params["ties"] = pick(rng, list(TIES))
        if len(set(case.y)) <= 4 and rng.random() < 0.5:
            params["multiclass"] = "direct"
    if case.numeric and rng.random() < 0.3:
        params["center"] = False
    draws = rng.random(2)
    numbers = [float(v) for v in np.exp(6 * draws - 3)]
    if rng.random() < 0.3:
        numbers[int(rng.integers(2))] = float(10 ** rng.uniform(-6, -3))
    if rng.random() < 0.1:
        numbers[int(rng.integers(2))] = float(10 ** rng.uniform(2, 6))
    beta = ["beta", *numbers]
    whole = ["beta", *(float(v) for v in rng.integers(1, 6, 2))]
    params["semivalue"] = pick(rng, ["shapley", "banzhaf", beta, whole], [6, 2, 3, 1])


def _weights(rng: Rng, case: Case) -> None:
    params, n = case.params, case.n
    params["weights"] = pick(rng, NAMED, [4, 2, 2, 2]) if rng.random() < 0.55 else _ranks(rng, n)
    bits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, None]
    chances = [3, 3, 4, 3, 2, 2, 2, 2, 0.2, 0.1, 5]
    if case.game == "hard" or case.check == "large":
        bits, chances = bits[:8], chances[:8]
    params["n_bits"] = pick(rng, bits, chances)
    if params["weights"] == "rbf" and rng.random() < 0.3:
        params["bandwidth"] = _of_distance(rng, case)
    if params["weights"] == "uniform" and case.game != "hard" and rng.random() < 0.3:
        params["radius"] = _of_distance(rng, case)
        params.pop("n_neighbors")


def _of_distance(rng: Rng, case: Case) -> float:
    """Return a positive number of the size of a distance, sometimes a distance itself."""
    rows = case.queries if case.precomputed else case.points
    largest = max(abs(v) for row in rows for v in row)
    exact = float(pick(rng, pick(rng, rows)))
    if exact > 0.0 and rng.random() < 0.5:
        return exact
    return float(rng.uniform(0.05, 2.0)) * (largest or 1.0)


def _ranks(rng: Rng, n: int) -> list[Any]:
    """Return unit weights by rank: falling, rising, in runs, equal, zero, or anything."""
    way = pick(rng, ["any", "falling", "rising", "runs", "equal", "zero", "last", "tiny"])
    drawn = rng.random(n)
    if way == "any":
        drawn[rng.random(n) < 0.3] = 0.0
    elif way == "falling":
        drawn = np.sort(drawn)[::-1]
    elif way == "rising":
        return ["rising"]
    elif way == "runs":
        levels = np.sort(rng.random(3))[::-1] if rng.random() < 0.5 else rng.random(3)
        levels[rng.random(3) < 0.2] = 0.0
        drawn = np.sort(rng.integers(0, 3, n))
        drawn = levels[drawn]
    elif way == "equal":
        drawn = np.full(n, pick(rng, [1.0, 0.5, float(rng.random())]))
    elif way == "zero":
        drawn = np.zeros(n)
    elif way == "last":
        drawn = np.where(np.arange(n) == n - 1, 1.0, 0.0)
    else:
        drawn = 10.0 ** -rng.uniform(0, 130, n)
    return [float(w) for w in drawn]


def _limits(rng: Rng, case: Case, source: str) -> None:
    params, n = case.params, case.n
    if "radius" in params:
        return
    if rng.random() < 0.2:
        params["support"] = int(rng.integers(1, n + 2))
    if rng.random() < 0.25 or (case.check == "large" and rng.random() < 0.7):
        rank = int(rng.integers(1, n + 2))
        params["max_rank"] = pick(rng, [rank, "sqrt", "adaptive"], [6, 1, 2])
        if params["max_rank"] == "adaptive":
            params["adaptive_ratio"] = float(rng.uniform(0.01, 3.0))
    if source == "graph":
        _graph(rng, case)


def _graph(rng: Rng, case: Case) -> None:
    """Give distances as a graph where weights need only the nearest points."""
    params = case.params
    if params.get("max_rank") == "adaptive":
        return
    if not knows_enough(params):
        params["support"] = int(rng.integers(1, case.n + 2))
    least = min(params.get("support", 1), case.n)
    case.known = case.n if rng.random() < 0.3 else int(rng.integers(least, case.n + 1))


def _few_sets(case: Case) -> None:
    """Make K so small that the oracle can go through all sets of at most K points."""
    if "radius" in case.params:
        del case.params["radius"]
    k = min(case.params.get("n_neighbors", 5), case.n)
    judges = len(case.y_val) or case.n
    while k > 1 and judges * sum(math.comb(case.n, size) for size in range(k + 1)) > MOST_SETS:
        k -= 1
    case.params["n_neighbors"] = k


def _affordable(rng: Rng, case: Case) -> None:
    """Make K or the number of bits smaller where one game would take seconds."""
    params = case.params
    if params["weights"] == "uniform" and params.get("multiclass") != "direct":
        return
    k = min(params["n_neighbors"], case.n, params.get("support", case.n))
    if params.get("multiclass") == "direct":
        axes = max(len(set(case.y)) - 1, 1)
        most = 3_000 if case.check == "large" else MOST_CELLS
        while k * (2 * k * _top(params) + 1) ** axes > most and (k > 1 or params["n_bits"] > 1):
            if params["n_bits"] > 1 and (k == 1 or rng.random() < 0.5):
                params["n_bits"] -= 1
            else:
                k = params["n_neighbors"] = k - 1
    elif case.check == "large":
        judges = len(case.y_val) or case.n
        most = 300_000_000 // judges
        while k > 1 and k * k * _top(params) * (case.n + min(3 * k, case.n) * 3 * k) > most:
            k = params["n_neighbors"] = k - 1


def _top(params: dict[str, Any]) -> int:
    if params["weights"] == "uniform":
        return 1
    return 60 if params["n_bits"] is None else int(2 ** params["n_bits"] - 1)
