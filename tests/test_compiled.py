"""Compiled code on disk: kept for the next process, and never used after a change."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dataworth

VALUE = (  # with as few kernels as can be
    "from dataworth import KNNShapley\n"
    "valuator = KNNShapley(weights='uniform', metric='precomputed', n_neighbors=2)\n"
    "valuator.fit(None, [0, 1, 0, 1])\n"
    "print(valuator.value([[0.2, 1.0, 2.0, 4.0]], [0]).values.tolist())\n"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """An installed copy of the package, without any compiled code."""
    source = Path(dataworth.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "vendor", "assets")
    shutil.copytree(source, tmp_path / "dataworth", ignore=ignored)
    return tmp_path


def valued(folder: Path) -> str:
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    env["PYTHONPATH"] = str(folder)
    done = subprocess.run(
        [sys.executable, "-c", VALUE], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_change_anywhere_compiles_anew(copy: Path) -> None:
    """The helper lies in another file than the kernel that calls it, which does not change."""
    before = valued(copy)
    kept = {path: path.stat().st_mtime_ns for path in (copy / "dataworth").rglob("*.nbi")}
    assert valued(copy) == before
    assert kept == {path: path.stat().st_mtime_ns for path in kept}  # it was used
    assert kept
    helper = copy / "dataworth" / "games" / "kernels" / "coefficients.py"
    text = helper.read_text()
    changed = text.replace("inside[size] = exact *", "inside[size] = 2.0 * exact *")
    assert changed != text
    helper.write_text(changed)
    assert valued(copy) != before
    helper.write_text(text)
    front = copy / "dataworth" / "__init__.py"
    front.write_text(front.read_text().replace('__version__ = "', '__version__ = "9.'))
    assert valued(copy) == before
    assert all(path.stat().st_mtime_ns > then for path, then in kept.items())
