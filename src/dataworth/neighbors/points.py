"""Where training points are: one protocol for every place, and the places in memory."""

from dataclasses import dataclass
from typing import Any, Protocol

import joblib
from scipy.sparse import issparse

from dataworth.arrays import Array, Ints
from dataworth.errors import InputError
from dataworth.inputs import checks
from dataworth.neighbors.approximate import Approximate, Index
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.search import Brute, CompleteSearch, Demand, Given, Picked, Search


class Rows(Protocol):
    """Points whose rows can be sliced, and then are arrays in memory."""

    def __getitem__(self, rows: slice) -> Array:
        """These rows as an array."""


class Points(Rows, Protocol):
    """Training points, wherever they are."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""

    def take(self, index: Ints) -> Array:
        """These rows as an array, in this order."""

    def digest(self) -> str:
        """A hash of the contents."""

    def queries(self, X_val: Any) -> Any:
        """Validation points, checked, as the search takes them."""

    def search(self, demand: Demand) -> Search:
        """The search among these points that meets a demand."""

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search knows of some neighbours only; `limited`: the run needs only some."""

    def part(self, columns: Ints) -> "Points | None":
        """Some of the points, left where they are; None where they must be taken out instead."""


@dataclass(frozen=True)
class InMemory:
    """An array of points, dense or sparse."""

    array: Array
    measure: Measure

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""
        return self.array.shape[0], self.array.shape[1]

    def __getitem__(self, rows: slice) -> Array:
        """These rows as an array."""
        return self.array[rows]

    def take(self, index: Ints) -> Array:
        """These rows as an array, in this order."""
        return self.array[index]

    def digest(self) -> str:
        """A hash of the contents."""
        return str(joblib.hash(self.array))

    def queries(self, X_val: Any) -> Array:
        """Validation points, checked, as the search takes them."""
        sparse = issparse(self.array)
        found = checks.matrix(X_val, "X_val", n_columns=self.shape[1], sparse=sparse)
        if sparse and not issparse(found):
            found = type(self.array)(found)
        return found.astype(bool) if self.array.dtype == bool else found

    def search(self, demand: Demand) -> CompleteSearch:
        """The search among these points that meets a demand."""
        return self.all_distances(demand)

    def all_distances(self, demand: Demand) -> CompleteSearch:
        """A search that computes the distances to all points."""
        fits = demand.room / (8 * self.shape[0])
        return Brute(self.array, self.measure, int(min(max(fits, 1), demand.block)))

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search knows of some neighbours only: it computes all distances."""
        return False

    def part(self, columns: Ints) -> "Points":
        """Some of the points, left where they are."""
        return Part(self, columns)


@dataclass(frozen=True)
class Indexed:
    """An array of points with an index that finds approximate neighbours."""

    points: InMemory
    index: Index

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""
        return self.points.shape

    def __getitem__(self, rows: slice) -> Array:
        """These rows as an array."""
        return self.points[rows]

    def take(self, index: Ints) -> Array:
        """These rows as an array, in this order."""
        return self.points.take(index)

    def digest(self) -> str:
        """A hash of the contents."""
        return self.points.digest()

    def queries(self, X_val: Any) -> Array:
        """Validation points, checked, as the search takes them."""
        return self.points.queries(X_val)

    def search(self, demand: Demand) -> Approximate:
        """The search among these points that meets a demand."""
        assert demand.nearest is not None  # Settings.check_partial has asked for a number
        # One more than is needed, as one of them may be the validation point itself.
        limit = min(demand.nearest + 1, self.shape[0])
        return Approximate(self.index, self.points.array, self.points.measure, limit)

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search knows of some neighbours only."""
        return True

    def part(self, columns: Ints) -> None:
        """None: an index knows all of its points, so that a part of them needs another."""
        return


@dataclass(frozen=True)
class Precomputed:
    """Points of which only the distances to validation points are known, from the user."""

    n_points: int

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points; features are not known."""
        return self.n_points, 0

    def _unknown(self) -> InputError:
        return InputError("X_val", "hold distances with metric='precomputed'", "got none")

    def __getitem__(self, rows: slice) -> Array:
        """Nobody knows these rows."""
        raise self._unknown()

    def take(self, index: Ints) -> Array:
        """Nobody knows these rows."""
        raise self._unknown()

    def digest(self) -> str:
        """A hash of the contents, of which there are none."""
        return ""

    def queries(self, X_val: Any) -> Array:
        """Rows of distances, or a sparse graph of known neighbours."""
        found = checks.matrix(
            X_val,
            "X_val",
            n_columns=self.n_points,
            columns="one per training point",
            sparse=True,
        )
        if issparse(found):
            checks.graph(X_val, "X_val")
        least = found.data.min() if issparse(found) else found.min()
        if least < 0.0:
            raise InputError("X_val", "hold distances with metric='precomputed'", f"got {least}")
        return found

    def search(self, demand: Demand) -> Given:
        """The search that reads the rows which the user computed."""
        return Given()

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search knows of some neighbours only: a graph does."""
        return bool(issparse(queries))

    def part(self, columns: Ints) -> "Points":
        """Nobody knows the distances between training points."""
        raise self._unknown()


class Whole(Rows, Protocol):
    """What `Part` needs of the points it is a part of."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""

    def take(self, index: Ints) -> Array:
        """These rows as an array, in this order."""

    def digest(self) -> str:
        """A hash of the contents."""

    def queries(self, X_val: Any) -> Any:
        """Validation points, checked, as the search takes them."""

    def all_distances(self, demand: Demand) -> CompleteSearch:
        """A search that computes the distances to all points."""


@dataclass(frozen=True)
class Part:
    """Some of the points of another place: the distances to all are computed, and these picked."""

    whole: Whole
    columns: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""
        return self.columns.size, self.whole.shape[1]

    def __getitem__(self, rows: slice) -> Array:
        """These rows as an array."""
        return self.whole.take(self.columns[rows])

    def take(self, index: Ints) -> Array:
        """These rows as an array, in this order."""
        return self.whole.take(self.columns[index])

    def digest(self) -> str:
        """A hash of the contents."""
        return str(joblib.hash((self.whole.digest(), self.columns)))

    def queries(self, X_val: Any) -> Any:
        """Validation points, checked, as the search takes them."""
        return self.whole.queries(X_val)

    def search(self, demand: Demand) -> Picked:
        """The search among these points that meets a demand."""
        return Picked(self.whole.all_distances(demand), self.columns)

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search knows of some neighbours only: all distances are computed."""
        return False

    def part(self, columns: Ints) -> "Points":
        """Some of these points, left where they are."""
        return Part(self.whole, self.columns[columns])


@dataclass(frozen=True)
class Chosen:
    """Some rows of points that are elsewhere, brought into memory slice by slice."""

    points: Points
    index: Ints

    def __getitem__(self, rows: slice) -> Array:
        """These rows as an array."""
        return self.points.take(self.index[rows])
