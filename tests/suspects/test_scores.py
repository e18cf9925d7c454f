"""Scores: value and agreement, each standardised, added up."""

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.suspects import scores
from dataworth.suspects.scores import far_off, score

RNG = np.random.default_rng(0)
VALUES, AGREEMENT = RNG.normal(size=50), RNG.random(50)


def standardised(column: np.ndarray) -> np.ndarray:
    return (column - np.mean(column)) / np.sqrt(np.mean((column - np.mean(column)) ** 2))


def test_value_and_agreement_are_standardised_and_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "AGREEMENT_WEIGHT", 0.7)
    ref = standardised(VALUES) + 0.7 * standardised(AGREEMENT)
    np.testing.assert_allclose(score(VALUES, AGREEMENT), ref, rtol=0, atol=1e-12)


def test_units_do_not_matter() -> None:
    ref = score(VALUES, AGREEMENT)
    np.testing.assert_allclose(score(1e-6 * VALUES + 3, 50 * AGREEMENT), ref, rtol=0, atol=1e-9)


def test_without_agreement_the_order_is_that_of_the_values() -> None:
    got = score(VALUES, None)
    np.testing.assert_array_equal(np.argsort(got, kind="stable"), np.argsort(VALUES, kind="stable"))


@pytest.mark.parametrize("constant", [np.zeros(50), np.full(50, 0.1), 0.1 + 1e-17 * VALUES])
def test_a_column_that_is_the_same_everywhere_adds_nothing(constant: np.ndarray) -> None:
    alone = scores.AGREEMENT_WEIGHT * score(AGREEMENT, None)
    np.testing.assert_array_equal(score(constant, AGREEMENT), alone)
    np.testing.assert_array_equal(score(VALUES, constant), score(VALUES, None))


def test_agreement_that_is_not_known_adds_nothing() -> None:
    some = AGREEMENT.copy()
    some[:10] = np.nan
    ref = score(VALUES, None)
    ref[10:] += scores.AGREEMENT_WEIGHT * standardised(AGREEMENT[10:])
    np.testing.assert_allclose(score(VALUES, some), ref, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(score(VALUES, np.full(50, np.nan)), score(VALUES, None))


def test_errors_far_above_the_middle_half_are_far_off() -> None:
    errors = np.arange(1.0, 101.0)  # the middle half is from 25.75 to 75.25: its range is 49.5
    errors[[3, 7]] = 75.25 + 3 * 49.5 + np.array([-3.0, 4.0])  # which moves the quartiles by 1
    far = far_off(-(errors**2))
    np.testing.assert_array_equal(np.flatnonzero(far), [7])
    np.testing.assert_array_equal(far_off(-((1e6 * errors) ** 2)), far)


@pytest.mark.parametrize(
    "agreement", [[], [np.nan] * 5, [-4.0] * 9 + [-1e9], [0.0, 0.0, 0.0, 0.0, -1.0]]
)
def test_nothing_is_far_off_where_nothing_is_usual(agreement: list[float]) -> None:
    assert not far_off(np.array(agreement)).any()


def test_far_off_leaves_out_whom_nobody_was_asked_about() -> None:
    agreement = -(np.array([1.0, 2.0, 3.0, 2.0, 90.0, np.nan]) ** 2)
    np.testing.assert_array_equal(np.flatnonzero(far_off(agreement)), [4])


def test_a_target_far_from_what_the_others_say_is_named() -> None:
    X = RNG.normal(size=(200, 2))
    y = X.sum(axis=1) + 0.1 * RNG.normal(size=200)
    y[[5, 50]] *= -100
    values = KNNShapley(game="regression", progress=False).fit(X, y).value(ruler=2)
    n = int(values.far_off.sum())
    assert {5, 50} <= set(np.flatnonzero(values.far_off).tolist())
    assert n <= 25  # others have one of the two among their neighbours
    assert f"{n} targets are far from what the others say." in values.facts()
    y[5] = 1e30
    assert KNNShapley(game="regression", progress=False).fit(X, y).value().far_off[5]
    classes = KNNShapley(progress=False).fit(X, y > 0).value()
    assert not classes.far_off.any()
    assert classes.far_off_said == ""


def test_no_target_of_even_errors_is_far_off() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 2)), rng.uniform(size=100)
    values = KNNShapley(game="regression", progress=False).fit(X, y).value()
    assert not values.far_off.any()
    assert values.far_off_said == ""


def test_nobody_is_far_off_of_whom_nobody_says_anything() -> None:
    X = np.append(np.linspace(0, 1, 40), 100.0)[:, None]
    y = np.append(RNG.normal(size=40), 900.0)
    valuator = KNNShapley(game="regression", n_neighbors=3, weights="uniform", radius=3.0)
    values = valuator.set_params(progress=False).fit(X, y).value()
    assert values.suggested is not None
    assert values.suggested[40] == 900.0
    assert not values.far_off[40]
