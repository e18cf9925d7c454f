"""Blocks: training features that stay on disk and are read some rows at a time.

Anything that has a shape, a dtype and chunks, and whose rows can be sliced, can be read this way:
arrays of zarr and h5py, and parquet files through `ParquetRows`.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError, InputTypeError, extra
from dataworth.inputs import checks, exactness
from dataworth.neighbors.distances import Measure
from dataworth.neighbors.points import Part
from dataworth.neighbors.rows import Known, merge
from dataworth.neighbors.search import CompleteSearch, Demand, nearest_of

MOST_HELD = 256  # validation points in one pass, after which progress can be saved
BLOCK_BYTES = 2**23  # distances take longer than reading them, and memory hardly notices


class ParquetRows:
    """The numeric columns of a parquet file as rows of features, read a block at a time.

    Needs pyarrow, which the extra `parquet` installs.

    Parameters
    ----------
    path : str or path-like
        The file.
    columns : list of str or None
        The names of the feature columns, in order. None stands for all columns.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "points.parquet"
    >>> pq.write_table(pa.table({"x": [0.0, 1.0], "y": [2, 3], "label": ["a", "b"]}), path)
    >>> ParquetRows(path, columns=["x", "y"])[0:2]
    array([[0., 2.],
           [1., 3.]])
    """

    chunks = None

    def __init__(self, path: str | os.PathLike[str], columns: list[str] | None = None) -> None:
        pa = extra("pyarrow", "ParquetRows", "parquet")
        pq = extra("pyarrow.parquet", "ParquetRows", "parquet")
        self.path = os.fspath(path)
        if not Path(path).is_file():
            raise FileNotFoundError(f"path must name a file that exists; {self.path!r} is none.")
        try:
            file = pq.ParquetFile(self.path)
        except pa.ArrowException as error:
            came = f"{self.path!r} is none: {checks.reason(error)}"
            raise InputError("path", "name a parquet file", came) from None
        with file:
            schema, facts = file.schema_arrow, file.metadata
            self.columns = list(schema.names if columns is None else columns)
            missing = [name for name in self.columns if name not in schema.names]
            if missing or not self.columns or isinstance(columns, str):
                wanted = f"name columns of {self.path!r} in a list"
                raise InputError("columns", wanted, f"got {missing or columns!r}")
            if len(set(self.columns)) < len(self.columns):
                raise InputError("columns", "name each column once", f"got {columns!r}")
            types = [schema.field(name).type for name in self.columns]
            for name, kind in zip(self.columns, types, strict=True):
                numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
                if not (numeric or pa.types.is_boolean(kind)):
                    raise InputTypeError("columns", "be numeric", f"{name!r} is of type {kind}")
            groups = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
        small = all(pa.types.is_float16(t) or pa.types.is_float32(t) for t in types)
        self.dtype = np.dtype(np.float32 if small else np.float64)
        self.shape = (facts.num_rows, len(self.columns))
        self.starts = np.concatenate([[0], np.cumsum(groups, dtype=np.int64)])

    def __getitem__(self, rows: slice) -> Array:
        """Read a slice of rows from the row groups that hold them."""
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise InputTypeError("rows", "be a slice without steps", f"got {rows!r}")
        start, stop, _ = rows.indices(self.shape[0])
        out = np.empty((max(stop - start, 0), self.shape[1]), self.dtype)
        if out.size == 0:
            return out
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, stop, side="left"))
        for at, block in self._read(int(self.starts[first]), list(range(first, last))):
            low, high = max(start, at), min(stop, at + block.shape[0])
            if low < high:
                out[low - start : high - start] = block[low - at : high - at]
            if high == stop:
                break
        return out

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """Read the whole file as (first row, block) pairs."""
        return self._read(0, list(range(self.starts.size - 1)))

    def _read(self, at: int, groups: list[int]) -> Iterator[tuple[int, Array]]:
        import pyarrow.parquet as pq

        size = max(BLOCK_BYTES // (8 * self.shape[1]), 1)
        with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=2**16) as file:
            for batch in file.iter_batches(size, groups, self.columns, use_threads=False):
                block = np.empty((batch.num_rows, self.shape[1]), self.dtype)
                for column, name in enumerate(self.columns):
                    values = batch.column(name)
                    if values.null_count:
                        raise InputError(
                            "columns",
                            "have no missing values",
                            f"{name!r} of {self.path!r} has some",
                        )
                    array = values.to_numpy(zero_copy_only=False)
                    exactness.check(array, name)
                    block[:, column] = array
                yield at, block
                at += batch.num_rows


def is_source(X: Any) -> bool:
    """Whether features are to be read a block at a time."""
    if isinstance(X, np.memmap):  # a float array in C order is used as it is
        return not (X.dtype in (np.float32, np.float64) and X.flags.c_contiguous)
    parts = ("shape", "dtype", "chunks", "__getitem__")
    return all(hasattr(X, part) for part in parts) and not is_dask(X)


def is_dask(X: Any) -> bool:
    """Whether this is a Dask array."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed") and hasattr(X, "chunks")


class Blocks:
    """Features that are checked once and then read a block of rows at a time.

    Iteration gives (first row, block) pairs, and a slice of rows gives an array. Both are float32
    or float64.
    """

    def __init__(self, rows: Any, name: str, room: int = 2**28) -> None:
        if len(rows.shape) != 2 or 0 in rows.shape:
            raise InputError(
                name,
                "have two dimensions (points × features) and hold at least one point and one "
                "column",
                f"got shape {tuple(rows.shape)}",
            )
        self._rows = rows
        self.shape: tuple[int, int] = (int(rows.shape[0]), int(rows.shape[1]))
        chunk = int((getattr(rows, "chunks", None) or (1,))[0])
        fits = BLOCK_BYTES // (8 * self.shape[1])
        # Blocks hold whole chunks, because a chunk is decompressed each time it is touched.
        self.size = max(fits // chunk, 1) * chunk
        if 8 * chunk * self.shape[1] > max(room, BLOCK_BYTES):
            raise InputError(
                name,
                "have chunks of fewer rows to be read within working_memory",
                f"they are of shape {tuple(rows.chunks)}, and {chunk} rows with all columns take "
                f"{8 * chunk * self.shape[1] / 2**20:.0f} MB",
            )
        self.dtype = checks.matrix(rows[:1], name).dtype
        for start, block in self._read():
            checks.matrix(block, name, first_row=start)

    def __getitem__(self, rows: slice) -> Array:
        """Return these rows as an array."""
        return np.ascontiguousarray(self._rows[rows], dtype=self.dtype)

    def __iter__(self) -> Iterator[tuple[int, Array]]:
        for start, block in self._read():
            yield start, np.ascontiguousarray(block, dtype=self.dtype)

    def _read(self) -> Iterator[tuple[int, Array]]:
        if isinstance(self._rows, ParquetRows):
            yield from self._rows.blocks()
        else:
            for start in range(0, self.shape[0], self.size):
                yield start, self._rows[start : start + self.size]

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order; a parquet file is read once."""
        out = np.empty((index.size, self.shape[1]), self.dtype)
        if isinstance(self._rows, ParquetRows):
            for start, block in self:
                here = (index >= start) & (index < start + block.shape[0])
                out[here] = block[index[here] - start]
        else:
            at = 0
            for run in np.split(index, np.flatnonzero(np.diff(index) != 1) + 1):
                out[at : at + run.size] = self[run[0] : run[-1] + 1]
                at += run.size
        return out

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if type(self._rows).__module__.startswith("h5py"):  # its objects cannot be pickled
            state["_rows"] = (self._rows.file.filename, self._rows.name)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self._rows, tuple):
            import h5py

            self._rows = h5py.File(self._rows[0], "r")[self._rows[1]]

    def digest(self) -> str:
        """Return a hash of the contents."""
        digest = hashlib.sha256(f"{self.dtype}{self.shape}".encode())
        for _, block in self:
            digest.update(block.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class BlockPoints:
    """Training points that are read a block at a time."""

    blocks: Blocks
    measure: Measure

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points and of features."""
        return self.blocks.shape

    def __getitem__(self, rows: slice) -> Array:
        """Return these rows as an array."""
        return self.blocks[rows]

    def take(self, index: Ints) -> Array:
        """Return these rows as an array, in this order."""
        return self.blocks.take(index)

    def digest(self) -> str:
        """Return a hash of the contents."""
        return self.blocks.digest()

    def queries(self, X_val: Any) -> Array:
        """Check validation points and return them in the form that the search takes."""
        return checks.matrix(X_val, "X_val", n_columns=self.shape[1])

    def search(self, demand: Demand) -> "BlockDistances | BlockNearest":
        """Return a search among these points that meets the demand."""
        if demand.nearest is None or not demand.bounded_support:
            return self.all_distances(demand)  # reading them costs as much, and gives all weights
        # One more than needed, because one of them may be the validation point itself.
        limit = demand.nearest + 1
        return BlockNearest(self.blocks, self.measure, _held(demand, 64 * limit), limit)

    def all_distances(self, demand: Demand) -> "BlockDistances":
        """Return a search that computes the distances to all points."""
        return BlockDistances(self.blocks, self.measure, _held(demand, 8 * self.shape[0]))

    def is_partial(self, queries: Any, limited: bool) -> bool:
        """Whether a search finds only some neighbours; no, the nearest of all blocks are exact."""
        return False

    def part(self, columns: Ints) -> Part:
        """Return some of the points without copying them."""
        return Part(self, columns)


def _held(demand: Demand, row: float) -> int:
    """Return how many rows of this many bytes one pass over the blocks can serve."""
    room = max(demand.room - 4 * BLOCK_BYTES, demand.room / 2)  # leaves memory for the blocks
    return int(min(max(room / (row + demand.sums), 1), MOST_HELD))


@dataclass(frozen=True)
class BlockDistances(CompleteSearch):
    """Computes the distances to the points of all blocks, `width` rows in each pass."""

    blocks: Blocks
    measure: Measure
    width: int

    def tables(self, queries: Any) -> Iterator[Floats]:
        """Yield the distances of some validation points (rows), in order, in fresh arrays."""
        for start in range(0, queries.shape[0], self.width):
            some = queries[start : start + self.width]
            out = np.empty((some.shape[0], self.blocks.shape[0]))
            for first, block in self.blocks:
                out[:, first : first + block.shape[0]] = self.measure.distances(some, block)
            yield out


@dataclass(frozen=True)
class BlockNearest:
    """Finds the nearest points of all blocks, `width` rows in each pass."""

    blocks: Blocks
    measure: Measure
    width: int
    limit: int

    def rows(self, queries: Any) -> Iterator[Known]:
        """Yield one row for each validation point, in order."""
        for start in range(0, queries.shape[0], self.width):
            some = queries[start : start + self.width]
            best: list[Known] = []
            for first, block in self.blocks:
                found = nearest_of(block, first, some, self.limit, self.measure)
                best = merge([best, found], self.limit) if best else found
            yield from best
