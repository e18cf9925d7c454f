"""`dataworth apply`."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dataworth import DataValues
from tests.commands import decided


def test_headers_of_all_kinds(run: Any) -> None:
    Path("wide.csv").write_text("（x）,y\n1,p\n2,q\n3,p\n")
    assert run("value wide.csv --label y").code == 0
    Path("t.csv").write_text('"a\nb",id,y\n1,007,p\n2,008,q\n')
    decided("t.csv", "0,remove,")
    assert run("apply d.csv t.csv -o c.csv").code == 0
    assert Path("c.csv").read_text() == '"a\nb",id,y\n2,008,q\n'
    run.refused("apply d.csv t.csv -o c.parquet", 2, "--output must be .csv or .tsv")
    decided("t.csv", "0,remove,", "1,remove,")
    assert run("apply d.csv t.csv -o c.csv").code == 0
    assert Path("c.csv").read_text() == '"a\nb",id,y\n'


def test_apply_keeps_what_is_not_decided_on(run: Any) -> None:
    Path("t.csv").write_bytes(b'id;a;y\r\n007;1,50;yes\r\n8;NA;no\r\n9;"x;y";no\r\n')
    decided("t.csv", "1,remove,", "0,relabel,no")
    said = "1 relabelled, 1 removed: 3 rows in, 2 rows out, in c.csv.\n"
    then = "Is a model better with it? Add --test if you have test rows, and --drop if `value` had "
    then += "it:\ndataworth compare t.csv c.csv --label y"
    assert run("apply d.csv t.csv -o c.csv").out == f"{said}{then}\n"
    assert run("apply d.csv t.csv --id id -o c.csv").out == f"{said}{then} --id id\n"
    assert Path("c.csv").read_bytes() == b'id;a;y\r\n007;1,50;no\r\n9;"x;y";no\r\n'
    ran = run("apply d.csv t.csv -o c.tsv")
    assert (
        ran.err
        == "dataworth: note: Share of labels: 'yes' 33.3 % → 0.0 %, 'no' 66.7 % → 100.0 %.\n"
    )
    assert Path("c.tsv").read_bytes() == b"id\ta\ty\n007\t1,50\tno\n9\tx;y\tno\n"
    table = pa.table({"a": pa.array([1, 2, 3], pa.int8()), "y": pa.array(["no", "b", "c"])})
    parquet.write_table(table, "t.parquet")
    decided("t.parquet", "1,remove,")
    run("apply d.csv t.parquet -o c.parquet")
    assert parquet.read_table("c.parquet") == table.take([0, 2])
    run.refused("apply d.csv t.npz -o c.csv", 2, "TRAIN must end in one of")
    for option in ("--label", "--id"):
        message = f"{option} must name a column of t.parquet, one of 'a', 'y'; got 'z'.$"
        run.refused(f"apply d.csv t.parquet {option} z -o c.parquet", 2, message)


def test_apply_to_the_wrong_table_says_what_is_wrong(run: Any) -> None:
    Path("t.csv").write_text("a,y\n1,p\n2,q\n")
    decided("t.csv", "0,remove,")
    Path("other.csv").write_text("b,z\n1,p\n2,q\n")
    message = (
        "TRAIN must be the table that d.csv was made for, which has a column 'y'; "
        r"other.csv has 'b', 'z'\.$"
    )
    run.refused("apply d.csv other.csv -o c.csv", 2, message)
    Path("longer.csv").write_text("a,y\n1,p\n2,q\n3,q\n")
    run.refused("apply d.csv longer.csv -o c.csv", 2, "DECISIONS must be for these data; they were")
    lines = Path("d.csv").read_text().splitlines()
    Path("d.csv").write_text(f"{lines[0]}\n0,remove,,p,,,,\n")
    run.refused("apply d.csv t.csv -o c.csv", 2, "--label must name a column; the decisions do not")
    run.refused("apply d.csv t.csv --label a -o c.csv", 2, "'a' at position 0 is '1', and was 'p'")


def test_all_suspects_of_a_file_of_values(run: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 60)
    x = rng.normal(size=120) + 6 * (y == "b")
    y[[3, 70]] = ["b", "a"]
    lines = [f"r{i},{x[i]!r},{y[i]}" for i in range(120)]
    Path("t.csv").write_text("\n".join(["id,x,y", *lines, ""]))
    assert run("value t.csv --label y --id id --ruler 2 -o v.parquet").code == 0
    assert run("apply v.parquet t.csv --label y --id id --relabel -o c.csv").code == 0
    values = DataValues.load("v.parquet")
    suspects = values.suspects()
    suggested = dict(zip(suspects["index"], suspects["suggested"], strict=True))
    wanted = [line[:-1] + suggested.get(f"r{i}", y[i]) for i, line in enumerate(lines)]
    assert Path("c.csv").read_text() == "\n".join(["id,x,y", *wanted, ""])
    assert run("apply v.parquet t.csv --label y --remove --suspects 1 -o c.csv").code == 0
    gone = values.suspects_first[0]
    kept = [line for i, line in enumerate(lines) if i != gone]
    assert Path("c.csv").read_text() == "\n".join(["id,x,y", *kept, ""])
    run("value t.csv --label y --id id --ruler 0 -o v.csv")
    for typed, message in (
        ("v.csv t.csv --label y --remove", "--suspects must be a whole number for values without"),
        ("v.parquet t.csv --label y --remove --relabel", "--relabel must not be given with --rem"),
        ("v.parquet t.csv --label y --suspects 3", "--suspects must come with --relabel or --re"),
        ("v.parquet t.csv --label y", "DECISIONS must be the CSV file .* give --relabel or --rem"),
        ("v.parquet t.csv --remove", "--label must name a column; the decisions do not name one"),
        ("t.csv t.csv --label y --remove", "t.csv must be a file of values"),
    ):
        run.refused(f"apply {typed} -o c.csv", 2, message)


def test_shares_of_quantities_are_not_told(run: Any) -> None:
    rows = [f"{i},{1000 * i}" for i in range(60)]
    Path("p.csv").write_text("x,y\n" + "\n".join(rows) + "\n")
    decided("p.csv", "1,remove,", "0,relabel,5000")
    assert run("apply d.csv p.csv -o c.csv").err == ""
    Path("p.csv").write_text("x,y\n0,n.a.\n" + "\n".join(rows) + "\n")
    decided("p.csv", "0,remove,")
    assert run("apply d.csv p.csv -o c.csv").err == ""
