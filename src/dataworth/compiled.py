"""The one way kernels are compiled: without the interpreter lock, cached on disk where possible."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(*, fastmath: bool = False) -> Callable[[Function], Function]:
    """Compile a kernel on its first call and keep the code on disk for the next process.

    `fastmath` lets the compiler reorder sums, which vectorises them; it still honours NaN and
    infinity. Where neither the package's folder nor the user's cache can be written, numba refuses
    to cache; the kernel is then compiled anew in each process.
    """

    flags = {"reassoc", "contract", "arcp", "nsz"} if fastmath else False

    def decorate(function: Function) -> Function:
        try:
            return cast(Function, njit(nogil=True, cache=True, fastmath=flags)(function))
        except RuntimeError:
            return cast(Function, njit(nogil=True, fastmath=flags)(function))

    return decorate


inlined = njit(nogil=True, inline="always")
