"""A full report in one call."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer

from dataworth import KNNShapley
from tests.reports import data_of

X, Y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]


def test_everything_is_filled_in(tmp_path: Path) -> None:
    ids = [f"p{k}" for k in range(5)]
    frame = pd.DataFrame({"x": [x for (x,) in X], "city": list("uvwuv"), "kind": Y}, index=ids)
    valuator = KNNShapley(n_neighbors=2).fit(frame[["x", "city"]], frame["kind"])
    values = valuator.value()
    valuator.report(tmp_path / "r.html", rows=3, title="mine", by="city")
    data = data_of(tmp_path / "r.html")
    assert [row["p"] for row in data["rows"]] == values.suspects_first[:3].tolist()
    assert [row["id"] for row in data["rows"]] == values.index[values.suspects_first[:3]].tolist()
    assert [column["name"] for column in data["columns"]] == ["x", "city"]
    assert all("s" in row and row["n"] for row in data["rows"])
    assert (data["labelColumn"], data["judgedBy"]) == ("kind", "training")
    assert [one["name"] for one in data["breakdowns"]] == ["label", "city"]
    assert "<title>mine</title>" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "hint"), [("images", r" Did you mean 'image'\?"), ("explanations", r"")]
)
def test_unknown_options_are_named(name: str, hint: str, tmp_path: Path) -> None:
    valuator = KNNShapley(n_neighbors=2).fit(X, Y)
    valuator.value()
    option: dict[str, Any] = {name: X}
    with pytest.raises(TypeError, match=rf"^report has no option '{name}'\.{hint}$"):
        valuator.report(tmp_path / "r.html", **option)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy"])
def test_validation_points_are_those_given_to_value(library: str, tmp_path: Path) -> None:
    def made(column: list[float]) -> Any:
        if library == "numpy":
            return np.array(column)[:, None]
        package: Any = importlib.import_module(library)
        columns = {"x": column}
        return package.table(columns) if library == "pyarrow" else package.DataFrame(columns)

    valuator = KNNShapley(n_neighbors=2).fit(made([x for (x,) in X]), Y)
    valuator.value(made([0.0, 1.0]), ["a", "b"])
    valuator.report(tmp_path / "r.html")
    data = data_of(tmp_path / "r.html")
    assert data["judges"]["0"]["c"] == [0.0]
    assert data["judgedBy"] == "validation"
    assert data["columns"][0]["name"] == ("feature 0" if library == "numpy" else "x")
    assert "id" not in data["rows"][0]
    assert data["labelColumn"] == "label"


def test_texts_are_shown(tmp_path: Path) -> None:
    texts = ["good film", "good actors", "bad film", "bad plot", "good and bad"]
    valuator = KNNShapley(n_neighbors=2, encoder=TfidfVectorizer()).fit(texts, Y)
    valuator.value()
    valuator.report(tmp_path / "r.html")
    assert {row["c"][0] for row in data_of(tmp_path / "r.html")["rows"]} == set(texts)


def test_columns_of_one_s_own(tmp_path: Path) -> None:
    valuator = KNNShapley(n_neighbors=2).fit(X, Y)
    valuator.value()
    valuator.report(tmp_path / "r.html", {"label": list("uvwxy")})
    data = data_of(tmp_path / "r.html")
    assert [c["name"] for c in data["columns"]] == ["label"]  # a feature, not the labels
    assert data["labelColumn"] == ""


def test_points_of_which_nothing_can_be_shown(tmp_path: Path) -> None:
    distances = np.abs(np.subtract.outer([0.0, 1.0], [x for (x,) in X]))
    valuator = KNNShapley(n_neighbors=2, metric="precomputed").fit(None, Y)
    valuator.value(distances, ["a", "b"])
    valuator.report(tmp_path / "r.html")
    assert data_of(tmp_path / "r.html")["columns"] == []


def test_owners_come_with_the_values_before(tmp_path: Path) -> None:
    valuator = KNNShapley(n_neighbors=2, weights="uniform").fit(X, Y)
    owners = ["Ann", "Bob", "Ann", "Bob", "Bob"]
    paid = valuator.value_owners(owners)
    with pytest.raises(NotFittedError, match="report needs values of points: call value first"):
        valuator.report(tmp_path / "r.html")
    values = valuator.value()
    valuator.value_owners(owners, [[0.0]], ["a"])
    valuator.report(tmp_path / "r.html", owners=paid)
    data = data_of(tmp_path / "r.html")
    worth = {row["p"]: row["v"] for row in data["rows"]}
    assert [worth[p] for p in range(5)] == pytest.approx(values.values.tolist(), rel=1e-5)
    assert len(data["owners"]["rows"]) == 2


def test_values_come_first(tmp_path: Path) -> None:
    valuator = KNNShapley(n_neighbors=2).fit(X, Y)
    with pytest.raises(NotFittedError, match="report needs values: call value first"):
        valuator.report(tmp_path / "r.html")
    valuator.value()
    for rows in (0, 2001):
        with pytest.raises(ValueError, match="rows must be a whole number from 1 to 2000"):
            valuator.report(tmp_path / "r.html", rows=rows)
    assert list(tmp_path.iterdir()) == []
