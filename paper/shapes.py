"""Looking at values themselves: rounding, their distribution, and 50 points one by one."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dataworth.arrays import Floats
from paper import plots, protocol
from paper.datasets import Dataset
from paper.methods import BASELINE, N_BITS, N_NEIGHBORS, TITLES, values_of
from paper.protocol import Task
from paper.run import Run, identity
from paper.writing import interval, table

COLOURS = (plots.ORANGE, plots.SKY, plots.GREEN, plots.BLUE, plots.VERMILION)
MARKERS = "osD^v"
SHOWN = (BASELINE, "hard-linear", "soft-linear")


def discretisation(run: Run) -> None:
    """The experiment `discretisation`: values at b and b + 1 bits, on Fraud."""
    loaded, _ = run.data(["fraud"])
    sizes = (50, 100) if run.quick else (50, 100, 200, 400, 800)
    bits = range(1, 4) if run.quick else range(1, 9)
    n_seeds, n_val = run.n_seeds(), 10 if run.quick else 80
    norms: dict[str, Floats] = {}

    def compute(task: Task) -> dict[str, Any]:
        found = {}
        for game in ("hard", "soft"):
            by_bits = [
                values_of(f"{game}-linear", task, n_bits=b, n_jobs=run.jobs)
                for b in (*bits, bits[-1] + 1)
            ]
            steps = np.diff(by_bits, axis=0)
            found[f"{game} l2"] = np.linalg.norm(steps, axis=1).tolist()
            found[f"{game} max"] = np.abs(steps).max(axis=1).tolist()
        real = values_of("soft-linear", task, n_bits=None, n_jobs=run.jobs)
        found["real l2"] = np.linalg.norm(np.array(by_bits[:-1]) - real, axis=1).tolist()
        return found

    for n in sizes:
        facts = {"bits": list(bits), "discretisation": True}
        units = run.measure(
            "none", loaded, compute, sizes=(n, n_val), n_seeds=n_seeds, facts=facts
        )["fraud"]
        for key in units[0].keys() - {"sizes"}:
            norms[f"{key} {n}"] = np.mean([u[key] for u in units], axis=0)
    parts = [
        f"Fraud, K = {N_NEIGHBORS}, linear weights, {n_val} validation points, mean of {n_seeds} "
        "draws, no errors planted. The paper shows the first two panels, as curves without "
        "figures, and says that the error is near zero from 5 bits on and falls with N. The soft "
        "game can be computed with real weights, so its rounding error itself is in the last "
        "panel. A balanced set without repeats ends below 1,000 points here.",
    ]
    last, at = norms[f"hard l2 {sizes[-1]}"], min(4, len(bits) - 1)
    falls = all(np.all(norms[f"hard l2 {a}"] > norms[f"hard l2 {b}"]) for a, b in pairwise(sizes))
    parts.append(
        f"From b = 1 to b = {bits[at]} the ℓ2 step of the hard game falls by a factor of "
        f"{last[0] / last[at]:.0f} at N = {sizes[-1]}; it "
        f"{'falls' if falls else 'does not always fall'} with N at every b."
    )
    figure = steps_drawn(norms, sizes, bits, parts)
    title = "Rounding: values at b and b + 1 bits"
    run.finish(title, parts, figure, seeds=f"0 to {n_seeds - 1}", data=loaded)


def steps_drawn(
    norms: dict[str, Floats], sizes: tuple[int, ...], bits: range, parts: list[str]
) -> Any:
    """A panel, and a table added to `parts`, for each kind of difference."""
    shown = {
        "hard l2": "Hard game, ‖φ_b − φ_{b+1}‖₂",
        "hard max": "Hard game, ‖φ_b − φ_{b+1}‖∞",
        "soft l2": "Soft game, ‖φ_b − φ_{b+1}‖₂",
        "real l2": "Soft game, ‖φ_b − φ_real‖₂",
    }
    figure, axes = plots.panels(2, 2, width=4.4, height=3.4)
    for axis, (key, title) in zip(axes, shown.items(), strict=True):
        for k, n in enumerate(sizes):
            axis.semilogy(list(bits), norms[f"{key} {n}"], marker=MARKERS[k], color=COLOURS[k],
                          label=f"N = {n}")  # fmt: skip
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_xlabel("bits b")
        axis.set_ylabel("norm of the difference")
        rows = [[b, *(f"{norms[f'{key} {n}'][k]:.2e}" for n in sizes)] for k, b in enumerate(bits)]
        parts += [f"## {title}", table(["b", *(f"N = {n}" for n in sizes)], rows)]
    axes[0].legend(frameon=False, fontsize=9)
    return figure


def distribution(run: Run) -> None:
    """The experiment `distribution`: histograms of values at several N, on Fraud."""
    loaded, _ = run.data(["fraud"])
    sizes = (50, 100) if run.quick else (50, 200, 800)
    n_val, bits = 10 if run.quick else 80, 5
    found: dict[tuple[str, int], Floats] = {}

    def compute(task: Task) -> dict[str, Any]:
        return {
            m: values_of(m, task, n_bits=bits, n_jobs=run.jobs).tolist()
            for m in ("hard-linear", "soft-linear")
        }

    for n in sizes:
        facts = {"distribution": True, "bits": bits}
        (unit,) = run.measure("none", loaded, compute, sizes=(n, n_val), n_seeds=1, facts=facts)[
            "fraud"
        ]
        for method in ("hard-linear", "soft-linear"):
            found[method, n] = np.array(unit[method])
    figure, axes = plots.panels(1, 2, width=4.8, height=3.8)
    rows = []
    for axis, method in zip(axes, ("hard-linear", "soft-linear"), strict=True):
        edges = np.histogram_bin_edges(np.concatenate([found[method, n] for n in sizes]), 40)
        for k, n in enumerate(sizes):
            values = found[method, n]
            share = np.full(values.size, 1 / values.size)
            axis.hist(values, edges, weights=share, histtype="step", linewidth=1.6,
                      color=COLOURS[(0, 3, 4)[k]], label=f"N = {n}")  # fmt: skip
            low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
            rows.append([TITLES[method], n, f"{low:.2e}", f"{middle:.2e}", f"{high:.2e}",
                         f"{values.min():.2e}", f"{values.max():.2e}"])  # fmt: skip
        axis.set_title(f"{TITLES[method]}, K = {N_NEIGHBORS}, b = {bits}", fontsize=10, loc="left")
        axis.locator_params(axis="x", nbins=5)
        axis.set_xlabel("value of a training point")
        axis.set_ylabel("share of points")
    axes[0].legend(frameon=False)
    head = ["method", "N", "5 %", "median", "95 %", "least", "most"]
    parts = [
        f"Fraud, one draw, {n_val} validation points, no errors planted. The paper shows the hard "
        "game and says that with more points fewer of them are influential: the more points, the "
        "narrower the distribution.",
        table(head, rows),
    ]
    run.finish("Distribution of values", parts, figure, seeds="0", data=loaded)


def alone(data: Dataset, seed: int) -> Task:
    """50 points of CPU, 5 mislabelled, and the first validation point of a draw."""
    task = protocol.draw("cpu", data, "mislabel", n_train=50, n_val=2, seed=seed)
    return task._replace(X_val=task.X_val[:1], y_val=task.y_val[:1])


def told_apart(data: Dataset, draws: int, k: int) -> dict[str, list[list[float]]]:
    """Of the points whose label is not the validation point's, draw by draw and for each method:
    AUROC of the mislabelled ones, and the mean values of mislabelled and benign ones.
    """
    found: dict[str, list[list[float]]] = {m: [] for m in SHOWN}
    for seed in range(draws):
        task = alone(data, seed)
        other = task.y_train != task.y_val[0]
        bad = task.bad[other]
        if 0 < bad.sum() < bad.size:
            for m in SHOWN:
                values = values_of(m, task, n_neighbors=k)[other]
                means = [float(values[bad].mean()), float(values[~bad].mean())]
                found[m].append([protocol.auroc(values, bad), *means])
    return found


def qualitative(run: Run) -> None:
    """The experiment `qualitative`: 50 points of CPU, one validation point."""
    loaded, _ = run.data(["cpu"])
    data, draws = loaded["cpu"], 20 if run.quick else 500
    rows = []
    for k in (5, 10):
        setting = {"qualitative": k, "draws": draws, "print": identity(data), "bits": N_BITS}
        found = run.store.get(setting, partial(told_apart, data, draws, k))
        by = {m: np.array(found[m]) for m in SHOWN}
        for m in SHOWN:
            scores, (bad, good) = by[m][:, 0], by[m][:, 1:].mean(axis=0)
            gap = interval((scores - by[BASELINE][:, 0]).tolist()).signed()
            rows.append([k, TITLES[m], interval(scores.tolist()), "–" if m == BASELINE else gap,
                         f"{bad:.4f}", f"{good:.4f}", f"{bad / good:.1f}",
                         scores.size])  # fmt: skip
    parts = [
        f"50 training points of CPU, 5 of them mislabelled, {N_BITS} bits; the picture shows the "
        "first validation point of seed 0. The paper says that the weighted game gives mislabelled "
        "points near the validation point much lower values than benign points of another label, "
        "and that the unweighted one gives nearly the same to all of them. One picture can show "
        f"anything, so: over {draws} draws, one validation point each, AUROC of telling "
        "mislabelled points among those of another label (draws without such are left out), with "
        "its 95 % interval, and the paired difference from the unweighted game. All that can tell "
        "them apart is distance, and the flipped ones tend to be near, so every game ranks them "
        "much alike; how much lower their values are is in the last columns, means over draws.",
        table(
            [
                "K",
                "method",
                "AUROC",
                "difference",
                "value, mislabelled",
                "value, benign",
                "ratio",
                "draws",
            ],
            rows,
        ),
    ]
    title = "Weighted against unweighted values of 50 points"
    seeds = f"0; 0 to {draws - 1} for the table"
    run.finish(title, parts, bars(alone(data, 0)), seeds=seeds, data=loaded)


def bars(task: Task) -> Any:
    """Values one by one, the nearest point last, as in the paper."""
    distances = np.linalg.norm(task.X_train - task.X_val[0], axis=1)
    nearest_last = np.argsort(-distances, kind="stable")
    same = task.y_train == task.y_val[0]
    kinds = {
        "label of the validation point": (plots.SKY, same & ~task.bad),
        "the same, mislabelled": (plots.PURPLE, same & task.bad),
        "other label": (plots.GREY, ~same & ~task.bad),
        "other label, mislabelled": (plots.VERMILION, ~same & task.bad),
    }
    figure, axes = plots.panels(2, 3, width=3.9, height=3.2)
    for place, (k, m) in enumerate((k, m) for k in (5, 10) for m in SHOWN):
        values = values_of(m, task, n_neighbors=k)[nearest_last]
        for name, (colour, which) in kinds.items():
            at = np.flatnonzero(which[nearest_last])
            axes[place].bar(at + 1, values[at], color=colour, label=None if place else name)
        axes[place].set_title(f"{TITLES[m]}, K = {k}", fontsize=10, loc="left")
        axes[place].set_xlabel("training point, nearest last")
        axes[place].set_ylabel("value")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure
