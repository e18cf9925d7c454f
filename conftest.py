"""Settings that every test run shares."""

import signal
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# Helpers of tests assert too: explain those that fail, and keep them with python -O.
pytest.register_assert_rewrite("tests")

ROOT = Path(__file__).parent

# A shell starts what runs in the background with Ctrl-C ignored, and so do its children.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The first call of a kernel may compile it, so no deadline.
settings.register_profile("dataworth", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("dataworth")

# The bridges import the library they are for.
_bridges = ROOT / "src" / "dataworth" / "integrations"
collect_ignore = [
    str(_bridges / f"{name}.py") for name in ("cleanlab", "opendataval") if find_spec(name) is None
]
