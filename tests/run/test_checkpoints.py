"""Runs that are killed, cut short or tampered with."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth import KNNShapley
from dataworth.errors import InputError
from dataworth.run import adding_up, checkpoints
from tests import kills

RUN = """
import sys
import numpy as np
from dataworth import KNNShapley
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20_000, 8)), rng.integers(0, 3, 20_000)
X_val, y_val = rng.normal(size=(1600, 8)), rng.integers(0, 3, 1600)
valuator = KNNShapley(n_neighbors=10, weights="linear", n_jobs=2).fit(X, y)
valuator.value(X_val[:1], y_val[:1])  # loads kernels, so that kills hit the work
print("ready", flush=True)
values = valuator.value(X_val, y_val, checkpoint=sys.argv[1] if len(sys.argv) > 1 else None)
sys.stdout.buffer.write(values.values.tobytes())
"""


def start(*args: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", RUN, *args], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def finish(process: subprocess.Popen[bytes]) -> Any:
    assert process.stdout is not None
    values = np.frombuffer(process.stdout.read())
    process.stdout.close()
    assert process.wait() == 0
    assert values.size == 20_000
    return values


def test_kills_change_nothing(tmp_path: Path) -> None:
    """Eight of them; `make kills` deals out a hundred."""
    rng = np.random.default_rng(5)
    process = start()
    begun = time.monotonic()
    ref = finish(process)
    whole = time.monotonic() - begun
    folder = tmp_path / "run"
    for _ in range(8):
        process = start(str(folder))
        time.sleep(0.1 + rng.random() * whole / 8)  # the first state takes nearly as long
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
    # The kills hit a run that had begun and was not done.
    assert any(folder.glob("state-*.npz"))
    blocks = [json.loads(str(np.load(p)["facts"]))["blocks"] for p in folder.glob("state-*.npz")]
    assert 0 < max(blocks) < 200
    np.testing.assert_array_equal(finish(start(str(folder))), ref)


def test_kills_between_folds_change_nothing() -> None:
    """Few of them; `python -m tests.kills` deals out a hundred."""
    seen = kills.killed("folds", 3, seed=0)
    assert seen.kills == 3
    assert seen.advanced
    assert not seen.wrong


def test_interruption_leaves_a_usable_state(tmp_path: Path) -> None:
    process = start(str(tmp_path))
    while not any(tmp_path.glob("state-*.npz")):  # it has begun
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    assert process.wait(timeout=10) != 0
    assert time.monotonic() - asked < 5
    assert process.stdout is not None
    process.stdout.close()
    assert any(tmp_path.glob("state-*.npz"))
    np.testing.assert_array_equal(finish(start(str(tmp_path))), finish(start()))


class Stop(Exception):
    """Raised in the middle of a run."""


def small(**params: Any) -> tuple[KNNShapley, Any, Any]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    return KNNShapley(**params).fit(X, y), rng.normal(size=(50, 3)), rng.integers(0, 2, 50)


def stopped(monkeypatch: pytest.MonkeyPatch, folder: Path, after: int, how: Any) -> None:
    """Start a run that keeps every block and stops after some."""
    valuator, X_val, y_val = small()
    count = 0
    plain = checkpoints.Checkpoint.save

    def save(self: Any, *args: Any) -> None:
        nonlocal count
        plain(self, *args)
        count += 1
        if count == after:
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoint, "due", lambda self: True)
        patch.setattr(checkpoints.Checkpoint, "save", save)
        with pytest.raises(Stop):
            valuator.value(*(() if how else (X_val, y_val)), checkpoint=folder, **how)


@pytest.mark.parametrize("how", [{}, {"cv": 3}])
@pytest.mark.parametrize("after", [1, 2, 5])
def test_a_run_goes_on_where_it_was(
    how: dict[str, Any], after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, tmp_path, after, how)
    valuator, X_val, y_val = small(n_jobs=2, working_memory=1)
    args = () if how else (X_val, y_val)
    ref = valuator.value(*args, **how).values
    np.testing.assert_array_equal(valuator.value(*args, checkpoint=tmp_path, **how).values, ref)
    # And once more, from the finished state.
    np.testing.assert_array_equal(valuator.value(*args, checkpoint=tmp_path, **how).values, ref)


@pytest.mark.parametrize("how", ["before", "after"])
def test_an_interruption_in_the_middle_of_a_sum_is_not_saved(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal may come when a block has been added, and not been counted yet."""
    valuator, X_val, y_val = small()
    ref = valuator.value(X_val, y_val).values
    plain, count = adding_up.Tally.add, 0

    def add(self: adding_up.Tally, block: Any) -> None:
        nonlocal count
        count += 1
        if count == 3 and how == "before":
            self.sums[:, :40] += 1.0  # half of the block
            raise KeyboardInterrupt
        plain(self, block)
        if count == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(adding_up.Tally, "add", add)
        with pytest.raises(KeyboardInterrupt):
            valuator.value(X_val, y_val, checkpoint=tmp_path)
    got = valuator.value(X_val, y_val, checkpoint=tmp_path).values
    np.testing.assert_array_equal(got, ref)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "both", "missing"])
def test_damaged_states_are_computed_again(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, tmp_path, 4, {})
    paths = sorted(tmp_path.glob("state-*.npz"), key=lambda p: p.stat().st_mtime_ns)
    for path in paths if damage == "both" else paths[-1:]:
        content = bytearray(path.read_bytes())
        if damage == "flip":
            content[len(content) // 2] ^= 1
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes(
                b"" if damage == "empty" else content[: -1 if damage != "flip" else None]
            )
    valuator, X_val, y_val = small()
    ref = valuator.value(X_val, y_val).values
    got = valuator.value(X_val, y_val, checkpoint=tmp_path).values
    np.testing.assert_array_equal(got, ref)


def test_another_run_is_refused(tmp_path: Path) -> None:
    valuator, X_val, y_val = small()
    valuator.value(X_val, y_val, checkpoint=tmp_path)
    message = "checkpoint must be of the same data and parameters"
    with pytest.raises(ValueError, match=message):
        valuator.value(X_val + 1e-9, y_val, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=message):
        valuator.value(checkpoint=tmp_path)
    with pytest.raises(ValueError, match=message):
        valuator.set_params(n_neighbors=4).value(X_val, y_val, checkpoint=tmp_path)
    same = small(weights=lambda d: d * 0 + 1.0)[0]
    same.value(X_val, y_val, checkpoint=tmp_path / "other")
    with pytest.raises(ValueError, match=message):
        small(weights=lambda d: d * 0 + 0.5)[0].value(X_val, y_val, checkpoint=tmp_path / "other")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="checkpoint must name a folder; .* is a file"):
        valuator.value(X_val, y_val, checkpoint=tmp_path / "file")
    assert {p.name for p in (tmp_path / "other").iterdir()} <= {"state-0.npz", "state-1.npz"}


def test_files_of_others_stay(tmp_path: Path) -> None:
    valuator, X_val, y_val = small()
    theirs, ours = tmp_path / ".report.html.0f.part", tmp_path / ".state-0.npz.0f.part"
    theirs.write_text("theirs")
    ours.write_text("of a killed run")
    valuator.value(X_val, y_val, checkpoint=tmp_path)
    assert theirs.read_text() == "theirs"
    assert not ours.exists()


def test_an_empty_name_is_no_folder() -> None:
    valuator, X_val, y_val = small()
    with pytest.raises(InputError, match="checkpoint must name a folder; got an empty name"):
        valuator.value(X_val, y_val, checkpoint="")


SHARED = """
import sys
import numpy as np
from dataworth import KNNShapley
rng = np.random.default_rng(0)
X, y = rng.normal(size=(400, 3)), np.arange(400) % 2
values = KNNShapley(progress=False).fit(X, y).value(checkpoint=sys.argv[1])
print(values.values.tobytes().hex())
"""


def test_many_processes_share_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHARED, str(tmp_path)]
    alone = subprocess.run(
        [*command[:-1], str(tmp_path / "alone")], capture_output=True, text=True, check=True
    ).stdout
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    for process in running:
        out, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        assert out == alone
