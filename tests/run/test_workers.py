"""Results in order, from threads or from the workers of joblib, and runs that end when asked to."""

import multiprocessing
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn import config_context, get_config

from dataworth import KNNShapley
from dataworth.run import workers


def later(number: int) -> tuple[int, int]:
    """The first tasks take longest."""
    time.sleep(0.002 * max(10 - number, 0))
    return number, threading.get_ident()


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_results_come_in_the_order_of_tasks(n_jobs: int | None) -> None:
    found = list(workers.in_order(later, ((i,) for i in range(20)), n_jobs))
    assert [number for number, _ in found] == list(range(20))
    assert threading.get_ident() not in {thread for _, thread in found}
    assert len({thread for _, thread in found}) <= workers.count(n_jobs)


def test_no_tasks_no_results() -> None:
    assert list(workers.in_order(later, [], 2)) == []


def test_tasks_are_read_as_workers_become_free() -> None:
    read = 0

    def tasks() -> Iterator[tuple[int]]:
        nonlocal read
        for read in range(1, 101):
            yield (read,)

    results = workers.in_order(later, tasks(), 2)
    next(results)
    assert read <= 5
    results.close()  # type: ignore[attr-defined]
    for _ in range(100):
        if not [t for t in threading.enumerate() if t.name == "dataworth"]:
            break
        time.sleep(0.05)
    assert not [t for t in threading.enumerate() if t.name == "dataworth"]
    assert read <= 5


class Wrong(Exception):
    """Raised by a task."""


@pytest.mark.parametrize("error", [Wrong, TimeoutError, KeyboardInterrupt])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_error_of_a_task_is_raised_in_its_place(
    error: type[BaseException], n_jobs: int
) -> None:
    def task(number: int) -> int:
        if number == 3:
            raise error("of task 3")
        return number

    results = workers.in_order(task, ((i,) for i in range(9)), n_jobs)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(error, match="of task 3"):
        next(results)


def seen() -> tuple[Any, Any]:
    return get_config()["assume_finite"], np.geterr()["divide"]


def test_settings_of_the_caller_reach_the_workers() -> None:
    with config_context(assume_finite=True), np.errstate(divide="ignore"):
        # numpy 1 keeps its settings by thread, and they stay there.
        divide = "ignore" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "warn"
        assert list(workers.in_order(seen, [()] * 4, 2)) == [(True, divide)] * 4
    assert list(workers.in_order(seen, [()], None)) == [(False, np.geterr()["divide"])]


def test_one_worker_of_another_thread_is_that_thread() -> None:
    """Only the main thread receives Ctrl-C, so that others need not be kept free."""
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.extend(workers.in_order(later, [(0,), (1,)], None))
    )
    thread.start()
    thread.join()
    assert {ident for _, ident in found} == {thread.ident}


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_joblib_says_how_many(n_jobs: int) -> None:
    with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
        assert workers.count(None) == n_jobs
    assert workers.count(None) == 1


def pooled(n_jobs: int) -> Any:
    """What a worker of a process pool does: its warnings are errors, as in all of our tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = np.arange(30.0)[:, None], np.arange(30) % 2
        return KNNShapley(n_jobs=n_jobs, progress=False).fit(X, y).value().values


def test_a_process_pool_warns_of_nothing() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply(pooled, (2,)), pooled(1))


LONG = """
import sys
import time
import numpy as np
from dataworth import KNNShapley
from dataworth.run.job import Job
rng = np.random.default_rng(0)
X, y = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
n_jobs, way, folder = eval(sys.argv[1]), *sys.argv[2:]
options = dict(game="hard", n_bits=8, n_jobs=n_jobs, progress=False)
short = KNNShapley(**options).fit(X, y)
short.value(X[:16] + 0.1, y[:16])  # compiles
long = KNNShapley(n_neighbors=1000, **options).fit(X, y)
print("ready", flush=True)
try:
    if way == "value":
        long.value(X[:16] + 0.1, y[:16], checkpoint=folder)
    else:
        Job.contributions = lambda *args: time.sleep(100)
        short.explain([3])
except KeyboardInterrupt:
    print("caught", flush=True)
    raise
"""


@pytest.mark.parametrize("n_jobs", ["None", "2"])
@pytest.mark.parametrize("way", ["value", "explain"])
def test_ctrl_c_does_not_wait_for_a_kernel(n_jobs: str, way: str, tmp_path: Path) -> None:
    """One call of the kernel takes minutes here, and the program ends without waiting for it."""
    with subprocess.Popen(
        [sys.executable, "-c", LONG, n_jobs, way, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(1.5)
            assert process.poll() is None
            asked = time.monotonic()
            process.send_signal(signal.SIGINT)
            stop = threading.Timer(40, process.kill)
            stop.start()
            caught = process.stdout.readline()
            took = time.monotonic() - asked
            process.wait()  # on a busy machine, an interpreter takes seconds to end
            stop.cancel()
            said = process.stderr.read().decode()
        finally:
            process.kill()
    assert caught == b"caught\n"
    assert took < 5, took
    assert process.returncode in (-signal.SIGINT, 130), said
    assert said.rstrip().endswith("KeyboardInterrupt"), said
