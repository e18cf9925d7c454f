"""The coefficients of semivalues against their integrals."""

import math

import pytest
from scipy.special import betaln, gammaln

from dataworth.games.kernels.coefficients import room, shapley_like


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 3.5, 1e3])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 2.0, 1e3])
@pytest.mark.parametrize(("n", "k"), [(400, 6), (1500, 1500)])
def test_beta_coefficients_equal_their_integrals(alpha: float, beta: float, n: int, k: int) -> None:
    c = shapley_like(n, k, alpha, beta)
    inside, _, near, far = room(c, n, n, k)
    for size in {0, 1, k // 3, k // 2, k - 1}:
        choose = gammaln(n) - gammaln(size + 1) - gammaln(n - size)
        ref = math.exp(choose + betaln(beta + size, alpha + n - 1 - size) - betaln(beta, alpha))
        assert inside[size] == pytest.approx(ref, rel=1e-9, abs=1e-300)
    for m in {k + 1, k + 2, 50, n} & set(range(k + 1, n + 1)):
        choose = gammaln(m - 1) - gammaln(k) - gammaln(m - k)
        ref = math.exp(choose + betaln(beta + k, alpha + m - 1 - k) - betaln(beta, alpha))
        assert c.displace[m] == pytest.approx(ref, rel=1e-9, abs=1e-300)
    assert inside.sum() + c.displace.sum() <= 1.0 + 1e-9
    assert near == far == 0.0
