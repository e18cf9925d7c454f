"""One thread for BLAS, where the bits of a result must not depend on how many there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

_TURN = Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS use one thread. The limit is that of the process, so threads take turns."""
    with _TURN, threadpool_limits(1, user_api="blas"):
        yield
