"""Training points among the validation points are noticed, and coincidences are not."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from dataworth import KNNShapley
from dataworth.errors import ReadingWarning
from dataworth.training.copies import training_points_among

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
MESSAGE = r"{} of the {} validation points are training points too.* value\(\) without"


def by_hand(points: Any, codes: Any, queries: Any, query_codes: Any) -> int:
    known = list(zip(points.tolist(), codes.tolist(), strict=True))
    asked = zip(queries.tolist(), query_codes.tolist(), strict=True)
    return sum(row in known for row in asked)


def test_copies_are_counted() -> None:
    for n in (10, 30, 60):
        for kind in (np.float64, np.float32):
            got = training_points_among(X.astype(kind), y, X[:n].astype(kind), y[:n])
            assert got == n
        sparse = csr_array(X * (X > 0))
        assert training_points_among(sparse, y, sparse[:n], y[:n]) == n
    mixed = np.vstack([X[:15], X[:25] + 1.0])
    codes = np.concatenate([y[:15], y[:25]])
    assert training_points_among(X, y, mixed, codes) == by_hand(X, y, mixed, codes) == 15
    assert training_points_among(X, y, X[:20], 1 - y[:20]) == 0  # of another class
    assert training_points_among(X, y, X[:9], y[:9]) == 0  # too few to say
    zeros = np.where(X > 0, X, 0.0)
    assert training_points_among(zeros, y, np.where(zeros == 0, -0.0, zeros), y) == 60


def test_coincidences_are_no_reason_to_warn() -> None:
    for n_rows in (2, 8, 30):
        for seed in range(20):
            draw = np.random.default_rng(seed)
            points = draw.integers(0, 2, (200, n_rows.bit_length() - 1)).astype(float)
            queries = draw.integers(0, 2, (100, points.shape[1])).astype(float)
            codes, asked = draw.integers(0, 2, 200), draw.integers(0, 2, 100)
            assert training_points_among(points, codes, queries, asked) == 0


def test_a_warning_points_to_value() -> None:
    valuator = KNNShapley(n_neighbors=3).fit(X, y)
    with pytest.warns(ReadingWarning, match=MESSAGE.format(60, 60)):
        valuator.value(X, y)
    valuator.value(X + 0.1, y)  # warnings are errors here
    valuator.value()
    frame = pd.DataFrame(X, columns=list("abc")).assign(c=np.where(X[:, 2] > 0, "up", "down"))
    valuator = KNNShapley(n_neighbors=3).fit(frame, y)
    with pytest.warns(ReadingWarning, match=MESSAGE.format(20, 20)):
        valuator.value(frame[:20], y[:20])
    with pytest.warns(ReadingWarning, match=MESSAGE.format(60, 60)):
        KNNShapley(game="regression").fit(X, X[:, 0]).value(X, X[:, 0])
