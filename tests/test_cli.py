"""The command line, as people call it."""

import csv
import io
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import dataworth
from dataworth import KNNShapley, TableEncoder, decisions, demo
from dataworth.cli import data, options
from dataworth.cli import main as cli
from dataworth.errors import InputError, InputTypeError
from dataworth.files import tables
from dataworth.games.registry import GAMES
from dataworth.games.ties import TIES
from dataworth.result import read_values
from dataworth.weights.functions import WEIGHTS

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


def test_leave_one_out(run: Any) -> None:
    ran = run("value train.csv --label y --id name --drop owner -o values.parquet")
    assert (ran.code, ran.err) == (0, "")
    X, y, _, _ = reference()
    ref = KNNShapley().fit(X, y).value()
    table = parquet.read_table("values.parquet")
    assert table.column_names == ["id", "value", "lower", "upper", "label"]
    assert_array_equal(table["value"], ref.values)
    assert table["id"].to_pylist() == rows()["name"]
    assert "60 training points, 2 features, leave-one-out" in ran.out
    worst = np.argsort(ref.values, kind="stable")[:10]
    shown = re.findall(r"p0-(\d+)", ran.out)
    assert shown == [str(i) for i in worst]


def test_every_option_reaches_the_valuator(run: Any) -> None:
    line = (
        "value train.csv --label y --features size --validation val.csv -k 3 --game hard "
        "--weights rbf --bandwidth 0.5 --bits 2 --metric manhattan --max-rank 20 --jobs 1 "
        "--semivalue beta:4,1 --encoder none -o v.npz --top 0"
    )
    ran = run(line)
    assert ran.code == 0, ran.err
    X, y, X_val, y_val = reference(("size",))
    ref = KNNShapley(
        n_neighbors=3,
        game="hard",
        bandwidth=0.5,
        n_bits=2,
        metric="manhattan",
        max_rank=20,
        semivalue=("beta", 4, 1),
        encoder=None,
    )
    expected = ref.fit(X, y).value(X_val, y_val)
    got = dataworth.DataValues.load("v.npz")
    for name in ("values", "lower", "upper"):
        assert_array_equal(getattr(got, name), getattr(expected, name))
    assert "least valuable" not in ran.out
    ran = run(
        "value train.csv --label y --features size --radius 0.7 --weights uniform --cv 3 "
        "--bits none --semivalue banzhaf -o r.csv"
    )
    assert ran.code == 0, ran.err
    again = KNNShapley(radius=0.7, weights="uniform", n_bits=None, semivalue="banzhaf")
    got, _ = read_values("r.csv")
    assert_array_equal(got.values, again.fit(X, y).value(cv=3).values)
    assert "3 folds" in ran.out


def test_groups_are_paid(run: Any) -> None:
    ran = run("value train.csv --label y --id name --group owner -o v.csv")
    values, owners = read_values("v.csv")
    assert owners is not None
    assert owners.tolist() == rows()["owner"]
    for row in values.by(owners):
        cells = rf"{row['group']}\s+{row['count']}\s+{row['sum']:.6g}\s+{100 * row['share']:.1f} %"
        assert re.search(cells, ran.out)
    assert re.search(r"Ann\s+\d+", run("info v.csv").out)


def test_standard_output_is_csv_only(run: Any) -> None:
    ran = run("value train.csv --label y --drop name --drop owner -o -")
    lines = list(csv.DictReader(io.StringIO(ran.out)))
    X, y, _, _ = reference()
    ref = KNNShapley().fit(X, y).value()
    assert [float(line["value"]) for line in lines] == ref.values.tolist()
    assert ran.code == 0
    assert "60 training points" in ran.err


def test_info_shows_parameters(run: Any) -> None:
    run("value train.csv --label y --max-rank sqrt --validation val.csv -o v.arrow")
    ran = run("info v.arrow --top 3")
    assert ran.code == 0
    for fact in (r"dataworth +0\.1\.0", r"max_rank +sqrt", r"n_neighbors +5", r"points +60\b"):
        assert re.search(fact, ran.out), ran.out
    assert ran.out.count("\n") > 20
    run("value train.csv --label y -o v.tsv")
    assert "Parameters are not known" in run("info v.tsv").out


def test_arrays_by_name_and_by_number(run: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    X_val, y_val = rng.normal(size=(9, 3)), np.arange(9) % 2
    np.savez("a.npz", X=X, y=y, who=[f"n{i}" for i in range(30)])
    np.savez("b.npz", X=X, y=y, X_val=X_val, y_val=y_val)
    np.save("x.npy", X)
    np.save("y.npy", y)
    np.save("xy.npy", np.column_stack([X, y]))
    np.save("xy_val.npy", np.column_stack([X_val, y_val]))
    alone = KNNShapley().fit(X, y).value().values
    judged = KNNShapley().fit(X, y).value(X_val, y_val).values
    for line, ref in (
        ("a.npz --id who", alone),
        ("b.npz", judged),
        ("x.npy --label y.npy", alone),
        ("xy.npy --label 3", alone),
        ("xy.npy --label=-1 --validation xy_val.npy", judged),
        ("b.npz --features 0 --features 2", None),
    ):
        ran = run(f"value {line} -o v.npz")
        assert ran.code == 0, ran.err
        expected = ref
        if ref is None:
            expected = KNNShapley().fit(X[:, ::2], y).value(X_val[:, ::2], y_val).values
        assert_array_equal(read_values("v.npz")[0].values, expected)
    run.refused("value x.npy --label y.npy --validation xy_val.npy", 2, "needs labels in a column")
    run.refused("value x.npy", 2, "--label must name")


def test_an_unnamed_first_column_is_an_index(run: Any) -> None:
    Path("i.csv").write_text(",a,y\n10,1,p\n11,2,q\n12,3,p\n")
    ran = run("value i.csv --label y -o v.csv")
    assert ran.code == 0
    assert "the first column has no name" in ran.err
    values, _ = read_values("v.csv")
    assert values.index.tolist() == [10, 11, 12]
    ref = KNNShapley().fit(pa.table({"a": [1, 2, 3]}), list("pqp")).value()
    assert_array_equal(values.values, ref.values)


def test_forest(run: Any) -> None:
    run.refused("value train.csv --label y --encoder forest", 2, "give --validation or --cv")
    ran = run("value train.csv --label y --encoder forest --cv 3 -o v.npz")
    assert ran.code == 0, ran.err
    values, _ = read_values("v.npz")
    assert values.params["metric"] == "hamming"
    assert TableEncoder.__name__ in values.params["encoder"]


WRONG = [
    ("value train.csv", "--label must name the column of labels"),
    ("value train.csv --label y --game chess", "'--game'.*'chess' is not one of"),
    ("value train.csv --label y --neighbors 0", "--neighbors must be a whole number of at least 1"),
    ("value train.csv --label y --bits 12", "--bits must be a whole number from 1 to 10"),
    ("value train.csv --label y --bits x", "--bits must be a whole number; got 'x'"),
    ("value train.csv --label y --max-rank log", "--max-rank must be a whole number or sqrt or"),
    ("value train.csv --label y --bandwidth wide", "--bandwidth must be a number or auto"),
    ("value train.csv --label y --semivalue gamma", "--semivalue must be shapley, banzhaf or"),
    ("value train.csv --label y --semivalue beta:0,1", "numbers from 1e-6 to 1e6"),
    ("value train.csv --label y --metric far", "--metric must be"),
    ("value train.csv --label y --cv 1", "'--cv'"),
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
FAILS = [
    ("value no.csv --label y", "No such file or directory: 'no.csv'"),
    ("value train.csv --label why", "--label must name a column of train.csv, .* got 'why'"),
    ("value train.csv --label y --drop z", "--drop must name a column"),
    ("value train.csv --label y -o no/v.csv", "no/v.csv must be in a folder that exists"),
    ("value train.csv --label y -o folder.csv", "folder.csv must be a file; it is a folder"),
    ("value train.csv --label size", "column 'size' of train.csv must hold class labels"),
    ("value gaps.csv --label y", r"column 'y' of gaps.csv must not .* row 1 \(from 0\)"),
    ("value train.csv --label y --validation gaps.csv", "gaps.csv must have every feature"),
    ("value train.csv --label y --validation odd.csv", "column 'y' of odd.csv must hold labels"),
    ("value one.csv --label y", "one.csv must have a column that differs"),
    ("value only.csv --label y", "only.csv must have a column of features"),
    ("value gaps.csv --label a --group y", "--group must not have missing entries"),
    ("info train.csv", "train.csv must be a file of values"),
    ("info no.parquet", "No such file"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_wrong_commands(run: Any, line: str, message: str) -> None:
    run.refused(line, 2, message)


@pytest.mark.parametrize(("line", "message"), FAILS)
def test_failed_runs(run: Any, line: str, message: str) -> None:
    Path("gaps.csv").write_text("a,b,y\n1,1,p\n2,2,\n3,3,q\n")
    Path("one.csv").write_text("a,y\n1,p\n1,q\n")
    Path("only.csv").write_text("y\np\nq\n")
    Path("folder.csv").mkdir()
    odd = {**rows(), "y": ["maybe"] * N}
    tables.write_table("odd.csv", pa.table(odd))
    run.refused(line, 1, message)


def test_debug_shows_where(run: Any) -> None:
    ran = run("value no.csv --label y --debug")
    assert ran.code == 1
    assert "Traceback" in ran.err
    assert ran.err.splitlines()[-1].startswith("dataworth: error: No such file")


def test_a_bug_is_one_line_too(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("of\nall things")

    monkeypatch.setattr("dataworth.cli.data.read_values", broken)
    run.refused("info v.csv", 1, "of all things .a bug. --debug shows where")


def test_errors_of_others_pass_unchanged(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that cannot be made from a message alone, and those that look like ours."""
    strange = UnicodeDecodeError("utf-8", b"caf\xe9", 3, 4, "unexpected end of data")
    other = ValueError("Input X contains\ninfinity.")
    monkeypatch.setattr(KNNShapley, "fit", raising(strange))
    run.refused("value train.csv --label y", 1, "error: 'utf-8' codec can't decode byte 0xe9 in po")
    with pytest.raises(UnicodeDecodeError) as caught, data.renaming({"X": "--label"}):
        raise strange
    assert caught.value is strange
    monkeypatch.setattr(KNNShapley, "fit", raising(other))
    run.refused("value train.csv --label y", 1, "error: Input X contains infinity.$")


def raising(error: Exception) -> Any:
    def function(*args: Any, **options: Any) -> None:
        raise error

    return function


@pytest.mark.parametrize("kind", [InputError, InputTypeError])
def test_arguments_become_options_files_and_columns(
    run: Any, monkeypatch: pytest.MonkeyPatch, kind: type[InputError]
) -> None:
    for argument, named in {
        "n_neighbors": "--neighbors",
        "max_rank": "--max-rank",
        "checkpoint": "--checkpoint",
        "X": "train.csv",
        "X_val": "val.csv",
        "y": "column 'y' of train.csv",
        "y_val": "column 'y' of val.csv",
        "a thing": "a thing",
    }.items():
        error = kind(argument, "be X", "got y", "Use n_neighbors.")
        monkeypatch.setattr(KNNShapley, "value", raising(error))
        line = "value train.csv --label y --validation val.csv"
        run.refused(line, 1, f"error: {named} must be X; got y. Use n_neighbors.$")


def test_a_validation_file_is_read_once(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read, seen = tables.read_table, []

    def counted(path: Any, **options: Any) -> Any:
        seen.append(str(path))
        return read(path, **options)

    monkeypatch.setattr(tables, "read_table", counted)
    got: dict[str, Any] = {}
    monkeypatch.setattr("dataworth.report.write", lambda *a, **options: got.update(options))
    ran = run("value train.csv --label y --validation val.csv --report r.html")
    assert ran.code == 0, ran.err
    assert sorted(seen) == ["train.csv", "val.csv"]
    assert got["validation"] == arrow_csv.read_csv("val.csv").to_pydict()


def test_data_cannot_steer_the_terminal(run: Any) -> None:
    table = rows(4)
    table["y"] = ["\x1b[31mred", "[bold]x[/bold]", "\x1b[31mred", "[bold]x[/bold]"]
    tables.write_table("e.parquet", pa.table(table))
    ran = run("value e.parquet --label y --features size")
    assert "\x1b[31m" not in ran.out
    assert "�[31mred" in ran.out
    assert "[bold]x[/bold]" in ran.out


def test_output_replaces_a_file_whole(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "v.csv"
    path.write_text("old")
    before = sorted(folder.iterdir())
    monkeypatch.setattr(tables, "write_csv", lambda *a: 1 / 0)
    assert run("value train.csv --label y -o v.csv").code == 1
    assert path.read_text() == "old"
    assert sorted(folder.iterdir()) == before


def test_help_and_version(run: Any) -> None:
    assert run("--version").out == f"dataworth {dataworth.__version__}\n"
    for line in ("", "--help"):
        ran = run(line)
        assert ran.code == 0
        assert all(name in ran.out for name in ("value", "demo", "info", "report", "apply"))
        assert "--show-completion" in ran.out
    for command in ("value", "demo", "info", "report", "apply"):
        assert re.search(rf"Examples?:\s+dataworth {command}", run(f"{command} --help").out)


def test_demo_is_the_demo(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "main", lambda: print("shown"))
    assert run("demo").out == "shown\n"


HEAVY = ("sklearn", "numba", "pyarrow", "pandas", "scipy")


def loaded(code: str) -> str:
    """Which heavy libraries a fresh process has loaded after running this code."""
    code += f"\nprint(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.strip()


def test_importing_the_package_is_light() -> None:
    assert loaded("import sys, dataworth\nassert 'KNNShapley' in dir(dataworth)") == "[]"
    assert "numba" in loaded("import sys, dataworth\ndataworth.KNNShapley")


@pytest.mark.parametrize("line", ["--help", "--version", "value --help", "value --wrong"])
def test_help_is_light(line: str) -> None:
    code = f"import sys\nfrom dataworth.cli.main import main\nmain({line.split()})"
    assert loaded(code).splitlines()[-1] == "[]"


def test_what_the_package_exports() -> None:
    assert set(dataworth.__all__) <= set(dir(dataworth))
    for name in dataworth.__all__:
        kind = getattr(dataworth, name)
        assert kind.__name__ == name
        assert pickle.loads(pickle.dumps(kind)) is kind
    with pytest.raises(AttributeError, match="module 'dataworth' has no attribute 'worth'"):
        _ = dataworth.worth
    with pytest.raises(ImportError):
        exec("from dataworth import worth")
    code = "import sys\nfrom dataworth import report, plots, decisions\nfrom dataworth import *"
    assert "numba" in loaded(code + "\nKNNShapley, DataValues, decisions.read, report.write")


def test_every_choice_is_in_the_help(run: Any) -> None:
    shown = " ".join(re.sub("[│╭╰─╮╯]", " ", run("value --help").out).split())
    registries: tuple[Mapping[str, Any], ...] = (GAMES, WEIGHTS, TIES, options.ENCODERS)
    for choices in registries:
        assert f"<{'|'.join(choices)}>" in shown.replace("<", " <")
        for name, entry in choices.items():
            assert f"{name}: {getattr(entry, 'short', entry.words)}" in shown


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
        "dataworth: error: the command line needs typer: pip install 'dataworth[cli]'\n"
    )


def test_a_closed_pipe_is_quiet(folder: Path) -> None:
    tables.write_table("long.csv", pa.table(rows(3000)))
    line = "value long.csv --label y --features size --weights uniform -o -"
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
    run.refused("report v.csv short.csv --label y -o r.html", 1, "must hold the 60 points of v.csv")


def test_notes_and_limits(run: Any) -> None:
    Path("one.csv").write_text("a,y\n1,p\n2,p\n3,p\n")
    ran = run("value one.csv --label y")
    assert ran.code == 0
    assert "all labels are the same, so every value is 0" in ran.err
    run.refused("value train.csv --label y --cv 61", 2, "--cv must be at most the number of points")
    Path("d.csv").write_text("position\n1\n")
    run.refused("apply d.csv train.csv -o c.csv", 1, "DECISIONS must name a file with the columns")


def test_names_stay_what_they_are(run: Any) -> None:
    """Owners 01 and 1 are two, and an id of twenty digits is no number; plain integers are."""
    lines = [f"{i},{'01' if i % 2 else '1'},{10**19 + i},{i % 3},{'pq'[i % 2]}" for i in range(8)]
    Path("n.csv").write_text("\n".join(["n,owner,code,a,y", *lines]) + "\n")
    assert run("value n.csv --label y --id code --group owner -o v.csv").code == 0
    got = list(csv.DictReader(io.StringIO(Path("v.csv").read_text())))
    assert [row["id"] for row in got] == [str(10**19 + i) for i in range(8)]
    assert {row["group"] for row in got} == {"01", "1"}
    run("value n.csv --label y --id n -o v.parquet")
    assert parquet.read_table("v.parquet").column("id").type == pa.int64()


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


def decided(train: str, *rows: str) -> None:
    """A file of decisions about a table, as its report would have the browser write it."""
    table = tables.read_table(train, text=True)
    labels = table.column("y").to_pylist()
    data = decisions.describe(labels)
    lines = [f"{row},{labels[int(row.split(',')[0])]},,y,,{data}" for row in rows]
    Path("d.csv").write_text("\n".join([",".join(decisions.COLUMNS), *lines]) + "\n")


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
    run.refused("apply d.csv val.csv -o c.csv", 1, "decisions")


def test_apply_keeps_what_is_not_decided_on(run: Any) -> None:
    Path("t.csv").write_bytes(b'id;a;y\r\n007;1,50;yes\r\n8;NA;no\r\n9;"x;y";no\r\n')
    decided("t.csv", "1,remove,", "0,relabel,no")
    assert run("apply d.csv t.csv -o c.csv").out == "3 rows in, 2 rows out: c.csv.\n"
    assert Path("c.csv").read_bytes() == b'id;a;y\r\n007;1,50;no\r\n9;"x;y";no\r\n'
    run("apply d.csv t.csv -o c.tsv")
    assert Path("c.tsv").read_bytes() == b"id\ta\ty\n007\t1,50\tno\n9\tx;y\tno\n"
    table = pa.table({"a": pa.array([1, 2, 3], pa.int8()), "y": pa.array(["no", "b", "c"])})
    parquet.write_table(table, "t.parquet")
    decided("t.parquet", "1,remove,")
    run("apply d.csv t.parquet -o c.parquet")
    assert parquet.read_table("c.parquet") == table.take([0, 2])
    run.refused("apply d.csv t.npz -o c.csv", 2, "TRAIN must end in one of")
    for option in ("--label", "--id"):
        message = f"{option} must name a column of t.parquet, one of 'a', 'y'; got 'z'.$"
        run.refused(f"apply d.csv t.parquet {option} z -o c.parquet", 1, message)
