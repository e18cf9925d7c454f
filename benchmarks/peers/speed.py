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
LIMIT, ENOUGH = 300.0, 30.0  # processor seconds of a call, and of all calls before another
MANY = 10_000  # training points, beyond which `Contestant.most` counts
OURS = "dataworth"


@dataclass(frozen=True)
class Contestant:
    """A library, what it is asked for, and what the table calls that.

    most : the validation points that it gets where there are very many training points, if its
        time is proportional to their number and all would take too long.
    """

    name: str
    library: str
    args: dict[str, Any]
    most: int | None = None


@dataclass(frozen=True)
class Contest:
    """A table: who is measured, ours first, at which sizes.

    sizes : training points, features and validation points; None where the training points are
        the validation points.
    """

    title: str
    about: str
    contestants: tuple[Contestant, ...]
    sizes: tuple[tuple[int, int, int | None], ...]


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
    too_much: bool = False
    spent: float = 0.0


def _ours(name: str, most: int | None = None, **args: Any) -> Contestant:
    return Contestant(f"ours, {name}", OURS, {"n_neighbors": K, **args}, most)


def _peer(name: str, library: str, most: int | None = None, **args: Any) -> Contestant:
    return Contestant(name, library, {"n_neighbors": K, **args}, most)


def contests(quick: bool) -> list[Contest]:
    """All tables; small ones where it is to be quick."""
    plain = (100, 200) if quick else (1_000, 10_000, 100_000)
    small = (50,) if quick else (100, 200, 400)
    both = [(n, d) for d in (2, 128) for n in plain]
    # A library that works in batches needs many validation points to show its speed.
    n_val = 20 if quick else 1_000
    return [
        Contest(
            "Unweighted, exact",
            f"The value of every training point; {n_val:,} validation points, for pyDVL and "
            f"shapiq, which take them one by one, 100 of them beyond N = {MANY:,}. OpenDataVal "
            "computes in float32 and in batches of 1,000, which is faster than its default; the "
            "others compute in float64. What a library wants its arrays put into is made before "
            "the clock starts. pyDVL and shapiq find neighbours with scikit-learn's default, "
            "which for 2 features is a tree, and slower than brute force for a full order.",
            (
                _ours("`weights='uniform'`", weights="uniform"),
                _peer("pyDVL", "pydvl", 100),
                _peer("OpenDataVal", "opendataval"),
                _peer("shapiq", "shapiq", 100),
            ),
            tuple((n, d, n_val) for n, d in both),
        ),
        Contest(
            "Weighted, exact",
            f"{BITS} bits, 1 validation point. shapiq weights by inverse distance, so the first "
            "row does too. For few training points our time is that of a call, whatever it "
            "computes; many validation points share it.",
            (
                _ours("hard, inverse distance", game="hard", weights="inverse", n_bits=BITS),
                _ours("soft, default weights", n_bits=BITS),
                _peer("shapiq `WeightedKNNExplainer`", "shapiq", n_bits=BITS),
            ),
            tuple((n, d, 1) for d in (2, 128) for n in (*small, *plain)),
        ),
        Contest(
            "The training set on itself, unweighted",
            "Every training point is a validation point for the others. cleanlab keeps only the K "
            "nearest of each, so that its values are not those of the game (see Agreement); "
            "`max_rank=K` of ours keeps those too, and bounds what is left out. cleanlab finds "
            "neighbours with a tree where there are few features; ours measures all distances. "
            f"Beyond N = {MANY:,} ours is timed on 1,000 of the points as validation points, "
            "themselves included, as all would take ten minutes.",
            (
                _ours("exact", 1_000, weights="uniform", alone=True),
                _ours(f"`max_rank={K}`", 1_000, weights="uniform", alone=True, max_rank=K),
                _peer("cleanlab `data_shapley_knn`", "cleanlab", metric="euclidean"),
            ),
            tuple((n, d, None) for n, d in both),
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
                (row, stack.enter_context(Worker(c.library, LIMIT)), c)
                for row, c in zip(new, contest.contestants, strict=True)
                if row.failed is None
            ]
            for turn in range(TURNS):
                first = turn % max(len(teams), 1)
                for row, worker, c in teams[first:] + teams[:first]:
                    if row.failed is None and row.spent < ENOUGH:
                        _one_run(row, worker, c, str(path), n_val or n)
        rows += new
    return rows


def _hopeless(contestant: Contestant, n: int, features: int, rows: Iterable[Row]) -> Row:
    """A new row, failed already where a smaller size of the same kind was too much."""
    row = Row(contestant.name, n, features)
    for earlier in rows:
        same = (earlier.contestant, earlier.features) == (row.contestant, features)
        if same and earlier.too_much and row.failed is None:
            row.failed = f"not tried: {earlier.failed} at N = {earlier.n:,}"
    return row


def _one_run(row: Row, worker: Worker, contestant: Contestant, path: str, per_call: int) -> None:
    args = dict(contestant.args)
    order: dict[str, Any] = {"call": contestant.library, "args": args, "data": path}
    if contestant.most is not None and row.n > MANY:
        per_call = contestant.most
        if args.get("alone"):
            args["alone"] = per_call
        else:
            order["n_val"] = per_call
    answer = worker.order(**order, warm=True) if row.runs == 0 else {}
    if "failed" not in answer:
        answer = worker.order(**order)
    if "failed" in answer:
        row.failed, row.too_much = answer["failed"], answer.get("too_much", False)
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
        for row in here:
            peer = not (row.failed or row.contestant.startswith("ours"))
            if peer and row.seconds < ours.seconds:
                ratio = "" if ours.failed else f", {ours.seconds / row.seconds:.2f} times"
                faster.append(f"{row.contestant} at N = {n:,}, {features} features{ratio}")
    said = "; ".join(faster) if faster else "nobody"
    out += ["", f"**Faster than {contest.contestants[0].name}**: {said}.", ""]
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


def section(folder: Path, *, quick: bool) -> tuple[list[str], bool]:
    """The part on speed and memory, and whether nothing but time or memory ended a call."""
    out = [
        "## Speed and memory",
        "",
        f"K = {K}, one thread each, processor seconds (the machine is shared, so wall time would "
        f"say more about what else ran): the least of up to {TURNS} runs, fewer once {ENOUGH:g} s "
        "are spent, the libraries taking turns. Judge by the ratios. Extra memory is the peak of "
        "resident memory during the first run above what the process held with library and data "
        f"loaded. Limits: {LIMIT:g} s a call and {MEMORY:g} GB; what goes over them is not tried "
        "at larger sizes.",
        "",
    ]
    good = True
    for contest in contests(quick):
        rows = measure(contest, folder)
        out += lines(contest, rows)
        for row in rows:
            if row.failed and not row.too_much and not row.failed.startswith("not tried"):
                print(f"{row.contestant}, N = {row.n:,}: {row.failed}", file=sys.stderr)
                good = False
    return out, good
