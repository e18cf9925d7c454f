"""Owners through the front door: the estimator, its ways to judge, and the result."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from dataworth import KNNShapley, OwnerValues
from dataworth.errors import InputError
from dataworth.games import owners as owner_games
from dataworth.owner_values import cents
from tests import naive

N, G = 24, 4


@pytest.fixture
def data() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
    return X, y, np.array(["Ann", "Bob", "Cleo", "Dan"])[rng.integers(0, G, N)]


def expected(X: Any, y: Any, owners: Any, x: Any, label: int, k: int, left_out: int = -1) -> Any:
    """The values of the soft game with rbf weights of 3 bits, without one training point."""
    keep = [i for i in range(len(y)) if i != left_out]
    distances = [float(np.linalg.norm(X[i] - x)) for i in keep]
    order = naive.ranking(distances)
    weights = naive.weights("rbf", distances, 3)
    utility = naive.soft_share(order, y[keep].tolist(), weights, label, k, (0, 1))
    names = sorted(set(owners.tolist()))
    whose = [names.index(owners[i]) for i in keep]
    return naive.shapley(len(names), naive.of_owners(whose, utility))


def test_validation_points(data: tuple[Any, Any, Any]) -> None:
    X, y, owners = data
    X_val, y_val = X[:5] + 0.1, 1 - y[:5]
    got = KNNShapley(n_neighbors=3).fit(X, y).value_owners(owners, X_val, y_val)
    each = np.array([expected(X, y, owners, x, c, 3) for x, c in zip(X_val, y_val, strict=True)])
    np.testing.assert_allclose(got.values, each.mean(axis=0), rtol=0, atol=1e-12)
    error = each.std(axis=0, ddof=1) / np.sqrt(5)
    np.testing.assert_allclose(got.standard_error, error, rtol=1e-9)
    np.testing.assert_allclose(got.upper - got.values, 1.96 * error, rtol=1e-4)
    points = KNNShapley(n_neighbors=3).fit(X, y).value(X_val, y_val).by(owners)
    sums = dict(zip(points["group"].tolist(), points["sum"].tolist(), strict=True))
    np.testing.assert_allclose(got.point_sums, [sums[o] for o in got.owners.tolist()], atol=1e-14)
    assert got.n_points.tolist() == [int((owners == o).sum()) for o in got.owners]
    assert got.exact
    assert got.n_validation == 5


def test_leave_one_out_leaves_a_point_out_of_its_owner(data: tuple[Any, Any, Any]) -> None:
    X, y, owners = data
    got = KNNShapley(n_neighbors=3).fit(X, y).value_owners(owners)
    each = [expected(X, y, owners, X[i], y[i], 3, left_out=i) for i in range(N)]
    np.testing.assert_allclose(got.values, np.mean(each, axis=0), rtol=0, atol=1e-12)


def test_cross_valuation_counts_owners_that_a_fold_lacks(data: tuple[Any, Any, Any]) -> None:
    X, y, owners = data
    ann = np.flatnonzero(owners == "Ann")
    others = np.flatnonzero(owners != "Ann")
    split = [(others, ann)]
    got = KNNShapley(n_neighbors=3).fit(X, y).value_owners(owners, cv=split)
    assert got.values[0] == 0.0
    direct = KNNShapley(n_neighbors=3).fit(X[others], y[others])
    same = direct.value_owners(owners[others], X[ann], y[ann])
    np.testing.assert_allclose(got.values[1:], same.values, rtol=0, atol=1e-14)


def test_every_source_of_distances_gives_the_same(data: tuple[Any, Any, Any]) -> None:
    X, y, owners = data
    D = pairwise_distances(X[:6] + 0.1, X)
    plain = KNNShapley(n_neighbors=3, support=12).fit(X, y).value_owners(owners, X[:6] + 0.1, y[:6])
    given = KNNShapley(n_neighbors=3, support=12, metric="precomputed").fit(None, y)
    np.testing.assert_allclose(
        given.value_owners(owners, D, y[:6]).values, plain.values, atol=1e-12
    )
    near = np.argsort(D, axis=1)[:, :13]
    rows = np.repeat(np.arange(6), 13)
    graph = csr_array((D[rows, near.ravel()], (rows, near.ravel())), shape=D.shape)
    known = given.value_owners(owners, graph, y[:6])
    np.testing.assert_allclose(known.values, plain.values, atol=1e-12)
    scaled = KNNShapley(n_neighbors=3, encoder=StandardScaler()).fit(X, y)
    Z = StandardScaler().fit(X)
    direct = KNNShapley(n_neighbors=3).fit(Z.transform(X), y)
    np.testing.assert_allclose(
        scaled.value_owners(owners, X[:6], y[:6]).values,
        direct.value_owners(owners, Z.transform(X[:6]), y[:6]).values,
        atol=1e-12,
    )


@pytest.mark.parametrize("way", [{}, {"method": "sampling", "tol": 0.05, "random_state": 3}])
def test_threads_change_no_bit_and_a_checkpoint_goes_on(
    data: tuple[Any, Any, Any], way: Any, tmp_path: Path
) -> None:
    X, y, owners = data
    one = KNNShapley(n_neighbors=3, game="hard").fit(X, y).value_owners(owners, **way)
    more = KNNShapley(n_neighbors=3, game="hard", n_jobs=2).fit(X, y)
    two = more.value_owners(owners, checkpoint=tmp_path, **way)
    again = more.value_owners(owners, checkpoint=tmp_path, **way)
    for other in (two, again):
        assert np.array_equal(one.values, other.values)
        assert np.array_equal(one.sampling_error, other.sampling_error)
    with pytest.raises(InputError, match="of another run"):
        more.value_owners(owners[::-1], checkpoint=tmp_path, **way)


def test_many_owners_are_exact_and_samples_are_near(data: tuple[Any, Any, Any]) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 3, 200)
    owners = rng.integers(0, 30, 200)
    valuator = KNNShapley(n_neighbors=4).fit(X, y)
    exact = valuator.value_owners(owners, X[:20] + 0.05, y[:20])
    sampled = valuator.value_owners(owners, X[:20] + 0.05, y[:20], method="sampling", tol=1e-3)
    assert exact.exact
    assert not sampled.exact
    assert np.all(sampled.sampling_error <= 1e-3)
    assert np.all(sampled.sampling_error > 0.0)
    assert np.all(np.abs(sampled.values - exact.values) < 5 * sampled.sampling_error)
    assert exact.values.sum() == pytest.approx(exact.point_sums.sum(), abs=1e-12)


@pytest.mark.parametrize("semivalue", ["banzhaf", ("beta", 4.0, 1.0)])
def test_semivalues_of_many_owners(semivalue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    X, y, owners = rng.normal(size=(60, 2)), rng.integers(0, 2, 60), np.arange(60) % 11
    valuator = KNNShapley(n_neighbors=3, semivalue=semivalue).fit(X, y)
    by_sets = valuator.value_owners(owners, X[:4], y[:4]).values
    monkeypatch.setattr(owner_games, "MOST_ENUMERATED", 3)
    by_products = valuator.value_owners(owners, X[:4], y[:4]).values
    np.testing.assert_allclose(by_products, by_sets, rtol=0, atol=1e-13)


def made(values: list[float]) -> OwnerValues:
    array = np.array(values)
    names = np.array([f"owner {i}" for i in range(array.size)])
    some = np.full(array.size, 0.01)
    return OwnerValues(
        names, array, np.ones(array.size, int), some, 0 * some, array, True, {}, 9, 0.0, "0"
    )


def test_amounts_add_up_to_the_cent() -> None:
    rng = np.random.default_rng(3)
    for budget in ("0.01", 1, 99.95, "10000", 123456.78):
        for size in (1, 2, 3, 7, 100):
            amounts = made(rng.normal(1.0, 1.0, size).tolist() if size > 3 else [1.0] * size)
            paid = amounts.payouts(budget) * 100
            np.testing.assert_allclose(paid, np.rint(paid), rtol=0, atol=1e-6)
            assert int(np.rint(paid).sum()) == cents(budget)
            fair = cents(budget) * amounts.share
            assert np.all(np.abs(np.rint(paid) - fair) <= 1.0)
    assert made([1.0, 1.0, 1.0]).payouts(1).tolist() == [0.34, 0.33, 0.33]


def test_negative_values_are_charged_or_count_as_nothing() -> None:
    paid = made([3.0, -1.0, 2.0])
    assert paid.payouts(100).tolist() == [75.0, -25.0, 50.0]
    assert paid.payouts(100, negative="zero").tolist() == [60.0, 0.0, 40.0]
    with pytest.raises(InputError, match="negative must be"):
        paid.payouts(100, negative="clip")
    with pytest.raises(InputError, match="add up to -1"):
        made([1.0, -2.0]).payouts(100)
    with pytest.raises(InputError, match="together"):
        made([1.0, -1.0 + 1e-14]).payouts(10_000)
    assert np.isnan(made([1.0, -1.0]).share).all()


@pytest.mark.parametrize("budget", [0, -5, "10.005", "ten", True, float("nan"), float("inf"), None])
def test_a_budget_is_a_positive_number_of_cents(budget: Any) -> None:
    with pytest.raises(InputError, match="budget must be a positive amount in whole cents"):
        made([1.0]).payouts(budget)


def test_tables_and_files(data: tuple[Any, Any, Any], tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    X, y, owners = data
    values = KNNShapley(n_neighbors=3).fit(X, y).value_owners(owners)
    frame = values.to_frame("pandas", budget=1000)
    assert frame.index.tolist() == values.owners[values.best_first].tolist()
    assert frame["share"].sum() == pytest.approx(1.0)
    assert round(frame["amount"].sum(), 2) == 1000.0
    values.save(tmp_path / "owners.csv", budget=1000)
    lines = (tmp_path / "owners.csv").read_text().splitlines()
    assert lines[0].split(",")[:4] == ["owner", "n_points", "value", "share"]
    assert lines[0].endswith("amount")
    assert len(lines) == 1 + G
    with pytest.raises(InputError, match=r"path must end in one of \.csv, \.tsv"):
        values.save(tmp_path / "owners.parquet")
    copy = pickle.loads(pickle.dumps(values))
    assert np.array_equal(copy.values, values.values)
    assert repr(values).startswith(f"OwnerValues({G} owners, {N} points")
    with pytest.raises(ValueError, match="read-only"):
        values.values[0] = 1.0


def test_one_validation_point_has_no_interval(data: tuple[Any, Any, Any]) -> None:
    X, y, owners = data
    values = KNNShapley().fit(X, y).value_owners(owners, X[:1], y[:1])
    assert np.isnan(values.standard_error).all()
    assert np.isfinite(values.values).all()


@pytest.mark.parametrize(
    ("params", "call", "said"),
    [
        ({}, {"groups": ["a"] * 5}, "groups must hold one entry per training point, 24"),
        ({}, {"groups": ["a"] * 23 + [""]}, "groups must name the owner of every training point"),
        ({}, {"groups": ["a"] * 23 + [None]}, "groups must"),
        ({}, {"method": "guess"}, "method must be"),
        ({}, {"method": "exact", "tol": 0.1}, "tol must be None with method='exact'"),
        ({}, {"tol": -1.0}, "tol must be"),
        ({}, {"random_state": -1}, "random_state must be"),
        ({"max_rank": 5}, {}, "max_rank must be None to value owners; got 5"),
        ({"radius": 1.0, "weights": "uniform"}, {}, "radius must be None to value owners"),
    ],
)
def test_bad_input_is_refused(
    data: tuple[Any, Any, Any], params: Any, call: Any, said: str
) -> None:
    X, y, owners = data
    valuator = KNNShapley(**params).fit(X, y)
    with pytest.raises(InputError, match=said):
        valuator.value_owners(**{"groups": owners, **call})


def test_a_graph_needs_bounded_support(data: tuple[Any, Any, Any]) -> None:
    X, y, owners = data
    graph = csr_array(pairwise_distances(X[:2] + 0.1, X) * (np.arange(N) < 9))
    valuator = KNNShapley(metric="precomputed", weights="uniform").fit(None, y)
    with pytest.raises(InputError, match="support must be set to value owners"):
        valuator.value_owners(owners, graph, y[:2])


def test_a_direct_vote_of_many_owners_is_sampled() -> None:
    rng = np.random.default_rng(4)
    X, y, owners = rng.normal(size=(60, 2)), rng.integers(0, 3, 60), np.arange(60) % 20
    valuator = KNNShapley(n_neighbors=3, game="hard", multiclass="direct").fit(X, y)
    values = valuator.value_owners(owners, X[:3], y[:3], tol=0.01)
    assert not values.exact
    with pytest.raises(InputError, match="method must be 'auto' or 'sampling'"):
        valuator.value_owners(owners, X[:3], y[:3], method="exact")
