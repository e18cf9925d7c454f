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
LIMIT, LONG_LIMIT = 60.0, 400.0  # processor seconds of a call
SAMPLE = 1_000  # validation points of ours where all of very many training points would be some
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

    sizes : training points, features and validation points; None where the training points are
        the validation points.
    limit : the processor seconds that a call may take.
    """

    title: str
    about: str
    contestants: tuple[Contestant, ...]
    sizes: tuple[tuple[int, int, int | None], ...]
    limit: float


@dataclass
class Row:
    """What was measured of one contestant at one size, per validation point."""

    contestant: str
    n: int
    features: int
    seconds: float = math.inf
    megabytes: float = 0.0
    runs: int = 0
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
    both = [(n, d) for d in (2, 128) for n in plain]
    # A library that works in batches needs many validation points to show its speed.
    many = {n: 20 if quick else 1_000 if n < 100_000 else 100 for n in plain}
    return [
        Contest(
            "Unweighted, exact",
            "The value of every training point; 1,000 validation points, 100 at N = 100,000. "
            "OpenDataVal computes in float32 (the conversion is not timed) in batches of 1,000, "
            "which is faster than its default; the others compute in float64. pyDVL and shapiq "
            "find neighbours with scikit-learn's default, which for 2 features is a tree, and "
            "slower than brute force for a full order.",
            (
                _ours("`weights='uniform'`", weights="uniform"),
                _peer("pyDVL", "pydvl"),
                _peer("OpenDataVal", "opendataval"),
                _peer("shapiq", "shapiq"),
            ),
            tuple((n, d, many[n]) for n, d in both),
            LIMIT,
        ),
        Contest(
            "Weighted, exact",
            f"{BITS} bits, 1 validation point. shapiq weights by inverse distance, so the first "
            f"row does too. Limit here: {LONG_LIMIT:g} s a call; once over it, larger sizes are "
            "not tried.",
            (
                _ours("hard, inverse distance", game="hard", weights="inverse", n_bits=BITS),
                _ours("soft, default weights", n_bits=BITS),
                _peer("shapiq `WeightedKNNExplainer`", "shapiq", n_bits=BITS),
            ),
            tuple((n, d, 1) for d in (2, 128) for n in (*small, *plain)),
            LIMIT if quick else LONG_LIMIT,
        ),
        Contest(
            "The training set on itself, unweighted",
            "Every training point is a validation point for the others. cleanlab keeps only the K "
            "nearest of each, so that its values are not those of the game (see Agreement); "
            "`max_rank=K` of ours keeps those too, and bounds what is left out. cleanlab finds "
            "neighbours with a tree where there are few features; ours measures all distances. At "
            "N = 100,000 ours is timed on 1,000 of the points as validation points, themselves "
            "included, as all would take ten minutes.",
            (
                _ours("exact", weights="uniform", alone=True),
                _ours(f"`max_rank={K}`", weights="uniform", alone=True, max_rank=K),
                _peer("cleanlab `data_shapley_knn`", "cleanlab", metric="euclidean"),
            ),
            tuple((n, d, None) for n, d in both),
            LIMIT,
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
    for n, features, n_val in contest.sizes:
        print(f"{contest.title}: {n:,} points, {features} features", file=sys.stderr)
        path = folder / "data.npz"
        make_data(path, n, features, n_val)
        new = [_hopeless(c, n, features, rows) for c in contest.contestants]
        with ExitStack() as stack:
            teams = [
                (row, stack.enter_context(Worker(c.library, contest.limit)), c)
                for row, c in zip(new, contest.contestants, strict=True)
                if row.failed is None
            ]
            for turn in range(TURNS):
                first = turn % max(len(teams), 1)
                for row, worker, c in teams[first:] + teams[:first]:
                    if row.failed is None and row.spent < LIMIT / 2:
                        _one_run(row, worker, c, str(path), n_val or n)
        rows += new
    return rows


def _hopeless(contestant: Contestant, n: int, features: int, rows: Iterable[Row]) -> Row:
    """A new row, failed already where a smaller size of the same kind was too much."""
    row = Row(contestant.name, n, features)
    for earlier in rows:
        small = earlier.n <= n and earlier.features <= features
        if earlier.contestant == row.contestant and earlier.failed and small:
            why = earlier.failed
            if not why.startswith("not tried"):
                why = f"not tried: {why} at N = {earlier.n:,}, {earlier.features} features"
            row.failed = why
    return row


def _one_run(row: Row, worker: Worker, contestant: Contestant, path: str, per_call: int) -> None:
    args = dict(contestant.args)
    if args.get("alone") and per_call > 10 * SAMPLE:
        args["alone"], per_call = SAMPLE, SAMPLE
    order = {"call": contestant.library, "args": args, "data": path}
    if row.runs == 0 and "failed" in (answer := worker.order(**order, warm=True)):
        row.failed = answer["failed"]
        return
    answer = worker.order(**order)
    if "failed" in answer:
        row.failed = answer["failed"]
        return
    row.seconds = min(row.seconds, answer["seconds"] / per_call)
    if row.runs == 0:
        row.megabytes = answer["megabytes"]
    row.runs += 1
    row.spent += answer["seconds"]


def lines(contest: Contest, rows: list[Row]) -> list[str]:
    """A table in Markdown, with what is faster than ours said below it."""
    out = [f"### {contest.title}", "", contest.about, ""]
    out += [
        "| features | N | library | seconds a validation point | time / ours | extra memory, MB "
        "| runs |",
        "|---|---|---|---|---|---|---|",
    ]
    faster: list[str] = []
    for n, features, _ in contest.sizes:
        here = [row for row in rows if (row.n, row.features) == (n, features)]
        ours = here[0]
        for row in here:
            start = f"| {features} | {n:,} | {row.contestant} |"
            if row.failed:
                out.append(f"{start} {row.failed} | – | – | {row.runs} |")
                continue
            ratio = "–" if ours.failed else f"{row.seconds / ours.seconds:.3g} ×"
            cells = f"{row.seconds:.3g} | {ratio} | {row.megabytes:.0f} | {row.runs}"
            out.append(f"{start} {cells} |")
        best = min((r for r in here if r.contestant.startswith("ours")), key=lambda r: r.seconds)
        for row in here:
            if row.failed or row.contestant.startswith("ours"):
                continue
            if row.seconds < best.seconds:
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
