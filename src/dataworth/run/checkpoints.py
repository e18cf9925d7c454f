"""Checkpoints: a run that was killed goes on where it stopped, and gives the same bits.

A folder holds the last two states of a run, each in its own file: the sums so far, the number of
blocks of validation points in them, a fingerprint of data and parameters, and a checksum. The files
are replaced atomically and in turn, so that one of them is intact whatever happens.
"""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dataworth
from dataworth.errors import InputError, InputTypeError
from dataworth.files import archives
from dataworth.files.atomic import atomic
from dataworth.locks import locked

FORMAT = "dataworth checkpoint 2"
STATES = ("state-0.npz", "state-1.npz")  # written in turn


def fingerprint(facts: Any, *arrays: NDArray[Any]) -> str:
    """Return a hash of facts that JSON can hold, and of the type, shape and contents of arrays."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        for start in range(0, len(array), 4096):
            digest.update(np.ascontiguousarray(array[start : start + 4096]).tobytes())
    return digest.hexdigest()


class Checkpoint:
    """The state of one run in a folder, which is created if it does not exist."""

    def __init__(self, folder: str | os.PathLike[str], print_of_run: str, every: float = 1.0):
        if not isinstance(folder, str | os.PathLike):
            raise InputTypeError("checkpoint", "name a folder", f"got {folder!r}")
        self.folder = Path(folder)
        if not os.fspath(folder):
            raise InputError("checkpoint", "name a folder", "got an empty name")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            above = next(path for path in (self.folder, *self.folder.parents) if path.exists())
            raise InputError("checkpoint", "name a folder", f"{str(above)!r} is a file") from None
        except ValueError as error:  # the name holds a zero byte
            raise InputError("checkpoint", "name a folder", f"{folder!r}: {error}") from None
        self.fingerprint = print_of_run
        self.every = every
        self.turn = 0
        self.written = 0.0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes out of the folder; wait while one of them is in it.

        The same run in several processes is so computed once: the others find its state.
        """
        with locked(self.folder):
            for part in self.folder.glob(".state-?.npz.*.part"):  # what a killed run was writing
                part.unlink(missing_ok=True)
            yield

    def _path(self, turn: int) -> Path:
        return self.folder / STATES[turn % 2]

    def load(self, arrays: Mapping[str, NDArray[Any]]) -> int:
        """Fill the arrays from the state, and return the number of blocks that are done.

        A state of another run, or of another version, is an error. A damaged state is ignored.
        """
        states = []
        for turn in (0, 1):
            state = self._read(self._path(turn))
            if state is not None:
                states.append((*state, turn))
        if not states:
            return 0
        blocks, found, turn = max(states, key=lambda s: s[0])
        for name, array in arrays.items():
            array[...] = found[name]
        self.turn = turn + 1
        return blocks

    def _read(self, path: Path) -> tuple[int, dict[str, NDArray[Any]]] | None:
        try:
            with path.open("rb") as handle:
                facts = json.loads(str(archives.load(handle, ("facts",))["facts"]))
                arrays = archives.load(handle, facts.get("arrays", ("sums",)))  # as in format 1
            seal = facts.pop("seal")
            if fingerprint(facts, *arrays.values()) != seal:
                return None
        except Exception:  # a damaged file can make its readers raise anything
            return None
        if facts["format"] != FORMAT:
            raise self._refused(f"in the format {FORMAT!r}", f"in {facts['format']!r}")
        version = facts.get("version", "an earlier version")
        if version != dataworth.__version__:
            raise self._refused(f"of dataworth {dataworth.__version__}", f"of {version}")
        if facts["fingerprint"] != self.fingerprint:
            raise self._refused("of the same data and parameters", "of another run")
        return facts["blocks"], arrays

    def _refused(self, wanted: str, came: str) -> InputError:
        hint = "Name another folder, or remove this one."
        return InputError("checkpoint", f"be {wanted}", f"{str(self.folder)!r} is {came}", hint)

    def save(self, blocks: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Save this state."""
        facts: dict[str, Any] = {
            "format": FORMAT,
            "version": dataworth.__version__,
            "fingerprint": self.fingerprint,
            "blocks": blocks,
            "arrays": list(arrays),
        }
        facts["seal"] = fingerprint(facts, *arrays.values())
        with atomic(self._path(self.turn)) as file:
            archives.save(file, {**arrays, "facts": np.array(json.dumps(facts))})
        self.turn += 1
        self.written = time.monotonic()

    def due(self) -> bool:
        """Whether it is time to save a state again."""
        return time.monotonic() - self.written >= self.every
