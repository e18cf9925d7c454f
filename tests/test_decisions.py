import csv
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from dataworth import DataValues, KNNShapley, decisions
from dataworth.decisions import Decision, Decisions
from dataworth.errors import InputError
from dataworth.files import spreadsheets

HEADER = ",".join(decisions.COLUMNS)


def file_with(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "decisions.csv"
    path.write_bytes("\r\n".join([header, *lines, ""]).encode())
    return path


def guarded(text: str) -> str:
    """What the report's script does, said again in the plainest way."""
    out = []
    for at, character in enumerate(text):
        before = at == 0 or text[at - 1] in ";,\t\n\r"
        if before and re.match("[ \t\r\n'\"]*[=+\\-@\t\r\n＝＋－＠]", text[at:]):
            out.append("'")
        out.append(character)
    return "".join(out)


def test_read_and_apply(tmp_path: Path) -> None:
    path = file_with(
        tmp_path,
        "3,remove,,b,row-3,kind,name,",
        "1,relabel,b,a,row-1,kind,name,",
        "0,keep,,a,row-0,kind,name,",
    )
    made = decisions.read(path)
    assert made.rows[1] == Decision(1, "relabel", "a", "b", "row-1")
    assert (made.label_column, made.id_column, made.data, len(made)) == ("kind", "name", None, 3)
    table = {"name": ["row-0", "row-1", "row-2", "row-3"], "kind": ["a", "a", "b", "b"]}
    assert decisions.apply(made, table) == {
        "name": ["row-0", "row-1", "row-2"],
        "kind": ["a", "b", "b"],
    }
    assert table["kind"] == ["a", "a", "b", "b"]


def test_columns_may_be_in_any_order_and_the_file_may_begin_with_a_mark(tmp_path: Path) -> None:
    header = "\ufeff" + ",".join(reversed(decisions.COLUMNS))
    made = decisions.read(file_with(tmp_path, ",,kind,,a,,remove,2", header=header))
    assert made == Decisions((Decision(2, "remove", "a"),), "kind", None, None)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0,drop,,a,,,,", "row 2: decision must be one of keep, relabel, remove; got 'drop'"),
        ("-1,keep,,a,,,,", "row 2: position must be a whole number from 0; got '-1'"),
        ("1.5,keep,,a,,,,", "position must be a whole number from 0; got '1.5'"),
        ("٣,keep,,a,,,,", "position must be a whole number from 0"),
        ("0,relabel,,a,,,,", "new_label must be given with relabel; it is empty"),
        ("0,remove,b,a,,,,", "new_label must be empty with remove; got 'b'"),
        ("0,keep,,a", "row 2 must have 8 cells; it has 4"),
        ('0,keep,,"a,,,,', "must name a CSV file"),
    ],
)
def test_odd_files_are_refused(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        decisions.read(file_with(tmp_path, line))


def test_files_that_contradict_themselves_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="row 3: position 4 is decided on twice"):
        decisions.read(file_with(tmp_path, "4,keep,,a,,,,", "4,remove,,a,,,,"))
    with pytest.raises(ValueError, match="must be the same in all rows"):
        decisions.read(file_with(tmp_path, "4,keep,,a,,y,,", "5,remove,,a,,z,,"))
    with pytest.raises(ValueError, match="at least one decision"):
        decisions.read(file_with(tmp_path))
    with pytest.raises(ValueError, match="with the columns position, decision, .* has a, b"):
        decisions.read(file_with(tmp_path, header="a,b"))
    (tmp_path / "latin").write_bytes(b"\xe9")
    with pytest.raises(ValueError, match="must name a file in UTF-8"):
        decisions.read(tmp_path / "latin")
    with pytest.raises(FileNotFoundError):
        decisions.read(tmp_path / "nothing")


def made(*rows: Decision, data: str | None = None) -> Decisions:
    return Decisions(rows, "y", "id", data)


def test_other_data_are_refused() -> None:
    table: dict[str, list[Any]] = {"y": ["a", "b", "a"], "id": [10, 11, 12]}
    cases = [
        (made(Decision(3, "keep", "a")), "position 3 is beyond the last row, 2"),
        (made(Decision(1, "keep", "a")), "'y' at position 1 is 'b', and was 'a'"),
        (made(Decision(1, "keep", "b", id="12")), "id at position 1 is 11, and was '12'"),
        (
            made(Decision(1, "keep", "b"), data="4 labels"),
            "made for 4 labels, and column 'y' has 3",
        ),
        (made(Decision(1, "keep", "b"), data="3 labels (sha256 0)"), "sha256 0), and column"),
    ]
    for one, message in cases:
        with pytest.raises(ValueError, match=re.escape(message)):
            decisions.apply(one, table)
    one = made(Decision(1, "keep", "b", id="11"), data=decisions.describe(table["y"]))
    assert decisions.apply(one, table) == table
    with pytest.raises(ValueError, match="label must name a column; 'z' is not among"):
        decisions.apply(one, table, label="z")
    with pytest.raises(ValueError, match="the decisions do not name one"):
        decisions.apply(Decisions(one.rows), table)
    with pytest.raises(ValueError, match="must all have one length"):
        decisions.apply(one, {"y": ["a"], "id": []})


def test_the_digest_sees_order_and_values_but_not_how_they_are_written() -> None:
    labels = [1, 0, 1, 0]
    for again in ([1.0, 0.0, 1.0, 0.0], ["1", "0", "01", "0.0"], np.array(labels)):
        assert decisions.describe(list(again)) == decisions.describe(labels)
    assert decisions.describe([True, False]) == decisions.describe(["TRUE", "false"])
    assert decisions.describe([0, 1, 1, 0]) != decisions.describe(labels)
    assert decisions.describe(["ab", "c"]) != decisions.describe(["a", "bc"])
    # Fractions may be rounded on their way through a file: only their number is kept.
    assert decisions.describe([0.1, 2.0]) == "2 labels"


def test_rounded_fractions_are_the_same_and_whole_numbers_are_not_rounded() -> None:
    assert decisions.same(float(np.float32(0.1)), "0.1")
    assert not decisions.same(0.1, "0.1001")
    assert not decisions.same("12345678901234567890", "12345678901234567891")
    assert not decisions.same("1_000", "1000")
    assert not decisions.same("nan", "NAN")


def test_new_labels_are_written_as_the_column_writes_them() -> None:
    change = Decision(0, "relabel", "1", "2")
    for column, expected in (
        (["01", "02", "2x"], ["02", "02", "2x"]),
        ([1, 2], [2, 2]),
        (np.array([1, 2]), [2, 2]),
        (pd.Series([1, 2], index=[7, 9]), [2, 2]),
        ([1.0, 2.5], [2.0, 2.5]),
    ):
        got = decisions.apply(Decisions((change,), "y"), {"y": column})
        assert got == {"y": expected}
    number = Decision(0, "relabel", "1.5", "7.25")
    assert decisions.apply(Decisions((number,), "y"), {"y": ["1.50", "2"]})["y"] == ["7.25", "2"]
    assert decisions.apply(Decisions((number,), "y"), {"y": [1.5, 2.0]})["y"] == [7.25, 2.0]
    typo = Decision(0, "relabel", "cat", "dgo")
    with pytest.raises(ValueError, match="a label that column 'y' has; got 'dgo'"):
        decisions.apply(Decisions((typo,), "y"), {"y": ["cat", "dog"]})


@given(st.text(st.sampled_from("=+-@'\"ab1 ;,\t\r\n＝")))
def test_guards_are_undone(text: str) -> None:
    assert spreadsheets.unguarded(guarded(text)) == text
    for cell in re.split("[;,\t\n\r]", guarded(text)):
        assert not re.match("[ '\"]*[=+\\-@＝]", cell) or cell.startswith("'")


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_any_text_survives_a_file(texts: list[str]) -> None:
    texts = [decisions.plain(text) or "x" for text in texts]
    lines = io.StringIO()
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
    for position, text in enumerate(texts):
        writer.writerow([position, "relabel", guarded(text), guarded(text), "", "y", "", ""])
    with TemporaryDirectory() as folder:
        path = Path(folder, "decisions.csv")
        path.write_bytes((HEADER + "\r\n" + lines.getvalue()).encode())
        again = decisions.read(path)
    assert [row.label for row in again.rows] == texts
    assert decisions.apply(again, {"y": texts}) == {"y": texts}


def valued(n: int = 120) -> tuple[pd.DataFrame, DataValues]:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], n // 2)
    frame = pd.DataFrame(
        {"x": rng.normal(size=n) + 6 * (y == "b"), "y": y}, index=[f"r{i}" for i in range(n)]
    )
    frame.loc[["r3", "r70", "r71"], "y"] = ["b", "a", "a"]
    return frame, KNNShapley().fit(frame[["x"]], frame["y"]).value(ruler=2)


@pytest.mark.parametrize("kind", ["object", "category"])
def test_all_suspects_at_once(kind: str) -> None:
    frame, values = valued()
    frame = frame.astype({"y": kind})
    suspects = values.suspects()
    wanted = frame.copy()
    wanted.loc[suspects["index"], "y"] = suspects["suggested"].to_numpy()
    got = decisions.apply(decisions.suspects(values, "relabel"), frame, label="y")
    pd.testing.assert_frame_equal(got, wanted)
    assert (got["y"] == np.repeat(["a", "b"], 60)).all()
    got = decisions.apply(decisions.suspects(values, "remove"), frame, label="y")
    pd.testing.assert_frame_equal(got, frame.drop(index=suspects["index"]))
    two = decisions.suspects(values, "remove", n=2)
    assert [row.id for row in two.rows] == list(suspects["index"][:2])
    table = pl.from_pandas(frame)
    got = decisions.apply(two, table, label="y")
    assert_frame_equal(
        got, table[[i for i in range(120) if i not in {r.position for r in two.rows}]]
    )


def test_a_number_that_the_column_did_not_have() -> None:
    made = Decisions((Decision(1, "relabel", "2", "2.5"), Decision(2, "remove", "4")), "y")
    got = decisions.apply(made, pd.DataFrame({"y": [1, 2, 4]}, index=list("abc")))
    pd.testing.assert_frame_equal(got, pd.DataFrame({"y": [1.0, 2.5]}, index=list("ab")))


def test_suspects_that_have_the_suggested_label_are_kept() -> None:
    frame, values = valued()
    made = decisions.suspects(values, "relabel", n=120)
    changed = values.suggested != values.labels
    assert {row.position for row in made.rows if row.decision == "relabel"} == set(
        np.flatnonzero(changed)
    )
    assert {row.decision for row in made.rows} == {"relabel", "keep"}
    with pytest.raises(InputError, match="decisions must be for these data"):
        decisions.apply(made, frame[::-1], label="y")


def test_suspects_that_cannot_be_decided_on() -> None:
    frame, values = valued()
    valuator = KNNShapley().fit(frame[["x"]], frame["y"])
    with pytest.raises(InputError, match="decision must be relabel or remove; got 'keep'"):
        decisions.suspects(values, "keep")
    with pytest.raises(InputError, match="n must be a whole number for values without a ruler"):
        decisions.suspects(valuator.value(), "remove")
    outside = valuator.value(frame[["x"]] + 0.01, frame["y"])
    with pytest.raises(InputError, match="values that suggest labels; here points were"):
        decisions.suspects(outside, "relabel", n=3)
    numbers = KNNShapley(game="regression").fit(frame[["x"]], frame["x"]).value()
    with pytest.raises(InputError, match="values that suggest labels; here numbers"):
        decisions.suspects(numbers, "relabel", n=3)
    assert len(decisions.suspects(numbers, "remove", n=3)) == 3
