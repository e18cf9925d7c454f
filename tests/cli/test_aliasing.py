"""No output overwrites an input, or another output: every command, however the file is called."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.commands import decided

VALUE = "value train.csv --label y --drop name"
# The command, with {} for the output; the option that names it; the input, and what it is called.
CASES = [
    (f"{VALUE} -o {{}}", "--output", "train.csv", "TRAIN"),
    (f"{VALUE} --report {{}}", "--report", "train.csv", "TRAIN"),
    (f"{VALUE} --validation val.csv -o {{}}", "--output", "val.csv", "--validation"),
    (f"{VALUE} --validation val.csv --report {{}}", "--report", "val.csv", "--validation"),
    ("value x.npy --label y.npy -o {}", "--output", "y.npy", "--label"),
    ("value x.npy --label y.npy --report {}", "--report", "y.npy", "--label"),
    ("value x.npy --label y.npy -o {}", "--output", "x.npy", "TRAIN"),
    (f"{VALUE} -o v.csv --report {{}}", "--report", "v.csv", "--output"),
    (f"{VALUE} --checkpoint run -o {{}}", "--output", "run/state-0.npz", "--checkpoint"),
    (f"{VALUE} --checkpoint run --report {{}}", "--report", "run/state-1.npz", "--checkpoint"),
    ("report v.csv train.csv --label y -o {}", "--output", "v.csv", "VALUES"),
    ("report v.csv train.csv --label y -o {}", "--output", "train.csv", "TRAIN"),
    (
        "report v.csv train.csv --label y --validation val.csv -o {}",
        "--output",
        "val.csv",
        "--validation",
    ),
    ("apply d.csv train.csv -o {}", "--output", "d.csv", "DECISIONS"),
    ("apply d.csv train.csv -o {}", "--output", "train.csv", "TRAIN"),
]


def linked(make: Callable[[Path, Path], None]) -> Callable[[Path, str], str]:
    def name(path: Path, ending: str) -> str:
        make(Path(f"link{ending}"), path)
        return f"link{ending}"

    return name


def twice(link: Path, path: Path) -> None:
    Path("first").symlink_to(path.resolve())
    link.symlink_to("first")


# What a file may be called; a link may have the ending that the output needs.
WAYS: dict[str, Callable[[Path, str], str]] = {
    "its name": lambda path, _: str(path),
    "with dots": lambda path, _: f"./../{Path.cwd().name}/{path}",
    "from the root": lambda path, _: str(path.resolve()),
    "a link": linked(lambda link, path: link.symlink_to(path)),
    "a link to a link": linked(twice),
    "a hard link": linked(lambda link, path: link.hardlink_to(path)),
}
ENDINGS = {"--report": ".html", "report": ".html", "value": ".csv", "apply": ".csv"}


@pytest.fixture
def files(run: Any, folder: Path) -> Any:
    rng = np.random.default_rng(0)
    np.save("x.npy", rng.normal(size=(20, 2)))
    np.save("y.npy", np.arange(20) % 2)
    assert run(f"{VALUE} -o v.csv --checkpoint run").code == 0
    decided("train.csv", "0,remove,")

    def contents() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    return contents


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("line", "option", "given", "called"), CASES)
def test_no_output_overwrites_an_input(
    run: Any, files: Any, line: str, option: str, given: str, called: str, way: str
) -> None:
    if called == "--checkpoint" and not Path(given).exists():
        Path(given).write_bytes(b"a state")
    ending = ENDINGS[option if option == "--report" else line.split()[0]]
    name = WAYS[way](Path(given), ending)
    before = files()
    ran = run(line.format(name))
    assert ran.code == 2, (ran.out, ran.err)
    assert ran.err.count("\n") == 1
    wrong_ending = Path(name).suffix != ending and "must end in one of" in ran.err
    assert wrong_ending or f"{option} must be another file than {called}" in ran.err, ran.err
    assert files() == before


def test_a_training_table_is_no_state_of_a_checkpoint(run: Any) -> None:
    """A run that saves its state there would write over its own data."""
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    for name in ("state-0.npz", "state-1.npz"):
        np.savez(name, X=X, y=y)
        before = Path(name).read_bytes()
        message = "--checkpoint must be another file than TRAIN"
        run.refused(f"value {name} --checkpoint .", 2, message)
        assert Path(name).read_bytes() == before


def test_a_link_to_another_kind_of_file_is_no_output(run: Any) -> None:
    """A picture of the report, say, which is an input that only the table names."""
    Image.new("RGB", (4, 4)).save("a.png")
    before = Path("a.png").read_bytes()
    Path("r.html").symlink_to("a.png")
    line = f"{VALUE} --report r.html"
    run.refused(line, 2, "--report must not be a link to a file of another kind; got 'r.html'")
    assert Path("a.png").read_bytes() == before


def test_links_to_outputs_are_followed(run: Any) -> None:
    Path("old.csv").write_text("old")
    Path("v.csv").symlink_to("old.csv")
    assert run(f"{VALUE} -o v.csv").code == 0
    assert Path("v.csv").is_symlink()
    assert Path("old.csv").read_text().startswith("index,value")
