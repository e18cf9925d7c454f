"""Seconds against N, on the paper's two-dimensional Gaussian set-up, one validation point.

Every time is end to end: from features to values, with distances, ranking and weights, in one
thread. Algorithms take turns, and the least of a few repeats counts. Where the time predicted from
smaller sizes is beyond the limit, the algorithm is not started; its time is extrapolated, and drawn
as such.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dataworth.arrays import Floats
from dataworth.baselines import enumerate_neighbours, monte_carlo, permutations_needed, quadratic
from paper import paper, plots
from paper.methods import valuator
from paper.protocol import root
from paper.run import Run
from paper.store import Store
from paper.writing import table

DELTA = 0.1
SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
FEW = (32, 56)  # sizes for enumeration alone, which can bear few of the others
LONGEST = 600.0
SEVERAL_LONGEST = 120.0  # where several settings stand side by side
QUICK_LONGEST = 1.0
REPEATS = 3
MOST_DRAWN = 1e10
LONG = 5.0  # seconds from which one repeat is enough

Seconds = dict[int, float]


class Problem(NamedTuple):
    """Standard normal points, labelled by the sign of their sum; one validation point."""

    X: Floats
    y: Any
    x: Floats
    label: int

    @classmethod
    def draw(cls, n: int) -> "Problem":
        X = np.random.default_rng(n).normal(size=(n + 1, 2))
        y = (X.sum(axis=1) > 0).astype(np.int64)
        return cls(X[:n], y[:n], X[n], int(y[n]))


def ranked(problem: Problem, bits: int) -> tuple[Any, Any]:
    """Which labels are right, nearest point first, and the paper's linear weights, rounded."""
    distances = np.sqrt(((problem.X - problem.x) ** 2).sum(axis=1))
    order = np.argsort(distances, kind="stable")
    near, far = distances[order[0]], distances[order[-1]]
    weights = np.rint((far - distances[order]) / (far - near) * (2**bits - 1)).astype(np.int64)
    return problem.y[order] == problem.label, weights


def _enumerate(p: Problem, k: int, bits: int) -> Any:
    return enumerate_neighbours(*ranked(p, bits), n_neighbors=k, game="hard")


def _sample(p: Problem, k: int, bits: int) -> Any:
    epsilon = paper.error_bound(root(len(p.y)), len(p.y), k)
    return monte_carlo(
        *ranked(p, bits), n_neighbors=k, game="hard", epsilon=epsilon, delta=DELTA, random_state=0
    )


def _quadratic(p: Problem, k: int, bits: int) -> Any:
    return quadratic(*ranked(p, bits), n_neighbors=k)


def _quadratic_root(p: Problem, k: int, bits: int) -> Any:
    return quadratic(*ranked(p, bits), n_neighbors=k, max_rank=root(len(p.y)))


def _quadratic_tail(p: Problem, k: int, bits: int) -> Any:
    right, weights = ranked(p, bits)
    return quadratic(right, weights, n_neighbors=k, max_rank=root(len(p.y)), share_tail=True)


def _ours(method: str) -> Callable[[Problem, int, int], Any]:
    def value(p: Problem, k: int, bits: int) -> Any:
        fitted = valuator(method, n_neighbors=k, n_bits=bits).fit(p.X, p.y)
        return fitted.value(p.x[None], [p.label])

    return value


def _sets(n: int, k: int) -> float:
    """How many sets the enumeration goes through."""
    return float((n - 1) * sum(math.comb(n - 2, size) for size in range(k)))


def _steps(n: int, k: int) -> float:
    """How many arrivals Monte Carlo draws."""
    return float(n * permutations_needed(paper.error_bound(root(n), n, k), DELTA, n))


class Algorithm(NamedTuple):
    """How to run it, what its time is proportional to, by N and K, and how it is drawn."""

    title: str
    run: Callable[[Problem, int, int], Any]
    cost: Callable[[int, int], float]
    colour: str
    marker: str


ALGORITHMS = {
    "enumeration": Algorithm("O(N^K), exact", _enumerate, _sets, plots.GREY, "p"),
    "sampling": Algorithm("Monte Carlo, equal bound", _sample, _steps, plots.BLACK, "o"),
    "quadratic": Algorithm(
        "the paper's, exact", _quadratic, lambda n, k: n**2.0, plots.VERMILION, "s"
    ),
    "quadratic-root": Algorithm(
        "the paper's, √N", _quadratic_root, lambda n, k: n**1.5, plots.ORANGE, "D"
    ),
    "quadratic-tail": Algorithm(
        "the paper's, √N, shared tail", _quadratic_tail, lambda n, k: n, plots.PURPLE, "*"
    ),
    "hard": Algorithm("ours, exact", _ours("hard-linear"), lambda n, k: n, plots.BLUE, "^"),
    "hard-root": Algorithm("ours, √N", _ours("hard-linear-sqrt"), lambda n, k: n, plots.SKY, "v"),
    "soft": Algorithm(
        "ours, soft game, exact", _ours("soft-linear"), lambda n, k: n, plots.GREEN, "P"
    ),
}


def sizes(name: str, k: int, quick: bool) -> tuple[int, ...]:
    """The numbers of points an algorithm is tried on."""
    if name == "enumeration":
        return FEW if quick else (*FEW, *SIZES)
    largest = 1_000 if quick else SIZES[-1]
    least = k if name == "sampling" else 0  # the paper's bound needs a rank beyond K
    return tuple(n for n in SIZES if n <= largest and root(n) > least)


def growth(seconds: Seconds) -> str:
    """The growth over the last three points, by least squares on logarithms.

    A single point shows no growth.
    """
    points = sorted(seconds.items())[-3:]
    if len(points) < 2:
        return "–"
    n, s = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return f"N^{np.polyfit(n, s, 1)[0]:.2f}"


def extrapolated(name: str, seconds: Seconds, k: int, every: Sequence[int]) -> Seconds:
    """Times beyond the largest size measured, by what they are proportional to."""
    if not seconds:
        return dict.fromkeys(every, 0.0)
    last, cost = max(seconds), ALGORITHMS[name].cost
    return {n: seconds[last] * cost(n, k) / cost(last, k) for n in every if n > last}


def measure(
    run: Run, names: Sequence[str], k: int, bits: int, longest: float
) -> tuple[dict[str, Seconds], list[float]]:
    """Seconds by algorithm and size, and the load of the machine at each measurement.

    The three experiments share what they measure.
    """
    found: dict[str, Seconds] = {name: {} for name in names}
    loads = []
    store = Store(run.out / ".work" / f"timing{'-quick' if run.quick else ''}.jsonl", sources=())
    for name in names:  # compile, and load what is compiled
        ALGORITHMS[name].run(Problem.draw(16 if name == "enumeration" else 400), k, bits)
    every = sorted({n for name in names for n in sizes(name, k, run.quick)})
    for n in run.progress(every):
        problem = Problem.draw(n)
        for repeat in range(REPEATS):
            for name in names:
                known = {m: s for m, s in found[name].items() if m < n}
                if n not in sizes(name, k, run.quick):
                    continue
                if extrapolated(name, known, k, [n])[n] > longest:
                    continue
                if repeat and found[name][n] > LONG:
                    continue
                setting = {"algorithm": name, "n": n, "K": k, "repeat": repeat}
                if name != "enumeration":  # bits do not matter to it
                    setting["bits"] = bits
                result = store.get(setting, partial(timed, name, problem, k, bits))
                found[name][n] = min(found[name].get(n, math.inf), result["seconds"])
                loads.append(result["load"])
    return found, loads


def timed(name: str, problem: Problem, k: int, bits: int) -> dict[str, float]:
    """Processor seconds of one run, and the load of the machine."""
    start = time.process_time()
    ALGORITHMS[name].run(problem, k, bits)
    return {"seconds": time.process_time() - start, "load": os.getloadavg()[0]}


def shown(seconds: float) -> str:
    """A time for people."""
    for unit, size in (("years", 365 * 86400.0), ("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            number = seconds / size
            return f"{number:,.0f} {unit}" if number < 1e6 else f"{number:.0e} {unit}"
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1000 * seconds:.3g} ms"


def listing(found: dict[str, Seconds], k: int, longest_n: int) -> str:
    """Times by N; extrapolated ones in italics."""
    every = sorted({n for s in found.values() for n in s} | {100, longest_n})
    guessed = {name: extrapolated(name, s, k, every) for name, s in found.items()}
    rows: list[list[object]] = []
    for n in every:
        row: list[object] = [f"{n:,}"]
        for name, seconds in found.items():
            if n in seconds:
                row.append(shown(seconds[n]))
            elif n in guessed[name] and n in SIZES:
                row.append(f"*≈ {shown(guessed[name][n])}*")
            else:
                row.append("")
        rows.append(row)
    rows.append(["growth", *(growth(s) for s in found.values())])
    return table(["N", *(ALGORITHMS[name].title for name in found)], rows)


def draw(
    axis: Any, found: dict[str, Seconds], k: int, longest_n: int, title: str, label: bool
) -> None:
    """Filled where measured, hollow and dashed where extrapolated."""
    for name, seconds in found.items():
        algorithm = ALGORITHMS[name]
        points = sorted(seconds.items())
        axis.loglog(*zip(*points, strict=True), marker=algorithm.marker, color=algorithm.colour,
                    markersize=5, label=algorithm.title if label else None)  # fmt: skip
        beyond = extrapolated(name, seconds, k, [n for n in SIZES if n <= longest_n])
        if beyond:
            line = [points[-1], *sorted(beyond.items())]
            axis.loglog(*zip(*line, strict=True), "--", color=algorithm.colour, linewidth=1)
            axis.loglog(*zip(*line[1:], strict=True), algorithm.marker, color=algorithm.colour,
                        markerfacecolor="white", markersize=5)  # fmt: skip
    axis.set_title(title, fontsize=10, loc="left")
    axis.set_xlabel("training points N")
    axis.set_ylabel("processor seconds, one validation point")
    axis.set_ylim(1e-4, MOST_DRAWN)


def about(loads: list[float], longest: float, n: int, ks: Sequence[int]) -> list[str]:
    """How it was measured."""
    counts = ", ".join(
        f"{permutations_needed(paper.error_bound(root(n), n, k), DELTA, n):,} (K = {k})"
        for k in sorted(set(ks)) if root(n) > k
    )  # fmt: skip
    return [
        "Standard normal points in two dimensions, labelled by the sign of their sum; one "
        "validation point, one draw for each N, linear weights, the binary hard game (and our soft "
        "game). End to end "
        "from features to values, in one thread; algorithms take turns, the least of "
        f"{REPEATS} repeats counts (one repeat from {LONG:.0f} s on). What would take more than "
        f"{longest:.0f} s, by the largest size before it, is not started but extrapolated from "
        "there by what its time is proportional to (sets of the enumeration, arrivals of Monte "
        "Carlo, N² and N^1.5 of the paper's algorithms, N of ours): *in italics*, hollow and "
        f"dashed; what lies beyond {MOST_DRAWN:.0e} s is not in the picture. The growth measured "
        "over the last three points is printed below. Monte Carlo "
        f"draws the permutations that Hoeffding's bound asks for (δ = {DELTA}) to be within the "
        f"paper's ε(√N): at N = {n:,}, {counts}. "
        "All algorithms are this library's implementations, compiled, from the same sorted "
        "neighbours. *The paper's, √N* follows its pseudo-code, which counts anew for each of "
        "the points behind rank √N, though these have all counts in common; with a *shared tail* "
        "they are counted once.",
        "Times are seconds of processor time of one thread, which others on the machine can "
        "lengthen: load average (of all its cores) while measuring "
        f"{min(loads):.1f} to {max(loads):.1f}.",
    ]


def plain(run: Run) -> None:
    """The experiment `runtime`."""
    k, bits = 5, 3
    longest_n = 1_000 if run.quick else SIZES[-1]
    longest = QUICK_LONGEST if run.quick else LONGEST
    found, loads = measure(run, list(ALGORITHMS), k, bits, longest)
    whole = {name: {**extrapolated(name, s, k, [100, longest_n]), **s} for name, s in found.items()}
    at = {name: s[longest_n] for name, s in whole.items()}
    parts = [
        f"K = {k}, {bits} bits.",
        *about(loads, longest, longest_n, [k]),
        listing(found, k, longest_n),
        f"At N = {longest_n:,}, measured or extrapolated as above: ours exact is "
        f"{at['quadratic'] / at['hard']:,.0f} × as fast as the paper's exact algorithm, ours at √N "
        f"{at['quadratic-root'] / at['hard-root']:,.0f} × as fast as the paper's at √N, and exact "
        f"values by ours come {at['quadratic-root'] / at['hard']:,.0f} × as fast as the paper's "
        f"approximation ({at['quadratic-tail'] / at['hard']:.1f} × with a shared tail).",
        "**Against the paper**, which gives curves and three figures. It says that O(N^K) takes at "
        f"least 1,000 hours at N = 100: here {shown(whole['enumeration'][100])}"
        f"{'' if 100 in found['enumeration'] else ', extrapolated'}. It says "
        "that its exact algorithm is almost 10⁶ × as fast as O(N^K) at N = 10⁵: here "
        f"{whole['enumeration'][longest_n] / at['quadratic']:.0e} × at N = {longest_n:,}. "
        "And that its approximation is almost 10⁶ × as fast as Monte "
        f"Carlo at the same bound: here {at['sampling'] / at['quadratic-root']:.2g} × "
        f"({at['sampling'] / at['quadratic-tail']:.2g} × with a shared tail). Our Monte Carlo "
        "computes no utility for a point that does not enter the K nearest.",
    ]
    figure, (axis,) = plots.panels(1, 1, width=7, height=5.2)
    draw(axis, found, k, longest_n, f"K = {k}, {bits} bits", label=True)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    run.finish("Seconds against N", parts, figure, seeds="the number of points")


def beside(run: Run, title: str, settings: Sequence[tuple[int, int]], note: str) -> None:
    """Several settings of K and bits side by side."""
    longest_n = 1_000 if run.quick else SIZES[-1]
    longest = QUICK_LONGEST if run.quick else SEVERAL_LONGEST
    figure, axes = plots.panels(1, len(settings), width=4.2, height=4.4, sharey=True)
    listings, loads = [], []
    for place, (k, bits) in enumerate(settings):
        names = [n for n in ALGORITHMS if n != "enumeration" or k < 10]
        found, more = measure(run, names, k, bits, longest)
        loads += more
        heading = f"K = {k}, {bits} bits"
        listings += [f"## {heading}", listing(found, k, longest_n)]
        whole = {name: {**extrapolated(name, s, k, [longest_n]), **s} for name, s in found.items()}
        listings.append(
            f"At N = {longest_n:,}: the paper's exact algorithm takes "
            f"{whole['quadratic'][longest_n] / whole['hard'][longest_n]:,.0f} × as long as ours, "
            f"Monte Carlo {whole['sampling'][longest_n] / whole['quadratic-root'][longest_n]:.2g} "
            "× as long as the paper's approximation at the same bound "
            f"({whole['sampling'][longest_n] / whole['quadratic-tail'][longest_n]:.2g} × with a "
            "shared tail)."
        )
        draw(axes[place], found, k, longest_n, heading, label=place == 0)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    parts = [note, *about(loads, longest, longest_n, [k for k, _ in settings]), *listings]
    run.finish(title, parts, figure, seeds="the number of points")


def by_k(run: Run) -> None:
    """The experiment `runtime-k`."""
    note = (
        "The paper leaves out O(N^K) at K = 10, and so do we. It says that its algorithms are more "
        "than 10⁴ × as fast as those before, and gives curves only."
    )
    beside(run, "Seconds against N for several K", [(3, 3), (5, 3), (10, 3)], note)


def by_bits(run: Run) -> None:
    """The experiment `runtime-bits`."""
    note = (
        "The paper says that its algorithms at 7 bits are still more than 10⁴ × as fast as those "
        "before, and gives curves only."
    )
    beside(run, "Seconds against N for several numbers of bits", [(5, 3), (5, 5), (5, 7)], note)
