"""Which columns of a table name its rows."""

import re
from typing import Any

import numpy as np

from dataworth.encoders.reading import Column

MANY = 100  # rows of which some would have the same income, or the same remark
NAME_WORDS = 4  # the most words that names of rows have, and sentences do not
WHOLE = ("int", "uint", "decimal", "object")  # types of columns of whole numbers, as ids are
_NAMED = re.compile(r"(?i:id|pid|uuid|guid|index|key|.+[_ .-]id)|.*[a-z](Id|ID)")
DIFFERENT = 0.95  # the share of entries that are different, if they name rows


def looks_like_ids(column: Column) -> bool:
    """Tell whether the entries of a column seem to name rows: hardly any comes twice.

    Codes and whole numbers that rise from row to row or leave few gaps do. Other whole numbers,
    and texts as short as people's names, do where all of many rows differ. Fractions and sentences
    never do: they differ anyway.
    """
    n_present = int((~column.missing).sum())
    if n_present < 20:
        return False
    many = n_present >= MANY
    if column.holds in ("text", "categories"):
        texts = column.present
        n_different = len(set(texts))
        words = [len(text.split()) for text in texts]
        if max(words) > 1:
            return many and n_different == n_present and float(np.median(words)) <= NAME_WORDS
        return n_different >= DIFFERENT * n_present
    if column.holds != "numbers":
        return False
    numbers = column.entries[~column.missing]
    n_different = np.unique(numbers).size
    if (numbers != np.floor(numbers)).any() or n_different < DIFFERENT * n_present:
        return False
    if many and n_different == n_present and column.dtype.lower().startswith(WHOLE):
        return True
    return bool((np.diff(numbers) > 0).all() or np.ptp(numbers) < 1.5 * n_present)


def is_named_like_ids(name: Any) -> bool:
    """Tell whether a column is called as columns that name rows are: id, pid, customer_id, key.

    Examples
    --------
    >>> from dataworth.encoders.ids import is_named_like_ids
    >>> [is_named_like_ids(name) for name in ("PID", "customer_id", "userId", "humid", 3)]
    [True, True, True, False, False]
    """
    return isinstance(name, str) and _NAMED.fullmatch(name.strip()) is not None
