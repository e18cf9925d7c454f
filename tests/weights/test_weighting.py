from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dataworth.neighbors.ranking import NOBODY
from dataworth.weights.weighting import Weighting
from tests import naive


@pytest.mark.parametrize("name", ["rbf", "linear", "inverse", "uniform"])
@pytest.mark.parametrize("n_bits", [1, 3, 10])
@pytest.mark.parametrize("bandwidth", ["auto", 0.7])
@pytest.mark.parametrize("seed", range(5))
def test_equals_plain_formula(name: str, n_bits: int, bandwidth: Any, seed: int) -> None:
    distances = np.sort(np.random.default_rng(seed).random(12 + seed) * 3)
    ref = naive.weights(name, distances.tolist(), n_bits, None if bandwidth == "auto" else 0.7)
    weighting = Weighting(name, bandwidth, n_bits)
    scale = (2**n_bits - 1) // weighting.top  # equal weights need one level only
    got = np.zeros(distances.size, int)
    ranked = weighting.rank(distances)
    got[ranked.order] = ranked.weights
    np.testing.assert_array_equal(got * scale, ref)


@pytest.mark.parametrize("name", ["rbf", "linear", "uniform"])
def test_equal_distances_weigh_the_same(name: str) -> None:
    weighting = Weighting(name, "auto", 3)
    assert weighting.rank(np.full(5, 2.0)).weights.tolist() == [weighting.top] * 5


def test_zero_distances_take_all_inverse_weight() -> None:
    got = Weighting("inverse", "auto", 3).rank(np.array([0.0, 0.0, 0.1, 5.0]))
    assert got.weights.tolist() == [7, 7]


def test_automatic_bandwidth_of_ties_at_the_nearest() -> None:
    got = Weighting("rbf", "auto", 3).rank(np.array([1.0, 1.0, 1.0, 4.0]))
    assert got.weights.tolist() == [7, 7, 7]


@pytest.mark.parametrize("name", ["rbf", "linear", "inverse"])
def test_units_do_not_matter(name: str) -> None:
    distances = np.sort(np.random.default_rng(0).random(50))
    weighting = Weighting(name, "auto", 5)
    np.testing.assert_array_equal(
        weighting.rank(distances).weights, weighting.rank(distances * 1024).weights
    )


def test_far_points_do_not_underflow_the_scale() -> None:
    got = Weighting("rbf", 1.0, 3).rank(np.array([5000.0, 5000.1, 5001.0]))
    assert got.weights.tolist() == [7, 6, 3]


def test_callable_gets_sorted_distances() -> None:
    seen = []

    def half(distances: NDArray[np.float64]) -> NDArray[np.float64]:
        seen.append(distances)
        return np.full(distances.size, 0.5)

    distances = np.array([0.1, 0.2])
    assert Weighting(half, "auto", 2).rank(distances[::-1]).weights.tolist() == [2, 2]
    np.testing.assert_array_equal(seen[0], distances)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.array([0.5, 1.5, 0.0]), r"3 numbers in \[0, 1\]; it returned 1.5"),
        (np.array([0.5, -0.1, 0.0]), "it returned -0.1"),
        (np.array([0.5, np.nan, 0.0]), "it returned nan"),
        (np.array([0.5, 0.5]), r"one per distance; it returned shape \(2,\)"),
        (np.array(["a", "b", "c"]), "it returned dtype <U1"),
    ],
)
def test_bad_callable(answer: NDArray[np.float64], message: str) -> None:
    with pytest.raises(ValueError, match=f"weights must return .*{message}"):
        Weighting(lambda d: answer, "auto", 3).rank(np.arange(3.0))


@pytest.mark.parametrize("name", ["rbf", "linear", "inverse", "uniform"])
@pytest.mark.parametrize("n_bits", [1, 3, 8, None])
@pytest.mark.parametrize("seed", range(6))
def test_a_limit_changes_only_what_is_ranked(name: str, n_bits: int | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    row = rng.integers(1, 20, 60).astype(float) if seed % 2 else rng.random(60)
    weighting = Weighting(name, "auto", n_bits)
    whole = weighting.rank(row)
    for limit in (1, 2, 7, 30, 59, 60, 100):
        part = weighting.rank(row, limit)
        size = min(limit, whole.order.size)
        np.testing.assert_array_equal(part.order, whole.order[:size])
        np.testing.assert_array_equal(part.weights, whole.weights[:size])
        assert set(part.others) == set(whole.order[size:])
        assert part.players == whole.players
        if part.behind is not None:
            np.testing.assert_array_equal(part.behind[whole.order[size:]], whole.weights[size:])


def test_real_weights_are_not_rounded() -> None:
    row = np.array([0.0, 1.0, 2.0, 3.0])
    got = Weighting("rbf", 2.0, None).rank(row).weights
    np.testing.assert_allclose(got, np.exp(-row / 2.0), rtol=1e-15)


@pytest.mark.parametrize("name", ["linear", "inverse"])
@pytest.mark.parametrize("seed", range(40))
def test_rows_weigh_as_the_plain_formula_does(name: str, seed: int) -> None:
    """Weights of some ranks tell where those of all change; halves are rounded to even."""
    rng = np.random.default_rng(seed)
    n, n_bits = int(rng.choice([1, 2, 7, 60, 2000])), int(rng.integers(1, 11))
    whole = rng.integers(0, rng.integers(1, 30), (3, n)).astype(np.float64)
    rows = whole if seed % 2 else rng.random((3, n))
    own = rng.integers(0, n, 3) if seed % 4 < 2 and n > 1 else np.full(3, NOBODY)
    got = Weighting(name, "auto", n_bits).rank_rows(rows, own)
    for r in range(3):
        others = np.delete(np.arange(n), own[r]) if own[r] >= 0 else np.arange(n)
        order = others[np.argsort(rows[r, others], kind="stable")]
        d = rows[r, order]
        if name == "linear":
            unit = (d[-1] - d) / (d[-1] - d[0]) if d[-1] > d[0] else np.ones(d.size)
        else:
            unit = d[0] / d if d[0] > 0.0 else np.where(d == 0.0, 1.0, 0.0)
        weights = np.rint(unit * (2**n_bits - 1))
        size = np.count_nonzero(weights)
        assert got.sizes[r] == size
        np.testing.assert_array_equal(got.order[r, :size], order[:size])
        np.testing.assert_array_equal(got.weights[r, :size], weights[:size])
