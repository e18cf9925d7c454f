"""The rooms of the package: what each holds, what it may import, and what it does import.

The table below is the only place that knows the order of the rooms. tests/test_architecture.py
holds the code to it, and docs/architecture.py draws it.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = "dataworth"
SOURCE = Path(__file__).parent.parent / "src" / PACKAGE


@dataclass(frozen=True)
class Room:
    """One step of the way that data takes through the package.

    Attributes
    ----------
    name : str
        What we call it. Without `modules`, it is also the one module or package in it.
    words : str
        What it holds, in a few words that fit into a box of the picture.
    may : tuple of str, or None
        The rooms that it may import; None stands for all that come before it in the table.
    modules : tuple of str
        The modules and packages in it, without the name of the package in front.
    """

    name: str
    words: str
    may: tuple[str, ...] | None = None
    modules: tuple[str, ...] = ()

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The full names of its modules and packages."""
        return tuple(f"{PACKAGE}.{name}" for name in self.modules or (self.name,))


# In the order in which data passes them: no room may import one that comes after it.
ROOMS = (
    Room(
        "base",
        "errors, array types, locks, progress, the compiler, threads",
        (),
        ("errors", "arrays", "blas", "locks", "progress", "compiled"),
    ),
    Room("inputs", "checks what comes in", ("base",)),
    Room("suspects", "how wrong labels look, and how many are", ("base", "inputs")),
    Room("files", "reads and writes files", ("base", "inputs", "suspects")),
    Room("encoders", "rows of a table become points", ("base", "inputs")),
    Room("neighbors", "who is near whom, and how far", ("base", "inputs")),
    Room("weights", "distances become weights", ("base", "neighbors")),
    Room("games.kernels", "compiled loops over ranked points", ("base",)),
    Room("games", "what a set of points is worth", ("base", "weights", "games.kernels")),
    Room("settings", "the parameters, checked once", modules=("settings", "parameters")),
    Room("training", "the training set, and who judges whom"),
    Room("run", "the job of a worker, sums, checkpoints"),
    Room(
        "plots",
        "figures, and the colours of all",
        ("base", "inputs", "encoders"),
        ("plots", "palette", "notebook"),
    ),
    Room(
        "result",
        "values, bounds and how they were made",
        ("base", "inputs", "suspects", "files", "games", "plots"),
        ("result", "owner_values", "notes"),
    ),
    Room(
        "explanation",
        "who made a value what it is; copies",
        modules=("explanation", "noticing"),
    ),
    Room("decisions", "what a reader decided", ("base", "files")),
    Room(
        "report",
        "a page to look through points",
        ("base", "inputs", "files", "plots", "result", "explanation", "decisions"),
    ),
    Room(
        "estimator",
        "KNNShapley: puts it all together",
        modules=("estimator", "docstrings"),
    ),
    Room(
        "comparison",
        "is a model better with cleaned data?",
        ("base", "inputs", "encoders", "plots"),
    ),
    Room(
        PACKAGE,
        "the front door: public names",
        ("base", "suspects", "encoders", "estimator", "result", "comparison"),
        ("",),
    ),
    Room("baselines", "algorithms of the literature"),
    Room("integrations", "bridges to peers"),
    Room("demo", "errors found in digits"),
    Room("cli", "the command line"),
)
# Rooms from here on use the package as anybody would; the picture puts them on top.
FRONT_DOOR = PACKAGE


def parsed(source: Path = SOURCE) -> dict[str, ast.Module]:
    """The modules of a package's folder by their full names."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = [source.name, *path.relative_to(source).with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return found


def imports(modules: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Which modules of the package each one imports, in functions too.

    Names that the front door passes on count as imports of the modules they come from, as does an
    attribute of `import dataworth`. The version is everybody's to read, as it imports nothing. The
    front door itself imports what it passes on when somebody first asks for it: that counts too.
    """
    front = {
        alias.asname or alias.name: node.module
        for node in ast.walk(modules.get(PACKAGE, ast.Module([], [])))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def owner(package: str, name: str) -> str | None:
        if f"{package}.{name}" in modules:
            return f"{package}.{name}"
        if package != PACKAGE:
            return package
        return None if name == "__version__" else front.get(name, PACKAGE)

    out = {}
    for module, tree in modules.items():
        named = (owner(*pair) if pair[1] else pair[0] for pair in _named(tree, module, modules))
        out[module] = {name for name in named if name is not None and name != module}
    if PACKAGE in out:
        out[PACKAGE] |= {name for name in front.values() if name.startswith(f"{PACKAGE}.")}
    return out


def _named(
    tree: ast.Module, module: str, modules: Mapping[str, ast.Module]
) -> Iterator[tuple[str, str]]:
    """Pairs (module, name taken from it); the name is empty where the module itself is imported."""
    nodes = list(_run(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == PACKAGE:
                    bound = alias.asname or PACKAGE
                    yield from ((PACKAGE, name) for name in _attributes(nodes, bound))
                elif alias.name.startswith(f"{PACKAGE}."):
                    yield alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            package = node.module or ""
            if node.level:
                is_package = any(name.startswith(f"{module}.") for name in modules)
                up = module.split(".")[: len(module.split(".")) - node.level + is_package]
                package = ".".join([*up, package]) if package else ".".join(up)
            if package == PACKAGE or package.startswith(f"{PACKAGE}."):
                yield from ((package, alias.name) for alias in node.names)


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield other
                yield from _run(other)
            continue
        yield node
        yield from _run(node)


def _attributes(nodes: list[ast.AST], name: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == name:
            yield node.attr


def room_of(module: str, rooms: tuple[Room, ...] = ROOMS) -> Room | None:
    """The room that a module is in: the one that names it, or the innermost package around it."""
    found: dict[int, Room] = {}
    for room in rooms:
        for prefix in room.prefixes:
            if module == prefix.rstrip("."):
                return room
            if module.startswith(f"{prefix}.") and not prefix.endswith("."):
                found[len(prefix)] = room
    return found[max(found)] if found else None


def allowed(room: Room, rooms: tuple[Room, ...] = ROOMS) -> tuple[str, ...]:
    """The names of the rooms that a room may import."""
    if room.may is not None:
        return room.may
    return tuple(other.name for other in rooms[: rooms.index(room)])


def between_rooms(
    imported: Mapping[str, set[str]], rooms: tuple[Room, ...] = ROOMS
) -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second."""
    pairs = set()
    for module, others in imported.items():
        for other in others:
            here, there = room_of(module, rooms), room_of(other, rooms)
            if here and there and here is not there:
                pairs.add((here.name, there.name))
    return pairs


def wrong_imports(imported: Mapping[str, set[str]], rooms: tuple[Room, ...] = ROOMS) -> list[str]:
    """What is wrong with the imports, in words: modules without a room, and forbidden imports."""
    said = [f"{module} is in no room" for module in imported if room_of(module, rooms) is None]
    for module, others in imported.items():
        for other in sorted(others):
            here, there = room_of(module, rooms), room_of(other, rooms)
            if here and there and here is not there and there.name not in allowed(here, rooms):
                said.append(f"{module} imports {other}: {here.name} may not import {there.name}")
    return sorted(said)


def cycle(imported: Mapping[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle; empty where none do."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
