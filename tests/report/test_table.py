"""The rows of the table, and how they stay small."""

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
    assert cut["rows"][0]["c"] == [[text[:1_000], 9_000]]
    assert cut["notes"] == ["Texts are cut after 1,000 characters to keep the file small."]


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
