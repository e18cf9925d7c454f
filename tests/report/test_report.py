"""What goes into a report. How it behaves in a browser is in test_browser.py."""

import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dataworth import KNNShapley, OwnerValues, Ruler, decisions, report
from dataworth.errors import InputError
from tests.reports import explain, written


def test_rows_are_the_least_valuable_with_what_users_gave(simple: Any, tmp_path: Path) -> None:
    columns = {"y": ["a", "b", "a", "b"], "x": [1, None, 2.5, float("nan")], "id": list("pqrs")}
    why = explain(simple, 1, "a", near=[0, 2], hurts=[(3, "a")])
    data = written(
        tmp_path / "r.html",
        simple,
        columns,
        explanations=[why],
        label="y",
        ids="id",
        rows=2,
        validation={"x": [0, 0, 0, 7]},
    )
    assert [row["p"] for row in data["rows"]] == [1, 3]
    worst = data["rows"][0]
    assert (worst["v"], worst["y"], worst["s"], worst["id"]) == (-1.0, "b", "a", "q")
    only = {"name": "x", "number": True, "text": False, "spread": 0.75}
    assert data["columns"] == [only]  # no label, no id
    assert worst["c"] == [None]
    assert worst["h"] == [[3, "a", -0.1]]
    assert [n[:2] for n in worst["n"]] == [[0, "a"], [2, "a"]]
    assert data["train"] == {"0": {"c": [1], "id": "p"}, "2": {"c": [2.5], "id": "r"}}
    assert data["judges"] == {"3": {"c": [7]}}
    assert (data["labelColumn"], data["idColumn"], data["negative"]) == ("y", "id", 2)
    assert "s" not in data["rows"][1]


def test_targets_far_off_are_flagged_and_counted(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = X.sum(axis=1)
    y[7] = 1e6
    values = KNNShapley(game="regression").fit(X, y).value()
    data = written(tmp_path / "r.html", values)
    assert data["headline"] == values.far_off_said != ""
    found = {row["p"] for row in data["rows"] if "target" in [word for word, _ in row["f"]]}
    assert found == set(np.flatnonzero(values.far_off).tolist())


def test_suspects_come_first_and_the_ruler_says_where_to_stop(simple: Any, tmp_path: Path) -> None:
    plain = written(tmp_path / "r.html", simple)
    assert (plain["ranked"], plain["headline"], plain["cutoff"]) == (False, None, None)
    assert "z" not in plain["rows"][0]
    ruler = Ruler(4, 2, ((0,),) * 40)
    agreement, suggested = np.array([1.0, 0.5, 1.0, 0.0]), np.array(["a", "b", "a", "a"])
    known = replace(simple, agreement=agreement, suggested=suggested, ruler=ruler)
    data = written(tmp_path / "r.html", known, rows=3)
    assert [row["p"] for row in data["rows"]] == known.suspects_first[:3].tolist() == [3, 1, 2]
    np.testing.assert_allclose(
        [row["z"] for row in data["rows"]], known.score[[3, 1, 2]], rtol=1e-5
    )
    assert data["ranked"]
    assert (data["headline"], data["cutoff"]) == (ruler.sentence, 1)
    assert data["range"][0] == -1.0


def test_training_points_may_be_the_judges(simple: Any, tmp_path: Path) -> None:
    why = explain(simple, 1, None, hurts=[(2, "a")])
    data = written(
        tmp_path / "r.html", simple, {"x": [4, 5, 6, 7]}, explanations=[why], validation="train"
    )
    assert data["judges"] == {"2": {"c": [6]}}
    assert data["judgedBy"] == "training"
    assert data["rows"][0]["s"] is None


def test_bounds_are_shown_where_values_are_not_exact(simple: Any, tmp_path: Path) -> None:
    loose = replace(simple, lower=simple.values - [0, 1, 0, 0])
    data = written(tmp_path / "r.html", loose)
    assert data["bounded"]
    assert data["rows"][0]["b"] == [-2, -1]
    assert "b" not in data["rows"][1]


def test_the_file_is_the_same_each_time_and_needs_no_frame_library(
    simple: Any, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"x": [1, None, 3, 4], "d": pd.to_datetime(["2024-01-01", None] * 2)})
    frame["n"] = pd.array([1, None, 3, 4], dtype="Int64")
    frame["s"] = pd.Series(["u", None, "v", "w"], dtype="string")
    for name in ("one", "two"):
        data = written(tmp_path / name, simple, dict(frame), by=["x", "n"], group="s")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    rows = {row["p"]: row["c"] for row in data["rows"]}
    assert rows[1] == [None, None, None, None]
    assert rows[2] == [3, "2024-01-01 00:00:00", 3, "v"]
    assert [c["number"] for c in data["columns"]] == [True, False, True, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "rows must be a whole number from 1 to 2000; got 0"),
        ({"group": "z"}, "group must name a column; 'z' is not among ['x']"),
        ({"by": ["x", "z"]}, "by must name a column; 'z'"),
        ({"by": "z"}, "by must name a column; 'z'"),
        ({"ids": ["a"]}, "ids must hold one id per training point, 4; got 1"),
        ({"ids": "z"}, "ids must name a column"),
        ({"label": "x"}, "label must name the column of the labels that were valued"),
        ({"image": "x"}, "columns['x'] must hold paths, or arrays"),
        ({"image": "x", "by": "x"}, "by must name another column than image, 'x'"),
        ({"columns": {"x": [1]}}, "columns must have 4 entries in each column; 'x' has 1"),
        ({"columns": [1]}, "columns must be a mapping of column names to sequences; got list"),
        ({"columns": {1: [1] * 4}}, "columns must have names that are strings; got 1"),
        ({"columns": {"x": "abcd"}}, "columns must hold sequences; 'x' is 'abcd'"),
        ({"validation": {"x": [1], "y": [1, 2]}}, "validation must have 1 entries in each"),
    ],
)
def test_bad_input_is_one_sentence(
    options: dict[str, Any], message: str, simple: Any, tmp_path: Path
) -> None:
    arguments = {"columns": {"x": [1, 2, 3, 4]}, **options}
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        report.write(tmp_path / "r.html", simple, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_bad_explanations_are_named(simple: Any, tmp_path: Path) -> None:
    good = explain(simple, 0, "a", near=[1], hurts=[(1, "a")])
    cases: list[tuple[list[Any], str]] = [
        ([replace(good, index=4)], "explanations[0].index must be from 0 to 3; got 4"),
        ([good, good], "explanations[1]: position 0 is explained twice"),
        ([explain(simple, 0, "a", hurts=[(4, "a")])], "hurts names a point that is not there: 4"),
    ]
    for explanations, message in cases:
        with pytest.raises(ValueError, match=re.escape(message)):
            report.write(
                tmp_path / "r", simple, explanations=explanations, validation={"x": [1] * 4}
            )


def test_the_documented_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    exec(first, names)
    assert Path("report.html").stat().st_size > 100_000
    given = names["y_train"]
    header = ",".join(decisions.COLUMNS)
    Path("decisions.csv").write_text(
        f"{header}\n0,relabel,7,{given[0]},,digit,,{decisions.describe(given.tolist())}\n"
        f"1,remove,,{given[1]},,digit,,{decisions.describe(given.tolist())}\n"
    )
    exec(second, names)
    assert names["cleaned"]["digit"] == [7, *given[2:]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_are_columns(library: str, tmp_path: Path) -> None:
    X, y = [[0.0], [0.1], [1.0], [1.1]], ["a", "a", "b", "b"]
    values = KNNShapley(n_neighbors=2).fit(X, y).value([[0.0]], ["a"])
    columns = {"x": [0.0, 0.1, 1.0, 1.1], "y": y}
    make: Any = importlib.import_module(library)
    table = make.table(columns) if library == "pyarrow" else make.DataFrame(columns)
    judges = table.slice(0, 1) if library == "pyarrow" else table.head(1)
    pages = []
    for shown, judge in ((columns, {"x": [0.0], "y": ["a"]}), (table, judges)):
        report.write(tmp_path / "r.html", values, shown, label="y", validation=judge)
        pages.append((tmp_path / "r.html").read_text())
    assert pages[0] == pages[1]


def owners_of(values: list[float]) -> OwnerValues:
    array = np.array(values)
    return OwnerValues(
        owners=np.array(["Ann", "Bob", "Cleo"][: array.size]),
        values=array,
        n_points=np.arange(1, array.size + 1),
        standard_error=np.full(array.size, 0.01),
        sampling_error=np.zeros(array.size),
        point_sums=array[::-1],
        exact=True,
        params={},
        n_validation=4,
        weight_error=0.0,
        version="0.1.0",
    )


def test_owners_have_a_panel_with_amounts(simple: Any, tmp_path: Path) -> None:
    assert written(tmp_path / "r.html", simple)["owners"] is None
    panel = written(
        tmp_path / "r.html", simple, owners=owners_of([0.3, -0.1, 0.2]), budget="1000.01"
    )["owners"]
    assert [row[0] for row in panel["rows"]] == ["Ann", "Cleo", "Bob"]
    assert [row[3] for row in panel["rows"]] == [0.75, 0.5, -0.25]
    assert panel["rows"][0][4:6] == [pytest.approx(0.701, abs=1e-3), pytest.approx(0.799, abs=1e-3)]
    assert panel["amounts"] == [750.01, 500.0, -250.0]
    assert (panel["budget"], panel["positive"]) == (1000.01, True)
    assert not written(tmp_path / "r.html", simple, owners=owners_of([0.1, -0.1]))["owners"][
        "positive"
    ]
    with pytest.raises(InputError, match="budget must be None without owners"):
        report.write(tmp_path / "r.html", simple, budget=5)
    with pytest.raises(InputError, match="owners must be what"):
        report.write(tmp_path / "r.html", simple, owners="Ann")  # type: ignore[arg-type]
