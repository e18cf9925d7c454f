"""Data embedded in a page."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dataworth.report import cells
from tests.reports import HOSTILE


@given(st.recursive(st.none() | st.text() | st.sampled_from(HOSTILE), st.lists))
def test_embedded_data_hold_no_markup_and_come_back(data: Any) -> None:
    text = cells.embedded(data)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == data
