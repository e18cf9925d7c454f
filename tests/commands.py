"""Files and calls for the tests of the command line."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv

from dataworth import decisions
from dataworth.cli import main as cli
from dataworth.files import tables

N = 60


CODE = "import sys; from dataworth.cli.main import main; sys.exit(main())"


PROGRAM = [sys.executable, "-c", CODE]


def rows(n: int = N, seed: int = 0) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.choice(["yes", "no"], n)
    return {
        "name": [f"p{seed}-{i}" for i in range(n)],
        "size": (rng.normal(size=n) + (y == "yes")).tolist(),
        "colour": rng.choice(["red", "green"], n).tolist(),
        "owner": rng.choice(["Ann", "Bob"], n).tolist(),
        "y": y.tolist(),
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name, seed in (("train", 0), ("val", 1)):
        tables.write_table(f"{name}.csv", pa.table(rows(seed=seed)))
    return tmp_path


class Ran:
    def __init__(self, capsys: pytest.CaptureFixture[str], line: str):
        self.code = cli.main(line.split())
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(line: str) -> Ran:
        return Ran(capsys, line)

    def refused(line: str, code: int, message: str) -> None:
        ran = call(line)
        assert ran.code == code, ran.err
        assert re.match("dataworth: error: (?!Invalid value: )", ran.err)
        assert ran.err.count("\n") == 1
        assert re.search(message, ran.err), ran.err
        assert ran.out == ""

    call.refused = refused  # type: ignore[attr-defined]
    return call


def reference(names: tuple[str, ...] = ("size", "colour")) -> tuple[Any, Any, Any, Any]:
    train, val = (arrow_csv.read_csv(f"{name}.csv") for name in ("train", "val"))
    return train.select(names), train["y"], val.select(names), val["y"]


def decided(train: str, *rows: str) -> None:
    """A file of decisions about a table, as its report would have the browser write it."""
    table = tables.read_table(train, text=True)
    labels = table.column("y").to_pylist()
    data = decisions.describe(labels)
    lines = [f"{row},{labels[int(row.split(',')[0])]},,y,,{data}" for row in rows]
    Path("d.csv").write_text("\n".join([",".join(decisions.COLUMNS), *lines]) + "\n")
