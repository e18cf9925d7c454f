"""The work of one worker: how many rows it holds, and what single points add."""

from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.games.soft import SoftGame
from dataworth.neighbors import distances as neighbors
from dataworth.run.job import BLOCK, Job
from dataworth.settings import Settings
from dataworth.training.folds import OpenedFold, folds
from dataworth.training.training_set import TrainingSet
from tests.test_estimator import cloud
from tests.training import test_folds

BANZHAF = {"semivalue": "banzhaf"}


@pytest.mark.parametrize(
    ("n", "working_memory", "rows"),
    [(700, 1e-9, 1), (700, 0.02, 2), (700, 256, 64), (3000, 256, 16), (20_000, 256, 8)],
)
def test_working_memory_sets_how_many_rows_are_held(
    n: int, working_memory: float, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    plain = neighbors.distances

    def spy(queries: Any, *rest: Any) -> Any:
        seen.append(len(queries))
        return plain(queries, *rest)

    X, y, X_val, y_val = cloud(1, n, 70)
    valuator = KNNShapley(working_memory=working_memory).fit(X, y)
    monkeypatch.setattr(neighbors, "distances", spy)
    notes = valuator.value(X_val, y_val).notes
    assert max(seen) == rows
    assert sum(seen) == 70
    if n == 700:  # the training points look at each other, for outliers
        seen.clear()
        assert notes is not None
        assert notes.farness is not None
        assert max(seen) == {1: 1, 2: 1, 64: 88}[rows]
        assert sum(seen) == 700


def test_workers_share_rows_of_many_features() -> None:
    settings = Settings.of(KNNShapley(n_jobs=2).get_params(deep=False))
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9000, 300)), rng.integers(0, 2, 9000)
    training = TrainingSet.of(X, y, settings)
    widths = [
        Job.of(settings, folds(training, X[:n], y[:n], None)[0].open()).width
        for n in (50, 200, 9000)
    ]
    assert widths == [24, 24, 64]


@pytest.mark.parametrize("n_classes", [1, 2, 4])
@pytest.mark.parametrize("max_rank", [1, 3, 20, 57, 58, 59, 60])
@pytest.mark.parametrize("params", [{}, {"n_neighbors": 1}, {"n_neighbors": 60}, BANZHAF])
def test_the_nearest_are_valued_together_to_the_bits_of_one_by_one(
    n_classes: int, max_rank: int, params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    X, y = rng.integers(0, 9, (60, 2)).astype(float), rng.integers(0, n_classes, 60)
    weights = rng.random(60) + 0.5
    valuator = KNNShapley(weights="uniform", max_rank=max_rank, **params).fit(X, y)
    weights[::7] = 0.0
    ways: list[dict[str, Any]] = [
        {},
        {"cv": 3},
        {"sample_weight": weights},
        {"X_val": X[:21] + 0.3, "y_val": y[:21], "sample_weight": weights[:21]},
    ]
    together = [valuator.value(**way) for way in ways]
    used: list[int] = []
    plain = SoftGame.add_nearest_rows

    def spy(game: SoftGame, ranked: Any, *rest: Any) -> None:
        used.append(len(ranked.sizes))
        plain(game, ranked, *rest)

    monkeypatch.setattr(SoftGame, "add_nearest_rows", spy)
    valuator.value()
    assert bool(used) == (max_rank < 59 and params.get("n_neighbors") != 60)
    monkeypatch.setattr(SoftGame, "nearest_by_rows", False)
    for got, way in zip(together, ways, strict=True):
        ref = valuator.value(**way)
        for name in ("values", "lower", "upper", "agreement", "suggested"):
            np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


def test_what_is_no_distance_is_refused_where_only_the_nearest_are_ranked() -> None:
    X, y = test_folds.cloud()

    def metric(a: Any, b: Any) -> float:
        return float(np.abs(a - b).sum()) or -1.0

    valuator = KNNShapley(weights="uniform", max_rank=3, metric=metric).fit(X, y)
    with pytest.raises(ValueError, match="metric gave a distance of -1.0"):
        valuator.value(X[:2], y[:2])


def test_adaptive_rank_from_features() -> None:
    X, y = test_folds.cloud()
    exact = KNNShapley().fit(X, y).value(X[:9], y[:9])
    got = KNNShapley(max_rank="adaptive").fit(X, y).value(X[:9], y[:9])
    assert (got.lower - 1e-12 <= exact.values).all()
    assert (exact.values <= got.upper + 1e-12).all()


def opened(how: str, **params: Any) -> tuple[Job, OpenedFold]:
    settings = Settings.of(KNNShapley(**params).get_params(deep=False))
    X, y, X_val, y_val = cloud(3, 50, 19, 3)
    training = TrainingSet.of(X, y, settings)
    ways: dict[str, Any] = {"outside": (X_val, y_val, None), "inside": (None,) * 3}
    fold = folds(training, *ways[how])[0].open()
    return Job.of(settings, fold), fold


@pytest.mark.parametrize("how", ["outside", "inside"])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"game": "hard", "weights": "linear"},
        {"game": "regression"},
        {"support": 6},
        {"max_rank": 7},
        {"max_rank": "adaptive", "n_neighbors": 1},
        {"weights": "uniform", "radius": 1.5},
    ],
)
def test_contributions_equal_single_values(params: dict[str, Any], how: str) -> None:
    """What points add to validation points, one by one, is what the sums are made of."""
    job, fold = opened(how, **params)
    queries, codes, own = fold.queries[:], fold.codes, fold.own
    n, everyone = job.game.n_points, np.arange(job.game.n_points)
    whole = job.contributions(queries, codes, own, everyone)
    for i in range(codes.size):
        mine = None if own is None else own[i : i + 1]
        (part,) = job.run(queries[i : i + 1], codes[i : i + 1], mine, np.ones(1))
        alone = np.zeros(n)
        alone[part.columns] = part.sums[0]
        np.testing.assert_array_equal(whole[i], alone)
    np.testing.assert_array_equal(
        job.contributions(queries, codes, own, everyone[[7, 3]]), whole[:, [7, 3]]
    )
    if own is not None:
        assert not whole[np.arange(codes.size), own].any()


@pytest.mark.parametrize("params", [{}, {"support": 6}, {"max_rank": 7}])
def test_each_block_has_its_own_sums(params: dict[str, Any]) -> None:
    job, fold = opened("outside", **params)
    parts = job.run(fold.queries[:], fold.codes, None, np.ones(fold.codes.size))
    assert len(parts) == 3  # of 8, 8 and 3 validation points
    whole = job.contributions(fold.queries[:], fold.codes, None, np.arange(50))
    for start, part in zip((0, 8, 16), parts, strict=True):
        sums = np.zeros(50)
        sums[part.columns] = part.sums[0]
        ref = whole[start : start + BLOCK].sum(axis=0)
        np.testing.assert_allclose(sums, ref, rtol=0, atol=1e-14)
        assert part.sums.shape[0] == (3 if "max_rank" in params else 1)


def test_few_neighbours_make_small_parts() -> None:
    """Of many training points only those that were found are kept."""
    X, y = np.arange(5000.0)[:, None], np.arange(5000) % 2
    settings = Settings.of(KNNShapley(support=6).get_params(deep=False))
    fold = folds(TrainingSet.of(X, y, settings), X[:9] + 0.1, y[:9], None)[0].open()
    job = Job.of(settings, fold)
    for part, start in zip(
        job.run(fold.queries[:], fold.codes, None, np.ones(fold.codes.size)), (0, 8), strict=True
    ):
        assert not isinstance(part.columns, slice)
        assert part.sums.shape == (1, part.columns.size)
        some = slice(start, start + BLOCK)
        whole = job.contributions(fold.queries[some], fold.codes[some], None, np.arange(5000))
        assert {*np.flatnonzero(whole.any(axis=0)).tolist()} <= {*part.columns.tolist()}
        assert {*part.columns.tolist()} <= {*range(start + 12)}
