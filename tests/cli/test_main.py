"""The command line, as people call it: help, errors, interruptions."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dataworth
from dataworth.files import tables
from tests.commands import CODE, PROGRAM, N, rows

WRONG = [
    ("value train.csv", "--label must name the column of labels"),
    ("value train.csv --label y --game chess", "--game must be one of .* got 'chess'"),
    ("value train.csv --label y --neighbors 0", "--neighbors must be a whole number of at least 1"),
    ("value train.csv --label y --bits 12", "--bits must be a whole number from 1 to 10"),
    ("value train.csv --label y --bits x", "--bits must be a whole number, auto or none; got 'x'"),
    ("value train.csv --label y --max-rank log", "--max-rank must be a whole number, sqrt or"),
    ("value train.csv --label y --bandwidth wide", "--bandwidth must be a number or auto"),
    ("value train.csv --label y --semivalue gamma", "--semivalue must be shapley, banzhaf or"),
    ("value train.csv --label y --semivalue beta:0,1", "numbers from 1e-6 to 1e6"),
    ("value train.csv --label y --metric far", "--metric must be"),
    ("value train.csv --label y --log --task classes", "--log must be left out with --task cl"),
    ("value train.csv --label y --log --game hard", "--log must be left out with --game hard"),
    ("value train.csv --label y --cv 1", "--cv must be a whole number of at least 2"),
    ("value train.csv --label y --cv 3 --validation val.csv", "--cv must not be given with"),
    ("value train.csv --label y -o values.xlsx", "--output must end in one of"),
    ("value train.csv --label y --jobs 0", "--jobs must be"),
    ("value train.csv --label y --features size --drop size", "--features must not have another"),
    ("value train.txt --label y", "TRAIN must end in one of .csv"),
    ("value", "Missing argument"),
    ("value train.csv --label y --wrong", "No such option.*--wrong"),
    ("nothing", "No such command 'nothing'"),
    ("info train.xls", "VALUES must end in one of"),
]
UNFIT = [
    ("value no.csv --label y", "TRAIN must name a file that exists; 'no.csv' does not"),
    ("value train.csv --label why", "--label must name a column of train.csv, .* got 'why'"),
    ("value train.csv --label y --drop z", "--drop must name a column"),
    (
        "value train.csv --label y -o no/v.csv",
        "--output must be in a folder that exists; 'no/v.csv'",
    ),
    (
        "value train.csv --label y -o folder.csv",
        "--output must name a file; 'folder.csv' is a folder",
    ),
    ("value train.csv --label size", "column 'size' of train.csv must hold class labels"),
    ("value train.csv --label y --log", "column 'y' of train.csv must hold real numbers"),
    (
        "value train.csv --label size --log",
        r"column 'size' of train.csv must hold positive numbers with --log; \d\d of 60 are 0 or",
    ),
    ("value gaps.csv --label y", r"column 'y' of gaps.csv must not .* row 1 \(from 0\)"),
    ("value train.csv --label y --validation gaps.csv", "gaps.csv must have every feature"),
    ("value train.csv --label y --validation odd.csv", "column 'y' of odd.csv must hold only"),
    ("value one.csv --label y", "one.csv must have a column that differs"),
    ("value only.csv --label y", "only.csv must have a column of features"),
    ("value gaps.csv --label a --group y", "--group must not have missing entries"),
    ("info train.csv", "train.csv must be a file of values"),
    ("info no.parquet", "VALUES must name a file that exists"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_wrong_commands(run: Any, line: str, message: str) -> None:
    run.refused(line, 2, message)


@pytest.mark.parametrize(("line", "message"), UNFIT)
def test_wrong_data(run: Any, line: str, message: str) -> None:
    Path("gaps.csv").write_text("a,b,y\n1,1,p\n2,2,\n3,3,q\n")
    Path("one.csv").write_text("a,y\n1,p\n1,q\n")
    Path("only.csv").write_text("y\np\nq\n")
    Path("folder.csv").mkdir()
    odd = {**rows(), "y": ["maybe"] * N}
    tables.write_table("odd.csv", pa.table(odd))
    run.refused(line, 2, message)


def test_debug_shows_where(run: Any) -> None:
    ran = run("value no.csv --label y --debug")
    assert ran.code == 2
    assert "Traceback" in ran.err
    assert ran.err.splitlines()[-1].startswith("dataworth: error: TRAIN must name a file")


def test_a_bug_is_one_line_too(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("of\nall things")

    monkeypatch.setattr("dataworth.cli.data.read_values", broken)
    run.refused("info train.csv", 1, "of all things .a bug. --debug shows where")


def test_help_and_version(run: Any) -> None:
    assert run("--version").out == f"dataworth {dataworth.__version__}\n"
    for line in ("", "--help"):
        ran = run(line)
        assert ran.code == 0
        assert all(name in ran.out for name in ("value", "demo", "info", "report", "apply"))
        assert "--show-completion" in ran.out
    for command in ("value", "demo", "info", "report", "apply"):
        assert re.search(rf"Examples?:\s+dataworth {command}", run(f"{command} --help").out)


def test_completion() -> None:
    env = {**os.environ, "_DATAWORTH_COMPLETE": "complete_bash", "COMP_WORDS": "dataworth va"}
    done = subprocess.run(
        PROGRAM, env={**env, "COMP_CWORD": "1"}, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["value"]


def test_without_typer() -> None:
    code = "import sys; sys.modules['typer'] = None\n" + CODE
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "dataworth: error: the command line needs typer: "
        "pip install '.[cli]' in the folder of dataworth's sources\n"
    )


def test_a_closed_pipe_is_quiet(folder: Path) -> None:
    tables.write_table("long.csv", pa.table(rows(3000)))
    line = "value long.csv --label y --features size --weights uniform --ruler 0 -o -"
    with subprocess.Popen(
        [*PROGRAM, *line.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
    assert "rror" not in said
    assert process.returncode == 1


def test_interruption_and_going_on(folder: Path) -> None:
    tables.write_table("long.csv", pa.table(rows(6000)))
    line = "value long.csv --label y --features size --bits 6 --checkpoint state -o v.npz -j 1"
    line += " --ruler 0"
    with subprocess.Popen([*PROGRAM, *line.split()], stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 120
        while not list(folder.glob("state/*.npz")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read().decode()
    assert process.returncode == 130
    assert said == "dataworth: error: interrupted; the same command goes on from here.\n"
    assert not Path("v.npz").exists()
