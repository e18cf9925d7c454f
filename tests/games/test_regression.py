"""The regression game in any unit of its targets."""

import numpy as np
import pytest

from dataworth import KNNShapley


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e18, -1e-8])
@pytest.mark.parametrize("spread", [1e-8, 1.0, 1e100])
@pytest.mark.parametrize("n_bits", [3, None])
def test_regression_in_any_unit(offset: float, spread: float, n_bits: int | None) -> None:
    """Values scale with the square of the unit, and intervals with the errors, not the offset."""
    rng = np.random.default_rng(0)
    n, row = 60, np.sort(rng.random(60))[None]
    errors = rng.integers(-8, 9, n) / 8.0
    plain = KNNShapley(
        game="regression",
        weights=lambda d: 1.0 - 0.5 * d,  # never 0, so that all are players
        n_bits=n_bits,
        max_rank=20,
        metric="precomputed",
    )
    scale = max(abs(offset), spread)
    if abs(offset) > 0 and spread < 1e-12 * abs(offset):
        return  # such errors are lost in the targets themselves
    targets = offset + errors * spread
    unit = np.abs(targets - offset).max() if offset else spread
    got = plain.fit(None, targets).value(row, [offset])
    ref = plain.fit(None, (targets - offset) / unit).value(row, [0.0])
    first = (offset / unit) ** 2 / n  # what U(empty set) alone adds to each value
    np.testing.assert_allclose(
        got.values / unit**2, ref.values + first, rtol=1e-9, atol=1e-9 * max(first, 1.0)
    )
    assert np.isfinite(got.values).all()
    assert (got.upper - got.lower).max() <= 3.0 * unit**2 + 1e-9 * scale**2


@pytest.mark.parametrize("weights", ["uniform", "rbf", "linear"])
@pytest.mark.parametrize("n_bits", [3, None])
@pytest.mark.parametrize("target", [13_500.0, 1e100, -1e149])
def test_targets_that_all_equal_the_truth(weights: str, n_bits: int | None, target: float) -> None:
    """Every set but the empty one predicts without error, whatever the size of the targets."""
    X = [[0.0], [1.0], [2.0], [2.5]]
    valuator = KNNShapley(game="regression", weights=weights, n_bits=n_bits, n_neighbors=2)
    got = valuator.fit(X, [target] * 4).value([[0.1]], [target])
    assert np.isfinite([got.values, got.lower, got.upper]).all()
    assert got.values.sum() == pytest.approx(target**2, rel=1e-9)
