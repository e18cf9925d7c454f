"""The entry of the command line: errors in one line, and the codes that the program ends with.

0: all went well. 1: the run failed, because of data, files or a missing package. 2: the command was
wrong. 130: it was interrupted.
"""

import os
import sys
import traceback
from collections.abc import Sequence

from dataworth.cli import STANDARD_OUTPUT
from dataworth.errors import extra
from dataworth.files.atomic import naming


def main(args: Sequence[str] | None = None) -> int:
    """Run the program `dataworth`.

    Parameters
    ----------
    args : sequence of str, optional
        What follows the name of the program; by default, what this process was started with.

    Returns
    -------
    int
        The code to end with.

    Examples
    --------
    >>> from dataworth.cli.main import main
    >>> main(["--version"])
    dataworth 0.1.0
    0
    """
    given = list(sys.argv[1:] if args is None else args)
    try:
        for package in ("typer", "rich"):
            extra(package, "the command line", "cli")
    except ModuleNotFoundError as error:
        return _fail(str(error))
    from dataworth.cli.app import app

    try:
        code = app(given or ["--help"], prog_name="dataworth", standalone_mode=False)
        with naming(STANDARD_OUTPUT):
            sys.stdout.flush()
    except BrokenPipeError:  # whoever reads our output has seen enough, which is no error
        _leave_output()
        return 1
    except KeyboardInterrupt:
        return _interrupted(given)
    except Exception as error:
        if "--debug" in given:
            traceback.print_exc()
        if isinstance(error, OSError) and error.filename == STANDARD_OUTPUT:
            _leave_output()
        if hasattr(error, "format_message"):  # a wrong command, as typer reports it
            message = error.format_message().removeprefix("Invalid value: ")
            return _fail(message, getattr(error, "exit_code", 2))
        hint = "" if isinstance(error, _EXPECTED) else " (a bug? --debug shows where)"
        return _fail(f"{_said(error)}{hint}")
    if code == 130:  # how typer passes an interruption on
        return _interrupted(given)
    return code if isinstance(code, int) else 0


_EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)


def _leave_output() -> None:
    """Drop what could not be written, or it would be tried again at the end of the program."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        return f"{error.strerror}."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {os.fspath(error.filename)!r}"
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}"
    return str(error) or type(error).__name__


def _interrupted(args: Sequence[str]) -> int:
    kept = any(arg.split("=")[0] == "--checkpoint" for arg in args)
    return _fail("interrupted" + ("; the same command goes on from here." if kept else "."), 130)


def _fail(message: str, code: int = 1) -> int:
    line = " ".join(message.split())
    shown = "".join(c if c.isprintable() else "�" for c in line)
    print(f"dataworth: error: {shown}", file=sys.stderr)
    return code
