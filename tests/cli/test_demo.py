"""`dataworth demo`."""

from typing import Any

import pytest

from dataworth import demo


def test_demo_is_the_demo(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "main", lambda: print("shown"))
    assert run("demo").out == "shown\n"
