"""A forest that is judged out of bag: its weights, and the values that follow from them."""

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dataworth import KNNShapley, OutOfBagForest
from dataworth.errors import InputError, ReadingWarning
from tests import naive

Array = NDArray[Any]
TOLERANCE = 1e-12
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int) + (X[:, 1] > 0.8)
T = X[:, 0] + 0.3 * rng.normal(size=60)
X_NEW = rng.normal(size=(9, 3))
Y_NEW = (X_NEW[:, 0] > 0).astype(int)
FEW: dict[str, Any] = {"n_estimators": 20, "random_state": 3}
SCORED: dict[str, Any] = {"n_estimators": 60, "random_state": 0, "oob_score": True}


def voted(encoder: OutOfBagForest, points: Array, new: Array | None = None) -> Array:
    """The weights from what the forest itself says: its leaves and its draws."""
    trees, drawn = encoder.forest_.estimators_, encoder.forest_.estimators_samples_
    own = [tree.apply(points.astype(np.float32)).tolist() for tree in trees]
    at = own if new is None else [tree.apply(new.astype(np.float32)).tolist() for tree in trees]
    return np.array(naive.votes_of_trees(at, own, [d.tolist() for d in drawn], new is None))


def enumerated(
    votes: Array, y: Array, y_val: Array, k: int, n_bits: int | None, own: bool, numeric: bool
) -> Array:
    """The mean of the values over validation points, by enumeration of all sets."""
    total = np.zeros(len(y))
    classes = np.unique(y).tolist()
    for j, votes_of_all in enumerate(votes.tolist()):
        players = [i for i in range(len(y)) if not own or i != j]
        row, targets = [votes_of_all[i] for i in players], y[players].tolist()
        order, weights = naive.ranking([-w for w in row]), naive.weights_of_votes(row, n_bits)
        if numeric:
            utility = naive.squared_error(order, targets, weights, y_val[j], k)
        else:
            utility = naive.soft_share(order, targets, weights, y_val[j], k, classes)
        total[players] += naive.shapley(len(players), utility)
    return total / len(y_val)


@pytest.mark.parametrize("leaf", [1, 4])
@pytest.mark.parametrize("target", [Y, T, Y.astype(str)], ids=["labels", "numbers", "text"])
def test_weights_are_the_votes_of_the_trees(target: Array, leaf: int) -> None:
    encoder = OutOfBagForest(**FEW, min_samples_leaf=leaf).fit(X, target)
    for new in (None, X_NEW):
        got = encoder.weights(new)
        assert isinstance(got, csr_array)
        assert got.has_canonical_format
        assert_allclose(got.toarray(), voted(encoder, X, new), rtol=0, atol=TOLERANCE)
        assert_allclose(got.sum(axis=1), 1.0, rtol=0, atol=TOLERANCE)
    assert not encoder.weights().diagonal().any()


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("more", [{}, {"min_samples_leaf": 5}, {"max_samples": 20}])
def test_the_weighted_mean_of_labels_is_the_prediction_out_of_bag(
    kind: Any, more: dict[str, Any]
) -> None:
    encoder = OutOfBagForest(kind(bootstrap=True, **SCORED, **more)).fit(X, Y)
    truth, forest = np.eye(3)[Y], encoder.forest_
    got = encoder.weights() @ truth
    assert_allclose(got, forest.oob_decision_function_, rtol=0, atol=TOLERANCE)
    assert_allclose(encoder.weights(X_NEW) @ truth, forest.predict_proba(X_NEW), atol=TOLERANCE)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_the_weighted_mean_of_numbers_is_the_prediction_out_of_bag(kind: Any) -> None:
    encoder = OutOfBagForest(kind(bootstrap=True, **SCORED)).fit(X, T)
    assert_allclose(encoder.weights() @ T, encoder.forest_.oob_prediction_, atol=TOLERANCE)
    assert_allclose(encoder.weights(X_NEW) @ T, encoder.forest_.predict(X_NEW), atol=TOLERANCE)


def test_all_neighbours_together_are_worth_what_the_forest_predicts() -> None:
    """By efficiency, if K covers all neighbours and weights are not rounded."""
    forest = RandomForestClassifier(**SCORED)
    valuator = KNNShapley(encoder=OutOfBagForest(forest), n_neighbors=60, n_bits=None).fit(X, Y)
    values = valuator.value()
    right = valuator.encoder_.forest_.oob_decision_function_[np.arange(60), Y]
    error = 60 * values.weight_error
    assert_allclose(values.values.sum(), right.mean() - 1 / 3, rtol=0, atol=error)


def test_agreement_is_the_whole_vote_out_of_bag() -> None:
    """However few neighbours the game has."""
    forest = RandomForestClassifier(**SCORED)
    valuator = KNNShapley(encoder=OutOfBagForest(forest), n_neighbors=2, n_bits=None).fit(X, Y)
    values = valuator.value()
    votes = valuator.encoder_.forest_.oob_decision_function_
    assert values.agreement is not None
    assert values.suggested is not None
    assert_allclose(values.agreement, votes[np.arange(60), Y], rtol=0, atol=TOLERANCE)
    said = votes[np.arange(60), values.suggested]
    assert_allclose(said, votes.max(axis=1), rtol=0, atol=TOLERANCE)
    both = KNNShapley(encoder=[None, OutOfBagForest(forest)], n_neighbors=2, n_bits=None).fit(X, Y)
    mean, plain = both.value(), KNNShapley(encoder=None, n_neighbors=2, n_bits=None).fit(X, Y)
    assert mean.by_encoder is not None
    assert_array_equal(mean.by_encoder["OutOfBagForest"], values.values)
    assert_array_equal(mean.by_encoder["none"], plain.value().values)


@pytest.mark.parametrize("n_bits", [3, None])
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("game", ["soft", "regression"])
def test_values_equal_enumeration(game: str, k: int, n_bits: int | None) -> None:
    numeric, n = game == "regression", 10
    points, y = X[:n], T[:n] if numeric else Y[:n]
    y_new = T[:3] if numeric else Y_NEW[:3]
    valuator = KNNShapley(
        encoder=OutOfBagForest(**FEW), game=game, n_neighbors=k, n_bits=n_bits
    ).fit(points, y)
    for new, judged in ((None, y), (X_NEW[:3], y_new)):
        got = valuator.value(new, None if new is None else judged)
        votes = voted(valuator.encoder_, points, new)
        ref = enumerated(votes, y, judged, k, n_bits, new is None, numeric)
        # Sums of real weights are divided approximately, and the result states the error.
        assert_allclose(got.values, ref, rtol=0, atol=max(TOLERANCE, got.weight_error))
        assert (got.lower <= ref + TOLERANCE).all()
        assert (got.upper >= ref - TOLERANCE).all()
        assert n_bits is None or (got.lower == got.upper).all()


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_folds_grow_forests_of_their_own(game: str) -> None:
    halves = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    params: dict[str, Any] = {"encoder": OutOfBagForest(**FEW), "game": game}
    got = KNNShapley(**params).fit(X, Y).value(cv=halves)
    ref = np.zeros(60)
    for judged, judges in halves:
        part = KNNShapley(**params).fit(X[judged], Y[judged])
        ref[judged] += part.value(X[judges], Y[judges]).values / 2
    assert_allclose(got.values, ref, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("params", [{}, {"game": "hard"}, {"n_bits": None}, {"max_rank": 5}])
def test_the_same_bits_however_it_is_run(params: dict[str, Any], tmp_path: Path) -> None:
    def valued(**more: Any) -> Any:
        return KNNShapley(encoder=OutOfBagForest(**FEW), **params, **more).fit(X, Y)

    ref = valued().value()
    assert ref.params["weights"] == "encoder"
    with joblib.parallel_config("loky", n_jobs=2):
        others = [valued().value()]
    others += [
        valued(n_jobs=2).value(),
        valued(working_memory=0.001).value(),
        pickle.loads(pickle.dumps(valued())).value(),
        valued().value(checkpoint=tmp_path),
        valued().value(checkpoint=tmp_path),
    ]
    for other in others:
        for name in ("values", "lower", "upper"):
            assert_array_equal(getattr(other, name), getattr(ref, name))
    with pytest.raises(InputError, match="checkpoint must be of the same data and parameters"):
        KNNShapley(encoder=OutOfBagForest(n_estimators=21), **params).fit(X, Y).value(
            checkpoint=tmp_path
        )


def test_bounds_hold_the_exact_values() -> None:
    valuator = KNNShapley(encoder=OutOfBagForest(**FEW), n_neighbors=3).fit(X, Y)
    exact = valuator.value().values
    for rank in (4, "sqrt", "adaptive"):
        got = valuator.set_params(max_rank=rank).value()
        assert (got.lower <= exact + TOLERANCE).all()
        assert (got.upper >= exact - TOLERANCE).all()


def test_support_gives_weight_to_the_heaviest_only() -> None:
    valuator = KNNShapley(encoder=OutOfBagForest(**FEW), support=4).fit(X[:10], Y[:10])
    votes = voted(valuator.encoder_, X[:10])
    for row in votes:
        row[naive.ranking((-row).tolist())[4:]] = 0.0
    ref = enumerated(votes, Y[:10], Y[:10], 5, 8, own=True, numeric=False)  # bits of a forest
    assert_allclose(valuator.value().values, ref, rtol=0, atol=TOLERANCE)


def test_points_that_no_tree_may_judge_judge_nobody() -> None:
    direct: dict[str, Any] = {"game": "hard", "multiclass": "direct", "n_bits": 3}
    for params in ({}, {"game": "hard"}, direct):
        valuator = KNNShapley(encoder=OutOfBagForest(n_estimators=1), **params).fit(X, Y)
        weights = valuator.encoder_.weights()
        judges = np.diff(weights.indptr) > 0
        assert 0 < judges.sum() < 60
        valuator.value()
        explained = valuator.explain(list(range(60)))
        contributions = np.array([why.contributions for why in explained])
        assert not contributions[:, ~judges].any()


def test_explanations_name_the_heaviest_neighbours() -> None:
    valuator = KNNShapley(encoder=OutOfBagForest(**FEW), n_neighbors=4).fit(X, Y)
    values = valuator.value().values
    votes = voted(valuator.encoder_, X)
    for point, why in enumerate(valuator.explain(list(range(5)))):
        assert_allclose(why.value, values[point], rtol=0, atol=TOLERANCE)
        row = votes[point]
        near = row[why.neighbors["index"]]
        assert_allclose(near, np.sort(row)[::-1][:4], rtol=0, atol=TOLERANCE)
        assert_allclose(why.neighbors["distance"], 1 - near / row.max(), rtol=0, atol=TOLERANCE)
        assert_allclose(why.neighbors["weight"], np.rint(near / row.max() * 255) / 255)


def test_owners_are_valued() -> None:
    owners = np.arange(60) % 3
    valuator = KNNShapley(encoder=OutOfBagForest(**FEW)).fit(X, Y)
    got, values = valuator.value_owners(owners), valuator.value().values
    assert_allclose(got.values.sum(), values.sum(), rtol=0, atol=TOLERANCE)
    assert_allclose(got.point_sums, np.bincount(owners, values), rtol=0, atol=TOLERANCE)


def test_gaps_sparse_features_and_mixed_tables() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["c"] = np.where(X[:, 2] > 0, "red", "green")
    for points in (np.where(X > 1, np.nan, X), csr_array(X * (X > 0)), frame):
        valuator = KNNShapley(encoder=OutOfBagForest(**FEW)).fit(points, Y)
        values = valuator.value().values
        assert np.isfinite(values).all()
        assert values.any()
        weights = valuator.encoder_.weights(points)
        assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=TOLERANCE)
    assert valuator.encoder_.table_encoder_ is not None
    assert valuator.encoder_.feature_names_in_.tolist() == ["a", "b", "c"]


def test_numbers_grow_regression_trees() -> None:
    whole = np.round(T * 2)
    valuator = KNNShapley(encoder=OutOfBagForest(**FEW), game="regression").fit(X, whole)
    assert isinstance(valuator.encoder_.forest_, RandomForestRegressor)
    assert isinstance(OutOfBagForest(**FEW).fit(X, Y).forest_, RandomForestClassifier)


def test_validation_points_that_are_training_points_are_told() -> None:
    valuator = KNNShapley(encoder=OutOfBagForest(**FEW)).fit(X, Y)
    with pytest.warns(ReadingWarning, match="20 of the 20 validation points are training points"):
        valuator.value(X[:20], Y[:20])


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("weights", "rbf"),
        ("weights", np.ones_like),
        ("bandwidth", 1.0),
        ("metric", "hamming"),
        ("metric", "precomputed"),
        ("metric_params", {"p": 3}),
        ("neighbors", "faiss"),
        ("neighbors_params", {"index": "Flat"}),
        ("radius", 1.0),
    ],
)
def test_what_is_about_distances_is_refused(name: str, bad: Any) -> None:
    valuator = KNNShapley(encoder=OutOfBagForest(), **{name: bad})
    with pytest.raises(InputError, match=f"{name} must be .* an encoder that weighs the points"):
        valuator.fit(X, Y)


def test_an_encoder_that_hides_it_is_refused() -> None:
    hidden = make_pipeline(StandardScaler(), OutOfBagForest())
    with pytest.raises(InputError, match="encoder must be OutOfBagForest itself"):
        KNNShapley(encoder=hidden).fit(X, Y)


@pytest.mark.parametrize(
    ("forest", "said"),
    [
        (RandomForestClassifier(bootstrap=False), "got bootstrap=False"),
        (ExtraTreesClassifier(), "got bootstrap=False"),
        (LogisticRegression(), "forest must be a random forest"),
        (GradientBoostingClassifier(), "forest must be a random forest"),
        (RandomForestClassifier, "forest must be a random forest"),
        (RandomForestClassifier(class_weight="balanced"), "got class_weight='balanced'"),
        (RandomForestClassifier(monotonic_cst=[1, 0, 0]), "got monotonic_cst="),
        (RandomForestRegressor(criterion="absolute_error"), "got criterion='absolute_error'"),
    ],
)
def test_forests_that_cannot_be_judged_out_of_bag_are_refused(forest: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        KNNShapley(encoder=OutOfBagForest(forest)).fit(X, Y).value()


def test_parameters_beside_a_forest_are_refused() -> None:
    encoder = OutOfBagForest(RandomForestClassifier(), n_estimators=20)
    with pytest.raises(InputError, match="n_estimators must not be set with a forest"):
        encoder.fit(X, Y)
