"""Explanations against values of single validation points."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, StratifiedKFold

from dataworth import ForestLeaves, KNNShapley


def cloud(n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] > 0, "yes", "no")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"game": "hard"},
        {"max_rank": 6, "weights": "linear"},
        {"support": 7, "n_jobs": 2},
        {"weights": "uniform", "max_rank": 4},
    ],
)
def test_contributions_equal_single_values(params: dict[str, Any]) -> None:
    X, y = cloud()
    X_val, y_val = X[:19] + 0.1, y[:19]
    valuator = KNNShapley(**params).fit(X, y)
    values = valuator.value(X_val, y_val)
    one, two = valuator.explain([3, 20])
    for explained, point in ((one, 3), (two, 20)):
        alone = [
            KNNShapley(**params).fit(X, y).value(X_val[i : i + 1], y_val[i : i + 1]).values[point]
            for i in range(19)
        ]
        np.testing.assert_allclose(explained.contributions, alone, rtol=0, atol=1e-14)
        assert explained.value == pytest.approx(values.values[point], abs=1e-14)
        assert explained.label == y[point]
        worst = np.argsort(alone, kind="stable")[:5]
        np.testing.assert_array_equal(
            explained.hurts["validation"], [i for i in worst if alone[i] < 0]
        )


@pytest.mark.parametrize("arguments", [{}, {"cv": 4}])
def test_training_points_as_judges(arguments: dict[str, Any]) -> None:
    X, y = cloud()
    valuator = KNNShapley().fit(X, y)
    values = valuator.value(**arguments)
    explained = valuator.explain(range(40))
    np.testing.assert_allclose([e.value for e in explained], values.values, rtol=0, atol=1e-14)
    for e in explained:
        assert sorted(e.validation.tolist()) == list(range(40))
        assert e.contributions[e.validation == e.index] == 0.0
        np.testing.assert_array_equal(e.validation_labels, y[e.validation])


@pytest.mark.parametrize("params", [{}, {"support": 9}, {"game": "hard", "weights": "uniform"}])
def test_neighbours_and_what_they_suggest(params: dict[str, Any]) -> None:
    X, y = cloud()
    y = y.copy()
    point = int(np.argmax(X[:, 0]))
    y[point] = "no"
    valuator = KNNShapley(**params).fit(X, y)
    valuator.value()
    got = valuator.explain(point)
    distances = np.sqrt(((X - X[point]) ** 2).sum(1))
    nearest = [i for i in np.argsort(distances) if i != point][:5]
    np.testing.assert_array_equal(got.neighbors["index"], nearest)
    np.testing.assert_allclose(got.neighbors["distance"], distances[nearest])
    np.testing.assert_array_equal(got.neighbors["label"], y[nearest])
    assert (np.diff(got.neighbors["weight"]) <= 0).all()
    assert got.neighbors["weight"][0] == 1.0
    assert (got.label, got.suggested) == ("no", "yes")


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
def test_folds_are_explained_by_the_encoders_that_judged() -> None:
    """Random labels: an encoder that has seen a label would suggest it far too often."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    forest = ForestLeaves(n_estimators=30, min_samples_leaf=1)
    valuator = KNNShapley(encoder=forest).fit(X, y)
    valuator.value(cv=4)
    explained = valuator.explain(range(200))
    assert np.mean([e.suggested == e.label for e in explained]) < 0.65
    seen_all = KNNShapley(encoder=forest).fit(X, y)
    seen_all.value(X, y)
    assert np.mean([e.suggested == e.label for e in seen_all.explain(range(200))]) > 0.8
    folds = StratifiedKFold(4).split(X, y)
    for judged, judges in folds:
        for point in judges[:5]:
            assert set(explained[point].neighbors["index"]) <= set(judged.tolist())


def test_a_point_that_never_judged_has_no_neighbours() -> None:
    X, y = cloud()
    valuator = KNNShapley().fit(X, y)
    valuator.value(cv=[(np.arange(20), np.arange(20, 40))])
    assert valuator.explain(3).neighbors.size == 0
    assert valuator.explain(3).suggested is None
    assert valuator.explain(30).neighbors.size == 5


def test_explains_the_last_values_whatever_changed_since() -> None:
    X, y = cloud()
    valuator = KNNShapley(n_neighbors=3).fit(X, y)
    values = valuator.value(cv=KFold(4, shuffle=True))  # other folds each time it is asked
    valuator.set_params(n_neighbors=9, weights="uniform")
    got = [e.value for e in valuator.explain(range(40))]
    np.testing.assert_allclose(got, values.values, rtol=0, atol=1e-14)


def test_regression_suggests_the_weighted_mean() -> None:
    X, _ = cloud()
    valuator = KNNShapley(game="regression").fit(X, X[:, 0])
    valuator.value()
    got = valuator.explain(5)
    share = got.neighbors["weight"] / got.neighbors["weight"].sum()
    assert got.suggested == pytest.approx(float(share @ X[got.neighbors["index"], 0]))


def test_neighbours_without_weight_suggest_nothing() -> None:
    X, y = [[0.0], [0.1], [5.0], [100.0]], ["a", "a", "b", "b"]
    valuator = KNNShapley(radius=1.0, weights="uniform").fit(X, y)
    valuator.value()
    assert valuator.explain(3).suggested is None
    assert valuator.explain(0).suggested == "a"


def test_without_features_there_are_no_neighbours() -> None:
    valuator = KNNShapley(metric="precomputed", support=2).fit(None, [0, 1, 1])
    valuator.value(csr_array(np.array([[1.0, 2.0, 0.0]])), [1])
    got = valuator.explain(1)
    assert got.suggested is None
    assert got.neighbors.size == 0


def test_bad_input() -> None:
    X, y = cloud()
    valuator = KNNShapley().fit(X, y)
    with pytest.raises(NotFittedError, match="call value first") as caught:
        valuator.explain(0)
    assert isinstance(caught.value, ValueError)
    valuator.value()
    with pytest.raises(ValueError, match="points must be a whole number from 0 to 39; got 40"):
        valuator.explain(40)
    with pytest.raises(TypeError, match="points must be a whole number"):
        valuator.explain([0.5])
    with pytest.raises(ValueError, match="call value first"):
        valuator.fit(X, y).explain(0)


def test_threads_that_share_an_estimator_explain_their_own_values() -> None:
    X, y = cloud()
    valuator = KNNShapley().fit(X, y)
    barrier = threading.Barrier(8)

    def work(i: int) -> bool:
        values = valuator.value(X[i : i + 2] + 0.1, y[i : i + 2])
        barrier.wait()
        explained = valuator.explain(5)
        return bool(explained.value == pytest.approx(values.values[5], abs=1e-14))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_another_thread_explains_the_last_values() -> None:
    X, y = cloud()
    valuator = KNNShapley().fit(X, y)
    values = valuator.value()
    with ThreadPoolExecutor(1) as pool:
        explained = pool.submit(valuator.explain, 5).result()
    assert explained.value == pytest.approx(values.values[5], abs=1e-14)


def test_the_worst_points_are_explained_as_they_come() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    valuator = KNNShapley(n_neighbors=3).fit(X, y)
    values = valuator.value()
    got = valuator.explain(values.worst(3))
    assert [why.index for why in got] == values.order[:3].tolist()
    # A pandas index need not be in the order of the rows.
    frame = pd.DataFrame(X, index=rng.permutation(30))
    values = valuator.fit(frame, y).value()
    got = valuator.explain(values.worst(3))
    assert [why.index for why in got] == values.order[:3].tolist()
    assert [why.value for why in got] == pytest.approx(values.worst(3)["value"].tolist())
    frame.index = pd.Index([7] * 30)
    values = valuator.fit(frame, y).value()
    with pytest.raises(ValueError, match="points must name each .* the index has 7 30 times"):
        valuator.explain(values.worst(1))
    strange = np.array([(99, 0.0)], dtype=[("index", "i8"), ("value", "f8")])
    with pytest.raises(ValueError, match="the index has 99 0 times"):
        valuator.explain(strange)


def test_an_explanation_is_written_in_a_line() -> None:
    X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    valuator = KNNShapley(n_neighbors=2, weights="uniform").fit(X, y)
    valuator.value([[0.0], [1.0]], ["a", "b"])
    why = valuator.explain(4)
    assert repr(why) == (
        f"Explanation(point 4: label 'b', its neighbours suggest 'a'; value {why.value:.4g}: "
        f"it hurts 1 and helps 1 of 2 validation points)"
    )
    assert repr(why.neighbors).splitlines()[0].split() == ["index", "label", "distance", "weight"]
    numbers = KNNShapley(game="regression", n_neighbors=2).fit(X, [1.0, 2.0, 3.0, 4.0, 5.0])
    numbers.value()
    assert "label 1, its neighbours suggest" in repr(numbers.explain(0))
