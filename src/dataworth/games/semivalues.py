"""The semivalues that `KNNShapley(semivalue=...)` knows by name. A new one is an entry here.

A semivalue lets every other point arrive before point i with probability t, under some law of t.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

from dataworth.errors import InputError, near


class Law(NamedTuple):
    """The law of t, which is Beta(beta, alpha); both numbers are infinite if t is always 1/2."""

    alpha: float
    beta: float


@dataclass(frozen=True)
class SemivalueKind:
    """A way to count sets of different sizes.

    Attributes
    ----------
    name : str
        What `semivalue=` and the command line call it.
    words : str
        What it does, for the documentation.
    law : function
        Takes the numbers of the semivalue and returns the law of t.
    numbers : tuple of str
        The names of these numbers.
    """

    name: str
    words: str
    law: Callable[..., Law]
    numbers: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        """How it is written in Python."""
        if not self.numbers:
            return repr(self.name)
        return f"({', '.join([repr(self.name), *self.numbers])})"

    @property
    def typed(self) -> str:
        """How it is written on the command line."""
        return self.name + (":" + ",".join(self.numbers) if self.numbers else "")


SEMIVALUES = {
    kind.name: kind
    for kind in (
        SemivalueKind("shapley", "every size of set counts the same", lambda: Law(1.0, 1.0)),
        SemivalueKind(
            "banzhaf",
            "every set counts the same, whatever its size",
            lambda: Law(math.inf, math.inf),
        ),
        SemivalueKind(
            "beta",
            "Beta(alpha, beta)-Shapley; Beta(1, 1) is Shapley, and a larger alpha gives more "
            "weight to small sets",
            lambda alpha, beta: Law(float(alpha), float(beta)),
            ("alpha", "beta"),
        ),
    )
}


def law(value: Any) -> Law:
    """Return the law of a semivalue, which is a name or a tuple of a name and numbers."""
    name, *numbers = [value] if isinstance(value, str) else value if _is_list(value) else [None]
    kind = SEMIVALUES.get(name) if isinstance(name, str) else None
    written = [kind.written for kind in SEMIVALUES.values()]
    wanted = f"be {', '.join(written[:-1])} or {written[-1]}"
    alone = isinstance(value, str)
    if kind is None or len(numbers) != len(kind.numbers) or alone == bool(kind.numbers):
        raise InputError("semivalue", wanted, f"got {value!r}", _meant(name))
    for number in numbers:
        if not isinstance(number, Real) or not 1e-6 <= float(number) <= 1e6:
            raise InputError(
                "semivalue", f"{wanted} with numbers from 1e-6 to 1e6", f"got {value!r}"
            )
    return kind.law(*numbers)


def _meant(name: Any) -> str:
    return "" if not isinstance(name, str) or name in SEMIVALUES else near(name, SEMIVALUES)


def _is_list(value: Any) -> bool:
    return isinstance(value, tuple | list) and len(value) > 0


def typed(text: str) -> Any:
    """Read a semivalue from the command line: a name, or a name and numbers such as beta:4,1."""
    name, _, rest = text.partition(":")
    kind = SEMIVALUES.get(name)
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        kind = None
    if kind is None or len(numbers) != len(kind.numbers):
        listed = [kind.typed for kind in SEMIVALUES.values()]
        raise InputError(
            "semivalue",
            f"be {', '.join(listed[:-1])} or {listed[-1]}",
            f"got {text!r}",
            _meant(name),
        )
    if not numbers:
        return name
    try:
        law((name, *numbers))
    except InputError:
        wanted = f"be {kind.typed} with numbers from 1e-6 to 1e6"
        raise InputError("semivalue", wanted, f"got {text!r}") from None
    return (name, *numbers)
