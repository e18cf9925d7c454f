"""`python -m paper` as it is called: its arguments, quick runs, kills."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

from paper import detection, methods
from paper.__main__ import main
from paper.datasets import SOURCES
from paper.experiments import EXPERIMENTS, reproduce
from paper.run import Run
from tests.paper.test_experiments import blobs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stand-ins for the data sets that quick runs need."""
    path = tmp_path_factory.mktemp("data")
    for seed, (name, n_classes) in enumerate(
        (("phoneme", 2), ("fraud", 2), ("agnews", 4), ("cpu", 2), ("cifar10", 3), ("wnli", 2))
    ):
        X, y = blobs(400, 6, n_classes, seed)
        arrays: dict[str, Any] = {"X": X, "y": y}
        if name == "wnli":
            arrays["is_train"] = np.arange(400) >= 71
        np.savez(path / f"{SOURCES[name].file}.npz", **arrays)
        if name == "cifar10":
            pixels = np.random.default_rng(9).integers(0, 256, (400, 3072), np.uint8)
            np.savez(path / "cifar10_pixels.npz", X=pixels, y=y)
    return path


class Done(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


def call(*arguments: str) -> Done:
    out, err = io.StringIO(), io.StringIO()
    settings = mock.patch.dict(os.environ, {"COLUMNS": "200", "DATAWORTH_DATA": ""})
    with settings, redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return Done(code, out.getvalue(), err.getvalue())


class TestCommand:
    def test_list(self) -> None:
        said = call("--list").stdout.splitlines()
        assert [line.split()[0] for line in said] == list(EXPERIMENTS)
        assert all(" min " in line for line in said)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["nothing"], "must be one of all, mislabel"),
            ([], "is missing; --list shows"),
            (["mislabel", "--out", __file__], "must be a folder"),
            (["selection", "--model", "vgg"], "must be cnn or resnet18; got 'vgg'"),
            (["mislabel", "--model", "resnet18"], "is for 'selection' only"),
            (["runtime", "--paper-setting"], "is not for 'runtime'"),
            (["distribution", "--seeds", "7"], "is not for 'distribution'"),
            (["mislabel", "--seeds", "0"], "--seeds"),
        ],
    )
    def test_bad_arguments(self, arguments: list[str], message: str) -> None:
        done = call(*arguments)
        assert done.exit_code == 2
        assert message in done.output
        assert done.stderr.startswith("python -m paper: error: ")
        assert done.output.count("\n") == 1

    def test_interruption(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(run: Run) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("paper.command.reproduce", interrupted)
        done = call("mislabel")
        assert done.exit_code == 130
        assert done.output == (
            "python -m paper: error: interrupted; the same command goes on from here.\n"
        )

    def test_errors_in_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "phoneme.npz").write_bytes(b"damaged")
        done = call("mislabel", "--quick", "--data-dir", str(tmp_path))
        assert done.exit_code == 1
        assert "data_dir must hold numpy archives; " in done.stderr
        assert done.output.count("\n") == 1

    def test_without_typer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "typer", None)
        done = call("--list")
        assert done.exit_code == 1
        assert done.stderr == (
            "python -m paper: error: the command line needs typer: "
            "pip install '.[paper]' in the folder of dataworth's sources\n"
        )

    def test_as_a_program(self) -> None:
        root = Path(__file__).parents[2]
        for arguments, code, said in ((["--help"], 0, "Usage: python -m paper "), (["x"], 2, "")):
            done = subprocess.run(
                [sys.executable, "-m", "paper", *arguments], cwd=root, capture_output=True
            )
            assert done.returncode == code
            assert said in done.stdout.decode()

    def test_all_says_what_an_option_leaves_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        started: list[str] = []
        monkeypatch.setattr("paper.command.reproduce", lambda run: started.append(run.name))
        said = call("all", "--paper-setting").output
        assert started == ["mislabel", "noisy", "continuous"]
        assert "Left out, as --paper-setting is not for them: runtime, runtime-k" in said
        started.clear()
        said = call("all", "--seeds", "3").output
        assert "Left out, as --seeds is not for them: runtime, runtime-k, runtime-bits, " in said
        assert started == [n for n in EXPERIMENTS if EXPERIMENTS[n].seeds]

    def test_selection_names_what_is_missing(self, tmp_path: Path) -> None:
        pytest.importorskip("torch", reason="torch is not installed")
        np.savez(tmp_path / "cifar10_effnetlite0.npz", X=np.eye(4), y=[0, 0, 1, 1])
        done = call("selection", "--data-dir", str(tmp_path), "--out", str(tmp_path / "out"))
        assert done.exit_code == 1
        assert "data_dir must hold 'wnli_minilm.npz' for 'wnli'" in done.output
        for name in ("cifar10_pixels", "wnli_minilm"):
            np.savez(tmp_path / f"{name}.npz", X=np.eye(4), y=[0, 0, 1, 1])
        done = call("selection", "--data-dir", str(tmp_path), "--out", str(tmp_path / "out"))
        assert "wnli: its archive must hold the official split, is_train" in done.output

    def test_no_data(self, tmp_path: Path) -> None:
        done = call("mislabel", "--data-dir", str(tmp_path), "--out", str(tmp_path / "out"))
        assert done.exit_code == 1
        assert "none of the data sets could be loaded; --data-dir" in done.output
        assert not (tmp_path / "out").exists()

    def test_optional_libraries_stay_unimported(self) -> None:
        code = (
            "import sys, sklearn.neighbors, sklearn.datasets, typer\n"
            "before = set(sys.modules)  # scikit-learn itself imports pandas where there is one\n"
            "import paper.__main__, paper.command\n"
            "print(sorted({'matplotlib', 'pandas', 'torch'} & (set(sys.modules) - before)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stdout.decode().strip() == "[]"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick(name: str, folder: Path, tmp_path: Path) -> None:
    if name == "selection":
        pytest.importorskip("torch", reason="torch is not installed")
    done = call(name, "--quick", "--data-dir", str(folder), "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    text = (tmp_path / f"{name}-quick.md").read_text()
    assert f"python -m paper {name} --quick" in text
    assert "nan" not in text.lower().replace("finance", "")
    assert str(folder) not in text
    assert (tmp_path / f"{name}-quick.png").read_bytes().startswith(b"\x89PNG")
    kept = {p.name for p in tmp_path.iterdir()}
    assert kept == {".work", f"{name}-quick.md", f"{name}-quick.png"}


def test_one_seed_has_no_intervals(folder: Path, tmp_path: Path) -> None:
    reproduce(Run("mislabel", tmp_path, folder, quick=True, seeds=1))
    text = (tmp_path / "mislabel-seeds-1-quick.md").read_text()  # never over the usual page
    assert "A quick run: too small" in text
    assert "nan" not in text
    assert "±" not in text


@pytest.mark.parametrize("name", ["mislabel", "noisy", "continuous"])
def test_paper_setting(name: str, folder: Path, tmp_path: Path) -> None:
    arguments = ["--paper-setting", "--quick", "--seeds", "3", "--data-dir", str(folder)]
    done = call(name, *arguments, "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    text = (tmp_path / f"{name}-paper-setting-seeds-3-quick.md").read_text()
    assert "| 50 / 50 |" in text
    assert ("## As the authors' code does it" in text) == (name != "continuous")


def test_killed_run_goes_on_to_the_same_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, cut = (Run("mislabel", tmp_path / n, folder, quick=True) for n in ("whole", "cut"))
    reproduce(whole)
    calls = 0

    def dies(*arguments: Any, **options: Any) -> float:
        nonlocal calls
        calls += 1
        if calls > 25:
            raise KeyboardInterrupt
        return methods.found(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(detection, "found", dies)
        with pytest.raises(KeyboardInterrupt):
            reproduce(cut)
    assert not (cut.out / "mislabel-quick.md").exists()
    lines = (cut.out / ".work" / "mislabel-quick.jsonl").read_text().splitlines()
    assert len(lines) == 2  # of six units, ten calls each
    reproduce(Run("mislabel", tmp_path / "cut", folder, quick=True))
    for ending in ("md", "png"):
        file = f"mislabel-quick.{ending}"
        assert (cut.out / file).read_bytes() == (whole.out / file).read_bytes()


def test_resumed_run_computes_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reproduce(Run("noisy", tmp_path, folder, quick=True))
    before = (tmp_path / "noisy-quick.md").read_bytes()
    monkeypatch.setattr(detection, "found", lambda *a, **k: pytest.fail("computed again"))
    reproduce(Run("noisy", tmp_path, folder, quick=True))
    assert (tmp_path / "noisy-quick.md").read_bytes() == before


def test_missing_data_are_named(folder: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    few.mkdir()
    (few / "phoneme.npz").write_bytes((folder / "phoneme.npz").read_bytes())
    reproduce(Run("mislabel", tmp_path / "out", few, quick=True))
    text = (tmp_path / "out" / "mislabel-quick.md").read_text()
    assert "Not available here, so without figures of ours: Fraud, AGNews." in text
    assert "| Fraud | – | – (0.556) |" in text
