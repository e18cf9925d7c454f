"""The data sets of the paper: from a folder of numpy archives, or from OpenML.

`load(name)` reads `<file>.npz` from `data_dir` or, by default, from the folder that the environment
variable `DATAWORTH_DATA` names. Without either, it downloads from OpenML the data sets that OpenML
has. Features are float64, since some (Click's hashes) overflow in arithmetic at lower precision;
missing ones are NaN. Rows are in the order of the source, often sorted by class, so shuffle them
before you split them.
"""

import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from dataworth.arrays import Array, Flags, Floats, Ints
from dataworth.inputs import checks

DATA_VARIABLE = "DATAWORTH_DATA"


class Source(NamedTuple):
    """Where a data set comes from.

    Attributes
    ----------
    title : str
        Its name, as the paper writes it.
    file : str
        The name of its archive, without the ending.
    openml : int or None
        Its id at OpenML; None if OpenML does not have it in this form.
    kind : str
        "table", "embedding" or "pixels".
    """

    title: str
    file: str
    openml: int | None
    kind: str


SOURCES = {
    "2dplanes": Source("2DPlanes", "2dplanes", 727, "table"),
    "cpu": Source("CPU", "cpu", 761, "table"),
    "phoneme": Source("Phoneme", "phoneme", 1489, "table"),
    "fraud": Source("Fraud", "fraud", 42397, "table"),
    "creditcard": Source("Creditcard", "creditcard", 42477, "table"),
    "vehicle": Source("Vehicle", "vehicle", 357, "table"),
    "click": Source("Click", "click", 1218, "table"),
    "wind": Source("Wind", "wind", 847, "table"),
    "pol": Source("Pol", "pol", 722, "table"),
    "apsfail": Source("Apsfail", "apsfail", 41138, "table"),
    "mnist": Source("MNIST", "mnist_effnetlite0", None, "embedding"),
    "cifar10": Source("CIFAR10", "cifar10_effnetlite0", None, "embedding"),
    "agnews": Source("AGNews", "agnews_minilm", None, "embedding"),
    "dbpedia": Source("DBPedia", "dbpedia_minilm", None, "embedding"),
    "wnli": Source("WNLI", "wnli_minilm", None, "embedding"),
    "cifar10-pixels": Source("CIFAR10 (pixels)", "cifar10_pixels", None, "pixels"),
}


class Dataset(NamedTuple):
    """Features and labels.

    Attributes
    ----------
    X : (n, features) array
        float64, or uint8 for pixels; NaN where a value is missing.
    y : (n,) array of int
        The classes, 0 to C - 1.
    is_train : (n,) array of bool or None
        The official split into training and test points; None if the data set has no such split.
    """

    X: Array
    y: Ints
    is_train: Flags | None = None


def load(name: str, *, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set of the paper by name.

    Parameters
    ----------
    name : str
        One of `paper.datasets.SOURCES`.
    data_dir : path, optional
        The folder that holds the archives; by default the folder that the environment variable
        `DATAWORTH_DATA` names. Without either, the data come from OpenML by scikit-learn's
        `fetch_openml`, which keeps what it downloads in scikit-learn's data folder.

    Returns
    -------
    Dataset
        Features and labels, in the order of the source.

    Notes
    -----
    An archive holds `X`, `y` (0 to C - 1) and, with an official split, `is_train`. Nothing is ever
    unpickled. OpenML's labels become 1[y = 1] as in the paper: numbers are compared with 1, and of
    names the second that the file declares counts as 1. A column of names becomes numbers: the
    names themselves where they are numbers, else their position among those declared.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from paper import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "wind.npz", X=np.eye(4, dtype="f4"), y=[0, 0, 1, 1])
    ...     datasets.load("wind", data_dir=folder).X.dtype
    dtype('float64')
    """
    checks.choice(name, "name", SOURCES)
    folder = os.environ.get(DATA_VARIABLE) if data_dir is None else os.fspath(data_dir)
    if folder:
        return _from_folder(name, Path(folder))
    return _from_openml(name)


def _from_folder(name: str, folder: Path) -> Dataset:
    path = folder / f"{SOURCES[name].file}.npz"
    if not folder.is_dir():
        raise FileNotFoundError(f"data_dir must name a folder; {str(folder)!r} is not one.")
    if not path.is_file():
        raise FileNotFoundError(f"data_dir must hold {path.name!r} for {name!r}; it does not.")
    try:
        with np.load(path, allow_pickle=False) as file:
            X, y = file["X"], file["y"]
            is_train = file.get("is_train")
    except KeyError as error:
        raise ValueError(
            f"data_dir must hold archives with X and y; {str(path)!r} lacks one."
        ) from error
    except Exception as error:  # whatever a damaged archive makes its readers raise
        raise ValueError(f"data_dir must hold numpy archives; {str(path)!r} is not one.") from error
    n = len(y)
    whole = (
        X.ndim == 2
        and X.dtype.kind in "biuf"
        and y.ndim == 1
        and y.dtype.kind in "iu"
        and len(X) == n > 0
        and np.array_equal(np.unique(y), np.arange(y.max() + 1))
        and (is_train is None or (is_train.shape == y.shape and is_train.dtype == bool))
    )
    if not whole:
        raise ValueError(
            f"data_dir must hold archives of numbers X and labels y from 0 to C - 1, row by row; "
            f"{str(path)!r} is not one."
        )
    if SOURCES[name].kind != "pixels":
        X = X.astype(np.float64)
    return Dataset(X, y.astype(np.int64), is_train)


def _from_openml(name: str) -> Dataset:
    number = SOURCES[name].openml
    if number is None:
        raise FileNotFoundError(
            f"data_dir must be given for {name!r}, or the environment variable {DATA_VARIABLE}: "
            "OpenML does not have it in this form."
        )
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        # Newer versions of a data set at OpenML do not matter: it is asked for by id.
        warnings.filterwarnings("ignore", message="Version .* of dataset .* is", module="sklearn")
        # With this parser, and labels among the columns, names come as positions among those
        # declared.
        found = fetch_openml(data_id=number, target_column=None, as_frame=False, parser="liac-arff")
    columns, target = list(found.feature_names), found.details["default_target_attribute"]
    X = found.data.toarray() if issparse(found.data) else np.asarray(found.data, np.float64)
    place = columns.index(target)
    y = _binary(X[:, place], name)
    for k, column in enumerate(columns):
        if column in found.categories:
            X[:, k] = _numbers(X[:, k], found.categories[column])
    return Dataset(np.delete(X, place, axis=1), y)


def _numbers(codes: Array, names: list[str]) -> Floats:
    """The names that codes stand for, if all names are numbers, or else the codes; NaN stays."""
    try:
        values = np.array([float(n) for n in names])
    except ValueError:
        return codes.astype(np.float64)
    known = np.isfinite(codes)
    numbers = np.full(codes.size, np.nan)
    numbers[known] = values[codes[known].astype(np.int64)]
    return numbers


def _binary(labels: Floats, name: str) -> Ints:
    """1[y = 1] of OpenML's labels: numbers, or positions among the names declared."""
    if np.isnan(labels).any():
        raise ValueError(f"the labels of {name!r} at OpenML must be complete; some are missing.")
    ones = labels == 1.0
    if ones.all() or not ones.any():
        raise ValueError(f"the labels of {name!r} at OpenML must have two classes; they have one.")
    return ones.astype(np.int64)
