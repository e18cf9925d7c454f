"""Fixtures that test modules share."""

import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

if find_spec("playwright"):  # the environments of peers do without a browser
    from tests.browser import browser, show

__all__ = ["browser", "show"]


@pytest.fixture(autouse=True)
def workers_that_were_stopped_have_ended() -> Iterator[None]:
    """Wait for workers of a run that an error or Ctrl-C stopped: filters of warnings are shared."""
    yield
    for thread in threading.enumerate():
        if thread.name == "dataworth":
            thread.join(timeout=5)


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Close what a test has drawn: open figures are shared by all tests of a process."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
