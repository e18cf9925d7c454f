"""Whether suspects sit in one label."""

import numpy as np

from dataworth.arrays import Array, Ints

# Suspects of one label are worth a word if they are at least this many, nearly all of them have it,
# and it is not simply the label of nearly all rows.
LEAST, NEARLY_ALL, OFTEN = 10, 0.8, 1.5


def one_sided(labels: Array, suspects: Ints) -> str:
    """Say that nearly all suspects have one label, or nothing if they do not.

    Parameters
    ----------
    labels : (n_train,) array
        The labels.
    suspects : (n_suspects,) array of int
        The positions of the suspects.

    Returns
    -------
    str
        A sentence, or nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.suspects.labels import one_sided
    >>> one_sided(np.array(["a"] * 16 + ["b"] * 84), np.arange(5, 17)).split(":")[0]
    '11 of the 12 suspects have the label a, 69 % of all rows that have it'
    """
    if suspects.size < LEAST:
        return ""
    names, counts = np.unique(labels[suspects], return_counts=True)
    name, count = names[np.argmax(counts)], int(counts.max())
    size = int((labels == name).sum())
    share = count / suspects.size
    if share < NEARLY_ALL or share < OFTEN * size / labels.size:
        return ""
    return (
        f"{count:,} of the {suspects.size:,} suspects have the label {name!s:.40}, "
        f"{100 * count / size:.0f} % of all rows that have it: look at them before you drop any."
    )
