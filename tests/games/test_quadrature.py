"""Division as a sum of exponentials: how far off it is, for integers and for real totals."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Context, Inexact, localcontext
from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigh_tridiagonal
from threadpoolctl import threadpool_info

from dataworth import KNNShapley
from dataworth.arrays import Floats
from dataworth.games import quadrature
from dataworth.games.weighted_mean import powers_table


def relative_error(neighbors: int, top: int, power: int) -> float:
    """The largest relative error of 1 / T^p, multiplied up weight by weight as the kernels do."""
    table, coefficients = powers_table(neighbors, top, power, idle=False)
    factors = table.reshape(top + 1, neighbors + 1, -1)[:, 1]
    worst = 0.0
    for full in range(neighbors):
        for rest in np.linspace(1, top, min(top, 20)).astype(int):
            terms = coefficients.copy()
            for weight in [top] * full + [int(rest)]:
                terms = terms * factors[weight]
            total = full * top + int(rest)
            worst = max(worst, abs(float(terms.sum()) * float(total) ** power - 1.0))
    return worst


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize(
    ("neighbors", "n_bits"),
    [(1, 1), (2, 2), (5, 3), (5, 4), (9, 6), (9, 8), (9, 10), (50, 3), (50, 8), (300, 6)],
)
def test_division_by_whole_totals(neighbors: int, n_bits: int, power: int) -> None:
    assert relative_error(neighbors, 2**n_bits - 1, power) < 3e-14


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("largest", [1, 2, 16, 35, 36, 60, 61, 100, 101, 155, 1275, 20_000])
def test_few_nodes_do_for_every_whole_total(largest: int, power: int) -> None:
    rates, coefficients = quadrature.integer_nodes(largest, power)
    total = np.arange(1.0, largest + 1.0)
    sums = np.exp(-np.outer(total, rates)) @ coefficients
    np.testing.assert_allclose(sums * total**power, 1.0, rtol=0, atol=3e-14)
    assert rates.size <= min((largest + 1) // 2, 70)


@cache
def errors(doublings: int, power: int) -> tuple[Floats, Floats]:
    """Totals on a grid of 200,000, and the relative error of 1 / T^p at each of them."""
    rates, coefficients, *_ = quadrature.real_nodes(doublings, power)
    total = np.exp2(np.linspace(0.0, doublings, 200_001))
    parts = [
        (np.exp(-np.outer(some, rates)) * some[:, None] ** power) @ coefficients - 1.0
        for some in np.array_split(total, 50)
    ]
    return total, np.concatenate(parts)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("doublings", [2, 4, 10, 24, 60, 62])
def test_no_total_has_a_larger_error_than_stated(doublings: int, power: int) -> None:
    rates, coefficients, stated, _ = quadrature.real_nodes(doublings, power)
    total, error = errors(doublings, power)
    seen = np.abs(error).max()
    assert seen <= stated <= quadrature.TOLERANCE
    if doublings <= quadrature.MOST_FITTED:
        terms = np.exp(-np.outer(total[::100], rates)) * total[::100, None] ** power * coefficients
        rounding = quadrature.ROUNDING * np.abs(terms).sum(axis=1).max()
        assert seen > 0.8 * (stated - rounding)  # a bound that says something


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("doublings", range(2, 64, 2))
def test_every_range_has_nodes(doublings: int, power: int) -> None:
    nodes = quadrature.real_nodes(doublings, power)
    assert nodes.error <= quadrature.TOLERANCE
    most = 8 * ((10 + 2 * doublings + 7) // 8) + 8  # kernels take eight at a time
    assert nodes.rates.size <= (most if doublings <= quadrature.MOST_FITTED else 250)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("doublings", [4, 10])
def test_products_of_rounded_factors_stay_within_the_stated_error(
    doublings: int, power: int
) -> None:
    nodes, k = quadrature.real_nodes(doublings, power), 1000
    rng = np.random.default_rng(doublings)
    weights = rng.uniform(1.0, 2.0**doublings / k, k) if doublings == 10 else np.full(k, 16.0 / k)
    terms, total = nodes.coefficients.copy(), 0.0
    for weight in weights:
        terms *= np.exp(-nodes.rates * weight)
        total += weight
        if total >= 1.0:
            assert abs(terms.sum() * total**power - 1.0) <= nodes.error_of_products(k)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("largest", [5, 35, 100])
def test_no_bit_of_gaussian_nodes_depends_on_where_newton_starts(
    largest: int, power: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(*args: Floats, **options: bool) -> Floats:
        return eigh_tridiagonal(*args, **options) * (1.0 + 1e-10)

    ref = quadrature.integer_nodes(largest, power)
    monkeypatch.setattr(quadrature, "eigh_tridiagonal", elsewhere)
    with localcontext(Context(prec=5, traps=[Inexact])):  # as accounts may want it
        got = quadrature.integer_nodes.__wrapped__(largest, power)
    np.testing.assert_array_equal(got, ref)


def test_threads_take_turns_to_limit_blas() -> None:
    """The limit is that of the process: out of turn, one thread would lift that of another."""
    before = threadpool_info()
    with ThreadPoolExecutor(4) as pool:
        for doublings in range(2, 20):
            made = [pool.submit(quadrature.real_nodes.__wrapped__, doublings, 1) for _ in range(4)]
            for one in made:
                ref = quadrature.real_nodes(doublings, 1)
                np.testing.assert_array_equal(one.result().coefficients, ref.coefficients)
    assert threadpool_info() == before


@pytest.mark.parametrize("n", [200, 2000])
@pytest.mark.parametrize("doublings", [4, 10, 24])
def test_the_worst_weights_stay_within_the_stated_error(doublings: int, n: int) -> None:
    """The first point is at the highest error, almost all others at the lowest; K is 1.

    The value of the first is then off by nearly twice the error of a utility. With K = 1 weights
    cancel, so that equal ones give the exact values.
    """
    total, error = errors(doublings, 1)
    low, high = total[error.argmin()], total[error.argmax()]
    weight = np.full(n, low)
    weight[0], weight[-2:] = high, (1.0, 2.0**doublings)
    weight /= weight.max()
    y = np.ones(n, dtype=int)
    y[-1] = 0
    X = np.arange(1.0, n + 1)[:, None]

    def weigh(distances: Floats) -> Floats:
        return weight[np.rint(distances).astype(int) - 1]

    got = KNNShapley(n_neighbors=1, weights=weigh, n_bits=None).fit(X, y).value([[0.0]], [1])
    ref = KNNShapley(n_neighbors=1, weights="uniform").fit(X, y).value([[0.0]], [1])
    seen = np.abs(got.values - ref.values).max()
    assert 0.5 * got.weight_error < seen <= got.weight_error
    assert (got.lower <= ref.values).all()
    assert (ref.values <= got.upper).all()
