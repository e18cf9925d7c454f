"""Seconds and memory of every library on the same inputs, in turns; the least of several runs."""

import math
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.pool import MEMORY, Worker

K, BITS, TURNS = 5, 3, 5
LIMIT = 60.0  # processor seconds of a call
OURS = "dataworth"


@dataclass(frozen=True)
class Contestant:
    """A library, what it is asked for, and what the table calls that."""

    name: str
    library: str
    args: dict[str, Any]


@dataclass(frozen=True)
class Contest:
    """A table: who is measured, ours first, at which sizes.

    validation : the number of validation points; None where the training points are.
    """

    title: str
    about: str
    contestants: tuple[Contestant, ...]
    sizes: tuple[tuple[int, int], ...]
    validation: int | None


@dataclass
class Row:
    """What was measured of one contestant at one size, per validation point."""

    contestant: str
    n: int
    features: int
    seconds: float = math.inf
    megabytes: float = 0.0
    failed: str | None = None
    spent: float = 0.0


def _ours(name: str, **args: Any) -> Contestant:
    return Contestant(f"ours, {name}", OURS, {"n_neighbors": K, **args})


def _peer(name: str, library: str, **args: Any) -> Contestant:
    return Contestant(name, library, {"n_neighbors": K, **args})


def contests(quick: bool) -> list[Contest]:
    """All tables; small ones where it is to be quick."""
    plain = (100, 200) if quick else (1_000, 10_000, 100_000)
    small = (50,) if quick else (100, 200, 400)
    both = tuple((n, d) for d in (2, 128) for n in plain)
    weighted = tuple((n, 2) for n in (*small, *plain)) + tuple((n, 128) for n in plain)
    return [
        Contest(
            "Unweighted, exact",
            "The value of every training point, 100 validation points. OpenDataVal computes in "
            "float32, the others in float64.",
            (
                _ours("`weights='uniform'`", weights="uniform"),
                _peer("pyDVL", "pydvl"),
                _peer("OpenDataVal", "opendataval"),
                _peer("shapiq", "shapiq"),
            ),
            both,
            20 if quick else 100,
        ),
        Contest(
            "Weighted, exact",
            f"{BITS} bits, 2 validation points. shapiq weights by inverse distance, so the first "
            "row does too. Once over the limit, larger sizes are not tried.",
            (
                _ours("hard, inverse distance", game="hard", weights="inverse", n_bits=BITS),
                _ours("soft, default weights", n_bits=BITS),
                _peer("shapiq `WeightedKNNExplainer`", "shapiq", n_bits=BITS),
            ),
            weighted,
            2,
        ),
        Contest(
            "The training set on itself, unweighted",
            "Every training point is a validation point for the others. cleanlab keeps only the K "
            "nearest of each, so that its values are not those of the game (see Agreement); "
            "`max_rank=K` of ours keeps those too, and bounds what is left out. cleanlab finds "
            "neighbours with a tree where there are few features; ours measures all distances.",
            (
                _ours("exact", weights="uniform", alone=True),
                _ours(f"`max_rank={K}`", weights="uniform", alone=True, max_rank=K),
                _peer("cleanlab `data_shapley_knn`", "cleanlab"),
            ),
            both,
            None,
        ),
    ]


def make_data(path: Path, n: int, features: int, n_val: int | None) -> None:
    """Gaussian points whose label is the sign of the sum of two features, as in the paper."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, features))
    X_val = rng.normal(size=(n_val or 1, features))
    labels = [(x[:, :2].sum(axis=1) > 0.0).astype(np.int64) for x in (X, X_val)]
    np.savez(path, X_train=X, y_train=labels[0], X_val=X_val, y_val=labels[1])


def measure(contest: Contest, folder: Path) -> list[Row]:
    """All rows of a table."""
    rows: list[Row] = []
    for n, features in contest.sizes:
        print(f"{contest.title}: {n:,} points, {features} features", file=sys.stderr)
        path = folder / "data.npz"
        make_data(path, n, features, contest.validation)
        new = [_hopeless(c, n, features, rows) for c in contest.contestants]
        with ExitStack() as stack:
            teams = [
                (row, stack.enter_context(Worker(c.library, LIMIT)), c)
                for row, c in zip(new, contest.contestants, strict=True)
                if row.failed is None
            ]
            for turn in range(TURNS):
                for row, worker, c in teams:
                    if row.failed is None and row.spent < LIMIT / 2:
                        per_call = contest.validation or n
                        _one_run(row, worker, c, str(path), per_call, first=turn == 0)
        rows += new
    return rows


def _hopeless(contestant: Contestant, n: int, features: int, rows: Iterable[Row]) -> Row:
    """A new row, failed already where a smaller size of the same kind was too much."""
    row = Row(contestant.name, n, features)
    for earlier in rows:
        small = earlier.n <= n and earlier.features <= features
        if earlier.contestant == row.contestant and earlier.failed and small:
            why = earlier.failed
            row.failed = (
                why if why.startswith("not tried") else f"not tried: {why} at {_n(earlier.n)}"
            )
    return row


def _one_run(
    row: Row, worker: Worker, contestant: Contestant, path: str, per_call: int, *, first: bool
) -> None:
    answer = worker.order(call=contestant.library, args=contestant.args, data=path, warm=first)
    if "failed" in answer:
        row.failed = answer["failed"]
        return
    row.seconds = min(row.seconds, answer["seconds"] / per_call)
    if first:
        row.megabytes = answer["megabytes"]
    row.spent += answer["seconds"]


def _n(n: int) -> str:
    return f"N = {n:,}"


def lines(contest: Contest, rows: list[Row]) -> list[str]:
    """A table in Markdown, with what is faster than ours said below it."""
    out = [f"### {contest.title}", "", contest.about, ""]
    out += [
        "| features | N | library | seconds a validation point | time / ours | extra memory, MB |",
        "|---|---|---|---|---|---|",
    ]
    faster: list[str] = []
    for n, features in contest.sizes:
        here = [row for row in rows if (row.n, row.features) == (n, features)]
        ours = here[0]
        for row in here:
            start = f"| {features} | {n:,} | {row.contestant} |"
            if row.failed:
                out.append(f"{start} {row.failed} | – | – |")
                continue
            ratio = "–" if ours.failed else f"{row.seconds / ours.seconds:.3g} ×"
            out.append(f"{start} {row.seconds:.3g} | {ratio} | {row.megabytes:.0f} |")
        best = min((r for r in here if r.contestant.startswith("ours")), key=lambda r: r.seconds)
        for row in here:
            if not row.contestant.startswith("ours") and row.seconds < best.seconds:
                ratio = "" if best.failed else f", {best.seconds / row.seconds:.1f} times"
                faster.append(f"{row.contestant} at N = {n:,}, {features} features{ratio}")
    out += ["", "**Faster than ours**: " + ("; ".join(faster) if faster else "nobody") + ".", ""]
    return [*out, *_growth(contest, rows)]


def _growth(contest: Contest, rows: list[Row]) -> list[str]:
    """The exponent of N between the two largest sizes that a contestant finished."""
    out = ["| growth exponent | 2 features | 128 features |", "|---|---|---|"]
    for contestant in contest.contestants:
        cells = []
        for features in (2, 128):
            done = [
                row
                for row in rows
                if row.contestant == contestant.name
                and row.features == features
                and row.failed is None
            ]
            if len(done) < 2:
                cells.append("–")
                continue
            a, b = done[-2:]
            slope = math.log(b.seconds / a.seconds) / math.log(b.n / a.n)
            cells.append(f"{slope:.2f} ({a.n:,} → {b.n:,})")
        out.append(f"| {contestant.name} | {cells[0]} | {cells[1]} |")
    return [*out, ""]


def section(folder: Path, *, quick: bool) -> list[str]:
    """The part on speed and memory."""
    out = [
        "## Speed and memory",
        "",
        f"K = {K}, one thread each, processor seconds (the machine is shared, so wall time would "
        f"say more about the neighbours): the least of up to {TURNS} runs, fewer once "
        f"{LIMIT / 2:g} s are spent, the libraries taking turns. Judge by the ratios. Extra memory "
        "is the peak of resident memory during the first run above what the process held "
        f"with library and data loaded. Limits: {LIMIT:g} s a call and {MEMORY:g} GB.",
        "",
    ]
    for contest in contests(quick):
        out += lines(contest, measure(contest, folder))
    return out
