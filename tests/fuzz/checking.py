"""Says what is wrong with the values of a case."""

import copy
import math
import traceback
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from tests.fuzz.case import Case, knows_enough
from tests.fuzz.playing import distances, enumerated, gain, played, strict, valuator

TOLERANCE = 1e-12
TOLERANCE_OF_TINY_BETA = 1e-10  # with a parameter below 1e-3
SUM_TOLERANCE = 1e-9  # for thousands of values that add up


@dataclass
class Verdict:
    """What came of a case.

    Attributes
    ----------
    problem : str
        What is wrong, in a few words; empty if nothing is.
    error : float
        The largest error in units of the utility, beyond what the result states itself.
    detail : str
        More about the problem.
    """

    problem: str = ""
    error: float = 0.0
    detail: str = ""


def tolerance(case: Case) -> float:
    """Return how far off values may be, in units of the utility."""
    semivalue = case.params.get("semivalue")
    if isinstance(semivalue, list) and min(semivalue[1:]) < 1e-3:
        return TOLERANCE_OF_TINY_BETA
    return TOLERANCE


def check(case: Case) -> Verdict:
    """Play a case and judge the values; whatever is raised is a problem too."""
    try:
        return _check_large(case) if case.check == "large" else _check_small(case)
    except Exception as error:
        problem = f"{type(error).__name__}: {str(error)[:200]}"
        return Verdict(problem, math.inf, traceback.format_exc())


def _check_small(case: Case) -> Verdict:
    with strict():
        fitted, given = valuator(case)
        before = joblib.hash(given)
        got = fitted.value(**given)
    if joblib.hash(given) != before:
        return Verdict("the validation points were changed", math.inf)
    ref = enumerated(case)
    found = _bounds(case, got, ref, tolerance(case) * case.scale)
    if found.problem or _cut_off(case):
        return found
    off = np.abs(got.values - ref)
    error = float(np.maximum(off - got.weight_error, 0.0).max()) / case.scale
    if not error <= tolerance(case):
        return Verdict("differs from enumeration", error, f"got {got.values}\nnot {ref}")
    return Verdict(error=error)


def _cut_off(case: Case) -> bool:
    """Whether values are bounds of the exact ones."""
    graph = case.known is not None and case.known < case.n
    supported = case.params.get("support") is not None
    return case.params.get("max_rank") is not None or (graph and not supported)


def _bounds(case: Case, got: Any, ref: NDArray[np.float64], slack: float) -> Verdict:
    """Judge what holds for all values, and that the exact ones are between their bounds."""
    for name in ("values", "lower", "upper"):
        if not np.isfinite(getattr(got, name)).all():
            return Verdict(f"{name} are not finite", math.inf, f"got {getattr(got, name)}")
    if case.params.get("n_bits", 3) is not None and not _cut_off(case):
        same = np.array_equal(got.lower, got.values) and np.array_equal(got.upper, got.values)
        if not same:
            return Verdict("exact values have an interval", math.inf, f"{got.lower} {got.upper}")
    for name, low, high in (
        ("the exact value is below lower", got.lower, ref),
        ("the exact value is above upper", ref, got.upper),
        ("lower is above the value", got.lower, got.values),
        ("upper is below the value", got.values, got.upper),
    ):
        beyond = float((low - high).max())
        if beyond > slack:
            return Verdict(name, beyond / case.scale, f"{low}\nabove {high}")
    return Verdict()


def _check_large(case: Case) -> Verdict:
    """Values add up, every route gives the same bits, and bounds hold."""
    exact = copy.deepcopy(case)
    for name in ("max_rank", "adaptive_ratio"):
        exact.params.pop(name, None)
    if _cut_off(exact):  # a graph that does not hold all that matters
        exact.known = None
    with strict():
        fitted, given = valuator(exact)
        got = fitted.value(**given)
    if not np.isfinite(got.values).all():
        return Verdict("values are not finite", math.inf, f"got {got.values}")
    error = 0.0
    if case.params.get("semivalue", "shapley") == "shapley":
        off = abs(math.fsum(got.values) - gain(exact))
        error = max(off - case.n * got.weight_error, 0.0) / case.scale
        if not error <= SUM_TOLERANCE:
            return Verdict("values do not add up", error, f"they are off by {off}")
    for name, other in routes(exact).items():
        if not np.array_equal(other.values, got.values):
            off = float(np.abs(other.values - got.values).max())
            return Verdict(f"other bits with {name}", off / case.scale, f"off by {off}")
    found = _explained(fitted, got.values, case.scale)
    if found.problem:
        return found
    slack = TOLERANCE * case.scale + 2 * got.weight_error
    found = _bounds(case, played(case), got.values, slack)
    return found if found.problem else Verdict(error=error)


def routes(case: Case) -> dict[str, Any]:
    """Return the values of a case by every other way that must give the same bits."""
    found = {
        "n_jobs=2": played(case, n_jobs=2),
        "working_memory=0.001": played(case, working_memory=0.001),
    }
    if case.y_val:
        given = copy.deepcopy(case)
        given.params.pop("metric", None)
        given.queries, given.points, given.known = distances(case), [], None
        given.dtype_val, given.layout_val = "float64", "C"
        found["precomputed distances"] = played(given)
        if knows_enough(case.params):
            given.known = case.n
            found["a complete graph"] = played(given)
        if "support" in case.params:
            given.known = min(case.params["support"], case.n)
            found["a graph of the support"] = played(given)
    return found


def _explained(fitted: Any, values: NDArray[np.float64], scale: float) -> Verdict:
    """Explanations add up to the values."""
    points = sorted({0, values.size // 2, values.size - 1})
    for i, why in zip(points, fitted.explain(points), strict=True):
        off = abs(float(np.mean(why.contributions)) - values[i]) / scale
        if off > TOLERANCE:
            return Verdict("an explanation does not add up to its value", off, f"point {i}")
    return Verdict()
