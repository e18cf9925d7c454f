"""`dataworth report`, and the report of `dataworth value`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pyarrow import csv as arrow_csv

from tests.commands import N, decided, rows


def test_what_the_report_gets(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    got: dict[str, Any] = {}

    def write(path: Path, values: Any, columns: Any, **options: Any) -> None:
        got.update(options, path=path, values=values, columns=columns)

    monkeypatch.setattr("dataworth.report.write", write)
    line = "--label y --id name --group owner --by colour --title T"
    assert run(f"value train.csv {line} -o v.csv --report r.html").code == 0
    assert got["columns"] == arrow_csv.read_csv("train.csv").to_pydict()
    assert got["validation"] == "train"
    chosen = {k: got[k] for k in ("label", "ids", "group", "by", "image", "title")}
    assert chosen == {
        "label": "y",
        "ids": "name",
        "group": "owner",
        "by": ("colour",),
        "image": None,
        "title": "T",
    }
    first = got["values"]
    worst = np.argsort(first.values, kind="stable")
    assert [e.index for e in got["explanations"]] == worst.tolist()
    explained = [e.value for e in got["explanations"]]
    np.testing.assert_allclose(explained, first.values[worst], rtol=0, atol=1e-14)
    run.refused("value train.csv --label y --report r.pdf", 2, "--report must end in one of .html")
    ran = run(f"report v.csv train.csv {line} --validation val.csv -o r.html")
    assert ran.code == 0, ran.err
    assert_array_equal(got["values"].values, first.values)
    assert got["validation"] == arrow_csv.read_csv("val.csv").to_pydict()
    run("report v.csv train.csv --label y -o r.html")
    assert got["ids"].tolist() == rows()["name"]
    assert_array_equal(got["values"].index, np.arange(N))
    Path("short.csv").write_text("a,y\n1,p\n2,q\n")
    run.refused("report v.csv short.csv --label y -o r.html", 2, "must hold the 60 points of v.csv")


def test_report_and_apply_for_real(run: Any) -> None:
    """The page holds the points and why, and decisions about them change the file."""
    ran = run("value train.csv --label y --id name -o v.csv --report r.html --title Mine")
    assert ran.code == 0, ran.err
    page = Path("r.html").read_text()
    assert "Mine" in page
    assert "p0-0" in page
    decided("train.csv", "3,remove,", "5,relabel,no")
    assert run("apply d.csv train.csv -o c.csv").code == 0
    was, now = rows(), arrow_csv.read_csv("c.csv").to_pydict()
    assert now["name"] == [n for n in was["name"] if n != "p0-3"]
    assert now["y"][4] == "no"
    run.refused("apply d.csv val.csv -o c.csv", 2, "DECISIONS")
