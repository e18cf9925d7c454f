"""Points, targets and the encoder between them."""

from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dataworth import ForestLeaves, KNNShapley
from dataworth.encoders.choice import fitted_without_labels
from dataworth.errors import InputError
from dataworth.settings import Settings
from dataworth.training.training_set import TrainingSet
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
    if supervised:
        with pytest.raises(InputError, match="encoder must not learn from labels"):
            fitted_without_labels(encoder, X, y)
    else:
        assert fitted_without_labels(encoder, X, y) is not None
    valuator = KNNShapley(encoder=encoder, metric="euclidean").fit(X, y)
    if supervised:
        with pytest.raises(ValueError, match=r"encoder must not learn .* use value\(cv=5\)"):
            valuator.value()
    else:
        valuator.value()
    assert np.isfinite(valuator.value(cv=3).values).all()


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
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


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
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


class Recorder(StandardScaler):
    """Remembers how many points it was fitted on, and with which labels."""

    fits: ClassVar[list[tuple[int, Any]]] = []

    def fit(self, X: Any, y: Any = None) -> Any:
        self.fits.append((len(X), None if y is None else list(y)))
        return super().fit(X)


@pytest.fixture
def fits() -> list[tuple[int, Any]]:
    Recorder.fits.clear()
    return Recorder.fits


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
def test_nothing_is_encoded_before_it_is_needed(fits: list[tuple[int, Any]]) -> None:
    X, y = cloud()
    valuator = KNNShapley(encoder=Recorder()).fit(X, y)
    assert fits == []
    valuator.value(X[:9], y[:9])
    valuator.value(X[9:20], y[9:20])
    assert fits == [(60, y.tolist())]
    assert valuator.encoder_ is valuator.encoder_
    assert len(fits) == 1


def test_folds_never_encode_the_whole_set(fits: list[tuple[int, Any]]) -> None:
    X, y = cloud()
    valuator = KNNShapley(encoder=Recorder()).fit(X, y)
    valuator.value(cv=KFold(4))
    judged = [train for train, _ in KFold(4).split(X)]
    assert fits == [(45, y[train].tolist()) for train in judged]


def test_leave_one_out_shows_no_label_to_an_encoder(fits: list[tuple[int, Any]]) -> None:
    """It takes labels and would use them, but does not need them."""
    X, y = cloud()
    valuator = KNNShapley(encoder=Recorder()).fit(X, y)
    valuator.value()
    valuator.value()
    valuator.explain(3)
    assert fits == [(60, None)]
    valuator.value(X[:9], y[:9])  # judges from outside have no label to hide
    assert fits == [(60, None), (60, y.tolist())]


class Failing(Recorder):
    """Cannot cope with these data, labels or not."""

    def fit(self, X: Any, y: Any = None) -> Any:
        raise ArithmeticError("these columns are collinear")


class Needing(Recorder):
    """Says that it can do without labels, and cannot."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return super().fit(X, np.asarray(y) + 0)


@pytest.mark.parametrize("how", [{}, {"cv": 3}])
def test_an_encoder_that_fails_raises_its_own_error(how: dict[str, Any]) -> None:
    X, y = cloud()
    valuator = KNNShapley(encoder=Failing()).fit(X, y)
    with pytest.raises(ArithmeticError, match="^these columns are collinear$"):
        valuator.value(**how)


def test_an_encoder_that_fails_for_want_of_labels_learns_from_them() -> None:
    X, y = cloud()
    valuator = KNNShapley(encoder=Needing()).fit(X, y)
    with pytest.raises(InputError, match=r"encoder must not learn from labels .* value\(cv=5\)"):
        valuator.value()
    assert np.isfinite(valuator.value(cv=3).values).all()


def test_digests_know_points_and_labels() -> None:
    X, y = cloud()
    other, turned = X.copy(), y.copy()
    other[7, 1] += 1.0
    turned[7] = 1 - turned[7]
    for encoder in (None, StandardScaler()):
        settings = Settings.of(KNNShapley(encoder=encoder).get_params(deep=False))
        one, two, *different = (
            TrainingSet.of(points, labels, settings).digest()
            for points, labels in ((X, y), (X.copy(), y.tolist()), (other, y), (X, turned))
        )
        assert one == two
        assert len({one, *different}) == 3


def test_what_a_part_learned_serves_again(fits: list[tuple[int, Any]]) -> None:
    X, y = cloud()
    settings = Settings.of(KNNShapley(encoder=Recorder()).get_params(deep=False))
    whole, some = TrainingSet.of(X, y, settings), np.arange(0, 60, 2)
    part = whole.part(some, None)
    again = whole.part(some, part.learned)
    np.testing.assert_array_equal(again.queries(X[:9]), part.queries(X[:9]))
    np.testing.assert_array_equal(again.points[:], part.points[:])
    assert fits == [(30, y[some].tolist())]
