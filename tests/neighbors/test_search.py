"""Graphs of known neighbours and weights of bounded support, against enumeration."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from dataworth import KNNShapley
from tests import naive
from tests.games.test_games import GAMES, SEMIVALUES, TOLERANCE, Case

BUILT_IN = ("rbf", "linear", "inverse", "uniform")


def game_of(name: str) -> dict[str, Any]:
    direct = name == "direct"
    return {"game": "hard" if direct else name, "multiclass": "direct" if direct else "one-vs-one"}


def drawn(game: str, rng: np.random.Generator, n: int) -> NDArray[Any]:
    return rng.normal(size=n) if game == "regression" else np.append(rng.integers(0, 3, n - 1), 0)


def graph(distances: NDArray[np.float64], size: int) -> csr_array:
    """The nearest `size` neighbours of each row, in a shuffled order."""
    rows, columns = [], []
    for i, row in enumerate(distances):
        chosen = naive.ranking(row.tolist())[:size]
        np.random.default_rng(i).shuffle(chosen)
        rows += [i] * len(chosen)
        columns += chosen
    data = distances[rows, columns]
    indptr = np.arange(len(distances) + 1) * size
    return csr_array((data, columns, indptr), shape=distances.shape)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("weights", BUILT_IN)
@pytest.mark.parametrize("support", [1, 3, 5, 20])
def test_support_equals_enumeration(game: str, weights: str, support: int) -> None:
    for seed in range(8):
        rng = np.random.default_rng([seed, support])
        n, k = 7, int(rng.integers(1, 5))
        distances = rng.integers(0, 5, n).astype(float) if seed % 3 == 0 else rng.random(n)
        labels = drawn(game, rng, n)
        semivalue = SEMIVALUES[seed % len(SEMIVALUES)]
        weight = naive.weights(weights, distances.tolist(), 3, None, support)
        case = Case(game, distances, labels, labels[0], np.array(weight, float), k, semivalue)
        valuator = KNNShapley(
            **game_of(game),
            n_neighbors=k,
            weights=weights,
            support=support,
            semivalue=semivalue,
            metric="precomputed",
        ).fit(None, labels)
        got = valuator.value(distances[None], labels[:1])
        np.testing.assert_allclose(
            got.values, case.enumerated(), rtol=0, atol=TOLERANCE * case.scale
        )
        known = valuator.value(graph(distances[None], min(support, n)), labels[:1])
        for end in (known.values, known.lower, known.upper):
            np.testing.assert_array_equal(end, got.values)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("weights", ["rbf", "inverse", "uniform"])
@pytest.mark.parametrize("n_bits", [3, None])
@pytest.mark.parametrize("stored", [1, 3, 5])
def test_interval_holds_whatever_the_unknown_distances_are(
    game: str, weights: str, n_bits: int | None, stored: int
) -> None:
    if n_bits is None and game in ("hard", "direct"):
        return
    for seed in range(12):
        rng = np.random.default_rng([seed, stored])
        n, k = 7, int(rng.integers(1, 5))
        near = np.sort(rng.random(stored)) + 0.2
        labels = drawn(game, rng, n)
        semivalue = SEMIVALUES[seed % len(SEMIVALUES)]
        params = {
            **game_of(game),
            "n_neighbors": k,
            "weights": weights,
            "n_bits": n_bits,
            "bandwidth": 0.6 if weights == "rbf" else "auto",
            "semivalue": semivalue,
            "metric": "precomputed",
        }
        order = rng.permutation(n)
        for reach in (1e-3, 0.3, 1.0, 30.0):
            distances = np.empty(n)
            distances[order[:stored]] = near
            distances[order[stored:]] = near[-1] + reach * (0.1 + rng.random(n - stored))
            valuator = KNNShapley(**params).fit(None, labels)
            exact = valuator.value(distances[None], labels[:1])
            got = valuator.value(graph(distances[None], stored), labels[:1])
            slack = 1e-8 if n_bits is None else 1e-12
            scale = max(1.0, float(np.square(labels).max())) if game == "regression" else 1.0
            assert (got.lower - slack * scale <= exact.values).all()
            assert (exact.values <= got.upper + slack * scale).all()
            assert (got.lower <= got.values).all()
            assert (got.values <= got.upper).all()


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_graph_is_exact_where_weights_vanish_inside(game: Any) -> None:
    rng = np.random.default_rng(0)
    X, X_val = rng.normal(size=(400, 3)), rng.normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    known = NearestNeighbors(n_neighbors=60).fit(X).kneighbors_graph(X_val, mode="distance")
    valuator = KNNShapley(game=game, bandwidth=0.1, metric="precomputed").fit(None, y)
    got = valuator.value(known, (X_val[:, 0] > 0).astype(int))
    plain = KNNShapley(game=game, bandwidth=0.1).fit(X, y)
    exact = plain.value(X_val, (X_val[:, 0] > 0).astype(int))
    np.testing.assert_allclose(got.values, exact.values, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(got.lower, got.upper)


def test_whole_graph_equals_the_matrix() -> None:
    rng = np.random.default_rng(1)
    distances, y = rng.random((9, 20)), rng.integers(0, 3, 20)
    valuator = KNNShapley(metric="precomputed", max_rank=6).fit(None, y)
    with pytest.raises(ValueError, match="bandwidth='auto' needs the median distance"):
        valuator.value(graph(distances, 20), y[:9])
    valuator.set_params(bandwidth=0.4)
    ref = valuator.value(distances, y[:9])
    got = valuator.value(graph(distances, 20), y[:9])
    for name in ("values", "lower", "upper"):
        np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


def test_uniform_graph_equals_the_cut_off_matrix() -> None:
    """Unweighted, a cut-off needs no distance beyond it."""
    rng = np.random.default_rng(2)
    distances, y = rng.random((9, 50)), rng.integers(0, 3, 50)
    valuator = KNNShapley(metric="precomputed", weights="uniform", max_rank=10).fit(None, y)
    ref = valuator.value(distances, y[:9])
    got = valuator.value(graph(distances, 10), y[:9])
    for name in ("values", "lower", "upper"):
        np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


def test_stored_zeros_are_distances() -> None:
    """A duplicate at distance 0 is stored, and the nearest of all."""
    stored = csr_array((np.array([0.0, 1.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 4))
    got = KNNShapley(metric="precomputed", support=2, n_neighbors=1).fit(None, list("abcd"))
    assert got.value(stored, ["c"]).best(1)["index"] == [2]


@pytest.mark.parametrize(
    ("stored", "params", "message"),
    [
        ([[0.0, 1.0, 0.0]], {"support": 2}, "support=2 needs the 2 nearest"),
        ([[0.0, 0.0, 0.0]], {"support": 1}, "row 0 is empty"),
        ([[0.0, -1.0, 0.0]], {"support": 1}, "must hold distances"),
        ([[0.0, 1.0, 0.0]], {}, "support=R"),
        ([[0.0, 1.0, 0.0]], {"weights": "linear"}, "unless support=R"),
        ([[0.0, 1.0, 0.0]], {"weights": lambda d: 0 * d}, "not be a callable"),
        (
            [[0.0, 1.0, 0.0]],
            {"support": 1, "max_rank": "adaptive"},
            "max_rank must be a number or 'sqrt' if not all",
        ),
        (
            [[0.0, 1.0, 0.0]],
            {"weights": "uniform", "radius": 1.0},
            "radius must be None if .* got 1.0",
        ),
    ],
)
def test_bad_graphs(stored: Any, params: dict[str, Any], message: str) -> None:
    valuator = KNNShapley(metric="precomputed", **params).fit(None, ["a", "b", "a"])
    with pytest.raises(ValueError, match=message):
        valuator.value(csr_array(np.array(stored)), ["a"])


def test_a_neighbour_stored_twice_is_an_error() -> None:
    twice = csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    valuator = KNNShapley(metric="precomputed", support=1).fit(None, ["a", "b", "a"])
    with pytest.raises(ValueError, match="X_val must store each neighbour once"):
        valuator.value(twice, ["a"])


@pytest.mark.parametrize("column", [-1, 3, 10**8])
@pytest.mark.parametrize(
    "params", [{"support": 1}, {"weights": "uniform"}, {"game": "hard", "support": 1}]
)
def test_a_neighbour_that_does_not_exist_is_an_error(column: int, params: dict[str, Any]) -> None:
    stored = np.array([1.0]), np.array([column]), np.array([0, 1])
    valuator = KNNShapley(metric="precomputed", **params).fit(None, ["a", "b", "a"])
    with pytest.raises(ValueError, match=f"X_val must store columns from 0 to 2; .* {column}"):
        valuator.value(csr_array(stored, shape=(1, 3)), ["a"])


@pytest.mark.parametrize("params", [{"support": 0}, {"support": 1.5}, {"neighbors": "annoy"}])
def test_bad_parameters(params: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=next(iter(params))):
        KNNShapley(**params).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
def test_support_without_a_validation_set(game: Any) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    got = KNNShapley(game=game, support=6).fit(X, y).value().values
    total = np.zeros(40)
    for i in range(40):
        rest = np.delete(np.arange(40), i)
        one = KNNShapley(game=game, support=6).fit(X[rest], y[rest])
        total[rest] += one.value(X[i : i + 1], y[i : i + 1]).values
    np.testing.assert_allclose(got, total / 40, rtol=0, atol=1e-12)


def test_a_graph_is_left_as_it_is() -> None:
    """Rows in any order, integers, and arrays that cannot be written to."""
    y = ["a", "b", "a", "b"]
    index, data = np.array([3, 1, 2]), np.array([5, 1, 3])
    stored = csr_array((data, index, np.array([0, 3])), shape=(1, 4))
    valuator = KNNShapley(metric="precomputed", support=3).fit(None, y)
    ref = valuator.value(stored, ["a"]).values
    np.testing.assert_array_equal(stored.indices, [3, 1, 2])
    np.testing.assert_array_equal(stored.data, [5, 1, 3])
    for part in (stored.data, stored.indices, stored.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(valuator.value(stored, ["a"]).values, ref)
    with pytest.raises(TypeError, match="X_val must be a graph in CSR format; got 'coo'"):
        valuator.value(stored.tocoo(), ["a"])


def test_a_cut_off_uses_all_that_the_graph_knows() -> None:
    """Weights vanish among the stored points, so the interval is that of the whole matrix."""
    rng = np.random.default_rng(4)
    distances, y = np.sort(rng.random((5, 80)), axis=1), rng.integers(0, 2, 80)
    valuator = KNNShapley(metric="precomputed", bandwidth=0.1, max_rank=8).fit(None, y)
    ref, got = valuator.value(distances, y[:5]), valuator.value(graph(distances, 60), y[:5])
    for name in ("values", "lower", "upper"):
        np.testing.assert_allclose(getattr(got, name), getattr(ref, name), rtol=0, atol=1e-15)
