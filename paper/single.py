"""Pages of single draws of 50 points: as the paper's text has it, and as its authors' code does."""

import numpy as np

from dataworth.arrays import Ints
from paper import authors, paper
from paper.datasets import SOURCES
from paper.methods import BASELINE, TITLES
from paper.protocol import TEXT
from paper.writing import Interval, sign_test, table

Scores = dict[str, dict[str, list[float]]]  # data set -> method -> one AUROC per seed

DIFFERENCES = {
    "mislabel": "Features of tables and images are as they come, unscaled; text embeddings are "
    "standardised feature by feature over the whole data set and scaled to length 1.",
    "noisy": "Noise has, in each feature, the Euclidean norm of that feature over the training "
    "points as its standard deviation, √50 times the root mean square, where the text says the "
    "mean absolute value. Tables get it before they are standardised and scaled to length 1, which "
    "this task does without the option too. Images are standardised and scaled first, and the "
    "norm is that of the standardised feature: noise of about 7 in each feature of rows of length "
    "1. No noise reaches text, so that nothing can be found there; the paper's figures for text "
    "lie between {low:.3f} and {high:.3f}.",
}


def beside(ours: Interval | None, theirs: tuple[float, ...] | None, column: int) -> str:
    """Our figure, and the paper's in brackets."""
    return f"{'–' if ours is None else ours} ({'–' if theirs is None else f'{theirs[column]:.3f}'})"


def implied(printed: paper.Table) -> str:
    """Why there are 50 points."""
    hits, figures, chance = paper.multiples(paper.without_text(printed), 1 / 225)
    return (
        f"Of the {figures} figures that the paper prints for tables and images, {hits} are "
        f"multiples of 1/225, which by chance {100 * chance:.0f} % would be: 5 bad points against "
        "45 good ones make 225 pairs. So this is the setting of 50 training points, 5 of them "
        "bad, with 50 validation points, as in the command that the authors' code gives as its "
        "example. The paper's seed and the rest of its settings are not known, so no figure can "
        "be had again one by one. The paper's text and its authors' code differ, so there are two "
        "parts: one as the text says it, one as the code does it, on the same points."
    )


def draws(
    found_by: Scores,
    points: dict[str, str],
    printed: paper.Table,
    missing: dict[str, str],
    columns: tuple[str, ...],
) -> tuple[str, str]:
    """A table of single draws, and how many of the paper's figures are among them."""
    rows = []
    inside: list[tuple[bool, bool]] = []  # of each figure: whether of a table, whether among ours
    for n in (n for n in dict.fromkeys([*printed, *found_by]) if n in found_by or n in missing):
        row = [SOURCES[n].title, points.get(n, "–")]
        rows.append(row)
        if n in missing:
            row += [beside(None, printed.get(n), k) for k in range(len(columns))]
            continue
        by = found_by[n]
        for k, m in enumerate(columns):
            low, high = np.quantile(by[m], [0.025, 0.975])
            shown = f"{by[m][0]:.3f} [{low:.3f}, {high:.3f}]"
            if n in printed:
                among = bool(low - 5e-4 <= printed[n][k] <= high + 5e-4)
                inside.append((SOURCES[n].kind == "table", among))
                shown += f" ({printed[n][k]:.3f})"
            row.append(shown)
    head = ["data", "train / val", *(TITLES[m] for m in columns)]
    of_tables = [among for is_table, among in inside if is_table]
    count = (
        f"{sum(among for _, among in inside)} of {len(inside)} figures of the paper lie in the "
        f"middle 95 % of our single draws, {sum(of_tables)} of {len(of_tables)} where the data are "
        "tables."
    )
    return table(head, rows), count


def wins(found_by: Scores, method: str, names: list[str]) -> Ints:
    """On how many of these data sets each draw has a method above the unweighted soft game."""
    above = [np.greater(found_by[n][method], found_by[n][BASELINE]) for n in names]
    return np.sum(above, axis=0)


def won(found_by: Scores, method: str, printed: paper.Table) -> str:
    """How often a method is above the unweighted soft game, and everywhere at once."""
    every = list(found_by)
    common = [n for n in every if n in printed]
    tables = [n for n in common if SOURCES[n].kind == "table"]
    share = wins(found_by, method, every) / len(every)
    groups = {
        "tables that the paper has too": tables,
        "data sets that it has too": common,
        "data sets here": every,
    }
    whole = "; ".join(
        f"on all {len(n)} {what} at once in {np.sum(wins(found_by, method, n) == len(n))}"
        for what, n in groups.items()
        if n
    )
    return (
        f"*{TITLES[method]}* is above soft unweighted on {100 * share.mean():.0f} % of "
        f"the data sets in the mean over draws, and at most on {100 * share.max():.0f} %. Of "
        f"{share.size} draws: {whole}."
    )


def compared(found_by: Scores, methods: tuple[str, ...]) -> str:
    """Mean differences from the unweighted soft game, and the sign test over data sets."""
    rows = []
    for m in methods:
        if m == BASELINE:
            continue
        gaps = [float(np.mean(by[m]) - np.mean(by[BASELINE])) for by in found_by.values()]
        test = sign_test(gaps)
        rows.append([TITLES[m], f"{np.mean(gaps):+.4f}", test.wins, test.losses, f"{test.p:.2g}"])
    return table(["method", "mean difference", "better", "worse", "p"], rows)


def mostly(found_by: Scores, methods: tuple[str, ...]) -> str:
    """Which methods are better than the unweighted soft game on most data sets, in words."""
    better = []
    for m in methods:
        gaps = [np.mean(by[m]) - np.mean(by[BASELINE]) for by in found_by.values()]
        if sum(g > 0 for g in gaps) > len(gaps) / 2:
            better.append(f"*{TITLES[m]}*")
    listed = "; ".join(better) if better else "none"
    return f"Of the games below, better than soft unweighted on most data sets: {listed}."


def cost_of_root(found_by: Scores) -> list[str]:
    """What stopping at √N costs with more than two classes, with ties right and wrong."""
    many = [by for n, by in found_by.items() if SOURCES[n].kind != "table"]
    if not many:
        return []
    right, wrong = (
        np.mean([np.mean(by[f"{m}-sqrt"]) - np.mean(by[m]) for by in many])
        for m in ("hard-temp", "hard-temp-strict")
    )
    return [
        f"On the {len(many)} of these data sets that have more than two classes, to stop at √N "
        f"changes AUROC by {right:+.3f} with ties right and by {wrong:+.3f} with ties wrong."
    ]


def as_in_the_text(
    found_by: Scores, points: dict[str, str], printed: paper.Table, missing: dict[str, str],
    methods: tuple[str, ...],
) -> list[str]:  # fmt: skip
    """The paper's figures among draws made as its text says."""
    shown, count = draws(found_by, points, printed, missing, paper.MISLABEL_COLUMNS)
    return [
        "AUROC: seed 0, [the middle 95 % of all seeds] and (what the paper prints).",
        shown,
        f"**Against the paper.** {count} In its table the exact weighted game is "
        f"{paper.standing(printed)}. Here: {won(found_by, 'hard-linear', printed)} A single draw "
        "of 50 points says little about which method is better.",
        "Mean differences from soft unweighted over all seeds, and the sign test over data sets:",
        compared(found_by, methods),
    ]


def as_in_the_code(
    found_by: Scores, points: dict[str, str], printed: paper.Table, missing: dict[str, str],
    task: str,
) -> list[str]:  # fmt: skip
    """The paper's figures among draws made as its authors' code makes them."""
    shown, count = draws(found_by, points, printed, missing, authors.COLUMNS)
    text = [figure for name in TEXT for figure in printed[name]]
    damaged = {n: by for n, by in found_by.items() if task == "mislabel" or n not in TEXT}
    where = "" if len(damaged) == len(found_by) else ", text left out, which has no noise"
    parts = [
        "The authors' code (github.com/Jiachen-T-Wang/weighted-knn-shapley; read, not run), with "
        "the options of the command it gives (`--kernel rbf --dis_metric l2 --temp 0.1`), departs "
        "from the paper's text. A tied vote is wrong, and so is the empty set; the text has "
        "U(S) = 1 for both. Weights are exp(−(d / d_max) / 0.1) over the largest of them, not "
        "linear. √N is that of the two classes of each vote (the code takes a bound of the error "
        "instead of a rank; √N is the text's). "
        + DIFFERENCES[task].format(low=min(text), high=max(text))
        + " The draws, the bad points and the wrong labels are those above: balanced and without "
        "repeats, which is not as in the code, and soft unweighted is the same game as above.",
        "AUROC: seed 0, [the middle 95 % of all seeds] and (what the paper prints).",
        shown,
        f"**Against the paper.** {count} {won(found_by, 'hard-temp-strict', printed)}",
    ]
    if damaged:
        parts += [
            "What does it: the same data with ties right or wrong, and with either weights. Mean "
            "differences from soft unweighted over all seeds, and the sign test over "
            f"{len(damaged)} data sets{where}. {mostly(damaged, authors.METHODS)}",
            compared(damaged, authors.METHODS),
            *cost_of_root(damaged),
        ]
    return parts
