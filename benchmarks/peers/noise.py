"""Draws of training points, and the label errors that are planted in them.

A draw is the same for every method. Three kinds of errors, each in a tenth of the labels:

- random: any label becomes any other, each as likely as the next;
- alike: labels that a model is unsure of become the other class that it thinks of, as people
  mistake what looks alike. The model is a committee of three, no one's own;
- rare: as random, in a draw that holds 5, 10 or 20 % of one class.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dataworth import TableEncoder
from dataworth.arrays import Flags, Floats, Ints
from paper import protocol
from paper.datasets import Dataset

N_TRAIN, N_VAL = 1000, 100
RANDOM, ALIKE = "random", "alike"
RARE = {"rare 5 %": 0.05, "rare 10 %": 0.1, "rare 20 %": 0.2}
UNSURE = 3  # times as many labels as become wrong: the least sure ones, of which they are drawn
FEWEST = 5  # points of a class that is kept: a fold for each of five

Arrays = dict[str, NDArray[Any]]
Generator = np.random.Generator


class Pool(NamedTuple):
    """What is drawn from.

    Attributes
    ----------
    X : (n, features) array or data frame
        A data frame is encoded by a `TableEncoder`; embeddings get length 1; other features get
        medians where they are missing and are standardised.
    y : (n,) array of int
        The classes, 0 to C - 1.
    is_embedding : bool
        Whether X holds embeddings.
    balanced : bool
        Whether draws hold equally many points of each class and none twice, as those of
        `python -m paper` do; otherwise they are as the data are.
    """

    X: Any
    y: Ints
    is_embedding: bool = False
    balanced: bool = False


def draw(name: str, pool: Pool, errors: str, seed: int) -> Arrays:
    """Training points of which a tenth have wrong labels, and clean validation points if any.

    Parameters
    ----------
    name : str
        The name of the data set, which seeds the draw together with `seed`.
    pool : Pool
        What to draw from.
    errors : str
        `RANDOM`, `ALIKE` or one of `RARE`.
    seed : int
        The number of the draw.
    """
    rng = protocol.generator(name, seed)
    val = np.zeros(0, dtype=np.int64)
    if errors in RARE:
        train = _unbalanced(pool.y, RARE[errors], rng)
    elif pool.balanced:
        train, val = protocol.split(Dataset(pool.X, pool.y), N_TRAIN, N_VAL, rng)
    else:
        train = rng.permutation(pool.y.size)[:N_TRAIN]
    classes = pool.y[train]
    train = train[np.bincount(classes)[classes] >= FEWEST]
    y = np.unique(pool.y[train], return_inverse=True)[1]
    X, X_val = features(pool, train, val)
    if errors == ALIKE:
        planted, given = _alike(X, y, rng)
    else:
        planted = protocol.chosen(y.size, rng)
        given = protocol.flip(y, planted, rng)
    return {
        "X_train": X, "y_train": given, "X_val": X_val, "y_val": pool.y[val], "planted": planted
    }  # fmt: skip


def _unbalanced(y: Ints, share: float, rng: Generator) -> Ints:
    """Rows of which a share has one class: the rarer of two, or one of many at random."""
    counts = np.bincount(y)
    rare = int(counts.argmin()) if counts.size == 2 else int(rng.integers(counts.size))
    order = rng.permutation(y.size)
    few, many = order[y[order] == rare], order[y[order] != rare]
    n = min(N_TRAIN, int(few.size / share), int(many.size / (1.0 - share)))
    k = round(share * n)
    return rng.permutation(np.concatenate([few[:k], many[: n - k]]))


def features(pool: Pool, train: Ints, val: Ints) -> tuple[Floats, Floats]:
    """Prepare the features of training and validation rows, by what is known of the former."""
    if isinstance(pool.X, pd.DataFrame):
        encoder = TableEncoder().fit(pool.X.iloc[train])
        X: Floats = encoder.transform(pool.X.iloc[train])
        return X, X[:0]
    if pool.is_embedding:
        return protocol.normalised(pool.X[train]), protocol.normalised(pool.X[val])
    steps = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    X = steps.fit_transform(pool.X[train])
    return X, steps.transform(pool.X[val]) if val.size else X[:0]


def _alike(X: Floats, y: Ints, rng: Generator) -> tuple[Flags, Ints]:
    """A tenth of the labels, where the committee wavers, become the class that it wavers to."""
    at, n_bad = np.arange(y.size), round(protocol.SHARE_BAD * y.size)
    chances = _committee(X, y)
    own = chances[at, y]
    chances[at, y] = -1.0
    unsure = np.argsort(np.abs(own - chances.max(axis=1)), kind="stable")[: UNSURE * n_bad]
    bad = rng.permutation(unsure)[:n_bad]
    planted, given = np.zeros(y.size, dtype=bool), y.copy()
    planted[bad], given[bad] = True, chances.argmax(axis=1)[bad]
    return planted, given


def _committee(X: Floats, y: Ints) -> Floats:
    """The mean of three models' chances of each class, by five-fold prediction."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    models = (
        RandomForestClassifier(100, min_samples_leaf=2, random_state=0),
        LogisticRegression(max_iter=1000),
        KNeighborsClassifier(20),
    )
    found = [cross_val_predict(m, X, y, cv=folds, method="predict_proba") for m in models]
    mean: Floats = np.mean(found, axis=0)
    return mean
