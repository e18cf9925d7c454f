"""Leave-one-out and cross-valuation, against plain loops."""

from typing import Any

import numpy as np
import pandas
import pytest
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dataworth import ForestLeaves, KNNShapley


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


@pytest.mark.parametrize("params", [{}, {"support": 5}, {"game": "hard"}])
def test_folds_that_lack_a_class(params: dict[str, Any]) -> None:
    """Classes are those of the training part, with an encoder and without; lists will do."""
    X, y = cloud()
    folds = [([i for i in range(60) if y[i] != 2 and i % 2], [0, 2, 4]), (list(range(30)), [40])]
    folds = [(train, [i for i in val if y[i] in set(y[train])]) for train, val in folds]
    same = FunctionTransformer()
    got = KNNShapley(**params).fit(X, y).value(cv=folds).values
    ref = KNNShapley(**params, encoder=same).fit(X, y).value(cv=folds).values
    np.testing.assert_array_equal(got, ref)
    masks = [(np.arange(60) > 5, np.arange(60) <= 5)]
    with pytest.raises(TypeError, match="cv must give the positions of points"):
        KNNShapley(**params).fit(X, y).value(cv=masks)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "cv must give at least one fold with points that judge; got none"),
        ([([0, 1], []), ([2, 3], [])], "cv must give at least one fold with points that judge"),
        ([([], [1, 2])], "cv must leave points to be judged in each fold; one has none"),
        ([([0, 1, 2, 2], [3])], "cv must give each point once in a side of a fold"),
        ([([0, 1, 2], [3, 3])], "cv must give each point once in a side of a fold"),
        ([([0, 1, 2, 3], [3, 4])], "cv must not let points judge themselves; point 3 is on both"),
        ([([0, 1, 2, 3], [60])], "cv must give positions from 0 to 59; got 60"),
        ([([-1, 1, 2, 3], [6])], "cv must give positions from 0 to 59; got -1"),
    ],
)
@pytest.mark.parametrize("encoder", [None, FunctionTransformer()])
def test_folds_that_are_not_folds(cv: Any, message: str, encoder: Any) -> None:
    X, y = cloud()
    with pytest.raises(ValueError, match=message):
        KNNShapley(encoder=encoder).fit(X, y).value(cv=cv)


def test_splitters_get_what_was_given() -> None:
    X, y = cloud()
    frame = pandas.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(
        group=np.arange(60) % 3
    )

    class ByGroup:
        def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
            for group in range(3):
                own = (X["group"] == group).to_numpy()
                yield np.flatnonzero(~own), np.flatnonzero(own)

        def get_n_splits(self, *_: Any) -> int:
            return 3

    for encoder in (None, "auto"):
        assert KNNShapley(encoder=encoder).fit(frame, y).value(cv=ByGroup()).n_validation == 60
