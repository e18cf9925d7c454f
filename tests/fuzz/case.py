"""A case: one game with its data and options, as plain as JSON."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]
Rows = list[list[float]]

CASES = Path(__file__).parent / "cases"
LAYOUTS = ("C", "F", "reversed", "strided", "readonly", "swapped", "unaligned", "list")
SPARSE = ("csr", "csc", "coo", "csr_matrix", "csr_unsorted")


@dataclass
class Case:
    """A game.

    Attributes
    ----------
    check : str
        "enumeration" for small games, "neighbors" for those with few sets of at most K points, and
        "large" for those that can only be added up.
    params : dict
        Parameters of `KNNShapley` that differ from the defaults. A weight function is a list of
        unit weights by rank, or ["rising"].
    y, y_val : list
        Class numbers, or targets. Without validation targets, training points judge each other.
    points, queries : list of lists
        The features. With precomputed distances, `points` is empty and `queries` holds these.
    folds : list or None
        Pairs of those who are judged and those who judge. Without any, leave-one-out.
    known : int or None
        Distances come as a graph that stores this many nearest neighbours of each validation point.
    dtype, dtype_val : str
        The numpy dtypes of points and queries.
    layout, layout_val : str
        How they lie in memory.
    labels : str
        How labels are written: "int", "str", "bool" or "float".
    """

    check: str
    params: dict[str, Any]
    y: list[Any]
    y_val: list[Any]
    points: Rows
    queries: Rows
    folds: list[list[list[int]]] | None = None
    known: int | None = None
    dtype: str = "float64"
    dtype_val: str = "float64"
    layout: str = "C"
    layout_val: str = "C"
    labels: str = "int"
    note: str = field(default="", compare=False)

    @property
    def n(self) -> int:
        """The number of training points."""
        return len(self.y)

    @property
    def game(self) -> str:
        """The name of the game."""
        return str(self.params.get("game", "soft"))

    @property
    def numeric(self) -> bool:
        """Whether targets are numbers."""
        return self.game == "regression"

    @property
    def precomputed(self) -> bool:
        """Whether distances are given."""
        return not self.points

    @property
    def kind(self) -> str:
        """What the statistics call it."""
        name = "direct" if self.params.get("multiclass") == "direct" else self.game
        where = "distances" if self.known is None else "graph"
        if not self.precomputed:
            where = "sparse" if self.layout in SPARSE else "features"
        how = "outside" if self.y_val else "leave-one-out" if self.folds is None else "folds"
        return f"{self.check} {name} {where} {how}"

    @property
    def scale(self) -> float:
        """The size of utilities: squared targets in regression."""
        if not self.numeric:
            return 1.0
        return max(max(abs(t) for t in [*self.y, *self.y_val]) ** 2, 1e-290)

    def to_json(self) -> str:
        """Write it as JSON; numbers come back to the last bit."""
        default = {f.name: f.default for f in fields(self)}
        facts = {name: v for name, v in asdict(self).items() if v != default[name]}
        return json.dumps(facts, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Case":
        """Read what `to_json` wrote."""
        return cls(**json.loads(text))


def knows_enough(params: dict[str, Any]) -> bool:
    """Whether weights can be told from the nearest points alone, so that a graph will do."""
    if "radius" in params or params.get("max_rank") == "adaptive":
        return False
    named = params["weights"] in ("inverse", "uniform") or "bandwidth" in params
    return named or params.get("support") is not None


def weight_function(spec: Sequence[Any]) -> Callable[[Sequence[float]], list[float]]:
    """Return a plain function of sorted distances."""
    if spec[0] == "rising":
        return lambda distances: [d / distances[-1] if distances[-1] else 0.0 for d in distances]
    return lambda distances: [float(w) for w in spec[: len(distances)]]


def features(rows: Rows, dtype: str, layout: str) -> Any:
    """Return numbers as an array of this dtype that lies in memory so."""
    array = np.array(rows).astype(np.dtype(dtype))
    if not np.array_equal(array.astype(np.float64), rows):
        raise AssertionError(f"a case must hold numbers that {dtype} can hold")
    if layout in SPARSE:
        return _sparse(array, layout)
    if layout == "list":
        return array.tolist()
    if layout == "frame":
        import pandas as pd

        return pd.DataFrame(array, columns=[f"f{i}" for i in range(array.shape[1])])
    return laid_out(array, layout)


def laid_out(array: Array, layout: str) -> Array:
    """Return a copy of an array with other strides, flags or byte order."""
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "reversed":
        turned = array[::-1, ::-1].copy()
        return turned[::-1, ::-1]
    if layout == "strided":
        wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]), array.dtype)
        wide[::2, ::3] = array
        return wide[::2, ::3]
    if layout == "swapped":
        return array.astype(array.dtype.newbyteorder())
    if layout == "unaligned":
        room = np.zeros(array.nbytes + 1, np.uint8)
        moved = room[1:].view(array.dtype).reshape(array.shape)
        moved[...] = array
        return moved
    array = array.copy()
    if layout == "readonly":
        array.flags.writeable = False
    return array


def _sparse(array: Array, layout: str) -> Any:
    if layout == "csr_matrix":
        return sparse.csr_matrix(array)
    if layout == "csr_unsorted":  # with explicit zeros, and each row from right to left
        n, width = array.shape
        columns = np.tile(np.arange(width)[::-1], n)
        starts = np.arange(n + 1) * width
        return sparse.csr_array((array[:, ::-1].ravel(), columns, starts), shape=array.shape)
    return getattr(sparse, f"{layout}_array")(array)


def graph(rows: Rows, orders: Sequence[Sequence[int]], known: int, dtype: str) -> Any:
    """Return a CSR graph that stores the first `known` of each order, in the order of columns."""
    columns = [sorted(order[:known]) for order in orders]
    data = [row[j] for row, some in zip(rows, columns, strict=True) for j in some]
    starts = np.cumsum([0, *(len(some) for some in columns)])
    shape = (len(rows), len(rows[0]))
    indices = np.array([j for some in columns for j in some])
    return sparse.csr_array((np.array(data, dtype), indices, starts), shape=shape)


def targets(values: list[Any], labels: str) -> Any:
    """Return targets as they are written."""
    if labels == "str":
        return np.array([f"class {v}" for v in values])
    if labels == "bool":
        return np.array(values).astype(bool)
    if labels == "float":
        return np.array(values, dtype=np.float64)
    return list(values)
