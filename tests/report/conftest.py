"""Fixtures that the tests of the report share."""

from typing import Any

import pytest

from tests.reports import values_of


@pytest.fixture
def simple() -> Any:
    return values_of([0.5, -1.0, 0.25, -0.5], ["a", "b", "a", "b"])
