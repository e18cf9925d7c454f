"""The leaves of a random forest."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from dataworth import ForestLeaves, KNNShapley, TableEncoder

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = rng.integers(0, 3, 80)
FEW = {"n_estimators": 4, "min_samples_leaf": 2, "random_state": 0}


def test_leaves_are_those_of_the_forest() -> None:
    for kind, target in (
        (RandomForestClassifier, y),
        (RandomForestClassifier, y.astype(str)),
        (RandomForestClassifier, y.astype(float)),
        (RandomForestRegressor, X[:, 0] * 3.3),
        (RandomForestRegressor, np.floor(X[:, 0] * 1e5)),
    ):
        encoder = ForestLeaves(**FEW).fit(X, target)
        assert type(encoder.forest_) is kind
        got = encoder.transform(X)
        assert got.dtype == np.float64
        assert_array_equal(got, kind(**FEW).fit(X, target).apply(X))


def test_gaps_and_sparse_features_go_to_the_forest() -> None:
    for points in (np.where(X > 1, np.nan, X), csr_array(X * (X > 0))):
        ref = RandomForestClassifier(**FEW).fit(points, y).apply(points)
        assert_array_equal(ForestLeaves(**FEW).fit(points, y).transform(points), ref)


def test_features_and_their_names() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    encoder = ForestLeaves(**FEW).fit(frame, y)
    assert encoder.n_features_in_ == 3
    assert encoder.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_array_equal(encoder.transform(frame), ForestLeaves(**FEW).fit_transform(X, y))
    named = encoder.set_output(transform="pandas").transform(frame)
    assert named.columns.tolist() == [f"forestleaves{i}" for i in range(4)]
    assert named.index.equals(frame.index)


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="requires y to be passed"):
        ForestLeaves(**FEW).fit(X, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Input X contains infinity"):
        ForestLeaves(**FEW).fit(np.where(X > 1, np.inf, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ForestLeaves(**FEW).fit(X, y[:-1])
    with pytest.raises(ValueError, match="X has 2 features, but ForestLeaves is expecting 3"):
        ForestLeaves(**FEW).fit(X, y).transform(X[:, :2])


def test_mixed_tables_are_encoded_as_auto_does() -> None:
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "c"])
    frame["c"] = np.where(X[:, 2] > 0, "red", "green")
    frame.loc[::7, "a"] = np.nan
    encoder = ForestLeaves(**FEW).fit(frame, y)
    encoded = TableEncoder().fit_transform(frame)
    reference = RandomForestClassifier(**FEW).fit(encoded, y).apply(encoded)
    assert_array_equal(encoder.transform(frame), reference)
    assert encoder.n_features_in_ == 3
    assert encoder.feature_names_in_.tolist() == ["a", "b", "c"]
    assert encoder.get_feature_names_out().size == 4
    with pytest.raises(ValueError, match="have the columns given to fit; missing: 'c'"):
        encoder.transform(frame[["a", "b"]])
    values = KNNShapley(encoder=ForestLeaves(**FEW)).fit(frame, y).value(cv=3)
    assert np.isfinite(values.values).all()
    assert ForestLeaves(**FEW).fit(frame[["b"]], y).table_encoder_ is None
