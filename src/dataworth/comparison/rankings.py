"""How well probabilities rank rows: AUROC and average precision, as means over rows.

Neither is a mean of what single rows add, but both are nearly one where rows count a little more or
less than once, as they do in a bootstrap. So each row gets what it adds to first order. The mean of
that over the rows of a class, and then over classes, is the metric itself; of rows drawn anew, it
is what the metric becomes up to terms of second order (for AUROC that is the variance of DeLong).
"""

import numpy as np

from dataworth.arrays import Flags, Floats, Ints


def auroc(chances: Floats, codes: Ints) -> Floats:
    """Return what each row adds to the AUROC: how often a row of a class has a higher chance of it.

    With several classes it is the mean over them of each against all others.

    Parameters
    ----------
    chances : (n_rows, n_classes) array
        The predicted probability of each class.
    codes : (n_rows,) array of int
        The class that each row has; every class has rows, and there are at least two.

    Returns
    -------
    (n_rows,) array
        Numbers whose mean over classes of means over rows is the AUROC.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.comparison.rankings import auroc
    >>> auroc(np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]]), np.array([0, 0, 1, 1]))
    array([1.25, 0.25, 1.25, 0.25])
    """
    n_classes = chances.shape[1]
    sizes = np.bincount(codes, minlength=n_classes)
    # Of two classes, the chance of one says all, and that of the other may be rounded differently.
    asked = [int(np.argmin(sizes))] if n_classes == 2 else list(range(n_classes))
    total, added = 0.0, np.zeros(codes.size)
    for label in asked:
        mine = codes == label
        above = np.empty(codes.size)  # the share of the others that a row is on the right side of
        above[mine] = _below(chances[mine, label], chances[~mine, label])
        above[~mine] = 1.0 - _below(chances[~mine, label], chances[mine, label])
        whole = float(above[mine].mean())
        # A class counts among the others by the number of its rows.
        share = np.where(mine, 1.0, sizes[codes] / (codes.size - sizes[label]))
        added += share * (above - whole)
        total += whole
    return (n_classes * added + total) / len(asked)


def _below(scores: Floats, others: Floats) -> Floats:
    """Return which share of the others each score is above; ties count a half."""
    ordered = np.sort(others)
    sides = [np.searchsorted(ordered, scores, side) for side in ("left", "right")]
    return (sides[0] + sides[1]) / (2.0 * others.size)


def average_precision(chances: Floats, wanted: Flags) -> Floats:
    """Return what each row adds to the average precision.

    Parameters
    ----------
    chances : (n_rows,) array
        The predicted probability that a row is wanted.
    wanted : (n_rows,) array of bool
        Which rows are; some are and some are not.

    Returns
    -------
    (n_rows,) array
        Numbers whose mean over the rows that are wanted is the average precision, and so is that
        over the others.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.comparison.rankings import average_precision
    >>> rows = average_precision(np.array([0.9, 0.8, 0.3, 0.1]), np.array([1, 0, 1, 0], bool))
    >>> float(rows[[0, 2]].mean()), float(rows[[1, 3]].mean())  # (1 + 2/3) / 2
    (0.8333333333333333, 0.8333333333333333)
    """
    _, step = np.unique(-chances, return_inverse=True)  # thresholds, the highest first
    mine = np.bincount(step, wanted)
    right, wrong = np.cumsum(mine), np.cumsum(np.bincount(step, ~wanted))
    n = right[-1]
    precision = right / (right + wrong)
    whole = float(mine @ precision / n)
    # A row changes the precision at its own threshold and at all lower ones.
    gain, loss = (
        np.cumsum((mine * part / (right + wrong) ** 2)[::-1])[::-1] / n for part in (wrong, right)
    )
    change = np.where(wanted, precision[step] / n + gain[step], -loss[step])
    out = np.empty(chances.size)
    for group in (wanted, ~wanted):
        out[group] = whole + 2 * group.sum() * (change[group] - change[group].mean())
    return out
