"""Scores: value and agreement, each standardised, added up."""

import numpy as np
import pytest

from dataworth.suspects import scores
from dataworth.suspects.scores import score

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
