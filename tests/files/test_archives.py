"""Archives whose arrays are larger than they look are refused before they are read."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.files import archives


def test_arrays_come_back(tmp_path: Path) -> None:
    arrays = {
        "x": np.arange(6.0).reshape(2, 3),
        "text": np.array(["ä", "bc"]),
        "one": np.array("facts"),
        "none": np.empty((0, 3)),
    }
    with (tmp_path / "a.npz").open("wb") as file:
        archives.save(file, arrays)
    with (tmp_path / "a.npz").open("rb") as file:
        got = archives.load(file, arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(got[name], array)
        assert got[name].dtype == array.dtype


def test_missing_arrays_are_errors() -> None:
    file = io.BytesIO()
    archives.save(file, {"x": np.arange(3)})
    with pytest.raises(KeyError):
        archives.load(file, ["y"])


def bomb(path: Path, mega: int) -> None:
    """A small file that says of itself that its values are this many MB of zeros."""
    values = KNNShapley().fit([[0.0], [1.0]], ["a", "b"]).value([[0]], ["a"])
    values.save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    big = np.zeros(mega * 2**17)
    changed = dict.fromkeys(("values", "lower", "upper", "index", "labels"), big)
    np.savez_compressed(path, **{**arrays, **changed})


LOAD = """
import resource, sys
from dataworth import DataValues
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    DataValues.load(sys.argv[1])
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start)
"""


def test_a_small_file_never_takes_much_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    bomb(path, 64)
    assert path.stat().st_size < 2**20
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path)], capture_output=True, text=True, check=True
    )
    said, kilobytes = done.stdout.splitlines()
    assert said.startswith("path must name a file written by DataValues.save")
    assert int(kilobytes) < 32 * 1024


def claimed(**changes: Any) -> io.BytesIO:
    """An archive with an array whose header says what the array is not."""
    header = {"descr": "<f8", "fortran_order": False, "shape": (3,)} | changes
    part = io.BytesIO()
    np.lib.format.write_array_header_1_0(part, header)
    part.write(np.arange(3.0).tobytes())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", part.getvalue())
    return file


def test_headers_that_claim_too_much_are_refused() -> None:
    assert archives.load(claimed(), ["x"])["x"].tolist() == [0.0, 1.0, 2.0]
    for changes in ({"shape": (10**11,)}, {"descr": "<U9000000"}, {"shape": (10**9, 10**9)}):
        with pytest.raises(ValueError, match="its array 'x' is larger than its part of the file"):
            archives.load(claimed(**changes), ["x"])
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        archives.load(claimed(descr="|O"), ["x"])


def test_checkpoints_that_are_bombs_are_ignored(tmp_path: Path) -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    valuator = KNNShapley(progress=False).fit(X, y)
    ref = valuator.value(checkpoint=tmp_path)
    for state in tmp_path.glob("state-*.npz"):
        with np.load(state) as file:
            arrays = {name: file[name] for name in file.files}
        np.savez_compressed(state, **{**arrays, "sums": np.zeros(2**20)})
    np.testing.assert_array_equal(valuator.value(checkpoint=tmp_path).values, ref.values)
