"""Tables of mixed columns become numbers in which each column counts alike."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from dataworth import ForestLeaves, KNNShapley, TableEncoder
from dataworth.encoders.choice import fitted_without_labels
from dataworth.encoders.tables import kinds_in_words
from dataworth.errors import InputError, InputTypeError, ReadingWarning
from dataworth.files.tables import read_table

rng = np.random.default_rng(0)


def encoded(column: Any, other: Any = None, **params: Any) -> np.ndarray[Any, Any]:
    encoder = TableEncoder(**params).fit(pl.DataFrame({"a": column}, strict=False))
    return encoder.transform(pl.DataFrame({"a": column if other is None else other}, strict=False))


def test_no_column_weighs_more_than_a_number() -> None:
    n = 400
    frame = pl.DataFrame(
        {
            "number": rng.normal(size=n),
            "boolean": rng.random(n) < 0.5,
            "category": rng.choice(list("abcdefgh"), n),
            "date": np.datetime64("2020-01-01") + rng.integers(0, 1000, n),
            "text": [f"{a} {b}" for a, b in rng.integers(0, 999, (n, 2))],
        }
    )
    for name in frame.columns:
        part = frame.select(name)
        assert 0.4 < TableEncoder().fit(part).transform(part).var(axis=0).sum() < 1 + 1e-9


def test_it_is_deterministic_and_learns_nothing_from_labels() -> None:
    frame = pl.DataFrame({"a": [f"text {i * 7 % 50}" for i in range(90)], "b": rng.normal(size=90)})
    encoder = TableEncoder()
    first = clone(encoder).fit(frame, rng.integers(0, 2, 90)).transform(frame)
    assert_array_equal(first, clone(encoder).fit(frame).transform(frame))
    assert_array_equal(first[5:9], clone(encoder).fit(frame).transform(frame[5:9]))
    assert fitted_without_labels(encoder, frame, None) is not None
    forest = make_pipeline(TableEncoder(), ForestLeaves(n_estimators=5))
    y = rng.integers(0, 2, 90)
    values = KNNShapley(encoder=forest, metric="hamming").fit(frame, y).value(cv=3)
    assert np.isfinite(values.values).all()


def test_a_series_is_a_table_of_one_column() -> None:
    texts = ["good film", "bad film", "good book", "bad book"] * 20
    ref = encoded(texts)
    for series in (pd.Series(texts, name="t"), pl.Series(texts), pa.chunked_array([texts])):
        assert_allclose(TableEncoder().fit(series).transform(series), ref)


def test_what_cannot_be_encoded() -> None:
    with pytest.raises(TypeError, match=r"'a' has type List\(Int64\). Leave it out"):
        encoded([[1], [2]])
    with pytest.raises(TypeError, match="'a' has type Object"):
        TableEncoder().fit(pd.DataFrame({"a": [{}, {}]}))
    with pytest.raises(ValueError, match="X must have a column that differs between rows; all 1"):
        encoded([1, 1])
    with pytest.raises(TypeError, match="X must be a data frame .* got NoneType"):
        TableEncoder().fit(None)
    with pytest.raises(ValueError, match="X must hold at least two points .* got one sample"):
        TableEncoder().fit([[1]])
    with pytest.raises(ValueError, match="at least one point and one column"):
        TableEncoder().fit(pd.DataFrame(index=[1, 2]))
    with pytest.raises(ValueError, match="max_levels must be a whole number of at least 1; got 0"):
        encoded([1, 2], max_levels=0)
    mixed = pd.DataFrame({"a": pd.Series([1, "x", 2.5, "x"] * 3, dtype=object)})
    assert TableEncoder().fit(mixed).kinds_ == {"a": "category"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool, object])
def test_an_array_is_a_table_of_numbers(dtype: Any) -> None:
    X = np.maximum(np.random.default_rng(1).normal(size=(40, 4)) * 9, 0.0).astype(dtype)
    frame = pl.DataFrame({str(i): X[:, i].astype(np.float64) for i in range(4)})
    ref = TableEncoder().fit(frame).transform(frame)
    for array in (X, np.asfortranarray(X), X.tolist()):
        encoder = TableEncoder().fit(array)
        assert encoder.kinds_ == dict.fromkeys(range(4), "number")
        assert encoder.n_features_in_ == 4
        assert not hasattr(encoder, "feature_names_in_")
        assert_array_equal(encoder.transform(array), ref)
        assert_array_equal(encoder.transform(pd.DataFrame(X.astype(np.float64))), ref)


def test_gaps_in_an_array() -> None:
    X = np.array([[1.0, 5.0, np.nan], [np.nan, 5.0, np.nan], [3.0, 5.0, np.nan]])
    encoder = TableEncoder().fit(X)
    assert encoder.kinds_ == {0: "number", 1: "constant", 2: "constant"}
    assert encoder.get_feature_names_out().tolist() == ["x0", "x0_missing"]
    assert encoder.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "a_missing"]
    assert_array_equal(encoder.transform(X)[:, 1], [0, 1, 0])
    assert_array_equal(encoder.transform(X[1:2])[0], encoder.transform(X)[1])


def test_what_fit_remembers_is_that_of_the_last_fit() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    encoder = TableEncoder().fit(frame)
    assert encoder.n_features_in_ == 2
    assert encoder.feature_names_in_.tolist() == ["a", "b"]
    encoder.fit(np.eye(3))
    assert encoder.n_features_in_ == 3
    assert not hasattr(encoder, "feature_names_in_")
    encoder.fit(frame).fit(pd.DataFrame({0: [1, 2], "b": [1, 2]}))
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1"]
    with pytest.raises(ValueError, match="differs between rows"):
        encoder.fit(np.ones((3, 2)))
    assert encoder.kinds_ == {0: "number", "b": "number"}
    with pytest.raises(NotFittedError):
        TableEncoder().get_feature_names_out()


def test_names_of_features_are_all_different() -> None:
    frame = pd.DataFrame(
        {
            "a": ["missing", "x", None] * 4,
            "a_x": range(12),
            "b": ["missing", "other", "z", "1"] + ["w", None] * 4,
        }
    )
    encoder = TableEncoder().fit(frame)
    names = encoder.get_feature_names_out().tolist()
    assert names[:4] == ["a_missing", "a_missing_2", "a_x", "a_x_2"]
    assert len(set(names)) == len(names) == encoder.n_features_out_
    assert encoder.set_output(transform="polars").transform(frame).columns == names


def test_arrays_that_are_no_table_of_numbers() -> None:
    X = rng.normal(size=(5, 3))
    for bad, said in [
        (X[0], "X must be a data frame or .*; Expected 2D array, got 1D array"),
        (np.where(np.eye(5, 3), np.inf, X), "Input X contains infinity"),
        (X[:, :0], "0 feature"),
        (X[:0], "0 sample"),
        ([["a", "b"], ["c", "d"]], "X must be a data frame or .*; could not convert string"),
    ]:
        with pytest.raises(InputError, match=said):
            TableEncoder().fit(bad)
    with pytest.raises(InputTypeError, match="plain array of numbers; got MaskedArray"):
        TableEncoder().fit(np.ma.masked_array(X, X > 0))
    with pytest.raises(InputError, match="X has 2 features, but TableEncoder is expecting 3"):
        TableEncoder().fit(X).transform(X[:, :2])


def test_a_frame_and_an_array_are_not_mixed_up() -> None:
    X = rng.normal(size=(5, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    with pytest.raises(InputTypeError, match="X must be a data frame like .* got ndarray"):
        TableEncoder().fit(frame).transform(X)
    with pytest.raises(InputError, match="the columns given to fit; missing: 0, 1"):
        TableEncoder().fit(X).transform(frame)


def strange_csv(path: Path, n: int = 60) -> None:
    """A table as people send it: dates, times, gaps, a word among numbers, ids, a constant."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + rng.integers(0, 500, n)
    moments = days.astype("datetime64[s]") + rng.integers(0, 86400, n)
    columns = {
        "row": [str(1000 + i) for i in range(n)],
        "code": [f"k{i:03}x" for i in range(n)],
        "day": [str(day) for day in days],
        "moment": [str(m).replace("T", " ") for m in moments],
        "clock": [f"{h}:{m:02}" for h, m in rng.integers(0, [24, 60], (n, 2))],
        "size": [f"{x:.2f}" for x in rng.normal(size=n)],
        "count": [str(x) for x in rng.integers(0, 9, n)],
        "paid": rng.choice(["true", "false", ""], n).tolist(),
        "ward": rng.choice(["north", "south", "None", "NA"], n).tolist(),
        "same": ["x"] * n,
        "words": [" ".join(rng.choice(["good", "bad", "long"], 5)) + f" {i}" for i in range(n)],
    }
    columns["size"][3], columns["size"][4], columns["day"][5] = "n.k.", "", ""
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")


def test_pandas_and_the_command_line_read_a_file_alike(tmp_path: Path) -> None:
    path = tmp_path / "strange.csv"
    strange_csv(path)
    frames = [read_table(path), pd.read_csv(path), pl.read_csv(path)]
    encoders = []
    for frame in frames:
        with pytest.warns(ReadingWarning, match="column 'size' is nearly numeric: 1 of 60 entries"):
            encoders.append(TableEncoder().fit(frame))
    kinds = {
        "row": "number",
        "code": "text",
        "day": "date",
        "moment": "date",
        "clock": "number",
        "size": "number",
        "count": "number",
        "paid": "category",
        "ward": "category",
        "same": "constant",
        "words": "text",
    }
    first = encoders[0]
    assert first.kinds_ == encoders[1].kinds_ == kinds
    assert {**encoders[2].kinds_, "ward": "category"} == kinds
    assert_array_equal(first.transform(frames[0]), encoders[1].transform(frames[1]))
    assert_array_equal(first.get_feature_names_out(), encoders[1].get_feature_names_out())
    assert first.get_feature_names_out().size == first.n_features_out_
    assert {"size", "size_missing", "clock", "day_year_sin"} <= set(first.get_feature_names_out())
    assert first.notes_ == encoders[1].notes_ == {
        "row": "seems to name rows: hardly any entry comes twice",
        "code": "seems to name rows: hardly any entry comes twice",
        "size": "is nearly numeric: 1 of 60 entries are not numbers, such as 'n.k.', "
        "and count as missing",
        "same": "is the same in all rows, so it is left out",
    }  # fmt: skip
    assert kinds_in_words(kinds) == (
        "11 features: 4 numbers, 2 categories, 2 dates, 2 texts, 1 constant"
    )


def test_columns_that_name_rows_are_noted() -> None:
    rng = np.random.default_rng(0)
    n = 120
    apart = rng.choice(10**9, n, replace=False)
    frame = pd.DataFrame(
        {
            "number": apart,
            "patient": [f"{a} {b}" for a, b in zip(rng.permutation(n), apart, strict=True)],
            "store_id": rng.integers(0, 5, n),
            "userId": rng.integers(0, 5, n),
            "KEY": rng.choice(["a", "b"], n),
            "weight": rng.normal(size=n),
            "rounded": apart.astype(float),
            "humid": rng.integers(0, 9, n),
            "visits": [*apart[1:], apart[1]],
            "words": [" ".join(rng.choice(["good", "bad"], 7)) + f" {i}" for i in range(n)],
            "kind": rng.choice(["good one", "bad one"], n),
        }
    )
    said = {
        name: f"seems to name rows: {why}"
        for why, names in {
            "hardly any entry comes twice": ("number", "patient"),
            "its own name says so": ("store_id", "userId", "KEY"),
        }.items()
        for name in names
    }
    assert TableEncoder().fit(frame).notes_ == said
    assert TableEncoder().fit(pl.from_pandas(frame)).notes_ == said
    few = TableEncoder().fit(frame[:99]).notes_
    assert set(few) == {"store_id", "userId", "KEY"}
    assert TableEncoder().fit(frame[["weight", "number"]].to_numpy()).notes_ == {}


def test_a_word_among_numbers_counts_as_missing() -> None:
    numbers = np.sqrt(np.arange(40.0))  # with all of their digits
    gap = pd.DataFrame({"a": [None, *numbers[1:]]})
    word = pd.DataFrame({"a": ["n.k.", *numbers[1:].astype(str)]})
    with pytest.warns(ReadingWarning):
        encoder = TableEncoder().fit(word)
    expected = TableEncoder().fit(gap)
    assert_array_equal(encoder.transform(word), expected.transform(gap))
    # Later rows may have no such word, or others.
    assert_array_equal(encoder.transform(gap), expected.transform(gap))
    other = pd.DataFrame({"a": ["?", "4.0", "1e999"]})
    gaps = pd.DataFrame({"a": [None, 4, None]})
    assert_array_equal(encoder.transform(other), expected.transform(gaps))


def test_text_that_is_no_number_stays_text() -> None:
    for entries in (
        [f"{i:03}" for i in range(40)],  # codes
        [f"{i} m" for i in range(40)],
        [f"2024-02-{i:02}" for i in range(10, 50)],  # some are no days
        [f"{i}:99" for i in range(40)],
        [str(10**16 + i) for i in range(40)],  # a float64 would confuse them
        [str(i) if i % 5 else "n.k." for i in range(60)],  # too many words
    ):
        assert TableEncoder().fit(pd.DataFrame({"a": entries})).kinds_ == {"a": "text"}
    few = [*"123123123123123", "n.k."]
    assert TableEncoder().fit(pd.DataFrame({"a": few})).kinds_ == {"a": "category"}


def test_measurements_and_sentences_do_not_name_rows() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.integers(0, 10**6, 50),
            "size": np.arange(50) + 0.5,
            "note": [f"patient {i} came late" for i in range(50)],
            "ward": ["a", "b"] * 25,
            "shuffled": rng.permutation(50),
            "rising": np.cumsum(rng.integers(1, 9999, 50)),
        }
    )
    assert set(TableEncoder().fit(frame).notes_) == {"shuffled", "rising"}
