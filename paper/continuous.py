"""Real against rounded weights at K = 2, where enumeration in O(N^K) is still possible."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dataworth.arrays import Floats
from dataworth.baselines import monte_carlo
from dataworth.compiled import compiled
from dataworth.neighbors import distances as neighbors
from paper import authors, paper, plots
from paper.datasets import SOURCES
from paper.detection import (
    PAPER_SEEDS,
    WHAT,
    absent,
    dots,
    drawn,
    names,
    scores,
    setting_of,
    sizes,
)
from paper.methods import BASELINE, N_BITS, TITLES, found
from paper.protocol import DAMAGES, Task, auroc
from paper.run import DEFAULT_SEEDS, Run
from paper.single import Scores, beside
from paper.writing import interval, sign_test, table

K = 2
PERMUTATIONS = 10
OTHERS = (
    "soft-linear", BASELINE, "hard-real", "hard-real-strict", "hard-linear-strict"
)  # fmt: skip
METHODS = (*paper.CONTINUOUS_COLUMNS, *OTHERS)
PRINTED = {"mislabel": paper.CONTINUOUS_MISLABEL, "noisy": paper.CONTINUOUS_NOISY}


@compiled()
def hard_pairs(signed: Floats) -> Floats:
    """Values of the binary hard game at K = 2 with real weights, by going through all pairs.

    `signed` are the weights, nearest point first, negative for wrong labels. Sets with room left
    are those of no or one point; point i displaces m with probability 2 / (m (m-1)), where one
    point before m decides with either.
    """
    n = signed.size
    values, share = np.empty(n), np.zeros(n)
    before = np.zeros(n)  # for each m, with how many nearer points it votes right
    for m in range(n):
        count = 0
        for j in range(m):
            count += signed[j] + signed[m] >= 0.0
        before[m] = count
        if m > 1:
            share[m] = 2.0 / ((m + 1.0) * m * (m - 1.0))
    n_right = np.sum(signed >= 0.0)
    for i in range(n):
        own = signed[i]
        near = 0
        for m in range(i):
            near += own + signed[m] >= 0.0
        value = 0.0
        for m in range(i + 1, n):
            vote = 1 if own + signed[m] >= 0.0 else 0
            value += share[m] * (near - before[m] + vote)
            near += vote
        alone = 1.0 if own >= 0.0 else 0.0
        room = alone - 1.0
        if n > 1:
            room += (near - n_right + alone) / (n - 1)
        values[i] = value + room / n
    return values


def rows(task: Task) -> Iterator[tuple[Any, Any, Floats]]:
    """For each validation point: its label, and the order and the weights of the training points.

    The nearest point comes first. The weights are the paper's linear ones, not rounded.
    """
    for x, y in zip(task.X_val, task.y_val, strict=True):
        distances = neighbors.distances(x[None], task.X_train, "euclidean", {})[0]
        order = np.argsort(distances, kind="stable")
        ranked = distances[order]
        span = ranked[-1] - ranked[0]
        weights = (ranked[-1] - ranked) / span if span > 0.0 else np.ones(order.size)
        yield y, order, weights


def one_vs_one(task: Task, solve: Callable[[Any, Floats], Floats]) -> Floats:
    """The paper's game of several classes, with its linear weights not rounded.

    `solve` values the points of the right class and of one rival. It gets, nearest point first,
    which points have the right label, and their weights.
    """
    classes = np.unique(task.y_train)
    total = np.zeros(task.y_train.size)
    for y, order, weights in rows(task):
        labels = task.y_train[order]
        rivals = classes[classes != y]
        for rival in rivals:
            inside = (labels == y) | (labels == rival)
            total[order[inside]] += solve(labels[inside] == y, weights[inside]) / rivals.size
    return total / task.y_val.size


def enumerated(right: Any, weights: Floats) -> Floats:
    """Values from all pairs, where ties are right."""
    return np.asarray(hard_pairs(np.where(right, weights, -weights)))


def enumerated_strictly(right: Any, weights: Floats) -> Floats:
    """Values from all pairs, where ties are wrong."""
    # The right label wins strictly where its rival neither wins nor ties.
    return -enumerated(~right, weights)


def sampled(task: Task) -> Floats:
    """Values in the soft game by random permutations, drawn anew for each validation point."""
    n_classes = np.unique(task.y_train).size
    total = np.zeros(task.y_train.size)
    for number, (y, order, weights) in enumerate(rows(task)):
        total[order] += monte_carlo(
            task.y_train[order] == y, weights, n_neighbors=K, game="soft", n_classes=n_classes,
            n_permutations=PERMUTATIONS, random_state=number,
        ).values  # fmt: skip
    return total / task.y_val.size


def measure(task: Task, jobs: int) -> dict[str, Any]:
    """AUROC by method."""
    usual: dict[str, Any] = {"n_neighbors": K, "n_jobs": jobs}
    each = {
        m: found(m, task, **usual) for m in METHODS if not m.endswith(("real", "sampled", "strict"))
    }
    each["soft-real"] = found("soft-linear", task, **usual, n_bits=None)
    values = {
        "soft-real-sampled": sampled(task),
        "hard-real": one_vs_one(task, enumerated),
        "hard-real-strict": one_vs_one(task, enumerated_strictly),
        "hard-linear-strict": authors.votes(task, "linear", strict=True, **usual),
    }
    return {"auroc": {**each, **{m: auroc(v, task.bad) for m, v in values.items()}}}


def about() -> str:
    """What our columns are, and why they stand beside the paper's."""
    return (
        "The paper's first two columns, real weights exact by the O(N^K) way and by Monte Carlo, "
        "are of the *soft* game: the theorem it takes them from has that utility, and its authors' "
        "code computes both with `mode='softlabel'`. So they are beside our soft game with real "
        "weights, exact to 1e-9 and without enumeration, and beside Monte Carlo with "
        f"{PERMUTATIONS} permutations for each validation point, as many as that code draws by "
        "`n_sample=n_data*10` (it leaves the last of them out; the paper does not say how many it "
        "took). Our weights are the linear ones of the paper's text throughout; the code has "
        "exp(−(d / d_max) / 0.9) in these two columns, d_max the farthest of each set. From "
        "the paper's first column to its third both the game and the weights change.\n\n"
        "The other columns tell what rounding does within one game. At K = 2 the nearer of two "
        "points outvotes the farther one whatever the weights, as long as they fall: with real "
        "weights the hard game is the one of a single nearest neighbour, but for equal distances "
        "and the farthest point, of weight 0. Rounding makes ties, so what it costs depends on "
        "whether a tie is right (the paper's text) or wrong (its authors' code, with the empty set "
        "wrong too). The hard game with real weights goes through all pairs."
    )


def implied() -> str:
    """How many of the paper's figures can come from 50 points."""
    counts = []
    for damage, printed in PRINTED.items():
        plain = paper.without_text(printed)
        hits, figures, chance = paper.multiples(plain, 1 / 225)
        halves, _, chance_of_halves = paper.multiples(plain, 1 / 450)
        counts.append(
            f"{WHAT[damage]}: {hits} of {figures} are multiples of 1/225 (by chance "
            f"{100 * chance:.0f} %) and {halves} of 1/450 (by chance "
            f"{100 * chance_of_halves:.0f} %), which ties between values allow"
        )
    return (
        "This is the setting of 50 training points, 5 of them bad, and 50 validation points, which "
        "most of the paper's figures for tables and images fit, but not all. "
        + "; ".join(counts).capitalize()
        + "."
    )


def compare(run: Run) -> None:
    """The experiment `continuous`."""
    loaded, missing = run.data(names(run))
    n_seeds = run.n_seeds(PAPER_SEEDS if run.paper_setting else DEFAULT_SEEDS)
    parts = [
        *([implied()] if run.paper_setting else []),
        setting_of(f"K = {K}, {N_BITS} bits where weights are rounded"),
        about(),
    ]
    found_by = {}
    for damage in DAMAGES:
        facts = {"methods": METHODS, "K": K, "permutations": PERMUTATIONS}
        units = run.measure(
            damage,
            loaded,
            lambda task: measure(task, run.jobs),
            sizes=sizes(run),
            n_seeds=n_seeds,
            facts=facts,
        )
        found_by[damage] = scores(units, METHODS)
        parts += [
            f"## {WHAT[damage].capitalize()}",
            *tables(found_by[damage], units, PRINTED[damage], missing),
        ]
    parts += absent(missing)
    title = "Real against rounded weights, K = 2"
    if run.paper_setting:
        title += ", 50 training points"
    seeds = f"0 to {n_seeds - 1}"
    figure = picture(found_by, single=run.paper_setting)
    run.finish(title, parts, figure, seeds=seeds, data=loaded)


def tables(
    found_by: Scores,
    units: dict[str, list[dict[str, Any]]],
    printed: paper.Table,
    missing: dict[str, str],
) -> list[str]:
    """Means beside the paper's figures, and what rounding costs."""
    points = drawn(units)
    rows = []
    for name in missing:
        theirs = [beside(None, printed.get(name), k) for k in range(4)]
        rows.append([SOURCES[name].title, "–", *theirs, *["–"] * len(METHODS[4:])])
    for name, by in found_by.items():
        row = [SOURCES[name].title, points[name]]
        for k, method in enumerate(METHODS):
            shown = str(interval(by[method]))
            if k < 4 and name in printed:
                shown += f" ({printed[name][k]:.3f})"
            row.append(shown)
        rows.append(row)
    compared = []
    for method, other in (
        ("soft-linear", "soft-real"),
        ("soft-real-sampled", "soft-real"),
        ("hard-linear", "hard-real"),
        ("hard-linear-strict", "hard-real-strict"),
        ("hard-linear-sqrt", "hard-linear"),
        ("hard-linear", "soft-real"),
        ("hard-linear-strict", "soft-real"),
        ("hard-linear-strict", BASELINE),
        ("soft-linear", BASELINE),
    ):
        gaps = [float(np.mean(by[method]) - np.mean(by[other])) for by in found_by.values()]
        test = sign_test(gaps)
        compared.append(
            [f"{TITLES[method]} − {TITLES[other]}", f"{np.mean(gaps):+.4f}",
             f"{np.max(np.abs(gaps)):.4f}", test.wins, test.losses, f"{test.p:.2g}"]
        )  # fmt: skip
    changes = [np.mean([row[2] - row[0] for row in printed.values()]),
              np.mean([row[3] - row[2] for row in printed.values()])]  # fmt: skip
    return [
        "AUROC, mean over seeds with its 95 % interval, and (what the paper prints).",
        table(["data", "train / val", *(TITLES[m] for m in METHODS)], rows),
        table(["difference", "mean", "largest", "better", "worse", "sign test p"], compared),
        f"In the paper's table AUROC changes by {changes[0]:+.3f} on average from its first column "
        f"(soft, real weights) to its third (hard, rounded), and by {changes[1]:+.3f} from there "
        "to √N; those are single draws.",
    ]


def picture(found_by: dict[str, Scores], *, single: bool) -> Any:
    """Both tasks side by side."""
    data = next(iter(found_by.values()))
    figure, axes = plots.panels(1, 2, width=6, height=0.85 * len(data) + 1.6, sharey=True)
    for axis, damage in zip(axes, found_by, strict=True):
        columns = paper.CONTINUOUS_COLUMNS
        dots(axis, found_by[damage], METHODS, PRINTED[damage], columns, single=single)
        axis.set_title(f"K = 2, {WHAT[damage]}", fontsize=11, loc="left")
    axes[0].set_yticks(range(len(data)), [SOURCES[n].title for n in data])
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure
