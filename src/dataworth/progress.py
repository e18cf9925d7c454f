"""Progress bars: one place that knows how to show them, on a terminal and in a notebook."""

import sys
import warnings
from typing import Any

from tqdm import TqdmWarning

with warnings.catch_warnings():
    # A notebook without ipywidgets gets a bar of text, and need not be told to install them.
    warnings.simplefilter("ignore", TqdmWarning)
    from tqdm.auto import tqdm

PATIENCE = 2  # seconds after which a bar appears


def bar(total: int, what: str, unit: str, *, shown: bool) -> "tqdm[Any]":
    """Make a bar that appears after two seconds, on a terminal or in a notebook.

    Parameters
    ----------
    total : int
        How many steps there are.
    what : str
        What is being done: "valuing".
    unit : str
        What a step is: "point".
    shown : bool
        Whether to show it at all.

    Returns
    -------
    tqdm
        The bar, to be used in a `with` statement.

    Examples
    --------
    >>> from dataworth.progress import bar
    >>> with bar(2, "counting", "number", shown=False) as counted:
    ...     counted.update(2)
    """
    hidden = True if not shown else False if "ipykernel" in sys.modules else None
    return tqdm(total=total, desc=what, unit=unit, delay=PATIENCE, disable=hidden)
