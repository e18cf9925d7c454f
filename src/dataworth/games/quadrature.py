"""Writes 1 / T^p as a sum of exponentials, which turns a division into products.

Least squares are solved by one thread, as their last bits depend on the number of threads.
"""

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.linalg import eigh_tridiagonal, qr
from scipy.special import gamma

from dataworth.arrays import Floats
from dataworth.blas import one_thread

# Up to each of these totals, so many nodes of Gaussian quadrature leave no error but rounding.
GAUSSIAN = ((35, 16), (60, 24), (100, 32))
# The relative error that real weights allow in 1 / T^p.
TOLERANCE = 1e-10
# Over more doublings of the total than this, the trapezoidal rule replaces the fit.
MOST_FITTED = 60
EPSILON = float(np.finfo(np.float64).eps)
# What rounding adds to the error, as a multiple of the sizes of all terms together.
ROUNDING = 16 * EPSILON
DECIMALS = Context(prec=60, rounding=ROUND_HALF_EVEN, traps=[])


class RealNodes(NamedTuple):
    """1 / T^p = sum_r s_r exp(-rate_r T), nearly, for all totals T of a range that starts at 1.

    Attributes
    ----------
    rates, coefficients : (n,) array
        The rates and the coefficients s.
    error : float
        A bound on the relative error, which holds for every total of the range.
    size : float
        The most that the terms add up to without their signs, relative to 1 / T^p.
    """

    rates: Floats
    coefficients: Floats
    error: float
    size: float

    def error_of_products(self, n: int) -> float:
        """Bound the relative error where exp(-rate T) is a product of n factors, each rounded."""
        return self.error + 2.0 * n * EPSILON * self.size


@lru_cache(maxsize=64)
def integer_nodes(largest: int, power: int) -> tuple[Floats, Floats]:
    """Return nodes with 1 / T^p = sum_r s_r exp(-rate_r T), to rounding, for T = 1..largest.

    1/T is the integral of x^(T-1) over [0, 1], and 1/T^2 that of -log(x) x^(T-1). Gaussian
    quadrature with n nodes is exact for polynomials of degree up to 2n - 1, and far beyond that its
    error is below rounding. If it takes many nodes, fewer, chosen among those of a rule for all
    real T, do as well.

    Returns
    -------
    rates, coefficients : (n,) array
        The rates and the coefficients s.
    """
    enough = [count for most, count in GAUSSIAN if largest <= most]
    if not enough:
        with one_thread():
            return _chosen_nodes(largest, power)
    n = min((largest + 1) // 2, enough[0])
    return _gaussian_nodes(n, power)


def _chosen_nodes(largest: int, power: int) -> tuple[Floats, Floats]:
    """Return rates and coefficients with 1 / T^p = sum_r s_r exp(-rate_r T) for T = 1..largest.

    The trapezoidal rule for the integral of exp(p u - T exp(u)) over u, with a short step, has no
    error but rounding. Its functions of T span few dimensions, to rounding. A pivoted QR
    decomposition chooses as many of them as span the rest, and least squares refit the
    coefficients.
    """
    step = 0.2
    u = np.arange(math.log(1e-18 ** (1.0 / power) / largest), math.log(45.0 + 10.0 * power), step)
    total = np.unique(np.rint(np.geomspace(1.0, largest, 32 * math.ceil(math.log(largest)))))

    def functions(total: Floats, u: Floats) -> Floats:
        logs = power * (np.log(total)[:, None] + u) - np.outer(total, np.exp(u))
        return step * np.exp(logs)

    every = functions(total, u)
    _, triangle, pivots = qr(every, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    best = math.inf
    for tolerance in (1e-14, 3e-15, 1e-15, 3e-16):
        tried = np.sort(pivots[: np.count_nonzero(size > tolerance * size[0])])
        some = every[:, tried]
        x = np.linalg.lstsq(some, np.ones(total.size), rcond=1e-16)[0]
        x += np.linalg.lstsq(some, 1.0 - some @ x, rcond=1e-16)[0]
        error = float(np.abs(some @ x - 1.0).max())
        if error < best:
            best, chosen, coefficients = error, tried, x
        if best < 4e-15:
            break
    return np.exp(u[chosen]), coefficients * step * np.exp(power * u[chosen])


def _recurrence(n: int, power: int) -> tuple[list[Decimal], list[Decimal]]:
    """Return a and b of the monic polynomials p_{j+1} = (x - a_j) p_j - b_j p_{j-1} on [0, 1].

    They are orthogonal for the weight 1 (power 1: Legendre's) or -log(x) (power 2). For the latter,
    Chebyshev's algorithm (Gautschi, Orthogonal Polynomials: Computation and Approximation, 2004,
    section 2.1.7) finds them from the moments of Legendre's polynomials,
    nu_j = (-1)^j / (j (j+1)) * (j!)^2 / (2j)!.
    """
    half = Decimal("0.5")
    legendre = [Decimal(1)] + [Decimal(k * k) / (16 * k * k - 4) for k in range(1, 2 * n)]
    if power == 1:
        return [half] * n, legendre[:n]
    scale, moments = Decimal(1), [Decimal(1)]
    for k in range(1, 2 * n):
        scale *= Decimal(k) / (4 * k - 2)
        moments.append((-1) ** k * scale / (k * (k + 1)))
    a, b = [half + moments[1]], [Decimal(1)]
    older, old = [Decimal(0)] * (2 * n), moments
    for j in range(1, n):
        new = [Decimal(0)] * (2 * n)
        for m in range(j, 2 * n - j):
            new[m] = old[m + 1] - (a[-1] - half) * old[m] - b[-1] * older[m]
            new[m] += legendre[m] * old[m - 1]
        a.append(half + new[j + 1] / new[j] - old[j] / old[j - 1])
        b.append(new[j] / old[j - 1])
        older, old = old, new
    return a, b


def _gaussian_nodes(n: int, power: int) -> tuple[Floats, Floats]:
    """Return Gaussian quadrature as rates -log(x) and coefficients weight / x, rounded once.

    The nodes are the roots of p_n: eigenvalues of the Jacobi matrix, polished by Newton's method.
    The weights are one over the sum of squares of the orthonormal polynomials at the nodes. All
    is computed with 60 decimals, as x^T multiplies the error of a node by T, and so that no bit
    depends on a library of linear algebra.
    """
    with localcontext(DECIMALS):
        a, b = _recurrence(n, power)
        diagonal, beside = np.array(a, np.float64), np.sqrt(np.array(b[1:], np.float64))
        rates, coefficients = np.empty(n), np.empty(n)
        for i, start in enumerate(eigh_tridiagonal(diagonal, beside, eigvals_only=True)):
            x = Decimal(float(start))
            for _ in range(3):
                before, value, slope_before, slope = Decimal(0), Decimal(1), Decimal(0), Decimal(0)
                squares, norm = Decimal(0), Decimal(1)
                for j in range(n):
                    norm *= b[j]
                    squares += value * value / norm
                    slope_before, slope = (
                        slope,
                        value + (x - a[j]) * slope - b[j] * slope_before,
                    )
                    before, value = value, (x - a[j]) * value - b[j] * before
                x -= value / slope
            rates[i], coefficients[i] = float(-x.ln()), float(1 / (squares * x))
    return rates, coefficients


@lru_cache(maxsize=64)
def real_nodes(doublings: int, power: int) -> RealNodes:
    """Return nodes for 1 <= T <= 2^doublings.

    The rates are equally spaced on a log scale, and the coefficients minimise the squares of the
    relative error. Nodes are added until the error is within the tolerance. Beyond `MOST_FITTED`
    doublings, the trapezoidal rule for the integral of exp(p u - T exp(u)) over u takes the place
    of the fit.
    """
    if doublings > MOST_FITTED:
        return _trapezoid(doublings, power)
    ratio = 2.0**doublings
    count = 8 * math.ceil((10 + 2 * doublings) / 8)  # kernels take eight at a time
    while True:
        # Between these ends, found by a search, the fewest nodes do.
        rates = np.geomspace(0.4 * power / ratio, 15.0 * math.sqrt(power), count)
        total = np.geomspace(1.0, ratio, 12 * count)
        design = np.exp(-np.outer(total, rates)) * total[:, None] ** power
        scale = design.max(axis=0)
        with one_thread():
            solution = np.linalg.lstsq(design / scale, np.ones(total.size), rcond=1e-15)[0] / scale
        error, size = _largest_error(rates, solution, ratio, power)
        if error <= TOLERANCE:
            return RealNodes(rates, solution, error, size)
        count += 8


def _largest_error(
    rates: Floats, coefficients: Floats, ratio: float, power: int
) -> tuple[float, float]:
    """Bound the relative error of a sum of exponentials, and its terms, for totals up to `ratio`.

    The error f is a smooth function of x = log T. On a grid of spacing h it is at most

        max |D0| + b max |D2| + ... + b^4 max |D8| + b^5 sup |D10|,   b = h^2 / 8,

    where Dk is the k-th derivative of f: each lies within b times the supremum of its own second
    derivative of the straight lines between its grid points. The supremum at the end is at most the
    sum of those of all terms. A derivative of T^p exp(-y), y = rate T, is a polynomial in y times
    the same.
    """
    total = np.geomspace(1.0, ratio, 60 * rates.size + 1)
    between = (math.log(ratio) / (total.size - 1)) ** 2 / 8.0
    y = np.outer(total, rates)
    terms = np.exp(-y) * total[:, None] ** power * coefficients
    bound = float(np.abs(terms.sum(axis=1) - 1.0).max())
    size = float(np.abs(terms).sum(axis=1).max())
    bound += ROUNDING * size
    for order in (2, 4, 6, 8):
        derivative = (terms * _derivative(order, power)(y)).sum(axis=1)
        bound += between ** (order // 2) * float(np.abs(derivative).max())
    return bound + between**5 * _largest_derivative(10, power, rates, coefficients), size


def _derivative(order: int, power: int) -> Polynomial:
    """Return q such that q(y) T^p exp(-y) is a derivative of T^p exp(-y) with respect to log T."""
    y, q = Polynomial([0.0, 1.0]), Polynomial([1.0])
    for _ in range(order):
        q = (power - y) * q + y * q.deriv()
    return q


def _largest_derivative(order: int, power: int, rates: Floats, coefficients: Floats) -> float:
    """Return a bound on a derivative of a sum of exponentials, whatever the signs of its terms.

    A term is s rate^-p y^p exp(-y), and y^k exp(-y) is largest at y = k.
    """
    largest = sum(
        abs(float(c)) * ((k + power) / math.e) ** (k + power)
        for k, c in enumerate(_derivative(order, power).coef)
    )
    return float((np.abs(coefficients) * rates**-power).sum()) * largest


def _trapezoid(doublings: int, power: int) -> RealNodes:
    """Return nodes of the trapezoidal rule, with a bound on its error and on the ends left out.

    The terms are positive. Those left out at the upper end fall fast from one to the next.
    """
    step = 0.34 if power == 1 else 0.31
    u = np.arange(-26.0 - doublings * math.log(2.0), 3.6, step)
    ordinates = 2.0 * math.pi / step * np.arange(1, 4)  # the rest is far below rounding
    rule = 2.0 * float(np.abs(gamma(power + 1j * ordinates)).sum())
    left_out = math.exp(-26.0 + step) + 2.0 * step * math.exp(power * 3.6 - math.exp(3.6))
    error = rule + left_out + ROUNDING
    return RealNodes(np.exp(u), step * np.exp(power * u), error, 1.0 + error)


def doublings(smallest: float, largest: float) -> int:
    """Return how often the smallest total doubles to reach the largest, rounded up to even."""
    return 2 * max(math.ceil((math.log2(largest) - math.log2(smallest)) / 2.0), 1)
