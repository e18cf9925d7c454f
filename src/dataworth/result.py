"""The result: values with all that is needed to read, compare and keep them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.files import atomic as files
from dataworth.inputs import checks, frames
from dataworth.inputs.groups import by

FORMAT = "dataworth values 1"
ARRAYS = ("values", "lower", "upper", "index", "labels")


@dataclass(frozen=True, eq=False, repr=False)
class DataValues:
    """What each training point is worth.

    Attributes
    ----------
    values : (n_train,) float64, in the order of the training points: the mean over the validation
        points of the Shapley value, or of the semivalue asked for. What counts is the order: how
        negative the values of harmless points are depends on the game (Shapley values add up to
        U(all) - U(none)).
    lower, upper : (n_train,) an interval that holds the exact value for certain, up to rounding.
        They equal the values except with `max_rank`, real weights or a graph in which weights do
        not vanish. With an approximate search they hold if its recall is 1.
    index : (n_train,) the index of a pandas frame, else the positions 0 to n_train - 1. Labels that
        a plain array cannot hold (several levels, time zones, mixed kinds) are kept as text.
    labels : (n_train,) the training labels, or targets.
    params : the parameters of the valuator; functions by their name.
    n_validation : the number of validation points.
    weight_error : with real weights, how far a value of one validation point can be off because of
        the sum of exponentials that stands for the division, in units of the utility (squared
        targets for regression); 0 with rounded weights.
    version : the version of dataworth that computed the values.
    recall : with an approximate search, the share of the nearest training points that it found for
        up to 32 of the validation points; else None.
    origin : the library the training table came from, and its index; None for arrays. A file keeps
        the library only.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> values = KNNShapley(n_neighbors=2).fit(X, y).value([[0.0], [1.0]], ["a", "b"])
    >>> values.worst(1)["index"]
    array([4])
    """

    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    index: NDArray[Any]
    labels: NDArray[Any]
    params: Mapping[str, Any]
    n_validation: int
    weight_error: float
    version: str
    recall: float | None = None
    origin: frames.Origin | None = None

    def __post_init__(self) -> None:
        for name in ARRAYS:
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def __len__(self) -> int:
        return self.values.size

    def __repr__(self) -> str:
        return (
            f"DataValues({len(self)} points, {self.n_validation} validation points, "
            f"sum {self.values.sum():.6g}, {int((self.values < 0).sum())} negative)"
        )

    def worst(self, n: int = 10) -> NDArray[np.void]:
        """The n least valuable points, worst first; all points where there are fewer.

        Returns a structured array with the fields index, value and label, which a data frame
        takes as it is: `pandas.DataFrame(values.worst(20))`. Ties keep the training order.
        """
        return self._table(np.argsort(self.values, kind="stable"), n)

    def best(self, n: int = 10) -> NDArray[np.void]:
        """The n most valuable points, best first; as `worst` otherwise."""
        return self._table(np.argsort(-self.values, kind="stable"), n)

    def _table(self, order: NDArray[np.int64], n: int) -> NDArray[np.void]:
        chosen = order[: checks.integer(n, "n", least=0)]
        fields = [("index", self.index.dtype), ("value", "f8"), ("label", self.labels.dtype)]
        table = np.empty(chosen.size, fields)
        table["index"] = self.index[chosen]
        table["value"] = self.values[chosen]
        table["label"] = self.labels[chosen]
        return table

    def by(self, groups: Any) -> NDArray[np.void]:
        """Values added up by group, such as the owners of the data, the largest sum first.

        Parameters
        ----------
        groups : (n_train,) strings, integers or booleans, or a series of them: the group of each
            training point. None may be missing.

        Returns
        -------
        A structured array, which a data frame takes as it is, with the fields group, count, sum,
        mean, lower and upper (which hold the exact sum for certain), and share: the sum as a share
        of the sum of all values. Shares add up to 1, but they are negative, or more than 1, where
        some sums are negative and others not, and NaN where all values add up to 0: decide first
        whether you take money from owners whose data does harm. Values can be added up so in every
        game; only Shapley values also add up to U(all) - U(none).

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1]], ["a", "a", "b", "b"]
        >>> values = KNNShapley(n_neighbors=1).fit(X, y).value([[0.0], [1.2]], ["a", "b"])
        >>> table = values.by(["Ann", "Bob", "Bob", "Bob"])
        >>> table["group"].tolist(), table["share"].round(6).tolist()
        (['Bob', 'Ann'], [0.75, 0.25])
        """
        return by(self.values, self.lower, self.upper, groups)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw how the values are spread, by class where there are few; returns the axes."""
        from dataworth import plots

        return plots.distribution(self, ax=ax)

    def plot_classes(self, *, ax: Any = None) -> Any:
        """Draw the values of each class; returns the axes."""
        from dataworth import plots

        return plots.by_class(self, ax=ax)

    def plot_detection(self, bad: Any, *, ax: Any = None) -> Any:
        """Draw how fast known bad points are found, least valuable first; returns the axes.

        `bad` is True for each bad point. `dataworth.plots.detection_curve` has the numbers.
        """
        from dataworth import plots

        return plots.detection(self, bad, ax=ax)

    def plot_removal(
        self, X: Any, y: Any, X_test: Any, y_test: Any, *, ax: Any = None, **options: Any
    ) -> Any:
        """Draw how a model fares as the least, the most or any points are removed; the axes.

        Takes the arguments of `dataworth.plots.removal_curve`, which has the numbers: the training
        points, points to test on, and `model` and `fractions`.
        """
        from dataworth import plots

        return plots.removal(self, X, y, X_test, y_test, ax=ax, **options)

    def to_frame(self, library: str | None = None) -> Any:
        """The values as a data frame: value, lower, upper and label, one row per training point.

        Parameters
        ----------
        library : "pandas", "polars", "pyarrow" or None
            None is the library of the training table; for arrays, the first that is installed.
            A frame of pandas has the index of the training table, the others a column `index`.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> values = KNNShapley(n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"]).value([[0]], ["a"])
        >>> values.to_frame("pandas")
           value  lower  upper label
        0    0.5    0.5    0.5     a
        1    0.0    0.0    0.0     b
        """
        columns = {"value": self.values, "lower": self.lower, "upper": self.upper}
        columns["label"] = self.labels
        return frames.to_frame(columns, self.index, self.origin, library)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all.

        The file is a numpy archive with JSON inside and has the name given, whatever its ending.
        """
        facts = {
            "format": FORMAT,
            "params": dict(self.params),
            "n_validation": self.n_validation,
            "weight_error": self.weight_error,
            "version": self.version,
            "recall": self.recall,
            "library": None if self.origin is None else self.origin.library,
        }
        arrays = {name: getattr(self, name) for name in ARRAYS}
        with files.atomic(path) as file:
            np.savez(file, **arrays, facts=np.array(json.dumps(facts)), allow_pickle=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "DataValues":
        """Read what `save` wrote. Never unpickles anything."""
        with Path(path).open("rb") as handle:
            try:
                with np.load(handle, allow_pickle=False) as file:
                    facts = json.loads(str(file["facts"]))
                    arrays = {name: file[name] for name in ARRAYS}
                whole = (
                    facts["format"] == FORMAT
                    and isinstance(facts["params"], dict)
                    and isinstance(facts["n_validation"], int)
                    and isinstance(facts["weight_error"], float)
                    and isinstance(facts["version"], str)
                    and isinstance(facts["recall"], float | None)
                    and isinstance(facts["library"], str | None)
                    and all(arrays[name].dtype == np.float64 for name in ARRAYS[:3])
                    and len({a.shape for a in arrays.values()}) == arrays["values"].ndim == 1
                )
            except Exception as error:  # whatever a damaged archive makes its readers raise
                raise ValueError(_not_ours(path)) from error
        if not whole:
            raise ValueError(_not_ours(path))
        return cls(
            **arrays,
            params=facts["params"],
            n_validation=facts["n_validation"],
            weight_error=facts["weight_error"],
            version=facts["version"],
            recall=facts["recall"],
            origin=None if facts["library"] is None else frames.Origin(facts["library"]),
        )


def _not_ours(path: str | os.PathLike[str]) -> str:
    return f"path must name a file written by DataValues.save; {os.fspath(path)!r} is not."
