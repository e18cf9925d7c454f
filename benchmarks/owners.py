"""Owners as players against points as players; writes benchmarks/OWNERS.md.

One validation point with N distances, which are given, one thread, the soft game with its default
weights (3 bits). Both games rank the same row. Times are taken in turns in the same run, each the
least of several, and only their ratios are shown. `python -m benchmarks.owners`
"""

import math
import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

import dataworth
from benchmarks.__main__ import least
from dataworth.arrays import Ints
from dataworth.games import soft
from dataworth.games.game import Setup
from dataworth.games.kernels.coefficients import shapley_like
from dataworth.games.owners import OwnerGame, Sampling, choose
from dataworth.games.semivalues import Law
from dataworth.weights.weighting import Weighting

OUT = Path(__file__).parent / "OWNERS.md"
OWNERS = (5, 20, 100, 300, 1_000)
SIZES = (10_000, 100_000, 1_000_000)
K, BITS = 5, 3
LOOSE = 0.01  # the standard error that sampling is timed for


class Case(NamedTuple):
    """One row of distances, and all that is played on it."""

    row: Any
    weighting: Weighting
    points: Any
    owners: OwnerGame
    label: int


class Times(NamedTuple):
    """Seconds for ranking, the game of points, the game of owners, and sampling them loosely."""

    rank: float
    points: float
    owners: float
    sampling: float


def case(n: int, n_owners: int, k: int = K, game: str = "soft") -> Case:
    """Points of two classes that belong to owners at random."""
    rng = np.random.default_rng(n + n_owners)
    weighting = Weighting("rbf", "auto", BITS)
    setup = Setup(2, k, weighting, "one-vs-one", "right")
    codes: Ints = rng.integers(0, 2, n)
    whose: Ints = rng.integers(0, n_owners, n)
    way = choose(setup, game, n_owners)
    owners = OwnerGame(whose, n_owners, codes, setup, game, Law(1.0, 1.0), way, Sampling(LOOSE, 0))
    points = soft.game(setup, codes, shapley_like(n, k))
    return Case(rng.random(n), weighting, points, owners, 1)


def times(one: Case, *, sampling: bool) -> Times:
    """Take all times of a case in turns."""
    ranked = one.weighting.rank(one.row)
    rank, points, owners = least(
        lambda: one.weighting.rank(one.row),
        lambda: one.points.solve(ranked, one.label),
        lambda: one.owners.solve(ranked, one.label),
    )
    drawn = math.nan
    if sampling:
        start = time.perf_counter()
        replace(one.owners, way="sampling").solve(ranked, one.label)
        drawn = time.perf_counter() - start
    return Times(rank, points, owners, drawn)


def exponent(low: float, high: float, factor: float) -> float:
    """The power of growth between two times."""
    return math.log(high / low) / math.log(factor)


def main() -> None:
    """Measure, print and write the page."""
    times(case(1_000, 20), sampling=True)  # compiles
    found = {(n, g): times(case(n, g), sampling=True) for n in SIZES for g in OWNERS}
    lines = [
        "# Owners as players: what they cost",
        "",
        "Written by `python -m benchmarks.owners`. Ratios of times taken in one run on one "
        "machine, one thread: one validation point, distances given, soft game, "
        f"K = {K}, {BITS} bits, default weights.",
        "",
        f"dataworth {dataworth.__version__}, Python {platform.python_version()}, numpy "
        f"{np.__version__}, numba {numba.__version__}, {platform.machine()}.",
        "",
        "## Against the game of points",
        "",
        "Both rank the row first. Entries: ranking and the game of owners / ranking and the game "
        "of points. Up to 12 owners all sets of them are gone through.",
        "",
        "| owners | " + " | ".join(f"N = {n:,}" for n in SIZES) + " | growth with N, 10⁴ → 10⁶ |",
        "|---" * (len(SIZES) + 2) + "|",
    ]
    for g in OWNERS:
        some = [found[n, g] for n in SIZES]
        ratios = [f"{(t.rank + t.owners) / (t.rank + t.points):.2f} ×" for t in some]
        grown = exponent(some[0].owners, some[-1].owners, SIZES[-1] / SIZES[0])
        lines.append(f"| {g:,} | " + " | ".join(ratios) + f" | {grown:.2f} |")
    n = SIZES[1]
    grown = exponent(found[n, 100].owners, found[n, 1_000].owners, 10.0)
    lines += [
        "",
        "The growth is that of the game of owners alone, after ranking: selecting the nearest "
        "points of each owner is the only part that sees all N. From 100 to 1,000 owners, at "
        f"N = {n:,}, it grows with the power {grown:.2f} of their number.",
        "",
        "## Against sampling permutations of owners",
        "",
        "Each permutation comes with its reverse, and a step merges two sorted lists of K. "
        f"Entries: sampling until every standard error is {LOOSE} / the exact game, both after "
        "ranking. An error ten times smaller takes a hundred times as long; that of the mean over "
        "100 validation points is ten times smaller.",
        "",
        "| owners | " + " | ".join(f"N = {n:,}" for n in SIZES) + " |",
        "|---" * (len(SIZES) + 1) + "|",
    ]
    for g in OWNERS:
        ratios = [f"{found[n, g].sampling / found[n, g].owners:.3g} ×" for n in SIZES]
        lines.append(f"| {g:,} | " + " | ".join(ratios) + " |")
    lines += [
        "",
        "## Other games and more neighbours",
        "",
        f"N = {n:,}, 100 owners. Entries: the game / the soft game of owners with K = {K}, both "
        "after ranking.",
        "",
        "| game | K = 5 | K = 10 | K = 20 |",
        "|---|---|---|---|",
    ]
    base = found[n, 100].owners
    for game in ("soft", "hard"):
        each = [times(case(n, 100, k, game), sampling=False).owners / base for k in (5, 10, 20)]
        lines.append(
            f"| {game} | "
            + " | ".join(f"{r:.0f} ×" if r > 9.95 else f"{r:.1f} ×" for r in each)
            + " |"
        )
    OUT.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(OUT.read_text(encoding="utf-8"))
    one = found[n, 100]
    print(
        f"N = {n:,}, 100 owners, beyond the distances: points {1e3 * (one.rank + one.points):.2f} "
        f"ms, owners {1e3 * (one.rank + one.owners):.2f} ms (ranking {1e3 * one.rank:.2f} ms in "
        "both)."
    )


if __name__ == "__main__":
    main()
