"""The entry of the command line: errors in one line, and the codes that the program ends with.

0: all went well. 1: the run failed, because of the disk, memory or a missing package. 2: what was
given is wrong: the command, an option, a file or what is in it. 130: it was interrupted.
"""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence

from dataworth.cli import STANDARD_OUTPUT
from dataworth.errors import InputError, extra, near
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
        with warnings.catch_warnings():
            warnings.showwarning = _note
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
            return _fail(_reworded(error.format_message()), getattr(error, "exit_code", 2))
        if isinstance(error, InputError):
            return _fail(str(error), 2)
        hint = "" if isinstance(error, _EXPECTED) else " (a bug? --debug shows where)"
        return _fail(f"{_said(error)}{hint}")
    if code == 130:  # how typer passes an interruption on
        return _interrupted(given)
    return code if isinstance(code, int) else 0


_EXPECTED = (ValueError, TypeError, OSError, MemoryError, ImportError)


def _note(message: Warning | str, *_: object, **__: object) -> None:
    """Show a warning as a note, without the line of code that it comes from."""
    from dataworth.cli import terminal

    terminal.note(str(message))


def _leave_output() -> None:
    """Drop what could not be written, or it would be tried again at the end of the program."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reworded(message: str) -> str:
    """Say what typer says about an option as we say it, whichever version of typer it is."""
    message = message.removeprefix("Invalid value: ")
    about = re.fullmatch(r"Invalid value for '(--[\w-]+)'(?: / '-\w')?: (.*)", message, re.DOTALL)
    if about:
        option, said = about[1], about[2].removeprefix("Value error, ")
        choice = re.fullmatch(r"'(.*)' is not one of (.*?)\.?", said)
        least = re.search(r"than or equal to (\d+)|range x>=(\d+)", said)
        if choice:
            names = re.findall(r"'([^']*)'", choice[2])
            wanted = f"be one of {choice[2]}"
            return str(InputError(option, wanted, f"got {choice[1]!r}", near(choice[1], names)))
        if least:
            return f"{option} must be a whole number of at least {least[1] or least[2]}."
        if "integer" in said:
            return f"{option} must be a whole number."
        if "number" in said or "float" in said:
            return f"{option} must be a number."
    return message if message.endswith((".", "?", ")")) else f"{message}."


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
