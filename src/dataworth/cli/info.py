"""`dataworth info`: show what a file of values holds."""

import sys

from dataworth.cli import options


def info(path: options.ValuesFile, top: options.Top = 10, debug: options.Debug = False) -> None:
    """Show what a file of values holds: how they were computed, and the least valuable points.

    \b
    Example:
      dataworth info values.parquet --top 20
    """
    from dataworth.cli import data as inputs
    from dataworth.cli import terminal

    values, owners = inputs.values(path)
    terminal.parameters(values, sys.stdout)
    terminal.summary(values, owners, top, sys.stdout)
