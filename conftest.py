"""Settings that every test run shares."""

import hashlib
import os
import re
from importlib.util import find_spec
from pathlib import Path

from hypothesis import settings

ROOT = Path(__file__).parent

# As in the Makefile, for those who call pytest themselves.
_compiled = re.compile(rb"^@(compiled|inlined)|njit", re.MULTILINE)
_paths = sorted(
    str(p.relative_to(ROOT)) for d in ("src", "paper") for p in (ROOT / d).rglob("*.py")
)
_sources = [text for p in _paths if _compiled.search(text := (ROOT / p).read_bytes())]
_state = hashlib.sha256(b"".join(_sources)).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / _state))

# The first call of a kernel may compile it, so no deadline.
settings.register_profile("dataworth", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("dataworth")

# The bridges import the library they are for.
_bridges = ROOT / "src" / "dataworth" / "integrations"
collect_ignore = [
    str(_bridges / f"{name}.py") for name in ("cleanlab", "opendataval") if find_spec(name) is None
]
