"""Tables and series of three libraries, in and out."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import StandardScaler

from dataworth import DataValues, KNNShapley
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import frames

rng = np.random.default_rng(0)
N = 60
DATA: dict[str, Any] = {
    "size": rng.normal(size=N).tolist(),
    "count": rng.integers(0, 9, N).tolist(),
    "colour": rng.choice(["red", "green", "blue"], N).tolist(),
    "paid": (rng.random(N) < 0.5).tolist(),
    "day": (np.datetime64("2024-01-01T07:00:00") + rng.integers(0, 9**7, N)).tolist(),
    "note": [f"item {i % 50} of {i}" for i in range(N)],
}
DATA["size"][3] = DATA["count"][5] = DATA["colour"][7] = DATA["paid"][9] = None
DATA["day"][11] = DATA["note"][13] = None
Y = rng.choice(["yes", "no"], N).tolist()
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
SERIES = {
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": lambda items: pa.chunked_array([pa.array(items)]),
}


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    return request.param


def table(library: str, rows: slice = slice(None)) -> Any:
    return LIBRARIES[library]({k: v[rows] for k, v in DATA.items()})


def test_the_same_values_in_every_library_and_the_same_library_back(library: str) -> None:
    ref = KNNShapley().fit(table("pandas"), Y).value()
    values = KNNShapley().fit(table(library), SERIES[library](Y)).value()
    assert_array_equal(values.values, ref.values)
    out = values.to_frame()
    assert type(out) is type(table(library))
    columns = list(out.columns) if library != "pyarrow" else out.column_names
    first = [] if library == "pandas" else ["index"]
    said = ["agreement", "suggested", "score", "duplicate_of", "conflict", "outlier"]
    assert columns == [*first, "value", "lower", "upper", "label", *said]
    assert_array_equal(np.asarray(out["value"]), values.values)
    assert np.asarray(out["label"]).tolist() == Y
    for other, kind in LIBRARIES.items():
        assert isinstance(values.to_frame(other), type(kind({"a": [1]})))


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
def test_validation_tables_folds_and_checkpoints(library: str, tmp_path: Path) -> None:
    some, rest = slice(0, 40), slice(40, None)
    ref = KNNShapley().fit(table("pandas", some), Y[some])
    got = KNNShapley().fit(table(library, some), SERIES[library](Y[some]))
    val = (table(library, rest), SERIES[library](Y[rest]))
    for args, plain in (((), ()), (val, (table("pandas", rest), Y[rest]))):
        expected = ref.value(*plain).values
        for _ in range(2):  # the second goes on from the finished state
            values = got.value(*args, checkpoint=tmp_path / f"{len(args)}")
            assert_array_equal(values.values, expected)
    assert_array_equal(got.value(cv=3).values, ref.value(cv=3).values)
    with pytest.raises(ValueError, match="checkpoint must be of the same data"):
        got.value(table(library, some), Y[some], checkpoint=tmp_path / "2")


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
def test_columns_are_matched_by_name(library: str) -> None:
    valuator = KNNShapley().fit(table(library), Y)
    ref = valuator.value(table(library), Y).values
    turned = LIBRARIES[library]({k: DATA[k] for k in [*reversed(DATA)]} | {"extra": Y})
    assert_array_equal(valuator.value(turned, Y).values, ref)
    lacking = LIBRARIES[library]({k: DATA[k] for k in ("size", "colour", "day", "note")})
    with pytest.raises(ValueError, match="columns given to fit; missing: 'count', 'paid'"):
        valuator.value(lacking, Y)
    with pytest.raises(TypeError, match="X must be a data frame .* got ndarray"):
        valuator.value(np.ones((3, 6)), Y[:3])


def test_an_encoder_can_be_replaced_or_left_out(library: str) -> None:
    X = rng.normal(size=(30, 2)) * [1, 100]
    y = rng.integers(0, 2, 30)
    frame = LIBRARIES[library]({"a": X[:, 0], "b": X[:, 1]})
    raw = KNNShapley().fit(X, y).value().values
    scaled = KNNShapley(encoder=StandardScaler()).fit(X, y).value().values
    assert not np.array_equal(raw, scaled)
    assert_array_equal(KNNShapley(encoder=None).fit(frame, y).value().values, raw)
    np.testing.assert_allclose(KNNShapley().fit(frame, y).value().values, scaled, atol=1e-12)
    if library != "pyarrow":  # which scikit-learn itself does not take
        got = KNNShapley(encoder=StandardScaler()).fit(frame, y).value(cv=3)
        assert_array_equal(
            got.values, KNNShapley(encoder=StandardScaler()).fit(X, y).value(cv=3).values
        )


@pytest.mark.parametrize(
    "labels",
    [["a", "b"], [3, 4], [True, False], [2.0, 3.0]],
    ids=["text", "whole", "boolean", "float"],
)
def test_labels_of_every_kind(library: str, labels: list[Any]) -> None:
    y = labels * 3
    X = [[float(i)] for i in range(6)]
    ref = KNNShapley().fit(X, y)
    for series in (SERIES[library](y), pa.array(y) if library == "pyarrow" else SERIES[library](y)):
        valuator = KNNShapley().fit(X, series)
        assert_array_equal(valuator.classes_, ref.classes_)
        assert valuator.classes_.dtype == ref.classes_.dtype
        assert_array_equal(valuator.value(X, series).values, ref.value(X, y).values)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["a", "b", "a"], dtype="category"),
        pd.Series([7, 8, 7], dtype="category"),
        pd.Series([7, 8, 7], dtype="Int64"),
        pd.Series(["a", "b", "a"], dtype=object),
        pd.Series([True, False, True], dtype="boolean"),
        pl.Series(["a", "b", "a"], dtype=pl.Categorical),
        pl.Series(["a", "b", "a"], dtype=pl.Enum(["b", "a"])),
        pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()]),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pl.DataFrame({"y": ["a", "b", "a"]}),
    ],
)
def test_labels_of_special_types(series: Any) -> None:
    valuator = KNNShapley().fit([[0.0], [1.0], [2.0]], series)
    assert valuator.classes_.tolist() in (["a", "b"], [7, 8], [False, True])
    codes = valuator._training.targets.codes
    assert codes[0] == codes[2] != codes[1]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["a", None, "b", None]),
        pd.Series(["a", None, "b", None], dtype="category"),
        pd.Series([1, None, 2, None], dtype="Int64"),
        pl.Series([1, None, 2, None]),
        pl.Series([1.0, float("nan"), 2.0, None]),
        pa.chunked_array([pa.array(["a", None, "b", None])]),
        pa.array(["a", None, "b", None]),
        pa.chunked_array([pa.array(["a", None, "b", None]).dictionary_encode()]),
    ],
)
def test_missing_labels_are_named(series: Any) -> None:
    message = r"y must not have missing entries; row 1 \(from 0\) is missing, and 1 more"
    with pytest.raises(ValueError, match=message):
        KNNShapley().fit(np.eye(4), series)
    with pytest.raises(ValueError, match="y_val must not have missing"):
        KNNShapley().fit(np.eye(2), [1, 2]).value(np.eye(4)[:, :2], series)


def test_targets_of_a_regression(library: str) -> None:
    X, y = [[float(i)] for i in range(5)], [0.5, 1.5, -1.0, 0.0, 2.0]
    ref = KNNShapley(game="regression").fit(X, y).value()
    got = KNNShapley(game="regression").fit(X, SERIES[library](y)).value()
    assert_array_equal(got.values, ref.values)
    with pytest.raises(ValueError, match="y must not have missing entries; row 2"):
        KNNShapley(game="regression").fit(X, SERIES[library]([0.5, 1.0, None, 1.0, 1.0]))


INDEXES = {
    "text": (pd.Index(["p", "q", "r"], name="who"), ["p", "q", "r"]),
    "numbers": (pd.Index([7, 7, 3]), [7, 7, 3]),
    "dates": (pd.date_range("2024-01-01", periods=3), None),
    "mixed": (pd.Index([1, "a", 2.5], dtype=object), ["1", "a", "2.5"]),
    "zone": (pd.date_range("2024-01-01", periods=3, tz="Asia/Tokyo"), None),
    "levels": (pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]), None),
    "category": (pd.CategoricalIndex(["u", "v", "u"]), ["u", "v", "u"]),
    "period": (pd.period_range("2024-01", periods=3, freq="M"), ["2024-01", "2024-02", "2024-03"]),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_the_index_is_kept(kind: str, tmp_path: Path) -> None:
    index, plain = INDEXES[kind]
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0]}, index=index)
    values = KNNShapley().fit(frame, ["x", "y", "x"]).value()
    assert values.to_frame().index.equals(index)
    assert frame.join(values.to_frame()[~index.duplicated()], validate="many_to_one").size
    if plain is not None:
        assert values.index.tolist() == plain
    values.save(tmp_path / "v")
    again = DataValues.load(tmp_path / "v")
    assert_array_equal(again.index, values.index)
    assert isinstance(again.to_frame(), pd.DataFrame)
    assert again.to_frame().index.tolist() == values.to_frame("polars")["index"].to_list()


def test_arrays_get_positions_and_an_installed_library(monkeypatch: pytest.MonkeyPatch) -> None:
    values = KNNShapley().fit([[0.0], [1.0]], ["a", "b"]).value()
    assert values.origin is None
    assert values.to_frame().index.tolist() == [0, 1]
    monkeypatch.setattr(frames, "find_spec", lambda name: name == "pyarrow" or None)
    assert isinstance(values.to_frame(), pa.Table)
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install pandas"):
        values.to_frame()
    with pytest.raises(ModuleNotFoundError, match="to_frame needs polars here: pip install polars"):
        values.to_frame("polars")
    with pytest.raises(ValueError, match="library must be one of 'pandas', 'polars', 'pyarrow'"):
        values.to_frame("dask")


def test_frames_that_cannot_be_used() -> None:
    lazy: Any = pl.LazyFrame({"a": [1, 2]})
    with pytest.raises(TypeError, match=r"X must be in memory; got a lazy frame. Use X.collect"):
        KNNShapley().fit(lazy, [0, 1])
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="X must have columns of different names"):
        KNNShapley().fit(twice, [0, 1])
    with pytest.raises(ValueError, match="y must be one column; got 2"):
        KNNShapley().fit([[1.0], [2.0]], pd.DataFrame({"a": [1, 2], "b": [1, 2]}))
    with pytest.raises(ValueError, match="X must hold at least one point"):
        KNNShapley().fit(pd.DataFrame({"a": []}), [])
    with pytest.raises(ValueError, match="y must hold one label per row of X, 2; got 3"):
        KNNShapley().fit(pd.DataFrame({"a": [1, 2]}), [1, 2, 3])


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
def test_columns_without_text_for_names() -> None:
    frame = pd.DataFrame(rng.normal(size=(20, 3)))
    y = rng.integers(0, 2, 20)
    valuator = KNNShapley().fit(frame, y)
    assert_array_equal(valuator.value(frame[[2, 0, 1]], y).values, valuator.value(frame, y).values)


def test_no_library_is_imported() -> None:
    # scikit-learn imports pandas, and pandas pyarrow, where they are installed: hide them.
    code = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "polars", "pyarrow", "matplotlib", "typer", "rich"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hide())
from dataworth import KNNShapley
KNNShapley().fit([[0.0], [1.0]], ["a", "b"]).value()
{used}
print(sorted({{"pandas", "polars", "pyarrow", "matplotlib", "typer", "rich"}} & set(sys.modules)))
"""
    use = (
        "sys.meta_path.pop(0); import polars\n"
        "KNNShapley().fit(polars.DataFrame({'a': [0, 1]}), polars.Series(['a', 'b'])).value()"
        ".to_frame()"
    )
    for used, seen in (("", "[]"), (use, "['polars']")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(used=used)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == seen


def test_errors_are_data() -> None:
    with pytest.raises(InputError) as caught:
        frames.entries(pl.Series([1, None, 2, None]), "ages")
    assert caught.value.argument == "ages"
    assert caught.value.came == "row 1 (from 0) is missing, and 1 more"
    with pytest.raises(InputTypeError) as lazy:
        frames.frame(pl.LazyFrame({"a": [1]}), "X_val")
    assert (lazy.value.argument, lazy.value.hint) == ("X_val", "Use X_val.collect().")
    with pytest.raises(InputError) as twice:
        frames.frame(pd.DataFrame([[1, 2]], columns=["a", "a"]), "X")
    assert twice.value.wanted == "have columns of different names"
    assert re.fullmatch(r"X must have columns of different names; [^.]+\.", str(twice.value))
