"""Owners as players, against enumeration of all sets of owners."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from dataworth.games import owners, soft
from dataworth.games.game import Setup
from dataworth.games.kernels.coefficients import shapley_like
from dataworth.games.owners import OwnerGame, Sampling
from dataworth.games.semivalues import Law
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting
from tests import naive

LAWS = (Law(1.0, 1.0), Law(4.0, 1.5), Law(np.inf, np.inf))


@dataclass(frozen=True)
class Drawn:
    """A game of owners, and what it is according to its definition."""

    game: OwnerGame
    ranked: Ranked
    label: Any
    utility: naive.Utility

    def expected(self) -> Any:
        n, law = self.game.n_owners, self.game.law
        together = naive.of_owners(self.game.owners.tolist(), self.utility)
        if np.isinf(law.alpha):
            return naive.banzhaf(n, together)
        return naive.beta_shapley(n, together, *law)

    def values(self, way: owners.Way) -> Any:
        return replace(self.game, way=way).solve(self.ranked, self.label).values


def draw(
    rng: np.random.Generator, name: str, *, n_owners: int, n: int, k: int, **rules: Any
) -> Drawn:
    """Draw points, their owners, labels and weights; some owners may have no points."""
    n_bits = rules.get("n_bits", int(rng.integers(1, 4)))
    equal, classes = rules.get("equal", False), rules.get("classes", 2)
    weights: Any
    targets: Any
    label: Any
    who = rng.integers(0, n_owners, n)
    order = rng.permutation(n)
    if equal:
        weights = np.ones(n, np.int16)
    elif n_bits is None:
        weights = rng.random(n) * (rng.random(n) < 0.9)
    else:
        weights = rng.integers(0, 2**n_bits, n).astype(np.int16)
    by_point = np.empty(n)
    by_point[order] = weights
    tie = rules.get("ties", "right")
    worth = {"right": 1.0, "wrong": 0.0, "half": 0.5}[tie]
    if name == "regression":
        targets, label = rng.normal(size=n), float(rng.normal())
        common = (order.tolist(), targets.tolist(), by_point.tolist(), label, k)
        utility = naive.squared_error(*common, center=rules.get("center", True))
    else:
        targets, label = rng.integers(0, classes, n), int(rng.integers(classes))
        common = (order.tolist(), targets.tolist(), by_point.tolist(), label, k)
        if name == "soft":
            utility = naive.soft_share(*common, classes=range(classes))
        elif rules.get("multiclass") == "direct":
            utility = naive.direct_vote(*common, tie=worth, classes=range(classes))
        else:
            utility = naive.hard_vote(*common, tie=worth, classes=range(classes))
    weighting = Weighting("uniform" if equal else "rbf", "auto", n_bits)
    setup = Setup(
        0 if name == "regression" else classes,
        k,
        weighting,
        rules.get("multiclass", "one-vs-one"),
        tie,
        rules.get("center", True),
    )
    game = OwnerGame(
        who, n_owners, targets, setup, name, rules.get("law", LAWS[0]), "products", Sampling(1, 0)
    )
    return Drawn(game, Ranked(order, weights, None, False), label, utility)


@pytest.mark.parametrize(
    ("way", "near"),
    [("products", owners.NEAR), ("products", 1), ("enumeration", owners.NEAR)],
    ids=["afresh", "divided", "enumerated"],
)
@pytest.mark.parametrize("equal", [False, True], ids=["weighted", "equal"])
@pytest.mark.parametrize("name", ["soft", "regression", "hard"])
def test_values_are_those_of_the_definition(
    name: str, equal: bool, near: int, way: owners.Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "NEAR", near)
    rng = np.random.default_rng(7)
    for case in range(40):
        drawn = draw(
            rng,
            name,
            n_owners=int(rng.integers(1, 7)),
            n=int(rng.integers(1, 22)),
            k=int(rng.integers(1, 7)),
            equal=equal,
            classes=int(rng.integers(2, 4)),
            ties=("right", "wrong", "half")[case % 3] if name == "hard" else "right",
            center=case % 2 == 0,
            law=LAWS[case % 3],
        )
        np.testing.assert_allclose(drawn.values(way), drawn.expected(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["soft", "regression"])
def test_real_weights_are_within_their_error(name: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        drawn = draw(rng, name, n_owners=5, n=18, k=3, n_bits=None)
        solved = drawn.game.solve(drawn.ranked, drawn.label)
        off = np.abs(solved.values - drawn.expected()).max()
        assert off <= solved.error + 1e-13
        assert solved.error < 1e-6 * max(1.0, abs(drawn.utility(frozenset())))
        exact = drawn.values("enumeration")
        np.testing.assert_allclose(exact, drawn.expected(), rtol=0, atol=1e-12)


def test_a_direct_vote_of_three_classes() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        drawn = draw(
            rng, "hard", n_owners=5, n=16, k=4, classes=3, multiclass="direct", ties="half"
        )
        got = drawn.values("enumeration")
        np.testing.assert_allclose(got, drawn.expected(), rtol=0, atol=1e-12)
        assert owners.choose(drawn.game.setup, "hard", 13) == "sampling"


@pytest.mark.parametrize("name", ["soft", "regression", "hard"])
def test_owners_of_one_point_are_points(name: str) -> None:
    rng = np.random.default_rng(2)
    drawn = draw(rng, name, n_owners=9, n=9, k=3)
    alone = replace(drawn.game, owners=np.arange(9))
    got = alone.solve(drawn.ranked, drawn.label).values
    expected = naive.shapley(9, drawn.utility)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_hundreds_of_owners_of_one_point_are_points() -> None:
    rng = np.random.default_rng(4)
    drawn = draw(rng, "soft", n_owners=400, n=400, k=5, n_bits=3)
    weights = np.sort(np.maximum(drawn.ranked.weights, 1))[::-1].copy()
    ranked = Ranked(drawn.ranked.order, weights, None, True)
    game = replace(drawn.game, owners=np.arange(400))
    got = game.solve(ranked, drawn.label).values
    points = soft.game(game.setup, game.targets, shapley_like(400, 5))
    np.testing.assert_allclose(
        got[ranked.order], points.solve(ranked, drawn.label).inner, rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("k", [3, 8])
@pytest.mark.parametrize("name", ["soft", "regression", "hard"])
def test_dividing_loses_no_digits(name: str, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products that are divided from 2K owners on, against products afresh for all owners."""
    rng = np.random.default_rng(6)
    for n in (2 * k * 30, 3 * 30):  # owners with more than K points, and with fewer
        drawn = draw(rng, name, n_owners=30, n=n, k=k, n_bits=2)
        divided = drawn.values("products")
        with monkeypatch.context() as patch:
            patch.setattr(owners, "NEAR", 30)
            afresh = drawn.values("products")
        scale = max(1.0, float(np.abs(afresh).max()))
        np.testing.assert_allclose(divided, afresh, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("name", ["soft", "regression", "hard"])
def test_many_owners_share_what_all_are_worth(name: str) -> None:
    rng = np.random.default_rng(8)
    drawn = draw(rng, name, n_owners=100, n=1500, k=5, classes=3)
    everyone = drawn.utility(frozenset(range(1500))) - drawn.utility(frozenset())
    assert drawn.values("products").sum() == pytest.approx(everyone, abs=1e-12)


def test_symmetry_and_null_players_among_many_owners() -> None:
    """A right point at each of two ranks next to each other; the rest is farther than K owners."""
    rng = np.random.default_rng(9)
    drawn = draw(rng, "soft", n_owners=41, n=300, k=3, equal=True)
    codes = drawn.game.targets.copy()
    near = drawn.ranked.order[:2]
    codes[near] = drawn.label
    who = drawn.game.owners % 38
    who[near] = 38, 39  # two owners of one point each, and 40 has none
    values = replace(drawn.game, owners=who, targets=codes).solve(drawn.ranked, drawn.label).values
    assert values[38] == pytest.approx(values[39], abs=1e-14)
    assert values[38] != 0.0
    assert values[40] == 0.0


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["soft", "regression", "hard"])
def test_samples_are_within_their_stated_error(name: str, law: Law) -> None:
    rng = np.random.default_rng(10)
    ratios = []
    for seed in range(12):
        drawn = draw(rng, name, n_owners=6, n=24, k=3, classes=3, law=law)
        game = replace(drawn.game, way="sampling", sampling=Sampling(0.01, seed))
        solved = game.solve(drawn.ranked, drawn.label)
        assert np.sqrt(solved.variance).max() <= 0.01
        errors = np.sqrt(np.maximum(solved.variance, 1e-24))
        ratios.append((solved.values - drawn.expected()) / errors)
    squares = np.concatenate(ratios) ** 2
    assert np.max(squares) < 6.0**2
    assert 0.3 < squares.mean() < 2.0  # close to 1 if the error is stated right


def test_the_same_seed_draws_the_same() -> None:
    drawn = draw(np.random.default_rng(11), "soft", n_owners=20, n=200, k=4)
    one, same, other = (
        replace(drawn.game, way="sampling", sampling=Sampling(0.02, seed))
        .solve(drawn.ranked, drawn.label)
        .values
        for seed in (0, 0, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_way_goes_by_the_number_of_owners_and_of_neighbours() -> None:
    setup = draw(np.random.default_rng(0), "soft", n_owners=2, n=9, k=5, n_bits=3).game.setup
    assert owners.choose(setup, "soft", 12) == "enumeration"
    for n_owners in (13, 300, 5000):
        assert owners.choose(setup, "soft", n_owners) == "products"
        assert owners.choose(setup, "hard", n_owners) == "products"
    assert owners.choose(replace(setup, n_neighbors=200), "soft", 300) == "sampling"
