"""Approximate search: exact where it finds everything, and honest where it does not."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from dataworth import DataValues, KNNShapley


def cloud(n: int = 3000, dtype: Any = np.float32) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8)).astype(dtype)
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


EVERYTHING = {"index": "IVF8,Flat", "search": "nprobe=8"}


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
@pytest.mark.parametrize("run", ["validation", "leave-one-out", "folds"])
def test_full_recall_gives_the_same_bits(metric: str, game: Any, run: str) -> None:
    X, y = cloud(400)
    ways: dict[str, dict[str, Any]] = {
        "validation": {"X_val": X[:70] + np.float32(0.1), "y_val": y[:70]},
        "leave-one-out": {},
        "folds": {"cv": 3},
    }
    arguments = ways[run]
    params: dict[str, Any] = {"metric": metric, "game": game, "support": 25}
    ref = KNNShapley(**params).fit(X, y).value(**arguments)
    ann = KNNShapley(**params, neighbors="faiss", neighbors_params=EVERYTHING)
    got = ann.fit(X, y).value(**arguments)
    assert ref.recall is None
    assert got.recall == 1.0
    for name in ("values", "lower", "upper"):
        np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


@pytest.mark.parametrize("index", [{}, {"index": "HNSW16", "search": "efSearch=64"}])
def test_recall_is_that_of_brute_force(index: dict[str, str]) -> None:
    X, y = cloud()
    X_val = X[:50] + np.float32(0.2)
    valuator = KNNShapley(neighbors="faiss", neighbors_params=index, support=30).fit(X, y)
    got = valuator.value(X_val, y[:50])
    search = valuator._training.learned.index
    assert search is not None
    sample = np.unique(np.linspace(0, 49, 32).astype(int))
    found = search.find(X_val[sample], 31)
    everyone = search.find(X_val, 31)
    for at, row in zip(sample, found, strict=True):  # whoever else is searched for
        np.testing.assert_array_equal(row, everyone[at])
    exact = np.argsort(((X_val[sample, None] - X[None]) ** 2).sum(2), axis=1)[:, :31]
    hits = [
        len({*np.asarray(a).tolist()} & {*b}) for a, b in zip(found, exact.tolist(), strict=True)
    ]
    assert got.recall == pytest.approx(sum(hits) / (31 * sample.size))
    assert got.recall is not None
    assert 0.8 < got.recall <= 1.0
    again = KNNShapley(neighbors="faiss", neighbors_params=index, support=30, n_jobs=2)
    np.testing.assert_array_equal(again.fit(X, y).value(X_val, y[:50]).values, got.values)


def test_max_rank_bounds_hold() -> None:
    X, y = cloud(500)
    params: dict[str, Any] = {"bandwidth": 2.0, "max_rank": 40}
    ann = KNNShapley(**params, neighbors="faiss", neighbors_params=EVERYTHING)
    got = ann.fit(X, y).value(X[:30] + np.float32(0.1), y[:30])
    exact = KNNShapley(bandwidth=2.0).fit(X, y).value(X[:30] + np.float32(0.1), y[:30])
    assert got.recall == 1.0
    assert (got.lower - 1e-12 <= exact.values).all()
    assert (exact.values <= got.upper + 1e-12).all()


def test_lists_with_too_few_points_are_made_up_for() -> None:
    X, y = cloud(300)
    params = {"index": "IVF7,Flat", "search": "nprobe=1"}
    got = KNNShapley(neighbors="faiss", neighbors_params=params, support=200).fit(X, y)
    ref = KNNShapley(support=200).fit(X, y).value(X[:9], y[:9])
    np.testing.assert_array_equal(got.value(X[:9], y[:9]).values, ref.values)


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
def test_encoder_and_saved_recall(tmp_path: Any) -> None:
    X, y = cloud(400, np.float64)
    valuator = KNNShapley(
        neighbors="faiss", neighbors_params=EVERYTHING, support=20, encoder=StandardScaler()
    ).fit(X, y)
    got = valuator.value(X[:20], y[:20])
    got.save(tmp_path / "values.npz")
    assert DataValues.load(tmp_path / "values.npz").recall == got.recall == 1.0
    ref = KNNShapley(support=20, encoder=StandardScaler()).fit(X, y).value(X[:20], y[:20])
    np.testing.assert_array_equal(got.values, ref.values)


def test_an_index_travels_to_another_process() -> None:
    X, y = cloud(400)
    index = KNNShapley(neighbors="faiss", support=5).fit(X, y)._training.learned.index
    assert index is not None
    there = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(there.find(X[:5], 6), index.find(X[:5], 6))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"metric": "manhattan", "support": 5}, "metric must be 'euclidean' or 'cosine'"),
        ({"neighbors_params": {"nprobe": 5}, "support": 5}, "neighbors_params must hold strings"),
        ({"neighbors_params": {"index": "NONSENSE"}, "support": 5}, "faiss refused"),
        (
            {"neighbors_params": {"index": "Flat", "search": "nprobe=x"}, "support": 5},
            "faiss refused",
        ),
        ({"neighbors_params": [1], "support": 5}, "neighbors_params must be None or a dict"),
        ({}, r"set support=R, or max_rank"),
        ({"max_rank": "adaptive"}, r"set support=R, or max_rank"),
        ({"max_rank": 10}, "bandwidth='auto' needs the median distance"),
        ({"max_rank": 10, "weights": "linear"}, "unless support=R"),
    ],
)
def test_bad_parameters(params: dict[str, Any], message: str) -> None:
    X, y = cloud(100)
    with pytest.raises((ValueError, TypeError), match=message):
        KNNShapley(neighbors="faiss", **params).fit(X, y).value(X[:3], y[:3])


def test_poor_recall_is_said() -> None:
    X, y = cloud(2000)
    valuator = KNNShapley(
        neighbors="faiss",
        neighbors_params={"index": "IVF60,Flat", "search": "nprobe=1"},
        support=30,
    ).fit(X, y)
    with pytest.warns(UserWarning, match="found only .* of the nearest points"):
        assert (valuator.value(X[:20] + 1, y[:20]).recall or 0) < 0.9


def test_what_faiss_cannot_take() -> None:
    X, y = cloud(100, np.float64)
    X[0, 0] = 1e300
    with pytest.raises(ValueError, match="X must fit into float32"):
        KNNShapley(neighbors="faiss", support=3).fit(X, y)
    with pytest.raises(ValueError, match="should be at least as large as number of clusters"):
        KNNShapley(neighbors="faiss", support=3, neighbors_params={"index": "IVF99,Flat"}).fit(
            X[1:50], y[1:50]
        )
    texts = ["one two", "two three", "three four"]
    with pytest.raises(ValueError, match="neighbors='faiss' needs X in memory, and X is sparse"):
        KNNShapley(neighbors="faiss", support=2, encoder=TfidfVectorizer()).fit(
            texts, [0, 1, 0]
        ).value(texts, [0, 1, 0])


def test_parameters_of_an_index_without_one() -> None:
    with pytest.raises(ValueError, match="neighbors_params must be None with neighbors='brute'"):
        KNNShapley(neighbors_params={"index": "Flat"}).fit([[0.0]], [0])
