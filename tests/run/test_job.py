"""The work of one worker: how many rows it holds, and what single points add."""

from typing import Any

import pytest

from dataworth import KNNShapley
from dataworth.neighbors import distances as neighbors
from tests.test_estimator import cloud
from tests.training import test_folds


@pytest.mark.parametrize(("working_memory", "rows"), [(1e-9, 1), (0.02, 3), (256, 8)])
def test_working_memory_sets_how_many_rows_are_held(
    working_memory: float, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    plain = neighbors.distances

    def spy(queries: Any, *rest: Any) -> Any:
        seen.append(len(queries))
        return plain(queries, *rest)

    X, y, X_val, y_val = cloud(1, 700, 16)
    valuator = KNNShapley(working_memory=working_memory).fit(X, y)
    monkeypatch.setattr(neighbors, "distances", spy)
    valuator.value(X_val, y_val)
    assert max(seen) == rows
    assert sum(seen) == 16


def test_adaptive_rank_from_features() -> None:
    X, y = test_folds.cloud()
    exact = KNNShapley().fit(X, y).value(X[:9], y[:9])
    got = KNNShapley(max_rank="adaptive").fit(X, y).value(X[:9], y[:9])
    assert (got.lower - 1e-12 <= exact.values).all()
    assert (exact.values <= got.upper + 1e-12).all()
