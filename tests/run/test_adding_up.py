"""Sums that depend neither on threads nor on memory."""

from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from tests.test_estimator import cloud

EVERY = [
    {"metric": "cosine"},
    {"weights": "uniform"},
    {"weights": "linear"},
    {"max_rank": 30},
    {"weights": "uniform", "max_rank": np.int64(30)},
    {"n_bits": 8},
]
REAL: dict[str, Any] = {"n_bits": None, "max_rank": 30}  # the vote needs whole weights


@pytest.mark.parametrize(
    ("game", "rest"),
    [
        *((game, rest) for game in ("soft", "hard", "regression") for rest in EVERY),
        ("soft", REAL),
        ("regression", REAL),
    ],
)
def test_threads_and_memory_do_not_change_a_bit(game: Any, rest: dict[str, Any]) -> None:
    X, y, X_val, y_val = cloud(1, 700, 53, 3)
    ref = KNNShapley(game=game, **rest).fit(X, y).value(X_val, y_val)
    for n_jobs in (1, 2, 3, -1):
        for working_memory in (1e-9, 0.02, 256):
            valuator = KNNShapley(game=game, n_jobs=n_jobs, working_memory=working_memory, **rest)
            got = valuator.fit(X, y).value(X_val, y_val)
            for name in ("values", "lower", "upper"):
                np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


def test_nor_do_they_with_many_features() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((9000, 300)), rng.integers(0, 2, 9000)
    X_val, y_val = rng.standard_normal((300, 300)), rng.integers(0, 2, 300)
    ref = None
    for n_jobs, working_memory in ((1, 256), (1, 1), (2, 256), (2, 3)):
        valuator = KNNShapley(weights="uniform", n_jobs=n_jobs, working_memory=working_memory)
        got = valuator.fit(X, y).value(X_val, y_val).values
        ref = got if ref is None else ref
        np.testing.assert_array_equal(got, ref)


@pytest.mark.parametrize(
    "rest",
    [
        {"weights": "uniform"},
        {"weights": "uniform", "max_rank": "sqrt"},
        {"weights": "linear"},
        {"game": "hard"},
    ],
)
def test_nor_do_they_where_training_points_judge_each_other(rest: dict[str, Any]) -> None:
    X, y, _, _ = cloud(2, 131, 1, 3)
    ref = KNNShapley(**rest).fit(X, y).value()
    for n_jobs in (1, 2):
        for working_memory in (1e-9, 0.004, 256):  # tables of 1, 3 and all rows
            valuator = KNNShapley(n_jobs=n_jobs, working_memory=working_memory, **rest)
            got = valuator.fit(X, y).value()
            for name in ("values", "lower", "upper", "agreement", "suggested"):
                np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))
