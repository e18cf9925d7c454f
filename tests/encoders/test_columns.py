"""How a column of each kind becomes features."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from dataworth import TableEncoder
from dataworth.arrays import Floats
from dataworth.encoders import columns
from dataworth.encoders.reading import Column

rng = np.random.default_rng(0)


def encoded(column: Any, other: Any = None, **params: Any) -> np.ndarray[Any, Any]:
    encoder = TableEncoder(**params).fit(pl.DataFrame({"a": column}, strict=False))
    return encoder.transform(pl.DataFrame({"a": column if other is None else other}, strict=False))


def test_numbers_are_standardised() -> None:
    numbers = rng.normal(5, 3, 50)
    expected = (numbers - numbers.mean()) / numbers.std()
    assert_allclose(encoded(numbers), expected[:, None], atol=1e-12)
    median = (np.median(numbers) - numbers.mean()) / numbers.std()
    assert_allclose(encoded(numbers, [5.0, None])[1], [median])


def test_missing_numbers_become_the_median_and_say_so() -> None:
    got = encoded([1.0, None, 4.0, 10.0, float("nan")])
    filled = np.array([1.0, 4.0, 4.0, 10.0, 4.0])
    assert_allclose(got[:, 0], (filled - filled.mean()) / filled.std(), atol=1e-12)
    assert_array_equal(got[:, 1], [0, 1, 0, 0, 1])


def test_numbers_of_any_size() -> None:
    for size in (1e-310, 1e-200, 1e200, 1.7e308):
        got = encoded(np.array([0.0, 0.5, 1.0]) * size)[:, 0]
        assert_allclose(got, encoded([0.0, 0.5, 1.0])[:, 0], atol=1e-9)
    hashes = np.array([2**64 - 1, 2**63, 5], dtype=np.uint64)
    assert np.isfinite(encoded(hashes)).all()
    with pytest.raises(ValueError, match=r"X must be finite; column 'a' is -inf in row 1"):
        encoded([0.0, -math.inf])


LARGE = [2**53, 2**53 + 1, 2**60]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(LARGE),
        pd.Series([*LARGE, None], dtype="Int64"),
        pd.Series([*LARGE, None], dtype=object),
        pd.Series([10**400, -(10**400), 5], dtype=object),
        pd.Series([Decimal(2**53), Decimal(2**53) + Decimal("0.1")]),
        pl.Series(LARGE),
        pl.Series([*LARGE, None]),
        pl.Series(LARGE, dtype=pl.UInt64),
        pl.Series(LARGE, dtype=pl.Int128),
        pl.Series([*(Decimal(v) for v in LARGE), None]),
        pa.chunked_array([LARGE]),
        pa.chunked_array([[*LARGE, None]]),
    ],
)
def test_no_two_numbers_become_one(column: Any) -> None:
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    table = make[type(column).__module__.split(".")[0]]({"a": column})
    message = r"X must (hold numbers that differ after rounding|be finite; column 'a' is inf)"
    with pytest.raises(ValueError, match=message):
        TableEncoder().fit(table)


def test_numbers_that_stay_apart_are_taken_and_compared_with_those_of_training() -> None:
    """Large ones, also those that are rounded, as long as no two of them become one."""
    for column in ([2**53, 2**53 + 2], [2**60 + 1, 2**61 + 1, 3], [-(2**63), 2**63 - 1]):
        got = encoded(column)
        assert np.unique(got[:, 0]).size == len(column)
        assert_array_equal(encoded(column, column[::-1]), got[::-1])
    encoded([2**53 + 1, 5], [2**53 + 4, 7])
    for other in ([2**53], [2**53, None]):
        message = "column 'a' has 9007199254740992 and 9007199254740993. Make it a column of text"
        with pytest.raises(ValueError, match=message):
            encoded([2**53 + 1, 5], other)
    with pytest.raises(ValueError, match="X must hold integers of at most 2\\^53"):
        TableEncoder().fit(np.array([[2**53 + 1], [5]]))


def test_integers_of_128_bits() -> None:
    small = pl.Series([1, 2, None, 5], dtype=pl.Int128)
    assert_array_equal(encoded(small), encoded([1, 2, None, 5]))
    with pytest.raises(ValueError, match="X must hold integers of at most 64 bits; got larger on"):
        encoded(pl.Series([2**100, 1], dtype=pl.Int128))


def test_categories_are_one_feature_for_each_level() -> None:
    column = ["b", "a", None, "a", "b", "c", None, "a", "d"]
    got = encoded(pl.Series(column, dtype=pl.Categorical))
    # missing, a and b, each seen more than once, and c and d together
    same = [[x == y or {x, y} == {"c", "d"} for y in column] for x in column]
    assert got.shape == (9, 4)
    assert_array_equal(got @ got.T, same)
    unseen = encoded(pl.Series(column, dtype=pl.Categorical), ["zz", "c", "a"])
    assert_array_equal(unseen[0], unseen[1])
    assert unseen[2] @ unseen[0] == 0


def test_many_levels_are_limited() -> None:
    column = [f"level {i}" for i in range(100) for _ in range(2 + (i < 7))]
    got = encoded(pl.Series(column, dtype=pl.Categorical), max_levels=7)
    assert got.shape[1] == 8
    assert got[:21].sum(axis=0)[:7].tolist() == [3.0] * 7
    assert encoded(pl.Series(column, dtype=pl.Categorical)).shape[1] == 41


def test_unseen_levels_where_none_is_rare() -> None:
    got = encoded(["a", "b"] * 5, ["c", "a", None])
    assert_array_equal(got[0], [0, 0])
    assert got[1].sum() == 1


def test_booleans_are_categories() -> None:
    for column in (
        [True, False, None, True, False, None],
        pd.Series([True, False, None, True, False, None], dtype=object),
    ):
        frame = pd.DataFrame({"a": column})
        got = TableEncoder().fit(frame).transform(frame)
        assert_array_equal(got @ got.T, np.tile(np.eye(3), (2, 2)))


def test_dates() -> None:
    start = dt.datetime(2024, 1, 1)
    hours = [start + dt.timedelta(hours=h) for h in range(0, 24 * 14, 6)]
    got = encoded(hours)
    assert_allclose(got.var(axis=0).sum(), 1.0)
    line, day = got[:, 0], got[:, 5:7]
    assert_allclose(np.diff(line), np.diff(line)[0])  # the time itself
    assert_allclose(day[::4], np.tile(day[0], (14, 1)), atol=1e-9)  # midnight is midnight
    assert_allclose(got[:28, 3:5], got[28:, 3:5], atol=1e-9)  # a Monday is a Monday
    gaps = encoded([*hours, None])
    assert gaps[:, 0].sum() == 1
    days = [h.date() for h in hours]
    assert_allclose(encoded(days), encoded([dt.datetime(d.year, d.month, d.day) for d in days]))
    assert (encoded(days, [None])[0] != 0).any()


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_dates_are_alike_in_every_library_and_zone(zone: str) -> None:
    moments = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=7 * h) for h in range(9)]
    ref = encoded([m.replace(tzinfo=None) for m in moments])
    away = pd.Series(moments).dt.tz_convert(zone)
    for frame in (
        pd.DataFrame({"a": away}),
        pd.DataFrame({"a": pd.Series(list(away), dtype=object)}),
        pl.DataFrame({"a": pl.Series(moments).dt.convert_time_zone(zone)}),
        pa.table({"a": pa.array(moments, type=pa.timestamp("ns", zone))}),
    ):
        assert_allclose(TableEncoder().fit(frame).transform(frame), ref, atol=1e-9)


def test_text_that_is_alike_is_near() -> None:
    column = [f"{w} number {i}" for i in range(30) for w in ("cement mixer", "garden hose")]
    got = encoded([*column, None])
    assert got.shape == (61, 51)
    assert_allclose(got[:, :50].var(axis=0).sum(), 1.0)
    kinds = np.arange(60) % 2
    distances = ((got[:60, None] - got[None, :60]) ** 2).sum(-1)
    same = kinds[:, None] == kinds[None, :]
    assert distances[same].mean() < distances[~same].mean() / 2
    unseen = encoded(column, ["cement mixers, new", ""])
    near = ((got[:60, :50] - unseen[0]) ** 2).sum(-1).argsort()[:10]
    assert (kinds[near] == 0).all()


def test_words_count_beside_letters() -> None:
    """abcabcabc and abcabcabcabc have the same sequences of letters."""
    rng = np.random.default_rng(0)
    stems, kinds = ["abc", "def", "ghi", "jkl", "mno", "pqr"], np.arange(200) % 2
    texts = [
        " ".join(stem * times for stem in rng.choice(stems, 3, replace=False).tolist())
        + f" {rng.integers(10**6)}"
        for times in (3 + kinds).tolist()
    ]

    def same_kind_nearest(points: Floats) -> float:
        distances = ((points[:, None] - points[None]) ** 2).sum(-1)
        np.fill_diagonal(distances, np.inf)
        return float((kinds[distances.argmin(axis=1)] == kinds).mean())

    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4)).fit_transform(texts)
    assert same_kind_nearest(TruncatedSVD(50, random_state=0).fit_transform(letters)) < 0.7
    assert same_kind_nearest(encoded(texts)) > 0.95


def test_only_the_direction_of_a_text_counts() -> None:
    column = [f"{w} number {i}" for i in range(30) for w in ("cement mixer", "garden hose")]
    asked = ["garden hose", "garden hose zzyzx qwfpl plugh", "cement mixer"]
    short, long, other = encoded(column, asked, text_features=2)
    assert ((short - long) ** 2).sum() < 0.01 * ((short - other) ** 2).sum()


def test_a_text_like_no_other_has_no_direction() -> None:
    """What few dimensions keep of it is rounding, which must not be blown up."""
    column = [f"{w} number {i}" for i in range(30) for w in ("cement mixer", "garden hose")]
    *usual, odd = np.linalg.norm(encoded([*column, "zzyzx qwfpl"], text_features=2), axis=1)
    assert odd < 0.01 * min(usual)


def test_text_does_not_depend_on_the_rows_beside_it() -> None:
    column = [f"{w} number {i}" for i in range(30) for w in ("cement mixer", "garden hose")]
    whole = encoded(column, column)
    parts = [encoded(column, column[at : at + 7]) for at in range(0, 60, 7)]
    assert_array_equal(np.vstack(parts), whole)


def test_what_a_column_is_taken_for() -> None:
    n = 100
    frame = pl.DataFrame(
        {
            "number": range(n),
            "decimal": pl.Series([Decimal(i) / 4 for i in range(n)]),
            "duration": [dt.timedelta(hours=i) for i in range(n)],
            "time": [dt.time(i % 24) for i in range(n)],
            "date": [dt.date(2024, 1, 1) + dt.timedelta(i) for i in range(n)],
            "boolean": [i % 3 == 0 for i in range(n)],
            "few": ["abcd"[i % 4] for i in range(n)],
            "many": [f"word {i % 45}" for i in range(n)],
            "category": pl.Series([f"word {i % 45}" for i in range(n)], dtype=pl.Categorical),
            "constant": ["x"] * n,
            "same": [3.7] * n,
            "empty": [None] * n,
            "nothing": pl.Series([None] * n, dtype=pl.Float64),
        }
    )
    expected = {
        **dict.fromkeys(["number", "decimal", "duration", "time"], "number"),
        "date": "date",
        **dict.fromkeys(["boolean", "few"], "category"),
        "many": "text",
        "category": "category",
        **dict.fromkeys(["constant", "same", "empty", "nothing"], "constant"),
    }
    for table in (frame, frame.to_arrow(), frame.to_pandas()):
        encoder = TableEncoder().fit(table)
        assert encoder.kinds_ == expected
        got = encoder.transform(table)
        assert got.shape == (n, encoder.n_features_out_)
        assert np.isfinite(got).all()
        assert_allclose(got, TableEncoder().fit(frame).transform(frame), atol=1e-9)


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        ([1.0, 2.0], ["x", "y"], "column 'a' was numbers and is text now"),
        (["x", "y", "x", "y"], [1, 2], "column 'a' was categories and is numbers now"),
        ([True, False, True, False], ["True"], "column 'a' was booleans and is text now"),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], [5], "was dates and is numbers now"),
    ],
)
def test_a_column_that_changes_its_kind(first: list[Any], then: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        encoded(first, then)
    assert encoded(first, [None, None]).shape[0] == 2
    assert encoded([1, 2, 3], [True, False]).shape == (2, 1)


def test_a_new_kind_is_one_class_and_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lengths:
        """How many entries a list has."""

        kind = "list"
        accepts = ("objects",)

        @classmethod
        def takes(cls, column: Column, limits: columns.Limits) -> bool:
            return column.dtype.startswith("List")

        @classmethod
        def fit(cls, column: Column, limits: columns.Limits) -> "Lengths":
            return cls()

        def features(self, column: Column) -> Floats:
            return np.array([[float(len(entry))] for entry in column.entries])

        def endings(self) -> list[str]:
            return ["length"]

    frame = pl.DataFrame({"a": [[1], [2, 3], []], "b": [1.0, 2.0, 4.0]})
    monkeypatch.setattr(columns, "KINDS", (*columns.KINDS, Lengths))
    encoder = TableEncoder().fit(frame)
    assert encoder.kinds_ == {"a": "list", "b": "number"}
    assert_array_equal(encoder.transform(frame)[:, 0], [1, 2, 0])
    assert encoder.get_feature_names_out().tolist() == ["a_length", "b"]
    with pytest.raises(ValueError, match="column 'a' was objects and is text now"):
        encoder.transform(pl.DataFrame({"a": ["x"], "b": [1.0]}))


def test_features_are_named_after_their_column() -> None:
    n = 60
    frame = pl.DataFrame(
        {
            "age": [None, *range(1, n)],
            "city": [
                "Rome",
                "Oslo",
                None,
                "Rome",
                "Oslo",
                None,
                *["Bonn"] * (n - 8),
                "Ulm",
                "Kyiv",
            ],
            "paid": [i % 2 == 0 for i in range(n)],
            "joined": [dt.datetime(2024, 1, 1, i % 24) + dt.timedelta(i) for i in range(n)],
            "note": [f"word {i}" for i in range(n)],
        }
    )
    encoder = TableEncoder(text_features=3).fit(frame)
    assert encoder.get_feature_names_out().tolist() == [
        *("age", "age_missing"),
        *("city_missing", "city_Bonn", "city_Oslo", "city_Rome", "city_other"),
        *("paid_False", "paid_True"),
        *("joined", "joined_year_sin", "joined_year_cos", "joined_week_sin", "joined_week_cos"),
        *("joined_day_sin", "joined_day_cos"),
        *("note_0", "note_1", "note_2"),
    ]
    named = encoder.set_output(transform="polars").transform(frame)
    assert_array_equal(named["city_Oslo"], frame["city"].fill_null("") == "Oslo")
    assert_array_equal(named["city_missing"], frame["city"].is_null())
    assert_array_equal(named["city_other"], frame["city"].fill_null("").is_in(["Ulm", "Kyiv"]))
    assert_array_equal(named["paid_True"], frame["paid"])
