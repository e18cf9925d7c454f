"""Files as data, and arguments by the names that users know."""

import csv
import datetime as dt
import io
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import feather, parquet

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
    run("value n.csv --label y --id n --drop code -o v.parquet")
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


HUGE = [2**63 + 4096 * i for i in range(6)]


def test_columns_of_huge_integers_are_features_or_an_error(run: Any) -> None:
    def write(numbers: list[Any]) -> None:
        lines = [f"{i},{n},{'pq'[i % 2]}" for i, n in enumerate(numbers)]
        Path("h.csv").write_text("\n".join(["a,hash,y", *lines]) + "\n")

    write(HUGE)
    assert run("value h.csv --label y -o v.csv").code == 0
    table = pa.table({"a": range(6), "hash": pa.array(HUGE, pa.uint64())})
    assert_array_equal(
        read_values("v.csv")[0].values, KNNShapley().fit(table, list("pqpqpq")).value().values
    )
    for start in (2**63, -(2**63) - 10, 2**64, 10**40):
        write([start + i for i in range(6)])
        for more in ("", "--features hash"):
            message = "h.csv must hold numbers that differ after rounding .*; column 'hash' has"
            run.refused(f"value h.csv --label y {more}", 2, message)
    write(["0.5", *(2**63 + i for i in range(5))])  # fractions beside them make no difference
    run.refused("value h.csv --label y --features hash", 2, "column 'hash' has")
    assert run("value h.csv --label y --drop hash").code == 0
    write([10**80 + i for i in range(6)])
    assert run("value h.csv --label y --features hash").code == 0


def test_columns_without_features_are_named(run: Any) -> None:
    n = 12
    table = {
        "a": list(range(n)),
        "same": [3] * n,
        "gone": pa.nulls(n, pa.float64()),
        "void": pa.nulls(n),
        "each": pa.array([str(i) for i in range(n)]).dictionary_encode(),
        "y": list("pq") * (n // 2),
    }
    parquet.write_table(pa.table(table), "t.parquet")
    said = "4 columns are not used, as .*: 'same', 'gone', 'void', 'each'"
    for more in ("", "--validation t.parquet", "--cv 2", "--cv 2 --encoder forest"):
        ran = run(f"value t.parquet --label y {more}")
        assert ran.code == 0, ran.err
        assert re.search(said, ran.err), ran.err
        assert "12 training points, 1 feature," in ran.out
    ran = run("value t.parquet --label y --features a --features same --encoder none")
    assert (ran.code, ran.err) == (0, "")
    assert "2 features" in ran.out


@pytest.mark.parametrize(
    "entries",
    [
        pa.array([dt.timedelta(seconds=i) for i in range(12)]),
        pa.array([dt.time(i) for i in range(12)]),
        pa.array([Decimal(i) for i in range(12)], pa.decimal128(20, 2)),
        pa.array([Decimal(i) for i in range(12)], pa.decimal256(50, 2)),
        pa.array(np.arange(12, dtype=np.float16)),
        pa.array([str(i % 3) for i in range(12)], pa.large_string()),
        pa.array([str(i % 3) for i in range(12)]).cast(pa.string_view()),
        pa.array([[i] for i in range(12)]),
        pa.array([{"a": i} for i in range(12)]),
        pa.array([[("a", i)] for i in range(12)], pa.map_(pa.string(), pa.int64())),
        pa.array([b"%d" % i for i in range(12)]),
        pa.array([pa.MonthDayNano([i, 1, 1]) for i in range(12)]),
    ],
    ids=lambda entries: str(entries.type),
)
def test_no_kind_of_column_is_dropped_without_a_word(run: Any, entries: Any) -> None:
    X = pa.table({"a": np.arange(12) % 5, "odd": entries})
    table = X.append_column("y", pa.array(list("ppqqpq") * 2))
    # Compressed string views crash older versions of pyarrow.
    feather.write_feather(table, "t.arrow", compression="uncompressed")
    ran = run("value t.arrow --label y -o v.csv")
    if ran.code:
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "'odd' has type" in ran.err
        assert "--drop" in ran.err
    else:
        alone = KNNShapley().fit(X.select(["a"]), list("ppqqpq") * 2).value()
        assert not np.array_equal(read_values("v.csv")[0].values, alone.values)


def test_gaps_are_named_by_their_columns(run: Any) -> None:
    lines = [f"p{i},{i},{'' if i == 3 else i},{'pq'[i % 2]}" for i in range(6)]
    Path("g.csv").write_text("\n".join(["name,a,b,y", *lines]) + "\n")
    line = "--label y --id name --encoder none"
    run.refused(f"value g.csv {line}", 2, r"g.csv must be finite; row 3, column 'b' is NaN\.")
    Path("f.csv").write_text(Path("g.csv").read_text().replace(",,", ",7,"))
    run.refused(
        f"value f.csv {line} --validation g.csv", 2, r"g.csv must .* row 3, column 'b' is NaN"
    )
    run.refused("value f.csv --label y --encoder none", 2, "f.csv must .* column 'name'")
    Z = np.arange(24.0).reshape(6, 4)
    Z[:, 0] = range(6)
    np.save("f.npy", Z)
    Z[2, 3] = np.nan
    np.save("g.npy", Z)
    run.refused("value g.npy --label 0", 2, r"g.npy must be finite; row 2, column 3 is NaN")
    run.refused(
        "value f.npy --label 0 --validation g.npy", 2, r"g.npy must be .*row 2, column 3 is NaN"
    )
    np.savez("z.npz", X=np.zeros((6, 4)), y=list("pqpqpq"), X_val=Z, y_val=list("pqpqpq"))
    for more in ("", "--features 2 --features 3"):
        run.refused(f"value z.npz {more}", 2, r"X_val of z.npz must be .*row 2, column 3 is NaN")
    assert run("value z.npz --features 1").code == 0


def test_text_is_called_text(run: Any) -> None:
    said = "column 'y' of train.csv must hold real numbers; got text, such as '(yes|no)'"
    run.refused("value train.csv --label y --game regression", 2, said)


def test_a_run_that_goes_on_says_so(run: Any) -> None:
    line = "value train.csv --label y --features size --checkpoint state"
    assert "validation points" not in run(line).err
    ran = run(line)
    assert ran.code == 0
    assert "goes on from 'state', where 60 of 60 validation points are done" in ran.err
