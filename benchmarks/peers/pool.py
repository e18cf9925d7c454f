"""The side that gives the orders: a worker for a library, with limits of time and memory."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.peers import environments

MEMORY = 8.0
PATIENCE = 10  # times the limit of processor time, in case a worker only waits
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
QUIET = {"TQDM_DISABLE": "1", "PYTHONWARNINGS": "ignore"}


class Worker:
    """A worker process in the environment of a library, ours being this one."""

    def __init__(self, library: str, limit: float) -> None:
        self.limit = limit
        self.why_not: str | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
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
            stderr=self._said,
        )

    def order(self, **order: Any) -> dict[str, Any]:
        """Carry out an order; the answer has the key `failed` where that went wrong.

        It also has `too_much` where time or memory were not enough. A worker that takes too long is
        ended, and fails from then on.
        """
        if self.why_not is not None:
            return {"failed": self.why_not}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        out, line, start, begun = self._process.stdout, b"", self._seconds(), time.monotonic()
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return self._died()
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([out], [], [], 1.0)
            if not ready:
                wall = time.monotonic() - begun
                if self._seconds() - start <= self.limit and wall <= PATIENCE * self.limit:
                    continue
                self.why_not = f"over {self.limit:g} s"
                self._end()
                return {"failed": self.why_not, "too_much": True}
            read = os.read(out.fileno(), 65536)
            if not read:
                return self._died()
            line += read
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _died(self) -> dict[str, Any]:
        """What is left of a worker: the last line it said, and how it ended."""
        self._end()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        code = self._process.returncode
        if code == -signal.SIGKILL:  # so the system ends who takes all memory
            self.why_not = "killed, likely out of memory"
            return {"failed": self.why_not, "too_much": True}
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        self.why_not = f"process ended ({how}): {lines[-1][:120] if lines else 'it said nothing'}"
        return {"failed": self.why_not}

    def _seconds(self) -> float:
        """Processor time of the worker: on a shared machine wall time is up to others."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _end(self) -> None:
        self._process.kill()  # does nothing to one that has ended
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
        self._said.close()
