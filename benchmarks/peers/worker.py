"""A process that calls one library: orders come in on stdin and answers go out on stdout, as JSON.

An order names the call, its arguments and a file of data; the answer says the processor seconds and
how far memory rose above what was in use before, or what went wrong. The values go to a file.
"""

import json
import os
import resource
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.libraries import CALLS, Data
from dataworth.inputs.checks import reason


def main() -> None:
    """Answer orders until there are no more."""
    gigabytes = float(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    limit = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    for line in sys.stdin:
        try:
            answer = _answer(json.loads(line))
        except MemoryError:
            answer = {"failed": f"out of memory ({gigabytes:g} GB)", "too_much": True}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {reason(error)}"}
        print(json.dumps(answer), file=answers)


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    if "versions" in order:
        return {"versions": [text for name in order["versions"] if (text := _version(name))]}
    with np.load(order["data"], allow_pickle=False) as file:
        data: Data = {name: file[name] for name in file.files}
    for name in ("X_val", "y_val"):
        data[name] = data[name][: order.get("n_val")]
    prepare = CALLS[order["call"]]
    if order.get("warm"):
        prepare(_few(data), **order["args"])()
        return {}
    call = prepare(data, **order["args"])
    before = _memory("VmRSS", reset=True)
    start = time.process_time()
    values = call()
    seconds = time.process_time() - start
    rise = _memory("VmHWM") - before
    if "out" in order:
        np.save(order["out"], values, allow_pickle=False)
    return {"seconds": seconds, "megabytes": rise}


def _version(name: str) -> str | None:
    """Name and version of a package; None where it is not installed."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return None


def _few(data: Data) -> Data:
    """Forty points of each side, so that what is compiled or imported is so before the clock."""
    return {name: array[:40] for name, array in data.items()}


def _memory(field: str, *, reset: bool = False) -> float:
    """Resident memory now (VmRSS) or its peak since the last reset (VmHWM), in MB."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
