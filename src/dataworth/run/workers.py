"""Who does the work: threads of our own, or the workers of a joblib backend that the user chose.

Our threads keep the main thread free, which alone receives Ctrl-C: it waits for results in short
steps, so that a run ends at once, however long a compiled kernel still takes. joblib would run a
single job in the main thread itself, and would wait for its threads.
"""

import contextvars
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend
from sklearn import config_context, get_config

Result = TypeVar("Result")
PAUSE = 0.2  # seconds; Windows notices Ctrl-C only between two waits


def count(n_jobs: int | None) -> int:
    """Return how many workers `n_jobs` stands for, here and now.

    Parameters
    ----------
    n_jobs : int or None
        As joblib takes it: negative numbers count from the number of cores, and None is 1 unless a
        `joblib.parallel_config` says otherwise.

    Returns
    -------
    int
        The number of workers.

    Examples
    --------
    >>> from dataworth.run import workers
    >>> workers.count(None), workers.count(3)
    (1, 3)
    """
    backend, inherited = get_active_backend(prefer="threads")
    return int(backend.effective_n_jobs(inherited if n_jobs is None else n_jobs))


def in_order(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Result]:
    """Call a function once per task, in parallel, and yield the results in the order of the tasks.

    Parameters
    ----------
    function : callable
        What to call. It must be known by its name if workers are other processes.
    tasks : iterable of tuple
        The arguments of each call. They are read as workers become free, by the calling thread.
    n_jobs : int or None
        As in `count`.

    Yields
    ------
    object
        What each call returned. An error of a call is raised in its place.

    Examples
    --------
    >>> from dataworth.run import workers
    >>> list(workers.in_order(pow, [(2, 3), (3, 2), (5, 1)], n_jobs=2))
    [8, 9, 5]
    """
    backend, _ = get_active_backend(prefer="threads")
    n = count(n_jobs)
    if type(backend) not in (SequentialBackend, ThreadingBackend):
        yield from _through_joblib(function, tasks, n_jobs, n)
    elif n == 1 and threading.current_thread() is not threading.main_thread():
        for task in tasks:  # Ctrl-C never comes here
            yield function(*task)
    else:
        yield from _in_threads(function, tasks, n)


def _through_joblib(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None, n: int
) -> Iterator[Result]:
    """Yield results as they come, or in rounds if the backend of joblib needs that."""
    work = (delayed(function)(*task) for task in tasks)
    try:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    except ValueError:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        while some := list(islice(work, 4 * n)):
            yield from parallel(some)
        return
    yield from parallel(work)


def _in_threads(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n: int
) -> Iterator[Result]:
    """Yield the results of threads that do not keep the program from ending."""
    waiting: queue.SimpleQueue[tuple[Future[Result], tuple[Any, ...]] | None] = queue.SimpleQueue()
    stopped = threading.Event()
    # Both this and the context, where numpy 2 has its error settings, belong to the thread that
    # called us. Setting those of numpy 1 in a thread would disturb the others.
    config = get_config()

    def work() -> None:
        with config_context(**config):
            while (item := waiting.get()) is not None and not stopped.is_set():
                _fulfil(item[0], function, item[1])
                del item  # it may hold large arrays, and the next one may be long in coming

    coming, futures = iter(tasks), deque[Future[Result]]()

    def hand_out(most: int) -> None:
        for task in islice(coming, most):
            future: Future[Result] = Future()
            futures.append(future)
            waiting.put((future, task))

    try:
        hand_out(2 * n)  # so that no worker waits for the one who reads the results
        for _ in range(min(n, len(futures))):
            context = contextvars.copy_context()
            threading.Thread(
                target=context.run, args=(work,), name="dataworth", daemon=True
            ).start()
        while futures:
            result = _awaited(futures.popleft())
            hand_out(1)
            yield result
    finally:
        stopped.set()
        for _ in range(n):
            waiting.put(None)


def _fulfil(
    future: "Future[Result]", function: Callable[..., Result], task: tuple[Any, ...]
) -> None:
    try:
        future.set_result(function(*task))
    except BaseException as error:  # whoever waits for the result is to see it
        future.set_exception(error)


def _awaited(future: "Future[Result]") -> Result:
    while True:
        try:
            return future.result(PAUSE)
        except TimeoutError:
            if future.done():  # it came just now, or the call itself ran into a timeout
                return future.result()
