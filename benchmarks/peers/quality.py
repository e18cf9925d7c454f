"""AUROC of finding planted label errors on real data, ours and the peers'.

Run as `python -m benchmarks.peers.quality NAME ...` it measures these data sets and keeps what it
finds, for the page that `python -m benchmarks.peers` writes; several may run at once.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.peers import environments, findings, tables
from benchmarks.peers.noise import ALIKE, RANDOM, RARE, Arrays, Pool, draw
from benchmarks.peers.pool import Worker
from benchmarks.peers.standings import Aurocs, Result, Standings, aurocs
from dataworth.run.checkpoints import fingerprint
from paper.datasets import DATA_VARIABLE, SOURCES, load
from paper.detection import DATA
from paper.store import Store

KEPT = environments.ROOT / "results" / ".work" / "peers-quality.jsonl"
DRAWS = {RANDOM: 10, ALIKE: 3, **dict.fromkeys(RARE, 2)}
FEW = 2  # draws for methods that take as long as all others together
LIMIT = 1800.0
ONLY_SHOWN = ("cli/", "report/", "comparison/", "plots")  # what no value depends on
NOISE = "../benchmarks/peers/noise.py"


class Method(NamedTuple):
    """A row of the results.

    Attributes
    ----------
    name : str
        What the results call it.
    library, call, args : str, str and dict
        The environment it runs in, the function of `libraries`, and its arguments.
    errors : tuple of str
        The kinds of errors it is tried on.
    validated : bool
        Whether it uses the clean validation points.
    kinds : tuple of str
        What it is tried on.
    slow : bool
        Whether it gets the first few draws only.
    """

    name: str
    library: str
    call: str
    args: dict[str, Any]
    errors: tuple[str, ...] = (RANDOM,)
    validated: bool = False
    kinds: tuple[str, ...] = ("table", "embedding")
    slow: bool = False


ALL = (RANDOM, ALIKE, *RARE)
METHODS = (
    Method("ours, validated", "dataworth", "dataworth", {}, validated=True),
    Method("ours, validated forest", "dataworth", "dataworth", {"forest": True}, validated=True),
    Method("pyDVL", "pydvl", "pydvl", {"n_neighbors": 5}, validated=True),
    Method("ours, recipe", "dataworth", "recipe", {}, ALL),
    Method("ours, balanced", "dataworth", "recipe", {"balanced": True}, tuple(RARE)),
    Method("ours, default", "dataworth", "dataworth", {"alone": True}, ALL),
    Method("ours, folds", "dataworth", "dataworth", {"forest": True, "cv": 5}),
    Method("out-of-bag forest", "dataworth", "out_of_bag", {"min_samples_leaf": 1}, ALL),
    Method("out-of-bag stout forest", "dataworth", "out_of_bag", {"min_samples_leaf": 5}, ALL),
    Method("cleanlab logistic", "cleanlab", "self_confidence", {"model": "logistic"}, ALL),
    Method("cleanlab forest", "cleanlab", "self_confidence", {"model": "forest"}, slow=True),
    Method("cleanlab stout forest", "cleanlab", "self_confidence", {"model": "stout forest"}, ALL),
    Method("cleanlab extra trees", "cleanlab", "self_confidence", {"model": "extra trees"}, ALL),
    Method(
        "cleanlab boosting",
        "cleanlab",
        "self_confidence",
        {"model": "boosting"},
        kinds=("table",),
        slow=True,
    ),
    Method("cleanlab KNN", "cleanlab", "self_confidence", {"model": "knn"}),
    Method("cleanlab Shapley", "cleanlab", "cleanlab", {"n_neighbors": 10}),
    Method("Data-OOB", "opendataval", "data_oob", {"n_models": 1_000}, kinds=("table",), slow=True),
    Method(
        "Data-OOB", "opendataval", "data_oob", {"n_models": 100}, kinds=("embedding",), slow=True
    ),
)


class Data(NamedTuple):
    """A data set: its name in the results, where draws come from, and what reads it."""

    title: str
    name: str
    unseen: bool
    read: Callable[[], Pool]


def data_sets(*, quick: bool) -> Iterator[Data]:
    """The data sets of the paper and the tables that ship with packages."""
    for name in ("phoneme",) if quick else DATA:
        yield Data(SOURCES[name].title, name, False, cache(partial(_of_the_paper, name)))
    for name in ("german",) if quick else tables.UNSEEN:
        yield Data(tables.UNSEEN[name].title, name, True, cache(partial(_unseen, name)))


def _of_the_paper(name: str) -> Pool:
    if DATA_VARIABLE not in os.environ:
        raise FileNotFoundError(f"{DATA_VARIABLE} names no folder")
    data = load(name)
    return Pool(data.X, data.y, SOURCES[name].kind == "embedding", balanced=True)


def _unseen(name: str) -> Pool:
    try:
        return Pool(*tables.load(name, environments.unpacked(tables.PACKAGES)))
    except environments.Unavailable as error:
        raise FileNotFoundError(str(error)) from error


@dataclass
class Run:
    """Everything that is measured, unit by unit; what was kept of a run before is not repeated.

    Attributes
    ----------
    store : Store
        What was measured, by data set, kind of errors, draw and method.
    folder : Path
        Where draws and scores are handed over.
    quick : bool
        Whether one draw is enough.
    """

    store: Store
    folder: Path
    quick: bool = False
    _our_code: str = field(default_factory=lambda: _our_code())

    def measured(self, data: Data, errors: str) -> dict[str, Result]:
        """What each method finds of one kind of errors; a string says why it does not."""
        units: dict[str, list[tuple[float, float]]] = {m.name: [] for m in _asked(data, errors)}
        failed: dict[str, str] = {}
        with ExitStack() as stack:
            workers = _Workers(stack)
            for seed in range(1 if self.quick else DRAWS[errors]):
                drawn = cache(partial(_draw, data, errors, seed))
                for method in _asked(data, errors):
                    if method.name in failed or (method.slow and seed >= FEW):
                        continue
                    setting = {
                        "data": data.name, "errors": errors, "draw": seed, "call": method.call,
                        "args": method.args, "code": self._code(method),
                    }  # fmt: skip
                    try:
                        unit = self.store.get(setting, partial(self._unit, drawn, method, workers))
                    except _Failed as error:
                        failed[method.name] = str(error)
                    else:
                        units[method.name].append(unit)
        found: dict[str, Result] = {}
        for name, some in units.items():
            overall, within = np.array(some).reshape(-1, 2).T
            found[name] = failed.get(name, Aurocs(overall, within))
        return found

    def _unit(
        self, drawn: Callable[[], Arrays], method: Method, workers: "_Workers"
    ) -> tuple[float, float]:
        arrays = drawn()
        np.savez(self.folder / "data.npz", allow_pickle=False, **arrays)
        out = self.folder / "scores.npy"
        answer = workers[method.library].order(
            call=method.call, args=method.args, data=str(self.folder / "data.npz"), out=str(out)
        )
        if "failed" in answer:
            del workers[method.library]  # the next method gets a new one
            raise _Failed(answer["failed"])
        scores = np.load(out, allow_pickle=False)
        return aurocs(scores, arrays["y_train"], arrays["planted"])

    def _code(self, method: Method) -> str:
        """Ours is measured anew where our code is another; of peers, the version counts."""
        if method.name.startswith("ours"):
            return self._our_code
        return repr(environments.PEERS.get(method.library))


class _Workers(dict[str, Worker]):
    """The worker of each library, started when it is first needed."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack

    def __missing__(self, library: str) -> Worker:
        self[library] = self.stack.enter_context(Worker(library, LIMIT))
        return self[library]


class _Failed(Exception):
    """A method could not do it; the message says why."""


def _draw(data: Data, errors: str, seed: int) -> Arrays:
    return draw(data.name, data.read(), errors, seed)


def _asked(data: Data, errors: str) -> list[Method]:
    """The methods that are tried on a data set with a kind of errors."""
    kind = SOURCES[data.name].kind if data.name in SOURCES else "table"
    return [
        m
        for m in METHODS
        if errors in m.errors and kind in m.kinds and not (m.validated and data.unseen)
    ]


def _our_code() -> str:
    """Return a hash of the code that values come from; what only shows them is left out."""
    source = environments.ROOT / "src" / "dataworth"
    found = {path.relative_to(source).as_posix(): path for path in sorted(source.rglob("*.py"))}
    return fingerprint(
        {name: path.read_text() for name, path in found.items() if not name.startswith(ONLY_SHOWN)}
    )


def section(folder: Path, *, quick: bool) -> list[str]:
    """The part on finding label errors."""
    run = Run(_store(folder / "quality.jsonl" if quick else KEPT), folder, quick)
    found: findings.Found = {}
    missing: list[str] = []
    for data in data_sets(quick=quick):
        print(f"finding label errors: {data.title}", file=sys.stderr)
        try:
            data.read()
        except FileNotFoundError as error:
            missing.append(f"{data.title} ({error})")
            continue
        for errors in DRAWS:
            one = found.setdefault((errors, data.unseen), Standings())
            one.found[data.title] = run.measured(data, errors)
    draws = {errors: 1 if quick else many for errors, many in DRAWS.items()}
    validated = {m.name for m in METHODS if m.validated}
    return findings.lines(found, draws, validated, missing)


def _store(path: Path) -> Store:
    return Store(path, sources=("protocol.py", NOISE))


def main(names: list[str]) -> int:
    """Measure some data sets; 1 where a method failed."""
    good = True
    with tempfile.TemporaryDirectory() as folder:
        run = Run(_store(KEPT), Path(folder))
        for data in data_sets(quick=False):
            for errors in DRAWS if data.name in names else ():
                for method, result in run.measured(data, errors).items():
                    failed = isinstance(result, str)
                    said = result if isinstance(result, str) else f"{result.overall.mean():.4f}"
                    print(f"{data.title}, {errors}: {method} {said}", flush=True)
                    good = good and not failed
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
