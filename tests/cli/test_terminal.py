"""What is written to a terminal."""

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dataworth import KNNShapley
from dataworth.cli import terminal
from dataworth.files import tables
from tests.commands import rows


def test_data_cannot_steer_the_terminal(run: Any) -> None:
    table = rows(4)
    table["y"] = ["\x1b[31mred", "[bold]x[/bold]", "\x1b[31mred", "[bold]x[/bold]"]
    tables.write_table("e.parquet", pa.table(table))
    ran = run("value e.parquet --label y --features size")
    assert "\x1b[31m" not in ran.out
    assert "�[31mred" in ran.out
    assert "[bold]x[/bold]" in ran.out


def prices() -> pa.Table:
    """Two hundred prices, one of them ten times too high."""
    rng = np.random.default_rng(0)
    size = rng.uniform(50, 250, 200).round(1)
    price = (size * 15_000).round(-3)
    price[7] *= 10
    named = [f"h{k}" for k in range(200)]
    return pa.table({"PID": named, "size": size, "price": price.astype(int)})


def test_targets_are_written_as_people_write_numbers(run: Any) -> None:
    made = prices()
    tables.write_table("h.csv", made)
    ran = run("value h.csv --label price --id PID --encoder none -o v.parquet")
    assert ran.code == 0, ran.err
    head, worst = (ran.out.split("most suspect")[1].splitlines()[k].split() for k in (1, 2))
    assert head[-5:] == ["value", "target", "suggested", "agreement", "score"]
    row = dict(zip(head, worst, strict=True))
    kept = tables.read("v.parquet").columns()
    assert row["target"] == f"{made['price'][7].as_py():,}"
    assert row["suggested"] == f"{kept['suggested'][7]:,.0f}"
    share = kept["agreement"][7] / np.var(made["price"].to_numpy())  # as the values are
    np.testing.assert_allclose(float(row["agreement"]), share, rtol=1e-3)
    assert not re.search(r"\de\+?\d", ran.out)
    assert "so they are predicted as numbers" in ran.err
    assert re.search(r"\d+ targets are far from what the others say\.", ran.out)
    assert "labels" not in ran.out + ran.err


def test_long_runs_on_numbers_speak_of_targets(run: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("dataworth.cli.ruler.PATIENCE", 0.0)
    tables.write_table("h.csv", prices())
    ran = run("value h.csv --label price --id PID --encoder none")
    assert "--ruler 3 says how many targets look wrong" in ran.err


def test_ids_stand_under_the_name_of_their_column() -> None:
    X, y = np.arange(6.0)[:, None], ["a", "a", "b", "a", "b", "b"]
    values = replace(KNNShapley(n_neighbors=2).fit(X, y).value(), index=np.array(list("uvwxyz")))
    out = io.StringIO()
    terminal.summary(values, None, 3, out, id="value")
    heads, first = (out.getvalue().split("most suspect")[1].splitlines()[k] for k in (1, 2))
    assert heads.split() == ["value", "value", "label", "suggested", "agreement", "score"]
    assert first.split()[0] == values.index[values.suspects_first[0]]
    out = io.StringIO()
    terminal.summary(values, None, 3, out)
    assert out.getvalue().split("most suspect")[1].split()[0] == "id"
    out = io.StringIO()
    terminal.summary(replace(values, index=np.arange(6)), None, 3, out)
    assert out.getvalue().split("most suspect")[1].split()[0] == "index"


def test_scores_have_the_same_digits() -> None:
    X, y = np.arange(40.0)[:, None], np.arange(40) % 3 == 0
    out = io.StringIO()
    terminal.summary(KNNShapley().fit(X, y).value(), None, 40, out)
    lines = out.getvalue().split("most suspect")[1].splitlines()[2:]
    assert len(lines) == 40
    for line in lines:
        assert re.fullmatch(r"-?\d+\.\d\d", line.split()[-1])
