"""Entries of the registries: each of them can be loaded, and is in the documentation."""

import inspect
import re
import subprocess
import sys

import pytest

from dataworth import KNNShapley
from dataworth.games.registry import DEFAULT_GAME, GAMES, GameKind
from dataworth.games.semivalues import SEMIVALUES
from dataworth.games.ties import TIES
from dataworth.neighbors.registry import SEARCHES
from dataworth.settings import Settings
from dataworth.weights.functions import WEIGHTS


@pytest.mark.parametrize("kind", GAMES.values(), ids=GAMES)
def test_every_game_can_be_loaded(kind: GameKind) -> None:
    module = kind.load()
    assert [*inspect.signature(module.game).parameters] == ["setup", "targets", "coefficients"]
    assert [*inspect.signature(module.check).parameters] == ["setup"]
    assert set(kind.options) <= set(KNNShapley().get_params(deep=False))


def test_every_index_can_be_loaded() -> None:
    for kind in SEARCHES.values():
        if kind.module:
            module = kind.load()
            assert [*inspect.signature(module.check).parameters] == ["measure", "params"]
            assert [*inspect.signature(module.Index).parameters] == ["points", "measure", "params"]


def test_the_defaults_are_entries() -> None:
    settings = Settings.of(KNNShapley().get_params(deep=False))
    assert settings.game is GAMES[DEFAULT_GAME]
    assert {settings.ties} <= set(TIES)
    assert next(iter(TIES)) == settings.ties  # the rule of games that know no other


def test_importing_a_registry_imports_no_game() -> None:
    code = (
        "import sys\nfrom dataworth.games.registry import GAMES\n"
        "print([k.module for k in GAMES.values() if k.module in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_words_read_as_sentences_in_the_documentation() -> None:
    """Every entry becomes "- `name`: words." and must end in one full stop."""
    words = [
        (f"`{name!r}`", entry.words)
        for registry in (GAMES, WEIGHTS, SEARCHES, TIES)
        for name, entry in registry.items()
    ]
    words += [(f"`{kind.written}`", kind.words) for kind in SEMIVALUES.values()]
    doc = re.sub(r"\s+", " ", KNNShapley.__doc__ or "")
    assert not re.search(r"<\w+>", doc)
    for name, said in words:
        assert said == said.strip()
        assert f"- {name}: {said.removesuffix('.')}." in doc
        assert f"{said.removesuffix('.')}.." not in doc


@pytest.mark.parametrize(
    ("parameter", "names"),
    [
        ("game", [repr(name) for name in GAMES]),
        ("weights", [repr(name) for name in WEIGHTS]),
        ("neighbors", [repr(name) for name in SEARCHES]),
        ("ties", [repr(name) for name in TIES]),
        ("semivalue", [kind.written for kind in SEMIVALUES.values()]),
    ],
)
def test_a_parameter_lists_all_of_its_choices(parameter: str, names: list[str]) -> None:
    doc = inspect.getdoc(KNNShapley) or ""
    found = re.search(rf"^{parameter} : .*?(?=^\w)", doc, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert re.findall(r"^ +- `(.*?)`:", found[0], re.MULTILINE) == names
