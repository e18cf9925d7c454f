"""Read our docstrings for the API reference.

Most parameters and attributes are described right after their colon (`path : where to write it.`),
where numpydoc expects a type. This tells the two apart before the docstring is parsed: a
description ends in a full stop, or goes on in the next line because no word more had room. What is
returned is often said in a sentence without a type.
"""

import re
from typing import Any

import griffe

WIDTH = 100
ITEM = re.compile(r"^([\w, ]+) : (.+)$")
SECTION = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)


def rewritten(text: str, indent: int = 0) -> str:
    """The docstring as numpydoc would have it; `indent` is that of its lines in the source."""
    head, *rest = SECTION.split(text)
    out = [head]
    for name, body in zip(rest[::2], rest[1::2], strict=True):
        if name in ("Parameters", "Attributes"):
            body = "\n".join(_items(body.split("\n"), indent))
        if name == "Returns" and "\n    " not in body:
            said = body.strip().replace("\n", "\n    ")
            body = f"\n:\n    {said}\n\n"  # the type is that of the signature
        out.append(f"{name}\n{'-' * len(name)}{body}")
    return "".join(out)


def _items(lines: list[str], indent: int) -> list[str]:
    out: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        item = ITEM.match(line)
        more = after.split() if after.startswith("    ") else []
        full = bool(more) and indent + len(line) + 1 + len(more[0]) > WIDTH
        if item and (line.endswith(".") or full):
            out += [item[1], "    " + item[2]]
        else:
            out.append(line)
    return out


class Docstrings(griffe.Extension):
    """Applies `rewritten` to every docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for each object that has been read."""
        if obj.docstring is None:
            return
        depth = 1 if obj.is_function or obj.is_class else 0
        parent = obj.parent
        while parent is not None and parent.is_class:
            depth, parent = depth + 1, parent.parent
        obj.docstring.value = rewritten(obj.docstring.value, 4 * depth)
