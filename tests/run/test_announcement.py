"""Long runs are announced, with what would make them cheaper."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.run import adding_up, announcement
from tests.test_estimator import cloud


class Started(Exception):
    pass


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (
            {"game": "hard", "n_neighbors": 300, "n_bits": 6},
            "a smaller n_neighbors or fewer n_bits",
        ),
        ({"n_neighbors": 900, "n_bits": None, "max_rank": 950}, "or n_bits=8.$"),
        ({}, ""),
    ],
)
def test_a_long_run_is_announced(
    params: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it starts, with what would make it cheaper."""

    def start(*_: Any, **__: Any) -> None:
        raise Started

    monkeypatch.setattr(adding_up, "total", start)
    rng = np.random.default_rng(0)
    valuator = KNNShapley(**params).fit(rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000))
    caught = pytest.warns(UserWarning, match=said) if said else nullcontext()
    with caught, pytest.raises(Started):
        valuator.value()


def test_the_repeats_of_a_ruler_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _, _ = cloud(0, 60, 1, 2)
    monkeypatch.setattr(announcement, "LONG", 0.0)
    with pytest.warns(UserWarning, match="validation points takes .* s, 3 times; .* smaller ruler"):
        KNNShapley().fit(X, y).value(ruler=2)


def test_owners_take_their_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Points alone would be quick, and owners cannot have bounds."""

    def start(*_: Any, **__: Any) -> None:
        raise Started

    monkeypatch.setattr(adding_up, "total", start)
    X, y, _, _ = cloud(0, 1200, 1, 2)
    valuator = KNNShapley(n_neighbors=40).fit(X, y)
    said = "a smaller n_neighbors or fewer n_bits or method='sampling'.$"
    with pytest.warns(UserWarning, match=said), pytest.raises(Started):
        valuator.value_owners(np.arange(1200) % 400, method="exact")
    with pytest.raises(Started):
        valuator.value()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (61.0, "61 seconds"),
        (95.0, "1.6 minutes"),
        (5 * 3600.0, "5 hours"),
        (40 * 86400.0, "40 days"),
    ],
)
def test_lengths_of_time_are_said_as_people_do(
    seconds: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, X_val, y_val = cloud(0, 30, 10, 2)
    valuator = KNNShapley(n_jobs=1).fit(X, y)
    each = seconds / len(y_val)
    monkeypatch.setattr("dataworth.settings.Settings.seconds", lambda *_: each)
    with pytest.warns(UserWarning, match=f"this run will take about {said}, as each of 10 "):
        valuator.value(X_val, y_val)
