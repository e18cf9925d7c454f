"""The rows of the table, and how they stay small."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth.report import table
from tests.reports import HOSTILE, explain, values_of, written


def test_long_texts_are_cut_to_what_fits_and_it_is_said(
    simple: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "<é" * 5_000
    whole = written(tmp_path / "whole", simple, {"x": [text] * 4})
    assert whole["rows"][0]["c"] == [text]
    assert whole["notes"] == []
    monkeypatch.setattr(table, "TEXT_BUDGET", 30_000)
    cut = written(tmp_path / "cut", simple, {"x": [text] * 4})
    assert cut["rows"][0]["c"] == [[text[:1_000], 9_000, 0]]
    assert cut["notes"] == ["Texts are cut to 1,000 characters to keep the file small."]


def test_many_columns_are_cut_and_it_is_said(simple: Any, tmp_path: Path) -> None:
    data = written(tmp_path / "r", simple, {f"c{k}": [1] * 4 for k in range(99)})
    assert len(data["columns"]) == len(data["rows"][0]["c"]) == table.MOST_COLUMNS
    assert data["notes"] == ["Of 99 columns the first 60 are shown."]


def test_hostile_data_stay_under_the_limit(tmp_path: Path) -> None:
    n = 600
    values = values_of(np.arange(n) - n / 2, [HOSTILE[k % 20] for k in range(n)])
    columns = {f"{k}": ["<" * 10_000] * n for k in range(20)}
    why = [explain(values, p, "", near=range(p, p + 10)) for p in range(500)]
    written(tmp_path / "r", values, columns, explanations=why)
    assert (tmp_path / "r").stat().st_size < 10_000_000


def test_a_rare_label_does_not_fill_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.array(["rare"] * 40 + ["often"] * 960)
    values = values_of(np.where(labels == "rare", -1.0, 1.0) + rng.normal(0, 0.1, 1000), labels)
    chosen = table.listed(values, 50)
    assert chosen.size == 50
    counts = {label: int((labels[chosen] == label).sum()) for label in ("rare", "often")}
    assert counts == {"rare": 6, "often": 44}  # three times 4 % of 50 rows
    for label, n in counts.items():  # and of each the least valuable
        own = [p for p in values.order if labels[p] == label]
        assert [p for p in chosen if labels[p] == label] == own[:n]
    assert (np.diff(values.values[chosen]) > 0).all()
    assert written(tmp_path / "r", values, rows=50)["quota"]
    assert not written(tmp_path / "r", values, rows=1000)["quota"]


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 20, 21])
def test_quotas_always_leave_enough(rows: int) -> None:
    rng = np.random.default_rng(rows)
    for _ in range(50):
        n = int(rng.integers(1, 22))
        values = values_of(rng.normal(size=n), rng.integers(0, 4, n))
        assert table.listed(values, rows).size == min(rows, n)
    numbers = values_of(np.arange(9.0), np.arange(9.0), game="regression")
    assert table.listed(numbers, 4).tolist() == [0, 1, 2, 3]


def test_values_know_what_neighbours_suggest(tmp_path: Path) -> None:
    """Without explanations too, as for values from a file."""
    labels = np.array(["a", "b", "a", "b"])
    values = values_of([0.5, -1.0, 0.25, -0.5], labels)
    known = replace(values, agreement=np.ones(4), suggested=np.array(["a", "a", "a", "b"]))
    rows = written(tmp_path / "r", known)["rows"]
    assert [row["s"] for row in rows] == ["a", "b", "a", "a"]
    assert rows[0]["f"] == [["label", "The others say “a”, not “b”."]]
    assert [row["f"] for row in rows[1:]] == [[], [], []]
    assert "<td>a</td>" in known._repr_html_()
    assert "suggested" in known._repr_html_()


def test_the_page_suggests_what_the_result_does(tmp_path: Path) -> None:
    """The few neighbours that explain a point may say something else."""
    values = values_of([0.5, -1.0, 0.25, -0.5], ["a", "b", "a", "b"])
    known = replace(values, agreement=np.ones(4), suggested=np.array(["a", "a", "a", "b"]))
    why = [explain(known, 1, "b", near=[3, 0]), explain(known, 2, "b", near=[3, 1])]
    rows = {row["p"]: row for row in written(tmp_path / "r", known, explanations=why)["rows"]}
    assert [rows[p]["s"] for p in range(4)] == ["a", "a", "a", "b"]
    assert [bool(rows[p]["f"]) for p in range(4)] == [False, True, False, False]
    assert [n[1] for n in rows[1]["n"]] == ["b", "a"]  # shown as they are


def test_a_suggested_number_keeps_its_digits(tmp_path: Path) -> None:
    targets = np.array([3_370_000.0, 5.0, 7.0])
    values = values_of([-1.0, 0.0, 1.0], targets, game="regression")
    said = np.array([379_725.4375, 5.0, np.nan])
    known = replace(values, agreement=np.zeros(3), suggested=said)
    why = [explain(known, 0, 341_204.0, near=[1, 2])]
    rows = {row["p"]: row for row in written(tmp_path / "r", known, explanations=why)["rows"]}
    assert [rows[p]["s"] for p in range(3)] == ["379725.4375", rows[1]["y"], None]
