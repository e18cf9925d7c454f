"""Run the python blocks of pages, and show what they print and draw under them.

mkdocs calls the functions named `on_…` (`hooks` in mkdocs.yml); the tests call `executed`. The
blocks of a page share their names and run in an empty folder, in order. A line that ends in a
comment such as `# 20: all are errors` claims that its expression is 20. A block that cannot run
says why in a comment above it: `<!-- not run: it needs a model from a hub -->`. A block whose first
line names a file, `# tests/naive.py`, belongs into that file and is only shown.
"""

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parent.parent
# Files beside docs/ that pages link to; the site has them as pages too.
BESIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(
        str(path.relative_to(ROOT))
        for pattern in ("benchmarks/*.md", "results/*.md", "results/*.png")
        for path in sorted(ROOT.glob(pattern))
    ),
)
BLOCK = re.compile(r"(?:<!-- (not run: [^\n]+) -->\n+)?```python\n(.*?)```\n", re.DOTALL)
OF_A_FILE = re.compile(r"# \S+/\S+\.py\n")
CLAIM = re.compile(r"^(\S.*?)  # (\d+): ", re.MULTILINE)


def executed(markdown: str, name: str, figures: Path) -> str:
    """The page with outputs; figures are written as NAME-1.png, NAME-2.png and so on."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")  # only figures of this page
    names: dict[str, Any] = {"__name__": name}
    drawn: list[str] = []

    def run(match: re.Match[str]) -> str:
        reason, code = match.groups()
        shown = f"```python\n{code}```\n"
        if reason:
            return f"{shown}\n*({reason.capitalize()}.)*\n"
        if OF_A_FILE.match(code):
            return shown
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, f"{name}.md", "exec"), names)
        for expression, number in CLAIM.findall(code):
            found = eval(expression, names)
            if found != int(number):
                raise AssertionError(f"{name}.md: {expression} is {found}, not {number}.")
        if said.getvalue():
            shown += f"\n```{{.text .output}}\n{said.getvalue().rstrip()}\n```\n"
        for alt, file in _saved(figures, name, len(drawn)):
            drawn.append(file)
            shown += f"\n![{alt}]({file})\n"
        return shown

    # One thread for BLAS: its threads only wait for each other on data this small.
    with TemporaryDirectory() as folder, contextlib.chdir(folder), threadpool_limits(1):
        return BLOCK.sub(run, markdown)


def _saved(figures: Path, name: str, before: int) -> Iterator[tuple[str, str]]:
    """Save and close what matplotlib has open: words that stand for each figure, and its file."""
    from matplotlib import pyplot

    for count, number in enumerate(pyplot.get_fignums(), start=before + 1):
        figure, file = pyplot.figure(number), f"{name}-{count}.png"
        figure.savefig(figures / file, dpi=144)
        axes = figure.axes[0]
        yield axes.get_title() or f"{axes.get_ylabel()} by {axes.get_xlabel()}", file
        pyplot.close(figure)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie beside docs/."""
    from mkdocs.structure.files import File

    for path in BESIDE:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put outputs and figures in, and point links at the site's own copies."""
    from mkdocs.structure.files import File

    for path in BESIDE:
        markdown = re.sub(rf"\]\(\.\./{re.escape(path)}(?=[)#])", f"]({path}", markdown)
    # Folders below the root have their pages one folder down on the site too.
    markdown = markdown.replace("](../docs/", "](../").replace("](docs/", "](")
    name = Path(page.file.src_path).stem
    with TemporaryDirectory() as folder:
        if BLOCK.search(markdown):
            print(f"running {name}.md", file=sys.stderr)
            markdown = executed(markdown, name, Path(folder))
        for figure in sorted(Path(folder).iterdir()):
            files.append(File.generated(config, figure.name, content=figure.read_bytes()))
    return markdown
