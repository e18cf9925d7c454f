"""Name the state of the files that have compiled functions.

numba's cache notices a change in a compiled function's own file only, not in those it calls: so
there is one cache for each state of these files. The Makefile and conftest.py both ask here.
"""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMPILED = re.compile(rb"^@(compiled|inlined)|njit", re.MULTILINE)


def state() -> str:
    """A name that changes whenever one of the files does."""
    paths = sorted(
        path.relative_to(ROOT).as_posix()
        for folder in ("src", "paper")
        for path in (ROOT / folder).rglob("*.py")
    )
    texts = ((ROOT / path).read_bytes() for path in paths)
    compiled = b"".join(text for text in texts if COMPILED.search(text))
    return hashlib.sha256(compiled).hexdigest()[:16]


if __name__ == "__main__":
    print(state(), end="")
