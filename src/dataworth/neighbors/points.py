"""Where training points are: a protocol for every place, and the places that are in memory."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import joblib
from scipy.sparse import issparse

from dataworth.arrays import Array, Ints
from dataworth.errors import InputError
from dataworth.inputs import checks
from dataworth.neighbors.approximate import Approximate, Index
from dataworth.neighbors.distances import Measure, is_compiled
from dataworth.neighbors.search import Brute, CompleteSearch, Demand, Given, Picked, Search

# Handing a task to a worker takes as long as some thousand distances, so it should have more.
SMALL_TASK = 2**18
# So many distances are ranked and valued together, which then stay in the cache.
CACHED = 2**16
# How many rows of distances are computed together, in whole eights. If points have many features,
# up to 64 rows of no more bytes than that.
FEWEST_ROWS, MOST_ROWS, TABLE_BYTES = 8, 64, 2**26
# With a row for every four features, distances take as long to be written and read as points.
FEATURES_PER_ROW = 4


class Rows(Protocol):
    """Points of which a slice of rows is an array in memory."""

    def __getitem__(self, rows: slice) -> Array:
        """Return these rows as an array."""


class Points(Rows, Protocol):
    """Training points, wherever they are."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order."""

    def digest(self) -> str:
        """Return a hash of the contents."""

    def queries(self, X_val: Any) -> Any:
        """Check validation points and return them in the form that the search takes."""

    def search(self, demand: Demand) -> Search:
        """Return a search among these points that meets the demand."""

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours; `limited` if the run needs only some."""

    def part(self, columns: Ints) -> "Points | None":
        """Return some of the points without copying them, or None if that cannot be done."""


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
        """Return these rows as an array."""
        return self.array[rows]

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order."""
        return self.array[index]

    def digest(self) -> str:
        """Return a hash of the contents."""
        return str(joblib.hash(self.array))

    def queries(self, X_val: Any) -> Array:
        """Check validation points and return them in the form that the search takes."""
        sparse = issparse(self.array)
        found = checks.matrix(X_val, "X_val", n_columns=self.shape[1], sparse=sparse)
        if sparse and not issparse(found):
            found = type(self.array)(found)
        return found.astype(bool) if self.array.dtype == bool else found

    def search(self, demand: Demand) -> CompleteSearch:
        """Return a search among these points that meets the demand."""
        return self.all_distances(demand)

    def all_distances(self, demand: Demand) -> CompleteSearch:
        """Return a search that computes the distances to all points."""
        n, n_features = self.shape
        fits = max(int(demand.room / (8 * n + demand.sums)), 1)
        together = CACHED // n
        if is_compiled(self.measure.metric) and not issparse(self.array):
            # Points with many features are read once for many rows.
            most = min(MOST_ROWS, TABLE_BYTES // (8 * n), demand.share)
            together = max(together, min(n_features // FEATURES_PER_ROW, most))
        held = min(fits, max(together - together % FEWEST_ROWS, FEWEST_ROWS))
        width = min(fits, max(SMALL_TASK // n, held), MOST_ROWS)
        return Brute(self.array, self.measure, held, width)

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours; no, it computes all distances."""
        return False

    def part(self, columns: Ints) -> "Points":
        """Return some of the points without copying them."""
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
        """Return these rows as an array."""
        return self.points[rows]

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order."""
        return self.points.take(index)

    def digest(self) -> str:
        """Return a hash of the contents."""
        return self.points.digest()

    def queries(self, X_val: Any) -> Array:
        """Check validation points and return them in the form that the search takes."""
        return self.points.queries(X_val)

    def search(self, demand: Demand) -> Approximate:
        """Return a search among these points that meets the demand."""
        assert demand.nearest is not None  # Settings.check_partial demands a number
        # One more than needed, because one of them may be the validation point itself.
        limit = min(demand.nearest + 1, self.shape[0])
        return Approximate(self.index, self.points.array, self.points.measure, limit)

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours; yes, those in the index."""
        return True

    def part(self, columns: Ints) -> None:
        """Return None, because a part of the points needs an index of its own."""
        return


@dataclass(frozen=True)
class Precomputed:
    """Points of which only the distances to validation points are known, given by the user."""

    n_points: int

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points; features are not known."""
        return self.n_points, 0

    def _unknown(self) -> InputError:
        return InputError("X_val", "hold distances with metric='precomputed'", "got None")

    def __getitem__(self, rows: slice) -> Array:
        """Refuse: the features are not known."""
        raise self._unknown()

    def take(self, index: Ints) -> Array:
        """Refuse: the features are not known."""
        raise self._unknown()

    def digest(self) -> str:
        """Return an empty string, because there are no contents to hash."""
        return ""

    def queries(self, X_val: Any) -> Array:
        """Check rows of distances, or a sparse graph of known neighbours, and return them."""
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
        """Return the search that reads the rows that the user computed."""
        return Given()

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours, as it does in a sparse graph."""
        return bool(issparse(queries))

    def part(self, columns: Ints) -> "Points":
        """Refuse: the distances between training points are not known."""
        raise self._unknown()


class Whole(Rows, Protocol):
    """What `Part` needs of the points that it is a part of."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order."""

    def digest(self) -> str:
        """Return a hash of the contents."""

    def queries(self, X_val: Any) -> Any:
        """Check validation points and return them in the form that the search takes."""

    def all_distances(self, demand: Demand) -> CompleteSearch:
        """Return a search that computes the distances to all points."""


@dataclass(frozen=True)
class Part:
    """Some of other points: the distances to all of them are computed, and these are picked."""

    whole: Whole
    columns: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""
        return self.columns.size, self.whole.shape[1]

    def __getitem__(self, rows: slice) -> Array:
        """Return these rows as an array."""
        return self.whole.take(self.columns[rows])

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order."""
        return self.whole.take(self.columns[index])

    def digest(self) -> str:
        """Return a hash of the contents."""
        return str(joblib.hash((self.whole.digest(), self.columns)))

    def queries(self, X_val: Any) -> Any:
        """Check validation points and return them in the form that the search takes."""
        return self.whole.queries(X_val)

    def search(self, demand: Demand) -> Picked:
        """Return a search among these points that meets the demand."""
        copied = replace(demand, sums=demand.sums + 8 * self.columns.size)
        search = self.whole.all_distances(copied)
        return Picked(search, self.columns, search.width)

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours; no, all distances are computed."""
        return False

    def part(self, columns: Ints) -> "Points":
        """Return some of these points without copying them."""
        return Part(self.whole, self.columns[columns])


@dataclass(frozen=True)
class Chosen:
    """Some rows of points, wherever they are, brought into memory slice by slice."""

    points: Points
    index: Ints

    def __getitem__(self, rows: slice) -> Array:
        """Return these rows as an array."""
        return self.points.take(self.index[rows])
