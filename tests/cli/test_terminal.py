"""What is written to a terminal."""

from typing import Any

import pyarrow as pa

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
