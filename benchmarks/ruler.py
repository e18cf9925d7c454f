"""How many labels are wrong? The ruler's estimate against the truth, and cleanlab's beside it.

`python -m benchmarks.ruler` writes benchmarks/RULER.md; `--quick` does so for two data sets and two
noise rates. The data sets are those of the paper, from the folder that DATAWORTH_DATA names.
"""

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dataworth
from benchmarks.peers.noise import Pool, features
from benchmarks.peers.pool import Worker
from dataworth import DataValues, KNNShapley, LinearScores, OutOfBagForest
from dataworth.arrays import Array, Flags, Floats, Ints
from paper import protocol
from paper.datasets import SOURCES, load
from paper.detection import DATA

OUT = Path(__file__).parent / "RULER.md"
N_TRAIN, RATES, REPEATS, SEED = 1000, (0.0, 0.05, 0.1, 0.2), 3, 0
LIMIT = 1800.0

# Ours, by name: the same for every data set.
RECIPES: Mapping[str, Callable[[Array, Ints], DataValues]] = {
    "leave-one-out": lambda X, y: KNNShapley(progress=False).fit(X, y).value(ruler=REPEATS),
    "recipe": lambda X, y: (
        KNNShapley(
            encoder=["auto", OutOfBagForest(), LinearScores()], n_neighbors=10, progress=False
        )
        .fit(X, y)
        .value(ruler=REPEATS)
    ),
}
# cleanlab's, by the names of its functions.
PEER = ("num_label_issues", "find_label_issues")


@dataclass(frozen=True)
class Draw:
    """Training points, some of whose labels were changed."""

    X: Floats
    y: Ints
    wrong: Flags


@dataclass(frozen=True)
class Found:
    """What a ruler says, and what is true of the rows that it points at."""

    estimate: float | None
    auroc: float
    said: float
    recall: float
    precision: float


def draw(name: str, rate: float) -> Draw:
    """A balanced draw without repeats, prepared as in the comparison with the peers."""
    data, rng = load(name), protocol.generator(name, SEED)
    rows = protocol.split(data, N_TRAIN, 100, rng)[0]
    pool = Pool(data.X, data.y, SOURCES[name].kind == "embedding")
    X = features(pool, rows, rows[:0])[0]
    wrong = rng.permutation(rows.size) < round(rate * rows.size)
    return Draw(X, protocol.flip(data.y[rows], wrong, rng), wrong)


def found(recipe: str, drawn: Draw) -> Found:
    """Value, and read the ruler."""
    values = RECIPES[recipe](drawn.X, drawn.y)
    ruler = values.ruler
    assert ruler is not None
    if ruler.cutoff is None:
        return Found(None, ruler.auroc, np.nan, np.nan, np.nan)
    hits = int(drawn.wrong[values.suspects()["index"]].sum())
    n_wrong = int(drawn.wrong.sum())
    return Found(
        ruler.error_rate,
        ruler.auroc,
        ruler.recall(ruler.cutoff),
        hits / n_wrong if n_wrong else np.nan,
        hits / ruler.cutoff,
    )


def peer(worker: Worker, drawn: Draw, folder: Path) -> Floats | str:
    """cleanlab's estimates as shares of the labels, or what went wrong."""
    nobody = {"X_val": drawn.X[:0], "y_val": drawn.y[:0]}
    data, out = folder / "data.npz", folder / "values.npy"
    np.savez(data, allow_pickle=False, X_train=drawn.X, y_train=drawn.y, **nobody)
    answer = worker.order(call="label_issues", args={}, data=str(data), out=str(out))
    if "failed" in answer:
        return str(answer["failed"])
    counts: Floats = np.load(out, allow_pickle=False)
    return counts / drawn.y.size


@dataclass(frozen=True)
class Row:
    """One data set at one noise rate."""

    title: str
    rate: float
    ours: Mapping[str, Found]
    theirs: Floats | str

    def line(self) -> str:
        """The row of the table."""
        cells = [self.title, f"{self.rate:.3f}"]
        for one in self.ours.values():
            said = "cannot tell" if one.estimate is None else f"{one.estimate:.3f}"
            cells += [said, f"{one.auroc:.2f}", f"{_share(one.said)} / {_share(one.recall)}"]
            cells.append(_share(one.precision))
        theirs = [self.theirs] * len(PEER) if isinstance(self.theirs, str) else self.theirs
        cells += [x if isinstance(x, str) else f"{x:.3f}" for x in theirs]
        return f"| {' | '.join(cells)} |"


def _share(number: float) -> str:
    return "–" if np.isnan(number) else f"{number:.2f}"


def summary(rows: list[Row]) -> list[str]:
    """How near the estimates come, over all rows and by rate."""
    names = [f"ours, {name}" for name in RECIPES] + [f"cleanlab, `{name}`" for name in PEER]

    def gaps(rate: float) -> list[list[float]]:
        some = [row for row in rows if abs(row.rate - rate) < 0.01]
        ours = [
            [f.estimate - row.rate for row in some if (f := row.ours[name]).estimate is not None]
            for name in RECIPES
        ]
        theirs = [
            [float(row.theirs[k]) - row.rate for row in some if not isinstance(row.theirs, str)]
            for k in range(len(PEER))
        ]
        return ours + theirs

    def cell(some: list[float]) -> str:
        if not some:
            return "–"
        below = sum(gap < 0 for gap in some)
        return (
            f"{np.median(np.abs(some)):.3f} ({np.median(some):+.3f}; {below} of {len(some)} below)"
        )

    known = [rate for rate in RATES if any(abs(row.rate - rate) < 0.01 for row in rows)]
    table = [f"| {rate:.2f} | {' | '.join(cell(g) for g in gaps(rate))} |" for rate in known]
    return [
        "Median distance of the estimate from the truth over the data sets, in brackets the median "
        "with its sign, and how many estimates lie below the truth (those that cannot tell are "
        "left out):",
        "",
        f"| true rate | {' | '.join(names)} |",
        "|---|" + "---|" * len(names),
        *table,
        "",
    ]


def page(rows: list[Row]) -> str:
    """The page in Markdown."""
    heads = ["data", "true rate"]
    for name in RECIPES:
        heads += [f"{name}: at most", "AUROC", "recall said / true", "precision"]
    heads += [f"cleanlab `{name}`" for name in PEER]
    return "\n".join(
        [
            "# How many labels are wrong?",
            "",
            f"Written by `python -m benchmarks.ruler`, dataworth {dataworth.__version__}. Of each "
            f"data set {N_TRAIN:,} rows (fewer where a balanced draw without repeats is smaller); "
            "a share of the labels is changed to another class at random. The true rate is what "
            "was changed: labels that were wrong from the start come on top of it, so an estimate "
            "for rate 0 need not be 0. Prepared as for [PEERS.md](PEERS.md): tables standardised, "
            "embeddings of length 1.",
            "",
            f"*At most*: the estimate of `value(ruler={REPEATS})`, an upper one, as a share of the "
            "labels. *AUROC*: how well planted errors are told from other rows. *Recall* and "
            "*precision*: of the rows that `suspects()` lists. *cleanlab*: `num_label_issues` and "
            "the length of what `find_label_issues` returns, with five-fold probabilities of a "
            "random forest of 200 trees, at least 5 points a leaf.",
            "",
            *summary(rows),
            f"| {' | '.join(heads)} |",
            "|---|" + "---|" * (len(heads) - 1),
            *(row.line() for row in rows),
            "",
        ]
    )


def measured(names: tuple[str, ...], rates: tuple[float, ...]) -> list[Row]:
    """All rows; data sets that are not at hand are left out, and named."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, Worker("cleanlab", LIMIT) as worker:
        for name in names:
            for rate in rates:
                try:
                    drawn = draw(name, rate)
                except FileNotFoundError as error:
                    print(f"left out: {error}", file=sys.stderr)
                    break
                print(f"{name}, {rate:.0%}", file=sys.stderr)
                ours = {recipe: found(recipe, drawn) for recipe in RECIPES}
                theirs = peer(worker, drawn, Path(folder))
                rows.append(Row(SOURCES[name].title, float(drawn.wrong.mean()), ours, theirs))
    return rows


def main(arguments: list[str]) -> None:
    """Measure and write the page."""
    quick = arguments == ["--quick"]
    rows = measured(("phoneme", "agnews"), (0.0, 0.1)) if quick else measured(tuple(DATA), RATES)
    OUT.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
