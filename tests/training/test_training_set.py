"""Points, targets and the encoder between them."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dataworth import ForestLeaves, KNNShapley
from dataworth.encoders.choice import fitted_without_labels
from tests.training.test_folds import cloud


def test_encoder_is_applied_to_both_sides() -> None:
    X, y = cloud()
    scale = np.array([1.0, 50.0, 0.01])
    got = KNNShapley(encoder=StandardScaler()).fit(X * scale, y).value(X[:9] * scale, y[:9])
    scaler = StandardScaler().fit(X * scale)
    plain, queries = scaler.transform(X * scale), scaler.transform(X[:9] * scale)
    ref = KNNShapley().fit(plain, y).value(queries, y[:9])
    np.testing.assert_array_equal(got.values, ref.values)
    again = KNNShapley(encoder=StandardScaler()).fit(X * scale, y).value()
    np.testing.assert_array_equal(again.values, KNNShapley().fit(plain, y).value().values)


def test_encoder_takes_what_is_no_matrix() -> None:
    texts, y = ["aa", "ab", "bb", "bbb", "aaa", "b"] * 3, [0, 0, 1, 1, 0, 1] * 3
    counts = FunctionTransformer(lambda t: np.array([[s.count("a"), s.count("b")] for s in t]))
    got = KNNShapley(encoder=counts).fit(texts, y).value(cv=3)
    assert got.values.shape == (18,)


@pytest.mark.parametrize(
    ("encoder", "supervised"),
    [
        (StandardScaler(), False),
        (PCA(2), False),
        (make_pipeline(StandardScaler(), PCA(2)), False),
        (ForestLeaves(), True),
        (LinearDiscriminantAnalysis(), True),
        (make_pipeline(StandardScaler(), SelectKBest(k=2)), True),
    ],
)
def test_supervised_encoders_need_folds(encoder: Any, supervised: bool) -> None:
    X, y = cloud()
    assert (fitted_without_labels(encoder, X, y) is None) == supervised
    valuator = KNNShapley(encoder=encoder, metric="euclidean").fit(X, y)
    if supervised:
        with pytest.raises(ValueError, match=r"encoder must not learn .* use value\(cv=5\)"):
            valuator.value()
    else:
        valuator.value()
    assert np.isfinite(valuator.value(cv=3).values).all()


@pytest.mark.parametrize("target", ["labels", "numbers"])
def test_forest_leaves_measure_the_share_of_trees(target: str) -> None:
    X, y = cloud()
    y = y if target == "labels" else X[:, 0] * 3.3
    game: Any = "soft" if target == "labels" else "regression"
    encoder = ForestLeaves(n_estimators=20)
    leaves = ForestLeaves(n_estimators=20).fit_transform(X, y)
    D = np.array([[np.mean(a != b) for b in leaves] for a in leaves])
    got = KNNShapley(game=game, encoder=encoder).fit(X, y).value(X, y)
    ref = KNNShapley(game=game, metric="precomputed").fit(None, y).value(D, y)
    np.testing.assert_array_equal(got.values, ref.values)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_sparse_features_equal_dense_ones(metric: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    # Few equal distances: where there are some, sums in another order may rank them otherwise.
    X = (rng.random((120, 30)) * 1e4 * (rng.random((120, 30)) < 0.3)).astype(dtype)
    y = rng.integers(0, 3, 120)
    dense, sparse = KNNShapley(metric=metric).fit(X, y), KNNShapley(metric=metric)
    sparse.fit(csr_array(X), y)
    for val in (csr_array(X[:20]), X[:20]):
        got = sparse.value(val, y[:20]).values
        np.testing.assert_allclose(got, dense.value(X[:20], y[:20]).values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sparse.value().values, dense.value().values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        sparse.value(cv=3).values, dense.value(cv=3).values, rtol=0, atol=1e-12
    )


def test_texts_through_a_sparse_encoder() -> None:
    texts = ["red apple", "green apple", "red cherry", "fast car", "red car", "slow car"] * 4
    y = ["fruit", "fruit", "fruit", "car", "car", "car"] * 4
    values = KNNShapley(encoder=TfidfVectorizer(), metric="cosine").fit(texts, y).value(cv=3)
    assert (values.values > 0).all()
