"""Read our docstrings for the API reference.

Most parameters and attributes are described right after their colon (`path : where to write it.`),
where numpydoc expects a type. This tells the two apart before the docstring is parsed: a description
ends in a full stop, or goes on in the next line because no word more had room.
"""

import re
from typing import Any

import griffe

WIDTH = 100
SECTIONS = ("Parameters", "Attributes", "Returns")
ITEM = re.compile(r"^([\w, ]+) : (.+)$")


def rewritten(text: str, indent: int = 0) -> str:
    """The docstring with descriptions on lines of their own; `indent` is that of the source."""
    lines, section, out = text.split("\n"), "", []
    for i, line in enumerate(lines):
        after = lines[i + 1] if i + 1 < len(lines) else ""
        if after and set(after) == {"-"}:
            section = line
        item = ITEM.match(line) if section in SECTIONS else None
        if item and _is_description(line, after, indent):
            out += [item[1], "    " + item[2]]
        else:
            out.append(line)
    return "\n".join(out)


def _is_description(line: str, after: str, indent: int) -> bool:
    if line.endswith("."):
        return True
    words = after.split() if after.startswith("    ") else []
    return bool(words) and indent + len(line) + 1 + len(words[0]) > WIDTH


class Docstrings(griffe.Extension):
    """Applies `rewritten` to every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        depth = 1 if obj.is_function or obj.is_class else 0
        parent = obj.parent
        while parent is not None and parent.is_class:
            depth, parent = depth + 1, parent.parent
        obj.docstring.value = rewritten(obj.docstring.value, 4 * depth)
