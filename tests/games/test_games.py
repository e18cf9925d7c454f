"""Every game, weight, semivalue and cut-off against enumeration; axioms; sizes that break."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dataworth import KNNShapley
from tests import naive

TOLERANCE = 1e-12
GAMES: tuple[str, ...] = ("soft", "hard", "direct", "regression")
SEMIVALUES: tuple[Any, ...] = ("shapley", "banzhaf", ("beta", 4.0, 1.5), ("beta", 1.0, 16.0))
UTILITIES: dict[str, Callable[..., naive.Utility]] = {
    "soft": naive.soft_share,
    "hard": naive.hard_vote,
    "direct": naive.direct_vote,
    "regression": naive.squared_error,
}


@dataclass
class Case:
    """One validation point: distances, labels and weights by training point."""

    game: str
    distances: NDArray[np.float64]
    labels: NDArray[Any]
    label: Any
    weights: NDArray[np.float64]
    k: int
    semivalue: Any = "shapley"
    n_bits: int | None = 3
    uniform: bool = False
    center: bool = True

    @property
    def n(self) -> int:
        return self.distances.size

    @property
    def scale(self) -> float:
        """The size of utilities: squared targets in regression."""
        return max(1.0, float(np.square(self.labels).max())) if self.game == "regression" else 1.0

    def valuator(self, **more: Any) -> KNNShapley:
        order = naive.ranking(self.distances.tolist())
        unit = self.weights[order] / (7.0 if self.n_bits else 1.0)
        valuator = KNNShapley(
            n_neighbors=self.k,
            game="hard" if self.game == "direct" else self.game,
            multiclass="direct" if self.game == "direct" else "one-vs-one",
            weights="uniform" if self.uniform else lambda _: unit,
            n_bits=self.n_bits,
            semivalue=self.semivalue,
            center=self.center,
            metric="precomputed",
            **more,
        )
        return valuator.fit(None, self.labels)

    def values(self, **more: Any) -> Any:
        return self.valuator(**more).value(self.distances[None], [self.label])

    def utility(self) -> naive.Utility:
        order = naive.ranking(self.distances.tolist())
        rule = {"center": self.center} if self.game == "regression" else {}
        return UTILITIES[self.game](
            order, self.labels.tolist(), self.weights.tolist(), self.label, self.k, **rule
        )

    def enumerated(self) -> NDArray[np.float64]:
        if self.semivalue == "shapley":
            return naive.shapley(self.n, self.utility())
        if self.semivalue == "banzhaf":
            return naive.banzhaf(self.n, self.utility())
        return naive.beta_shapley(self.n, self.utility(), *self.semivalue[1:])


def random_case(
    game: str, seed: int, *, n: int | None = None, k: int | None = None, **more: Any
) -> Case:
    """A game of up to 8 points; weights fall with distance in two of three."""
    rng = np.random.default_rng([seed, GAMES.index(game)])
    n = n or int(rng.integers(1, 9))
    distances = rng.integers(0, 6, n).astype(float) if seed % 4 == 0 else rng.random(n)
    real = "n_bits" in more
    drawn = rng.random(n) if real else rng.integers(0, 8, n).astype(float)
    drawn[rng.random(n) < 0.15] = 0.0
    if seed % 3:
        drawn = np.sort(drawn)[::-1]
    uniform = seed % 7 == 0
    weights = np.empty(n)
    weights[naive.ranking(distances.tolist())] = 1.0 if uniform else drawn
    center = True
    if game == "regression":
        labels: NDArray[Any] = rng.normal(size=n) * 2
        label = float(rng.normal())
        center = seed % 3 != 1
    else:
        labels = rng.integers(0, rng.integers(1, 5), n)
        label = labels[0]
    k = k or int(rng.integers(1, 7))
    semivalue = SEMIVALUES[seed % len(SEMIVALUES)]
    rules = {"uniform": uniform, "center": center, **more}
    return Case(game, distances, labels, label, weights, k, semivalue, **rules)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(120))
def test_equals_enumeration(game: str, seed: int) -> None:
    case = random_case(game, seed)
    assert np.abs(case.values().values - case.enumerated()).max() <= TOLERANCE * case.scale


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2])
def test_beyond_the_first_ranks_equals_enumeration(game: str, seed: int, k: int) -> None:
    """With more than 2K points the downdate takes over from walks that skip a point."""
    case = random_case(game, seed, n=4 * k + 3, k=k)
    assert np.abs(case.values().values - case.enumerated()).max() <= TOLERANCE * case.scale


@pytest.mark.parametrize("game", ["soft", "regression"])
@pytest.mark.parametrize("seed", range(60))
def test_real_weights_equal_enumeration_within_the_stated_error(game: str, seed: int) -> None:
    case = random_case(game, seed, n_bits=None)
    got = case.values()
    ref = case.enumerated()
    # Equal weights state no error; otherwise there is what the oracle itself loses by rounding,
    # as it subtracts targets from their means.
    rounding = TOLERANCE * case.scale if case.uniform else 4 * np.finfo(float).eps * case.scale
    assert np.abs(got.values - ref).max() <= got.weight_error + rounding
    assert (got.lower <= ref + rounding).all()
    assert (ref <= got.upper + rounding).all()
    nothing = -case.utility()(frozenset())
    scale = 1.0 if game == "soft" else max(np.square(case.labels - case.label).max(), nothing)
    assert got.weight_error <= 1e-9 * scale


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(60))
def test_interval_holds_the_exact_value(game: str, seed: int) -> None:
    more = {"n_bits": None} if game in ("soft", "regression") and seed % 5 == 0 else {}
    case = random_case(game, seed, **more)
    ref = case.enumerated()
    slack = TOLERANCE * 10
    limits: list[Any] = [*range(1, case.n + 2), "sqrt", "adaptive"]
    for limit in limits:
        got = case.values(max_rank=limit)
        assert (got.lower <= ref + slack).all()
        assert (ref <= got.upper + slack).all()
        assert (got.lower <= got.values + slack).all()
        assert (got.values <= got.upper + slack).all()
        if limit in (case.n, case.n + 1) and not more:
            np.testing.assert_array_equal(got.lower, got.values)
            np.testing.assert_array_equal(got.upper, got.values)


def paper_bound(n: int, m: int, k: int) -> float:
    """The paper's bound on what stopping at rank m of n leaves out (theorem error-bound)."""
    tail = sum(1 / (j - k) - 1 / j for j in range(m + 1, n + 1) if j > k)
    sizes = ((math.comb(n, s) - math.comb(m, s)) / (n * math.comb(n - 1, s)) for s in range(1, k))
    return tail + sum(sizes)


@pytest.mark.parametrize("game", ["hard", "soft"])
@pytest.mark.parametrize("seed", range(25))
def test_approximation_keeps_sign_and_never_exceeds(game: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = 60, int(rng.integers(1, 6))
    weights = np.sort(rng.integers(1, 8, n))[::-1].astype(float)
    labels = rng.permutation(np.arange(n) % 2)
    case = Case(game, np.arange(n, dtype=float), labels, 0, weights, k)
    exact = case.values().values
    for m in (k + 1, 8, 20, 45):
        got = case.values(max_rank=m)
        assert (got.values * exact >= -1e-15).all()
        assert (np.abs(got.values) <= np.abs(exact) + 1e-15).all()
        width = got.upper - got.lower
        assert width.max() <= paper_bound(n, m, k) + 1e-12
        right = labels == 0
        assert (got.lower[right] == got.values[right]).all()
        assert (got.upper[~right] == got.values[~right]).all()


def test_intervals_shrink_and_close() -> None:
    case = random_case("soft", 1, n=400, k=5)
    falling = np.sort(np.maximum(case.weights, 1.0))[::-1]
    case.weights[naive.ranking(case.distances.tolist())] = falling
    widths = [
        float((v.upper - v.lower).max())
        for m in (10, 50, 200, 400)
        if (v := case.values(max_rank=m))
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == 0.0


def test_adaptive_rank_stops_early_and_keeps_its_word() -> None:
    """One near point decides everything: the rest need not be ranked."""
    n = 3000
    weights = np.full(n, 1.0)
    weights[0] = 7.0
    case = Case("soft", np.arange(n, dtype=float), np.arange(n) % 2, 0, weights, 1)
    got = case.values(max_rank="adaptive", adaptive_ratio=0.5)
    exact = case.values()
    assert (got.lower - 1e-15 <= exact.values).all()
    assert (exact.values <= got.upper + 1e-15).all()


@pytest.mark.parametrize("game", ["soft", "regression"])
@pytest.mark.parametrize("radius", [0.3, 0.7, 2.0])
@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("center", [True, False])
def test_radius_equals_enumeration(game: Any, radius: float, semivalue: Any, center: bool) -> None:
    if game == "soft" and not center:
        return
    rng = np.random.default_rng(3)
    distances = np.append(rng.random(6), 0.3)
    labels = rng.integers(0, 3, 7) if game == "soft" else rng.normal(size=7)
    weights = (distances <= radius).astype(float)
    case = Case(
        game, distances, labels, labels[0], weights, 7, semivalue, uniform=True, center=center
    )
    valuator = KNNShapley(
        game=game,
        weights="uniform",
        radius=radius,
        semivalue=semivalue,
        center=center,
        metric="precomputed",
    )
    got = valuator.fit(None, labels).value(distances[None], labels[:1]).values
    np.testing.assert_allclose(got, case.enumerated(), rtol=0, atol=TOLERANCE)
    assert not got[distances > radius].any()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("n", [10_000, 60_000])
def test_efficiency_of_many_points(game: str, n: int) -> None:
    if game == "direct":
        n //= 20
    rng = np.random.default_rng(n)
    k = 5
    labels = rng.normal(size=n) if game == "regression" else rng.integers(0, 3, n)
    weights = np.sort(rng.integers(1, 8, n))[::-1].astype(float)
    case = Case(game, np.arange(n, dtype=float), labels, labels[0], weights, k)
    if game == "direct":
        case.weights = np.minimum(case.weights, 3)
    near = range(n) if game == "hard" else range(k)
    rest = Case(game, case.distances, labels, labels[0], case.weights, k)
    utility = rest.utility()
    whole = utility(frozenset(near)) - utility(frozenset())
    assert math.fsum(case.values().values) == pytest.approx(whole, abs=1e-9)


def drawn(game: str) -> st.SearchStrategy[Case]:
    """Games of up to 60 points with small integer weights."""

    def build(args: tuple[int, int, int]) -> Case:
        return random_case(game, args[0], n=args[1], k=args[2])

    ints = (st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 9))
    return st.tuples(*ints).map(build)


@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
@given(data=st.data())
def test_axioms(game: str, data: st.DataObject) -> None:
    """Efficiency, symmetry of neighbours in rank, null players."""
    case = data.draw(drawn(game))
    case.semivalue = "shapley"
    n = case.n
    scale = 10.0 if game == "regression" else 1.0
    got = case.values().values
    utility = case.utility()
    whole = utility(frozenset(range(n))) - utility(frozenset())
    assert math.fsum(got) == pytest.approx(whole, abs=TOLERANCE * scale * 10)

    twin = data.draw(st.integers(0, n - 1))
    case.distances = np.append(case.distances, case.distances[twin])
    case.labels = np.append(case.labels, case.labels[twin])
    case.weights = np.append(case.weights, case.weights[twin])
    order = naive.ranking(case.distances.tolist())
    if abs(order.index(twin) - order.index(n)) == 1:
        pair = case.values().values[[twin, n]]
        assert pair[0] == pytest.approx(pair[1], abs=TOLERANCE * scale)

    before = case.values().values
    case.distances = np.append(case.distances, case.distances.max() + 1.0)
    # The mean target is what an empty set predicts, so the one that joins must not move it.
    label = case.labels.mean() if game == "regression" else case.labels[0]
    case.labels = np.append(case.labels, label)
    case.weights = np.append(case.weights, 0.0 if not case.uniform else 1.0)
    if not case.uniform:
        after = case.values().values
        assert after[-1] == 0.0
        np.testing.assert_allclose(after[:-1], before, rtol=0, atol=TOLERANCE * scale)


@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
def test_equivariance_under_permutation(game: Any) -> None:
    rng = np.random.default_rng(0)
    X, X_val = rng.normal(size=(200, 3)), rng.normal(size=(9, 3))
    y = rng.normal(size=200) if game == "regression" else rng.integers(0, 3, 200)
    shuffle = rng.permutation(200)
    straight = KNNShapley(game=game).fit(X, y).value(X_val, y[:9]).values
    shuffled = KNNShapley(game=game).fit(X[shuffle], y[shuffle]).value(X_val, y[:9]).values
    np.testing.assert_array_equal(shuffled, straight[shuffle])


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_semivalues_of_many_points_neither_overflow_nor_vanish(semivalue: Any) -> None:
    rng = np.random.default_rng(0)
    n = 3000
    for k in (3, 1500):
        labels = rng.integers(0, 2, n)
        weights = np.ones(n)
        case = Case(
            "soft", np.arange(n, dtype=float), labels, 0, weights, k, semivalue, uniform=True
        )
        got = case.values().values
        assert np.isfinite(got).all()
        assert 1e-9 < np.abs(got).max() < 1.0


def test_far_outliers_keep_real_weights() -> None:
    """A weight of 1e-200 is small, and not nothing, where no larger one is around."""
    n = 9
    weights = np.geomspace(1.0, 1e-200, n)
    case = Case("soft", np.arange(n, dtype=float), np.arange(n) % 2, 0, weights, 2, n_bits=None)
    got = case.values()
    np.testing.assert_allclose(got.values, case.enumerated(), rtol=0, atol=got.weight_error)
    assert got.weight_error < 1e-9
