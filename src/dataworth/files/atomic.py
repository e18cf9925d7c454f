"""Files appear whole or not at all."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dataworth.files import paths


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place only when all of it is on disk.

    Parameters
    ----------
    path : str or path
        The file. A link is followed. A file that exists keeps its permissions, a new one gets the
        usual ones.

    Yields
    ------
    file
        The file to write to, in binary mode.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dataworth.files.atomic import atomic
    >>> with TemporaryDirectory() as folder:
    ...     with atomic(Path(folder, "a.txt")) as file:
    ...         _ = file.write(b"whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    target = paths.to_write(path)
    part = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
    with naming(path, part, target, target.parent):
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                part.chmod(target.stat().st_mode & 0o7777)
            part.replace(target)
            _sync(target.parent)
        except BaseException:
            with suppress(OSError):  # the first error says more
                part.unlink(missing_ok=True)
            raise


@contextmanager
def naming(name: str | os.PathLike[str], *others: Path) -> Iterator[None]:
    """Let errors of the disk name what the user calls a file.

    Parameters
    ----------
    name : str or path
        What the user calls it.
    *others : Path
        The files that an error may name instead, such as a temporary one. Errors that name none
        are given the name, and errors about any other file pass unchanged.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        own = error.filename is None or error.filename in [os.fspath(other) for other in others]
        if error.errno is None or not own:
            raise
        raise type(error)(error.errno, os.strerror(error.errno), os.fspath(name)) from error


def _sync(folder: Path) -> None:
    """Let the new name of a file outlast a power cut; Windows cannot open a folder for that."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
