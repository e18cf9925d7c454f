"""What the README shows is run."""

import re
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from sklearn.metrics import roc_auc_score

from dataworth import KNNShapley, commands, demo

ROOT = Path(__file__).parent.parent


def test_readme_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
        for line in block.splitlines():
            if claim := re.search(r"# (\d+): ", line):
                assert eval(line, names) == int(claim[1])
    assert (tmp_path / "values.npz").exists()


def test_example_of_data_frames() -> None:
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/data-frames.md").read_text(), re.DOTALL
    )
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert names["values"].index.tolist() == ["p1", "p2", "p3", "p4", "p5", "p6"]
    assert set(names["table"]["group"].tolist()) == {"Ann", "Bob"}


def test_options_of_the_command_line() -> None:
    """Every option that the page names exists, and every command is on the page."""
    page = (ROOT / "docs/command-line.md").read_text()
    known = {
        option
        for command in (commands.value, commands.info, commands.report, commands.apply_)
        for option in (f"--{name.replace('_', '-')}" for name in signature(command).parameters)
    }
    named = set(re.findall(r"--[a-z][a-z-]+", page)) - {"--help", "--install-completion"}
    assert named <= known
    registered = {c.name or c.callback.__name__ for c in commands.app.registered_commands}  # type: ignore[union-attr]
    assert registered == set(re.findall(r"^dataworth (\w+)", page, re.MULTILINE))


def test_demo_figures_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    said = capsys.readouterr().out
    readme = (ROOT / "README.md").read_text()
    found, n_bad = re.search(r"(\d+) of the (\d+) lowest-valued", said).groups()  # type: ignore[union-attr]
    auroc = re.search(r"AUROC of finding them: ([\d.]+)", said)[1]  # type: ignore[index]
    assert f"{found} of the {n_bad} lowest-valued images are planted errors" in readme
    assert f"AUROC {auroc}" in readme
    assert int(found) > 0.7 * int(n_bad)


def test_other_figures_of_the_readme() -> None:
    data = demo.digits_with_errors()
    valuator = KNNShapley(game="hard").fit(data.X_train, data.y_train)
    values = valuator.value(data.X_val, data.y_val)
    auroc = roc_auc_score(data.planted, -values.values)
    readme = (ROOT / "README.md").read_text()
    assert f"gives {auroc:.3f}" in readme
    soft = KNNShapley().fit(data.X_train, data.y_train)
    alone = roc_auc_score(data.planted, -soft.value().values)
    few = roc_auc_score(data.planted, -soft.value(data.X_val[:100], data.y_val[:100]).values)
    assert f"{alone:.4f} (100 clean validation images: {few:.3f})" in readme
