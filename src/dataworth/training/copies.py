"""Copies: equal rows, and validation points that are training points and would judge themselves."""

from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse

from dataworth.arrays import Array, Flags, Ints
from dataworth.inputs import frames

FEWEST, MARGIN = 10, 0.1  # fewer copies, or a smaller share beyond the usual, may be chance
SAMPLE = 1000  # training points that are looked at to learn what is usual
BLOCK = 4096  # rows that are compared at a time


def training_points_among(points: Any, codes: Array, queries: Any, query_codes: Array) -> int:
    """Count validation points that equal training points, if they are more than there should be.

    In tables of few different rows, equal rows are no surprise. So the count is compared with how
    many training points equal another one.

    Parameters
    ----------
    points, queries : array of shape (n, n_features), dense or sparse
        Training points and validation points.
    codes, query_codes : array of shape (n,)
        Their class codes, or numbers.

    Returns
    -------
    int
        How many validation points equal a training point with the same target; 0 if they are few,
        or no more than chance makes likely.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.training.copies import training_points_among
    >>> X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    >>> training_points_among(X, y, X[:20], y[:20])
    20
    >>> training_points_among(X, y, X[:20] + 1, y[:20])
    0
    """
    n_queries = query_codes.size
    if n_queries < FEWEST:
        return 0
    copies = int(_found(points, codes, queries, query_codes, least=1).sum())
    if copies < max(FEWEST, MARGIN * n_queries):
        return 0
    sample = np.unique(np.linspace(0, codes.size - 1, SAMPLE).astype(np.int64))
    repeated = _found(points, codes, points[sample], codes[sample], least=2)
    usual = float(repeated.mean())
    chance = 3 * np.sqrt(usual * (1 - usual) * (1 / n_queries + 1 / sample.size))
    return copies if copies / n_queries > usual + max(MARGIN, chance) else 0


def _found(points: Any, codes: Array, queries: Any, query_codes: Array, least: int) -> Flags:
    """Which of the second are at least so often among the first."""
    asked = list(_keys(queries, query_codes, np.arange(query_codes.size)))
    times = dict.fromkeys(asked, 0)
    for key in _keys(points, codes, _candidates(points, queries)):
        if key in times:
            times[key] += 1
    return np.array([times[key] >= least for key in asked])


def _candidates(points: Any, queries: Any) -> Ints:
    """The rows that agree with some row of the queries in each of the first few features."""
    if issparse(points):
        return np.arange(points.shape[0])
    rows = np.flatnonzero(np.isin(points[:, 0], queries[:, 0]))
    for feature in range(1, min(points.shape[1], 4)):
        rows = rows[np.isin(points[rows, feature], queries[:, feature])]
    return rows


def _keys(points: Any, codes: Array, rows: Ints) -> Iterator[tuple[Any, Any]]:
    """The contents of rows, as things that are equal if and only if the rows are."""
    for start in range(0, rows.size, BLOCK):
        some = rows[start : start + BLOCK]
        block, targets = points[some], codes[some].tolist()
        if issparse(block):
            ends = zip(block.indptr, block.indptr[1:], strict=False)
            parts = [(block.indices[a:b].tobytes(), block.data[a:b].tobytes()) for a, b in ends]
            yield from zip(parts, targets, strict=True)
        else:
            block = np.ascontiguousarray(block + block.dtype.type(0))  # -0.0 becomes 0.0
            whole = block.view(np.dtype((np.void, block.dtype.itemsize * block.shape[1])))
            yield from zip(map(bytes, whole[:, 0]), targets, strict=True)


def equal_rows(X: Any) -> Ints | None:
    """Find the rows that are equal, without comparing each with each.

    Parameters
    ----------
    X : array, sparse array, data frame or list
        The rows, which may hold anything. Two missing entries are equal.

    Returns
    -------
    (n,) array of int or None
        For each row the position of the first row that equals it, which may be itself; None if X
        has no rows that could be told apart.

    Examples
    --------
    >>> import pandas
    >>> from dataworth.training.copies import equal_rows
    >>> equal_rows(pandas.DataFrame({"size": [1.5, 2.0, 1.5], "ward": ["n", None, "n"]}))
    array([0, 1, 0])
    >>> equal_rows(["some text", "other text", "some text"])
    array([0, 1, 0])
    """
    if issparse(X):
        return _equal_sparse(X)
    table = frames.frame(X)
    columns: Iterator[Any]
    if table is not None:
        n, columns = len(table), map(frames.plain_column, table.iter_columns())
    else:
        try:
            array = np.asarray(X, dtype=object if _are_texts(X) else None)
        except ValueError:  # rows of different lengths
            return None
        if array.ndim == 0:
            return None
        array = array.reshape(len(array), -1)
        n, columns = len(array), (array[:, k] for k in range(array.shape[1]))
    first, rows = np.zeros(n, np.int64), np.arange(n)
    # Rows that equal no other one so far are left alone from then on.
    for column in columns:
        again = _repeated(column, rows)
        alone, rows = rows[~again], rows[again]
        first[alone] = alone
        if not rows.size:
            break
        codes = _codes(column, rows)
        pairs = first[rows] * n + codes
        _, place, inverse, counts = np.unique(
            pairs, return_index=True, return_inverse=True, return_counts=True
        )
        first[rows] = rows[place[inverse]]
        rows = rows[counts[inverse] > 1]
        if not rows.size:
            break
    return first


def _are_texts(X: Any) -> bool:
    return isinstance(X, list | tuple) and bool(X) and isinstance(X[0], str)


def _repeated(column: Any, rows: Ints) -> Flags:
    """Which of these rows may have an entry that others have too; numbers are told by sorting."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "iuf":
        return np.ones(rows.size, bool)
    entries = column[rows]
    ordered = np.sort(entries)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    missing = np.isnan(entries)  # and so equal
    return missing | np.isin(entries, twice) if twice.size else missing


def _codes(column: Any, rows: Ints) -> Ints:
    """Number the different entries of these rows, below the number of rows."""
    if isinstance(column, np.ndarray) and column.dtype.kind != "O":
        codes: Ints = np.unique(column[rows], return_inverse=True)[1].astype(np.int64)
        return codes
    seen: dict[Any, int] = {}
    return np.array([seen.setdefault(_entry(column[row]), len(seen)) for row in rows], np.int64)


def _entry(value: Any) -> Any:
    """Return something that is equal for equal entries, and can be looked up."""
    try:
        hash(value)
    except TypeError:
        return joblib.hash(value)
    return None if value is None or value != value else value


def _equal_sparse(X: Any) -> Ints:
    array = X.tocsr(copy=True)
    array.sum_duplicates()
    array.eliminate_zeros()
    first: dict[Any, int] = {}
    keys = (key for key, _ in _keys(array, np.zeros(array.shape[0]), np.arange(array.shape[0])))
    return np.array([first.setdefault(key, row) for row, key in enumerate(keys)], np.int64)
