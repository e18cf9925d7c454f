"""How data are drawn, damaged and prepared: once, for all experiments.

The draw is balanced and without repeats: rows with the same features count once, before anything
is drawn, so that no point of the training set is in the validation set, nor twice in either.

Damage and scaling follow the paper's text. Only damages whose names end in `-code` follow the code
of its authors, which does other things (`as_in_the_code`).
"""

import zlib
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from dataworth.arrays import Array, Flags, Floats, Ints
from dataworth.settings import root as root  # the rank √N, for all experiments
from paper.datasets import SOURCES, Dataset

Generator = np.random.Generator

SHARE_BAD = 0.1
DAMAGES = ("mislabel", "noisy")
CODE = "-code"
TEXT = ("agnews", "dbpedia")


class Task(NamedTuple):
    """A training set, a clean validation set, and which training points are bad."""

    X_train: Floats
    y_train: Ints
    X_val: Floats
    y_val: Ints
    bad: Flags


def generator(name: str, seed: int) -> Generator:
    """The random generator of one data set and seed."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def distinct(X: Array, order: Ints) -> Ints:
    """The rows of `order` whose features did not occur before in it."""
    rows = np.ascontiguousarray(X[order] + 0.0)  # -0.0 is 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    return order[np.sort(np.unique(whole, return_index=True)[1])]


def quotas(total: int, n_classes: int, rng: Generator) -> Ints:
    """How many of each class make `total`: equally many, or one more of some drawn at random."""
    each = np.full(n_classes, total // n_classes)
    each[rng.permutation(n_classes)[: total % n_classes]] += 1
    return each


def split(data: Dataset, n_train: int, n_val: int, rng: Generator) -> tuple[Ints, Ints]:
    """Rows for training and validation, balanced and without repeats.

    Where the smallest class has too few rows, all its rows are used, every class gives as many, and
    the two parts keep their ratio.
    """
    order = distinct(data.X, rng.permutation(data.y.size))
    n_classes = int(data.y.max()) + 1
    members = [order[data.y[order] == c] for c in range(n_classes)]
    smallest = min(m.size for m in members)
    of_train, of_val = quotas(n_train, n_classes, rng), quotas(n_val, n_classes, rng)
    if smallest < (of_train + of_val).max():
        of_train[:] = smallest * n_train // (n_train + n_val)
        of_val[:] = smallest - of_train
    train = np.concatenate([m[:k] for m, k in zip(members, of_train, strict=True)])
    val = np.concatenate([m[k : k + j] for m, k, j in zip(members, of_train, of_val, strict=True)])
    return rng.permutation(train), rng.permutation(val)


def chosen(n: int, rng: Generator) -> Flags:
    """A tenth of n points, at random."""
    bad = np.zeros(n, dtype=bool)
    bad[rng.permutation(n)[: round(SHARE_BAD * n)]] = True
    return bad


def flip(y: Ints, bad: Flags, rng: Generator) -> Ints:
    """Give the bad points other labels, each of the other classes as likely as the next."""
    n_classes = int(y.max()) + 1
    wrong = y.copy()
    wrong[bad] = (wrong[bad] + rng.integers(1, n_classes, int(bad.sum()))) % n_classes
    return wrong


def blur(X: Floats, bad: Flags, deviation: Floats, rng: Generator) -> Floats:
    """Add noise to the bad points, with its own standard deviation for each feature."""
    noisy = X.copy()
    noisy[bad] += rng.normal(size=(int(bad.sum()), X.shape[1])) * deviation
    return noisy


def normalised(X: Floats) -> Floats:
    """Scale rows to length 1; rows of zeros stay as they are."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0.0, lengths, 1.0)


def standardised(X: Floats, X_val: Floats) -> tuple[Floats, Floats]:
    """Standardise each feature by its mean and deviation in the training points."""
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    return (X - mean) / deviation, (X_val - mean) / deviation


def as_in_the_text(
    name: str, damage: str, X: Floats, X_val: Floats, bad: Flags, rng: Generator
) -> tuple[Floats, Floats]:
    """Add noise to the features as they are, in each as strong as its mean absolute value.

    Then the features of tables are standardised by the training points, bad ones included, and
    every row is scaled to length 1. About scaling the paper says only that text has length 1.
    """
    if damage == "noisy":
        X = blur(X, bad, np.abs(X).mean(axis=0), rng)
    if SOURCES[name].kind == "table":
        X, X_val = standardised(X, X_val)
    return normalised(X), normalised(X_val)


def as_in_the_code(
    name: str, damage: str, X: Floats, X_val: Floats, bad: Flags, rng: Generator,
    whole: Floats,
) -> tuple[Floats, Floats]:  # fmt: skip
    """What the code of the paper's authors does to features.

    Text is standardised by the whole data set and scaled to length 1, and gets no noise. Tables
    and images are left as they are when labels are flipped (without the option `--normalize`).
    Noise is as strong as the Euclidean norm of the feature over the training points. Tables get it
    before they are scaled, images afterwards, by the norm before rows are scaled to length 1.
    """
    if name in TEXT:
        mean, deviation = whole.mean(axis=0), np.sqrt(whole.var(axis=0) + 1e-5)
        return normalised((X - mean) / deviation), normalised((X_val - mean) / deviation)
    if damage == "mislabel":
        return X, X_val
    if SOURCES[name].kind == "table":
        X, X_val = standardised(blur(X, bad, np.linalg.norm(X, axis=0), rng), X_val)
        return normalised(X), normalised(X_val)
    mean, deviation = X.mean(axis=0), np.sqrt(X.var(axis=0) + 1e-5)
    X, X_val = (X - mean) / deviation, (X_val - mean) / deviation
    return blur(normalised(X), bad, np.linalg.norm(X, axis=0), rng), normalised(X_val)


def draw(name: str, data: Dataset, damage: str, *, n_train: int, n_val: int, seed: int) -> Task:
    """One training set with a tenth of its points bad, and a validation set.

    `damage` is one of `DAMAGES`, as the paper's text has it or, with `CODE` at its end, as its
    authors' code has it; or "none", which leaves the bad points as good as the others. The points
    drawn, those that are bad and their wrong labels are the same in either. Flips that leave a
    class without any point, as can happen in tiny sets of many classes, are drawn again. Missing
    values become the training median.
    """
    rng = generator(name, seed)
    train, val = split(data, n_train, n_val, rng)
    X, X_val, y = data.X[train], data.X[val], data.y[train]
    if np.isnan(X).any() or np.isnan(X_val).any():
        known = ~np.isnan(X).all(axis=0)
        middle = np.zeros(X.shape[1])
        middle[known] = np.nanmedian(X[:, known], axis=0)
        X, X_val = np.where(np.isnan(X), middle, X), np.where(np.isnan(X_val), middle, X_val)
    bad = chosen(train.size, rng)
    what = damage.removesuffix(CODE)
    if what == "mislabel":
        clean, y = y, flip(y, bad, rng)
        while np.unique(y).size < np.unique(clean).size:
            bad = chosen(train.size, rng)
            y = flip(clean, bad, rng)
    if damage.endswith(CODE):
        X, X_val = as_in_the_code(name, what, X, X_val, bad, rng, data.X)
    else:
        X, X_val = as_in_the_text(name, what, X, X_val, bad, rng)
    return Task(X, y, X_val, data.y[val], bad)


def auroc(values: Floats, bad: Flags) -> float:
    """How well low values point to the bad points."""
    return float(roc_auc_score(bad, -values))
