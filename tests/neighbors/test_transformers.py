"""Neighbours from any neighbours transformer."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsTransformer
from sklearn.preprocessing import StandardScaler

from dataworth import KNNShapley


def cloud(n: int = 300) -> tuple[Any, Any]:
    X, y = make_blobs(n, 4, centers=3, cluster_std=3.0, random_state=0)
    return X, y


@pytest.mark.parametrize("arguments", [{}, {"cv": 3}, {"outside": True}])
@pytest.mark.parametrize("params", [{"support": 20}, {"max_rank": 15, "weights": "uniform"}])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_exact_transformers_equal_brute_force(
    arguments: dict[str, Any], params: dict[str, Any], n_jobs: int | None
) -> None:
    X, y = cloud()
    outside = arguments.get("outside", False)
    given = (X[:40] + 0.1, y[:40]) if outside else ()
    cv = arguments.get("cv")
    transformer = KNeighborsTransformer(n_neighbors=20)
    got = KNNShapley(neighbors=transformer, n_jobs=n_jobs, **params).fit(X, y).value(*given, cv=cv)
    ref = KNNShapley(**params).fit(X, y).value(*given, cv=cv)
    np.testing.assert_array_equal(got.values, ref.values)
    assert got.recall == 1.0
    assert not hasattr(transformer, "n_samples_fit_")  # what was given is left alone


def test_a_fitted_one_is_taken_as_it_is() -> None:
    X, y = cloud()
    fitted = KNeighborsTransformer(n_neighbors=20).fit(X)
    got = KNNShapley(neighbors=fitted, support=20).fit(X, y).value()
    np.testing.assert_array_equal(got.values, KNNShapley(support=20).fit(X, y).value().values)
    few = KNeighborsTransformer(n_neighbors=20).fit(X[:100])
    with pytest.raises(ValueError, match="neighbors must give a sparse graph of 300 columns"):
        KNNShapley(neighbors=few, support=20).fit(X, y).value()


def test_after_an_encoder() -> None:
    X, y = cloud()
    transformer = KNeighborsTransformer(n_neighbors=12)
    params: dict[str, Any] = {"encoder": StandardScaler(), "support": 12}
    got = KNNShapley(neighbors=transformer, **params).fit(X, y).value(cv=3)
    np.testing.assert_array_equal(got.values, KNNShapley(**params).fit(X, y).value(cv=3).values)


class Forgetful(TransformerMixin, BaseEstimator):
    """Finds every second neighbour."""

    def fit(self, X: Any, y: Any = None) -> "Forgetful":
        self.exact_ = KNeighborsTransformer(n_neighbors=40).fit(X)
        return self

    def transform(self, X: Any) -> Any:
        graph = self.exact_.transform(X).tolil()
        for i, row in enumerate(graph.rows):
            for j in row[::2]:
                graph[i, j] = 0.0
        graph = graph.tocsr()
        graph.eliminate_zeros()
        return graph


def test_low_recall_is_said() -> None:
    X, y = cloud()
    valuator = KNNShapley(neighbors=Forgetful(), support=10).fit(X, y)
    with pytest.warns(UserWarning, match="found only .* of the nearest points"):
        recall = valuator.value(X[:20] + 0.1, y[:20]).recall
    assert recall is not None
    assert recall < 0.9


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"support": 50}, "neighbors must find 51 neighbours, one more than support or max_rank"),
        ({}, "finds only some neighbours. You can also set support=R, or max_rank"),
        ({"support": 5, "neighbors_params": {"index": "x"}}, "neighbors_params must be None"),
        ({"metric": "precomputed"}, "neighbors must be 'brute' with metric='precomputed'"),
    ],
)
def test_bad_input(params: dict[str, Any], message: str) -> None:
    X, y = cloud()
    valuator = KNNShapley(neighbors=KNeighborsTransformer(n_neighbors=20), **params)
    with pytest.raises(ValueError, match=message):
        valuator.fit(None if "metric" in params else X, y).value(X[:5], y[:5])
    with pytest.raises(ValueError, match="neighbors must be one of 'brute', 'faiss' or a neigh"):
        KNNShapley(neighbors="hnsw").fit(X, y)


def test_one_more_is_asked_for_than_is_needed() -> None:
    """It may be the validation point itself; without it explanations would lack a neighbour."""
    X, y = cloud()
    few = KNeighborsTransformer(n_neighbors=10, mode="connectivity")
    with pytest.raises(ValueError, match="neighbors must find 11 neighbours, one more than"):
        KNNShapley(neighbors=few, support=10).fit(X, y).value(X[:9] + 0.1, y[:9])
    enough = KNeighborsTransformer(n_neighbors=11, mode="connectivity")
    valuator = KNNShapley(neighbors=enough, support=10).fit(X, y)
    got = valuator.value(X[:9] + 0.1, y[:9])
    assert got.recall == 1.0
    ref = KNNShapley(support=10).fit(X, y)
    np.testing.assert_array_equal(got.values, ref.value(X[:9] + 0.1, y[:9]).values)
    np.testing.assert_array_equal(
        valuator.explain(3).neighbors["index"], ref.explain(3).neighbors["index"]
    )


def test_a_fitted_one_is_fitted_anew_for_folds() -> None:
    X, y = cloud()
    fitted = KNeighborsTransformer(n_neighbors=20).fit(X)
    got = KNNShapley(neighbors=fitted, support=20).fit(X, y).value(cv=3)
    np.testing.assert_array_equal(got.values, KNNShapley(support=20).fit(X, y).value(cv=3).values)
    assert fitted.n_samples_fit_ == 300


class Bare:
    """Has the methods of a transformer, but is none of scikit-learn's."""

    def fit(self, X: Any) -> "Bare":
        return self

    def transform(self, X: Any) -> Any:
        return X


@pytest.mark.parametrize(
    ("neighbors", "message"),
    [
        (KNeighborsTransformer, "neighbors must be one of 'brute', 'faiss' or a neighbours"),
        (Bare(), "neighbors must be one of 'brute', 'faiss' or a neighbours transformer"),
        (KNeighborsTransformer().fit([[0.0]] * 9), "neighbors must accept the validation points"),
        (KNeighborsTransformer(n_neighbors=900), "neighbors must accept the validation points"),
        (KNeighborsTransformer(metric="none"), "neighbors must accept the training points; it say"),
    ],
)
def test_other_peoples_errors(neighbors: Any, message: str) -> None:
    X, y = cloud()
    with pytest.raises(ValueError, match=message):
        KNNShapley(neighbors=neighbors, support=5).fit(X, y).value(X[:9], y[:9])
