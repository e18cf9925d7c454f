"""Finished units of a run, kept as lines of JSON, so that a killed run goes on where it was.

A unit is kept under a fingerprint of its setting, its data, the versions that compute it and the
sources that say how data are drawn, what the methods are and how networks learn. If any of these
has changed, the unit is not found and is computed anew. A line that a kill cut short is skipped.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dataworth.run.checkpoints import fingerprint
from paper import writing

SOURCES = ("authors.py", "methods.py", "networks.py", "protocol.py")


class Store:
    """The units of one experiment in one file, which is made when the first unit is kept.

    Parameters
    ----------
    path : Path
        The file.
    sources : tuple of str
        The modules of this package that count in the fingerprint, since settings do not hold their
        constants.
    """

    def __init__(self, path: Path, sources: tuple[str, ...] = SOURCES) -> None:
        self.path = path
        self.sources = sources
        self.units: dict[str, Any] = {}
        if not path.exists():
            return
        text = path.read_text()
        for line in text.splitlines():
            try:
                kept = json.loads(line)
                self.units[kept["key"]] = kept["result"]
            except (ValueError, KeyError, TypeError):
                continue
        if text and not text.endswith("\n"):
            with path.open("a") as file:
                file.write("\n")

    def get(self, setting: dict[str, Any], compute: Callable[[], Any]) -> Any:
        """The result of a unit, taken from the file or else computed and kept there."""
        key = fingerprint({**setting, "made by": _makers(self.sources)})
        if key not in self.units:
            # Through JSON, so that a result kept and one just computed are the same.
            result = json.loads(json.dumps(compute(), allow_nan=False))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps({"key": key, "setting": setting, "result": result}) + "\n")
                file.flush()
            self.units[key] = result
        return self.units[key]


def _makers(sources: tuple[str, ...]) -> list[str]:
    here = Path(__file__).parent
    return [writing.versions(["torch"]), *((here / name).read_text() for name in sources)]
