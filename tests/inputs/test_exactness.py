"""Integers that a float64 would round are refused, whatever holds them."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dataworth import KNNShapley
from dataworth.inputs import checks, exactness

LARGE, FRACTIONS = [2**53 + 1, 5, 7], [0.5, 1.5, 2.5]
COLUMNS = {"a": LARGE, "b": FRACTIONS}
REFUSED = r"X must hold integers of at most 2\^53; larger ones( in column 'a')? would be rounded"


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": LARGE}),
        pd.DataFrame(COLUMNS),
        pd.DataFrame({**COLUMNS, "a": pd.Series(LARGE, dtype=object)}),
        pd.DataFrame({**COLUMNS, "a": pd.Series([LARGE[0], None, 5], dtype="Int64")}),
        pl.DataFrame(COLUMNS),
        pl.DataFrame({**COLUMNS, "a": [-(2**53) - 1, None, 5]}),
        pl.DataFrame({**COLUMNS, "a": pl.Series(LARGE, dtype=pl.Int128)}),
        pa.table(COLUMNS),
        np.array(LARGE)[:, None],
        np.array([LARGE, FRACTIONS], dtype=object).T,
        np.array([[10**400], [1.5]], dtype=object),
        [[2**53 + 1, 0.5], [5, 1.5]],
        ((2**53 + 1, 0.5), (5, 1.5)),
    ],
)
def test_no_feature_is_rounded(X: Any) -> None:
    with pytest.raises(ValueError, match=REFUSED):
        checks.matrix(X, "X")


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [2**53, 5]}),
        pl.DataFrame({"a": pl.Series([2**53, 5], dtype=pl.Int128)}),
        [[2**53, 0.5], [5, 1.5]],
        [[2.0**60, 0.5], [5, 1.5]],
        np.array([[2**53, 0.5], [5, 1.5]], dtype=object),
    ],
)
def test_others_are_taken(X: Any) -> None:
    got = checks.matrix(X, "X")
    assert got.dtype == np.float64
    assert got[0, 0] >= 2**53


@pytest.mark.parametrize(
    "pair",
    [
        (Decimal(10**40), Decimal(10**40 + 1)),
        (Decimal("0.1"), Decimal("0.1" + 30 * "0" + "1")),
        (Decimal(2**53), Decimal(2**53 + 1)),
        (2.0**53, 2**53 + 1),
    ],
)
def test_a_short_number_beside_a_long_one(pair: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="X must hold numbers that differ .*; column 'a' has"):
        exactness.told_apart(exactness.large([*pair, pair[0]]), "X", "a")


def test_decimals_that_differ_are_taken() -> None:
    long = [Decimal(10**30), Decimal(10**29)]
    assert exactness.large([Decimal("0.1"), Decimal("0.3")]) == []
    found = exactness.told_apart(exactness.large([*long, 5, Decimal("0.1")]), "X", "a")
    assert set(found.values()) == set(long)


def test_labels_of_more_than_64_bits_are_text() -> None:
    X = np.arange(4.0)[:, None]
    for y in ([2**100, 1] * 2, pl.Series([2**100, 1] * 2, dtype=pl.Int128)):
        with pytest.raises(ValueError, match="y must hold .*at most 64 bits.*larger one"):
            KNNShapley().fit(X, y)
    labels = [3, 1, 3, 1]
    got = KNNShapley().fit(X, pl.Series(labels, dtype=pl.Int128)).value()
    np.testing.assert_array_equal(got.values, KNNShapley().fit(X, labels).value().values)


def test_large_numbers_are_those_that_may_be_rounded() -> None:
    assert exactness.large(np.array([2**53, 2**53, -(2**60), 3])) == [-(2**60), 2**53]
    long = Decimal("0.12345678901234567")
    assert exactness.large([long, Decimal("0.5"), Decimal("NaN"), 0.1, 2**53]) in (
        [long, 2**53],
        [2**53, long],
    )
