"""The result: values with all that is needed to read, compare and keep them."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from dataworth import checks

FORMAT = "dataworth values 1"


@dataclass(frozen=True, eq=False, repr=False)
class DataValues:
    """What each training point is worth.

    Attributes
    ----------
    values : (n_train,) float64, in the order of the training points: the mean over the validation
        points of the Shapley value. A negative value says that the point does harm.
    index : (n_train,) the training points' names: their positions.
    labels : (n_train,) the training labels.
    params : the parameters of the valuator.
    n_validation : the number of validation points.
    version : the version of dataworth that computed the values.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> values = KNNShapley(n_neighbors=2).fit(X, y).value([[0.0], [1.0]], ["a", "b"])
    >>> values.worst(1)["index"]
    array([4])
    """

    values: NDArray[np.float64]
    index: NDArray[Any]
    labels: NDArray[Any]
    params: Mapping[str, Any]
    n_validation: int
    version: str

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file (a numpy archive with JSON inside), whole or not at all."""
        target = Path(path)
        facts = {
            "format": FORMAT,
            "params": dict(self.params),
            "n_validation": self.n_validation,
            "version": self.version,
        }
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(
                    file,
                    values=self.values,
                    index=self.index,
                    labels=self.labels,
                    facts=np.array(json.dumps(facts)),
                    allow_pickle=False,
                )
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "DataValues":
        """Read what `save` wrote. Never unpickles anything."""
        try:
            with Path(path).open("rb") as handle, np.load(handle, allow_pickle=False) as file:
                facts = json.loads(str(file["facts"]))
                if facts["format"] != FORMAT:
                    raise ValueError(facts["format"])
                values, index, labels = file["values"], file["index"], file["labels"]
            if not values.shape == index.shape == labels.shape == (values.size,):
                raise ValueError("arrays of different lengths")
            return cls(
                values, index, labels, facts["params"], facts["n_validation"], facts["version"]
            )
        except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
            raise ValueError(
                f"path must name a file written by DataValues.save; {os.fspath(path)!r} is not."
            ) from error


def _umask() -> int:
    """The process's file-creation mask, which mkstemp does not follow."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
