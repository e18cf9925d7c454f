"""Keeping the most valuable points: a network on CIFAR10, and a KNN-LM style classifier on WNLI."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from dataworth.arrays import Floats, Ints
from dataworth.run.checkpoints import fingerprint
from paper import networks, plots, protocol
from paper.datasets import Dataset
from paper.methods import BASELINE, N_BITS, N_NEIGHBORS, TITLES, values_of
from paper.protocol import Task
from paper.run import NoData, Run, identity
from paper.writing import interval, table

METHODS = (BASELINE, "hard-linear", "hard-linear-sqrt", "soft-linear", "soft-rbf", "random")
SHARES = (0.1, 0.3, 0.5, 0.7, 1.0)
IMAGE_SEEDS = 3
TEXT_SEEDS = 100
MIXTURE = 0.5
N_VAL_TEXT = 25

Accuracies = dict[str, Floats]  # method -> (seeds, shares)


def order_of(method: str, task: Task, seed: int, jobs: int) -> Ints:
    """Training points, most valuable first."""
    if method == "random":
        return np.random.default_rng([seed, 1]).permutation(task.y_train.size)
    return np.argsort(-values_of(method, task, n_jobs=jobs), kind="stable")


def select(run: Run) -> None:
    """The experiment `selection`."""
    networks.load()  # so that a missing torch is noticed at once
    loaded, missing = run.data(["cifar10", "cifar10-pixels", "wnli"])
    if missing:
        raise NoData("; ".join(f"{name}: {why}" for name, why in missing.items()))
    if loaded["wnli"].is_train is None:
        raise NoData("wnli: its archive must hold the official split, is_train; it does not.")
    shares = (0.3, 1.0) if run.quick else SHARES
    image_seeds = run.n_seeds(IMAGE_SEEDS)
    text_seeds = run.n_seeds(TEXT_SEEDS)
    texts, alone = on_texts(run, loaded["wnli"], text_seeds, shares)
    images = on_images(run, loaded["cifar10"], loaded["cifar10-pixels"], image_seeds, shares)
    n_train, n_val, steps = image_sizes(run)
    figure = picture(images, texts, shares, alone, run.model)
    parts = [
        f"Values: K = {N_NEIGHBORS}, {N_BITS} bits. {TITLES['random'].capitalize()} is the control "
        "that the paper does not show.",
        f"## A network ({run.model}) on CIFAR10",
        f"{n_train} training images, 10 % of them with a flipped label, values by {n_val} "
        "validation images on EfficientNet-Lite0 features; test on all other images (1,300 at "
        f"full size). {steps} steps of Adam at {networks.LEARNING_RATE} in batches of "
        f"{networks.BATCH}, whatever the share, {image_seeds} seeds (split, flips and network). "
        "The paper trains ResNet18 on CIFAR10 and shows curves in which the weighted hard game "
        "lies above the unweighted one; it gives no figures.",
        *tables(images, shares),
        f"How many images of each class (by given label) are among the most valuable "
        f"{100 * shares[0]:.0f} %, the class that has fewest and the one that has most, by seed:",
        balance(run, loaded["cifar10"], image_seeds, shares[0]),
        "## A KNN-LM style classifier on WNLI",
        f"p = {MIXTURE} p_KNN + {1 - MIXTURE} p_base, KNN with K = {N_NEIGHBORS} and weights "
        f"exp(−d) over the selected part of the 635 training pairs; {N_VAL_TEXT} of the 71 "
        f"official validation pairs value them, the other 46 test, {text_seeds} such splits. The "
        "paper's BERT tuned on WNLI (53 % on its test half) could not be had: the base is a "
        f"logistic regression on MiniLM embeddings of the training pairs, {alone} alone. WNLI is "
        "built to mislead: most validation premises are in the training set with the "
        "opposite label only, so near neighbours are wrong and a method that trusts them falls "
        "below chance. The paper says that both weighted variants beat the unweighted one by a "
        "large margin.",
        *tables(texts, shares),
    ]
    seeds = f"0 to {image_seeds - 1} (CIFAR10), 0 to {text_seeds - 1} (WNLI)"
    title = "Accuracy on the most valuable points"
    run.finish(title, parts, figure, seeds=seeds, data=loaded, packages=["torch"])


def image_sizes(run: Run) -> tuple[int, int, int]:
    """Training and validation images, and steps of training."""
    return (100, 20, 3) if run.quick else (2000, 200, networks.STEPS)


def draw_images(run: Run, features: Dataset, seed: int) -> tuple[Task, Ints, Ints]:
    """A training set with flipped labels, its rows, and the rows of the test set."""
    n_train, n_val, _ = image_sizes(run)
    rng = protocol.generator("cifar10", seed)
    train, val = protocol.split(features, n_train, n_val, rng)
    test = np.setdiff1d(np.arange(features.y.size), np.concatenate([train, val]))
    bad = protocol.chosen(train.size, rng)
    y = protocol.flip(features.y[train], bad, rng)
    X = protocol.normalised(features.X)
    task = Task(X[train], y, X[val], features.y[val], bad)
    return task, train, test[:100] if run.quick else test


def balance(run: Run, features: Dataset, n_seeds: int, share: float) -> str:
    """How many images of the rarest and of the most frequent class each method keeps."""
    n_classes = int(features.y.max()) + 1
    rows = []
    for method in METHODS:
        cells = []
        for seed in range(n_seeds):

            def compute(seed: int = seed, method: str = method) -> list[int]:
                task, train, _ = draw_images(run, features, seed)
                kept = order_of(method, task, seed, run.jobs)[: round(share * train.size)]
                counts: list[int] = np.bincount(task.y_train[kept], minlength=n_classes).tolist()
                return counts

            setting = {"balance": identity(features), "method": method, "seed": seed,
                       "share": share, "sizes": image_sizes(run)}  # fmt: skip
            counts = run.store.get(setting, compute)
            cells.append(f"{min(counts)} to {max(counts)}")
        rows.append([TITLES[method], *cells])
    return table(["method", *(f"seed {s}" for s in range(n_seeds))], rows)


def on_images(
    run: Run, features: Dataset, pixels: Dataset, n_seeds: int, shares: tuple[float, ...]
) -> Accuracies:
    """Test accuracies of the network."""
    n_train, n_val, steps = image_sizes(run)
    base = {"print": [identity(features), identity(pixels)], "sizes": [n_train, n_val],
            "steps": steps, "model": run.model}  # fmt: skip
    found = {m: np.empty((n_seeds, len(shares))) for m in METHODS}
    units = [(s, m, k) for s in range(n_seeds) for m in METHODS for k in range(len(shares))]
    for seed, method, k in run.progress(units):

        def compute(seed: int = seed, method: str = method, k: int = k) -> float:
            task, train, test = draw_images(run, features, seed)
            kept = order_of(method, task, seed, run.jobs)[: round(shares[k] * train.size)]
            return networks.accuracy(
                run.model, pixels.X[train[kept]], task.y_train[kept],
                pixels.X[test], features.y[test],
                n_classes=int(features.y.max()) + 1, seed=seed, steps=steps,
            )  # fmt: skip

        # Keeping all points is the same whatever the method.
        name = method if shares[k] < 1.0 else "all"
        setting = {**base, "seed": seed, "method": name, "share": shares[k]}
        found[method][seed, k] = run.store.get(setting, compute)
    return found


def on_texts(
    run: Run, data: Dataset, n_seeds: int, shares: tuple[float, ...]
) -> tuple[Accuracies, str]:
    """Test accuracies of the mixture, and that of the base classifier alone."""
    assert data.is_train is not None
    X = protocol.normalised(data.X)
    X_train, y_train = X[data.is_train], data.y[data.is_train]
    X_rest, y_rest = X[~data.is_train], data.y[~data.is_train]
    base = LogisticRegression(max_iter=1000).fit(X_train, y_train).predict_proba(X_rest)
    found = {m: np.empty((n_seeds, len(shares))) for m in METHODS}
    alone = []

    def compute(seed: int) -> dict[str, Any]:
        order = np.random.default_rng([seed, 0]).permutation(y_rest.size)
        val, test = order[:N_VAL_TEXT], order[N_VAL_TEXT:]
        bad = np.zeros(y_train.size, dtype=bool)
        task = Task(X_train, y_train, X_rest[val], y_rest[val], bad)
        result: dict[str, Any] = {"base": share_right(base[test], y_rest[test])}
        for method in METHODS:
            ranked = order_of(method, task, seed, run.jobs)
            result[method] = [
                share_right(
                    MIXTURE * near(task, ranked[: round(s * ranked.size)], X_rest[test])
                    + (1 - MIXTURE) * base[test],
                    y_rest[test],
                )
                for s in shares
            ]
        return result

    for seed in run.progress(list(range(n_seeds))):
        setting = {"wnli": identity(data), "split": fingerprint("split", data.is_train),
                   "seed": seed, "shares": shares, "methods": METHODS, "mixture": MIXTURE,
                   "val": N_VAL_TEXT}  # fmt: skip
        unit = run.store.get(setting, partial(compute, seed))
        alone.append(unit["base"])
        for method in METHODS:
            found[method][seed] = unit[method]
    return found, str(interval(alone))


def near(task: Task, kept: Ints, queries: Floats) -> Floats:
    """Probabilities of both classes by the nearest points kept."""
    knn = KNeighborsClassifier(min(N_NEIGHBORS, kept.size), weights=lambda d: np.exp(-d))
    knn.fit(task.X_train[kept], task.y_train[kept])
    found = np.zeros((len(queries), 2))
    found[:, knn.classes_] = knn.predict_proba(queries)
    return found


def share_right(probabilities: Floats, labels: Ints) -> float:
    """Accuracy."""
    return float((probabilities.argmax(axis=1) == labels).mean())


def tables(found: Accuracies, shares: tuple[float, ...]) -> list[str]:
    """Accuracy by share, and paired differences of the mean over shares below 1."""
    rows = [
        [f"{100 * s:.0f} %", *(str(interval(found[m][:, k].tolist())) for m in METHODS)]
        for k, s in enumerate(shares)
    ]
    part = [k for k, s in enumerate(shares) if s < 1.0]
    mean = {m: found[m][:, part].mean(axis=1) for m in METHODS}
    compared = []
    for m in METHODS:
        if m != BASELINE:
            gap = interval((mean[m] - mean[BASELINE]).tolist())
            compared.append([TITLES[m], gap.signed()])
    return [
        "Accuracy on the test set, mean over seeds with its 95 % interval.",
        table(["kept", *(TITLES[m] for m in METHODS)], rows),
        "Paired difference from soft unweighted, mean over the shares below 100 %:",
        table(["method", "accuracy"], compared),
    ]


def picture(
    images: Accuracies, texts: Accuracies, shares: tuple[float, ...], alone: str, model: str
) -> Any:
    """Accuracy against the share kept."""
    figure, axes = plots.panels(1, 2, width=4.8, height=4.4)
    titles = (f"CIFAR10, {model}, 10 % flipped labels", "WNLI, KNN-LM style")
    for axis, found, title in zip(axes, (images, texts), titles, strict=True):
        for method, curve in found.items():
            colour, marker = plots.LOOKS[method]
            style = "--" if method.endswith("sqrt") or method == "random" else "-"
            axis.plot([100 * s for s in shares], curve.mean(axis=0), marker=marker, color=colour,
                      linestyle=style, markersize=5,
                      label=TITLES[method] if axis is axes[0] else None)  # fmt: skip
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_xlabel("most valuable points kept, %")
        axis.set_ylabel("test accuracy")
    base = float(alone.split()[0])
    axes[1].axhline(base, color=plots.GREY, linestyle=":", linewidth=1)
    axes[1].annotate("base classifier alone", (100 * shares[0], base), xytext=(0, 3),
                     textcoords="offset points", fontsize=8, color=plots.GREY)  # fmt: skip
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure
