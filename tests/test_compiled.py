"""Compiled code on disk: kept for the next process, and never used after a change."""

import os
import re
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

KERNEL = (  # one alone, with its helper in another file
    "import numpy as np\n"
    "from dataworth.games.kernels import unweighted\n"
    "from dataworth.games.kernels.coefficients import shapley_like\n"
    "out = np.empty(4)\n"
    "given = (np.array([0, 1, 0, 1]), np.arange(4), 0, 0.5, 4, 2, shapley_like(4, 2))\n"
    "unweighted.soft(*given, out)\n"
    "print(out.tolist())\n"
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """An installed copy of the package, without any compiled code."""
    source = Path(dataworth.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "vendor", "assets")
    shutil.copytree(source, tmp_path / "dataworth", ignore=ignored)
    return tmp_path


def run(folder: Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def environment(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    return {**kept, "PYTHONPATH": str(folder)}


def test_a_change_anywhere_compiles_anew(copy: Path) -> None:
    """The helper lies in another file than the kernel that calls it, which does not change."""
    before = run(copy, KERNEL)
    kept = {path: path.stat().st_mtime_ns for path in (copy / "dataworth").rglob("*.nbi")}
    assert run(copy, KERNEL) == before
    assert kept == {path: path.stat().st_mtime_ns for path in kept}  # it was used
    assert kept
    helper = copy / "dataworth" / "games" / "kernels" / "coefficients.py"
    text = helper.read_text()
    changed = text.replace("inside[size] = exact *", "inside[size] = 2.0 * exact *")
    assert changed != text
    helper.write_text(changed)
    assert run(copy, KERNEL) != before
    helper.write_text(text)
    front = copy / "dataworth" / "__init__.py"
    front.write_text(front.read_text().replace('__version__ = "', '__version__ = "9.'))
    old = set((copy / "dataworth").rglob("*.nbi"))
    assert run(copy, KERNEL) == before
    assert len(set((copy / "dataworth").rglob("*.nbi")) - old) == len(kept)


def test_numba_is_called_in_one_place() -> None:
    """So that what is shown for one kernel holds for all."""
    root = Path(dataworth.__file__).parent
    callers = [p for p in root.rglob("*.py") if re.search(r"(import|from) numba\b", p.read_text())]
    assert callers == [root / "compiled.py"]


def test_kernels_hold_the_code_of_those_they_call(copy: Path) -> None:
    """Otherwise the last bits of a value depend on which other kernels a process has loaded."""
    listing = (
        "import gc\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "kernels = [k for k in gc.get_objects() if isinstance(k, Dispatcher)]\n"
        "compiled = [one for kernel in kernels for one in kernel.overloads.values()]\n"
        "calls = [\n"
        "    line for one in compiled for line in one.library.get_llvm_str().splitlines()\n"
        "    if ' call ' in line and '@_ZN9dataworth' in line\n"
        "    and one.fndesc.llvm_func_name not in line  # as where Python calls it\n"
        "]\n"
        "print(len(compiled) > 9, calls)\n"
    )
    assert run(copy, VALUE + listing).splitlines()[1] == "True []"


def test_processes_share_one_compilation(copy: Path) -> None:
    compiled = compilations(copy, VALUE, processes=3)
    kept = list((copy / "dataworth").rglob("*.nbc"))
    assert compiled == len(kept)  # of each kernel one
    assert len({path.parent for path in kept}) > 1
    assert compilations(copy, VALUE, processes=1) == 0


def test_a_folder_without_locks_is_no_obstacle(copy: Path) -> None:
    module = copy / "dataworth" / "locks.py"
    text = module.read_text()
    changed = text.replace("    handle = _opened(", "    raise OSError\n    handle = _opened(")
    assert changed != text
    module.write_text(changed)
    assert compilations(copy, KERNEL, processes=1) > 0
    assert compilations(copy, KERNEL, processes=1) == 0


def compilations(folder: Path, code: str, processes: int) -> int:
    """How many kernels are compiled by processes that start at the same time.

    What a kernel uses of numba's own, such as np.empty, is compiled by each process that compiles
    one, and does not count.
    """
    before = (
        "import numba.core.event as events\n"
        "seen = events.RecordingListener()\n"
        "events.register('numba:compile', seen)\n"
    )
    after = (
        "ours = [event for _, event in seen.buffer if event.is_start\n"
        "    and event.data['dispatcher'].py_func.__module__.startswith('dataworth.')]\n"
        "print(len(ours))\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", before + code + after],
            env=environment(folder),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]
    said = [process.communicate()[0].splitlines() for process in started]
    assert len({values for values, _ in said}) == 1
    return sum(int(number) for _, number in said)
