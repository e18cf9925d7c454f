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
    assert ran.code == 0
    notes = ran.err.splitlines()
    assert notes[0] == "dataworth: note: training 3 models, each 2 times, before and after"
    assert notes[1].startswith("dataworth: note: Share of labels: ")
    assert len(notes) == 2
    read = [arrow_csv.read_csv(f"{name}.csv") for name in ("before", "after", "test")]
    made = compare(*read[:2], test=read[2], label="y", drop=["name"], seeds=2)
    lines = ran.out.splitlines()
    assert lines[0] == "3 features: 1 number, 2 categories."
    assert lines[1] == str(made)
    assert lines[2].strip() == "80 rows before and 80 after, judged on 60 test rows, 2 seeds"
    assert lines[3].split("  ")[0].strip() == "model"
    assert max(map(len, ran.out.rstrip().splitlines())) <= 80
    assert made.verdict == "better"
    for score in (made.scores[4], made.scores[8]):
        assert f"\n{score.verdict}: {score}\n" in ran.out
    for name in ("boosting", "forest", "logistic", "The chart is in c.png."):
        assert name in ran.out
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")
    ran = run("compare before.csv after.csv --label y --id name --seeds 1 --folds 2")
    assert "60 rows that no decision touched, 2 folds, 1 time" in ran.out
    assert "dataworth: note: Only rows that no decision touched are judged" in ran.err


def test_columns_are_told_as_a_run_tells_them(run: Any) -> None:
    ids = [(i * 7919) % 100_003 for i in range(120)]
    table = rows(120) | {"id": ids, "same": ["x"] * 120, "age": ["n.k.", *map(str, range(119))]}
    tables.write_table("odd.csv", pa.table(table))
    tables.write_table("after.csv", pa.table(table).slice(1))
    told = run("value odd.csv --label y --ruler 0 --drop name")
    ran = run("compare odd.csv after.csv --label y --drop name --seeds 1 --folds 2")
    assert told.out.splitlines()[0] == ran.out.splitlines()[0]
    assert told.err.count("dataworth: note: ") == 3
    assert "column 'id' seems to name rows: hardly any entry comes twice; use --id id or" in ran.err
    assert told.err in ran.err
    assert ran.err.count("'id'") == 1


def test_a_first_column_without_a_name_has_the_ids(run: Any) -> None:
    table = {"": range(120), **rows(120)}
    tables.write_table("b.csv", pa.table(table))
    tables.write_table("a.csv", pa.table(table).slice(1))
    tables.write_table("t.csv", pa.table(rows(120)))
    ran = run("compare b.csv a.csv --test t.csv --label y --drop name --seeds 1")
    assert ran.code == 0
    assert "dataworth: note: the first column has no name, so it is used as --id." in ran.err
    tables.write_table("b.csv", pa.table({**table, "": [i // 2 for i in range(120)]}))
    ran = run("compare b.csv b.csv --test t.csv --label y --drop name --seeds 1")
    assert ran.code == 0
    assert "the first column has no name and repeats entries, so it is not used." in ran.err


def test_ids_that_become_numbers_are_the_same(run: Any) -> None:
    table = {"k": ["x1", *map(str, range(1, 120))], **rows(120)}
    tables.write_table("b.csv", pa.table(table))
    tables.write_table("a.csv", pa.table(table).slice(1))
    ran = run("compare b.csv a.csv --id k --label y --drop name --seeds 1 --folds 2")
    assert ran.code == 0
    assert "judged on 119 rows" in " ".join(ran.out.split())


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
