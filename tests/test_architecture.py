"""The rooms import in one direction, and hand on nothing but what they say they do.

Each rule is a function from parsed modules to complaints, so that it can also be shown to find a
violation that was planted.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from textwrap import dedent

import pytest

from docs import architecture
from docs.rooms import (
    PACKAGE,
    ROOMS,
    Room,
    allowed,
    between_rooms,
    cycle,
    imports,
    parsed,
    room_of,
    wrong_imports,
)

Modules = Mapping[str, ast.Module]

ESTIMATOR = "KNNShapley"
GAMES = {"soft", "hard", "regression"}
# Modules that may name a game, and why. A trailing dot stands for all modules of a package.
MAY_NAME_GAMES = {
    "dataworth.games.": "they are the games",
    "dataworth.baselines.": "they have two games of their own, after the literature",
    "dataworth.demo": "it calls the package as a user would",
    "dataworth.integrations.cleanlab": "regression is cleanlab's name of a task",
}
# What scikit-learn and others have no public name for: (module, attribute).
# numba has no other way to give a kernel a cache of one's own.
MAY_REACH: set[tuple[str, str]] = {("dataworth.compiled", "_cache")}
# Named tuples start their public methods with an underscore, lest fields have the same name.
NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}


def upwards(modules: Modules) -> Iterator[str]:
    yield from wrong_imports(imports(modules))


def circles(modules: Modules) -> Iterator[str]:
    found = cycle(imports(modules))
    if found:
        yield " imports ".join(found)


def knows_the_estimator(modules: Modules) -> Iterator[str]:
    names = [room.name for room in ROOMS]
    below = names[: names.index("estimator")]
    for module, tree in modules.items():
        room = room_of(module)
        if room is not None and room.name not in below:
            continue
        for node in _code(tree):
            said = (
                getattr(node, field, None) for field in ("id", "attr", "name", "value", "module")
            )
            if any(isinstance(word, str) and ESTIMATOR in word for word in said):
                yield f"{module}:{_line(node)} knows {ESTIMATOR}"


def hands_down_anything(modules: Modules) -> Iterator[str]:
    for module, tree in modules.items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.arg)
                and node.arg in {"v", "valuator"}
                and node.annotation is not None
                and ast.unparse(node.annotation) in {"Any", "typing.Any", "object"}
            ):
                yield f"{module}:{node.lineno} takes {node.arg}: Any"


def reaches_into_others(modules: Modules) -> Iterator[str]:
    for module, tree in modules.items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and _private(node.attr)
                and ast.unparse(node.value) not in {"self", "cls", "super()"}
                and (module, node.attr) not in MAY_REACH
            ):
                yield f"{module}:{node.lineno} reaches for {ast.unparse(node)}"
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                for alias in node.names:
                    if _private(alias.name):
                        yield f"{module}:{node.lineno} imports {node.module}.{alias.name}"


def names_a_game(modules: Modules) -> Iterator[str]:
    for module, tree in modules.items():
        if any(module == m or f"{module}.".startswith(m) for m in MAY_NAME_GAMES):
            continue
        for node in _code(tree):
            if isinstance(node, ast.Constant) and node.value in GAMES:
                yield f"{module}:{node.lineno} names the game {node.value!r}"


def _private(name: str) -> bool:
    dunder = name.startswith("__") and name.endswith("__")
    return name.startswith("_") and not dunder and name not in NAMED_TUPLES


def _code(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes but docstrings, which may show how the package is used."""
    docstrings = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            docstrings.add(body[0].value)
    yield from (node for node in ast.walk(tree) if node not in docstrings)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


Rule = Callable[[Modules], Iterator[str]]
RULES: list[Rule] = [
    upwards,
    circles,
    knows_the_estimator,
    hands_down_anything,
    reaches_into_others,
    names_a_game,
]


@pytest.fixture(scope="module")
def package() -> Modules:
    return parsed()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_package_keeps_the_rule(package: Modules, rule: Rule) -> None:
    found = list(rule(package))
    assert found == [], "\n".join(found)


def test_table_is_in_order() -> None:
    """What a room may import comes before it, so that no two rooms can import each other."""
    names = [room.name for room in ROOMS]
    assert len(set(names)) == len(names)
    for position, room in enumerate(ROOMS):
        assert set(allowed(room)) <= set(names[:position]), room.name


def test_every_room_has_modules(package: Modules) -> None:
    assert {room_of(module) for module in package} == set(ROOMS)


def test_exceptions_are_needed(package: Modules) -> None:
    """An exception that nothing uses any more goes away."""
    for name in MAY_NAME_GAMES:
        inside = {m: t for m, t in package.items() if m == name or f"{m}.".startswith(name)}
        constants = (n for tree in inside.values() for n in _code(tree))
        assert any(isinstance(n, ast.Constant) and n.value in GAMES for n in constants), name
    used = {
        (module, node.attr)
        for module, tree in package.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }
    assert used >= MAY_REACH


def planted(folder: Path, **files: str) -> Modules:
    """A package of these files; two underscores stand for a folder."""
    for name, text in {"__init__": "", **files}.items():
        path = folder / PACKAGE / f"{name if name == '__init__' else name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return parsed(folder / PACKAGE)


@pytest.mark.parametrize(
    ("rule", "module", "text", "complaint"),
    [
        (upwards, "errors", "from dataworth.inputs import checks", "base may not import inputs"),
        (upwards, "errors", "import dataworth.inputs.checks", "base may not import inputs"),
        (upwards, "errors", "from . import estimator", "base may not import estimator"),
        (upwards, "inputs__checks", "from ..estimator import KNNShapley", "not import estimator"),
        (upwards, "errors", "def f():\n    from dataworth import result", "not import result"),
        (upwards, "errors", "from dataworth import KNNShapley", "may not import estimator"),
        (upwards, "errors", "import dataworth\ndataworth.KNNShapley()", "not import estimator"),
        (upwards, "games__kernels__hard", "from dataworth.games import all", "not import games"),
        (upwards, "attic", "", "dataworth.attic is in no room"),
        (circles, "inputs__checks", "from dataworth.inputs import frames", "checks imports"),
        (knows_the_estimator, "errors", "def f(x):\n    return x.KNNShapley", "errors:2 knows"),
        (knows_the_estimator, "errors", "hint = 'fit KNNShapley first'", "errors:1 knows"),
        (hands_down_anything, "run__job", "def f(v: Any): ...", "run.job:1 takes v: Any"),
        (hands_down_anything, "run__job", "def f(*, valuator: object): ...", "takes valuator"),
        (reaches_into_others, "run__job", "def f(x):\n    return x._rows", "reaches for x._rows"),
        (
            reaches_into_others,
            "run__job",
            "class A:\n    a = lambda self: self._b._c",
            "self._b._c",
        ),
        (reaches_into_others, "run__job", "from dataworth.errors import _said", "errors._said"),
        (names_a_game, "run__job", "def f(game):\n    return game == 'soft'", "game 'soft'"),
    ],
)
def test_rules_find_what_is_planted(
    tmp_path: Path, rule: Rule, module: str, text: str, complaint: str
) -> None:
    house = {
        "__init__": "__version__ = '0'\nfrom dataworth.estimator import KNNShapley",
        "estimator": "class KNNShapley: ...",
        "result": "",
        "inputs____init__": "",
        "inputs__checks": "",
        "inputs__frames": "from dataworth.inputs import checks",
        "games__all": "",
    }
    assert list(rule(planted(tmp_path, **house))) == []
    found = list(rule(planted(tmp_path, **{**house, module: text})))
    assert len(found) == 1
    assert complaint in found[0]


def test_what_is_not_an_offence(tmp_path: Path) -> None:
    innocent = '''
        """An example: KNNShapley(game="soft")."""
        from typing import TYPE_CHECKING, NamedTuple
        import dataworth
        from dataworth import __version__

        if TYPE_CHECKING:
            from dataworth.result import DataValues

        class A(NamedTuple):
            """Shows KNNShapley."""
            def f(self):
                """Of "hard"."""
                return self._replace(), self.__class__, _own(), dataworth.__version__, self._own

        def _own(v: int): ...
    '''
    house = planted(tmp_path, errors=innocent, result="class DataValues: ...")
    assert [said for rule in RULES for said in rule(house)] == []
    assert imports(house)["dataworth.errors"] == set()


def test_arrows_that_others_stand_for_are_left_out() -> None:
    assert architecture.reduced({("c", "b"), ("b", "a"), ("c", "a")}) == {("c", "b"), ("b", "a")}


def test_arrows_point_down_and_boxes_lie_apart() -> None:
    rooms = tuple(Room(name, "words of some length") for name in "abcdefgh")
    pairs = {(a.name, b.name) for i, a in enumerate(rooms) for b in rooms[:i] if (i * 7) % 3}
    house = architecture.laid_out(rooms, architecture.reduced(pairs))
    for number, floor in enumerate(house):
        for stop in floor:
            assert all(below.floor == number - 1 for below in stop.down)
        for left, right in pairwise(floor):
            assert right.x - left.x >= (left.width + right.width) / 2


def test_picture_and_page_are_those_of_the_imports(package: Modules) -> None:
    """`make picture` mends it."""
    drawn = architecture.picture()
    assert architecture.PICTURE.read_text(encoding="utf-8") == drawn
    page = architecture.PAGE.read_text(encoding="utf-8")
    assert page == architecture.with_table(page)
    for a, b in between_rooms(imports(package)):
        if b in allowed(next(room for room in ROOMS if room.name == a)):
            assert f"{a} imports {b}\n" in drawn
