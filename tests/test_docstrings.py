"""The docstring of the estimator lists what the registries hold."""

import inspect

import pytest

from dataworth import KNNShapley
from dataworth.docstrings import described
from dataworth.games.registry import GAMES
from dataworth.games.ties import TIES
from dataworth.neighbors.registry import SEARCHES
from dataworth.weights.functions import WEIGHTS


@pytest.mark.parametrize("registry", [GAMES, WEIGHTS, SEARCHES, TIES])
def test_every_entry_is_listed(registry: dict[str, object]) -> None:
    said = inspect.getdoc(KNNShapley) or ""
    for name in registry:
        assert f"- `{name!r}`: " in said


def test_no_gap_is_left_and_lines_are_short() -> None:
    said = KNNShapley.__doc__ or ""
    for gap in ("<games>", "<weights>", "<searches>", "<ties>", "<semivalues>", "<costs>"):
        assert gap not in said
    assert max(map(len, described("    <games>\n    <costs>").splitlines())) <= 100
