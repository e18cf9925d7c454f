"""AUROC against K, against the number of bits, and against the rank where the walk stops."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataworth.arrays import Floats
from paper import paper, plots
from paper.datasets import SOURCES, Dataset
from paper.detection import WHAT, absent, names, setting_of
from paper.methods import BASELINE, N_BITS, N_NEIGHBORS, TITLES, found
from paper.protocol import DAMAGES, Task, root
from paper.run import Run
from paper.writing import sign_test, table

SIZES = (1000, 100)
QUICK_SIZES = (60, 10)
SEEDS = 3
HEADS = {damage: words.capitalize() for damage, words in WHAT.items()}

# damage -> method -> (data sets, points of the grid), mean over seeds
Curves = dict[str, dict[str, Floats]]


@dataclass(frozen=True)
class Sweep:
    """One option that varies.

    Attributes
    ----------
    title : str
        The title of the page.
    fixed : str
        What does not vary, in words.
    option : str
        The option of the valuator.
    grid : tuple of int
        Its values.
    axis : str
        What the option is called on the page.
    methods : tuple of str
        The methods that are compared.
    across : callable, optional
        Where a value of the option stands on the axis of the picture; by default at the value.
    """

    title: str
    fixed: str
    option: str
    grid: tuple[int, ...]
    axis: str
    methods: tuple[str, ...]
    across: Callable[[int], float] | None = None


def measured(run: Run, sweep: Sweep) -> tuple[Curves, dict[str, Dataset], list[str]]:
    """The curves, the data sets they come from, and a line about missing ones."""
    loaded, missing = run.data(names(run))
    facts = {"option": sweep.option, "grid": sweep.grid, "methods": sweep.methods}

    def compute(task: Task) -> dict[str, Any]:
        return {
            "auroc": {
                m: [found(m, task, **{sweep.option: x}, n_jobs=run.jobs) for x in sweep.grid]
                for m in sweep.methods
            }
        }

    curves: Curves = {}
    for damage in DAMAGES:
        units = run.measure(
            damage,
            loaded,
            compute,
            sizes=QUICK_SIZES if run.quick else SIZES,
            n_seeds=run.n_seeds(SEEDS),
            facts=facts,
        )
        curves[damage] = {
            m: np.array([np.mean([u["auroc"][m] for u in us], axis=0) for us in units.values()])
            for m in sweep.methods
        }
    return curves, loaded, absent(missing)


def finish(
    run: Run,
    sweep: Sweep,
    curves: Curves,
    loaded: dict[str, Dataset],
    said: Sequence[str],
    mark: float | None = None,
) -> None:
    """Tables, the picture and what was found."""
    n_train, n_val = QUICK_SIZES if run.quick else SIZES
    n_seeds = run.n_seeds(SEEDS)
    parts = [
        setting_of(sweep.fixed),
        f"{n_train} training and {n_val} validation points (fewer of Fraud and Apsfail), "
        f"{n_seeds} seeds, {len(loaded)} data sets. The paper gives curves only, without figures.",
    ]
    for damage, by in curves.items():
        parts += [
            f"## {HEADS[damage]}",
            "AUROC, mean over data sets and seeds.",
            table(
                [sweep.axis, *(TITLES[m] for m in by)],
                [[x, *(f"{by[m][:, k].mean():.3f}" for m in by)] for k, x in enumerate(sweep.grid)],
            ),
        ]
    parts += said
    figure = picture(sweep, curves, mark)
    run.finish(sweep.title, parts, figure, seeds=f"0 to {n_seeds - 1}", data=loaded)


def picture(sweep: Sweep, curves: Curves, mark: float | None) -> Any:
    """One panel for each task; the mean over data sets."""
    figure, axes = plots.panels(1, 2, width=4.8, height=4.4)
    across = [sweep.across(x) if sweep.across else x for x in sweep.grid]
    for axis, (damage, by) in zip(axes, curves.items(), strict=True):
        for method, curve in by.items():
            colour, marker = plots.LOOKS[method]
            style = "--" if method.endswith("sqrt") else "-"
            axis.plot(across, curve.mean(axis=0), marker=marker, linestyle=style, color=colour,
                      markersize=5, label=TITLES[method] if axis is axes[0] else None)  # fmt: skip
        if sweep.across is None:
            axis.set_xscale("log" if sweep.option == "n_neighbors" else "linear")
            axis.set_xticks(sweep.grid, [str(x) for x in sweep.grid])
            axis.minorticks_off()
        if mark is not None:
            axis.axvline(mark, color=plots.GREY, linewidth=1, linestyle=":")
            axis.annotate("√N", (mark, axis.get_ylim()[0]), xytext=(3, 3),
                          textcoords="offset points", color=plots.GREY)  # fmt: skip
        axis.set_title(HEADS[damage], fontsize=11, loc="left")
        axis.set_xlabel(
            "ε(M*), the paper's error bound; 0 is exact" if sweep.across else sweep.axis
        )
    axes[0].set_ylabel("AUROC, mean over data sets")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def by_k(run: Run) -> None:
    """The experiment `vary-k`."""
    sweep = Sweep(
        "AUROC against K", f"{N_BITS} bits", "n_neighbors",
        (1, 2, 5) if run.quick else (1, 2, 3, 5, 7, 10, 15, 20),
        "K", (BASELINE, "hard-uniform", "hard-linear", "hard-linear-sqrt", "soft-linear",
              "soft-rbf"),
    )  # fmt: skip
    curves, loaded, note = measured(run, sweep)
    rows = []
    for damage, by in curves.items():
        lost = {m: curve.max(axis=1) - curve[:, -1] for m, curve in by.items()}
        for m in sweep.methods:
            test = sign_test(lost[BASELINE] - lost[m])
            shown = [test.wins, test.losses, f"{test.p:.2g}"] if m != BASELINE else ["–"] * 3
            span = f"{np.ptp(by[m], axis=1).mean():.4f}"
            rows.append([HEADS[damage], TITLES[m], span, f"{lost[m].mean():.4f}", *shown])
    said = [
        "## How stable",
        "The paper says that the weighted hard game is more stable than the unweighted soft one, "
        "above all for large K. Largest less smallest AUROC over K, and what is lost from the best "
        f"K to K = {sweep.grid[-1]}, means over data sets; and on how many of them a method loses "
        "less or more than the unweighted soft game (where that loses nothing, none can lose "
        "less):",
        table(["task", "method", "range", "lost", "less", "more", "sign test p"], rows),
        *note,
    ]
    finish(run, sweep, curves, loaded, said)


def by_bits(run: Run) -> None:
    """The experiment `vary-bits`."""
    sweep = Sweep(
        "AUROC against the number of bits", f"K = {N_NEIGHBORS}", "n_bits",
        (1, 3) if run.quick else tuple(range(1, 8)),
        "bits", ("hard-linear", "hard-linear-sqrt", "soft-linear", "soft-linear-sqrt", "soft-rbf"),
    )  # fmt: skip
    curves, loaded, note = measured(run, sweep)
    three = sweep.grid.index(3)
    rows = [
        [HEADS[damage], TITLES[m], f"{np.ptp(curve[:, three:], axis=1).mean():.4f}",
         f"{np.ptp(curve, axis=1).mean():.4f}"]
        for damage, by in curves.items() for m, curve in by.items()
    ]  # fmt: skip
    said = [
        "## How stable",
        "The paper says that the number of bits matters little. Largest less smallest AUROC, mean "
        "over data sets, from 3 bits on and over all numbers of bits:",
        table(["task", "method", "from 3 bits", "all"], rows),
        *note,
    ]
    finish(run, sweep, curves, loaded, said)


def by_rank(run: Run) -> None:
    """The experiment `vary-rank`."""
    n = (QUICK_SIZES if run.quick else SIZES)[0]
    middle = root(n)
    grid = sorted({r for r in (6, 8, 12, 16, 24, 48, 96, 192, 384, 640, n) if r <= n} | {middle})
    sweep = Sweep(
        "AUROC against the error bound of the approximation",
        f"K = {N_NEIGHBORS}, {N_BITS} bits", "max_rank", tuple(grid),
        "M*", ("hard-linear", "hard-rbf", "soft-linear", "soft-rbf"),
        lambda r: paper.error_bound(r, n, N_NEIGHBORS),
    )  # fmt: skip
    curves, loaded, note = measured(run, sweep)
    bounds = [paper.error_bound(r, n, N_NEIGHBORS) for r in grid]
    at = grid.index(middle)
    rows = []
    for damage, by in curves.items():
        for m, curve in by.items():
            test = sign_test(curve[:, at] - curve[:, -1])
            gap = f"{(curve[:, at] - curve[:, -1]).mean():+.4f}"
            rows.append([HEADS[damage], TITLES[m], gap, test.wins, test.losses, f"{test.p:.2g}"])
    said = [
        "## √N against exact",
        "The paper says that AUROC is highly stable over a wide range of M*. The bounds ε(M*): "
        + ", ".join(f"{r}: {b:.3f}" for r, b in zip(grid, bounds, strict=True))
        + f" (N = {n}; M* = √N is {middle}). AUROC at √N less AUROC of the exact values (of the "
        "last row), and data sets on which √N is better or worse:",
        table(["task", "method", "mean difference", "better", "worse", "sign test p"], rows),
        "Points behind M* are told apart by label and weight only. This is the game of the paper's "
        "text, in which ties are right; and where there are more than two classes, M* counts "
        "the points of all of them, while the paper counts those of the two classes of each vote, "
        f"so that its bound is not meant for these. {SOURCES['fraud'].title} and "
        f"{SOURCES['apsfail'].title} have fewer points; their bounds are a little smaller.",
        *note,
    ]
    finish(run, sweep, curves, loaded, said, bounds[at])
