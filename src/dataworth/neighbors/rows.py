"""Rows: what a search says about one validation point."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from dataworth.arrays import Floats, Ints

Result = TypeVar("Result", covariant=True)


class Ranker(Protocol[Result]):
    """Whoever ranks a row, be it complete or not; `own` is a training point to leave out."""

    def rank_all(self, distances: Floats, own: int | None, limit: int | None) -> Result:
        """Rank the training points by their distances, only the nearest `limit` if given."""

    def rank_known(
        self, known: "Known", n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """The same where only some of `n_train` training points are known."""


class Row(Protocol):
    """The neighbours of one validation point."""

    def ranked_by(
        self, ranker: Ranker[Result], n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """What the ranker makes of this row."""

    def nearest(self, size: int, own: int | None) -> "Known":
        """The nearest `size` training points but `own`."""


@dataclass(frozen=True)
class Everyone:
    """The distances to all training points, by their positions."""

    distances: Floats

    def ranked_by(
        self, ranker: Ranker[Result], n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """What the ranker makes of this row."""
        return ranker.rank_all(self.distances, own, limit)

    def nearest(self, size: int, own: int | None) -> "Known":
        """The nearest `size` training points but `own`."""
        order = np.argsort(self.distances, kind="stable")
        order = order[order != own][:size]
        return Known(order, self.distances[order])


@dataclass(frozen=True)
class Known:
    """Some training points, nearest first; all others are farther, and nothing else is known."""

    index: Ints
    distance: Floats

    @classmethod
    def sorted(cls, index: Ints, distance: Floats) -> "Known":
        """These points, nearest first; equal distances by their index."""
        order = np.lexsort((index, distance))
        return cls(index[order], distance[order])

    def without(self, own: int) -> "Known":
        """The same but for one training point."""
        keep = self.index != own
        return Known(self.index[keep], self.distance[keep])

    def ranked_by(
        self, ranker: Ranker[Result], n_train: int, own: int | None, limit: int | None
    ) -> Result:
        """What the ranker makes of this row."""
        return ranker.rank_known(self, n_train, own, limit)

    def nearest(self, size: int, own: int | None) -> "Known":
        """The nearest `size` training points but `own`."""
        others = self if own is None else self.without(own)
        return Known(others.index[:size], others.distance[:size])


def merge(parts: Sequence[Sequence[Known]], limit: int) -> list[Known]:
    """The nearest points of all parts, for each validation point."""
    merged = []
    for rows in zip(*parts, strict=True):
        index = np.concatenate([row.index for row in rows])
        known = Known.sorted(index, np.concatenate([row.distance for row in rows]))
        merged.append(Known(known.index[:limit], known.distance[:limit]))
    return merged
