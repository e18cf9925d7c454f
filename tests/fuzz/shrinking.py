"""Makes a case that failed smaller, step by step, as long as it fails in the same way."""

import copy
import time
from collections.abc import Iterator

import numpy as np

from tests.fuzz.case import Case, Rows
from tests.fuzz.checking import Verdict, check

SECONDS = 60.0  # no longer for one case


def shrunk(case: Case, verdict: Verdict) -> tuple[Case, Verdict]:
    """Return the smallest case that we find with the same problem, and its verdict."""
    deadline = time.monotonic() + SECONDS
    changed = True
    while changed and time.monotonic() < deadline:
        changed = False
        for smaller in _smaller(case):
            if time.monotonic() > deadline:
                break
            found = check(smaller)
            if _same(found.problem, verdict.problem):
                case, verdict, changed = smaller, found, True
                break
    return case, verdict


def _same(one: str, other: str) -> bool:
    """Whether two problems are of one kind; messages may differ in their numbers."""
    return bool(one) and one.split()[:4] == other.split()[:4]


def _smaller(case: Case) -> Iterator[Case]:
    """Yield cases that are simpler in one thing, large steps first."""
    size = case.n // 2
    while size >= 1:
        for start in range(0, case.n, size):
            gone = set(range(start, min(start + size, case.n)))
            if len(gone) < case.n:
                yield _without(case, gone)
        size //= 2
    for v in range(len(case.y_val)):
        if len(case.y_val) > 1:
            yield _with_one(case, v)
    for name in list(case.params):
        if name not in ("game", "n_neighbors"):
            simpler = copy.deepcopy(case)
            del simpler.params[name]
            yield simpler
    for name, value in (("layout", "C"), ("layout_val", "C"), ("labels", "int"), ("known", None)):
        if getattr(case, name) != value:
            simpler = copy.deepcopy(case)
            setattr(simpler, name, value)
            yield simpler
    for name in ("n_neighbors", "max_rank", "support", "n_bits", "known"):
        yield from _lower(case, name)
    yield from _rounder(case)


def _without(case: Case, gone: set[int]) -> Case:
    smaller = copy.deepcopy(case)
    keep = [i for i in range(case.n) if i not in gone]
    place = {old: new for new, old in enumerate(keep)}
    smaller.y = [case.y[i] for i in keep]
    if case.precomputed:
        smaller.queries = [[row[i] for i in keep] for row in case.queries]
    else:
        smaller.points = [case.points[i] for i in keep]
    weights = case.params.get("weights")
    if isinstance(weights, list) and weights != ["rising"]:
        smaller.params["weights"] = weights[: len(keep)]
    if case.folds is not None:
        sides = [[[place[i] for i in side if i in place] for side in fold] for fold in case.folds]
        smaller.folds = [fold for fold in sides if all(fold)]
    if case.known is not None:
        smaller.known = min(case.known, len(keep))
    return smaller


def _with_one(case: Case, v: int) -> Case:
    smaller = copy.deepcopy(case)
    smaller.y_val, smaller.queries = [case.y_val[v]], [case.queries[v]]
    return smaller


def _lower(case: Case, name: str) -> Iterator[Case]:
    """Yield the case with a smaller whole number."""
    value = case.known if name == "known" else case.params.get(name)
    if not isinstance(value, int):
        return
    for lower in sorted({1, value // 2, value - 1}):
        if 1 <= lower < value:
            simpler = copy.deepcopy(case)
            if name == "known":
                simpler.known = lower
            else:
                simpler.params[name] = lower
            yield simpler


def _rounded(rows: Rows, dtype: str) -> Rows:
    rounder: Rows = np.round(rows, 2).astype(dtype).astype(np.float64).tolist() if rows else []
    return rounder


def _rounder(case: Case) -> Iterator[Case]:
    """Yield the case with rounder numbers."""
    simpler = copy.deepcopy(case)
    simpler.points = _rounded(case.points, case.dtype)
    simpler.queries = _rounded(case.queries, case.dtype_val)
    if (simpler.points, simpler.queries) != (case.points, case.queries):
        yield simpler
    weights = case.params.get("weights")
    if isinstance(weights, list) and weights != ["rising"]:
        rounder = [round(w, 2) for w in weights]
        if rounder != weights:
            simpler = copy.deepcopy(case)
            simpler.params["weights"] = rounder
            yield simpler
    if case.numeric:
        simpler = copy.deepcopy(case)
        simpler.y, simpler.y_val = ([round(v, 1) for v in some] for some in (case.y, case.y_val))
        if (simpler.y, simpler.y_val) != (case.y, case.y_val):
            yield simpler
