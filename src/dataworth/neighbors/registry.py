"""The searches that `KNNShapley(neighbors=...)` knows by name; importing this imports none of them.

A new one is an entry here and a module with two functions: `check(measure, params)` refuses what it
cannot do, and `Index(points, measure, params)` builds an `approximate.Index`.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class SearchKind:
    """A way to find neighbours.

    Attributes
    ----------
    name : str
        What `neighbors=` calls it.
    words : str
        What it does, for the documentation.
    module : str
        Where its index is; empty where all distances are computed and there is none.
    """

    name: str
    words: str
    module: str = ""

    def load(self) -> Any:
        """The module of its index."""
        return import_module(self.module)


SEARCHES = {
    kind.name: kind
    for kind in (
        SearchKind("brute", "all distances are computed, and the neighbours are exact."),
        SearchKind(
            "faiss",
            "an index finds the neighbours that `support` or `max_rank` asks for (extra "
            "`dataworth[ann]`).",
            "dataworth.neighbors.faiss",
        ),
    )
}
