"""Ranking rows of distances; equal distances are ranked by the position of the point.

Distances are not negative, so they compare like their bits, read as integers. The lowest bits make
room for the position of the point, and a plain sort of these keys ranks the row, faster than an
argsort. The few distances that differ only in their lowest bits are put in order afterwards.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Floats, Ints
from dataworth.compiled import compiled, uint64
from dataworth.errors import InputError

Keys = NDArray[np.uint64]
NOBODY = -1
FEW = 32  # so many distances are sorted by insertion


@compiled()
def _pack(rows: Floats, own: Ints, cutoffs: Floats, mask: int, keys: Keys, sizes: Ints) -> None:
    """Write the keys of all points up to the cutoff except `own`, and how many they are.

    The positions fill the bits of `mask`, and `keys` is longer than a row by one.
    """
    keep = ~(np.uint64(mask) | (np.uint64(1) << np.uint64(63)))  # -0.0 becomes 0.0
    n = uint64(rows.shape[1])
    for r in range(rows.shape[0]):
        row, packed = rows[r], keys[r]
        bits, cutoff = row.view(np.uint64), cutoffs[r]
        if cutoff == np.inf:
            middle = n if own[r] < 0 else uint64(own[r])
            for i in range(middle):
                packed[i] = (bits[i] & keep) | np.uint64(i)
            for i in range(middle + uint64(1), n):
                packed[i - uint64(1)] = (bits[i] & keep) | np.uint64(i)
            sizes[r] = np.int64(n) - (own[r] >= 0)
            continue
        count = uint64(0)
        for i in range(n):
            packed[count] = (bits[i] & keep) | np.uint64(i)
            count += uint64((row[i] <= cutoff) & (np.int64(i) != own[r]))
        sizes[r] = count


@compiled()
def _sort_few(row: Floats, order: Ints) -> None:
    """Sort positions by distance, and those at equal distance as they come."""
    for i in range(1, order.size):
        at = order[i]
        j = i
        while j > 0 and row[order[j - 1]] > row[at]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = at


@compiled()
def _unpack(rows: Floats, keys: Keys, sizes: Ints, mask: int, order: Ints) -> None:
    """Write the positions in sorted keys into `order`, by the full distances where keys tie."""
    for r in range(rows.shape[0]):
        _unpack_row(rows[r], keys[r, : sizes[r]], mask, order[r])


@compiled()
def _unpack_row(row: Floats, keys: Keys, mask: int, order: Ints) -> None:
    low = np.uint64(mask)
    for i in range(uint64(keys.size)):
        order[i] = np.int64(keys[i] & low)
    i = 1
    while i < keys.size:
        if keys[i] ^ keys[i - 1] > low:
            i += 1
            continue
        first, rising = i - 1, True
        while i < keys.size and keys[i] ^ keys[i - 1] <= low:
            rising &= row[order[i]] >= row[order[i - 1]]
            i += 1
        if rising:
            continue
        some = order[first:i]
        if some.size <= FEW:
            _sort_few(row, some)
        else:
            some[:] = some[np.argsort(row[some], kind="mergesort")]


@compiled()
def _extent_bits(rows: Floats, own: Ints, ends: Keys) -> None:
    """Write the smallest and largest bits of rows, read as integers, without those of `own`."""
    for r in range(rows.shape[0]):
        bits = rows[r].view(np.uint64)
        least, most = ~np.uint64(0), np.uint64(0)
        middle = uint64(bits.size if own[r] < 0 else own[r])
        for i in range(middle):
            least, most = min(least, bits[i]), max(most, bits[i])
        for i in range(middle + uint64(1), uint64(bits.size)):
            least, most = min(least, bits[i]), max(most, bits[i])
        ends[r, 0], ends[r, 1] = least, most


def extents(rows: Floats, own: Ints) -> Floats:
    """Return the smallest and the largest distance of each row, without the points `own`."""
    ends = np.empty((rows.shape[0], 2))
    _extent_bits(rows, own, ends.view(np.uint64))
    usual = (ends[:, 0] >= 0.0) & (ends[:, 1] < math.inf) & ~np.signbit(ends[:, 1])
    for r in np.flatnonzero(~usual):
        others = rows[r] if own[r] < 0 else np.delete(rows[r], own[r])
        ends[r] = others.min(), others.max()  # negative, nan, or -0.0
        check_distances(*ends[r])
    return ends


def rank(row: Floats) -> tuple[Ints, Floats]:
    """Return training indices, nearest first, and their distances; ties go by training index.

    Examples
    --------
    >>> import numpy as np
    >>> order, ranked = rank(np.array([2.0, 1.0, 2.0, 0.5]))
    >>> order
    array([3, 1, 0, 2])
    """
    row = np.ascontiguousarray(row, np.float64)
    rows, own, order = row[None], np.full(1, NOBODY), np.empty((1, row.size), np.int64)
    extents(rows, own)
    rank_rows(rows, own, np.full(1, np.inf), order)
    return order[0], row[order[0]]


def rank_rows(rows: Floats, own: Ints, cutoffs: Floats, order: Ints) -> Ints:
    """Rank the training points of several rows, except those beyond a cutoff.

    Parameters
    ----------
    rows : (r, n) array
        Distances, none of them negative.
    own : (r,) array of int
        The training point to leave out of each row, or `NOBODY`.
    cutoffs : (r,) array
        The largest distance of a ranked point.
    order : (r, n) array of int
        Receives training indices, nearest first.

    Returns
    -------
    (r,) array of int
        How many points are ranked in each row.
    """
    n = rows.shape[1]
    mask = (1 << max(n - 1, 1).bit_length()) - 1
    keys = np.empty((rows.shape[0], n + 1), np.uint64)
    sizes = np.empty(rows.shape[0], np.int64)
    _pack(rows, own, cutoffs, mask, keys, sizes)
    for packed, size in zip(keys, sizes.tolist(), strict=True):
        packed[:size].sort()
    _unpack(rows, keys, sizes, mask, order)
    return sizes


def nearest(row: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the first `limit` training indices of `rank`, without sorting those farther away.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([2.0, 1.0, 2.0, 0.5]), 3)
    array([3, 1, 0])
    """
    rows = np.ascontiguousarray(row, np.float64)[None]
    parts = np.partition(rows, limit - 1)[:, :limit]
    check_distances(float(parts.min()), float(parts[0, -1]))
    return _nearest(rows, np.full(1, NOBODY), parts[:, -1].copy(), limit)[0]


def nearest_rows(rows: Floats, own: Ints, limit: int) -> Ints:
    """Return the nearest `limit` points of each row, nearest first, without the points `own`.

    Each row has more than `limit` distances besides that of `own`. All are finite and not negative,
    as `extents` makes sure.
    """
    last = limit if (own >= 0).any() else limit - 1  # one more, in place of the one left out
    return _nearest(rows, own, np.partition(rows, last)[:, last].copy(), limit)


def _nearest(rows: Floats, own: Ints, cutoffs: Floats, limit: int) -> Ints:
    """Return the first points of the ranking of those up to the cutoffs, which are enough."""
    order = np.empty(rows.shape, np.int64)
    rank_rows(rows, own, cutoffs, order)
    return order[:, :limit].copy()


def medians(rows: Floats, own: Ints) -> Floats:
    """Return the median distance of each row, without the points `own`."""
    out = np.empty(rows.shape[0])
    for left_out in (False, True):
        here = np.flatnonzero((own >= 0) == left_out)
        if here.size == 0:
            continue
        some, n = rows[here], rows.shape[1] - left_out
        if left_out:
            some[np.arange(here.size), own[here]] = math.inf
        low, high = (n - 1) // 2, n // 2
        some.partition(high, axis=1)
        above = some[:, high]
        below = above if low == high else some[:, :high].max(axis=1)
        out[here] = 0.5 * below + 0.5 * above  # their sum could overflow
    return out


def check_distances(least: float, largest: float) -> None:
    """Refuse distances that are negative or not finite."""
    if not (least >= 0.0 and math.isfinite(largest)):
        bad = least if least < 0.0 else largest
        raise InputError(
            "metric",
            "give distances that are finite and not negative",
            f"metric gave a distance of {bad}",
            "Scale the features, or use another metric.",
        )
