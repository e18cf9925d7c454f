"""Fills what the registries know into the docstring of the estimator."""

import textwrap
from collections.abc import Iterable, Mapping

from dataworth.games.registry import GAMES
from dataworth.games.semivalues import SEMIVALUES
from dataworth.games.ties import TIES
from dataworth.neighbors.registry import SEARCHES
from dataworth.weights.functions import WEIGHTS


def described(doc: str) -> str:
    """Fill the lists of the registries into the docstring."""
    words: Mapping[str, Iterable[tuple[str, str]]] = {
        "games": ((repr(kind.name), kind.words) for kind in GAMES.values()),
        "weights": ((repr(kind.name), kind.words) for kind in WEIGHTS.values()),
        "searches": ((repr(kind.name), kind.words) for kind in SEARCHES.values()),
        "ties": ((repr(rule.name), rule.words) for rule in TIES.values()),
        "semivalues": ((kind.written, kind.words) for kind in SEMIVALUES.values()),
    }
    for name, entries in words.items():
        doc = doc.replace(f"<{name}>", _listed(entries))
    costs = ((repr(kind.name), kind.cost) for kind in GAMES.values())
    return doc.replace("<costs>", _listed(costs, indent=4))


def _listed(entries: Iterable[tuple[str, str]], indent: int = 8) -> str:
    """Return the entries of a registry as a list for a docstring."""
    lines = [
        textwrap.fill(
            f"- `{name}`: {words[:-1] if words.endswith('.') else words}.",
            width=100,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 2),
            break_on_hyphens=False,
        )
        for name, words in entries
    ]
    return "\n".join(lines).lstrip()
