"""Files of tables and of arrays."""

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from dataworth.files import tables


def csv(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_csv_types(tmp_path: Path) -> None:
    path = csv(
        tmp_path / "a.csv",
        "n,f,b,d,t,s,gap\n1,0.5,true,2024-01-02,2024-01-02 03:04:05,x y,\n"
        '-7,1e3,false,2024-12-31,2024-01-02 00:00:00,"q, ""r""\nnext",NA\n',
    )
    table = tables.read_table(path)
    rows = table.to_pylist()
    assert rows[0] == {
        "n": 1,
        "f": 0.5,
        "b": True,
        "d": dt.date(2024, 1, 2),
        "t": dt.datetime(2024, 1, 2, 3, 4, 5),
        "s": "x y",
        "gap": None,
    }
    assert rows[1]["s"] == 'q, "r"\nnext'
    text = tables.read_table(path, text=True)
    assert text.to_pylist()[1]["n"] == "-7"
    assert text.to_pylist()[1]["gap"] == "NA"


def test_the_type_of_a_column_is_that_of_all_of_its_cells(tmp_path: Path) -> None:
    lines = "".join(f"{i},{i}\n" for i in range(300_000))
    table = tables.read_table(csv(tmp_path / "a.csv", f"a,b\n{lines}x,0.5\n"))
    assert table.column("a").to_pylist()[-2:] == ["299999", "x"]
    assert table.column("b").to_pylist()[-2:] == [299999.0, 0.5]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("\ufeffa,b\n1,2\n", {"a": [1], "b": [2]}),
        ("a,b\r\n1,2\r\n", {"a": [1], "b": [2]}),
        ("a;b\n1,5;x\n", {"a": [1.5], "b": ["x"]}),
        ("a;b\n1.5;x\n", {"a": [1.5], "b": ["x"]}),
        ("a,b;c\n1,2\n", {"a": [1], "b;c": [2]}),
        ('"a","b, c"\n"1","é"\n', {"a": [1], "b, c": ["é"]}),
        ("a\n1\n\n2\n", {"a": [1, 2]}),
    ],
)
def test_messy_csv(content: str, expected: dict[str, Any], tmp_path: Path) -> None:
    assert tables.read_table(csv(tmp_path / "a.csv", content)).to_pydict() == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3,é\n".encode("latin-1"), "a.csv must be in UTF-8; line 3 is not"),
        ("a,b\n1,2\n".encode("utf-16"), "a.csv must be in UTF-8; line 1 is not"),
        (b"a,b\n1,\0\n", "it holds zero bytes"),
        (
            "a,b\n1,2,3\n",
            r"a.csv must have 2 cells in each line, .*; line 2 has 3: '1,2,3'\.",
        ),
        ('a,b\n\n"1\n\n",2\n\n3\n', r"must have 2 cells .*; line 7 has 1: '3'\."),
        ('a;b\r\n1;2\r\n3;4;"5\r\n"\r\n', "must have 2 cells .*; line 3 has 3: '3;4;\"5 \"'"),
        ("a,a\n1,2\n", "columns of different names; 'a' is there twice"),
        ("", "must have a line of column names; it is empty"),
        ("a,b\n", "a.csv must have rows; it has none"),
    ],
)
def test_csv_that_cannot_be_read(content: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        tables.read(csv(tmp_path / "a.csv", content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", tables.TABLES)
def test_tables_of_every_kind(ending: str, tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "s": ['x,"y"\tz', None], "f": [0.1, 1e-300]})
    path = tmp_path / f"a{ending}"
    tables.write_table(path, table)
    source = tables.read(path)
    assert source.columns() == table.to_pydict()
    assert len(source) == 2
    assert source.features(["f", "a"]).column_names == ["f", "a"]
    with pytest.raises(ValueError, match="--id must name a column of .* 'a', 's', 'f'; got 'z'"):
        source.column("z", "--id")
    with pytest.raises(ValueError, match="must have every feature; missing: 'z'"):
        source.features(["a", "z"])


def test_arrays(tmp_path: Path) -> None:
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "a.npy", X)
    source = tables.read(tmp_path / "a.npy")
    assert source.names == ["0", "1"]
    assert_array_equal(source.column("1", ""), [1, 3, 5])
    assert_array_equal(source.features(["1"]), X[:, 1:])
    np.savez(tmp_path / "a.npz", X=X, y=["a", "b", "a"], short=[1])
    source = tables.read(tmp_path / "a.npz")
    assert source.columns() == {"y": ["a", "b", "a"], "0": [0, 2, 4], "1": [1, 3, 5]}
    with pytest.raises(
        ValueError, match=r"--id must name an array of 3 entries; 'short' .* \(1,\)"
    ):
        source.column("short", "--id")


def test_other_files_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "p.npz", Y=[1])
    np.save(tmp_path / "one.npy", np.ones(3))
    for name in ("b.parquet", "b.feather", "b.npz", "b.npy"):
        csv(tmp_path / name, "nonsense")
    for name, message in (
        ("p.npy", "p.npy must be a sound file; it cannot be read as numpy"),
        ("p.npz", "p.npz must hold a two-dimensional array X"),
        ("one.npy", "must hold a two-dimensional array X"),
        ("b.parquet", "b.parquet must be a sound file; it cannot be read as parquet"),
        ("b.feather", "b.feather must be a sound file; it cannot be read as feather"),
        ("b.npz", "b.npz must be a sound file; it cannot be read as numpy"),
        ("b.npy", "b.npy must be a sound file; it cannot be read as numpy"),
        ("b.xlsx", r"path must end in one of .csv, .* got .*xlsx"),
    ):
        with pytest.raises(ValueError, match=message):
            tables.read(tmp_path / name)
    for name in ("no.csv", "no.parquet", "no.npz"):
        with pytest.raises(FileNotFoundError):
            tables.read(tmp_path / name)


def test_csv_of_any_number() -> None:
    numbers = [0.1, 1 / 3, 5e-324, 1.7e308, -0.0]
    file = io.BytesIO()
    tables.write_csv(file, {"a": numbers})
    assert [float(line) for line in file.getvalue().decode().splitlines()[1:]] == numbers


def test_large_integers_stay_exact(tmp_path: Path) -> None:
    content = "u,big,neg,gap,mixed,apart,float,long\n"
    content += f"{2**63},{2**64},-{2**63 + 1},{2**63 + 1},{2**63 + 1},{2**63},1e300,{10**80}\n"
    content += f"7,{10**70},-1,NA,{2**63 + 2},0.5,2,{10**80 + 1}\n"
    for separator in ",;":
        path = csv(tmp_path / "a.csv", content.replace(",", separator))
        rows = tables.read_table(path).to_pylist()
        big = 2**63
        assert [list(row.values()) for row in rows] == [
            [big, 2 * big, -big - 1, big + 1, big + 1, 2.0**63, 1e300, str(10**80)],
            [7, 10**70, -1, None, big + 2, 0.5, 2.0, str(10**80 + 1)],
        ]
    path = csv(tmp_path / "a.csv", f"a;b\n0,5;{2**63 + 1}\n{2**63 + 1};0,25\n{2**63 + 2};{2**63}")
    assert tables.read_table(path).to_pylist() == [
        {"a": Decimal("0.5"), "b": 2**63 + 1},
        {"a": 2**63 + 1, "b": Decimal("0.25")},
        {"a": 2**63 + 2, "b": 2**63},
    ]
