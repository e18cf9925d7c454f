"""Measure this library against its peers; write benchmarks/PEERS.md.

`make bench-peers`; `--quick` tries everything at small sizes and prints instead.
"""

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

from benchmarks.peers import agreement, findings, profile, quality, speed
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
    only = parser.add_mutually_exclusive_group()
    for part, does in (
        ("--label-errors", "finding label errors"),
        ("--speed", "speed, memory and agreement"),
    ):
        said = f"only the part on {does}; the rest of the page stays as it is"
        only.add_argument(part, action="store_true", help=said)
    chosen = parser.parse_args()
    kept = OUT.read_text() if OUT.exists() else ""
    place = kept.find(findings.TITLE) if findings.TITLE in kept else len(kept)
    first, last, good = kept[:place].rstrip(), kept[place:], True
    with tempfile.TemporaryDirectory() as folder:
        if not chosen.speed:
            last = "\n".join(quality.section(Path(folder), quick=chosen.quick))
        if not chosen.label_errors:
            first, good = _speed_and_agreement(Path(folder), quick=chosen.quick)
    _put(f"{first}\n\n{last}", quick=chosen.quick)
    return 0 if good else 1


def _speed_and_agreement(folder: Path, *, quick: bool) -> tuple[str, bool]:
    """Return the first part of the page, and whether all agreed and could be asked."""
    agreed, good = agreement.section(folder)
    fast, done = speed.section(folder, quick=quick)
    lines = [*head(), *fast, *agreed, *profile.section(quick=quick)]
    return "\n".join(lines).rstrip(), good and done


def _put(text: str, *, quick: bool) -> None:
    if quick:
        print(text.rstrip())
        return
    with atomic(OUT) as file:
        file.write((text.rstrip() + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
