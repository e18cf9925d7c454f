"""A real cluster on this machine: joblib's blocks, sharded training sets, and workers that die."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import joblib
import numpy as np
import pytest
import zarr
from distributed import Client, LocalCluster
from numpy.typing import NDArray

from dataworth import KNNShapley, OutOfBagForest


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def cloud(n: int = 1000) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X, X_val = rng.normal(size=(n, 5)), rng.normal(size=(70, 5))
    return X, (X[:, 0] > 0).astype(int), X_val, (X_val[:, 0] > 0).astype(int)


def same(got: Any, ref: Any) -> None:
    for name in ("values", "lower", "upper"):
        np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


@pytest.mark.parametrize("params", [{}, {"game": "hard", "max_rank": "sqrt"}, {"support": 20}])
def test_blocks_through_joblib(client: Client, params: dict[str, Any]) -> None:
    X, y, X_val, y_val = cloud()
    ref = KNNShapley(**params).fit(X, y).value(X_val, y_val)
    with joblib.parallel_config(backend="dask"):
        same(KNNShapley(**params).fit(X, y).value(X_val, y_val), ref)


def test_a_forest_judged_out_of_bag_through_joblib(client: Client) -> None:
    X, y, _, _ = cloud(200)
    valuator = KNNShapley(encoder=OutOfBagForest(n_estimators=20)).fit(X, y)
    ref = valuator.value()
    with joblib.parallel_config(backend="dask"):
        same(valuator.value(), ref)


BACKENDS = """
import sys
import joblib
from tests.neighbors.test_dask import KNNShapley, cloud, same

if __name__ == "__main__":
    X, y, X_val, y_val = cloud(300)
    ref = KNNShapley().fit(X, y).value(X_val, y_val)
    with joblib.parallel_config(backend=sys.argv[1], n_jobs=2):
        same(KNNShapley().fit(X, y).value(X_val, y_val), ref)
"""


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_other_backends_of_joblib(backend: str) -> None:
    """In a process of its own: forks and the threads of a cluster do not go together."""
    run = subprocess.run(
        [sys.executable, "-c", BACKENDS, backend], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.parametrize(
    "params",
    [
        {"support": 30},
        {"support": 30, "game": "hard", "metric": "cosine"},
        {"support": 30, "game": "regression", "weights": "linear", "n_jobs": 2},
        {"weights": "uniform", "max_rank": "sqrt"},
        {"game": "hard"},
        {"max_rank": 20, "game": "hard", "metric": "manhattan", "weights": "uniform"},
    ],
)
def test_shards_equal_one_array(client: Client, params: dict[str, Any]) -> None:
    X, y, X_val, y_val = cloud()
    ref = KNNShapley(**params).fit(X, y).value(X_val, y_val)
    sharded = da.from_array(X, chunks=(90, 2)).persist()
    got = KNNShapley(**params).fit(sharded, da.from_array(y, chunks=400)).value(X_val, y_val)
    same(got, ref)


def test_empty_shards_are_nothing(client: Client) -> None:
    X, y, X_val, y_val = cloud(200)
    ref = KNNShapley(support=10).fit(X, y).value(X_val, y_val)
    pieces = [X[:50], X[:0], X[50:]]
    sharded = da.concatenate([da.from_array(p, chunks=(60, 5)) for p in pieces])
    same(KNNShapley(support=10).fit(sharded, y).value(X_val, y_val), ref)


def test_checkpoint_knows_the_contents_of_shards(client: Client, tmp_path: Path) -> None:
    X, y, X_val, y_val = cloud(200)
    stored = zarr.create_array(store=str(tmp_path / "X"), shape=X.shape, chunks=(60, 5), dtype="f8")
    stored[:] = X
    for _ in range(2):
        valuator = KNNShapley(support=10).fit(da.from_zarr(str(tmp_path / "X")), y)
        got = valuator.value(X_val, y_val, checkpoint=tmp_path / "run")
    same(got, KNNShapley(support=10).fit(X, y).value(X_val, y_val))
    stored[7] = 0.5
    valuator = KNNShapley(support=10).fit(da.from_zarr(str(tmp_path / "X")), y)
    with pytest.raises(ValueError, match="checkpoint must be of the same data"):
        valuator.value(X_val, y_val, checkpoint=tmp_path / "run")


def test_shards_without_a_validation_set(client: Client) -> None:
    X, y, _, _ = cloud(200)
    ref = KNNShapley(support=10).fit(X, y).value()
    same(KNNShapley(support=10).fit(da.from_array(X, chunks=(60, 5)), y).value(), ref)


def test_bounds_of_a_cut_off_hold(client: Client) -> None:
    X, y, X_val, y_val = cloud()
    exact = KNNShapley(bandwidth=1.0).fit(X, y).value(X_val, y_val).values
    sharded = da.from_array(X, chunks=(300, 5))
    got = KNNShapley(bandwidth=1.0, max_rank="sqrt").fit(sharded, y).value(X_val, y_val)
    assert (got.lower - 1e-12 <= exact).all()
    assert (exact <= got.upper + 1e-12).all()


def _slow(block: NDArray[Any]) -> NDArray[Any]:
    time.sleep(0.1)
    return block


def _done(dask_worker: Any) -> tuple[int, int]:
    return dask_worker.state.executed_count, os.getpid()


def _kill_a_worker_at_work(client: Client) -> threading.Thread:
    """A real SIGKILL, as the machine of a worker might deal it out, once it has done something."""
    before = {pid: count for count, pid in client.run(_done).values()}

    def kill() -> None:
        while True:
            for count, pid in client.run(_done).values():
                if count >= before[pid] + 2:
                    os.kill(pid, signal.SIGKILL)
                    return
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def worker_killed(way: str) -> bool:
    """Kill a worker in the middle of a run, and tell whether the values have the same bits."""
    X, y, X_val, y_val = cloud(1000 if way == "shards" else 150)
    metric = {"shards": None, "joblib": _slow_distance}[way]
    # Little memory makes many small tasks, so that a worker can die in the middle of them.
    memory = {"shards": 256, "joblib": 1e-9}[way]
    valuator = KNNShapley(support=30, metric=metric, working_memory=memory)
    ref = valuator.fit(X, y).value(X_val, y_val)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())
        if way == "shards":
            sharded = da.from_array(X, chunks=(50, 5)).map_blocks(_slow, dtype=X.dtype)
            valuator.fit(sharded, y)
            killer = _kill_a_worker_at_work(client)
            got = valuator.value(X_val, y_val)
        else:
            killer = _kill_a_worker_at_work(client)
            with joblib.parallel_config(backend="dask"):
                got = valuator.value(X_val, y_val)
        killer.join()
        client.wait_for_workers(2)
        assert set(client.run(os.getpid).values()) != before
    return got.values.tobytes() == ref.values.tobytes()


@pytest.mark.filterwarnings("ignore")  # what Dask has to say of a lost worker
@pytest.mark.parametrize("way", ["shards", "joblib"])
def test_a_worker_dies_in_the_middle(way: str) -> None:
    assert worker_killed(way)


def _slow_distance(a: NDArray[Any], b: NDArray[Any]) -> float:
    time.sleep(1e-4)
    return float(np.sqrt(((a - b) ** 2).sum()))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: KNNShapley().fit(da.from_array(X), y).value(cv=3), "cv must be None if"),
        (lambda X, y: KNNShapley(max_rank=9).fit(da.from_array(X), y).value(X, y), "support=R"),
        (
            lambda X, y: KNNShapley().fit(da.from_array(X)[da.from_array(y) == 1], y),
            "compute_chunk_sizes",
        ),
        (
            lambda X, y: KNNShapley().fit(da.from_array(X / (X < 1)), y),
            "X must be finite; row",
        ),
        (lambda X, y: KNNShapley(support=3).fit(da.from_array(X), y[:5]), "one label per row"),
        (lambda X, y: KNNShapley(neighbors="faiss", support=3).fit(da.from_array(X), y), "faiss"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_input(make: Any, message: str) -> None:
    X, y, _, _ = cloud(40)
    with pytest.raises(ValueError, match=message):
        make(X, y)


@pytest.mark.parametrize(
    ("fitted", "valued"),
    [
        ({}, {"support": 5}),
        ({"support": 5}, {"support": None}),
        ({}, {"max_rank": 7, "weights": "inverse"}),
    ],
)
def test_limits_may_change_after_fit(fitted: dict[str, Any], valued: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    sharded = KNNShapley(**fitted).fit(da.from_array(X, chunks=(20, 3)), y)
    got = sharded.set_params(**valued).value(X[:5] + 0.1, y[:5])
    ref = KNNShapley(**valued).fit(da.from_array(X, chunks=(20, 3)), y).value(X[:5] + 0.1, y[:5])
    for name in ("values", "lower", "upper"):
        np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


@pytest.mark.parametrize("params", [{"max_rank": 7}, {"max_rank": 7, "weights": "linear"}])
def test_limits_that_need_all_distances_are_refused_after_fit_too(params: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    valuator = KNNShapley().fit(da.from_array(X, chunks=(20, 3)), y).set_params(**params)
    with pytest.raises(ValueError, match="not all distances are known"):
        valuator.value(X[:5], y[:5])
