"""The side that gives the orders: a worker for a library, with limits of time and memory."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.peers import environments

MEMORY = 8.0
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
QUIET = {"TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore"}


class Worker:
    """A worker process in the environment of a library, ours being this one."""

    def __init__(self, library: str, limit: float) -> None:
        self.limit = limit
        self.why_not: str | None = None
        python = Path(sys.executable)
        if library != "dataworth":
            try:
                python = environments.python(library)
            except environments.Unavailable as error:
                self.why_not = f"no environment: {error}"
                return
        self._process = subprocess.Popen(
            [str(python), "-m", "benchmarks.peers.worker", str(MEMORY)],
            cwd=environments.ROOT,
            env={**os.environ, **dict.fromkeys(THREADS, "1"), **QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def order(self, **order: Any) -> dict[str, Any]:
        """Carry out an order; the answer has the key `failed` where that went wrong.

        A worker that takes too long is ended, and fails from then on.
        """
        if self.why_not is not None:
            return {"failed": self.why_not}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        out, line, start = self._process.stdout, b"", self._seconds()
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([out], [], [], 1.0)
            if not ready:
                if self._seconds() - start <= self.limit:
                    continue
                self.why_not = f"over {self.limit:g} s"
                self._end()
                return {"failed": self.why_not}
            read = os.read(out.fileno(), 65536)
            if not read:  # the system ends a process that takes all memory
                self.why_not = "process died, likely out of memory"
                self._end()
                return {"failed": self.why_not}
            line += read
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _seconds(self) -> float:
        """Processor time of the worker: on a shared machine wall time is up to others."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.why_not is None:
            self._end()
