"""Progress bars, on a terminal and in a notebook."""

import subprocess
import sys
from types import ModuleType

import pytest

from dataworth.progress import bar

# A notebook's kernel, as far as tqdm looks at it, in an environment without ipywidgets.
NOTEBOOK = """
import sys
from types import ModuleType

class Shell:
    config = {"IPKernelApp": {}}

sys.modules["IPython"] = ModuleType("IPython")
sys.modules["IPython"].get_ipython = Shell
sys.modules["ipykernel"] = ModuleType("ipykernel")
sys.modules["ipykernel.zmqshell"] = ModuleType("ipykernel.zmqshell")
sys.modules["ipywidgets"] = None
"""


def test_progress_shows_in_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel has no terminal; there the bar is told to show itself."""
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    with bar(3, "counting", "number", shown=True) as made:
        assert made.disable  # there is no terminal in a test
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    with bar(3, "counting", "number", shown=True) as made:
        assert not made.disable
    with bar(3, "counting", "number", shown=False) as made:
        assert made.disable


@pytest.mark.parametrize(
    ("module", "said"), [("dataworth.progress", ""), ("tqdm.auto", "IProgress not found")]
)
def test_a_notebook_without_widgets_is_no_reason_to_warn(module: str, said: str) -> None:
    """tqdm itself warns there, so this test could fail."""
    code = f"{NOTEBOOK}\nimport {module}"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True
    )
    assert said in done.stderr
    assert bool(done.stderr) == bool(said)
