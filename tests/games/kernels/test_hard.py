"""The walk and the hard game against enumeration, counting and the axioms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dataworth.games.kernels import hard
from dataworth.games.kernels.coefficients import shapley_like
from tests import naive

TOLERANCE = 1e-12


def binary(signed: NDArray[np.int64], k: int, top: int | None = None) -> NDArray[np.float64]:
    top = top or max(int(abs(signed).max()), 1)
    n = signed.size
    out = np.full(n, np.nan)
    hard.binary(
        abs(signed).astype(np.int16), (signed > 0).astype(np.float64), n, top, k, 1.0,
        shapley_like(n, k), out, np.empty(2 * top + 1),
    )  # fmt: skip
    return out


def one_vs_one(
    labels: NDArray[np.int64], weights: NDArray[np.int64], y: int, n_classes: int, k: int
) -> NDArray[np.float64]:
    out = np.full(labels.size, np.nan)
    top = max(int(weights.max()), 1)
    hard.one_vs_one(
        labels, weights.astype(np.int16), y, np.bincount(labels, minlength=n_classes), top, k, 1.0,
        shapley_like(labels.size, k), out, np.empty((n_classes, top + 1)), np.empty((2, n_classes)),
    )  # fmt: skip
    return out


def enumerated(signed: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    labels = [1 if s >= 0 else 0 for s in signed]
    weights = [abs(int(s)) for s in signed]
    if set(labels) == {1}:
        return np.zeros(signed.size)
    return naive.shapley(signed.size, naive.hard_vote(range(signed.size), labels, weights, 1, k))


@pytest.mark.parametrize("seed", range(300))
def test_binary_equals_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 11)), int(rng.integers(1, 13))
    top = 2 ** int(rng.integers(1, 11)) - 1
    signed = rng.integers(-top, top + 1, n)
    if seed % 3 == 0:  # weights that fall with distance, as most do
        signed = signed[np.argsort(-abs(signed))]
    if seed % 5 == 0:  # many zeros
        signed[rng.random(n) < 0.5] = 0
    ref = enumerated(signed, k)
    assert np.abs(binary(signed, k, top) - ref).max() <= TOLERANCE


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("k", [1, 2])
def test_downdate_equals_enumeration(seed: int, k: int) -> None:
    """With more than 3K points the downdate takes over from the tables that skip a point."""
    rng = np.random.default_rng(seed)
    signed = rng.integers(-3, 4, 4 * k + 4)
    assert np.abs(binary(signed, k) - enumerated(signed, k)).max() <= TOLERANCE


@pytest.mark.parametrize("seed", range(150))
def test_one_vs_one_equals_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, n_classes = (int(rng.integers(1, most)) for most in (9, 6, 5))
    labels, weights = rng.integers(0, n_classes, n), rng.integers(0, 8, n)
    seen, labels = np.unique(labels, return_inverse=True)
    y = int(labels[0])
    vote = naive.hard_vote(range(n), labels.tolist(), weights.tolist(), y, k)
    ref = naive.shapley(n, vote)
    got = one_vs_one(labels, weights, y, seen.size, k)
    assert np.abs(got - ref).max() <= TOLERANCE


@pytest.mark.parametrize("rank", [0, 3, 25, 24_999, 49_999])
def test_fifty_thousand_points_equal_counting(rank: int) -> None:
    rng = np.random.default_rng(7)
    n, k = 50_000, 5
    weights = np.maximum(np.rint(7 * np.exp(-2 * np.linspace(0, 1, n))), 1).astype(np.int64)
    signed = weights * rng.choice([-1, 1], n)
    ref = naive.binary_value_by_counting(signed, k, rank)
    assert binary(signed, k)[rank] == pytest.approx(ref, rel=1e-10, abs=1e-15)


def test_far_values_are_right_to_many_digits() -> None:
    """A far point's value is small; it must not be the difference of two large sums."""
    rng = np.random.default_rng(11)
    n = 200_000
    signed = rng.choice([-1, 1], n)
    got = binary(signed, 1)
    right = np.where(signed > 0, 1, 0)
    tail, exact = Fraction(int(right[-1]) - 1, n), []
    for i in range(n - 2, n - 200, -1):
        exact.append(tail)
        tail += Fraction(int(right[i] - right[i + 1]), i + 1)
    for i, ref in enumerate(exact):
        assert got[n - 1 - i] == pytest.approx(float(ref), rel=0, abs=1e-15 / n)


def test_downdate_with_three_neighbours_equals_enumeration() -> None:
    rng = np.random.default_rng(2)
    signed = rng.integers(-3, 4, 14)
    assert np.abs(binary(signed, 3) - enumerated(signed, 3)).max() <= TOLERANCE


@pytest.mark.parametrize(("n", "k"), [(40, 3), (200, 7), (300, 60), (50, 50), (45, 200)])
def test_middle_sizes_equal_counting(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    signed = rng.integers(-7, 8, n)
    got = binary(signed, k)
    for i in range(0, n, 7):
        ref = naive.binary_value_by_counting(signed, min(k, n), i)
        assert got[i] == pytest.approx(ref, abs=TOLERANCE)


@pytest.mark.parametrize("n", [100_000, 1_000_000])
def test_efficiency_of_many_points(n: int) -> None:
    rng = np.random.default_rng(n)
    signed = np.sort(rng.integers(1, 8, n))[::-1] * rng.choice([-1, 1], n)
    whole = float(signed[:5].sum() >= 0) - 1.0
    assert math.fsum(binary(signed, 5)) == pytest.approx(whole, abs=1e-9)


def test_nearest_neighbour_alone_decides() -> None:
    """K = 1 has a closed form for any N: phi_i - phi_{i+1} = (u_i - u_{i+1}) / i."""
    rng = np.random.default_rng(3)
    n = 20_000
    signed = rng.choice([-1, 1], n)
    right = (signed > 0).astype(float)
    ref = np.empty(n)
    ref[-1] = (right[-1] - 1.0) / n
    for i in range(n - 2, -1, -1):
        ref[i] = ref[i + 1] + (right[i] - right[i + 1]) / (i + 1)
    np.testing.assert_allclose(binary(signed, 1), ref, rtol=0, atol=TOLERANCE)


def test_ten_bits_and_many_distinct_values() -> None:
    rng = np.random.default_rng(0)
    signed = rng.integers(-1023, 1024, 3000)
    got = binary(signed, 3, 1023)
    assert math.fsum(got) == pytest.approx(float(signed[:3].sum() >= 0) - 1.0, abs=1e-12)
    for i in (0, 1, 2, 11, 12, 13, 1500, 2999):
        ref = naive.binary_value_by_counting(signed, 3, i)
        assert got[i] == pytest.approx(ref, abs=TOLERANCE)


def test_many_neighbours_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    signed = rng.choice([-1, 1], 5000)
    got = binary(signed, 600)
    assert math.fsum(got) == pytest.approx(float(signed[:600].sum() >= 0) - 1.0, abs=1e-9)
    signed = signed[:1500]  # counting takes long
    ref = naive.binary_value_by_counting(signed, 600, 1300)
    assert binary(signed, 600)[1300] == pytest.approx(ref, abs=TOLERANCE)


games = st.integers(1, 40).flatmap(
    lambda n: st.tuples(st.lists(st.integers(-7, 7), min_size=n, max_size=n), st.integers(1, 12))
)


@given(games)
def test_efficiency(game: tuple[list[int], int]) -> None:
    signed, k = np.array(game[0]), game[1]
    whole = float(signed[:k].sum() >= 0) - 1.0
    assert math.fsum(binary(signed, k, 7)) == pytest.approx(whole, abs=TOLERANCE)


@given(games, st.data())
def test_symmetry(game: tuple[list[int], int], data: st.DataObject) -> None:
    """Two points with nobody between them who add the same to every set get the same value."""
    signed, k = list(game[0]), game[1]
    at = data.draw(st.integers(0, len(signed) - 1))
    got = binary(np.array([*signed[:at], signed[at], *signed[at:]]), k, 7)
    assert got[at] == pytest.approx(got[at + 1], abs=TOLERANCE)


@given(games, st.integers(1, 5))
def test_null_players(game: tuple[list[int], int], zeros: int) -> None:
    """Points of weight 0 behind all others get 0 and change nothing for the others."""
    signed, k = np.array(game[0]), game[1]
    got = binary(np.append(signed, np.zeros(zeros, np.int64)), k, 7)
    np.testing.assert_allclose(got[signed.size :], 0.0, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(got[: signed.size], binary(signed, k, 7), rtol=0, atol=TOLERANCE)


@given(games)
def test_sign_follows_the_label(game: tuple[list[int], int]) -> None:
    """With weights that fall with distance a point for y never harms, one against never helps."""
    signed = np.array(sorted(game[0], key=abs, reverse=True))
    got = binary(signed, game[1], 7)
    assert (got[signed > 0] >= -TOLERANCE).all()
    assert (got[signed < 0] <= TOLERANCE).all()
