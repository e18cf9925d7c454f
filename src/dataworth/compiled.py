"""Compiles kernels: they run without the interpreter lock and are cached on disk if possible."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(*, fastmath: bool = False) -> Callable[[Function], Function]:
    """Compile a kernel on its first call and keep the code on disk for the next process.

    If neither the folder of the package nor the user's cache can be written, numba refuses to
    cache, and the kernel is compiled anew in each process.

    Parameters
    ----------
    fastmath : bool
        Whether the compiler may reorder sums, which vectorises them. NaN and infinity are still
        honoured.

    Returns
    -------
    function
        The decorator.
    """

    flags = {"reassoc", "contract", "arcp", "nsz"} if fastmath else False

    def decorate(function: Function) -> Function:
        try:
            return cast(Function, njit(nogil=True, cache=True, fastmath=flags)(function))
        except RuntimeError:
            return cast(Function, njit(nogil=True, fastmath=flags)(function))

    return decorate


inlined = njit(nogil=True, inline="always")
