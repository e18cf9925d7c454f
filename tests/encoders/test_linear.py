"""The scores of a linear model, and the folds in which it lets points judge each other."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from dataworth import KNNShapley, LinearScores, TableEncoder
from dataworth.arrays import Ints
from dataworth.encoders.choice import own_folds
from dataworth.errors import InputError
from dataworth.run import adding_up, ruler
from dataworth.run.adding_up import Tally
from dataworth.settings import Settings
from dataworth.training.folds import CrossFold, folds
from dataworth.training.representations import with_targets
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
    said = "encoder must suit the numbers of game='regression'; LinearScores.. knows classes only"
    with pytest.raises(InputError, match=said):
        KNNShapley(encoder=["auto", LinearScores()], game="regression").fit(X, X[:, 0])


class Unused(TransformerMixin, BaseEstimator):
    """Must not be asked for anything."""

    def fit(self, X: Any) -> None:
        raise AssertionError

    def transform(self, X: Any) -> None:
        raise AssertionError


def test_errors_come_before_any_other_game() -> None:
    alone = np.where(np.arange(80) == 7, 2, y)
    said = "y must have two points of each class for LinearScores.*only one.*the label 2"
    with pytest.raises(InputError, match=said):
        KNNShapley(encoder=[Unused(), LinearScores()]).fit(X, alone).value()
    beside = [KNNShapley(encoder=[None, LinearScores(C=-1.0)]), KNNShapley(encoder=LinearScores())]
    holes = np.where(X > 2, np.nan, X)
    for valuator, points in zip(beside, (X, holes), strict=True):
        with (
            patch.object(adding_up, "total", side_effect=AssertionError),
            pytest.raises(ValueError, match=r"'C' parameter|NaN"),
        ):
            valuator.fit(points, y).value()


def test_labels_are_labels_however_many_there_are() -> None:
    """Whole numbers of which each fold holds too many to be classes, were they looked at anew."""
    codes = np.repeat(np.arange(100, 130), 11)
    points = codes[:, None] + 0.1 * np.random.default_rng(0).normal(size=(330, 2))
    values = KNNShapley(encoder=LinearScores()).fit(points, codes).value()
    assert np.isfinite(values.values).all()
    assert np.isfinite(LinearScores().fit_transform(X, y.astype(float))).all()


def test_one_class_has_nothing_to_tell_apart() -> None:
    same = np.full(80, "a")
    assert np.unique(LinearScores().fit_transform(X, same)).size == 1
    values = KNNShapley(encoder=[None, LinearScores()]).fit(X, same).value()
    assert_array_equal(values.values, np.zeros(80))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bits_depend_neither_on_threads_nor_on_the_rows_beside(n_classes: int) -> None:
    large = np.random.default_rng(0).normal(size=(3000, 150))
    kinds = np.digitize(large[:, 0], [0.0, 0.7][: n_classes - 1])
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            encoder = LinearScores().fit(large, kinds)
            found.append(encoder.transform(large))
    assert_array_equal(found[0], found[1])
    for start, stop in ((0, 1), (1, 8), (2000, 3000)):
        assert_array_equal(encoder.transform(large[start:stop]), found[0][start:stop])


def test_it_may_end_a_pipeline() -> None:
    scaled = make_pipeline(StandardScaler(), LinearScores())
    piped = KNNShapley(n_neighbors=3, encoder=scaled).fit(X, y).value()
    plain = KNNShapley(n_neighbors=3, encoder=LinearScores()).fit(X, y).value()
    assert_allclose(piped.values, plain.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("number", [1, "five", 2.5])
def test_folds_of_an_encoder_are_a_number(number: Any) -> None:
    encoder = LinearScores()
    encoder.own_folds = number
    with pytest.raises(ValueError, match=r"encoder\.own_folds must be"):
        own_folds(encoder)


def test_a_run_that_was_cut_short_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    valuator = KNNShapley(n_neighbors=3, encoder=[None, LinearScores()], progress=False).fit(X, y)
    whole = valuator.value()
    seen = []

    def stops(game: Tally, block: Any) -> None:
        seen.append(game)
        if len(seen) == 14:  # eleven blocks of the first game, and some of the second
            raise KeyboardInterrupt
        add(game, block)

    add = Tally.add
    with patch.object(Tally, "add", stops), pytest.raises(KeyboardInterrupt):
        valuator.value(checkpoint=tmp_path)
    assert seen[-1] is not seen[0]
    again = valuator.value(checkpoint=tmp_path)
    assert_array_equal(again.values, whole.values)
    assert_array_equal(again.agreement, whole.agreement)


def test_owners_and_weights_of_classes() -> None:
    valuator = KNNShapley(
        n_neighbors=3, encoder=[None, LinearScores()], class_weight="balanced", progress=False
    ).fit(X.astype(np.float32), y)
    values = valuator.value()
    assert values.by_encoder is not None
    alone = KNNShapley(n_neighbors=3, encoder=LinearScores(), class_weight="balanced")
    ref = alone.fit(X.astype(np.float32), y).value()
    assert_allclose(values.by_encoder["LinearScores"], ref.values, rtol=0, atol=1e-15)
    names = np.arange(80).astype(str)
    owners = alone.value_owners(names)
    assert_allclose(owners.values[np.argsort(owners.owners.astype(int))], ref.values, atol=1e-12)


def test_the_ruler_keeps_the_folds() -> None:
    seen: list[tuple[Any, Any]] = []

    def folds_of(shown: Any, targets: Any) -> Any:
        made = with_targets(shown, targets)
        seen.extend(zip(shown, made, strict=True))
        return made

    with patch.object(ruler, "with_targets", folds_of):
        KNNShapley(encoder=[None, LinearScores()], progress=False).fit(X, y).value(ruler=2)
    assert len(seen) == 4
    for before, after in seen:
        assert len(before.folds) == len(after.folds)
        for one, other in zip(before.folds, after.folds, strict=True):
            assert_array_equal(one.positions, other.positions)
            assert_array_equal(np.arange(80)[one.judged], np.arange(80)[other.judged])


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
