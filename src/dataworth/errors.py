"""Errors for wrong input and for packages that are not installed."""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Self

LONGEST = 400  # characters that a message spends on what came
# How an extra is installed. This is the only place to change when the package is published.
INSTALL = "pip install '.[{extras}]' in the folder of dataworth's sources"


class InputError(ValueError):
    """An argument is not what it must be.

    The message reads "`argument` must `wanted`; `came`. `hint`", on one line. What came is cut if
    it is long, as arrays are when they are written out.

    Parameters
    ----------
    argument : str
        The name of the argument, as the caller knows it.
    wanted : str
        What it must do or be, such as "be a whole number" or "hold at least one point".
    came : str
        What it was instead, such as "got 0" or "row 3 is missing". It may be empty.
    hint : str
        A sentence that says what to do about it. It may be empty.

    Examples
    --------
    >>> from dataworth.errors import InputError
    >>> print(InputError("n_neighbors", "be a whole number of at least 1", "got 0"))
    n_neighbors must be a whole number of at least 1; got 0.
    """

    def __init__(self, argument: str, wanted: str, came: str = "", hint: str = "") -> None:
        if "\n" in came:
            came = " ".join(came.split())
        came = came if len(came) <= LONGEST else came[: LONGEST - 1] + "…"
        self.argument, self.wanted, self.came, self.hint = argument, wanted, came, hint
        message = f"{argument} must {wanted}" + (f"; {came}." if came else ".")
        super().__init__(f"{message} {hint}" if hint else message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.argument, self.wanted, self.came, self.hint)

    def renamed(self, argument: str) -> Self:
        """Return the same error under another name, by which the caller knows the argument."""
        return type(self)(argument, self.wanted, self.came, self.hint)


class InputTypeError(InputError, TypeError):
    """An argument has the wrong type.

    It is both a ValueError and a TypeError, so that callers can catch either.
    """


class ReadingWarning(UserWarning):
    """What was given may have been read differently from how it was meant."""


def near(value: Any, known: Iterable[str]) -> str:
    """Return a hint that names what was probably meant, or nothing if no name is near.

    Examples
    --------
    >>> from dataworth.errors import near
    >>> near("sfot", ["soft", "hard"])
    "Did you mean 'soft'?"
    """
    if not isinstance(value, str):
        return ""
    names = {name.lower(): name for name in known}
    found = get_close_matches(value.lower(), names, n=1)
    return f"Did you mean {names[found[0]]!r}?" if found else ""


def extra(package: str, what: str, extras: str) -> Any:
    """Import an optional package, or say how to install it.

    Parameters
    ----------
    package : str
        The module to import.
    what : str
        What needs it, such as "neighbors='faiss'".
    extras : str
        The extra of dataworth that installs it, such as "ann".

    Returns
    -------
    module
        The imported module.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        how = INSTALL.format(extras=extras)
        raise ModuleNotFoundError(f"{what} needs {top}: {how}", name=top) from None
