"""Leave-one-out, cross-valuation and encoders."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dataworth import ForestLeaves, KNNShapley
from dataworth.encoders.choice import fitted_without_labels


def cloud(n: int = 60, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int) + (np.arange(n) % 5 == 0)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"game": "hard"},
        {"game": "regression", "weights": "uniform"},
        {"game": "regression"},
        {"n_bits": None},
        {"weights": "uniform", "radius": 1.0},
        {"max_rank": 10, "weights": "linear"},
        {"max_rank": 10, "game": "hard", "weights": lambda d: np.linspace(0.2, 1.0, d.size)},
        {"metric": "manhattan"},
    ],
)
def test_leave_one_out_equals_a_loop(params: dict[str, Any]) -> None:
    X, y = cloud()
    got = KNNShapley(**params).fit(X, y).value()
    sums = {name: np.zeros(60) for name in ("values", "lower", "upper")}
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        one = KNNShapley(**params).fit(X[rest], y[rest]).value(X[i : i + 1], y[i : i + 1])
        for name, total in sums.items():
            total[rest] += getattr(one, name)
    assert got.n_validation == 60
    for name, total in sums.items():
        np.testing.assert_allclose(getattr(got, name), total / 60, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "cv", [3, KFold(4, shuffle=True, random_state=0), ShuffleSplit(5, random_state=1)]
)
@pytest.mark.parametrize("game", ["soft", "regression"])
def test_cross_valuation_equals_a_loop(cv: Any, game: Any) -> None:
    X, y = cloud()
    got = KNNShapley(game=game).fit(X, y).value(cv=cv)
    splitter = cv
    if cv == 3:
        splitter = StratifiedKFold(3) if game == "soft" else KFold(3)
    total, n_val = np.zeros(60), 0
    for train, val in splitter.split(X, y):
        one = KNNShapley(game=game).fit(X[train], y[train]).value(X[val], y[val])
        total[train] += one.values * len(val)
        n_val += len(val)
    assert got.n_validation == n_val
    np.testing.assert_allclose(got.values, total / n_val, rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", [{}, {"cv": 4}])
def test_threads_do_not_change_a_bit(how: dict[str, Any]) -> None:
    X, y = cloud(150)
    ref = KNNShapley().fit(X, y).value(**how).values
    for n_jobs in (2, 3):
        got = KNNShapley(n_jobs=n_jobs, working_memory=1e-9).fit(X, y).value(**how).values
        np.testing.assert_array_equal(got, ref)


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


class Spy(StandardScaler):
    """Remembers how many points it was fitted on."""

    seen: list[int] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any = None) -> Any:
        self.seen.append(len(X))
        return super().fit(X)


def test_encoder_never_sees_the_fold_that_judges() -> None:
    X, y = cloud()
    Spy.seen.clear()
    valuator = KNNShapley(encoder=Spy()).fit(X, y)
    valuator.value(cv=4)
    assert Spy.seen == [45, 45, 45, 45]  # the whole set is never encoded
    valuator.explain([0, 1, 2])
    assert Spy.seen == [45, 45, 45, 45]  # and nothing is fitted twice


def test_labels_do_not_leak_through_a_forest() -> None:
    """With labels that mean nothing, no point may look right to a fold that was not in on it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    values = KNNShapley(encoder=ForestLeaves(n_estimators=50)).fit(X, y).value(cv=5)
    assert abs(values.values.sum()) < 0.1


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


def test_bad_calls() -> None:
    X, y = cloud()
    valuator = KNNShapley().fit(X, y)
    with pytest.raises(ValueError, match="cv must be None if X_val and y_val are given"):
        valuator.value(X, y, cv=3)
    with pytest.raises(TypeError, match="y_val must be an array of labels; got None"):
        valuator.value(X)
    with pytest.raises(TypeError, match="X_val must be an array of numbers"):
        valuator.value(y_val=y)
    with pytest.raises(ValueError, match="X must hold at least two points"):
        KNNShapley().fit(X[:1], y[:1]).value()
    with pytest.raises(ValueError, match="X_val must hold distances"):
        KNNShapley(metric="precomputed").fit(None, y).value()
    rare = np.append(np.zeros(59, int), 1)
    with pytest.raises(
        ValueError, match="cv must leave points of every class .* part; 1 is missing"
    ):
        KNNShapley().fit(X, rare).value(cv=KFold(3))
    with pytest.raises(TypeError, match="encoder must have fit and transform"):
        KNNShapley(encoder="pca").fit(X, y)
    with pytest.raises(ValueError, match="encoder must be None with metric='precomputed'"):
        KNNShapley(encoder=PCA(), metric="precomputed").fit(None, y)


def test_adaptive_rank_from_features() -> None:
    X, y = cloud()
    exact = KNNShapley().fit(X, y).value(X[:9], y[:9])
    got = KNNShapley(max_rank="adaptive").fit(X, y).value(X[:9], y[:9])
    assert (got.lower - 1e-12 <= exact.values).all()
    assert (exact.values <= got.upper + 1e-12).all()


@pytest.mark.parametrize("params", [{}, {"support": 5}, {"game": "hard"}])
def test_folds_that_lack_a_class(params: dict[str, Any]) -> None:
    """Classes are those of the training part, with an encoder and without; lists will do."""
    X, y = cloud()
    folds = [([i for i in range(60) if y[i] != 2 and i % 2], [0, 1, 2]), (list(range(30)), [40])]
    folds = [(train, [i for i in val if y[i] in set(y[train])]) for train, val in folds]
    same = FunctionTransformer()
    got = KNNShapley(**params).fit(X, y).value(cv=folds).values
    ref = KNNShapley(**params, encoder=same).fit(X, y).value(cv=folds).values
    np.testing.assert_array_equal(got, ref)
    masks = [(np.arange(60) > 5, np.arange(60) <= 5)]
    with pytest.raises(TypeError, match="cv must give the positions of points"):
        KNNShapley(**params).fit(X, y).value(cv=masks)
