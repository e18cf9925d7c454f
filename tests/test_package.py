"""What a process pays: imports, compilation, threads."""

import os
import subprocess
import sys
from pathlib import Path

VALUE = """
import logging, sys
import numpy as np
from dataworth import KNNShapley
rng = np.random.default_rng(0)
X, y = rng.normal(size=(50, 2)), np.arange(50) % 3
KNNShapley().fit(X, y).value(X[:3], y[:3])
import numba
kernels = [d for m in list(sys.modules.values()) if m.__name__.startswith("dataworth")
           for d in vars(m).values() if isinstance(d, numba.core.dispatcher.Dispatcher)]
hits = sum(sum(k.stats.cache_hits.values()) for k in kernels)
misses = sum(sum(k.stats.cache_misses.values()) for k in kernels)
print(hits, misses)
"""


def run(code: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_import_compiles_nothing(tmp_path: Path) -> None:
    code = (
        "import numba.core.event as e\n"
        "seen = e.RecordingListener()\n"
        "e.register('numba:compile', seen)\n"
        "import dataworth\n"
        "print(len(seen.buffer))"
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == "0"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_second_run_pays_no_compilation(tmp_path: Path) -> None:
    first = [int(n) for n in run(VALUE, NUMBA_CACHE_DIR=str(tmp_path)).split()]
    second = [int(n) for n in run(VALUE, NUMBA_CACHE_DIR=str(tmp_path)).split()]
    assert first[1] > 0
    assert second[0] > 0
    assert second[1] == 0


def test_works_where_nothing_can_be_cached() -> None:
    code = (
        "import numba.core.caching as c\n"
        "c.CacheImpl._locator_classes = []\n"
        "from dataworth import KNNShapley\n"
        "print(KNNShapley().fit([[0.0], [1.0]], [0, 1]).value([[0.2]], [1]).values.size)"
    )
    assert run(code) == "2"


def test_plotting_and_frames_stay_unimported() -> None:
    code = (
        "import sys, sklearn.neighbors\n"
        "before = set(sys.modules)  # scikit-learn itself imports pandas where it is installed\n"
        "import dataworth\n"
        "optional = {'matplotlib', 'pandas', 'polars', 'dask', 'torch'}\n"
        "print(sorted(optional & (set(sys.modules) - before)))"
    )
    assert run(code) == "[]"


def test_kernels_release_the_interpreter_lock() -> None:
    code = (
        "import threading, time\n"
        "import numpy as np\n"
        "from dataworth.games.kernels import hard\n"
        "from dataworth.games.kernels.coefficients import shapley_like\n"
        "n = 400_000\n"
        "ids, rest = np.full(n, 8), (7, 20, 1.0, shapley_like(n, 20))\n"
        "hard.binary(ids[:50], 50, *rest, np.empty(50), np.empty(15))\n"
        "args = (ids, n, *rest, np.empty(n), np.empty(15))\n"
        "work = threading.Thread(target=hard.binary, args=args)\n"
        "ticks = 0\n"
        "work.start()\n"
        "while work.is_alive():\n"
        "    time.sleep(0.001)\n"
        "    ticks += 1\n"
        "print(ticks)"
    )
    # A kernel that held the lock would let the loop run once, when it is done.
    assert int(run(code)) > 10
