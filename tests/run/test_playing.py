"""What the games of a run come to."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from dataworth import KNNShapley
from tests.test_estimator import cloud


def test_bounds_without_max_rank_are_the_values() -> None:
    X, y, X_val, y_val = cloud(2, 40, 7, 3)
    values = KNNShapley().fit(X, y).value(X_val, y_val)
    np.testing.assert_array_equal(values.lower, values.values)
    np.testing.assert_array_equal(values.upper, values.values)


def test_a_mean_of_games_has_the_mean_of_their_bounds() -> None:
    X, y, X_val, y_val = cloud(3, 60, 9, 2)
    encoders = [None, StandardScaler()]
    mean = KNNShapley(encoder=encoders, max_rank=12).fit(X, y).value(X_val, y_val)
    each = [KNNShapley(encoder=e, max_rank=12).fit(X, y).value(X_val, y_val) for e in encoders]
    gains = [one.values.sum() ** 4 for one in each]
    shares = np.array(gains) / sum(gains)
    for name in ("values", "lower", "upper"):
        want = sum(s * getattr(one, name) for s, one in zip(shares, each, strict=True))
        np.testing.assert_allclose(getattr(mean, name), want, rtol=0, atol=1e-15)
