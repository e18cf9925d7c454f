"""Sums that depend neither on threads nor on memory."""

from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from tests.test_estimator import cloud


@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
@pytest.mark.parametrize(
    "rest",
    [
        {"metric": "cosine"},
        {"weights": "uniform"},
        {"max_rank": 30},
        {"n_bits": 8},
        {"n_bits": None, "max_rank": 30},
    ],
)
def test_threads_and_memory_do_not_change_a_bit(game: Any, rest: dict[str, Any]) -> None:
    if game == "hard" and rest.get("n_bits", 3) is None:
        return  # the vote needs whole weights
    X, y, X_val, y_val = cloud(1, 700, 53, 3)
    ref = KNNShapley(game=game, **rest).fit(X, y).value(X_val, y_val)
    for n_jobs in (1, 2, 3, -1):
        for working_memory in (1e-9, 0.02, 256):
            valuator = KNNShapley(game=game, n_jobs=n_jobs, working_memory=working_memory, **rest)
            got = valuator.fit(X, y).value(X_val, y_val)
            for name in ("values", "lower", "upper"):
                np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))
