"""The scores of a linear model, and the folds in which it lets points judge each other."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from dataworth import KNNShapley, LinearScores, TableEncoder
from dataworth.arrays import Ints
from dataworth.errors import InputError
from dataworth.settings import Settings
from dataworth.training.folds import CrossFold, folds
from dataworth.training.training_set import TrainingSet

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3)) * [1.0, 10.0, 0.1]
y = (X[:, 0] + 0.05 * X[:, 1] + 0.3 * rng.normal(size=80) > 0).astype(int)


def own_splits(target: Ints) -> list[tuple[Ints, Ints]]:
    """The folds that a run without validation points has with this encoder."""
    settings = Settings.of(KNNShapley(encoder=LinearScores()).get_params(deep=False))
    parts = folds(TrainingSet.of(X[: target.size], target, settings), None, None, None)
    assert all(isinstance(part, CrossFold) for part in parts)
    return [(np.asarray(part.judged), part.positions) for part in parts]


def test_scores_are_those_of_the_model_on_scaled_features() -> None:
    scaled = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(3)
    chances = LogisticRegression(C=10.0, max_iter=1000).fit(scaled, y).predict_proba(scaled)
    assert_allclose(LinearScores().fit_transform(X, y), np.log(chances + 1e-3), atol=1e-12)
    weak = LinearScores(C=0.1).fit_transform(X, y)
    assert np.abs(weak).max() < np.abs(np.log(chances + 1e-3)).max()


def test_units_of_features_do_not_matter() -> None:
    ref = LinearScores().fit_transform(X, y)
    assert_allclose(LinearScores().fit_transform(X * [1e3, 1.0, 1e-3] + 5, y), ref, atol=1e-6)


def test_sparse_points_keep_their_zeros() -> None:
    points = X * (X > 0)
    scaled = points / points.std(axis=0) / np.sqrt(3)
    chances = LogisticRegression(C=10.0, max_iter=1000).fit(scaled, y).predict_proba(scaled)
    got = LinearScores().fit_transform(csr_array(points), y)
    assert_allclose(got, np.log(chances + 1e-3), atol=1e-6)


def test_data_frames_are_encoded_as_auto_does() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
    encoder = LinearScores().fit(frame, y)
    ref = LinearScores().fit_transform(TableEncoder().fit_transform(frame), y)
    assert_array_equal(encoder.transform(frame), ref)
    assert encoder.n_features_in_ == 2
    assert encoder.feature_names_in_.tolist() == ["size", "kind"]
    assert encoder.get_feature_names_out().tolist() == ["linearscores0", "linearscores1"]


def test_what_it_refuses() -> None:
    with pytest.raises(InputError, match="y must hold labels for LinearScores"):
        LinearScores().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="X has 2 features, but LinearScores is expecting 3"):
        LinearScores().fit(X, y).transform(X[:, :2])
    alone = np.where(np.arange(80) == 7, 2, y)
    said = "encoder must have two points of every class.*only one point has the label 2"
    with pytest.raises(InputError, match=said):
        KNNShapley(encoder=LinearScores()).fit(X, alone).value()


def test_folds_hold_every_point_once_and_classes_in_their_shares() -> None:
    splits = own_splits(y)
    assert len(splits) == 5
    assert_array_equal(np.sort(np.concatenate([judges for _, judges in splits])), np.arange(80))
    for judged, judges in splits:
        assert_array_equal(np.sort(np.concatenate([judged, judges])), np.arange(80))
        assert abs(y[judges].mean() - y.mean()) < 0.08
    few = np.array([0, 1, 0, 1, 1])
    assert all(set(few[judged]) == {0, 1} for judged, _ in own_splits(few))


def test_alone_it_is_cross_valuation_with_its_folds() -> None:
    valuator = KNNShapley(n_neighbors=3, encoder=LinearScores()).fit(X, y)
    got, ref = valuator.value(), valuator.value(cv=own_splits(y))
    assert got.agreement is not None
    assert ref.agreement is not None
    assert_array_equal(got.values, ref.values)
    assert_array_equal(got.agreement, ref.agreement)


@pytest.mark.parametrize("first", [False, True])
def test_beside_others_it_keeps_its_folds_and_they_leave_one_out(first: bool) -> None:
    """Validation points come in another order in its folds, and keep their weights."""
    weight = rng.random(80)
    encoders = [LinearScores(), None] if first else [None, LinearScores()]
    both = KNNShapley(n_neighbors=3, encoder=encoders).fit(X, y)
    got = both.value(sample_weight=weight)
    assert got.by_encoder is not None
    for encoder, name in ((None, "none"), (LinearScores(), "LinearScores")):
        one = KNNShapley(n_neighbors=3, encoder=encoder).fit(X, y).value(sample_weight=weight)
        assert_allclose(got.by_encoder[name], one.values, rtol=0, atol=1e-15)
    for point in both.explain([3, 70]):
        assert point.value == pytest.approx(got.values[point.index], abs=1e-15)


def test_the_ruler_plants_errors_that_leave_two_points_of_a_class() -> None:
    rare = np.where(np.arange(80) < 3, 2, y)
    valuator = KNNShapley(n_neighbors=3, encoder=[None, LinearScores()]).fit(X, rare)
    assert valuator.value(ruler=4).ruler is not None


def test_errors_on_two_sides_of_a_plane_are_found() -> None:
    """Many features that say nothing hide what neighbours know; the model sees through them."""
    points = np.random.default_rng(1).normal(size=(300, 40))
    right = (points[:, :2].sum(axis=1) > 0).astype(int)
    wrong = np.arange(300) < 30
    given = np.where(wrong, 1 - right, right)
    hits = [
        wrong[np.argsort(KNNShapley(encoder=encoder).fit(points, given).value().score)[:30]].sum()
        for encoder in (None, LinearScores())
    ]
    assert hits[1] > hits[0] + 3
