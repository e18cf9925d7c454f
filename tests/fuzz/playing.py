"""Lets the package value a case, and the oracle."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth import KNNShapley
from dataworth.errors import ReadingWarning
from tests import naive
from tests.fuzz.case import Case, Rows, features, graph, targets, weight_function

Floats = NDArray[np.float64]

TIES = {"right": 1.0, "wrong": 0.0, "half": 0.5}
# Each game of the registry: a test sees to it that none is missing.
UTILITIES: dict[str, Callable[..., naive.Utility]] = {
    "soft": naive.soft_share,
    "hard": naive.hard_vote,
    "regression": naive.squared_error,
}
METRICS: dict[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "euclidean": lambda a, b: math.sqrt(math.fsum((p - q) ** 2 for p, q in zip(a, b, strict=True))),
    "manhattan": lambda a, b: math.fsum(abs(p - q) for p, q in zip(a, b, strict=True)),
    "chebyshev": lambda a, b: max(abs(p - q) for p, q in zip(a, b, strict=True)),
    "hamming": lambda a, b: sum(p != q for p, q in zip(a, b, strict=True)) / len(a),
}


def valuator(case: Case, **more: Any) -> tuple[KNNShapley, dict[str, Any]]:
    """Return a fitted valuator, and the arguments of its `value`."""
    params = {**case.params, **more}
    if isinstance(params.get("weights"), list):
        function = weight_function(params["weights"])
        params["weights"] = lambda distances: np.array(function(distances.tolist()))
    if isinstance(params.get("semivalue"), list):
        params["semivalue"] = tuple(params["semivalue"])
    kind = "float" if case.numeric else case.labels
    y, y_val = targets(case.y, kind), targets(case.y_val, kind)
    if case.precomputed:
        params["metric"] = "precomputed"
        fitted = KNNShapley(progress=False, **params).fit(None, y)
        if case.known is None:
            given = features(case.queries, case.dtype_val, case.layout_val)
        else:
            orders = [naive.ranking(row) for row in case.queries]
            given = graph(case.queries, orders, case.known, case.dtype_val)
        return fitted, {"X_val": given, "y_val": y_val}
    points = features(case.points, case.dtype, case.layout)
    fitted = KNNShapley(progress=False, encoder=None, **params).fit(points, y)
    if case.y_val:
        queries = features(case.queries, case.dtype_val, case.layout_val)
        return fitted, {"X_val": queries, "y_val": y_val}
    if case.folds is None:
        return fitted, {}
    return fitted, {"cv": [(np.array(a, int), np.array(b, int)) for a, b in case.folds]}


@contextmanager
def strict() -> Iterator[None]:
    """Make errors of warnings, except of those about the data: small whole numbers do coincide."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ReadingWarning)
        yield


def played(case: Case, **more: Any) -> Any:
    """Return what the package says; warnings are errors."""
    with strict():
        fitted, given = valuator(case, **more)
        return fitted.value(**given)


@dataclass
class Single:
    """One validation point: the training points that it judges, and what it knows of them."""

    players: list[int]
    distances: list[float]
    targets: list[Any]
    label: Any
    classes: set[Any]


def distances(case: Case) -> Rows:
    """Return the distances from validation points (rows) to training points."""
    if case.precomputed:
        return case.queries
    measure = METRICS[case.params.get("metric", "euclidean")]
    queries = case.queries if case.y_val else case.points
    return [[measure(q, p) for p in case.points] for q in queries]


def singles(case: Case) -> Iterator[Single]:
    """Yield the validation points one by one."""
    rows, everyone = distances(case), list(range(case.n))
    if case.y_val:
        judges = [(everyone, v, y) for v, y in enumerate(case.y_val)]
    elif case.folds is None:
        judges = [([j for j in everyone if j != i], i, case.y[i]) for i in everyone]
    else:
        judges = [(judged, i, case.y[i]) for judged, some in case.folds for i in some]
    for players, v, y in judges:
        known = players if case.folds is not None else everyone
        yield Single(
            players,
            [rows[v][j] for j in players],
            [case.y[j] for j in players],
            y,
            set() if case.numeric else {case.y[j] for j in known},
        )


def weighed(case: Case, single: Single) -> Sequence[float]:
    """Return the weights by the oracle."""
    params = case.params
    if "radius" in params:
        return [float(d <= params["radius"]) for d in single.distances]
    bandwidth = params.get("bandwidth", "auto")
    name: Any = params.get("weights", "rbf")
    return naive.weights(
        weight_function(name) if isinstance(name, list) else name,
        single.distances,
        params.get("n_bits", 3),
        None if bandwidth == "auto" else bandwidth,
        params.get("support"),
        1e-140 if case.numeric else 1e-300,
    )


def neighbors(case: Case) -> int:
    """Return K; with a radius, all points count."""
    return case.n if "radius" in case.params else int(case.params.get("n_neighbors", 5))


def utility(case: Case, single: Single) -> naive.Utility:
    """Return the game of one validation point by the oracle."""
    params = case.params
    more: dict[str, Any] = {} if case.numeric else {"classes": single.classes}
    if case.numeric:
        more["center"] = params.get("center", True)
    if case.game == "hard":
        more["tie"] = TIES[params.get("ties", "right")]
    made = UTILITIES[case.game]
    if params.get("multiclass") == "direct":
        made = naive.direct_vote
    order, weight = naive.ranking(single.distances), weighed(case, single)
    return made(order, single.targets, weight, single.label, neighbors(case), **more)


def chances(case: Case, n: int) -> Callable[[int], float]:
    """Return the chance of a set by its size, by which the semivalue of n points counts it."""
    semivalue = case.params.get("semivalue", "shapley")
    if semivalue == "banzhaf":
        return lambda size: 0.5 ** (n - 1)
    return (
        naive.shapley_chance(n) if semivalue == "shapley" else naive.beta_chance(n, *semivalue[1:])
    )


def enumerated(case: Case) -> Floats:
    """Return the values by going through all sets, or those of at most K points."""
    total, count = np.zeros(case.n), 0
    for single in singles(case):
        if case.check == "neighbors":
            phi = _by_neighbors(case, single)
        else:
            n = len(single.players)
            phi = naive.semivalue(n, utility(case, single), chances(case, n))
        total[single.players] += phi
        count += 1
    return total / count


def _by_neighbors(case: Case, single: Single) -> Floats:
    order, k, n = naive.ranking(single.distances), neighbors(case), len(single.players)
    rivals = single.classes - {single.label}
    if case.game != "hard" or case.params.get("multiclass") == "direct" or not rivals:
        game = utility(case, single)
        return naive.semivalue_by_neighbors(order, game, k, chances(case, n))
    # One-vs-one: of the points of each pair of classes, the K nearest decide.
    phi, weight, labels = np.zeros(n), weighed(case, single), single.targets
    tie = TIES[case.params.get("ties", "right")]
    for rival in rivals:
        pair = {single.label, rival}
        some = [i for i in order if labels[i] in pair]  # nearest first
        if not some:
            continue
        ranks, their = range(len(some)), [labels[i] for i in some]
        heavy = [weight[i] for i in some]
        game = naive.hard_vote(ranks, their, heavy, single.label, k, tie, pair)
        phi[some] += naive.semivalue_by_neighbors(ranks, game, k, chances(case, len(some)))
    return phi / len(rivals)


def gain(case: Case) -> float:
    """Return U(everyone) - U(nobody), the mean over validation points."""
    gains = []
    for single in singles(case):
        game = utility(case, single)
        gains.append(game(frozenset(range(len(single.players)))) - game(frozenset()))
    return math.fsum(gains) / len(gains)
