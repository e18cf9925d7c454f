"""Tables for people: frames of the library that came in, and plain tables that read well."""

import importlib
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dataworth import KNNShapley
from dataworth.inputs.frames import Origin
from dataworth.inputs.listings import Listing, listing

X, Y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]


def made(library: str | None) -> tuple[KNNShapley, Any]:
    table: Any = X
    if library is not None:
        package, columns = importlib.import_module(library), {"x": [x for (x,) in X]}
        table = package.table(columns) if library == "pyarrow" else package.DataFrame(columns)
    if library == "pandas":
        table.index = ["p", "q", "r", "s", "t"]
    valuator = KNNShapley(n_neighbors=2).fit(table, Y)
    return valuator, valuator.value()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", None])
def test_tables_come_in_the_library_that_came_in(library: str | None) -> None:
    valuator, values = made(library)
    kind: Any = Listing
    if library is not None:
        package = importlib.import_module(library)
        kind = package.Table if library == "pyarrow" else package.DataFrame
    worst, best = values.worst(2), values.best(2)
    groups = values.by(["Ann", "Bob", "Ann", "Bob", "Bob"])
    assert type(worst) is type(best) is type(groups) is kind
    assert list(np.asarray(worst["index"])) == values.index[values.order[:2]].tolist()
    assert list(np.asarray(best["value"])) == values.values[values.best_first[:2]].tolist()
    assert list(np.asarray(worst["label"])) == values.labels[values.order[:2]].tolist()
    assert sorted(np.asarray(groups["group"])) == ["Ann", "Bob"]
    assert sum(np.asarray(groups["sum"])) == pytest.approx(values.values.sum(), abs=1e-15)
    why = valuator.explain(worst)
    assert [one.index for one in why] == values.order[:2].tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_column_of_names_names_points(library: str) -> None:
    """An index of a training table is seldom 0, 1, 2, ...: train_test_split shuffles it."""
    valuator, values = made(library)
    why = valuator.explain(values.worst(2)["index"])
    assert [one.index for one in why] == values.order[:2].tolist()


def test_a_library_that_is_gone_is_no_reason_to_fail() -> None:
    table = listing({"index": np.arange(2)}, Origin("no_such_library"))
    assert isinstance(table, Listing)


def test_a_plain_table_reads_well() -> None:
    table = listing(
        {
            "index": np.array([3, 10]),
            "value": np.array([-1 / 3, 2.0]),
            "label": np.array(["a\nb", "x" * 60]),
        }
    )
    assert (
        str(table)
        == repr(table)
        == (f"  index      value  label\n      3  -0.333333  a�b\n     10          2  {'x' * 39}…")
    )
    assert type(table["value"]) is np.ndarray
    assert type(table[["index", "value"]]) is type(table[:1]) is Listing
    assert table.tolist() == [(3, -1 / 3, "a\nb"), (10, 2.0, "x" * 60)]
    assert repr(pickle.loads(pickle.dumps(table))) == repr(table)
    assert list(pd.DataFrame(table).columns) == ["index", "value", "label"]
    assert repr(table[:0]).split() == ["index", "value", "label"]
    long = listing({"index": np.arange(1234)})
    assert repr(long).endswith("\n     29\n  … 1,204 more rows")


def test_a_plain_table_in_a_notebook_is_text() -> None:
    table = listing({"<b>": np.array(["<script>", "&"])})
    assert table._repr_html_() == (
        "<table><thead><tr><th>&lt;b&gt;</th></tr></thead><tbody>"
        "<tr><td>&lt;script&gt;</td></tr><tr><td>&amp;</td></tr></tbody></table>"
    )
    assert "1 more rows" in listing({"x": np.arange(31)})._repr_html_()
