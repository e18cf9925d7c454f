"""Print the lowest version of every dependency that pyproject.toml declares, as pip takes it.

`make test-minimum` installs exactly these, so that a minimum in pyproject.toml is a version that
passes the tests. The names of extras are arguments; without any, only the core is listed.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,-]+\])?(?P<versions>[<>=!~\w.,*]*)")


def minimums(project: Mapping[str, Any], extras: Iterable[str] = ()) -> list[str]:
    """Return one pin for each dependency of a project and of some of its extras.

    Parameters
    ----------
    project : mapping
        The table `project` of a pyproject.toml.
    extras : iterable of str
        Names of extras. An extra that names others of the same project stands for them too.

    Returns
    -------
    list of str
        Pins such as `numpy==1.26`, sorted. A ValueError names a dependency that declares no
        minimum, or two that differ.

    Examples
    --------
    >>> from scripts.minimums import minimums
    >>> optional = {"all": ["tool[plot]"], "plot": ["matplotlib>=3.10,<4"]}
    >>> project = {"name": "tool", "dependencies": ["numpy>=1.26"]}
    >>> minimums({**project, "optional-dependencies": optional}, ["all"])
    ['matplotlib==3.10', 'numpy==1.26']
    """
    waiting, seen = [*project["dependencies"]], set()
    asked = list(extras)
    found: dict[str, str] = {}
    while waiting or asked:
        if not waiting:
            extra = asked.pop()
            if extra not in seen:
                seen.add(extra)
                waiting += project["optional-dependencies"][extra]
            continue
        requirement = waiting.pop()
        parts = _REQUIREMENT.fullmatch(requirement)
        if parts is None:
            raise ValueError(f"pyproject.toml has a dependency that cannot be read: {requirement}")
        if parts["name"] == project["name"]:
            asked += (parts["extras"] or "[]")[1:-1].split(",")
            continue
        lowest = re.search(r"[>=]=([\w.]+)", parts["versions"])
        if lowest is None:
            raise ValueError(f"pyproject.toml declares no minimum of {parts['name']}.")
        pin = f"{parts['name']}{parts['extras'] or ''}=={lowest[1]}"
        if found.setdefault(parts["name"], pin) != pin:
            raise ValueError(f"pyproject.toml declares two minimums of {parts['name']}.")
    return sorted(found.values())


if __name__ == "__main__":
    with PROJECT.open("rb") as file:
        print(*minimums(tomllib.load(file)["project"], sys.argv[1:]), sep="\n")
