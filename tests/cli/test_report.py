"""`dataworth report`, and the report of `dataworth value`."""

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from pyarrow import csv as arrow_csv

from dataworth.files import tables
from dataworth.files.tables import SEPARATORS
from dataworth.result import read_values
from tests.commands import N, decided, rows


def test_what_the_report_gets(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    got: dict[str, Any] = {}

    def write(path: Path, values: Any, columns: Any, **options: Any) -> None:
        got.update(options, path=path, values=values, columns=columns)

    monkeypatch.setattr("dataworth.report.write", write)
    line = "--label y --id name --group owner --by colour --title T"
    assert run(f"value train.csv {line} -o v.csv --report r.html").code == 0
    assert got["columns"] == arrow_csv.read_csv("train.csv").to_pydict()
    assert list(got["columns"])[-3:] == ["name", "owner", "y"]  # behind the features
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
    worst = np.argsort(first.score, kind="stable")
    assert [e.index for e in got["explanations"]] == worst.tolist()
    explained = [e.value for e in got["explanations"]]
    np.testing.assert_allclose(explained, first.values[worst], rtol=0, atol=1e-14)
    assert got["rows"] == 500
    assert run("value train.csv --label y --report r.html --rows 7").code == 0
    assert got["rows"] == len(got["explanations"]) == 7
    run.refused("value train.csv --label y --report r.pdf", 2, "--report must end in one of .html")
    ran = run(f"report v.csv train.csv {line} --validation val.csv -o r.html")
    assert ran.code == 0, ran.err
    assert_array_equal(got["values"].values, first.values)
    assert got["validation"] == arrow_csv.read_csv("val.csv").to_pydict()
    run("report v.csv train.csv --label y -o r.html --rows 8")
    assert got["rows"] == 8
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


def test_the_report_knows_the_name_of_the_table(run: Any) -> None:
    assert run("value train.csv --label y --id name -o v.parquet --report r.html").code == 0
    command = '"command":"dataworth apply decisions.csv train.csv -o train-cleaned.csv"'
    assert command in Path("r.html").read_text()
    assert run("report v.parquet train.csv --label y -o again.html").code == 0
    assert command in Path("again.html").read_text()
    np.savez("x.npz", X=np.arange(20.0).reshape(10, 2), y=np.arange(10) % 2)
    assert run("value x.npz --report r.html").code == 0
    assert '"command":"from dataworth import decisions; cleaned = ' in Path("r.html").read_text()


def test_pictures_outside_the_folder_of_the_table(run: Any) -> None:
    for name in ("table", "pictures"):
        Path(name).mkdir()
    Image.new("RGB", (4, 4), "red").save("pictures/a.png")
    table = rows(6) | {"file": ["../pictures/a.png"] * 6}
    tables.write_table("table/t.csv", pa.table(table))
    line = "--label y --image file --report r.html --drop name"
    for more in ("", "--image-root table"):
        assert run(f"value table/t.csv {line} {more}").code == 0
        page = Path("r.html").read_text()
        assert "data:image/webp" not in page
        assert "not in the folder of pictures" in page
    tables.write_table("table/t.csv", pa.table(table | {"file": ["a.png"] * 6}))
    for command in ("value table/t.csv --report r.html", "report v.csv table/t.csv -o r.html"):
        more = "-o v.csv --drop name" if command.startswith("value") else ""
        ran = run(f"{command} {more} --label y --image file --image-root pictures")
        assert ran.code == 0, ran.err
        assert "data:image/webp" in Path("r.html").read_text()
    run.refused("value train.csv --label y --image-root .", 2, "--image-root needs --image")
    run.refused(
        "value table/t.csv --label y --image file --image-root no --report r.html",
        2,
        "--image-root must name a fo",
    )


def test_pictures_that_are_not_found_are_counted(run: Any) -> None:
    Path("pictures").mkdir()
    files = ["a.png", "b.png", "../train.csv", None, "a.png", "c.png"]
    tables.write_table("t.csv", pa.table(rows(6) | {"file": files}))
    line = "value t.csv --label y --image file --report r.html --drop name"
    here = Path.cwd()
    ran = run(line)
    assert ran.code == 0
    said = "of 5 pictures in column 'file' were found in"
    assert f"0 {said} '{here}'; 1 would be outside of it." in ran.err
    Image.new("RGB", (4, 4), "red").save("pictures/a.png")
    ran = run(f"{line} --image-root pictures --validation t.csv -o v.csv")
    assert f"2 {said} '{here / 'pictures'}'; 1 would be outside of it." in ran.err
    assert run("report v.csv t.csv --label y --image file -o s.html").err.count("0 of 5 pict") == 1
    tables.write_table("t.csv", pa.table(rows(6) | {"file": ["a.png", None] * 3}))
    assert run(f"{line} --image-root pictures").err == ""
    tables.write_table("t.csv", pa.table(rows(6) | {"file": range(6)}))
    run.refused(line, 2, "--image must hold paths")


IDS = ["=1+1", "+a", "-b", "@c", "\tx", "'=d", "a;=e", "-5", "ok", "7", "=HYPERLINK(0)", "''+"]


def test_formulas_in_names_come_back_as_they_were(run: Any) -> None:
    """Files for spreadsheets are guarded, and those who read them find the names of the table."""
    n = len(IDS)
    labels = ["=yes", "@no"] * (n // 2)
    columns = {"id": IDS, "x": np.arange(n) * 0.5, "owner": labels[::-1], "y": labels}
    tables.write_table("f.parquet", pa.table(columns))
    tables.write_table("f.csv", pa.table(columns))
    for source in ("f.parquet", "f.csv"):
        for ending in (".csv", ".tsv"):
            ran = run(f"value {source} --label y --id id --group owner -o v{ending}")
            assert ran.code == 0, ran.err
            values, owners = read_values(f"v{ending}")
            assert values.index.tolist() == IDS
            assert values.labels.tolist() == labels
            assert owners is not None
            assert owners.tolist() == labels[::-1]
            with Path(f"v{ending}").open(newline="", encoding="utf-8") as file:
                cells = [c for line in csv.reader(file, delimiter=SEPARATORS[ending]) for c in line]
            numbers = [c for c in cells if re.fullmatch(r"-?[0-9.e-]+", c)]
            assert any(c.startswith("-") for c in numbers)
            assert not [c for c in cells if c not in numbers and re.match(r"[=+\-@\t]", c)]
            ran = run(f"report v{ending} {source} --label y --id id -o r.html")
            assert ran.code == 0, ran.err
    printed = run("value f.csv --label y --id id --group owner -o -").out
    assert printed == Path("v.csv").read_bytes().decode()
    decided("f.csv", "0,remove,", "1,relabel,=yes")
    assert run("apply d.csv f.csv --id id -o c.csv").code == 0
    assert tables.read_table("c.csv", text=True).column("id").to_pylist() == IDS[1:]
