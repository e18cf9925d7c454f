"""Types in docstrings as they are written (`extensions` in mkdocs.yml).

griffe takes `{"one-vs-one", "direct"}` for Python, shows a difference of three names, and takes the
first choice for the default. With typographic quotes, and without braces, it is no Python and is
shown as it is.
"""

import re
from typing import Any

import griffe

# A line such as `name : type, default "x"`, up to the default, which is shown as code.
TYPED = re.compile(r"^(\w+(?:, \w+)* : )(.*?)(?=, default |$)", re.MULTILINE)


class WrittenTypes(griffe.Extension):
    """Changes the quotes in the types of parameters."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every object that has been read."""
        if obj.docstring is not None:
            obj.docstring.value = TYPED.sub(_written, obj.docstring.value)


def _written(match: re.Match[str]) -> str:
    name, said = match.groups()
    if said.count('"') > 2 or " or " in said:  # a name alone in quotes is a class to link to
        said = re.sub(r'"([^"]*)"', r"“\1”", re.sub(r"[{}]", "", said))
    return name + said
