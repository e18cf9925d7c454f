"""Rules for ties of the hard game, against enumeration."""

import math
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from tests import naive

WORTH = {"right": 1.0, "wrong": 0.0, "half": 0.5}


@pytest.mark.parametrize("ties", WORTH)
@pytest.mark.parametrize("multiclass", ["one-vs-one", "direct"])
@pytest.mark.parametrize("seed", range(40))
def test_equals_enumeration(ties: str, multiclass: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, n_classes, n_bits = int(rng.integers(1, 9)), int(rng.integers(1, 5)), 2 + seed % 2, 2
    X, X_val = rng.integers(0, 4, (n, 2)).astype(float), rng.integers(0, 4, (3, 2)).astype(float)
    y = rng.integers(0, n_classes, n)
    y_val = rng.choice(y, 3)
    weights = ["rbf", "linear", "inverse", "uniform"][seed % 4]
    params: dict[str, Any] = {"n_neighbors": k, "weights": weights, "n_bits": n_bits}
    params |= {"multiclass": multiclass, "ties": ties}
    valuator = KNNShapley(game="hard", **params)
    got = valuator.fit(X, y).value(X_val, y_val).values
    vote = naive.direct_vote if multiclass == "direct" else naive.hard_vote
    rows = []
    for x, label in zip(X_val.tolist(), y_val.tolist(), strict=True):
        distances = [math.dist(x, p) for p in X.tolist()]
        weight = naive.weights(weights, distances, n_bits)
        game = vote(naive.ranking(distances), y.tolist(), weight, label, k, WORTH[ties])
        rows.append(naive.shapley(n, game))
    np.testing.assert_allclose(got, np.mean(rows, axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", WORTH)
@pytest.mark.parametrize("multiclass", ["one-vs-one", "direct"])
@pytest.mark.parametrize("max_rank", [3, 8])
def test_bounds_hold_the_exact_value(ties: str, multiclass: str, max_rank: int) -> None:
    rng = np.random.default_rng(0)
    X, X_val = rng.integers(0, 5, (40, 2)).astype(float), rng.integers(0, 5, (9, 2)).astype(float)
    y, y_val = rng.integers(0, 3, 40), rng.integers(0, 3, 9)
    params: dict[str, Any] = {"game": "hard", "multiclass": multiclass, "ties": ties, "n_bits": 2}
    exact = KNNShapley(**params).fit(X, y).value(X_val, y_val).values
    cut = KNNShapley(**params, max_rank=max_rank).fit(X, y).value(X_val, y_val)
    assert (cut.lower - 1e-12 <= exact).all()
    assert (exact <= cut.upper + 1e-12).all()


def test_a_tie_that_counts_as_wrong_is_the_vote_turned_round() -> None:
    """Between two classes the label wins strictly where its rival neither wins nor ties."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 6, (200, 2)).astype(float), rng.integers(0, 2, 200)
    right, wrong = (KNNShapley(game="hard", ties=ties).fit(X, y) for ties in ("right", "wrong"))
    turned = -right.value(X[:30] + 0.5, 1 - y[:30]).values
    np.testing.assert_allclose(wrong.value(X[:30] + 0.5, y[:30]).values, turned, rtol=0, atol=1e-13)


def test_bad_rules() -> None:
    X, y = [[0.0], [1.0]], [0, 1]
    with pytest.raises(ValueError, match="ties must be one of 'right', 'wrong', 'half'; got"):
        KNNShapley(game="hard", ties="none").fit(X, y)
    with pytest.raises(ValueError, match="ties must be 'right' with game='soft'"):
        KNNShapley(ties="half").fit(X, y)
