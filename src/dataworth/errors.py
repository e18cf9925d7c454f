"""What goes wrong, as data: wrong input, and packages that are not installed."""

from importlib import import_module
from typing import Any, Self


class InputError(ValueError):
    """An argument is not what it must be.

    The message reads "`argument` must `wanted`; `came`. `hint`".

    Parameters
    ----------
    argument : str
        The name of the argument, as the caller knows it.
    wanted : str
        What it must do or be: "be a whole number", "hold at least one point".
    came : str
        What it was instead: "got 0", "row 3 is missing". May be empty.
    hint : str
        A sentence on what to do about it. May be empty.

    Examples
    --------
    >>> from dataworth.errors import InputError
    >>> print(InputError("n_neighbors", "be a whole number of at least 1", "got 0"))
    n_neighbors must be a whole number of at least 1; got 0.
    """

    def __init__(self, argument: str, wanted: str, came: str = "", hint: str = "") -> None:
        self.argument, self.wanted, self.came, self.hint = argument, wanted, came, hint
        message = f"{argument} must {wanted}" + (f"; {came}." if came else ".")
        super().__init__(f"{message} {hint}" if hint else message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.argument, self.wanted, self.came, self.hint)

    def renamed(self, argument: str) -> Self:
        """The same error about an argument that has another name where it came from."""
        return type(self)(argument, self.wanted, self.came, self.hint)


class InputTypeError(InputError, TypeError):
    """An argument is of a type that it must not be."""


def extra(package: str, what: str, extras: str) -> Any:
    """Import a package that an extra brings, or say how to install it.

    Parameters
    ----------
    package : str
        The module to import.
    what : str
        What needs it: "neighbors='faiss'".
    extras : str
        The extra of dataworth that brings it: "ann".
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        raise ModuleNotFoundError(
            f"{what} needs {top}: pip install 'dataworth[{extras}]'", name=top
        ) from None
