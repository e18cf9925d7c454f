"""Disks that are full or cannot be written, at each step of each file that is written."""

import errno
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataworth import DataValues, KNNShapley, report
from dataworth.files import values as value_files
from dataworth.files.atomic import atomic
from dataworth.result import read_values, write_values
from dataworth.run.checkpoints import Checkpoint
from tests.commands import PROGRAM, decided, folder, run

__all__ = ["folder", "run"]

FAULTS = (errno.ENOSPC, errno.EROFS)


class Disk:
    """A disk whose n-th operation fails; `done` counts the operations."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, fails_at: int) -> None:
        self.number, self.fails_at, self.done = number, fails_at, 0
        disk = self

        class Raw(io.FileIO):
            def write(self, data: Any) -> Any:
                disk.step()
                return super().write(data)

        def spoiled(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **options: Any) -> Any:
                disk.step(*args)
                return function(*args, **options)

            return call

        real = os.open

        def opened(path: Any, flags: int, *args: Any, **options: Any) -> int:
            if str(path).endswith(".part"):
                disk.step(path)
            return real(path, flags, *args, **options)

        monkeypatch.setattr(os, "open", opened)
        monkeypatch.setattr(os, "fdopen", lambda fd, mode: io.BufferedWriter(Raw(fd, mode)))
        for name in ("fsync", "replace", "chmod"):
            monkeypatch.setattr(os, name, spoiled(getattr(os, name)))

    def step(self, *args: Any) -> None:
        self.done += 1
        if self.done == self.fails_at:
            named = [os.fspath(a) for a in args[:1] if isinstance(a, str | os.PathLike)]
            raise OSError(self.number, os.strerror(self.number), *named)


def each_fault(number: int, write: Callable[[], Any]) -> Iterator[tuple[int, OSError | None]]:
    """Write again and again, with a fault one step later each time, until there is none."""
    for n in range(1, 1000):
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(patch, number, n)
            try:
                write()
            except OSError as error:
                assert disk.done >= n
                yield n, error
                continue
        assert disk.done < n
        yield n, None
        return
    raise AssertionError("the faults never end")


def valued(seed: int = 0) -> DataValues:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(3000, 2)), rng.choice(["yes", "no"], 3000)
    return KNNShapley(weights="uniform").fit(X, y).value(X[:5], y[:5])


OLD, NEW = valued(0), valued(1)
WRITERS: dict[str, Callable[[Path, DataValues], None]] = {
    **dict.fromkeys(value_files.ENDINGS, write_values),
    "": lambda path, values: values.save(path),
    ".html": lambda path, values: report.write(path, values, rows=5),
}


@pytest.mark.parametrize("number", FAULTS)
@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_is_old_or_new_whatever_fails(ending: str, number: int, tmp_path: Path) -> None:
    path, write = tmp_path / f"file{ending}", WRITERS[ending]
    write(path, NEW)
    new = path.read_bytes()
    write(path, OLD)
    old = path.read_bytes()
    seen = []
    for _, error in each_fault(number, lambda: write(path, NEW)):
        content = path.read_bytes()
        seen.append(content == new)
        assert content in (old, new)
        assert list(tmp_path.iterdir()) == [path]
        if error is None:
            assert content == new
            break
        assert error.errno == number
        assert str(error) == f"[Errno {number}] {os.strerror(number)}: {str(path)!r}"
        path.write_bytes(old)
    assert len(seen) >= 6  # open, write, fsync, chmod, replace, and fsync of the folder
    assert not any(seen[:-2])


@pytest.mark.parametrize("number", FAULTS)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
def test_no_file_is_left_of_one_that_failed(ending: str, number: int, tmp_path: Path) -> None:
    path = tmp_path / f"file{ending}"
    for _, error in each_fault(number, lambda: write_values(path, NEW)):
        assert list(tmp_path.iterdir()) in ([], [path])
        if error is not None:
            path.unlink(missing_ok=True)
    np.testing.assert_array_equal(read_values(path)[0].values, NEW.values)


@pytest.mark.parametrize("number", FAULTS)
def test_a_checkpoint_outlasts_any_fault(number: int, tmp_path: Path) -> None:
    """The run ends with the error. What it had saved is whole, and the next one goes on from it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    valuator = KNNShapley(progress=False).fit(X, y)
    ref = valuator.value().values

    def value() -> Any:
        return valuator.value(checkpoint=tmp_path / "run").values

    ended = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "due", lambda self: True)
        for n, error in each_fault(number, value):
            states = {p.name for p in (tmp_path / "run").iterdir()}
            assert states <= {"state-0.npz", "state-1.npz"}
            ended.append(n)
            if error is not None:
                assert "state-" in str(error)
                assert ".part" not in str(error)
    assert len(ended) > 6
    np.testing.assert_array_equal(value(), ref)


COMMANDS = {
    "value": "value train.csv --label y --drop name -o {out}.csv",
    "value to parquet": "value train.csv --label y --drop name -o {out}.parquet",
    "value with a report": "value train.csv --label y --drop name --report {out}.html",
    "value with a checkpoint": "value train.csv --label y --drop name --checkpoint {out}",
    "report": "report v.csv train.csv --label y -o {out}.html",
    "apply": "apply d.csv train.csv -o {out}.csv",
    "apply to tsv": "apply d.csv train.csv -o {out}.tsv",
}


@pytest.mark.parametrize("number", FAULTS)
@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
def test_every_command_says_which_file(run: Any, folder: Path, line: str, number: int) -> None:
    assert run("value train.csv --label y --drop name -o v.csv").code == 0
    decided("train.csv", "0,remove,")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    for n in range(1, 100):
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(patch, number, n)
            ran = run(line.format(out=f"out{n}"))
        for name, content in before.items():
            assert (folder / name).read_bytes() == content
        assert not list(folder.rglob("*.part"))
        if disk.done < n:
            break
        assert ran.code == 1, ran.err
        start = f"dataworth: error: {os.strerror(number)}: 'out{n}"
        assert ran.err.startswith(start), ran.err
        assert ran.err.count("\n") == 1
    assert ran.code == 0
    assert n > 5


LIMITED = """
import resource, sys
from dataworth import DataValues
from dataworth.result import write_values
values = DataValues.load(sys.argv[1])
for path in sys.argv[2:]:
    for size in (0, 5000, 20000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            write_values(path, values)
        except OSError as error:
            print(error)
"""


def test_a_disk_that_really_refuses(tmp_path: Path) -> None:
    """The kernel itself lets no file of this process grow beyond a limit."""
    NEW.save(tmp_path / "new.npz")
    paths = [tmp_path / f"file{ending}" for ending in value_files.ENDINGS]
    for path in paths:
        write_values(path, OLD)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "new.npz"), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    number = errno.EFBIG
    said = [f"[Errno {number}] {os.strerror(number)}: {str(path)!r}" for path in paths]
    assert done.stdout.splitlines() == [line for line in said for _ in range(3)]
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("line", ["-o -", ""])
def test_standard_output_that_is_full(folder: Path, line: str) -> None:
    command = [*PROGRAM, *f"value train.csv --label y --drop name {line}".split()]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if "rror" in line or "ception" in line]
    assert errors == ["dataworth: error: No space left on device: 'standard output'"]


def test_devices_are_not_replaced(tmp_path: Path) -> None:
    """A new file would take the place of the device, for everybody."""
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(OSError, match="path must name a file; .*pipe.npz' is a device or a pipe"):
        NEW.save(tmp_path / "pipe.npz")
    assert (tmp_path / "pipe.npz").is_fifo()


def test_two_writers_of_one_file(tmp_path: Path) -> None:
    """Whoever reads meanwhile sees the whole file of one or of the other."""
    path = tmp_path / "values.npz"
    NEW.save(path)
    known = {OLD.values.tobytes(), NEW.values.tobytes()}
    stop = threading.Event()
    failed: list[BaseException] = []

    def write(values: DataValues) -> None:
        try:
            while not stop.is_set():
                values.save(path)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(v,)) for v in (OLD, NEW, OLD, NEW)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(100):
            assert DataValues.load(path).values.tobytes() in known
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed
    assert list(tmp_path.iterdir()) == [path]


WRITER = """
import sys
from dataworth import DataValues
values = DataValues.load(sys.argv[1])
for _ in range(40):
    values.save(sys.argv[2])
"""


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    OLD.save(tmp_path / "old.npz")
    NEW.save(tmp_path / "new.npz")
    path = tmp_path / "values.npz"
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / f"{name}.npz", path])
        for name in ("old", "new")
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert DataValues.load(path).values.tobytes() in {OLD.values.tobytes(), NEW.values.tobytes()}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.npz", "old.npz", "values.npz"]


def test_a_failure_to_clean_up_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*args: Any, **options: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "unlink", stuck)
    with pytest.raises(ZeroDivisionError), atomic(tmp_path / "a.txt") as file:
        file.write(b"%d" % (1 // 0))


def test_errors_about_other_files_pass_unchanged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="other.txt"), atomic(tmp_path / "a.txt"):
        (tmp_path / "other.txt").read_text()
    assert not list(tmp_path.iterdir())
