"""The ruler of a run: what is planted, that it is the same every time, and what it finds."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from dataworth import ForestLeaves, KNNShapley, OutOfBagForest
from dataworth.arrays import Flags, Floats, Ints
from dataworth.errors import InputError
from dataworth.inputs.targets import Labels
from dataworth.run import ruler as runs
from dataworth.run.ruler import plantings
from dataworth.settings import Settings
from dataworth.suspects.ruler import ranks
from dataworth.suspects.scores import score
from dataworth.training.representations import represented
from dataworth.training.training_set import TrainingSet


def clouds(n: int = 400, wrong: float = 0.1, gap: float = 6.0) -> tuple[Floats, Ints, Flags]:
    """Three classes that are apart, some of whose labels are wrong."""
    rng = np.random.default_rng(1)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + gap * np.eye(4)[y]
    bad = rng.permutation(n) < round(wrong * n)
    return X, np.where(bad, (y + rng.integers(1, 3, n)) % 3, y), bad


def prices(n: int = 400, wrong: float = 0.1) -> tuple[Floats, Floats, Flags]:
    """A smooth function, some of whose targets are those of other points."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-2, 2, (n, 2))
    y = X[:, 0] ** 3 + 3 * X[:, 1] + rng.normal(scale=0.1, size=n)
    bad = rng.permutation(n) < round(wrong * n)
    return X, np.where(bad, rng.permutation(y), y), bad


class Learner(TransformerMixin, BaseEstimator):
    """An encoder that needs labels, and remembers all it was given."""

    seen: ClassVar[list[Any]] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.seen.append(np.asarray(y))
        return self

    def transform(self, X: Any) -> Any:
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def test_ranks_are_those_of_a_run_with_the_planted_labels() -> None:
    """Again by hand: plant, value, score, count."""
    X, y, _ = clouds(60)
    valuator = KNNShapley().fit(X, y)
    got = valuator.value(ruler=2).ruler
    assert got is not None
    ref = []
    for number in range(2):
        rng = np.random.default_rng([runs.SEED, number])
        made, planted = Labels.of(y, None).with_errors(15, [slice(None)], rng)
        again = KNNShapley().fit(X, made.given()).value()
        ref.append(ranks(score(again.values, again.agreement), planted))
    assert got.ranks == tuple(ref)
    assert (got.n_points, got.n_classes, got.n_repeats) == (60, 3, 2)


def test_values_do_not_change_and_stay_the_ones_explained() -> None:
    X, y, _ = clouds(60)
    plain = KNNShapley().fit(X, y)
    valuator = KNNShapley().fit(X, y)
    ref, got = plain.value(), valuator.value(ruler=1)
    assert ref.ruler is None
    np.testing.assert_array_equal(got.values, ref.values)
    why = [v.explain(3) for v in (plain, valuator)]
    np.testing.assert_array_equal(why[0].contributions, why[1].contributions)


@pytest.mark.parametrize("how", [{}, {"cv": 4}], ids=str)
def test_errors_are_counted(how: Any) -> None:
    X, y, bad = clouds()
    values = KNNShapley().fit(X, y).value(**how, ruler=3)
    ruler = values.ruler
    assert ruler is not None
    assert ruler.n_errors is not None
    assert 36 <= ruler.n_errors <= 60  # 40 are wrong
    listed = values.suspects()
    assert len(listed) == ruler.cutoff == ruler.n_errors
    hits = bad[listed["index"]].sum()
    assert hits >= 36
    assert abs(hits / 40 - ruler.recall(ruler.n_errors)) < 0.1


def test_a_supervised_encoder_is_fitted_with_the_planted_labels() -> None:
    X, y, _ = clouds(200)
    Learner.seen.clear()
    splits = list(StratifiedKFold(3).split(X, y))
    values = KNNShapley(encoder=Learner()).fit(X, y).value(cv=splits, ruler=2)
    training = [y[judged] for judged, _ in splits]
    for number in range(2):
        rng = np.random.default_rng([runs.SEED, number])
        parts = [judged for judged, _ in splits]
        made, planted = Labels.of(y, None).with_errors(20, parts, rng)
        assert planted.size == 20
        training += [made.given()[judged] for judged in parts]
    assert [seen.tolist() for seen in Learner.seen] == [some.tolist() for some in training]
    assert values.ruler is not None
    assert values.ruler.n_errors is not None
    assert 18 <= values.ruler.n_errors <= 35


def test_a_forest_is_measured() -> None:
    X, y, _ = clouds(200)
    values = KNNShapley(encoder=ForestLeaves(n_estimators=20)).fit(X, y).value(cv=3, ruler=2)
    assert values.ruler is not None
    assert values.ruler.n_errors is not None
    assert 18 <= values.ruler.n_errors <= 35


def test_a_forest_that_is_judged_out_of_bag_is_fitted_again() -> None:
    X, y, _ = clouds(200)
    got = KNNShapley(encoder=OutOfBagForest(n_estimators=30)).fit(X, y).value(ruler=1)
    assert got.ruler is not None
    rng = np.random.default_rng([runs.SEED, 0])
    made, planted = Labels.of(y, None).with_errors(20, [slice(None)], rng)
    again = KNNShapley(encoder=OutOfBagForest(n_estimators=30)).fit(X, made.given()).value()
    assert got.ruler.ranks == (ranks(again.score, planted),)


@pytest.mark.parametrize("how", [{}, {"cv": 3}], ids=str)
def test_a_mean_of_games_is_planted_as_one(how: Any) -> None:
    X, y, _ = clouds(80)
    encoders = [None, PCA(2)]
    splits = list(StratifiedKFold(3).split(X, y))
    how = {"cv": splits} if how else {}
    got = KNNShapley(encoder=encoders).fit(X, y).value(**how, ruler=1)
    assert got.ruler is not None
    parts = [judged for judged, _ in splits] if how else [slice(None)]
    rng = np.random.default_rng([runs.SEED, 0])
    made, planted = Labels.of(y, None).with_errors(20, parts, rng)
    again = KNNShapley(encoder=encoders).fit(X, made.given()).value(**how)
    assert got.ruler.ranks == (ranks(again.score, planted),)


def test_judges_count_as_in_the_run() -> None:
    """Classes are balanced by the labels with the planted errors."""
    X, y, _ = clouds(80)
    weights = np.linspace(0.0, 1.0, 80)
    got = KNNShapley(class_weight="balanced").fit(X, y).value(ruler=1, sample_weight=weights)
    assert got.ruler is not None
    rng = np.random.default_rng([runs.SEED, 0])
    made, planted = Labels.of(y, None).with_errors(20, [slice(None)], rng)
    again = KNNShapley(class_weight="balanced").fit(X, made.given()).value(sample_weight=weights)
    assert got.ruler.ranks == (ranks(again.score, planted),)


def test_numbers_that_are_wrong_are_counted() -> None:
    X, y, bad = prices()
    values = KNNShapley(game="regression").fit(X, y).value(ruler=3)
    assert values.ruler is not None
    assert values.ruler.n_errors is not None
    # Of 40 wrong targets 38 are off by more than 1. Planted ones that hardly differ from the truth
    # are never found, so that the upper estimate is high: up to twice the number.
    assert 38 <= values.ruler.n_errors <= 80
    assert "targets look wrong" in values.ruler.sentence
    assert bad[values.suspects(20)["index"]].mean() > 0.9


@pytest.mark.parametrize("n_classes", [2, 5])
def test_random_labels_cannot_be_counted(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, n_classes, 300)
    values = KNNShapley().fit(X, y).value(ruler=3)
    assert values.ruler is not None
    assert not values.ruler.tells
    assert "cannot be told" in values.ruler.sentence
    with pytest.raises(InputError, match="^n must be a whole number if the ruler cannot tell"):
        values.suspects()
    assert len(values.suspects(7)) == 7


@pytest.mark.parametrize("params", [{}, {"max_rank": 30}, {"encoder": PCA(2)}], ids=str)
def test_the_same_bits_however_it_is_computed(params: dict[str, Any], tmp_path: Path) -> None:
    X, y, _ = clouds(120)
    ref = KNNShapley(**params).fit(X, y).value(ruler=2).ruler
    for other in ({"n_jobs": 2}, {"working_memory": 0.01}):
        assert KNNShapley(**params, **other).fit(X, y).value(ruler=2).ruler == ref
    kept = KNNShapley(**params).fit(X, y)
    for _ in range(2):
        assert kept.value(ruler=2, checkpoint=tmp_path / "run").ruler == ref
    more = KNNShapley(**params).fit(X, y).value(ruler=3).ruler
    assert ref is not None
    assert more is not None
    assert more.ranks[:2] == ref.ranks


def test_each_repeat_goes_on_from_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, _ = clouds(120)
    valuator = KNNShapley().fit(X, y)
    ref = valuator.value(ruler=3)
    valuator.value(checkpoint=tmp_path)  # the ruler may come later
    before = sorted(path.name for path in tmp_path.iterdir())
    seen = []
    real = ranks

    def fails(scores: Floats, planted: Ints) -> tuple[int, ...]:
        seen.append(planted)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return real(scores, planted)

    monkeypatch.setattr(runs, "ranks", fails)
    with pytest.raises(KeyboardInterrupt):
        valuator.value(ruler=3, checkpoint=tmp_path)
    monkeypatch.setattr(runs, "ranks", real)
    folders = sorted(path.name for path in tmp_path.iterdir())
    assert folders == sorted([*before, "ruler-0", "ruler-1"])
    state = {p: p.read_bytes() for p in tmp_path.glob("ruler-0/*.npz")}
    got = valuator.value(ruler=3, checkpoint=tmp_path)
    assert got.ruler == ref.ruler
    np.testing.assert_array_equal(got.values, ref.values)
    assert {p: p.read_bytes() for p in tmp_path.glob("ruler-0/*.npz")} == state
    other = KNNShapley().fit(X, (y + 1) % 3)
    with pytest.raises(InputError, match="checkpoint must be of the same data"):
        other.value(ruler=3, checkpoint=tmp_path)


def test_a_splitter_that_is_drawn_anew_is_drawn_once() -> None:
    """The folds of the repeats are those of the run, also where points never judge."""
    X, y, _ = clouds(120)
    splits = list(ShuffleSplit(3, test_size=0.2, random_state=0).split(X))
    ref = KNNShapley().fit(X, y).value(cv=splits, ruler=2)
    got = KNNShapley().fit(X, y).value(cv=iter(splits), ruler=2)
    assert got.ruler == ref.ruler
    assert ref.agreement is not None
    assert np.isnan(ref.agreement).any()
    assert np.isfinite(ref.score).all()


def test_rare_classes_keep_their_points() -> None:
    X, y, _ = clouds(120)
    y[:2] = 7
    got = KNNShapley().fit(X, y).value(cv=2, ruler=3).ruler
    assert got is not None
    assert got.n_classes == 4


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a", "b", "a"], "ruler must be left out with fewer than 4 training points; got 1."),
        (["a"] * 9, "ruler must be left out if no error can be planted; "),
    ],
)
def test_what_cannot_be_measured_is_refused_before_any_work(
    y: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    valuator = KNNShapley().fit(np.arange(len(y))[:, None], y)
    monkeypatch.setattr("dataworth.run.adding_up.total", None)
    with pytest.raises(InputError, match=said):
        valuator.value(ruler=1)


def test_points_from_outside_have_no_ruler() -> None:
    X, y, _ = clouds(60)
    said = r"ruler must be left out with X_val and y_val; got 2\. It is for training points"
    with pytest.raises(InputError, match=said):
        KNNShapley().fit(X, y).value(X[:5] + 0.1, y[:5], ruler=2)


def test_plantings_differ_from_repeat_to_repeat() -> None:
    X, y, _ = clouds(60)

    settings = Settings.of(KNNShapley().get_params())
    training = TrainingSet.of(X, y, settings)
    made = plantings(3, training.targets, represented([settings], [training], None, None, None))
    assert len({tuple(planted.tolist()) for _, planted in made}) == 3
