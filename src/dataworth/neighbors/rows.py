"""Rows: what a search says about one validation point."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from dataworth.arrays import Floats, Ints

Result = TypeVar("Result", covariant=True)


class Ranker(Protocol[Result]):
    """Ranks a row, complete or not; `own` is the training point to leave out, if any."""

    def rank_all(self, distances: Floats, own: int | None, limit: int | None) -> Result:
        """Rank the training points by their distances, or only the nearest `limit` of them."""

    def rank_known(
        self, known: "Known", n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """Do the same if only some of `n_train` training points are known."""

    def rank_weighted(
        self, weighted: "Weighted", n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """Do the same by weights that are known already."""


class Row(Protocol):
    """The neighbours of one validation point."""

    def ranked_by(
        self, ranker: Ranker[Result], n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """Let the ranker rank this row."""

    def nearest(self, size: int, own: int | None) -> "Known":
        """Return the nearest `size` training points except `own`."""


@dataclass(frozen=True)
class Everyone:
    """The distances to all training points, by their positions."""

    distances: Floats

    def ranked_by(
        self, ranker: Ranker[Result], n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """Let the ranker rank this row."""
        return ranker.rank_all(self.distances, own, limit)

    def nearest(self, size: int, own: int | None) -> "Known":
        """Return the nearest `size` training points except `own`."""
        order = np.argsort(self.distances, kind="stable")
        if own is not None:
            order = order[order != own]
        order = order[:size]
        return Known(order, self.distances[order])


@dataclass(frozen=True)
class Known:
    """Some of the training points, nearest first; of the others we only know they are farther."""

    index: Ints
    distance: Floats

    @classmethod
    def sorted(cls, index: Ints, distance: Floats) -> "Known":
        """Return these points, nearest first; equal distances are ordered by index."""
        order = np.lexsort((index, distance))
        return cls(index[order], distance[order])

    def without(self, own: int) -> "Known":
        """Return the same row without one training point."""
        keep = self.index != own
        return Known(self.index[keep], self.distance[keep])

    def ranked_by(
        self, ranker: Ranker[Result], n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """Let the ranker rank this row."""
        return ranker.rank_known(self, n_train, own, limit)

    def nearest(self, size: int, own: int | None) -> "Known":
        """Return the nearest `size` training points except `own`."""
        others = self if own is None else self.without(own)
        return Known(others.index[:size], others.distance[:size])


@dataclass(frozen=True)
class Weighted:
    """The training points that have weight, in any order, where weights need no distances."""

    index: Ints
    weight: Floats

    def without(self, own: int | None) -> "Weighted":
        """Return the same row without one training point, if there is one to leave out."""
        keep = self.index != own
        return self if own is None or keep.all() else Weighted(self.index[keep], self.weight[keep])

    @property
    def unit(self) -> Floats:
        """The weights in units of the largest."""
        return self.weight / self.weight.max(initial=0.0)

    def ranked_by(
        self, ranker: Ranker[Result], n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """Let the ranker rank this row."""
        return ranker.rank_weighted(self, n_train, own, limit)

    def nearest(self, size: int, own: int | None) -> "Known":
        """Return the heaviest `size` points except `own`, the heaviest of all at distance 0."""
        others = self.without(own)
        near = Known.sorted(others.index, 1.0 - others.unit)
        return Known(near.index[:size], near.distance[:size])


def merge(parts: Sequence[Sequence[Known]], limit: int) -> list[Known]:
    """Return the nearest points of all parts for each validation point."""
    merged = []
    for rows in zip(*parts, strict=True):
        index = np.concatenate([row.index for row in rows])
        known = Known.sorted(index, np.concatenate([row.distance for row in rows]))
        merged.append(Known(known.index[:limit], known.distance[:limit]))
    return merged
