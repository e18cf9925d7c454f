"""The entry of `python -m paper`: errors in one line, and the codes it ends with.

0: all went well. 1: a run failed, because of data, files or a missing package. 2: the command was
wrong. 130: it was interrupted.
"""

import sys
from collections.abc import Sequence

from dataworth.errors import extra
from paper.run import NoData

PROGRAM = "python -m paper"
EXPECTED = (NoData, ValueError, OSError, ImportError)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The code to end with.
    """
    try:
        extra("typer", "the command line", "paper")
        from paper.command import app

        code = app(list(sys.argv[1:] if args is None else args), PROGRAM, standalone_mode=False)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        if hasattr(error, "format_message"):  # a wrong command, as typer reports it
            message = error.format_message().removeprefix("Invalid value: ")
            return _fail(message, getattr(error, "exit_code", 2))
        if not isinstance(error, EXPECTED):  # a bug, to be shown in full
            raise
        return _fail(str(error))
    if code == 130:  # typer, too, reports an interruption by this number
        return _fail("interrupted; the same command goes on from here.", 130)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int = 1) -> int:
    print(f"{PROGRAM}: error: {' '.join(message.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
