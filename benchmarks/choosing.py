"""Which game, weights, K, bits and judges find label errors best; writes docs/choosing-table.md.

Real data from the folder that DATAWORTH_DATA names: each file `NAME.npz` holds features X and
labels y. From every set 100 clean validation points and 1,000 training points are drawn at random,
and a tenth of the training labels is changed to another class. The score is the AUROC of finding
these by their values, lowest first. Nothing is tuned: the settings are those listed here, and all
of them are in the table.
"""

import os
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import roc_auc_score

import dataworth
from dataworth import ForestLeaves, KNNShapley

OUT = Path(__file__).parents[1] / "docs" / "choosing-table.md"
TABLES = (
    "2dplanes", "apsfail", "click", "cpu", "creditcard", "fraud", "phoneme", "pol", "wind",
)  # fmt: skip
EMBEDDINGS = ("agnews_minilm", "cifar10_effnetlite0")
N_TRAIN, N_VAL, SHARE, SEEDS = 1_000, 100, 0.1, (0, 1, 2)
GAMES, WEIGHTS = ("soft", "hard"), ("rbf", "linear", "inverse", "uniform")
CLEAN, ALONE = "100 clean points", "leave-one-out"
FOREST, FOLDS = "100 clean points, ForestLeaves", "5 folds, ForestLeaves"
JUDGES = (CLEAN, FOREST, ALONE, FOLDS)
# Fewer K where 1,000 points judge, or a forest measures: they cost ten times as much.
KS = {CLEAN: (1, 5, 10, 20), FOREST: (5,), ALONE: (5, 10), FOLDS: (5,)}
BITS: tuple[int | None, ...] = (1, 2, 3, 5, None)


class Setting(NamedTuple):
    """One way of valuing, and who judges."""

    judge: str
    game: str = "soft"
    weights: str = "rbf"
    k: int = 5
    bits: int | None = 3


class Problem(NamedTuple):
    """Training points with planted errors, and clean validation points."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_val: NDArray[np.float64]
    y_val: NDArray[np.int64]
    planted: NDArray[np.bool_]


Scores = dict[Setting, NDArray[np.float64]]  # by set and seed


class Forest(ForestLeaves):
    """Leaves of a forest that is grown once for the same points, however many settings ask."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        key = joblib.hash((X, y))
        if key not in FORESTS:
            FORESTS[key] = super().fit(X, y).forest_
        self.forest_ = FORESTS[key]
        return self


FORESTS: dict[str, Any] = {}


def settings() -> list[Setting]:
    """All that is measured: every game, weights and K for each judge, and the bits."""
    grid = [
        Setting(judge, game, weights, k)
        for judge in JUDGES
        for game, weights, k in product(GAMES, WEIGHTS, KS[judge])
    ]
    bits = [Setting(CLEAN, game, bits=b) for game, b in product(GAMES, BITS)]
    return list(dict.fromkeys(grid + [s for s in bits if s.game == "soft" or s.bits]))


def problem(folder: Path, name: str, seed: int) -> Problem:
    """Draw, fill gaps with training medians, standardise tables by the training points, plant."""
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), file["y"].astype(np.int64)
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(y.size)[: N_VAL + N_TRAIN]
    X, y = X[drawn], y[drawn]
    train = X[N_VAL:]
    if name in TABLES:
        X = np.where(np.isnan(X), np.nanmedian(train, axis=0), X)
        spread = X[N_VAL:].std(axis=0)
        X = (X - X[N_VAL:].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    else:
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    labels, n_classes = y[N_VAL:].copy(), int(y.max()) + 1
    planted = np.zeros(N_TRAIN, dtype=bool)
    planted[rng.choice(N_TRAIN, round(SHARE * N_TRAIN), replace=False)] = True
    labels[planted] += rng.integers(1, n_classes, int(planted.sum()))
    return Problem(X[N_VAL:], labels % n_classes, X[:N_VAL], y[:N_VAL], planted)


def auroc(p: Problem, s: Setting) -> float:
    """How well the values tell planted errors from the rest."""
    valuator = KNNShapley(
        n_neighbors=s.k,
        game=s.game,
        weights=s.weights,
        n_bits=s.bits,
        encoder=Forest() if s.judge in (FOREST, FOLDS) else None,
        n_jobs=-1,
        progress=False,
    ).fit(p.X, p.y)
    if s.judge in (CLEAN, FOREST):
        values = valuator.value(p.X_val, p.y_val)
    else:
        values = valuator.value(cv=5) if s.judge == FOLDS else valuator.value()
    return float(roc_auc_score(p.planted, -values.values))


def measured(folder: Path) -> Scores:
    """Every setting on every set and seed."""
    asked, names = settings(), (*TABLES, *EMBEDDINGS)
    scores = {s: np.zeros((len(names), len(SEEDS))) for s in asked}
    for row, name in enumerate(names):
        start = time.perf_counter()
        for column, seed in enumerate(SEEDS):
            p = problem(folder, name, seed)
            FORESTS.clear()
            for s in asked:
                scores[s][row, column] = auroc(p, s)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    return scores


def bold(cells: list[float]) -> list[str]:
    best = max(round(c, 3) for c in cells)
    return [f"**{c:.3f}**" if round(c, 3) == best else f"{c:.3f}" for c in cells]


def against(scores: Scores, one: Setting, other: Setting) -> str:
    """On how many sets one setting is better and worse than the other, by means over seeds."""
    gain = scores[one].mean(axis=1) - scores[other].mean(axis=1)
    return f"{int((gain > 0).sum())} / {int((gain < 0).sum())}"


def grid_table(scores: Scores) -> Iterator[str]:
    """Games, weights and K, by judge."""
    default = {judge: Setting(judge) for judge in JUDGES}
    for judge in JUDGES:
        yield from ("", f"## {judge[0].upper()}{judge[1:]}", "")
        columns = [f"K = {k}" for k in KS[judge]]
        yield "| game | weights | " + " | ".join(columns) + " |"
        yield "|---|---|" + "---|" * len(columns)
        rows = list(product(GAMES, WEIGHTS))
        means = {
            (row, k): scores[Setting(judge, *row, k)].mean() for row in rows for k in KS[judge]
        }
        best = max(round(float(m), 3) for m in means.values())
        for row in rows:
            cells = []
            for k in KS[judge]:
                s, mean = Setting(judge, *row, k), f"{means[row, k]:.3f}"
                mean = f"**{mean}**" if round(float(means[row, k]), 3) == best else mean
                wins = "default" if s == default[judge] else against(scores, s, default[judge])
                cells.append(f"{mean} ({wins})")
            yield f"| {row[0]} | {row[1]} | " + " | ".join(cells) + " |"


def bits_table(scores: Scores) -> Iterator[str]:
    yield from ("", "## Bits", "", f"rbf weights, K = 5, {CLEAN}.", "")
    yield "| game | " + " | ".join("real weights" if b is None else f"b = {b}" for b in BITS) + " |"
    yield "|---|" + "---:|" * len(BITS)
    for game in GAMES:
        known = [scores.get(Setting(CLEAN, game, bits=b)) for b in BITS]
        cells = bold([float(found.mean()) for found in known if found is not None])
        yield f"| {game} | " + " | ".join(cells + ["—"] * (len(BITS) - len(cells))) + " |"


def sets_table(scores: Scores) -> Iterator[str]:
    columns = {
        "soft, rbf": Setting(CLEAN),
        "hard, rbf": Setting(CLEAN, "hard"),
        "soft, uniform": Setting(CLEAN, weights="uniform"),
        "soft, rbf, ForestLeaves": Setting(FOREST),
        "soft, rbf, leave-one-out": Setting(ALONE),
        "soft, rbf, 5 folds, ForestLeaves": Setting(FOLDS),
    }
    yield from ("", "## Set by set", "", "K = 5, 3 bits; 100 clean points unless it says more.", "")
    yield "| set | " + " | ".join(columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for row, name in enumerate((*TABLES, *EMBEDDINGS)):
        cells = bold([float(scores[s][row].mean()) for s in columns.values()])
        yield f"| {name} | " + " | ".join(cells) + " |"
    cells = bold([float(scores[s].mean()) for s in columns.values()])
    yield "| mean | " + " | ".join(cells) + " |"


def page(scores: Scores) -> str:
    head = [
        "# Measured: finding label errors",
        "",
        f"Written by `make bench-choosing`, dataworth {dataworth.__version__}, scikit-learn "
        f"{sklearn.__version__}. Mean AUROC of finding planted label errors over "
        f"{len(TABLES) + len(EMBEDDINGS)} data sets and {len(SEEDS)} seeds: {N_TRAIN:,} training "
        f"points, {SHARE:.0%} of their labels changed to another class, {N_VAL} clean validation "
        "points, all drawn at random as the classes come. 1 is perfect, 0.5 is chance; the best "
        "of each table, to three digits, is bold.",
        "",
        f"Tables, standardised: {', '.join(TABLES)}. Embeddings, of length 1: "
        f"{', '.join(EMBEDDINGS)}. Distances are Euclidean, and with ForestLeaves (200 trees, at "
        "least 5 points a leaf) the share of trees that differ. 3 bits unless it says otherwise.",
        "",
        "In brackets: on how many sets the setting beats the soft game with rbf weights and K = 5, "
        "the default, under the same judges / on how many it is beaten, by means over seeds.",
    ]
    tables = (grid_table, bits_table, sets_table)
    return "\n".join([*head, *(line for table in tables for line in table(scores)), ""])


def main() -> None:
    folder = Path(os.environ.get("DATAWORTH_DATA", ""))
    lacking = [n for n in (*TABLES, *EMBEDDINGS) if not (folder / f"{n}.npz").is_file()]
    if "DATAWORTH_DATA" not in os.environ or lacking:
        missing = ", ".join(f"{name}.npz" for name in lacking)
        sys.exit(f"DATAWORTH_DATA must name the folder of the data sets; missing: {missing}.")
    for s in settings():
        print(s)
    OUT.write_text(page(measured(folder)), encoding="utf-8")
    print(f"written: {OUT}")


if __name__ == "__main__":
    main()
