"""From our values to a peer's, where the games differ: exact, for K at most the training points."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dataworth import KNNShapley

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def unweighted(ours: Floats, y: Labels, y_val: Labels, k: int) -> Floats:
    """Values of the game matches / K with U(∅) = 0, from ours of share of matches.

    The games differ on sets of fewer than K points only. There their gains depend on the point's
    own label and on how many points have which label, and not on distance: with q the share of
    validation points that have the point's label, A the mean number of training points that have a
    validation point's, C classes and H = 1 + 1/2 + ... + 1/K,

        theirs = ours + [1/C − (H − 1) (N q − A)/(N − 1)] / N.
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    shares = (y_val[:, None] == classes).mean(axis=0)
    n, harmonic = y.size, (1.0 / np.arange(1, k + 1)).sum()
    gap = (harmonic - 1.0) * (n * shares[codes] - shares @ counts) / (n - 1)
    return ours + (1.0 / classes.size - gap) / n


def hard(ours: Floats, y: Labels, y_val: Labels) -> Floats:
    """Values of the hard game with U(∅) = 0 in each vote of two classes, from ours with 1.

    The empty set gives 1/n less to each of the n points of a vote. A point of the validation
    point's class takes part in the votes against all rivals, any other in the vote of its own.
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if not np.isin(y_val, classes).all():
        raise ValueError("y_val must hold labels of y only.")
    theirs = ours.copy()
    for label in np.searchsorted(classes, y_val):
        for rival in range(classes.size):
            if rival != label:
                gain = 1.0 / (counts[label] + counts[rival]) / (classes.size - 1) / y_val.size
                theirs[(codes == label) | (codes == rival)] += gain
    return theirs


def power_of_two_grid(n_bits: int) -> Callable[[Floats], Floats]:
    """Inverse-distance weights rounded to multiples of 2^−b, for a valuator with b + 1 bits.

    That valuator has 2^(b+1) levels, of which these integers, 0 to 2^b, are the lowest: votes
    depend on ratios only.
    """

    def weights(ranked: Floats) -> Floats:
        near = np.isclose(ranked, 0.0)
        unit = near.astype(np.float64) if near.any() else ranked[0] / ranked
        levels: Floats = np.round(unit * 2**n_bits)
        return levels / (2 ** (n_bits + 1) - 1)

    return weights


def truncated(X: Floats, y: Labels, k: int) -> Floats:
    """cleanlab's values of a training set on itself, from ours.

    For each validation point v: the `unweighted` value of each of the K nearest other points,
    less that of the K-th; 0 for all others, and for v. The mean over v goes from [−1, 1] to [0, 1].
    """
    total = np.zeros(y.size)
    valuator = KNNShapley(n_neighbors=k, weights="uniform", progress=False)
    for v in range(y.size):
        others = np.delete(np.arange(y.size), v)
        exact = valuator.fit(X[others], y[others]).value(X[v : v + 1], y[v : v + 1]).values
        exact = unweighted(exact, y[others], y[v : v + 1], k)
        distance = np.sqrt(((X[others] - X[v]) ** 2).sum(axis=1))
        nearest = np.argsort(distance, kind="stable")[:k]
        total[others[nearest]] += exact[nearest] - exact[nearest[-1]]
    return 0.5 * (total / y.size + 1.0)
