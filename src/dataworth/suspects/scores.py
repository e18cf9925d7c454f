"""A score to rank suspects by."""

import numpy as np

from dataworth.arrays import Floats

# How much agreement counts beside the value, both in standard deviations.
AGREEMENT_WEIGHT = 2.0
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
