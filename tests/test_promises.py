"""What SECURITY.md promises, tried at every door: pickle, the network, files, inputs."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from dataworth import KNNShapley, TableEncoder, decisions, plots, report
from dataworth.baselines import enumerate_neighbours, monte_carlo, quadratic
from dataworth.cli.main import main
from dataworth.files import tables
from dataworth.result import DataValues, read_values, write_values
from tests.commands import decided, rows

RNG = np.random.default_rng(0)
X, X_VAL = RNG.normal(size=(30, 2)), RNG.normal(size=(5, 2))
Y, Y_VAL = np.arange(30) % 2, np.arange(5) % 2


class Trap:
    """Leaves a mark where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("sprung",)


def test_no_file_is_unpickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every file that can hold a pickle is tried at every place that reads one."""
    monkeypatch.chdir(tmp_path)
    trap = np.empty(3, object)
    trap[:] = [Trap()] * 3
    result = KNNShapley().fit(X, Y).value(X_VAL, Y_VAL)
    names = ("X", "y", "facts", "sums", *DataValues.__dataclass_fields__)
    np.savez("trap.npz", **dict.fromkeys(names, trap))  # type: ignore[arg-type]
    np.save("trap.npy", trap, allow_pickle=True)
    joblib.dump(Trap(), "pickle.npy")
    np.save("x.npy", X)
    state = Path("state")
    state.mkdir()
    for name in ("state-0.npz", "state-1.npz"):
        (state / name).write_bytes(Path("trap.npz").read_bytes())
    for name in ("trap.npz", "trap.npy", "pickle.npy"):
        with pytest.raises(ValueError, match="must"):
            DataValues.load(name)
        with pytest.raises(ValueError, match="must"):
            read_values(name)
        with pytest.raises(ValueError, match="must"):
            tables.read(name)
        assert main(["value", name, "--label", "0"]) == 2
        assert main(["info", name]) == 2
        assert main(["value", "x.npy", "--label", name]) == 2
    again = KNNShapley().fit(X, Y).value(X_VAL, Y_VAL, checkpoint=state)
    np.testing.assert_array_equal(again.values, result.values)
    assert not Path("sprung").exists()
    with pytest.raises((ValueError, FileExistsError)):  # the trap works: numpy would spring it
        np.load("trap.npy", allow_pickle=True).item()
    assert Path("sprung").is_dir()
    capsys.readouterr()


# What users do, in a process that ends at once if a socket is made or an address looked up.
EVERYTHING = """
import sys
def refuse(event, args):
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser.")):
        print("network:", event, args, file=sys.stderr, flush=True)
        import os
        os._exit(70)
sys.addaudithook(refuse)
import matplotlib
matplotlib.use("agg")
import dataworth.demo
from dataworth import KNNShapley
from dataworth.cli.main import main
for line in (
    "value train.csv --label y --id name --group owner -o v.parquet --report r.html --by colour",
    "value train.csv --label y --validation val.csv --encoder forest -o v.csv",
    "value train.csv --label y --cv 3 --checkpoint state",
    "info v.parquet",
    "report v.parquet train.csv --label y -o r2.html",
    "apply d.csv train.csv -o cleaned.csv",
    "--help",
):
    if main(line.split()):
        sys.exit(line)
from dataworth.result import read_values
values, _ = read_values("v.parquet")
values.plot(), values.plot_classes(), values.to_frame("pandas")
valuator = KNNShapley(n_jobs=2).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
valuator.value(), valuator.explain(0)
print("done")
"""


def test_nothing_reaches_for_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train", 0), ("val", 1)):
        tables.write_table(f"{name}.csv", pa.table(rows(seed=seed)))
    decided("train.csv", "3,remove,")
    for code, ends in ((EVERYTHING, 0), (f"{EVERYTHING}\nimport socket\nsocket.socket()", 70)):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert done.returncode == ends, done.stderr
        assert done.stdout.rstrip().endswith("done")


def _saved(path: Path, result: DataValues) -> None:
    result.save(path)


def _reported(path: Path, result: DataValues) -> None:
    report.write(path, result)


def _applied(path: Path, result: DataValues) -> None:
    if main(["apply", "d.csv", "train.csv", "-o", str(path)]) == 1:
        raise OSError(errno.ENOSPC, "as the command said")


def _kept(path: Path, result: DataValues) -> None:
    KNNShapley().fit(X, Y).value(X_VAL, Y_VAL, checkpoint=path.parent)


WRITERS: dict[str, Callable[[Path, DataValues], None]] = {
    "values.npz": _saved,
    **dict.fromkeys(("v.csv", "v.tsv", "v.parquet", "v.arrow", "v.feather", "v.npz"), write_values),
    "r.html": _reported,
    "c.csv": _applied,
    "state-0.npz": _kept,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(
    name: str, failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tables.write_table("train.csv", pa.table(rows()))
    decided("train.csv", "3,remove,")
    result = KNNShapley().fit(X, Y).value(X_VAL, Y_VAL)
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / name
    path.write_bytes(b"old")

    def full(*args: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(*((os, "fsync", full) if failing == "fsync" else (Path, "replace", full)))
        with pytest.raises(OSError, match=r"No space left|as the command said"):
            WRITERS[name](path, result)
    assert path.read_bytes() == b"old"
    assert [p.name for p in folder.iterdir() if p.name.endswith(".part")] == []
    WRITERS[name](path, result)
    assert path.read_bytes() != b"old"


def _contents(given: Any) -> Any:
    """What an argument holds, to the last bit."""
    if isinstance(given, np.ndarray):
        return given.dtype, given.shape, given.strides, given.tobytes()
    if isinstance(given, csr_array):
        return [_contents(part) for part in (given.data, given.indices, given.indptr)]
    if isinstance(given, pd.DataFrame | pd.Series):
        return given.to_json(), repr(given.index), joblib.hash(given)
    if isinstance(given, pl.DataFrame | pl.Series | pa.Table):
        return joblib.hash(given.to_pandas())
    if isinstance(given, dict):
        return {name: _contents(part) for name, part in given.items()}
    return joblib.hash(given)


def _frozen(given: Any) -> Any:
    """Make arrays read-only."""
    parts = [given.data, given.indices, given.indptr] if isinstance(given, csr_array) else [given]
    for part in parts:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    return given


TABLE = {"a": X[:, 0], "b": X[:, 1].copy(), "c": np.array(["x", "y", "z"] * 10)}
TABLE_VAL = {"a": X_VAL[:, 0], "b": X_VAL[:, 1].copy(), "c": np.array(list("xyzxy"))}
SPARSE = csr_array(np.where(X > 0, X, 0.0))
UNSORTED = csr_array(
    (np.ones(60), np.tile([1, 0], 30), np.arange(0, 61, 2)), shape=(30, 2)
)  # columns in falling order, which our code must not sort in place
KINDS: dict[str, Callable[[], tuple[Any, Any, Any, Any]]] = {
    "C order": lambda: (X.copy(), Y.copy(), X_VAL.copy(), Y_VAL.copy()),
    "Fortran order": lambda: (
        np.asfortranarray(X),
        Y.copy(),
        np.asfortranarray(X_VAL),
        Y_VAL.copy(),
    ),
    "float32": lambda: (X.astype("f4"), Y.copy(), X_VAL.astype("f4"), Y_VAL.copy()),
    "integers": lambda: ((9 * X).astype(int), Y.copy(), (9 * X_VAL).astype(int), Y_VAL.copy()),
    "texts as labels": lambda: (X.copy(), Y.astype(str), X_VAL.copy(), Y_VAL.astype(str)),
    "lists": lambda: (X.tolist(), Y.tolist(), X_VAL.tolist(), Y_VAL.tolist()),
    "sparse": lambda: (SPARSE.copy(), Y.copy(), csr_array(X_VAL), Y_VAL.copy()),
    "unsorted sparse": lambda: (UNSORTED.copy(), Y.copy(), csr_array(X_VAL), Y_VAL.copy()),
    "pandas": lambda: (
        pd.DataFrame(TABLE, index=np.arange(30)[::-1]),
        pd.Series(Y),
        pd.DataFrame(TABLE_VAL),
        pd.Series(Y_VAL),
    ),
    "polars": lambda: (
        pl.DataFrame(TABLE),
        pl.Series(Y),
        pl.DataFrame(TABLE_VAL),
        pl.Series(Y_VAL),
    ),
    "pyarrow": lambda: (pa.table(TABLE), pa.array(Y), pa.table(TABLE_VAL), pa.array(Y_VAL)),
}


@pytest.mark.parametrize(
    ("kind", "game"),
    [
        (kind, game)
        for kind in KINDS
        for game in ("soft", "hard", "regression")
        if (kind, game) != ("texts as labels", "regression")
    ],
)
@pytest.mark.parametrize("freeze", [False, True], ids=["writable", "read-only"])
def test_fit_and_value_change_nothing(kind: str, game: str, freeze: bool) -> None:
    given = KINDS[kind]()
    if freeze:
        given = tuple(_frozen(part) for part in given)
    before = [_contents(part) for part in given]
    train_X, train_y, val_X, val_y = given
    valuator = KNNShapley(game=game).fit(train_X, train_y)
    valuator.value(val_X, val_y)
    valuator.value()
    valuator.value(cv=3)
    valuator.explain([0, 1])
    assert [_contents(part) for part in given] == before


def _doors() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    result = KNNShapley().fit(X, Y).value(X_VAL, Y_VAL)
    owners, bad = np.array(["Ann", "Bob"] * 15), Y == 1
    right, weights = np.array([True, False, True]), np.array([3, 2, 1])
    made = decisions.Decisions((decisions.Decision(1, "remove", "1"),), label_column="y")
    precomputed = KNNShapley(metric="precomputed", support=3)
    distances = np.abs(X_VAL[:, :1] - X[:, 0])
    metric = {"VI": np.eye(2)}
    measured = KNNShapley(metric="mahalanobis", metric_params=metric)
    return {
        "by": (result.by, (owners,)),
        "detection_curve": (plots.detection_curve, (result, bad)),
        "removal_curve": (plots.removal_curve, (result, X.copy(), Y.copy(), X_VAL, Y_VAL)),
        "report.write": (
            lambda columns, ids: report.write("r.html", result, columns, ids=ids),
            ({"a": X[:, 0].copy(), "y": Y.copy()}, np.arange(30)),
        ),
        "decisions.apply": (decisions.apply, (made, {"y": Y.copy(), "a": X[:, 0].copy()})),
        "TableEncoder": (TableEncoder().fit_transform, (pd.DataFrame(TABLE),)),
        "distances": (precomputed.fit(None, Y).value, (distances, Y_VAL)),
        "a graph": (precomputed.fit(None, Y).value, (csr_array(distances + 0.1), Y_VAL)),
        "metric_params": (lambda params: measured.fit(X, Y).value(X_VAL, Y_VAL), (metric,)),
        "quadratic": (lambda r, w: quadratic(r, w, n_neighbors=2), (right, weights)),
        "enumerate_neighbours": (
            lambda r, w: enumerate_neighbours(r, w, n_neighbors=2, game="soft"),
            (right, weights),
        ),
        "monte_carlo": (
            lambda r, w: monte_carlo(r, w, n_neighbors=2, game="soft", n_permutations=9),
            (right, weights),
        ),
    }


@pytest.mark.parametrize("door", _doors())
@pytest.mark.parametrize("freeze", [False, True], ids=["writable", "read-only"])
def test_other_functions_change_nothing(
    door: str, freeze: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, given = _doors()[door]
    if freeze:
        given = tuple(_frozen(part) for part in given)
    before = [_contents(part) for part in given]
    function(*given)
    assert [_contents(part) for part in given] == before
