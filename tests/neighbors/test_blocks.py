"""Training features that are read in blocks: the same bits as from an array, in little memory."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from dataworth import KNNShapley
from dataworth.neighbors import blocks as sources
from dataworth.neighbors.blocks import ParquetRows
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.points import Chosen

KINDS = ("memmap", "integers", "fortran", "zarr", "h5py", "parquet")


def stored(kind: str, X: NDArray[Any], folder: Path) -> Any:
    """The same features in a file, in many small chunks."""
    path = folder / kind
    if kind in ("memmap", "fortran", "integers"):
        order: Any = "F" if kind == "fortran" else "C"
        dtype = "i2" if kind == "integers" else X.dtype
        file = np.memmap(path, dtype=dtype, mode="w+", shape=X.shape, order=order)
        file[:] = X
        file.flush()
        return np.memmap(path, dtype=dtype, mode="r", shape=X.shape, order=order)
    if kind == "zarr":
        array = zarr.create_array(store=str(path), shape=X.shape, chunks=(7, 2), dtype=X.dtype)
        array[:] = X
        return zarr.open_array(str(path), mode="r")
    if kind == "h5py":
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=X, chunks=(9, X.shape[1]))
        return h5py.File(path, "r")["X"]
    table = pa.table({f"c{i}": X[:, i] for i in range(X.shape[1])})
    pq.write_table(table.append_column("label", pa.array(["a"] * len(X))), path, row_group_size=11)
    return ParquetRows(path, columns=table.column_names)


def points() -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, (60, 4)).astype(np.float32)
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "params",
    [{}, {"support": 9}, {"max_rank": 8}, {"metric": "manhattan", "game": "hard"}, {"n_jobs": 2}],
)
@pytest.mark.parametrize("run", ["validation", "leave-one-out", "folds"])
def test_same_bits_as_an_array(
    kind: str, params: dict[str, Any], run: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 512)
    X, y = points()
    X = X.astype(np.float64) if kind == "integers" else X
    ways: dict[str, dict[str, Any]] = {
        "validation": {"X_val": X[:20] + 1, "y_val": y[:20]},
        "leave-one-out": {},
        "folds": {"cv": 3},
    }
    arguments = ways[run]
    ref = KNNShapley(**params).fit(X, y).value(**arguments)
    got = KNNShapley(**params).fit(stored(kind, X, tmp_path), y).value(**arguments)
    for name in ("values", "lower", "upper"):
        np.testing.assert_array_equal(getattr(got, name), getattr(ref, name))


@pytest.mark.parametrize("kind", ["zarr", "h5py", "parquet", "fortran"])
def test_checks_reach_into_every_block(kind: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 512)
    X, y = points()
    X[41, 2] = np.nan
    with pytest.raises(ValueError, match="X must be finite; row 41, column 2 is NaN"):
        KNNShapley().fit(stored(kind, X, tmp_path), y)


def test_checkpoint_knows_the_contents(tmp_path: Path) -> None:
    X, y = points()
    source = stored("zarr", X, tmp_path)
    ref = KNNShapley().fit(X, y).value().values
    for _ in range(2):
        got = KNNShapley().fit(source, y).value(checkpoint=tmp_path / "run").values
        np.testing.assert_array_equal(got, ref)
    changed = zarr.open_array(str(tmp_path / "zarr"), mode="r+")
    changed[5, 1] = 9.5
    with pytest.raises(ValueError, match="checkpoint must be of the same data"):
        KNNShapley().fit(changed, y).value(checkpoint=tmp_path / "run")


def test_parquet_slices(tmp_path: Path) -> None:
    X, _ = points()
    rows = stored("parquet", X, tmp_path)
    assert rows.shape == X.shape
    assert rows.dtype == np.float32
    for start, stop in ((0, 60), (5, 5), (10, 12), (11, 22), (59, 100), (30, 50)):
        np.testing.assert_array_equal(rows[start:stop], X[start:stop])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "nowhere"], r"columns must name columns of .* got \['nowhere'\]"),
        ([], "columns must name columns"),
        (["a", "text"], "'text' is of type string"),
        (["a", "holes"], "'holes' of .* has"),
    ],
)
def test_bad_parquet(columns: list[str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "text": ["x", "y"], "holes": [None, 1.0]}), path)
    with pytest.raises((ValueError, TypeError), match=message):
        KNNShapley().fit(ParquetRows(path, columns=columns), [0, 1])


def test_what_needs_memory_says_so(tmp_path: Path) -> None:
    X, y = points()
    with pytest.raises(ValueError, match="encoder=StandardScaler.* needs X in memory"):
        KNNShapley(encoder=StandardScaler()).fit(stored("zarr", X, tmp_path), y)
    with pytest.raises(ValueError, match="neighbors='faiss' needs X in memory"):
        KNNShapley(neighbors="faiss", support=5).fit(stored("h5py", X, tmp_path), y)


def test_what_blocks_cannot_do(tmp_path: Path) -> None:
    X, y = points()
    with pytest.raises(ValueError, match="metric='jaccard' needs X in memory"):
        KNNShapley(metric="jaccard").fit(stored("zarr", X, tmp_path), y)
    tall = zarr.create_array(
        store=str(tmp_path / "tall"), shape=(200_000, 8), chunks=(200_000, 1), dtype="f4"
    )
    with pytest.raises(ValueError, match=r"chunks of fewer rows .* of shape \(200000, 1\)"):
        KNNShapley(working_memory=1).fit(tall, np.arange(200_000) % 2)
    rows = stored("parquet", X, tmp_path)
    with pytest.raises(TypeError, match="rows must be a slice without steps"):
        rows[0:10:2]
    large = pa.table({"a": pa.array([2**60 + 1, 1])})
    pq.write_table(large, tmp_path / "large.parquet")
    with pytest.raises(ValueError, match="a must hold integers of at most"):
        KNNShapley().fit(ParquetRows(tmp_path / "large.parquet"), [0, 1])


def test_metrics_are_tried_on_real_points(tmp_path: Path) -> None:
    """One that divides by the sum of coordinates is fine where no point is at the origin."""
    X, y = points()
    X = np.abs(X) + 1
    ref = KNNShapley(metric=_canberra).fit(X, y).value(X[:3], y[:3])
    got = KNNShapley(metric=_canberra).fit(stored("zarr", X, tmp_path), y).value(X[:3], y[:3])
    np.testing.assert_array_equal(got.values, ref.values)


def _canberra(a: NDArray[Any], b: NDArray[Any]) -> float:
    return sum(abs(float(p) - float(q)) / (float(p) + float(q)) for p, q in zip(a, b, strict=True))


@pytest.mark.filterwarnings("ignore:.*validation points are training points")
@pytest.mark.parametrize("kind", ["zarr", "h5py", "parquet"])
def test_sources_travel_to_other_processes(kind: str, tmp_path: Path) -> None:
    X, y = points()
    there = pickle.loads(pickle.dumps(sources.Blocks(stored(kind, X, tmp_path), "X")))
    np.testing.assert_array_equal(there[3:9], X[3:9])
    picked = Chosen(sources.BlockPoints(there, Measure("euclidean")), np.array([50, 2, 3, 4, 1]))
    np.testing.assert_array_equal(picked[0:5], X[[50, 2, 3, 4, 1]])
    (tmp_path / "val").mkdir()
    X_val = stored(kind, X[:12], tmp_path / "val")
    np.testing.assert_array_equal(
        KNNShapley().fit(X, y).value(X_val, y[:12]).values,
        KNNShapley().fit(X, y).value(X[:12], y[:12]).values,
    )


# Large arrays go back to the system as soon as they are freed, and threads keep no memory to
# themselves. Otherwise it depends on timing how much freed memory still counts.
AT_ONCE = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
LIMITED = """
import json, resource, sys
import numpy as np
from dataworth import KNNShapley

kind, path, n, params = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
valuator = KNNShapley(working_memory=32, progress=False, **params)
small = np.zeros((20, 128), np.float32)
valuator.fit(small, np.arange(20) % 2).value(small, np.arange(20) % 2)  # loads what it needs
if kind == "memmap":
    X = np.memmap(path, dtype=np.float32, mode="r", shape=(n, 128))
elif kind == "parquet":
    from dataworth.neighbors.blocks import ParquetRows
    X = ParquetRows(path)
else:
    import zarr
    X = zarr.open_array(path, mode="r")
X_val = np.array(X[:40])  # starts the threads of the reader
with open("/proc/self/status") as file:
    held = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmData"))
# The budget, 64 bytes for each training point, and a little for the libraries.
limit = held + 32 * 2**20 + 64 * n + 32 * 2**20
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
if kind == "everything":
    X = X[:]
# All distances at once would exceed the limit.
X_val, y_val = np.tile(X_val, (3, 1)), np.arange(120) % 2
print(valuator.fit(X, np.arange(n) % 2).value(X_val, y_val).values.sum().hex())
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: Any) -> tuple[Path, int]:
    """150 MB of features, in three formats; the limit is 82 MB."""
    folder, n = tmp_path_factory.mktemp("large"), 300_000
    X = np.random.default_rng(0).random((n, 128), dtype=np.float32)
    X.tofile(folder / "memmap")
    array = zarr.create_array(
        store=str(folder / "zarr"), shape=X.shape, chunks=(8192, 128), dtype="f4", compressors=None
    )
    array[:] = X
    names = [f"c{i}" for i in range(128)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pq.ParquetWriter(folder / "parquet", schema, compression="none") as writer:
        for start in range(0, n, 10_000):
            part = X[start : start + 10_000]
            columns = [np.ascontiguousarray(part[:, i]) for i in range(128)]
            writer.write_table(pa.table(columns, names=names))
    return folder, n


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("memmap", {"game": "hard"}),
        ("zarr", {"support": 50}),
        ("zarr", {"support": 50, "max_rank": 10}),
        ("zarr", {"max_rank": "sqrt", "game": "hard"}),
        ("parquet", {"support": 50}),
        ("everything", {"support": 50}),
    ],
)
def test_memory_stays_within_the_budget(
    kind: str, params: dict[str, Any], large: tuple[Path, int]
) -> None:
    """A real limit on a process; one that brings all features into memory must hit it."""
    folder, n = large
    path = folder / ("zarr" if kind == "everything" else kind)
    arguments = [kind, str(path), str(n), json.dumps(params)]
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        env={**os.environ, **AT_ONCE},
        capture_output=True,
        text=True,
        check=False,
    )
    if kind == "everything":
        assert "MemoryError" in run.stderr
    else:
        assert run.returncode == 0, run.stderr[-2000:]
