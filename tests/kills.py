"""Kills processes at random moments, and counts the bits that change. None may.

`python -m tests.kills` runs everything: 100 kills of runs with a checkpoint, half of them over
validation points and half over folds, 20 processes that share one checkpoint, and killed workers of
a Dask cluster. It prints what it did, and ends with code 1 if anything differs. The suite runs a
few of each.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RUN = """
import sys
import numpy as np
from dataworth import KNNShapley
from dataworth.run.checkpoints import Checkpoint
way, folder = sys.argv[1:]
rng = np.random.default_rng(0)
n = {"points": 8_000, "folds": 3_000, "shared": 400}[way]
X, y = rng.normal(size=(n, 8)), rng.integers(0, 3, n)
valuator = KNNShapley(n_neighbors=10, weights="linear", n_jobs=2, working_memory=1, progress=False)
valuator.fit(X, y)
judges = {"points": (X[:2_000] + 0.1, y[:2_000])}.get(way, ())
cv = 5 if way == "folds" else None
if way != "shared":
    Checkpoint.due = lambda self: True  # writes after every block, so that kills hit writes too
valuator.value(X[:1], y[:1])  # loads kernels, so that kills hit the work
print("ready", flush=True)
values = valuator.value(*judges, cv=cv, checkpoint=folder or None)
sys.stdout.buffer.write(values.values.tobytes())
"""


def started(way: str, folder: Path | str) -> subprocess.Popen[bytes]:
    """Start a run, and return once it has its data and is about to begin."""
    command = [sys.executable, "-c", RUN, way, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def blocks(folder: Path) -> int:
    """Return how many blocks of validation points the states in a folder hold."""
    done = 0
    for path in folder.glob("state-*.npz"):
        with np.load(path) as file:
            done = max(done, json.loads(str(file["facts"]))["blocks"])
    return done


def result(process: subprocess.Popen[bytes]) -> bytes:
    """Wait for a run, and return the bytes of its values."""
    assert process.stdout is not None
    with process.stdout as out:
        values = out.read()  # communicate would lose what readline has read ahead
    if process.wait() or not values:
        raise RuntimeError(f"a run ended with code {process.returncode} and {len(values)} bytes")
    return values


def ended(process: subprocess.Popen[bytes]) -> bool:
    """Kill a run, and return whether it was done before."""
    process.kill()
    assert process.stdout is not None
    process.stdout.close()
    return process.wait() == 0


@dataclass
class Kills:
    """What became of the runs that were killed.

    Attributes
    ----------
    kills : int
        How many runs were killed before they were done.
    in_writes : int
        How many of these were writing a state, and left a part of it.
    advanced : int
        How many of these had got further than the run before them.
    runs : int
        How many runs came to their end, after any number of kills.
    wrong : int
        How many of those gave other bits than a run that nobody killed.
    """

    kills: int = 0
    in_writes: int = 0
    advanced: int = 0
    runs: int = 0
    wrong: int = 0


def killed(way: str, kills: int, seed: int) -> Kills:
    """Kill runs at random moments, start them again, and compare what they come to in the end.

    A run that ends before its kill is compared, and the next one begins in a new folder.
    """
    rng, seen = np.random.default_rng(seed), Kills()
    process = started(way, "")
    begun = time.monotonic()
    ref = result(process)
    whole = time.monotonic() - begun
    with tempfile.TemporaryDirectory() as place:
        while seen.kills < kills:
            folder = Path(place, str(seen.runs))
            done = 0
            while seen.kills < kills:
                process = started(way, folder)
                time.sleep(rng.random() * whole)
                if ended(process):
                    break
                seen.kills += 1
                seen.in_writes += any(folder.glob(".*.part"))
                seen.advanced += blocks(folder) > done
                done = blocks(folder)
            seen.wrong += result(started(way, folder)) != ref
            seen.runs += 1
    return seen


def shared(processes: int) -> tuple[int, int]:
    """Let processes share one checkpoint; return how many died, and how many gave other bits."""
    with tempfile.TemporaryDirectory() as place:
        ref = result(started("shared", ""))
        command = [sys.executable, "-c", RUN, "shared", place]
        running = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(processes)
        ]
        outs = [process.communicate(timeout=600)[0] for process in running]
    dead = sum(process.returncode != 0 for process in running)
    wrong = sum(out != b"ready\n" + ref for out in outs)
    return dead, wrong


def main() -> int:
    """Run everything, print figures, and return the code to end with."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--processes", type=int, default=20)
    parser.add_argument("--workers", type=int, default=3, help="workers of Dask, in each way")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    bad = 0
    for way, kills in (("points", args.kills - args.kills // 2), ("folds", args.kills // 2)):
        seen = killed(way, kills, args.seed)
        bad += seen.wrong
        print(
            f"{way}: {seen.kills} kills ({seen.advanced} after it had got further, "
            f"{seen.in_writes} hit one as it was written), "
            f"{seen.runs} runs came to their end, {seen.wrong} with other bits",
            flush=True,
        )
    dead, wrong = shared(args.processes)
    bad += dead + wrong
    print(f"shared: {args.processes} processes, {dead} died, {wrong} with other bits", flush=True)
    from tests.neighbors.test_dask import worker_killed

    for way in ("shards", "joblib"):
        wrong = sum(not worker_killed(way) for _ in range(args.workers))
        bad += wrong
        print(f"Dask, {way}: {args.workers} workers killed, {wrong} runs with other bits")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
