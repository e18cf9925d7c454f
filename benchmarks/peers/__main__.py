"""Measure this library against its peers; write benchmarks/PEERS.md.

`make bench-peers`; `--quick` tries everything at small sizes and prints instead.
"""

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

from benchmarks.peers import agreement, profile, quality, speed
from benchmarks.peers.pool import Worker
from dataworth.files.atomic import atomic

OUT = Path(__file__).parent.parent / "PEERS.md"
PACKAGES = {
    "dataworth": "dataworth",
    "shapiq": "shapiq",
    "pydvl": "pyDVL",
    "cleanlab": "cleanlab",
    "opendataval": "opendataval",
}


def head() -> list[str]:
    """What is compared, and on what."""
    versions = []
    for name, package in PACKAGES.items():
        with Worker(name, 60) as worker:
            answer = worker.order(versions=[package, "numpy", "scikit-learn", "torch"])
        versions.append(f"- {', '.join(answer.get('versions', [package, answer.get('failed')]))}")
    return [
        "# Against the peers",
        "",
        "Written by `make bench-peers`; do not edit. How to read it, and how to choose: "
        "[docs/peers.md](../docs/peers.md).",
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()} or, "
        "where a peer needs it, newer. Each in its own environment:",
        "",
        *versions,
        "",
    ]


def main() -> int:
    """Run all parts; 1 where values do not agree or somebody could not be asked."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes; print the result")
    parser.add_argument(
        "--label-errors",
        action="store_true",
        help="only the part on finding label errors; the rest of the page stays as it is",
    )
    chosen = parser.parse_args()
    if chosen.label_errors:
        return _label_errors(quick=chosen.quick)
    with tempfile.TemporaryDirectory() as folder:
        lines = head()
        agreed, good = agreement.section(Path(folder))
        errors = quality.section(Path(folder), quick=chosen.quick)
        fast, done = speed.section(Path(folder), quick=chosen.quick)
        lines += [*fast, *agreed, *profile.section(quick=chosen.quick), *errors]
    _put("\n".join(lines), quick=chosen.quick)
    return 0 if good and done else 1


def _label_errors(*, quick: bool) -> int:
    """Write the last part of the page anew."""
    with tempfile.TemporaryDirectory() as folder:
        lines = quality.section(Path(folder), quick=quick)
    rest = OUT.read_text().partition(lines[0] + "\n")[0]
    _put(rest + "\n".join(lines), quick=quick)
    return 0


def _put(text: str, *, quick: bool) -> None:
    if quick:
        print(text.rstrip())
        return
    with atomic(OUT) as file:
        file.write((text.rstrip() + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
