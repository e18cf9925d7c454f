"""Bad files: missing, empty, broken, of another kind. `make` makes them in the current folder."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from dataworth import DataValues, decisions
from dataworth.neighbors.blocks import ParquetRows
from dataworth.result import read_values, write_values
from tests.bad_inputs import X, each, result


def make() -> None:
    """Make files that cannot be read, and one that can."""
    for ending in ("npz", "csv", "parquet"):
        Path(f"empty.{ending}").touch()
        Path(f"folder.{ending}").mkdir()
        Path(f"noise.{ending}").write_bytes(b"PAR1" + bytes(range(256)))
    Path("file").touch()
    Path("latin.csv").write_bytes("value,label\n1,caf\xe9\n".encode("latin-1"))
    Path("other.csv").write_text("a,b\n1,2\n")
    Path("words.csv").write_text("index,value,lower,upper,label\n0,much,1,1,a\n")
    np.savez("other.npz", X=X)
    np.savez("pickled.npz", X=np.array([{}], object))
    table = {"a": X[:, 0], "b": X[:, 1], "name": list("abcdef")}
    parquet.write_table(pa.table(table), "rows.parquet")


def decided(lines: str) -> decisions.Decisions:
    Path("d.csv").write_text(f"{','.join(decisions.COLUMNS)}\n{lines}\n")
    return decisions.read("d.csv")


def applied(lines: str) -> None:
    decisions.apply(decided(lines), {"y": ["a", "b", "a"]})


def uneven(sizes: tuple[int, int]) -> None:
    columns: dict[str, list[str]] = {"y": ["a"] * sizes[0], "x": ["1"] * sizes[1]}
    decisions.apply(decided("0,remove,,a,,y,,"), columns)


def chosen(columns: list[str]) -> None:
    ParquetRows("rows.parquet", columns=columns)


NOT_VALUES = ("empty.csv", "noise.csv", "latin.csv", "other.csv", "words.csv")
NOT_PARQUET = ("empty.parquet", "noise.parquet")

ROWS = [
    *each(
        "path",
        "DataValues.load",
        DataValues.load,
        ("empty.npz", "noise.npz", "other.npz", "pickled.npz", "folder.npz", "no.npz", "", 3),
    ),
    *each(
        "path",
        "read_values",
        read_values,
        ("v.txt", "v", "", "no.csv", "no.npz", "no.parquet", "folder.csv", "folder.parquet", 3),
    ),
    *(
        row
        for name in (*NOT_VALUES, *NOT_PARQUET)
        for row in each(name, "read_values", read_values, [name])
    ),
    *each(
        "path",
        "write_values",
        lambda path: write_values(path, result()),
        ("v.txt", "", "nowhere/v.csv", "folder.csv"),
    ),
    *each("path", "save", result().save, ("", "nowhere/v.npz", "folder.npz", 3)),
    *each(
        "path",
        "decisions.read",
        decisions.read,
        ("no.csv", "folder.csv", "empty.csv", "noise.csv", "other.csv", "", 3),
    ),
    *each(
        "d.csv",
        "a file of decisions",
        decided,
        (
            "",
            "x,remove,,a,,y,,3 labels",
            "-1,remove,,a,,y,,3 labels",
            "1,drop,,a,,y,,3 labels",
            "1,relabel,,a,,y,,3 labels",
            "1,remove,b,a,,y,,3 labels",
            "1,remove,,a,,y,,3 labels\n1,keep,,a,,y,,3 labels",
            "1,remove,,a,,y,,3 labels\n2,keep,,a,,z,,3 labels",
            "1,remove",
        ),
    ),
    *each(
        "decisions",
        "decisions about other data",
        applied,
        ("9,remove,,a,,y,,", "0,remove,,b,,y,,", "0,remove,,a,,y,,4 labels"),
    ),
    *each("label", "decisions", applied, ("0,remove,,a,,,,", "0,remove,,a,,z,,")),
    *each("new_label", "decisions", applied, ("0,relabel,zebra,a,,y,,",)),
    *each("columns", "columns of different lengths", uneven, [(1, 2)]),
    *each("columns", "ParquetRows", chosen, (["z"], "a", [], ["name"], ["a", "a"])),
    *each("path", "ParquetRows", ParquetRows, ("no.parquet", "folder.parquet", *NOT_PARQUET)),
]
