"""Compiles kernels: they run without the interpreter lock and are cached on disk if possible."""

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache

import dataworth

Function = TypeVar("Function", bound=Callable[..., Any])
KERNEL = re.compile(rb"^@(compiled|inlined)\b", re.MULTILINE)


@cache
def state() -> str:
    """A name for the state of all kernels: their sources, and the versions of package and numba."""
    digest = hashlib.sha256(f"{dataworth.__version__} {numba.__version__}".encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        text = path.read_bytes()
        if KERNEL.search(text):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


class _Locator:
    """Where numba would keep the code of a kernel, with a stamp that knows all kernels."""

    def __init__(self, locator: Any) -> None:
        self._locator = locator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._locator, name)

    def get_source_stamp(self) -> Any:
        """What must be the same for cached code to be used."""
        return self._locator.get_source_stamp(), state()


class _KernelCacheImpl(CompileResultCacheImpl):
    @property
    def locator(self) -> Any:
        return _Locator(super().locator)


class _KernelCache(FunctionCache):
    """numba's cache on disk, out of date as soon as any kernel of the package changes.

    numba itself looks at the file of the compiled function alone. But a kernel holds the code of
    those it calls, and would go on with the old ones after an upgrade.
    """

    _impl_class = _KernelCacheImpl


_new_cache: Callable[[Any], Any] = _KernelCache  # numba's classes have no types


def compiled(*, fastmath: bool = False) -> Callable[[Function], Function]:
    """Compile a kernel on its first call and keep the code on disk for the next process.

    If neither the folder of the package nor the user's cache can be written, the
    kernel is compiled anew in each process.

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
        kernel: Any = njit(nogil=True, fastmath=flags)(function)
        if kernel is not function:  # as it is with NUMBA_DISABLE_JIT
            with suppress(RuntimeError):  # there may be no folder for it
                kernel._cache = _new_cache(function)
        return cast(Function, kernel)

    return decorate


inlined = njit(nogil=True, inline="always")

# Positions that are never negative need no look at their sign. Without the compiler they are plain
# integers, as numpy before version 2 makes a float of an unsigned integer and a signed one.
uint64: Any = int if numba.config.DISABLE_JIT else numba.uint64  # type: ignore[attr-defined]
