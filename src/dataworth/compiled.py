"""Compiles kernels: they run without the interpreter lock and are cached on disk if possible."""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache

import dataworth
from dataworth.locks import locked

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


class _KernelCacheImpl(CompileResultCacheImpl):
    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Name the files of a kernel after the state of all kernels."""
        name = super().get_filename_base(fullname, abiflags)  # type: ignore[no-untyped-call]
        return f"{name}-{state()[:16]}"


class _KernelCache(FunctionCache):
    """numba's cache on disk, with files of its own for each state of the kernels.

    numba itself looks at the file of the compiled function alone. But a kernel holds the code of
    those it calls, and would go on with the old ones after an upgrade.
    """

    _impl_class = _KernelCacheImpl

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder of the cache, unless this thread already does."""
        with _threads, ExitStack() as stack:
            folder = self.cache_path
            if folder not in _held:
                with suppress(OSError):  # it is full or read-only, or knows no locks
                    self._impl.locator.ensure_cache_path()
                    stack.enter_context(locked(folder))
                    _held.add(folder)
                    stack.callback(_held.remove, folder)
            yield


_threads = threading.RLock()
_held: set[str] = set()


def _one_at_a_time(kernel: Any, cache: Any) -> None:
    """Let one process compile a kernel while the others wait, and then load its code."""
    compile_one = kernel.compile

    def compile_alone(signature: Any) -> Any:
        with cache.alone():
            return compile_one(signature)

    kernel._cache, kernel.compile = cache, compile_alone


_new_cache: Callable[[Any], Any] = _KernelCache  # numba's classes have no types


def compiled(*, fastmath: bool = False) -> Callable[[Function], Function]:
    """Compile a kernel on its first call and keep the code on disk for the next process.

    If neither the folder of the package nor the user's cache can be written, the
    kernel is compiled anew in each process.

    A kernel takes in the code of all that it calls. Otherwise each function would be there once on
    its own and once beside each of its callers, optimised differently. Which of them is called
    would depend on what the process loaded before, and so would the last bits of a value.

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
        kernel: Any = njit(nogil=True, fastmath=flags, forceinline=True)(function)
        if kernel is not function:  # as it is with NUMBA_DISABLE_JIT
            with suppress(RuntimeError):  # there may be no folder for it
                _one_at_a_time(kernel, _new_cache(function))
        return cast(Function, kernel)

    return decorate


inlined = njit(nogil=True, inline="always")

# Positions that are never negative need no look at their sign. Without the compiler they are plain
# integers, as numpy before version 2 makes a float of an unsigned integer and a signed one.
uint64: Any = int if numba.config.DISABLE_JIT else numba.uint64  # type: ignore[attr-defined]
