"""`dataworth compare`."""

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from dataworth import compare
from dataworth.cli import options
from dataworth.files import tables
from dataworth.inputs.targets import TASKS
from tests.commands import decided, rows


def test_before_and_after(run: Any) -> None:
    before = rows(80, seed=0)
    before["y"] = ["yes" if s > 0.5 else "no" for s in before["size"]]
    wrong = dict(before, y=[("no" if y == "yes" else "yes") if i < 20 else y
                            for i, y in enumerate(before["y"])])  # fmt: skip
    test = rows(60, seed=1)
    test["y"] = ["yes" if s > 0.5 else "no" for s in test["size"]]
    for name, table in (("before", wrong), ("test", test)):
        tables.write_table(f"{name}.csv", pa.table(table))
    decided("before.csv", *(f"{i},relabel,{before['y'][i]}" for i in range(20)))
    assert run("apply d.csv before.csv -o after.csv").code == 0
    ran = run(
        "compare before.csv after.csv --test test.csv --label y --drop name --seeds 2 --plot c.png"
    )
    assert (ran.code, ran.err) == (0, "")
    read = [arrow_csv.read_csv(f"{name}.csv") for name in ("before", "after", "test")]
    made = compare(*read[:2], test=read[2], label="y", drop=["name"], seeds=2)
    lines = ran.out.splitlines()
    assert lines[0] == str(made)
    assert lines[1].strip() == "80 rows before and 80 after, judged on 60 test rows, 2 seeds"
    assert lines[2].split("  ")[0].strip() == "model"
    assert max(map(len, ran.out.rstrip().splitlines())) <= 80
    assert made.verdict == "better"
    for name in ("boosting", "forest", "logistic", "The chart is in c.png."):
        assert name in ran.out
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")
    ran = run("compare before.csv after.csv --label y --id name --seeds 1 --folds 2")
    assert "60 rows that no decision touched, 2 folds, 1 time" in ran.out
    assert "dataworth: note: Only rows that no decision touched are judged" in ran.err


def test_refused(run: Any) -> None:
    whole = "compare train.csv val.csv --label y"
    for line, message in (
        (f"{whole} --id nam", "--id must name a column of before; .*Did you mean 'name'"),
        ("compare train.csv val.csv --label z", "--label must name a column of before"),
        (f"{whole} --plot c.txt", "--plot must end in one of .png, .svg, .pdf"),
        (f"{whole} --plot no/c.png", "--plot must be in a folder that exists"),
        (f"{whole} --test no.csv", "--test must name a file that exists"),
        ("compare train.csv x.npz --label y", "AFTER must end in one of"),
        ("compare no.csv val.csv --label y", "BEFORE must name a file that exists"),
        (f"{whole} --task numbers", "column 'y' of train.csv must hold real numbers"),
        (f"{whole} --id name", "val.csv must share at least 10 unchanged rows with"),
        (f"{whole} --seeds 0", "--seeds must be a whole number of at least 1"),
    ):
        run.refused(line, 2, message)


def test_tasks_are_those_of_the_library() -> None:
    assert tuple(options.TASKS) == TASKS
