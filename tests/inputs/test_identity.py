"""Parameters by their contents: thirty pairs that differ in one thing, and new processes."""

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dataworth import KNNShapley
from dataworth.errors import InputError
from dataworth.inputs.identity import identity

SCALE = 2.0


def closure(factor: Any) -> Any:
    return lambda d: d * factor


def nested(factor: float) -> Any:
    def outer(d: Any) -> Any:
        def inner(x: float) -> float:
            return x * factor

        return [inner(x) for x in d]

    return outer


def made(code: str, **names: Any) -> Any:
    names |= {"np": np}
    exec(code, names)
    return names["f"]


class Callable:
    def __init__(self, power: float) -> None:
        self.power = power

    def __call__(self, d: Any) -> Any:
        return d**self.power

    def method(self, d: Any) -> Any:
        return d + self.power


class Other(Callable):
    pass


def named(d: Any) -> Any:
    return d


def other(d: Any) -> Any:
    return d + 0


LONG = {"vocabulary": [f"word{i}" for i in range(100)]}
PAIRS = {
    "numbers": (1, 2),
    "a number and a float": (1, 1.0),
    "a number and its text": (1, "1"),
    "a boolean and a number": (True, "True"),
    "floats": (0.1, 0.1 + 1e-17 * 2),
    "lists": ([1, 2], [2, 1]),
    "a list and a tuple": ([1], (1,)),
    "dicts": ({"a": 1}, {"a": 2}),
    "keys": ({"a": 1}, {"b": 1}),
    "sets": ({1, 2}, {1, 3}),
    "arrays": (np.arange(5), np.arange(5) + 1),
    "kinds of arrays": (np.arange(5), np.arange(5.0)),
    "shapes": (np.zeros((2, 3)), np.zeros((3, 2))),
    "large arrays": (np.arange(5000), np.append(np.arange(4999), 0)),
    "arrays of objects": (np.array([1, "a"], object), np.array([1, "b"], object)),
    "closures": (closure(1.0), closure(2.0)),
    "closures over arrays": (closure(np.zeros(2000)), closure(np.append(np.zeros(1999), 1.0))),
    "functions in functions": (nested(1.0), nested(2.0)),
    "partials": (functools.partial(round, ndigits=1), functools.partial(round, ndigits=2)),
    "partials of functions": (functools.partial(named, 1), functools.partial(other, 1)),
    "callable objects": (Callable(1), Callable(2)),
    "classes of callable objects": (Callable(1), Other(1)),
    "methods": (Callable(1).method, Callable(2).method),
    "defaults": (made("def f(d, p=1): return d"), made("def f(d, p=2): return d")),
    "keyword defaults": (made("def f(d, *, p=1): return d"), made("def f(d, *, p=2): return d")),
    "globals": (made("f = lambda d: d * k", k=1), made("f = lambda d: d * k", k=2)),
    "global functions": (
        made("f = lambda d: g(d)", g=closure(1)),
        made("f = lambda d: g(d)", g=closure(2)),
    ),
    "functions called": (made("f = lambda d: np.exp(-d)"), made("f = lambda d: np.cos(-d)")),
    "constants": (made("f = lambda d: d + 1"), made("f = lambda d: d + 2")),
    "operators": (made("f = lambda d: d + 1"), made("f = lambda d: d - 1")),
    "comprehensions": (
        made("f = lambda d: [x + 1 for x in d]"),
        made("f = lambda d: [x + 2 for x in d]"),
    ),
    "names of functions": (named, other),
    "compiled functions": (njit(named), njit(other)),
    "builtins": (min, max),
    "places": (made("f = lambda d: d[..., 0]"), made("f = lambda d: d[..., 1]")),
    "ranges": (closure(range(3)), closure(range(4))),
    "ufuncs": (np.exp, np.cos),
    "estimators": (PCA(2), PCA(3)),
    "kinds of estimators": (PCA(), StandardScaler()),
    "steps": (make_pipeline(PCA(2)), make_pipeline(PCA(3))),
    "functions of estimators": (FunctionTransformer(closure(1)), FunctionTransformer(closure(2))),
    "the end of a long parameter": (
        FunctionTransformer(named, kw_args=LONG),
        FunctionTransformer(named, kw_args={"vocabulary": [*LONG["vocabulary"][:-1], "x"]}),
    ),
    "fitted or not": (StandardScaler(), StandardScaler().fit([[1.0], [2.0]])),
    "what was learned": (
        KNeighborsTransformer().fit(np.arange(9.0)[:, None]),
        KNeighborsTransformer().fit(np.arange(9.0)[:, None] + 1),
    ),
    "random states": (np.random.default_rng(0), np.random.default_rng(1)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_differs_is_told_apart(name: str) -> None:
    one, two = (json.dumps(identity(value), sort_keys=True) for value in PAIRS[name])
    assert one != two


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_again(name: str) -> None:
    one, two = PAIRS[name]
    assert identity(one) == identity(one)
    assert identity([one, two]) == identity([one, two])


def test_equal_contents_are_the_same() -> None:
    assert identity(closure(1.5)) == identity(closure(1.5))
    assert identity(Callable(3)) == identity(Callable(3))
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    assert identity(np.arange(9)[::2]) == identity(np.arange(9)[::2].copy())


def test_a_function_that_calls_itself() -> None:
    again = made("def f(n): return 1 if n < 2 else n * f(n - 1)")
    assert identity(again) == identity(again)


def test_another_process_says_the_same() -> None:
    """Pairs are made anew there: no address may be in what is said."""
    code = (
        "import json\n"
        "from dataworth.inputs.identity import identity\n"
        "from tests.inputs.test_identity import PAIRS\n"
        "print(json.dumps({k: identity(v) for k, v in PAIRS.items()}, sort_keys=True))\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    here = {k: identity(v) for k, v in PAIRS.items()}
    assert json.loads(done.stdout) == json.loads(json.dumps(here))


def test_what_cannot_be_told_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="checkpoint must be None with parameters whose contents"):
        identity(closure(iter([1])))
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    steps = iter(range(100))
    valuator = KNNShapley(weights=lambda d: d * 0 + (next(steps) < 1000)).fit(X, y)
    valuator.value(X[:3], y[:3])
    with pytest.raises(InputError, match="checkpoint must be None .*range_iterator in weights"):
        valuator.value(X[:3], y[:3], checkpoint=tmp_path)


@pytest.mark.parametrize("pair", ["closures", "defaults", "globals", "callable objects"])
def test_a_checkpoint_of_other_weights_is_refused(pair: str, tmp_path: Path) -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2

    def valued(function: Any) -> Any:
        def weights(d: Any) -> Any:
            return np.clip(np.asarray(function(d), dtype=float), 0, 1)

        valuator = KNNShapley(weights=weights).fit(X, y)
        return valuator.value(X[:3], y[:3], checkpoint=tmp_path).values

    one, two = PAIRS[pair]
    first = valued(one)
    np.testing.assert_array_equal(valued(one), first)
    with pytest.raises(InputError, match="checkpoint must be of the same data and parameters"):
        valued(two)
