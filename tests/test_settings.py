"""Parameters, resolved: what they stand for, what `fit` fixes, what tells runs apart."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dataworth import ForestLeaves, KNNShapley
from dataworth.errors import InputError
from dataworth.games.registry import GAMES
from dataworth.neighbors.distances import Measure
from dataworth.settings import Settings, root
from dataworth.weights.ranked import Within


def of(**params: Any) -> Settings:
    return Settings.of(KNNShapley(**params).get_params(deep=False))


def halved(distances: Any) -> Any:
    return np.full_like(distances, 0.5)


def test_names_become_what_they_stand_for() -> None:
    got = of(
        n_neighbors=np.int8(3),
        game="hard",
        semivalue=("beta", 4, 1),
        metric="minkowski",
        metric_params={"p": 1},
        working_memory=2,
        max_rank="sqrt",
    )
    assert got.game is GAMES["hard"]
    assert got.law == (4.0, 1.0)
    assert got.measure == Measure("minkowski", {"p": 1})
    assert got.working_memory == 2 * 2**20
    assert (got.neighbors_within(2), got.neighbors_within(9)) == (2, 3)
    assert got.rank_limit(10) == got.nearest_needed(10) == root(10) == 4
    assert got.limited
    assert got.ranker() is got.weighting


@pytest.mark.parametrize(
    ("params", "metric"),
    [
        ({}, "euclidean"),
        ({"encoder": StandardScaler()}, "euclidean"),
        ({"encoder": make_pipeline(StandardScaler(), ForestLeaves())}, "hamming"),
        ({"encoder": ForestLeaves(), "metric": "cosine"}, "cosine"),
    ],
)
def test_the_metric_is_that_asked_for_or_that_of_the_encoder(
    params: dict[str, Any], metric: str
) -> None:
    assert of(**params).measure.metric == metric


def test_within_a_radius_all_points_are_neighbours() -> None:
    got = of(radius=1, weights="uniform")
    assert got.radius == 1.0
    assert got.neighbors_within(700) == 700
    ranker = got.ranker()
    assert isinstance(ranker, Within)
    assert ranker.radius == 1.0


def test_support_is_enough_whatever_the_size() -> None:
    got = of(support=30, n_neighbors=50)
    assert [got.nearest_needed(n) for n in (20, 10**9)] == [20, 30]
    assert got.coefficients(10**9).displace.size <= 31  # and not one for each training point


@pytest.mark.parametrize(
    ("change", "fixed"),
    [
        ({"game": "regression"}, True),
        ({"metric": "cosine"}, True),
        ({"metric": "minkowski", "metric_params": {"p": 3}}, True),
        ({"encoder": StandardScaler()}, True),
        ({"neighbors": "faiss", "support": 3}, True),
        ({"neighbors": KNeighborsTransformer(), "support": 3}, True),
        ({"game": "hard"}, False),
        ({"n_neighbors": 9, "weights": "uniform", "radius": 0.5}, False),
        ({"semivalue": "banzhaf", "max_rank": 3, "n_jobs": 2}, False),
        ({"neighbors_params": {}}, False),
    ],
)
def test_what_fit_fixes(change: dict[str, Any], fixed: bool) -> None:
    if not fixed:
        of().check_change(of(**change))
        return
    with pytest.raises(InputError, match=f"{next(iter(change))} must not change after fit"):
        of().check_change(of(**change))


def test_parameters_of_an_index_are_fixed_even_if_changed_in_place() -> None:
    params = {"index": "Flat"}
    before = of(neighbors="faiss", support=3, neighbors_params=params)
    params["index"] = "HNSW8"
    with pytest.raises(InputError, match="neighbors_params must not change after fit"):
        before.check_change(of(neighbors="faiss", support=3, neighbors_params=params))


def test_identity_is_of_what_decides_the_result() -> None:
    same = of(n_jobs=2, working_memory=1, progress=False)
    assert same.identity() == of().identity()
    changes: list[dict[str, Any]] = [
        {"n_neighbors": 6},
        {"game": "hard"},
        {"weights": "linear"},
        {"bandwidth": 0.5},
        {"support": 3},
        {"n_bits": None},
        {"metric": "cosine"},
        {"semivalue": "banzhaf"},
        {"max_rank": 3},
        {"encoder": StandardScaler()},
        {"encoder": StandardScaler(with_mean=False)},
    ]
    identities = [json.dumps(of(**change).identity(), sort_keys=True) for change in changes]
    assert len({*identities, json.dumps(of().identity(), sort_keys=True)}) == len(changes) + 1


def test_identity_knows_the_code_of_functions_of_one_name() -> None:
    def made(text: str) -> Callable[..., Any]:
        function: Callable[..., Any] = eval(text)
        return function

    def identity(**functions: str) -> Any:
        return of(**{name: made(text) for name, text in functions.items()}).identity()

    assert identity(weights="lambda d: d * 0.5") == identity(weights="lambda d: d * 0.5")
    assert identity(weights="lambda d: d * 0.5") != identity(weights="lambda d: d * 0.25")
    assert identity(weights="lambda d: d * 0.5") != identity(weights="lambda d: d + 0.5")
    assert identity(metric="lambda a, b: 1") != identity(metric="lambda a, b: 2")
    assert identity(metric="lambda a, b: 1") != identity(weights="lambda a, b: 1")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"weights": halved, "metric": lambda a, b: 0.0, "progress": False},
        {"metric": "mahalanobis", "metric_params": {"VI": np.eye(2)}},
        {"n_neighbors": np.int64(3), "bandwidth": np.float64(0.5), "semivalue": ("beta", 4, 1)},
        {"encoder": make_pipeline(StandardScaler(), ForestLeaves())},
        {"neighbors": KNeighborsTransformer(), "support": 3},
        {"neighbors": "faiss", "support": 3, "neighbors_params": {"index": "Flat"}},
    ],
)
def test_facts_are_json(params: dict[str, Any]) -> None:
    got = of(**params)
    facts = got.facts()
    assert json.loads(json.dumps(facts)) == facts
    assert set(facts) == set(KNNShapley().get_params(deep=False))
    json.dumps(got.identity())


def test_facts_name_functions_and_keep_arrays() -> None:
    assert of(weights=halved).facts()["weights"] == f"{__name__}.halved"
    facts = of(metric="mahalanobis", metric_params={"VI": np.eye(2)}).facts()
    assert facts["metric_params"] == {"VI": [[1.0, 0.0], [0.0, 1.0]]}
    assert of(encoder=StandardScaler()).facts()["encoder"] == "StandardScaler()"
