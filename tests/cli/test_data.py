"""Files as data, and arguments by the names that users know."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import parquet

from dataworth import KNNShapley
from dataworth.cli import data
from dataworth.errors import InputError, InputTypeError
from dataworth.result import read_values


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
        run.refused(line, 2, f"error: {named} must be X; got y. Use n_neighbors.$")


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


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("value train.csv --label y -o train.csv", "--output must be another file than TRAIN"),
        ("value train.csv --label y -o ./train.csv", "--output must be another file than TRAIN"),
        ("value train.csv --label y -o link.csv", "--output must be another file than TRAIN"),
        (
            "value train.csv --label y --validation val.csv -o val.csv",
            "--output must be another file than --validation",
        ),
        ("report v.csv train.csv --label y -o train.html", "--output must be another file than TR"),
        ("apply decisions.csv train.csv -o train.csv", "--output must be another file than TRAIN"),
        ("apply d.csv train.csv -o d.csv", "--output must be another file than DECISIONS"),
    ],
)
def test_no_output_overwrites_an_input(run: Any, line: str, message: str) -> None:
    Path("link.csv").symlink_to("train.csv")
    Path("train.html").symlink_to("train.csv")
    before = Path("train.csv").read_bytes()
    run.refused(line, 2, message)
    assert Path("train.csv").read_bytes() == before


def test_arrays_of_other_widths(run: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    np.savez("wide.npz", X=X, y=y, X_val=rng.normal(size=(9, 4)), y_val=y[:9])
    run.refused(
        "value wide.npz", 2, "X_val of wide.npz must have 3 columns, as wide.npz has; got 4"
    )
    np.save("xy.npy", np.column_stack([X, y]))
    np.save("wider.npy", np.column_stack([X, y, y]))
    run.refused(
        "value xy.npy --label 3 --validation wider.npy",
        2,
        "wider.npy must have 4 columns, as xy.npy",
    )


def test_checkpoints_are_named_as_they_were_typed(run: Any) -> None:
    line = "value train.csv --label y --checkpoint train.csv"
    run.refused(line, 2, "--checkpoint must name a folder; 'train.csv' is a file")
