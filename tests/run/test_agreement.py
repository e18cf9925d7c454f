"""What the others say about each point, against the definition of every game."""

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import RepeatedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsTransformer

from dataworth import KNNShapley, OutOfBagForest
from dataworth.run import checkpoints
from dataworth.run.agreement import Agreement
from tests import naive

TIES = {"right": 1.0, "wrong": 0.0, "half": 0.5}


def gappy(distances: Any) -> Any:
    """Weights that rise again after zeros."""
    return (np.arange(len(distances)) % 3 > 0) / (1.0 + np.arange(len(distances)))


def named(weights: Any) -> str:
    """The name of a weight function, which unlike its address is the same in every process."""
    return getattr(weights, "__name__", weights)


CASES: list[dict[str, Any]] = [
    {"weights": "uniform"},
    {"weights": "rbf"},
    {"weights": "linear", "n_bits": 1},
    {"weights": "inverse", "n_bits": None},
    {"weights": "rbf", "support": 2},
    {"weights": gappy},
    *({"game": "hard", "weights": w, "ties": t} for w in ("uniform", "rbf") for t in TIES),
    {"game": "hard", "weights": gappy, "ties": "half"},
    *({"game": "hard", "multiclass": "direct", "weights": "linear", "ties": t} for t in TIES),
    {"game": "regression", "weights": "uniform"},
    {"game": "regression", "weights": "rbf"},
    {"game": "regression", "weights": "linear", "n_bits": None},
    {"game": "regression", "weights": gappy},
]


def drawn(seed: int, game: str) -> tuple[Any, Any, int]:
    """A few points, with ties and copies among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    X = rng.integers(0, 6, (n, 1)).astype(float) + (seed % 2) * rng.random((n, 1))
    y = rng.normal(size=n) if game == "regression" else rng.choice(["c", "a", "b"], n)
    return X, y, int(rng.integers(1, 7))


def of_definition(X: Any, y: Any, k: int, params: dict[str, Any], i: int, others: list[int]) -> Any:
    """U(others) and U(nobody) for point i, and what the others suggest."""
    row = [abs(float(X[j, 0] - X[i, 0])) for j in others]
    labels, own, order = [y[j] for j in others], y[i], naive.ranking(row)
    smallest = 1e-140 if params.get("game") == "regression" else 1e-300
    weight = naive.weights(
        params["weights"],
        row,
        params.get("n_bits", 3),
        support=params.get("support"),
        smallest=smallest,
    )
    if params["weights"] == "uniform":
        weight = [1.0] * len(row)
    if params.get("game") == "regression":
        utility = naive.squared_error(order, labels, weight, own, k)
        said: Any = naive.mean_target(order, labels, weight, own, k)
    else:
        classes = np.unique(y).tolist()
        tie = TIES[params.get("ties", "right")]
        said = naive.favoured(order, labels, weight, own, k)
        if "game" not in params:
            utility = naive.soft_share(order, labels, weight, own, k, classes)
        elif "multiclass" in params:
            utility = naive.direct_vote(order, labels, weight, own, k, tie, classes)
        else:
            utility = naive.hard_vote(order, labels, weight, own, k, tie, classes)
    return utility(frozenset(range(len(others)))), utility(frozenset()), said


@pytest.mark.parametrize("params", CASES, ids=lambda p: str({**p, "weights": named(p["weights"])}))
def test_agreement_is_the_utility_of_all_others(params: dict[str, Any]) -> None:
    for seed in range(40):
        X, y, k = drawn(seed, params.get("game", "soft"))
        valuator = KNNShapley(n_neighbors=k, metric="manhattan", **params).fit(X, y)
        values = valuator.value()
        everyone = range(len(y))
        others = [[j for j in everyone if j != i] for i in everyone]
        all_vote = params["weights"] == "rbf" and params.get("game") != "regression"
        voters = len(y) if all_vote else k  # all that have weight
        ref = [of_definition(X, y, voters, params, i, others[i]) for i in everyone]
        assert values.agreement is not None
        assert values.suggested is not None
        assert values.suggested.dtype == values.labels.dtype
        assert_allclose(values.agreement, [full for full, _, _ in ref], rtol=0, atol=1e-12)
        if params.get("game") == "regression":
            assert_allclose(values.suggested, [said for _, _, said in ref], rtol=0, atol=1e-12)
        else:
            assert values.suggested.tolist() == [said for _, _, said in ref]
        # By efficiency, the row of contributions adds up to what K neighbours add to nothing.
        rows = np.array([why.contributions for why in valuator.explain(list(everyone))]).sum(axis=0)
        near = [of_definition(X, y, k, params, i, others[i]) for i in everyone]
        gain = [full - empty for full, empty, _ in near]
        loose = 1e-8 if params.get("n_bits", 3) is None else 1e-12  # values of real weights
        assert_allclose(rows, gain, rtol=0, atol=loose)


def test_within_a_radius_all_vote() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]]), ["a", "a", "b", "b", "b"]
    values = KNNShapley(radius=2.5, weights="uniform").fit(X, y).value()
    assert values.agreement is not None
    assert_allclose(values.agreement, [0.5, 1 / 3, 1 / 3, 0.5, 0.5], rtol=0, atol=1e-15)
    assert values.suggested is not None
    assert values.suggested.tolist() == ["a", "b", "a", "b", "b"]


def test_validation_points_from_outside_give_none() -> None:
    values = KNNShapley().fit([[0.0], [1.0]], ["a", "b"]).value([[0.2]], ["a"])
    assert values.agreement is None
    assert values.suggested is None


@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
def test_several_verdicts_on_a_point(game: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 1))
    y = rng.normal(size=30) if game == "regression" else rng.integers(0, 3, 30) * 10
    valuator = KNNShapley(n_neighbors=4, game=game, weights="uniform").fit(X, y)
    params = {"weights": "uniform", **({} if game == "soft" else {"game": game})}
    splits = list(RepeatedKFold(n_splits=3, n_repeats=3, random_state=0).split(X))
    values = valuator.value(cv=splits)
    worth = np.zeros(30)
    votes: list[list[Any]] = [[] for _ in range(30)]
    for judged, judges in splits:
        for i in judges:
            others = judged.tolist()
            worth[i] += of_definition(X, y, 4, params, int(i), others)[0] / 3
            near = naive.ranking([abs(float(X[j, 0] - X[i, 0])) for j in others])[:4]
            votes[i] += [y[others[j]] for j in near]
    assert values.agreement is not None
    assert values.suggested is not None
    assert_allclose(values.agreement, worth, rtol=0, atol=1e-12)
    if game == "regression":
        assert_allclose(values.suggested, np.mean(votes, axis=1), rtol=0, atol=1e-12)
        return
    for i, cast in enumerate(votes):
        most = max(cast.count(c) for c in cast)
        best = sorted(c for c in set(cast) if cast.count(c) == most)
        assert values.suggested[i] == (y[i] if y[i] in best else best[0])


def test_points_that_never_judge() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.choice(["a", "b"], 40)
    cv = ShuffleSplit(n_splits=1, test_size=0.25, random_state=0)
    values = KNNShapley().fit(X, y).value(cv=cv)
    judges = next(cv.split(X))[1]
    assert values.agreement is not None
    assert values.suggested is not None
    assert_array_equal(np.flatnonzero(~np.isnan(values.agreement)), np.sort(judges))
    never = np.setdiff1d(np.arange(40), judges)
    assert_array_equal(values.suggested[never], y[never])


def test_folds_that_lack_a_class_keep_the_names_of_the_others() -> None:
    X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [5.0]])
    y = np.array(["b", "b", "c", "c", "c", "b", "a"])  # nobody labelled "a" takes part
    values = KNNShapley(n_neighbors=2).fit(X, y).value(cv=[([0, 1, 3, 4], [2, 5])])
    assert values.suggested is not None
    assert values.suggested.tolist() == ["b", "b", "b", "c", "c", "c", "a"]


def test_neighbours_without_weight_say_nothing() -> None:
    def nobody(distances: Any) -> Any:
        return np.zeros(len(distances))

    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
    values = KNNShapley(weights=nobody).fit(X, y).value()
    assert values.agreement is not None
    assert values.suggested is not None
    assert values.agreement.tolist() == [0.5, 0.5, 0.5]
    assert values.suggested.tolist() == y
    values = KNNShapley(weights=nobody, game="regression").fit(X, [1.0, 2.0, 3.0]).value()
    assert values.agreement is not None
    assert values.suggested is not None
    assert values.agreement.tolist() == [-2.25, 0.0, -2.25]  # as the mean of the others has it
    raw = KNNShapley(weights=nobody, game="regression", center=False).fit(X, [1.0, 2.0, 3.0])
    assert (agreement := raw.value().agreement) is not None
    assert agreement.tolist() == [-1.0, -4.0, -9.0]
    assert values.suggested.tolist() == [1.0, 2.0, 3.0]


def some(n: int = 60, **params: Any) -> KNNShapley:
    rng = np.random.default_rng(1)
    return KNNShapley(n_neighbors=3, **params).fit(rng.normal(size=(n, 2)), rng.choice(3, n))


def same(one: Any, other: Any) -> None:
    for name in ("values", "agreement", "suggested"):
        assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("game", ["soft", "hard"])
def test_fewer_ranks_say_the_same(game: str) -> None:
    ref = some(game=game, multiclass="direct" if game == "hard" else "one-vs-one").value()
    for more in (
        {"max_rank": 5},
        {"max_rank": "adaptive"},
        {"max_rank": 5, "neighbors": KNeighborsTransformer(n_neighbors=6)},
    ):
        multiclass = "direct" if game == "hard" else "one-vs-one"
        params: dict[str, Any] = {"game": game, "multiclass": multiclass, "bandwidth": 0.3, **more}
        exact = some(game=game, multiclass=multiclass, bandwidth=0.3).value()
        got = some(**params).value()
        assert_array_equal(got.agreement, exact.agreement)
        assert_array_equal(got.suggested, exact.suggested)
    assert ref.agreement is not None


@pytest.mark.parametrize("max_rank", [None, 5])
@pytest.mark.parametrize("game", ["soft", "hard", "regression"])
def test_all_points_with_weight_vote(game: str, max_rank: int | None) -> None:
    """Whether they are ranked or not, where weights fall to nothing nearby."""
    if game == "regression":
        forest = OutOfBagForest(n_estimators=20)
        one = {"game": game, "encoder": forest, "n_bits": 8}
    else:
        one = {"game": game}
    wide = KNNShapley(n_neighbors=100, **one).fit(*data()).value()
    got = some(**one, max_rank=max_rank).fit(*data()).value()
    assert wide.agreement is not None
    assert got.agreement is not None
    assert_allclose(got.agreement, wide.agreement, rtol=0, atol=1e-12)
    assert got.suggested is not None
    assert wide.suggested is not None
    if game == "regression":
        assert_allclose(got.suggested, wide.suggested, rtol=0, atol=1e-12)
    else:
        assert_array_equal(got.suggested, wide.suggested)


@pytest.mark.parametrize(
    "params", [{"weights": "linear"}, {"bandwidth": 0.3}, {"game": "regression"}], ids=str
)
def test_only_neighbours_vote_if_everybody_has_weight(params: dict[str, Any]) -> None:
    few, all_ = (KNNShapley(n_neighbors=k, **params).fit(*data()).value() for k in (3, 100))
    assert few.agreement is not None
    assert all_.agreement is not None
    assert not np.allclose(few.agreement, all_.agreement)


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    return rng.normal(size=(50, 2)), rng.integers(0, 3, 50)


@pytest.mark.parametrize("cv", [None, 3])
def test_workers_change_no_bit(cv: int | None) -> None:
    ref = some().value(cv=cv)
    same(some(n_jobs=2, working_memory=0.001).value(cv=cv), ref)
    with joblib.parallel_config("loky", n_jobs=2):
        same(some().value(cv=cv), ref)


class Stop(Exception):
    """Raised in the middle of a run."""


@pytest.mark.parametrize(
    "cv", [None, 3, RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)], ids=str
)
@pytest.mark.parametrize("game", ["soft", "regression"])
def test_checkpoints_keep_it(
    game: str, cv: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref, plain, count = some(game=game).value(cv=cv), checkpoints.Checkpoint.save, 0

    def save(self: Any, *args: Any) -> None:
        nonlocal count
        plain(self, *args)
        count += 1
        if count == 4:
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoint, "due", lambda self: True)
        patch.setattr(checkpoints.Checkpoint, "save", save)
        with pytest.raises(Stop):
            some(game=game).value(cv=cv, checkpoint=tmp_path)
    again, add = 0, Agreement.add

    def counted(self: Any, *args: Any) -> None:
        nonlocal again
        add(self, *args)
        again += 1

    monkeypatch.setattr(Agreement, "add", counted)
    same(some(game=game).value(cv=cv), ref)
    whole, again = again, 0
    same(some(game=game).value(cv=cv, checkpoint=tmp_path), ref)
    assert again == whole - 4  # the first four blocks came from disk
    same(some(game=game).value(cv=cv, checkpoint=tmp_path), ref)
