"""The estimator end to end: against enumeration from raw features, axioms, determinism."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from dataworth import KNNShapley, __version__
from dataworth.errors import ReadingWarning
from dataworth.games.kernels import hard
from dataworth.inputs.targets import are_quantities, quantities_as_text
from tests import naive

TOLERANCE = 1e-12


def enumerated(
    X: NDArray[Any], y: list[Any], X_val: NDArray[Any], y_val: list[Any], k: int, **weighting: Any
) -> NDArray[np.float64]:
    rows = []
    for x, label in zip(X_val.tolist(), y_val, strict=True):
        distances = [math.dist(x, p) for p in X.tolist()]
        order, weights = naive.ranking(distances), naive.weights(distances=distances, **weighting)
        rows.append(naive.shapley(len(y), naive.hard_vote(order, y, weights, label, k)))
    return np.mean(rows, axis=0)


def cloud(seed: int, n: int, n_val: int, n_classes: int = 2) -> tuple[NDArray[Any], ...]:
    rng = np.random.default_rng(seed)
    X, X_val = rng.normal(size=(n, 3)), rng.normal(size=(n_val, 3))
    y = np.arange(n) % n_classes
    y_val = rng.integers(0, min(n, n_classes), n_val)
    return X, rng.permutation(y), X_val, y_val


@pytest.mark.parametrize("weights", ["rbf", "linear", "inverse", "uniform"])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_equals_enumeration(weights: str, n_classes: int, seed: int) -> None:
    n, k, n_bits = 3 + seed, 1 + seed % 4, 1 + seed
    X, y, X_val, y_val = cloud(seed, n, 3, n_classes)
    valuator = KNNShapley(game="hard", n_neighbors=k, weights=weights, n_bits=n_bits)
    got = valuator.fit(X, y).value(X_val, y_val)
    ref = enumerated(X, y.tolist(), X_val, y_val.tolist(), k, name=weights, n_bits=n_bits)
    np.testing.assert_allclose(got.values, ref, rtol=0, atol=TOLERANCE)
    if n_classes == 1:
        assert not got.values.any()


@pytest.mark.parametrize("seed", range(10))
def test_ties_and_copies_equal_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, X_val = rng.integers(0, 2, (8, 2)).astype(float), rng.integers(0, 2, (4, 2)).astype(float)
    y, y_val = [*rng.integers(0, 2, 6), 0, 1], rng.integers(0, 2, 4)
    got = KNNShapley(game="hard", n_neighbors=3).fit(X, y).value(X_val, y_val)
    ref = enumerated(X, list(y), X_val, list(y_val), 3, name="rbf", n_bits=3)
    np.testing.assert_allclose(got.values, ref, rtol=0, atol=TOLERANCE)


def test_weights_that_rise_with_distance_equal_enumeration() -> None:
    X, y, X_val, y_val = cloud(4, 8, 1)
    rising = KNNShapley(game="hard", n_neighbors=2, weights=lambda d: np.linspace(0, 1, d.size))
    distances = [math.dist(X_val[0], p) for p in X.tolist()]
    order = naive.ranking(distances)
    weights = [0] * 8
    for at, i in enumerate(order):
        weights[i] = round(at / 7 * 7)
    vote = naive.hard_vote(order, y.tolist(), weights, y_val[0], 2)
    got = rising.fit(X, y).value(X_val, y_val).values
    np.testing.assert_allclose(got, naive.shapley(8, vote), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("seed", range(5))
def test_efficiency(seed: int) -> None:
    X, y, X_val, y_val = cloud(seed, 500, 20, 4)
    gains = []
    for x, label in zip(X_val, y_val, strict=True):
        distances = [math.dist(x, p) for p in X.tolist()]
        weights = naive.weights("rbf", distances, 3)
        vote = naive.hard_vote(naive.ranking(distances), y.tolist(), weights, label, 5)
        gains.append(vote(frozenset(range(500))) - vote(frozenset()))
    got = KNNShapley(game="hard").fit(X, y).value(X_val, y_val)
    assert math.fsum(got.values) == pytest.approx(np.mean(gains), abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(5))
def test_equivariance_under_permutation(seed: int) -> None:
    X, y, X_val, y_val = cloud(seed, 300, 10, 3)
    shuffle = np.random.default_rng(seed).permutation(300)
    straight = KNNShapley().fit(X, y).value(X_val, y_val).values
    shuffled = KNNShapley().fit(X[shuffle], y[shuffle]).value(X_val, y_val).values
    np.testing.assert_array_equal(shuffled, straight[shuffle])


def test_linearity_over_validation_points() -> None:
    X, y, X_val, y_val = cloud(0, 200, 19)
    valuator = KNNShapley().fit(X, y)
    whole = valuator.value(X_val, y_val).values
    single = [valuator.value(X_val[i : i + 1], y_val[i : i + 1]).values for i in range(19)]
    np.testing.assert_allclose(whole, np.mean(single, axis=0), rtol=0, atol=TOLERANCE)


def test_precomputed_distances() -> None:
    X, y, X_val, y_val = cloud(2, 60, 11)
    D = np.array([[math.dist(a, b) for b in X.tolist()] for a in X_val.tolist()])
    ref = KNNShapley().fit(X, y).value(X_val, y_val).values
    got = KNNShapley(metric="precomputed").fit(None, y).value(D, y_val).values
    np.testing.assert_allclose(got, ref, rtol=0, atol=TOLERANCE)


def test_metrics_of_scikit_learn() -> None:
    X, y, X_val, y_val = cloud(2, 60, 11)
    ref = KNNShapley(metric="manhattan").fit(X, y).value(X_val, y_val).values
    others: list[Any] = [("minkowski", {"p": 1}), (lambda a, b: abs(a - b).sum(), None)]
    for metric, params in others:
        got = KNNShapley(metric=metric, metric_params=params).fit(X, y).value(X_val, y_val).values
        np.testing.assert_allclose(got, ref, rtol=0, atol=TOLERANCE)


def test_float32_is_kept_without_a_copy() -> None:
    X, y, X_val, y_val = cloud(3, 80, 9)
    single = X.astype(np.float32)
    valuator = KNNShapley().fit(single, y)
    assert valuator._training.raw is single
    got = valuator.value(X_val.astype(np.float32), y_val).values
    ref = KNNShapley().fit(single.astype(float), y).value(X_val.astype(np.float32), y_val).values
    np.testing.assert_array_equal(got, ref)


@pytest.mark.parametrize(
    "rename",
    [
        lambda y: np.array(["no", "yes"])[y],
        lambda y: np.array(["no", "yes"], dtype=object)[y],
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: (y * 100 - 5).tolist(),
    ],
)
def test_kinds_of_labels(rename: Any) -> None:
    X, y, X_val, y_val = cloud(5, 40, 6)
    got = KNNShapley().fit(X, rename(y)).value(X_val, rename(y_val))
    np.testing.assert_array_equal(got.values, KNNShapley().fit(X, y).value(X_val, y_val).values)
    assert got.worst(1)["label"][0] in list(rename(y))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_parameters_may_be_numpy_numbers(kind: Any) -> None:
    X, y, X_val, y_val = cloud(5, 40, 6)
    ref = KNNShapley(n_neighbors=5, n_bits=9).fit(X, y).value(X_val, y_val).values
    got = KNNShapley(n_neighbors=kind(5), n_bits=kind(9)).fit(X, y).value(X_val, y_val).values
    np.testing.assert_array_equal(got, ref)


def test_more_neighbours_than_points() -> None:
    X, y, X_val, y_val = cloud(5, 12, 6)
    ref = KNNShapley(n_neighbors=12).fit(X, y).value(X_val, y_val).values
    got = KNNShapley(n_neighbors=10**30).fit(X, y).value(X_val, y_val).values
    np.testing.assert_array_equal(got, ref)


def test_large_labels_of_mixed_widths() -> None:
    X, y, X_val, y_val = cloud(5, 40, 6)
    got = KNNShapley().fit(X, (y + 2**60).astype(np.uint64)).value(X_val, y_val + 2**60)
    np.testing.assert_array_equal(got.values, KNNShapley().fit(X, y).value(X_val, y_val).values)


def test_result_does_not_follow_later_changes_of_the_labels() -> None:
    X, y, X_val, y_val = cloud(5, 40, 6)
    mine = y.copy()
    valuator = KNNShapley().fit(X, mine)
    mine[:] = 99
    assert valuator.value(X_val, y_val).labels.tolist() == y.tolist()


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "l2", "manhattan"])
def test_copies_of_a_point_rank_by_position(metric: str) -> None:
    rng = np.random.default_rng(0)
    X, X_val = np.repeat(rng.normal(size=(1, 77)), 300, axis=0), rng.normal(size=(20, 77))
    y = rng.integers(0, 2, 300)
    D = np.ones((20, 300))
    ref = KNNShapley(metric="precomputed").fit(None, y).value(D, y[:20]).values
    got = KNNShapley(metric=metric).fit(X, y).value(X_val, y[:20]).values
    np.testing.assert_array_equal(got, ref)


def test_boolean_metric() -> None:
    rng = np.random.default_rng(0)
    X, X_val, y = rng.integers(0, 2, (50, 9)), rng.integers(0, 2, (5, 9)), rng.integers(0, 2, 50)
    got = KNNShapley(metric="jaccard").fit(X, y).value(X_val, y[:5])
    D = np.array([[(a != b).sum() / (a | b).sum() for b in X] for a in X_val])
    ref = KNNShapley(metric="precomputed").fit(None, y).value(D, y[:5])
    np.testing.assert_allclose(got.values, ref.values, rtol=0, atol=TOLERANCE)


def test_kernel_is_spared_the_null_players(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    plain = hard.one_vs_one

    def spy(labels: Any, *rest: Any) -> None:
        sizes.append(labels.size)
        plain(labels, *rest)

    monkeypatch.setattr(hard, "one_vs_one", spy)
    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    halves = KNNShapley(game="hard", weights=lambda d: (d < 9.5).astype(float))
    halves.fit(X, y).value([[0.0]], [0])
    assert sizes == [10]


def test_constant_features_and_one_point() -> None:
    """Points at one place are ranked by position, and the first K of them share the credit."""
    valuator = KNNShapley(game="hard", n_neighbors=1)
    got = valuator.fit(np.ones((4, 2)), [0, 1, 1, 1]).value(np.ones((1, 2)), [1])
    ref = naive.shapley(4, naive.hard_vote(range(4), [0, 1, 1, 1], [7] * 4, 1, 1))
    np.testing.assert_allclose(got.values, ref, rtol=0, atol=TOLERANCE)
    alone = KNNShapley().fit([[0.0]], ["a"]).value([[1.0]], ["a"])
    assert alone.values.tolist() == [0.0]


def test_scikit_learn_conventions() -> None:
    valuator = KNNShapley(n_neighbors=7, weights="linear")
    assert clone(valuator).get_params() == valuator.get_params()
    assert valuator.set_params(n_bits=2) is valuator
    X, y, X_val, y_val = cloud(0, 20, 3)
    with pytest.raises(NotFittedError):
        valuator.value(X_val, y_val)
    assert valuator.fit(X, y) is valuator
    assert valuator.n_features_in_ == 3
    assert valuator.classes_.tolist() == [0, 1]


def test_result_says_how_it_was_made() -> None:
    X, y, X_val, y_val = cloud(0, 20, 3)
    got = KNNShapley(weights=np.ones_like, n_bits=4).fit(X, y).value(X_val, y_val)
    assert got.n_validation == 3
    assert got.version == __version__
    assert got.params["n_bits"] == 4
    assert got.params["weights"] == "numpy.ones_like"
    assert got.index.tolist() == list(range(20))
    assert got.labels.tolist() == y.tolist()


def test_fitted_or_not() -> None:
    X, y, X_val, y_val = cloud(0, 30, 3)
    valuator = KNNShapley(game="regression", encoder=StandardScaler())
    with pytest.raises(NotFittedError):
        check_is_fitted(valuator)
    check_is_fitted(valuator.fit(X, y))
    with pytest.raises(ValueError, match="y must hold one number per row of X"):
        valuator.fit(X, y[:3])
    with pytest.raises(NotFittedError):  # and not the values of the training set before
        valuator.value(X_val, y_val)


def test_a_change_after_fit_names_the_parameter() -> None:
    X, y, X_val, y_val = cloud(0, 30, 3)
    params = {"p": 3}
    valuator = KNNShapley(metric="minkowski", metric_params=params).fit(X, y)
    valuator.value(X_val, y_val)
    params["p"] = 1
    with pytest.raises(ValueError, match="metric_params must not change after fit"):
        valuator.value(X_val, y_val)


def test_encoders_may_not_change_after_fit() -> None:
    """`set_params` of scikit-learn changes an encoder in place, so that it is the same object."""
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    valuator = KNNShapley(encoder=PCA(1, random_state=np.random.RandomState(0))).fit(X, y)
    first = valuator.value(X[:5], y[:5])
    valuator.set_params(encoder__n_components=2)
    with pytest.raises(ValueError, match="encoder must not change after fit"):
        valuator.value(X[:5], y[:5])
    valuator.set_params(encoder__n_components=1)
    np.testing.assert_array_equal(valuator.value(X[:5], y[:5]).values, first.values)
    equal = PCA(1, random_state=np.random.RandomState(0))
    np.testing.assert_array_equal(
        valuator.set_params(encoder=equal).value(X[:5], y[:5]).values, first.values
    )
    assert valuator.explain(0).value == pytest.approx(first.values[0])


def test_whole_numbers_that_may_be_quantities_are_a_warning() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    prices = (1000 * (300 + 50 * X[:, 0]).round()).astype(int)
    with pytest.warns(ReadingWarning, match=r"different whole numbers.* use game='regression'"):
        KNNShapley().fit(X, prices)
    KNNShapley(game="regression").fit(X, prices)
    KNNShapley().fit(X, prices.astype(str))  # warnings are errors here


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("n.a.", "y holds text: 89 numbers, and 1 entry that is none, such as 'n.a.' in row 7;"),
        ("1,234", "y holds numbers written as text, such as '1,234';"),
        ("$ 12.50", r"y holds numbers written as text, such as '\$ 12.50';"),
    ],
)
def test_quantities_that_are_text_are_a_warning(bad: str, said: str) -> None:
    X = np.random.default_rng(0).normal(size=(90, 2))
    prices = [f"{1000 * i}" for i in range(90)]
    prices[7] = bad
    with pytest.warns(ReadingWarning, match=said):
        KNNShapley().fit(X, prices)
    wanted = "row 7 is 'n.a.'" if bad == "n.a." else "got text"
    with pytest.raises(TypeError, match=f"y must hold real numbers; {wanted}"):
        KNNShapley(game="regression").fit(X, prices)


def test_which_text_is_of_quantities() -> None:
    numbers = [str(1000 * i) for i in range(100)]
    assert quantities_as_text(np.array([*numbers, "x", "y", "z"])).startswith("text: 100 numbers")
    for odd in ("-$5", "−5", "($5)", "1 234", "12,50", "7 €"):
        said = quantities_as_text(np.array([*numbers, odd]))
        assert said == f"numbers written as text, such as {odd!r}"
    for y in (
        numbers,  # plain ones are meant to be classes
        [*numbers, *"abcdefgh"],  # too many words
        [*map(str, np.arange(100) % 10), "n.a."],  # too few different numbers
        [f"A{text}" for text in numbers],
        [*(f"0{text}" for text in numbers), "n.a."],  # codes
        ["cat", "dog"],
    ):
        assert quantities_as_text(np.array(y)) == ""
    assert quantities_as_text(np.arange(100)) == ""
    assert quantities_as_text(np.array(["1", None, 2], object)) == ""


def test_which_numbers_are_quantities() -> None:
    rng = np.random.default_rng(0)
    for y in (
        rng.permutation(np.repeat(7 * np.arange(30), 4)),  # with gaps, few of each
        np.arange(1, 200),  # each once
        rng.permutation(np.repeat(3 * np.arange(150), 50)),  # many, with gaps
        rng.normal(size=40),
    ):
        assert are_quantities(y)
    for y in (
        np.arange(300) % 10,
        np.arange(300) % 100,  # numbered as classes are
        1 + np.arange(300) % 100,
        7 * (np.arange(300) % 20),  # few
        rng.permutation(np.repeat(7 * np.arange(30), 40)),  # many of each
        np.array(["a", "b"]),
        np.array([True, False]),
        rng.normal(size=20),
        np.append(rng.normal(size=50), np.nan),
    ):
        assert not are_quantities(y)
