"""Weights of validation points: values are the weighted mean of what each of them says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.utils.class_weight import compute_sample_weight

from dataworth import KNNShapley
from dataworth.errors import InputError
from tests import naive

GAMES: list[dict[str, Any]] = [
    {},
    {"weights": "uniform"},
    {"n_bits": None},
    {"max_rank": 4},
    {"max_rank": "adaptive", "weights": "uniform"},
    {"n_bits": None, "max_rank": 4},
    {"support": 3},
    {"game": "hard"},
    {"game": "hard", "multiclass": "direct", "max_rank": 4},
    {"game": "regression"},
    {"game": "regression", "weights": "uniform", "max_rank": 4},
    {"radius": 1.0, "weights": "uniform"},
]
games = pytest.mark.parametrize("params", GAMES, ids=str)


def data(params: dict[str, Any], n: int = 30, n_val: int = 21) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(7)
    X, X_val = rng.normal(size=(n, 2)), rng.normal(size=(n_val, 2))
    if params.get("game") == "regression":
        return X, rng.normal(size=n), X_val, rng.normal(size=n_val)
    return X, np.arange(n) % 3, X_val, rng.choice(3, n_val, p=[0.6, 0.3, 0.1])


def weights(n: int) -> Any:
    return np.random.default_rng(8).random(n) * (np.arange(n) % 4 > 0)


def close(got: Any, ref: Any) -> None:
    for name in ("values", "lower", "upper"):
        assert_allclose(getattr(got, name), getattr(ref, name), rtol=0, atol=1e-12)


@games
def test_values_are_the_weighted_mean_of_those_of_each_judge(params: dict[str, Any]) -> None:
    X, y, X_val, y_val = data(params)
    w = weights(y_val.size)
    valuator = KNNShapley(n_neighbors=3, **params).fit(X, y)
    got = valuator.value(X_val, y_val, sample_weight=w)
    for name in ("values", "lower", "upper"):
        each = [
            getattr(valuator.value(X_val[i : i + 1], y_val[i : i + 1]), name)
            for i in range(y_val.size)
        ]
        ref = np.average(each, axis=0, weights=w)
        assert_allclose(getattr(got, name), ref, rtol=0, atol=1e-12)
    assert got.n_validation == y_val.size


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_equals_enumeration(game: str) -> None:
    rng = np.random.default_rng(0)
    y, distances = rng.integers(0, 3, 7), rng.random((9, 7))
    y_val, w = rng.integers(0, 3, 9), rng.random(9)
    ref = np.zeros(7)
    for row, label, weight in zip(distances.tolist(), y_val.tolist(), w, strict=True):
        levels, order = naive.weights("rbf", row, 3), naive.ranking(row)
        made = naive.soft_share if game == "soft" else naive.hard_vote
        ref += weight / w.sum() * naive.shapley(7, made(order, y.tolist(), levels, label, 3))
    valuator = KNNShapley(n_neighbors=3, game=game, metric="precomputed").fit(None, y)
    got = valuator.value(distances, y_val, sample_weight=w).values
    assert_allclose(got, ref, rtol=0, atol=1e-12)


@games
def test_units_zeros_and_repeats(params: dict[str, Any]) -> None:
    X, y, X_val, y_val = data(params)
    valuator = KNNShapley(n_neighbors=3, **params).fit(X, y)
    plain = valuator.value(X_val, y_val)
    for same in (1.0, 1e-140, 1e140):
        ones = valuator.value(X_val, y_val, sample_weight=np.full(y_val.size, same))
        for name in ("values", "lower", "upper"):
            assert_array_equal(getattr(ones, name), getattr(plain, name))
    w = np.arange(y_val.size) % 4
    ref = valuator.value(X_val, y_val, sample_weight=w)
    close(valuator.value(X_val, y_val, sample_weight=w * 1e90), ref)
    close(valuator.value(X_val[w > 0], y_val[w > 0], sample_weight=w[w > 0]), ref)
    close(valuator.value(np.repeat(X_val, w, axis=0), np.repeat(y_val, w)), ref)


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_balanced_classes_count_the_same(game: str) -> None:
    X, y, X_val, y_val = data({})
    balanced = KNNShapley(game=game, class_weight="balanced").fit(X, y)
    plain = KNNShapley(game=game).fit(X, y)
    each = [plain.value(X_val[y_val == c], y_val[y_val == c]).values for c in range(3)]
    got = balanced.value(X_val, y_val)
    assert_allclose(got.values, np.mean(each, axis=0), rtol=0, atol=1e-12)
    close(got, plain.value(X_val, y_val, sample_weight=compute_sample_weight("balanced", y_val)))
    few = y_val < 2  # a class that does not judge takes nothing from the others
    ref = np.mean(each[:2], axis=0)
    assert_allclose(balanced.value(X_val[few], y_val[few]).values, ref, rtol=0, atol=1e-12)
    got = balanced.value(X_val, y_val, sample_weight=few)
    assert_allclose(got.values, ref, rtol=0, atol=1e-12)


def test_weights_by_label() -> None:
    X, y, X_val, y_val = data({})
    names = np.array(["a", "b", "c"])
    given: Any = {"a": 2.0, "c": 0}
    valuator = KNNShapley(class_weight=given).fit(X, names[y])
    w = weights(y_val.size)
    got = valuator.value(X_val, names[y_val], sample_weight=w)
    by_label = np.array([2.0, 1.0, 0.0])[y_val]
    close(got, KNNShapley().fit(X, y).value(X_val, y_val, sample_weight=w * by_label))
    assert got.params["class_weight"] == given
    empty = KNNShapley(class_weight={}).fit(X, y).value(X_val, y_val)
    assert_array_equal(empty.values, KNNShapley().fit(X, y).value(X_val, y_val).values)


@pytest.mark.parametrize("cv", [None, 3, RepeatedStratifiedKFold(n_splits=2, n_repeats=2)], ids=str)
def test_training_points_that_judge(cv: Any) -> None:
    X, y, _, _ = data({})
    w = weights(y.size)
    valuator = KNNShapley(class_weight={0: 3.0}).fit(X, y)
    got = valuator.value(cv=cv, sample_weight=w)
    whys = valuator.explain(list(range(y.size)))
    where = whys[0].validation
    factors = (w * np.where(y == 0, 3.0, 1.0))[where]
    for i, why in enumerate(whys):
        ref = np.average(why.contributions, weights=factors)
        assert_allclose([got.values[i], why.value], ref, rtol=0, atol=1e-12)
    plain = KNNShapley().fit(X, y).value() if cv is None else None
    if plain is not None:
        assert_array_equal(got.agreement, plain.agreement)


def test_owners() -> None:
    X, y, X_val, y_val = data({})
    groups = np.array(["p", "q", "r"] * 10)
    valuator = KNNShapley(n_neighbors=3).fit(X, y)
    w = weights(y_val.size)
    got = valuator.value_owners(groups, X_val, y_val, sample_weight=w)
    each = np.array(
        [
            valuator.value_owners(groups, X_val[i : i + 1], y_val[i : i + 1]).values
            for i in range(y_val.size)
        ]
    )
    mean = np.average(each, axis=0, weights=w)
    assert_allclose(got.values, mean, rtol=0, atol=1e-12)
    some = np.count_nonzero(w)
    error = np.sqrt((w[:, None] ** 2 * (each - mean) ** 2).sum(axis=0) * some / (some - 1))
    assert_allclose(got.standard_error, error / w.sum(), rtol=0, atol=1e-12)
    points = valuator.value(X_val, y_val, sample_weight=w).by(groups)
    assert_allclose(np.sort(got.point_sums), np.sort(points["sum"]), rtol=0, atol=1e-12)
    absent = valuator.value_owners(groups, X_val[w > 0], y_val[w > 0], sample_weight=w[w > 0])
    for name in ("values", "standard_error", "point_sums"):
        assert_allclose(getattr(got, name), getattr(absent, name), rtol=0, atol=1e-12)
    one = valuator.value_owners(groups, X_val, y_val, sample_weight=np.arange(21) == 3)
    assert np.isnan(one.standard_error).all()
    assert_allclose(one.values, each[3], rtol=0, atol=1e-12)


def test_checkpoints_know_the_weights(tmp_path: Path) -> None:
    X, y, X_val, y_val = data({})
    valuator = KNNShapley().fit(X, y)
    w = weights(y_val.size)
    ref = valuator.value(X_val, y_val, sample_weight=w, checkpoint=tmp_path)
    again = valuator.value(X_val, y_val, sample_weight=w, checkpoint=tmp_path)
    assert_array_equal(again.values, ref.values)
    with pytest.raises(InputError, match="is of another run"):
        valuator.value(X_val, y_val, checkpoint=tmp_path)
    with pytest.raises(InputError, match="is of another run"):
        valuator.set_params(class_weight="balanced").value(
            X_val, y_val, sample_weight=w, checkpoint=tmp_path
        )
