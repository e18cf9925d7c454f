"""What the README and the pages show is run, and what they say is so."""

import importlib
import re
import tomllib
from inspect import signature
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot
from sklearn.metrics import roc_auc_score

import dataworth
from dataworth import KNNShapley, demo
from dataworth.cli import app as commands
from docs.pages import BLOCK, executed

ROOT = Path(__file__).parent.parent
BESIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in BESIDE), *sorted((ROOT / "docs").glob("*.md"))]
FIGURE = re.compile(r"0\.\d{3,4}")
WITH_CODE = [path for path in PAGES if "```python" in path.read_text()]


@pytest.mark.parametrize("path", WITH_CODE, ids=[path.stem for path in WITH_CODE])
def test_blocks_run(path: Path, tmp_path: Path) -> None:
    """All of them, in order, but those that say why not; warnings are errors."""
    page = path.read_text()
    assert len(BLOCK.findall(page)) == page.count("```python"), "a block is not closed, or indented"
    shown = executed(page, path.stem, tmp_path)
    drawn = sorted(file.name for file in tmp_path.iterdir())
    assert re.findall(rf"\(({path.stem}-\d+\.png)\)", shown) == drawn


def test_outputs_figures_and_claims(tmp_path: Path) -> None:
    page = (
        "<!-- not run: there is no such module -->\n```python\nimport nothing_of_that_name\n```\n"
        "```python\nprint(1 + 1)\n[5, 6][1]  # 6: the last\n```\n"
        "```python\nfrom matplotlib import pyplot\npyplot.figure().subplots().set(title='A')\n```\n"
    )
    mpl.use("Agg")
    pyplot.figure()  # somebody else's, and no part of the page
    shown = executed(page, "page", tmp_path)
    assert "*(Not run: there is no such module.)*" in shown
    assert "```{.text .output}\n2\n```" in shown
    assert shown.endswith("\n![A](page-1.png)\n")
    assert (tmp_path / "page-1.png").stat().st_size > 0
    with pytest.raises(AssertionError, match="is 6, not 5"):
        executed(page.replace("# 6:", "# 5:"), "page", tmp_path)
    with pytest.raises(ModuleNotFoundError):
        executed(page.split("-->\n")[1], "page", tmp_path)


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_links_lead_to_files(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


def test_how_to_install_is_said_in_one_place() -> None:
    """The package is not published: what would look for it on an index finds nothing."""
    published = re.compile(r"pip install +'?dataworth")
    sources = list((ROOT / "src").rglob("*.py"))
    for path in [*PAGES, *sources, ROOT / "CHANGELOG.md"]:
        assert not published.search(path.read_text()), path
    told = {path.name for path in PAGES if "pip install '." in path.read_text()}
    assert told == {"README.md", "getting-started.md"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    asked = {
        name
        for path in sources
        for name in re.findall(r"""extra\([^)]*, "(\w+)"\)""", path.read_text())
    }
    assert {"cli", "plot", "ann"} <= asked <= set(extras)


def test_targets_exist() -> None:
    """Every `make` that a page names."""
    known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for path in PAGES:
        for target in re.findall(r"(?:`|^)make ([a-z][\w-]*)", path.read_text(), re.MULTILINE):
            assert target in known, f"{path.name}: make {target}"


def test_measured_figures_are_in_the_table() -> None:
    said = re.findall(r"\b[01]\.\d{3}\b", (ROOT / "docs/choosing.md").read_text())
    table = set(re.findall(r"\b[01]\.\d{3}\b", (ROOT / "docs/choosing-table.md").read_text()))
    assert said
    assert set(said) <= table


def test_figures_against_the_peers() -> None:
    readme, page = ((ROOT / name).read_text() for name in ("README.md", "benchmarks/PEERS.md"))
    speed = re.search(r"^Against the peers.*?\n\n", readme, re.M | re.S)[0].replace("\n", " ")  # type: ignore[index]
    ratios = re.findall(r"\| ([\d.e+]+) × \|", page.split("### ")[1])
    ratios = [float(ratio) for ratio in ratios if ratio != "1"]
    assert f"{min(ratios):.0f} to {max(ratios):.0f} ×" in speed
    found = re.search(r"^Planted label errors.*?\n\n", readme, re.M | re.S)[0].replace("\n", " ")  # type: ignore[index]
    alone = page.split("### Without a validation set, errors at random")[1].split("\n### ")[0]
    means = [
        round(float(m), 3) for row in re.findall(r"\*mean of.*", alone) for m in FIGURE.findall(row)
    ]
    assert {float(said) for said in FIGURE.findall(found)} <= set(means)
    ours = [
        re.findall(r"(\d+) – (\d+)", row) for row in re.findall(r"ours, recipe.* p = .*", alone)
    ]
    paper, unseen = ([f"{ahead}–{behind}" for ahead, behind in row] for row in ours)
    assert set(re.findall(r"\((\d+–\d+)\)", found)) <= {*paper, *unseen}
    best = [row[-1].split("–")[0] for row in (paper, unseen)]
    assert f"ahead on {best[0]} and on {best[1]} of 13" in found


def test_api_reference_names_what_is_public() -> None:
    named = re.findall(r"^::: (.+)$", (ROOT / "docs/api.md").read_text(), re.MULTILINE)
    for name in named:
        module, _, attribute = name.rpartition(".")
        assert getattr(importlib.import_module(module), attribute).__doc__
    assert {f"dataworth.{name}" for name in dataworth.__all__} <= set(named)


def test_options_of_the_command_line() -> None:
    """Every option that the page names exists, and every command is on the page."""
    page = (ROOT / "docs/command-line.md").read_text()
    known = {
        option
        for command in (
            commands.value,
            commands.info,
            commands.report,
            commands.apply_,
            commands.compare,
        )
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
