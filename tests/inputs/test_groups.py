"""Values by data owner."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataworth import DataValues


def made(values: Any, lower: Any = None, upper: Any = None) -> DataValues:
    array = np.asarray(values, dtype=np.float64)
    return DataValues(
        values=array,
        lower=array if lower is None else np.asarray(lower),
        upper=array if upper is None else np.asarray(upper),
        index=np.arange(array.size),
        labels=np.zeros(array.size, dtype=np.int64),
        params={},
        n_validation=1,
        weight_error=0.0,
        version="0.1.0",
    )


points = st.lists(
    st.tuples(st.floats(-1e9, 1e9), st.sampled_from(["Ann", "Bob", "Cy"])), min_size=1, max_size=30
)


@given(points, st.randoms(use_true_random=False))
def test_sums_are_exact_and_do_not_depend_on_the_order(rows: list[Any], random: Any) -> None:
    table = made([v for v, _ in rows]).by([g for _, g in rows])
    total = float(sum(Fraction(v) for v, _ in rows))
    for row in table:
        mine = [v for v, g in rows if g == row["group"]]
        assert row["count"] == len(mine)
        assert row["sum"] == row["lower"] == row["upper"] == float(sum(map(Fraction, mine)))
        assert row["mean"] == row["sum"] / len(mine)
        assert np.isnan(row["share"]) if total == 0 else row["share"] == row["sum"] / total
    assert sorted(table["group"]) == sorted({g for _, g in rows})
    assert (np.diff(table["sum"]) <= 0).all()
    random.shuffle(rows)
    again = made([v for v, _ in rows]).by([g for _, g in rows])
    for name in table.dtype.names or ():
        np.testing.assert_array_equal(again[name], table[name])


def test_shares_and_bounds() -> None:
    table = made([0.3, 0.5, -0.4], [0.2, 0.4, -0.5], [0.4, 0.5, 0.0]).by([7, 8, 7])
    assert table["group"].tolist() == [8, 7]
    assert table["lower"].tolist() == [0.4, pytest.approx(-0.3)]
    assert table["upper"].tolist() == [0.5, 0.4]
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["share"].tolist() == pytest.approx([0.5 / 0.4, -0.1 / 0.4])
    assert pd.DataFrame(table).shape == (2, 7)
    assert math.isnan(made([1.0, -1.0]).by(["a", "b"])["share"][0])


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, pa.array, np.array, list])
@pytest.mark.parametrize("names", [["b", "a", "b"], [2, 1, 2], [True, False, True]])
def test_groups_of_every_kind(kind: Any, names: list[Any]) -> None:
    table = made([1.0, 2.0, 4.0]).by(kind(names))
    assert table["group"].tolist() == [names[0], names[1]]
    assert table["sum"].tolist() == [5.0, 2.0]


def test_groups_that_cannot_be_used() -> None:
    values = made([1.0, 2.0])
    with pytest.raises(ValueError, match=r"one entry per training point, 2; got shape \(3,\)"):
        values.by(["a", "b", "c"])
    with pytest.raises(ValueError, match="groups must not have missing entries; row 1"):
        values.by(pl.Series(["a", None]))
    with pytest.raises(TypeError, match="all of one kind; got NoneType and str"):
        values.by(["a", None])
    with pytest.raises(TypeError, match="all of one kind; got int and str"):
        values.by(np.array(["a", 1], dtype=object))
    with pytest.raises(TypeError, match="got dtype float64"):
        values.by([0.5, 1.0])
