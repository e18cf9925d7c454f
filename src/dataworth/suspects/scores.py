"""A score to rank suspects by, and targets that are far from what the others say."""

import numpy as np

from dataworth.arrays import Flags, Floats

# How much agreement counts beside the value, both in standard deviations.
AGREEMENT_WEIGHT = 2.0
FENCE = 3.0  # Tukey's for what is far out, in ranges of the middle half
ROUNDING = 1e-12  # of the largest number: what differs by less is taken to be the same


def score(values: Floats, agreement: Floats | None) -> Floats:
    """Rank training points by how wrong their labels look; lower is more suspect.

    This is no Shapley value, and it does not add up to anything. A value says how a point serves
    the others, and agreement how well the others predict its own label: two looks at one label.
    Each is standardised over the training points, and the second is added to the first with the
    weight `AGREEMENT_WEIGHT`.

    Parameters
    ----------
    values : (n_train,) array
        The values.
    agreement : (n_train,) array or None
        How much the others agree with the label of each point; NaN where nobody was asked. If all
        is None, the value alone counts.

    Returns
    -------
    (n_train,) array
        The scores. A column that is the same everywhere, and agreement that is not known, add 0.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.suspects.scores import score
    >>> score(np.array([1.0, 3.0]), np.array([0.5, 0.5]))
    array([-1.,  1.])
    """
    total = _standardised(values)
    return total if agreement is None else total + AGREEMENT_WEIGHT * _standardised(agreement)


def far_off(agreement: Floats) -> Flags:
    """Return which targets of a regression are far from what the others say.

    The error of a point is the root of its agreement, which is a squared error below 0. Far is what
    lies three times the range of the middle half of all errors above that half: one in 3,700 of
    errors that are normal. If half of the errors are equal, nothing is called far.

    Parameters
    ----------
    agreement : (n_train,) array
        The agreement of each point in a regression game; NaN where nobody was asked.

    Returns
    -------
    (n_train,) array of bool
        Which errors are far above the others.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.suspects.scores import far_off
    >>> far_off(-(np.array([1.0, 2.0, 3.0, 2.0, 90.0]) ** 2))
    array([False, False, False, False,  True])
    """
    errors = np.sqrt(np.maximum(-agreement, 0.0))
    known = errors[~np.isnan(errors)]
    if not known.size:
        return np.zeros(errors.size, bool)
    low, high = np.quantile(known, [0.25, 0.75])
    middle = high - low
    far: Flags = errors > high + FENCE * middle  # NaN is not
    return far if middle > ROUNDING * high else np.zeros(errors.size, bool)


def _standardised(column: Floats) -> Floats:
    """Return the distance of each number from the mean in standard deviations."""
    out = np.zeros(column.size)
    known = ~np.isnan(column)
    numbers = column[known]
    if not numbers.size:
        return out
    deviation = numbers.std()
    if deviation > ROUNDING * np.abs(numbers).max():
        out[known] = (numbers - numbers.mean()) / deviation
    return out
