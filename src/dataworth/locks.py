"""A lock on a folder that other processes respect, and that ends with the process that holds it."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.1  # seconds between two tries


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Hold the lock of a folder, after waiting for any other process that holds it.

    Parameters
    ----------
    folder : str or path
        A folder that exists.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from dataworth.locks import locked
    >>> with TemporaryDirectory() as folder, locked(folder):
    ...     print("alone")
    alone
    """
    handle = _opened(Path(folder))
    try:
        while not _taken(handle):
            time.sleep(PAUSE)
        try:
            yield
        finally:
            _give_back(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _opened(folder: Path) -> int:
        # Windows locks files only.
        return os.open(folder / ".lock", os.O_RDWR | os.O_CREAT)

    def _taken(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _give_back(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _opened(folder: Path) -> int:
        return os.open(folder, os.O_RDONLY)

    def _taken(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _give_back(handle: int) -> None:
        # A process forked meanwhile has the handle too, so that closing ours would not do.
        fcntl.flock(handle, fcntl.LOCK_UN)
