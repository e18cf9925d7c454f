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
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.peers.pool import Worker
from dataworth.datasets import DATA_VARIABLE, SOURCES, Dataset, load
from dataworth.reproduce import protocol
from dataworth.reproduce.detection import DATA

N_TRAIN, N_VAL, SEEDS = 1000, 100, 3
Arrays = dict[str, NDArray[Any]]

# Name, library that runs it, call, arguments, and whether it uses the clean validation points.
Method = tuple[str, str, str, dict[str, Any], bool]


def methods(name: str, quick: bool) -> list[Method]:
    """Who competes; trees on embeddings are slow, so that they get fewer of them."""
    n_models = 20 if quick else 100 if SOURCES[name].kind == "embedding" else 300
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


def split(name: str, data: Dataset, seed: int) -> Arrays:
    """A balanced draw without repeats, with planted errors, as `dataworth reproduce` has it.

    Embeddings get length 1; other features get training medians where they are missing and are
    standardised by the training points, which is how one would prepare them for any classifier.
    """
    rng = protocol.generator(name, seed)
    train, val = protocol.split(data, N_TRAIN, N_VAL, rng)
    if SOURCES[name].kind == "embedding":
        X, X_val = protocol.normalised(data.X[train]), protocol.normalised(data.X[val])
    else:
        steps = make_pipeline(
            SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
        )
        X, X_val = steps.fit_transform(data.X[train]), steps.transform(data.X[val])
    planted = protocol.chosen(train.size, rng)
    return {
        "X_train": X,
        "y_train": protocol.flip(data.y[train], planted, rng),
        "X_val": X_val,
        "y_val": data.y[val],
        "planted": planted,
    }


def measured(
    name: str, data: Dataset, folder: Path, workers: dict[str, Worker], *, quick: bool
) -> list[NDArray[np.float64] | str]:
    """AUROCs of each method over the seeds, or what went wrong."""
    found: list[NDArray[np.float64] | str] = []
    splits = [split(name, data, seed) for seed in range(1 if quick else SEEDS)]
    for _, library, call, args, _ in methods(name, quick):
        aurocs: list[float] = []
        failed = ""
        for drawn in splits:
            np.savez(folder / "data.npz", allow_pickle=False, **drawn)
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
            aurocs.append(protocol.auroc(values, drawn["planted"]))
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
            text = f"{means[method]:.3f} ± {result.std(ddof=1) if result.size > 1 else 0.0:.3f}"
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
    if DATA_VARIABLE not in os.environ:
        return ["## Finding label errors", "", f"Not run: {DATA_VARIABLE} names no folder.", ""]
    with_set, without = Table(), Table()
    missing: list[str] = []
    with ExitStack() as stack:
        workers = {
            library: stack.enter_context(Worker(library, 1800.0))
            for library in ("dataworth", "pydvl", "cleanlab", "opendataval")
        }
        for name in ("phoneme", "agnews") if quick else DATA:
            print(f"finding label errors: {name}", file=sys.stderr)
            try:
                data = load(name)
            except FileNotFoundError:
                missing.append(SOURCES[name].title)
                continue
            found = measured(name, data, folder, workers, quick=quick)
            pairs = list(zip(methods(name, quick), found, strict=True))
            with_set.add(SOURCES[name].title, {m[0]: result for m, result in pairs if m[4]})
            without.add(SOURCES[name].title, {m[0]: result for m, result in pairs if not m[4]})
    return [
        "## Finding label errors",
        "",
        f"AUROC of finding planted errors ({protocol.SHARE_BAD:.0%} of {N_TRAIN:,} training labels "
        "changed to another class at random; fewer points where a balanced draw without repeats is "
        f"smaller), mean ± standard deviation over {1 if quick else SEEDS} draws, the same for "
        "everyone. Tables are standardised, embeddings get length 1. *forest*: "
        "`encoder=ForestLeaves()`, 5-fold where there is no validation set. *cleanlab* with a "
        "model: the self-confidence of five-fold predictions (KNN with K = 10, logistic regression,"
        " random forest of 100 trees). *cleanlab Shapley*: `data_shapley_knn`, K = 10. *pyDVL*: "
        "unweighted KNN-Shapley, K = 5. *Data-OOB*: OpenDataVal's, 300 decision trees (100 on "
        "embeddings; 1,000 is its default). Ours are the defaults. The best of a row is bold."
        + (f" Not at hand: {', '.join(missing)}." if missing else ""),
        "",
        f"### With {N_VAL} clean validation points",
        "",
        *with_set.lines(),
        "### Without a validation set",
        "",
        *without.lines(),
    ]
