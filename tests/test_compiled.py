"""Compiled code on disk: kept for the next process, and never used after a change."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dataworth

VALUE = (
    "from dataworth import KNNShapley\n"
    "valuator = KNNShapley(game='hard', n_neighbors=2)\n"
    "valuator.fit([[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1])\n"
    "print(valuator.value([[0.2]], [0]).values.tolist())\n"
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


def test_a_changed_helper_changes_the_result(copy: Path) -> None:
    """The kernel that is called lies in another file, which does not change."""
    before = valued(copy)
    assert valued(copy) == before
    assert list((copy / "dataworth").rglob("*.nbi"))  # its code was kept
    helper = copy / "dataworth" / "games" / "kernels" / "coefficients.py"
    text = helper.read_text()
    changed = text.replace(
        "inside[size] = exact * share_in", "inside[size] = 2.0 * exact * share_in"
    )
    assert changed != text
    helper.write_text(changed)
    after = valued(copy)
    assert after != before
    helper.write_text(text)
    assert valued(copy) == before


def test_another_version_compiles_anew(copy: Path) -> None:
    valued(copy)
    kept = {path: path.stat().st_mtime_ns for path in (copy / "dataworth").rglob("*.nbi")}
    front = copy / "dataworth" / "__init__.py"
    front.write_text(front.read_text().replace('__version__ = "', '__version__ = "9.'))
    valued(copy)
    assert kept
    assert all(path.stat().st_mtime_ns > then for path, then in kept.items())
