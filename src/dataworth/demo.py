"""The main job on real data: find planted label errors among handwritten digits."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from dataworth import KNNShapley
from dataworth.arrays import Array, Flags


class PlantedErrors(NamedTuple):
    """A training set with wrong labels planted, and a clean validation set.

    Attributes
    ----------
    X_train, y_train : array
        The training images and their labels, some of them wrong.
    X_val, y_val : array
        The validation images and their labels.
    planted : (n_train,) array of bool
        True for each wrong label.
    """

    X_train: Array
    y_train: Array
    X_val: Array
    y_val: Array
    planted: Flags


def digits_with_errors(share: float = 0.1, seed: int = 0) -> PlantedErrors:
    """Plant wrong labels among scikit-learn's digits, and keep 500 digits for validation.

    Parameters
    ----------
    share : float
        The share of the training labels to make wrong.
    seed : int
        The seed of all random choices.

    Returns
    -------
    PlantedErrors
        The data.

    Examples
    --------
    >>> from dataworth.demo import digits_with_errors
    >>> int(digits_with_errors(share=0.1).planted.sum())
    130
    """
    rng = np.random.default_rng(seed)
    X, y = load_digits(return_X_y=True)
    X_train, X_val, y_train, y_val = train_test_split(
        X, y, test_size=500, random_state=seed, stratify=y
    )
    bad = rng.choice(y_train.size, round(share * y_train.size), replace=False)
    y_train[bad] = (y_train[bad] + rng.integers(1, 10, bad.size)) % 10
    planted = np.zeros(y_train.size, dtype=bool)
    planted[bad] = True
    return PlantedErrors(X_train, y_train, X_val, y_val, planted)


def main() -> None:
    """Plant wrong labels, value every training image, and look at the bottom of the list."""
    X_train, y_train, X_val, y_val, planted = digits_with_errors()
    n_bad = int(planted.sum())
    print(
        f"Digits: {y_train.size} training images, {n_bad} of them with a wrong label planted; "
        f"{y_val.size} validation images."
    )
    valuator = KNNShapley(n_neighbors=5, game="soft", weights="rbf", n_bits=3, n_jobs=-1)
    valuator.fit(X_train, y_train)
    print("Loading kernels (the first run ever compiles them, some 30 seconds) ...", flush=True)
    valuator.value(X_val[:1], y_val[:1])
    start = time.perf_counter()
    values = valuator.value(X_val, y_val)
    seconds = time.perf_counter() - start
    print("\nThe ten least valuable images:\n")
    print("   image   label       value   planted error?")
    for index, value, label in values.worst(10).tolist():
        print(f"   {index:5d}   {label:5d}   {value:9.6f}   {'yes' if planted[index] else 'no'}")
    found = int(planted[values.worst(n_bad)["index"]].sum())
    print(f"\n{found} of the {n_bad} lowest-valued images are planted errors.")
    print(f"AUROC of finding them: {roc_auc_score(planted, -values.values):.3f}")
    print(f"Time: {seconds:.2f} s, exact, for {y_val.size} validation images.")


if __name__ == "__main__":
    main()
