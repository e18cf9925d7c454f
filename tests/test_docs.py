"""What the README shows is run."""

import re
from pathlib import Path

import pytest

from dataworth import demo

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


def test_demo_figures_of_the_readme(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    said = capsys.readouterr().out
    readme = (ROOT / "README.md").read_text()
    found, n_bad = re.search(r"(\d+) of the (\d+) lowest-valued", said).groups()  # type: ignore[union-attr]
    auroc = re.search(r"AUROC of finding them: ([\d.]+)", said)[1]  # type: ignore[index]
    assert f"{found} of the {n_bad} lowest-valued images are planted errors" in readme
    assert f"AUROC {auroc}" in readme
    assert int(found) > 0.7 * int(n_bad)
