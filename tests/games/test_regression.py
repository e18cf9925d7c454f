"""The regression game in any unit of its targets."""

import math
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley, OutOfBagForest
from tests import naive

ROUGHLY = [{"weights": "uniform"}, {}, {"n_bits": None}, {"semivalue": "banzhaf"}]


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e18, -1e-8])
@pytest.mark.parametrize("spread", [1e-8, 1.0, 1e100])
@pytest.mark.parametrize("n_bits", [3, None])
def test_regression_in_any_unit(offset: float, spread: float, n_bits: int | None) -> None:
    """Values scale with the square of the unit, and nothing depends on the offset."""
    rng = np.random.default_rng(0)
    n, row = 60, np.sort(rng.random(60))[None]
    errors = rng.integers(-8, 9, n) / 8.0
    plain = KNNShapley(
        game="regression",
        weights=lambda d: 1.0 - 0.5 * d,  # never 0, so that all are players
        n_bits=n_bits,
        max_rank=20,
        metric="precomputed",
    )
    if abs(offset) > 0 and spread < 1e-12 * abs(offset):
        return  # such errors are lost in the targets themselves
    targets = offset + errors * spread
    unit = np.abs(targets - offset).max() if offset else spread
    got = plain.fit(None, targets).value(row, [offset])
    ref = plain.fit(None, (targets - offset) / unit).value(row, [0.0])
    np.testing.assert_allclose(got.values / unit**2, ref.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got.upper / unit**2, ref.upper, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got.lower / unit**2, ref.lower, rtol=0, atol=1e-12)
    raw = plain.set_params(center=False).fit(None, targets).value(row, [offset])
    nothing = plain.fit(None, (targets - offset) / unit).value(row, [0.0])
    first = (offset / unit) ** 2 / n  # what U(empty set) alone adds to each value
    np.testing.assert_allclose(
        raw.values / unit**2, nothing.values + first, rtol=1e-9, atol=1e-9 * max(first, 1.0)
    )
    assert (raw.upper - raw.lower).max() <= 3.0 * unit**2 + 1e-9 * max(abs(offset), spread) ** 2


@pytest.mark.parametrize("weights", ["uniform", "rbf", "linear"])
@pytest.mark.parametrize("n_bits", [3, None])
@pytest.mark.parametrize("target", [13_500.0, 1e100, -1e149])
def test_targets_that_all_equal_the_truth(weights: str, n_bits: int | None, target: float) -> None:
    """Every set but the empty one predicts without error, whatever the size of the targets."""
    X = [[0.0], [1.0], [2.0], [2.5]]
    rules: Any = {"game": "regression", "weights": weights, "n_bits": n_bits, "n_neighbors": 2}
    mean = KNNShapley(**rules).fit(X, [target] * 4).value([[0.1]], [target])
    assert not mean.values.any()  # as the empty set does then
    assert np.abs([mean.lower, mean.upper]).max() < 1e-300
    valuator = KNNShapley(**rules, center=False)
    got = valuator.fit(X, [target] * 4).value([[0.1]], [target])
    assert np.isfinite([got.values, got.lower, got.upper]).all()
    assert got.values.sum() == pytest.approx(target**2, rel=1e-9)


def by_enumeration(
    X: Any, y: Any, judges: list[tuple[list[int], int]], center: bool, **params: Any
) -> Any:
    """Values from the definition: pairs of those who are judged and the point that judges."""
    total = np.zeros(len(y))
    for players, judge in judges:
        distances = [abs(X[judge, 0] - X[i, 0]) for i in players]
        name, n_bits = params.get("weights", "rbf"), params.get("n_bits", 3)
        weights = naive.weights(name, distances, n_bits, smallest=1e-140)
        targets = [float(y[i]) for i in players]
        order = naive.ranking(distances)
        game = naive.squared_error(order, targets, weights, float(y[judge]), 2, center)
        worth = naive.banzhaf if params.get("semivalue") == "banzhaf" else naive.shapley
        total[players] += worth(len(players), game)
    return total / len(judges)


@pytest.mark.parametrize("params", ROUGHLY)
@pytest.mark.parametrize("center", [True, False])
def test_the_mean_is_that_of_the_points_that_are_judged(
    params: dict[str, Any], center: bool
) -> None:
    """All points for judges from outside, the others in leave-one-out, and the rest in folds."""
    rng = np.random.default_rng(5)
    X, y = rng.random((8, 1)), rng.normal(size=8) + 3.0
    y[2] = 40.0  # an outlier, which moves the mean of whoever counts it
    valuator = KNNShapley(game="regression", n_neighbors=2, center=center, **params).fit(X, y)
    everyone = list(range(8))
    rest = [([i for i in everyone if i != j], j) for j in everyone]
    halves = [
        ([i for i in everyone if i % 2 != part], j)
        for part in range(2)
        for j in everyone
        if j % 2 == part
    ]
    cv = [(np.arange(1 - part, 8, 2), np.arange(part, 8, 2)) for part in range(2)]
    for got, judges in ((valuator.value(), rest), (valuator.value(cv=cv), halves)):
        ref = by_enumeration(X, y, judges, center, **params)
        slack = 1e-12 * 40.0**2 + got.weight_error
        np.testing.assert_allclose(got.values, ref, rtol=0, atol=slack)
    outside = KNNShapley(game="regression", n_neighbors=2, center=center, **params)
    got = outside.fit(X[:7], y[:7]).value(X[7:], y[7:])
    ref = by_enumeration(X, y, [(everyone[:7], 7)], center, **params)[:7]
    slack = 1e-12 * 40.0**2 + got.weight_error
    np.testing.assert_allclose(got.values, ref, rtol=0, atol=slack)


def test_what_the_mean_explains_is_nobody_s() -> None:
    """In leave-one-out, values add up to what neighbours explain beyond the mean of the others."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40) + 1e6
    got = KNNShapley(game="regression").fit(X, y).value()
    raw = KNNShapley(game="regression", center=False).fit(X, y).value()
    others = (y.sum() - y) / 39
    gap = np.mean(np.square(y) - np.square(y - others))  # between the two empty sets
    assert math.fsum(raw.values) - math.fsum(got.values) == pytest.approx(gap, rel=1e-12)
    assert abs(math.fsum(got.values)) < 4 * y.var() < 1e-10 * math.fsum(raw.values)


@pytest.mark.parametrize("n_bits", [3, None])
@pytest.mark.parametrize("weights", ["rbf", "uniform"])
@pytest.mark.parametrize("how", [{}, {"cv": 3}])
def test_large_targets_lose_no_digits(n_bits: int | None, weights: str, how: Any) -> None:
    """Targets near a million that differ by little are as good as their differences."""
    rng = np.random.default_rng(2)
    X, small = rng.normal(size=(30, 2)), rng.integers(-512, 513, 30) / 1024
    valuator = KNNShapley(game="regression", n_bits=n_bits, weights=weights)
    ref = valuator.fit(X, small).value(**how)
    for offset in (2.0**20, -1e6, 2.0**40):
        assert np.array_equal((small + offset) - offset, small)
        got = valuator.fit(X, small + offset).value(**how)
        np.testing.assert_allclose(got.values, ref.values, rtol=0, atol=1e-15)


def test_center_is_a_rule_of_regression_alone() -> None:
    X, y = [[0.0], [1.0]], [0, 1]
    said = "center must be True with game='soft'; center=False is for game='regression' only"
    with pytest.raises(ValueError, match=said):
        KNNShapley(center=False).fit(X, y)
    with pytest.raises(TypeError, match="center must be True or False; got 1"):
        KNNShapley(game="regression", center=1).fit(X, y)  # type: ignore[arg-type]


@pytest.mark.parametrize("encoder", [None, OutOfBagForest(), [None, OutOfBagForest()]])
@pytest.mark.parametrize("how", [{"ruler": 2}, {"cv": 3}])
def test_logarithms_are_valued_and_numbers_are_shown(encoder: Any, how: dict[str, Any]) -> None:
    """An encoder, folds and the ruler see logarithms; what comes out is in units of the targets."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 2))
    y = np.exp(X[:, 0] + 0.1 * rng.normal(size=120) + 12.0).round()
    y[5] *= 10
    params = {"game": "regression", "encoder": encoder, "progress": False}
    ref = KNNShapley(**params).fit(X, np.log(y)).value(**how)
    valuator = KNNShapley(**params, log=True).fit(X, y)
    got = valuator.value(**how)
    for name in ("values", "agreement", "score"):
        np.testing.assert_allclose(getattr(got, name), getattr(ref, name), rtol=1e-12, atol=1e-15)
    assert (got.scale, got.ruler) == (ref.scale, ref.ruler)
    np.testing.assert_array_equal(got.labels, y)
    assert got.suggested is not None
    assert ref.suggested is not None
    np.testing.assert_allclose(got.suggested, np.exp(ref.suggested), rtol=1e-12)
    assert got.suspects_first[0] == 5
    assert got.facts()[-1].endswith("of the logarithms' variance.")
    why = valuator.explain([5])[0]
    assert why.label == y[5]
    assert set(why.neighbors["label"]) <= set(y)
    assert y.min() < why.suggested < y[5]


def test_owners_and_validation_points_are_in_logarithms_too() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 2)), np.exp(rng.normal(size=30))
    names = ["Ann", "Bob", "Cleo"] * 8
    ref = KNNShapley(game="regression").fit(X[:24], np.log(y[:24]))
    got = KNNShapley(game="regression", log=True).fit(X[:24], y[:24])
    after = ref.value(X[24:], np.log(y[24:])), got.value(X[24:], y[24:])
    np.testing.assert_array_equal(after[1].values, after[0].values)
    hurts = got.explain([0])[0].hurts
    assert set(hurts["label"].tolist()) <= {float(f"{t:.13g}") for t in y[24:]}
    paid = ref.value_owners(names), got.value_owners(names)
    np.testing.assert_array_equal(paid[1].values, paid[0].values)
    assert paid[1].scale == paid[0].scale


def test_logarithms_are_a_rule_of_regression_alone() -> None:
    X, y = [[0.0], [1.0], [2.0]], [1, 2, 3]
    said = "log must be False with game='soft'; log=True is for game='regression' only"
    with pytest.raises(ValueError, match=said):
        KNNShapley(log=True).fit(X, y)
    valuator = KNNShapley(game="regression").fit(X, y).set_params(log=True)
    with pytest.raises(ValueError, match="log must not change after fit"):
        valuator.value()
