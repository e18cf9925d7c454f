"""A list of encoders: values are the mean of the games of the representations."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsTransformer
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from dataworth import DataValues, ForestLeaves, KNNShapley
from dataworth.errors import InputError
from dataworth.files import values as value_files
from dataworth.result import read_values, write_values
from dataworth.run import checkpoints
from tests import naive

GAMES: list[dict[str, Any]] = [
    {},
    {"weights": "uniform"},
    {"game": "hard"},
    {"game": "regression"},
    {"n_bits": None},
    {"max_rank": 5},
    {"class_weight": "balanced"},
    {"max_rank": 5, "bandwidth": 0.5, "neighbors": KNeighborsTransformer(n_neighbors=6)},
]


def data(n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2], rng.choice(3, n, p=[0.5, 0.3, 0.2])


def encoders() -> list[Any]:
    return [None, StandardScaler(), PCA(n_components=1)]


def runs(valuator: KNNShapley) -> list[DataValues]:
    X, y = data()
    X_val, y_val = data(21)
    valuator.fit(X, y)
    weight = np.arange(21) % 3
    return [
        valuator.value(),
        valuator.value(cv=3),
        valuator.value(X_val + 0.1, y_val),
        valuator.value(X_val + 0.1, y_val, sample_weight=weight),
    ]


def mean(arrays: list[Any], runs: list[Any]) -> Any:
    """The mean over the representations, by the fourth power of what they gain."""
    return np.average(arrays, axis=0, weights=weights(runs))


def weights(runs: list[Any]) -> Any:
    gains = [max(gain(run), 0.0) for run in runs]
    return np.power(gains, 4) if any(gains) else np.ones(len(gains))


def gain(run: Any) -> float:
    """Agreement above that of chance, or the sum of the values if there is none."""
    if getattr(run, "agreement", None) is None:
        return float(run.values.sum())
    numeric = run.params["game"] == "regression"
    chance = -np.var(run.labels) if numeric else 1 / np.unique(run.labels).size
    return float(np.nanmean(run.agreement) - chance)


@pytest.mark.parametrize("params", GAMES, ids=str)
def test_values_are_the_mean_of_separate_runs(params: dict[str, Any]) -> None:
    got = runs(KNNShapley(n_neighbors=3, encoder=encoders(), **params))
    separate = [runs(KNNShapley(n_neighbors=3, encoder=one, **params)) for one in encoders()]
    for i, values in enumerate(got):
        single = [some[i] for some in separate]
        for name in ("values", "lower", "upper", "weight_error"):
            ref = mean([getattr(one, name) for one in single], single)
            assert_allclose(getattr(values, name), ref, rtol=0, atol=1e-15)
        assert values.by_encoder is not None
        assert list(values.by_encoder) == ["none", "StandardScaler", "PCA"]
        for mine, one in zip(values.by_encoder.values(), single, strict=True):
            assert_array_equal(mine, one.values)
            assert one.by_encoder is None
        if single[0].agreement is None:
            assert values.agreement is None
        else:
            ref = mean([one.agreement for one in single], single)
            assert values.agreement is not None
            assert_allclose(values.agreement, ref, rtol=0, atol=1e-15)
        if single[0].recall is not None:
            assert values.recall == pytest.approx(np.mean([one.recall for one in single]))
        assert values.params["encoder"] == [None, "StandardScaler()", "PCA(n_components=1)"]


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_values_are_those_of_the_mean_utility(game: str) -> None:
    """By enumeration: one game, whose utility is the mean over the representations."""
    rng = np.random.default_rng(1)
    X, y, query = rng.normal(size=(7, 2)), rng.integers(0, 2, 7), rng.normal(size=(1, 2))

    def utility_of(column: int) -> naive.Utility:
        row = np.abs(X[:, column] - query[0, column]).tolist()
        weight, order = naive.weights("rbf", row, 3), naive.ranking(row)
        made = naive.soft_share if game == "soft" else naive.hard_vote
        return made(order, y.tolist(), weight, 1, 3)

    one, other = utility_of(0), utility_of(1)
    everyone, nobody = frozenset(range(7)), frozenset[int]()
    share, rest = (max(u(everyone) - u(nobody), 0.0) ** 4 for u in (one, other))
    if not share + rest:
        share = rest = 1.0
    share, rest = share / (share + rest), rest / (share + rest)
    ref = naive.shapley(7, lambda members: share * one(members) + rest * other(members))
    first, second = (FunctionTransformer(column, kw_args={"at": at}) for at in (0, 1))
    valuator = KNNShapley(n_neighbors=3, game=game, encoder=[first, second])
    values = valuator.fit(X, y).value(query, [1])
    assert_allclose(values.values, ref, rtol=0, atol=1e-12)
    assert values.by_encoder is not None
    assert list(values.by_encoder) == ["FunctionTransformer", "FunctionTransformer 2"]


def column(X: Any, at: int) -> Any:
    return X[:, [at]]


@pytest.mark.parametrize("game", ["soft", "regression"])
@pytest.mark.parametrize("cv", [None, KFold(2)], ids=str)
def test_suggestions_are_those_of_the_mean_vote(game: str, cv: Any) -> None:
    """Each representation has its share of the vote, however much its neighbours weigh."""
    X, y = data(30)
    both = [FunctionTransformer(column, kw_args={"at": at}) for at in (0, 1)]
    valuator = KNNShapley(game=game, encoder=both).fit(X, y)
    values = valuator.value(cv=cv)
    votes = np.zeros((30, 3))
    means = np.zeros(30)
    alone = [KNNShapley(game=game, encoder=one).fit(X, y).value(cv=cv) for one in both]
    for at, share in enumerate(weights(alone) / weights(alone).sum()):
        everyone = np.arange(30)
        pairs = [(np.delete(everyone, i), [i]) for i in everyone] if cv is None else cv.split(X)
        for judged, judges in pairs:
            for i in judges:
                row = np.abs(X[judged, at] - X[i, at]).tolist()
                weight, near = naive.weights("rbf", row, 3), naive.ranking(row)
                if game == "regression":
                    near = near[:5]  # all others vote on labels, the K nearest on numbers
                total = sum(weight[j] for j in near)
                for j in near:
                    votes[i, y[judged[j]]] += share * weight[j] / total
                    means[i] += share * weight[j] / total * y[judged[j]]
    assert values.suggested is not None
    if game == "regression":
        assert_allclose(values.suggested, means, rtol=0, atol=1e-12)
    else:
        best = votes.max(axis=1)
        given = votes[np.arange(30), y] >= best - 1e-9
        assert_array_equal(values.suggested, np.where(given, y, votes.argmax(axis=1)))


def test_each_encoder_has_its_own_metric() -> None:
    X, y = data()
    both = [None, ForestLeaves(n_estimators=5, random_state=0)]
    got = KNNShapley(encoder=both).fit(X, y).value(cv=2)
    alone = KNNShapley(encoder=both[1]).fit(X, y).value(cv=2)
    assert got.by_encoder is not None
    assert_array_equal(got.by_encoder["ForestLeaves"], alone.values)


def test_random_folds_are_the_same_for_all() -> None:
    X, y = data()
    valuator = KNNShapley(encoder=[None, None]).fit(X, y)
    values = valuator.value(cv=KFold(3, shuffle=True))
    assert values.by_encoder is not None
    assert_array_equal(values.by_encoder["none"], values.by_encoder["none 2"])


def test_explanations_are_means() -> None:
    X, y = data()
    valuator = KNNShapley(encoder=encoders()).fit(X, y)
    values = valuator.value(cv=3)
    several = valuator.explain([0, 7])
    each, alone_values = [], []
    for one in encoders():
        alone = KNNShapley(encoder=one).fit(X, y)
        alone_values.append(alone.value(cv=3))
        each.append(alone.explain([0, 7]))
    for i, why in enumerate(several):
        assert why.value == pytest.approx(values.values[why.index], abs=1e-15)
        ref = mean([some[i].contributions for some in each], alone_values)
        assert_allclose(why.contributions, ref, rtol=0, atol=1e-15)
        assert_array_equal(why.neighbors, each[0][i].neighbors)


def test_owners_are_means() -> None:
    X, y = data()
    groups = np.array(["p", "q"] * 20)
    got = KNNShapley(encoder=encoders()).fit(X, y).value_owners(groups)
    each = [KNNShapley(encoder=one).fit(X, y).value_owners(groups) for one in encoders()]
    for name in ("values", "point_sums", "standard_error", "sampling_error"):
        ref = mean([getattr(one, name) for one in each], each)
        assert_allclose(getattr(got, name), ref, rtol=0, atol=1e-15)


class Stop(Exception):
    """Raised in the middle of a run."""


@pytest.mark.parametrize("after", [3, 6, 8])
def test_checkpoints_and_threads_change_no_bit(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data()
    valuator = KNNShapley(encoder=encoders()[:2]).fit(X, y)
    ref, plain, count = valuator.value(), checkpoints.Checkpoint.save, 0

    def save(self: Any, *args: Any) -> None:
        nonlocal count
        plain(self, *args)
        count += 1
        if count == after:
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoint, "due", lambda self: True)
        patch.setattr(checkpoints.Checkpoint, "save", save)
        with pytest.raises(Stop):
            valuator.value(checkpoint=tmp_path)
    again = valuator.value(checkpoint=tmp_path)
    threads = KNNShapley(encoder=encoders()[:2], n_jobs=2, working_memory=0.001).fit(X, y).value()
    for got in (again, threads):
        for name in ("values", "agreement", "suggested"):
            assert_array_equal(getattr(got, name), getattr(ref, name))
    with pytest.raises(InputError, match="is of another run"):
        KNNShapley(encoder=encoders()[:1]).fit(X, y).value(checkpoint=tmp_path)


@pytest.mark.parametrize("ending", value_files.ENDINGS)
def test_files_keep_the_values_of_each(ending: str, tmp_path: Path) -> None:
    X, y = data()
    values = KNNShapley(encoder=[None, StandardScaler()]).fit(X, y).value()
    path = tmp_path / f"v{ending}"
    write_values(path, values)
    again, _ = read_values(path)
    for got in (again, pickle.loads(pickle.dumps(values)), replace(values)):
        assert got.by_encoder is not None
        assert values.by_encoder is not None
        assert list(got.by_encoder) == list(values.by_encoder)
        for name, ref in values.by_encoder.items():
            assert_array_equal(got.by_encoder[name], ref)
            assert not got.by_encoder[name].flags.writeable


def test_what_fit_learned() -> None:
    X, y = data()
    valuator = KNNShapley(encoder=[None, StandardScaler()]).fit(X, y)
    first, second = valuator.encoder_
    assert first is None
    assert_allclose(second.mean_, X.mean(axis=0))
    assert valuator.n_features_in_ == 3
    copied = clone(valuator)
    assert [type(one) for one in copied.encoder] == [type(None), StandardScaler]
    with pytest.raises(InputError, match="encoder must not change after fit"):
        valuator.set_params(encoder=[None]).value()
    with pytest.raises(InputError, match="encoder must not change after fit"):
        valuator.set_params(encoder=[None, StandardScaler(with_mean=False)]).value()
