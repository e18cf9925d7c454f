"""Names of files, checked before they are opened: one sentence each, which names the argument."""

import os
from pathlib import Path

from dataworth.errors import InputTypeError


def to_read(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """Check that there is a file to read.

    Parameters
    ----------
    path : str or path
        The file.
    argument : str
        What to call it in messages.

    Returns
    -------
    Path
        The file. An error says that it does not exist or is a folder.

    Examples
    --------
    >>> from dataworth.files import paths
    >>> paths.to_read("no.csv", "TRAIN")
    Traceback (most recent call last):
    FileNotFoundError: TRAIN must name a file that exists; 'no.csv' does not.
    """
    found = named(path, argument)
    if found.is_dir():
        raise IsADirectoryError(f"{argument} must name a file; {os.fspath(path)!r} is a folder.")
    if not found.exists():
        raise FileNotFoundError(
            f"{argument} must name a file that exists; {os.fspath(path)!r} does not."
        )
    return found


def to_write(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """Check that a file can be written, and follow links to it.

    Parameters
    ----------
    path : str or path
        The file, which need not exist.
    argument : str
        What to call it in messages.

    Returns
    -------
    Path
        The file itself. An error says that it is a folder, or that its folder does not exist or
        is not ours to write to.
    """
    target = named(path, argument).resolve()
    if target.is_dir():
        raise IsADirectoryError(f"{argument} must name a file; {os.fspath(path)!r} is a folder.")
    if target.exists() and not target.is_file():  # a new file would take the place of the device
        raise OSError(f"{argument} must name a file; {os.fspath(path)!r} is a device or a pipe.")
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{argument} must be in a folder that exists; {os.fspath(path)!r} is not."
        )
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(
            f"{argument} must be in a folder that can be written to; {os.fspath(path)!r} is not."
        )
    return target


def named(path: str | os.PathLike[str], argument: str) -> Path:
    """Return the path of a file, if it is a name at all."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(argument, "be the name of a file", f"got {path!r:.60}")
    if "\0" in str(path):
        raise InputTypeError(argument, "be the name of a file", f"{path!r:.60} has a zero byte")
    return Path(path)
