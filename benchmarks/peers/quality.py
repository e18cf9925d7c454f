"""AUROC of finding planted label errors on real data, ours and the peers'."""

import os
import sys
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks.peers.pool import Worker

N_TRAIN, N_VAL, FLIPPED = 1000, 100, 0.1
TABULAR = (
    "2dplanes", "apsfail", "click", "cpu", "creditcard", "fraud", "phoneme", "pol", "wind",
)  # fmt: skip
EMBEDDED = ("agnews_minilm", "cifar10_effnetlite0")
Arrays = dict[str, NDArray[Any]]

# Name, library that runs it, call, arguments, and whether it uses the clean validation points.
Method = tuple[str, str, str, dict[str, Any], bool]


def methods(name: str, quick: bool) -> list[Method]:
    """Who competes; trees on embeddings are slow, so that they get fewer of them."""
    n_models = 20 if quick else 100 if name in EMBEDDED else 300
    return [
        ("ours", "dataworth", "dataworth", {}, True),
        ("ours, forest", "dataworth", "dataworth", {"forest": True}, True),
        ("pyDVL", "pydvl", "pydvl", {"n_neighbors": 5}, True),
        ("ours", "dataworth", "dataworth", {"alone": True}, False),
        ("ours, forest", "dataworth", "dataworth", {"forest": True, "cv": 5}, False),
        ("cleanlab KNN", "cleanlab", "self_confidence", {"model": "knn"}, False),
        ("cleanlab logistic", "cleanlab", "self_confidence", {"model": "logistic"}, False),
        ("cleanlab forest", "cleanlab", "self_confidence", {"model": "forest"}, False),
        ("cleanlab Shapley", "cleanlab", "cleanlab", {"n_neighbors": 10}, False),
        ("Data-OOB", "opendataval", "data_oob", {"n_models": n_models}, False),
    ]


def load(folder: Path, name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features and labels of a data set. A loader of the library can take its place."""
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), file["y"]  # one feature overflows in float32
    return X, y


def split(X: NDArray[np.float64], y: NDArray[np.int64], seed: int, embedded: bool) -> Arrays:
    """A random split with planted errors: training labels changed to another class.

    Classes stay as frequent as they are. Embeddings get length 1; other features get training
    medians where they are missing and are standardised by the training points.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    val, train = order[:N_VAL], order[N_VAL : N_VAL + N_TRAIN]
    if embedded:
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    else:
        filled = np.nan_to_num(np.nanmedian(X[train], axis=0))
        X = np.where(np.isnan(X), filled, X)
        mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
        X = (X - mean) / np.where(deviation > 0.0, deviation, 1.0)
    n_classes = int(y.max()) + 1
    planted = np.zeros(N_TRAIN, bool)
    planted[rng.choice(N_TRAIN, int(FLIPPED * N_TRAIN), replace=False)] = True
    given = y[train].copy()
    given[planted] += rng.integers(1, n_classes, int(planted.sum()))
    given %= n_classes
    return {
        "X_train": X[train],
        "y_train": given,
        "X_val": X[val],
        "y_val": y[val],
        "planted": planted,
    }


def measured(
    name: str, source: Path, folder: Path, workers: dict[str, Worker], *, quick: bool
) -> list[NDArray[np.float64] | str]:
    """AUROCs of each method over the seeds, or what went wrong."""
    X, y = load(source, name)
    found: list[NDArray[np.float64] | str] = []
    splits = [split(X, y, seed, name in EMBEDDED) for seed in range(1 if quick else 3)]
    for _, library, call, args, _ in methods(name, quick):
        aurocs: list[float] = []
        failed = ""
        for data in splits:
            np.savez(folder / "data.npz", allow_pickle=False, **data)
            answer = workers[library].order(
                call=call,
                args=args,
                data=str(folder / "data.npz"),
                out=str(folder / "values.npy"),
                warm=False,
            )
            if "failed" in answer:
                failed = answer["failed"]
                break
            values = np.load(folder / "values.npy", allow_pickle=False)
            aurocs.append(float(roc_auc_score(data["planted"], -values)))
        found.append(failed or np.array(aurocs))
    return found


@dataclass
class Table:
    """AUROCs of the methods that have, or have not, a validation set."""

    rows: list[str] = field(default_factory=list)
    means: dict[str, list[float]] = field(default_factory=dict)
    best: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)

    def add(self, name: str, found: dict[str, NDArray[np.float64] | str]) -> None:
        """Add a data set: a row, and who is best on it."""
        means = {m: float(r.mean()) for m, r in found.items() if not isinstance(r, str)}
        best = max(means, key=lambda m: means[m])
        self.best[best] += 1
        cells = []
        for method, result in found.items():
            kept = self.means.setdefault(method, [])
            if isinstance(result, str):
                cells.append(result)
                continue
            kept.append(means[method])
            text = f"{means[method]:.3f} ± {result.std():.3f}"
            cells.append(f"**{text}**" if method == best else text)
        self.rows.append(f"| {name} | {' | '.join(cells)} |")
        if not best.startswith("ours"):
            ours = max(means[m] for m in means if m.startswith("ours"))
            self.lost.append(f"{name} ({best} {means[best]:.3f}, ours {ours:.3f})")

    def lines(self) -> list[str]:
        """The table in Markdown, with where a peer is best said below it."""
        means = [f"{np.mean(v):.3f}" if v else "–" for v in self.means.values()]
        lost = "; ".join(self.lost) if self.lost else "none"
        return [
            f"| data | {' | '.join(self.means)} |",
            "|---|" + "---|" * len(self.means),
            *self.rows,
            f"| *mean* | {' | '.join(means)} |",
            f"| *best on* | {' | '.join(str(self.best[m]) for m in self.means)} |",
            "",
            f"**A peer is best on {len(self.lost)} of {len(self.rows)} data sets**: {lost}.",
            "",
        ]


def section(folder: Path, *, quick: bool) -> list[str]:
    """The part on finding label errors."""
    source = os.environ.get("DATAWORTH_DATA")
    if source is None:
        return ["## Finding label errors", "", "Not run: DATAWORTH_DATA names no folder.", ""]
    with_set, without = Table(), Table()
    with ExitStack() as stack:
        workers = {
            library: stack.enter_context(Worker(library, 1800.0))
            for library in ("dataworth", "pydvl", "cleanlab", "opendataval")
        }
        for name in ("phoneme", "agnews_minilm") if quick else (*TABULAR, *EMBEDDED):
            print(f"finding label errors: {name}", file=sys.stderr)
            found = measured(name, Path(source), folder, workers, quick=quick)
            pairs = list(zip(methods(name, quick), found, strict=True))
            with_set.add(name, {m[0]: result for m, result in pairs if m[4]})
            without.add(name, {m[0]: result for m, result in pairs if not m[4]})
    return [
        "## Finding label errors",
        "",
        f"AUROC of finding planted errors ({FLIPPED:.0%} of {N_TRAIN:,} training labels changed to "
        "another class at random), mean ± standard deviation over "
        f"{1 if quick else 3} random splits; the same splits and scaling for everyone. *forest*: "
        "`encoder=ForestLeaves()`, 5-fold where there is no validation set. *cleanlab* with a "
        "model: the self-confidence of five-fold predictions (KNN with K = 10, logistic regression,"
        " random forest of 100 trees). *cleanlab Shapley*: `data_shapley_knn`, K = 10. *pyDVL*: "
        "unweighted KNN-Shapley, K = 5. *Data-OOB*: OpenDataVal's, 300 decision trees (100 on "
        "embeddings; 1,000 is its default). Ours are the defaults. The best of a row is bold.",
        "",
        f"### With {N_VAL} clean validation points",
        "",
        *with_set.lines(),
        "### Without a validation set",
        "",
        *without.lines(),
    ]
