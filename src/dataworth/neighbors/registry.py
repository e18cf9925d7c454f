"""The searches that `KNNShapley(neighbors=...)` knows by name.

Importing this module imports none of them. A new search needs an entry here and a module with two
functions: `check(measure, params)` refuses what the search cannot do, and
`Index(points, measure, params)` builds an `approximate.Index`.
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
        The name of the module with its index; empty if it computes all distances and needs none.
    """

    name: str
    words: str
    module: str = ""

    def load(self) -> Any:
        """Import the module with its index."""
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
