"""The worked examples of CONTRIBUTING.md, run as they stand."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley, games
from dataworth.games import kernels
from dataworth.games.registry import GAMES
from dataworth.weights.functions import WEIGHTS
from tests import naive

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text()
BLOCKS = {name: code for code, name in re.findall(r"```python\n(# (\S+)\n.*?)```", PAGE, re.DOTALL)}


@pytest.fixture
def hit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The game of the page, added to the package and its oracle as it says."""
    for package, folder in ((kernels, "games/kernels"), (games, "games")):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "hit.py").write_text(BLOCKS[f"src/dataworth/{folder}/hit.py"])
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / folder)])
    registry = importlib.import_module("dataworth.games.registry")
    (entry,) = eval(BLOCKS["src/dataworth/games/registry.py"], vars(registry))
    monkeypatch.setitem(GAMES, entry.name, entry)
    oracle = dict(vars(naive))
    exec(BLOCKS["tests/naive.py"], oracle)
    monkeypatch.setattr(naive, "any_right", oracle["any_right"], raising=False)
    yield
    for name in ("dataworth.games.hit", "dataworth.games.kernels.hit"):
        sys.modules.pop(name, None)


def test_the_game_equals_enumeration(hit: None) -> None:
    test: dict[str, Any] = {}
    exec(BLOCKS["tests/games/test_hit.py"], test)
    test["test_equals_enumeration"]()


def test_the_rest_of_the_package_knows_the_game(hit: None) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    valuator = KNNShapley(game="hit", weights="uniform").fit(X, y)
    values = valuator.value(cv=3)
    assert not values.numeric
    assert valuator.explain(3).value == pytest.approx(values.values[3])
    with pytest.raises(ValueError, match="weights must be 'uniform' with game='hit'"):
        KNNShapley(game="hit").fit(X, y)
    with pytest.raises(ValueError, match="max_rank must be None with game='hit'"):
        valuator.set_params(max_rank=3).value()
    with pytest.raises(ValueError, match="radius must come with game='soft' or game='regression'"):
        KNNShapley(game="hit", weights="uniform", radius=1.0).fit(X, y)
    fresh = (  # the options of the command line are made when it is imported
        "import sys\n"
        "from dataworth.games.registry import GAMES, GameKind\n"
        f"(entry,) = {BLOCKS['src/dataworth/games/registry.py'].split(chr(10), 1)[1]}\n"
        "GAMES[entry.name] = entry\n"
        "from dataworth.cli.main import main\n"
        "main(['value', '--help'])\n"
    )
    code = [sys.executable, "-c", fresh]
    shown = subprocess.run(code, capture_output=True, text=True, check=True)
    assert "hit: whether any neighbour" in " ".join(re.sub("[│]", " ", shown.stdout).split())


def test_the_weight_function(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = importlib.import_module("dataworth.weights.functions")
    (entry,) = eval(BLOCKS["src/dataworth/weights/functions.py"], vars(functions))
    monkeypatch.setitem(WEIGHTS, entry.name, entry)
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    got = KNNShapley(weights="quadratic").fit(X, y).value().values

    def squares(distances: Any) -> Any:
        return (distances[0] / distances) ** 2

    np.testing.assert_array_equal(got, KNNShapley(weights=squares).fit(X, y).value().values)
