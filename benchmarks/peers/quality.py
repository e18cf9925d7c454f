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
from paper import protocol
from paper.datasets import DATA_VARIABLE, SOURCES, Dataset, load
from paper.detection import DATA
from paper.writing import sign_test

N_TRAIN, N_VAL, SEEDS = 1000, 100, 5
Arrays = dict[str, NDArray[Any]]
Result = NDArray[np.float64] | str  # an AUROC per seed, or what went wrong
LIMIT = 1800.0

# Name, library that runs it, call, arguments, and whether it uses the clean validation points.
Method = tuple[str, str, str, dict[str, Any], bool]


def methods(name: str, quick: bool) -> list[Method]:
    """Who competes; trees on embeddings are slow, so that they get fewer of them."""
    n_models = 20 if quick else 100 if SOURCES[name].kind == "embedding" else 1_000
    return [
        ("ours", "dataworth", "dataworth", {}, True),
        ("ours, forest", "dataworth", "dataworth", {"forest": True}, True),
        ("pyDVL", "pydvl", "pydvl", {"n_neighbors": 5}, True),
        ("ours", "dataworth", "dataworth", {"alone": True}, False),
        (
            "ours, unweighted",
            "dataworth",
            "dataworth",
            {"alone": True, "weights": "uniform"},
            False,
        ),
        ("ours, forest", "dataworth", "dataworth", {"forest": True, "cv": 5}, False),
        ("cleanlab KNN", "cleanlab", "self_confidence", {"model": "knn"}, False),
        ("cleanlab logistic", "cleanlab", "self_confidence", {"model": "logistic"}, False),
        ("cleanlab forest", "cleanlab", "self_confidence", {"model": "forest"}, False),
        ("cleanlab stout forest", "cleanlab", "self_confidence", {"model": "stout forest"}, False),
        ("cleanlab Shapley", "cleanlab", "cleanlab", {"n_neighbors": 10}, False),
        ("Data-OOB", "opendataval", "data_oob", {"n_models": n_models}, False),
    ]


def split(name: str, data: Dataset, seed: int) -> Arrays:
    """A balanced draw without repeats, with planted errors, as `python -m paper` draws it.

    Embeddings get length 1; other features get training medians where they are missing and are
    standardised by the training points.
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


def measured(name: str, data: Dataset, folder: Path, *, quick: bool) -> list[Result]:
    """AUROCs of each method over the seeds, or what went wrong."""
    found: list[Result] = []
    splits = [split(name, data, seed) for seed in range(1 if quick else SEEDS)]
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        for _, library, call, args, _ in methods(name, quick):
            if library not in workers:
                workers[library] = stack.enter_context(Worker(library, LIMIT))
            found.append(_aurocs(splits, folder, workers[library], call, args))
            if isinstance(found[-1], str):  # the next method gets a new one
                del workers[library]
    return found


def _aurocs(
    splits: list[Arrays], folder: Path, worker: Worker, call: str, args: dict[str, Any]
) -> Result:
    aurocs: list[float] = []
    for drawn in splits:
        np.savez(folder / "data.npz", allow_pickle=False, **drawn)
        answer = worker.order(
            call=call, args=args, data=str(folder / "data.npz"), out=str(folder / "values.npy")
        )
        if "failed" in answer:
            return str(answer["failed"])
        values = np.load(folder / "values.npy", allow_pickle=False)
        aurocs.append(protocol.auroc(values, drawn["planted"]))
    return np.array(aurocs)


@dataclass
class Table:
    """AUROCs of the methods that have, or have not, a validation set."""

    found: dict[str, dict[str, Result]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The table in Markdown, with where a peer is best said below it.

        Means are over the data sets that every method finished.
        """
        if not self.found:
            return ["No data set is at hand.", ""]
        methods = list(next(iter(self.found.values())))
        best: Counter[str] = Counter()
        rows, lost, whole = [], [], []
        for name, results in self.found.items():
            means = {m: float(r.mean()) for m, r in results.items() if not isinstance(r, str)}
            first = max(means, key=lambda m: means[m], default="")
            best[first] += 1
            cells = [_cell(results[m], bold=m == first) for m in methods]
            rows.append(f"| {name} | {' | '.join(cells)} |")
            if len(means) == len(methods):
                whole.append([means[m] for m in methods])
            ours = max(
                (m for m in means if m.startswith("ours")), key=means.__getitem__, default=""
            )
            if ours and first != ours:
                lost.append(f"{name} ({first}, by {_gap(results[first], results[ours])})")
        middle = np.mean(whole, axis=0) if whole else np.full(len(methods), np.nan)
        said = "; ".join(lost) if lost else "none"
        return [
            f"| data | {' | '.join(methods)} |",
            "|---|" + "---|" * len(methods),
            *rows,
            f"| *mean of {len(whole)}* | {' | '.join(f'{x:.3f}' for x in middle)} |",
            f"| *best on* | {' | '.join(str(best[m]) for m in methods)} |",
            "",
            f"**A peer is best on {len(lost)} of {len(rows)} data sets** (by means; the best of "
            f"the peers against the best of ours, paired difference ± its standard error): {said}.",
            "",
            *self._duels(methods),
        ]

    def _duels(self, methods: list[str]) -> list[str]:
        """Each of ours against each peer, over the data sets, with a sign test."""
        ours = [m for m in methods if m.startswith("ours")]
        peers = [m for m in methods if m not in ours]
        out = [
            "One against one: data sets where ours has the higher mean, those where the peer has, "
            "and the p of a two-sided sign test.",
            "",
            f"| ours \\ peer | {' | '.join(peers)} | the best of them |",
            "|---|" + "---|" * (len(peers) + 1),
        ]
        for mine in ours:
            cells = []
            for rivals in [*([p] for p in peers), peers]:
                gaps = []
                for results in self.found.values():
                    one, others = results[mine], [results[p] for p in rivals]
                    means = [float(r.mean()) for r in others if not isinstance(r, str)]
                    if means and not isinstance(one, str):
                        gaps.append(float(one.mean()) - max(means))
                test = sign_test(gaps)
                cells.append(f"{test.wins} – {test.losses}, p = {test.p:.2g}")
            out.append(f"| {mine} | {' | '.join(cells)} |")
        return [*out, ""]


def _cell(result: Result, *, bold: bool) -> str:
    if isinstance(result, str):
        return result
    spread = f" ± {result.std(ddof=1):.3f}" if result.size > 1 else ""
    text = f"{result.mean():.3f}{spread}"
    return f"**{text}**" if bold else text


def _gap(one: Result, other: Result) -> str:
    assert not isinstance(one, str)
    assert not isinstance(other, str)
    gaps = one - other
    error = f" ± {gaps.std(ddof=1) / np.sqrt(gaps.size):.3f}" if gaps.size > 1 else ""
    return f"{gaps.mean():.3f}{error}"


def section(folder: Path, *, quick: bool) -> list[str]:
    """The part on finding label errors."""
    if DATA_VARIABLE not in os.environ:
        return ["## Finding label errors", "", f"Not run: {DATA_VARIABLE} names no folder.", ""]
    with_set, without = Table(), Table()
    missing: list[str] = []
    for name in ("phoneme", "agnews") if quick else DATA:
        print(f"finding label errors: {name}", file=sys.stderr)
        title = SOURCES[name].title
        try:
            data = load(name)
        except FileNotFoundError:
            missing.append(title)
            continue
        found = measured(name, data, folder, quick=quick)
        pairs = list(zip(methods(name, quick), found, strict=True))
        with_set.found[title] = {m[0]: result for m, result in pairs if m[4]}
        without.found[title] = {m[0]: result for m, result in pairs if not m[4]}
    return [
        "## Finding label errors",
        "",
        f"AUROC of finding planted errors ({protocol.SHARE_BAD:.0%} of {N_TRAIN:,} training labels "
        "changed to another class at random; fewer points where a balanced draw without repeats is "
        f"smaller), mean ± standard deviation over {1 if quick else SEEDS} draws, the same for "
        "everyone. Tables are standardised, embeddings get length 1. *forest*: "
        "`encoder=ForestLeaves()` (200 trees, at least 5 points a leaf), 5-fold where there is no "
        "validation set. *cleanlab* with a "
        "model: the self-confidence of five-fold predictions (KNN with K = 10, logistic regression,"
        " random forest of 100 trees, and the *stout* one with the trees of ForestLeaves). "
        "*cleanlab Shapley*: `data_shapley_knn`, K = 10, and cosine distance from 4 features on, "
        "as is its default. *pyDVL*: "
        "unweighted KNN-Shapley, K = 5. *Data-OOB*: OpenDataVal's, 1,000 decision trees, its "
        "default (100 on embeddings, where trees are slow). *ours, unweighted*: "
        "`weights='uniform'`. All else of ours are the defaults, whose "
        "weights, K and bits were once compared on data sets among these "
        "([how](../docs/choosing.md)); nothing of the peers was tuned. The best of a row is bold."
        + (f" Not at hand: {', '.join(missing)}." if missing else ""),
        "",
        f"### With up to {N_VAL} clean validation points",
        "",
        *with_set.lines(),
        "### Without a validation set",
        "",
        *without.lines(),
    ]
