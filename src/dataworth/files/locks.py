"""A lock that other processes respect, and that ends with the process that holds it."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PAUSE = 0.1  # seconds between two tries


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a lock, for which this waits as long as another process holds it.

    Parameters
    ----------
    path : str or path
        The file that stands for the lock. It is made if need be, and stays.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dataworth.files.locks import locked
    >>> with TemporaryDirectory() as folder, locked(Path(folder, "lock")):
    ...     print("alone")
    alone
    """
    with Path(path).open("ab") as file:
        while not _taken(file):
            time.sleep(PAUSE)
        try:
            yield
        finally:
            _released(file)


if sys.platform == "win32":
    import msvcrt

    def _taken(file: BinaryIO) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _released(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _taken(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _released(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
