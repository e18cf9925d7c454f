"""Sources: training features that stay where they are and are read a block of rows at a time.

Whatever has a shape, a dtype, chunks and slices of rows will do, as arrays of zarr and h5py have
them; `ParquetRows` gives a parquet file the same face.
"""

import hashlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.inputs import checks, frames

BLOCK_BYTES = 2**23  # enough for the distances to outweigh the reading, little beside the budget


class ParquetRows:
    """The numeric columns of a parquet file as rows of features, read a block at a time.

    Needs pyarrow: `pip install 'dataworth[parquet]'`.

    Parameters
    ----------
    path : the file.
    columns : names of the feature columns, in their order; all columns if None.

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
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise ImportError("ParquetRows needs pyarrow: pip install 'dataworth[parquet]'.") from (
                None
            )
        self.path = os.fspath(path)
        with pq.ParquetFile(self.path) as file:
            schema, facts = file.schema_arrow, file.metadata
            self.columns = list(schema.names if columns is None else columns)
            missing = [name for name in self.columns if name not in schema.names]
            if missing or not self.columns:
                raise ValueError(
                    f"columns must name columns of {self.path!r}; got {missing or self.columns}."
                )
            types = [schema.field(name).type for name in self.columns]
            for name, kind in zip(self.columns, types, strict=True):
                numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
                if not (numeric or pa.types.is_boolean(kind)):
                    raise TypeError(f"columns must be numeric; {name!r} is of type {kind}.")
            groups = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
        small = all(pa.types.is_float16(t) or pa.types.is_float32(t) for t in types)
        self.dtype = np.dtype(np.float32 if small else np.float64)
        self.shape = (facts.num_rows, len(self.columns))
        self.starts = np.concatenate([[0], np.cumsum(groups, dtype=np.int64)])

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Rows start to stop, read from the row groups that hold them."""
        if not isinstance(rows, slice) or rows.step not in (None, 1):
            raise TypeError(f"ParquetRows gives slices of rows, one after the other; got {rows!r}.")
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

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """The whole file as (first row, block) pairs."""
        return self._read(0, list(range(self.starts.size - 1)))

    def _read(self, at: int, groups: list[int]) -> Iterator[tuple[int, NDArray[Any]]]:
        import pyarrow.parquet as pq

        size = max(BLOCK_BYTES // (8 * self.shape[1]), 1)
        with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=2**16) as file:
            for batch in file.iter_batches(size, groups, self.columns, use_threads=False):
                block = np.empty((batch.num_rows, self.shape[1]), self.dtype)
                for column, name in enumerate(self.columns):
                    values = batch.column(name)
                    if values.null_count:
                        raise ValueError(
                            f"columns must have no missing values; {name!r} of {self.path!r} has."
                        )
                    array = values.to_numpy(zero_copy_only=False)
                    checks.exact_as_float(array, name)
                    block[:, column] = array
                yield at, block
                at += batch.num_rows


def is_source(X: Any) -> bool:
    """Whether features are to be read a block at a time."""
    if isinstance(X, np.memmap):  # float arrays in C order are used where they are
        return not (X.dtype in (np.float32, np.float64) and X.flags.c_contiguous)
    parts = ("shape", "dtype", "chunks", "__getitem__")
    return all(hasattr(X, part) for part in parts) and not is_dask(X)


def is_dask(X: Any) -> bool:
    """Whether this is an array of Dask."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed") and hasattr(X, "chunks")


class Blocks:
    """Features read a block of rows at a time, checked once, float32 or float64.

    Iterating gives (first row, block) pairs; slices of rows give arrays.
    """

    def __init__(self, rows: Any, name: str, room: int = 2**28) -> None:
        if len(rows.shape) != 2 or 0 in rows.shape:
            raise ValueError(
                f"{name} must have two dimensions (points × features) and hold at least one point "
                f"and one column; got shape {tuple(rows.shape)}."
            )
        self._rows = rows
        self.shape: tuple[int, int] = (int(rows.shape[0]), int(rows.shape[1]))
        chunk = int((getattr(rows, "chunks", None) or (1,))[0])
        fits = BLOCK_BYTES // (8 * self.shape[1])
        # Whole chunks: a chunk is decompressed each time it is touched.
        self.size = max(fits // chunk, 1) * chunk
        if 8 * chunk * self.shape[1] > max(room, BLOCK_BYTES):
            raise ValueError(
                f"{name} must have chunks of fewer rows to be read within working_memory; they are "
                f"of shape {tuple(rows.chunks)}, and all columns of {chunk} rows are "
                f"{8 * chunk * self.shape[1] / 2**20:.0f} MB."
            )
        self.dtype = checks.matrix(rows[:1], name).dtype
        for start, block in self._read():
            checks.matrix(block, name, first_row=start)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """An array of these rows."""
        return np.ascontiguousarray(self._rows[rows], dtype=self.dtype)

    def __iter__(self) -> Iterator[tuple[int, NDArray[Any]]]:
        for start, block in self._read():
            yield start, np.ascontiguousarray(block, dtype=self.dtype)

    def _read(self) -> Iterator[tuple[int, NDArray[Any]]]:
        if isinstance(self._rows, ParquetRows):
            yield from self._rows.blocks()
        else:
            for start in range(0, self.shape[0], self.size):
                yield start, self._rows[start : start + self.size]

    def take(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """An array of these rows, in this order; one pass over a parquet file."""
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
        if type(self._rows).__module__.startswith("h5py"):  # its objects do not travel
            state["_rows"] = (self._rows.file.filename, self._rows.name)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(self._rows, tuple):
            import h5py

            self._rows = h5py.File(self._rows[0], "r")[self._rows[1]]

    def digest(self) -> str:
        """A hash of the contents."""
        digest = hashlib.sha256(f"{self.dtype}{self.shape}".encode())
        for _, block in self:
            digest.update(block.tobytes())
        return digest.hexdigest()


class Picked:
    """Some rows of features that are elsewhere; slices give arrays."""

    def __init__(self, points: Any, index: NDArray[np.int64]) -> None:
        self._points, self._index = points, index

    def __getitem__(self, rows: slice) -> Any:
        index = self._index[rows]
        return self._points.take(index) if isinstance(self._points, Blocks) else self._points[index]


def content(X: Any) -> Any:
    """What stands for features in a fingerprint: themselves, or a hash of their contents."""
    if X is None:
        return None
    if is_dask(X):
        return np.asarray(X)
    return np.asarray(X[:]) if is_source(X) else frames.content(X)
