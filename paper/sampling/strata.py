"""Strata of sets: those of fewer than K points by size, those of K points by their farthest."""

from typing import Any, NamedTuple

import numpy as np

from dataworth.arrays import Flags, Floats, Ints
from dataworth.compiled import compiled

BLOCK_GROWTH = 1.5


class Strata(NamedTuple):
    """Which sets there are, and what they tell about each point; one entry for each stratum.

    Attributes
    ----------
    size : array of int
        How many points a set has.
    pool : array of int
        Sets are random choices among this many of the nearest points.
    anchored : array of int
        1 where every set also holds the point at position `pool`, as its farthest; otherwise 0.
    inside, outside : array of float
        U(T) * inside goes to the value of each member of T, and U(T) * outside is taken from the
        value of every other point of the pool.
    block : array of int
        Strata whose sets are alike have the same number.
    """

    size: Ints
    pool: Ints
    anchored: Ints
    inside: Floats
    outside: Floats
    block: Ints

    @property
    def spread(self) -> Floats:
        """Root of the sum over all points of the squares of what U(T) = 1 adds to values."""
        others = self.pool + self.anchored - self.size
        return np.sqrt(self.size * self.inside**2 + others * self.outside**2)

    def only(self, mask: Flags) -> "Strata":
        """Some of the strata."""
        columns: tuple[Any, ...] = self
        return Strata(*(array[mask] for array in columns))


class Sets(NamedTuple):
    """Sets drawn: their strata, members (-1 where there are fewer than K), utilities, weights."""

    stratum: Ints
    members: Ints
    utility: Floats
    weight: Floats

    def only(self, mask: Flags) -> "Sets":
        """Some of the sets."""
        columns: tuple[Any, ...] = self
        return Sets(*(array[mask] for array in columns))


def strata_of(n: int, k: int) -> Strata:
    """All strata of N points, the empty set left out, with K at most N."""
    small = np.arange(1, k)
    rank = np.arange(k, n + 1)
    growth = np.floor(np.log(rank / k) / np.log(BLOCK_GROWTH)).astype(np.int64)
    displaced = np.where(rank > k, k / (rank * np.maximum(rank - k, 1)), 0.0)
    return Strata(
        size=_join(small, np.full(rank.size, k)),
        pool=_join(np.full(small.size, n), rank - 1),
        anchored=_join(np.zeros_like(small), np.ones_like(rank)),
        inside=1.0 / _join(small, rank),
        outside=np.concatenate([1.0 / (n - small), displaced]),
        block=_join(np.arange(small.size), small.size + growth),
    )


def _join(first: Ints, second: Ints) -> Ints:
    return np.concatenate([first, second]).astype(np.int64)


def draw(stratum: Ints, strata: Strata, uniform: Floats) -> Ints:
    """One random set of each stratum given, by a row of K uniform random numbers each."""
    return _draw(stratum, strata.size, strata.pool, strata.anchored, uniform)


def collect(stratum: Ints, members: Ints, gain: Floats, strata: Strata, values: Floats) -> None:
    """Add to `values` what sets tell about them, given U(T), or what stands for it, as `gain`."""
    behind = np.zeros(values.size + 1)  # what is taken from all points before a position
    _collect(
        stratum, members, gain, strata.pool, strata.anchored, strata.inside, strata.outside,
        values, behind,
    )  # fmt: skip
    values -= np.cumsum(behind[::-1])[::-1][1:]


@compiled()
def _draw(stratum: Ints, size: Ints, pool: Ints, anchored: Ints, uniform: Floats) -> Ints:
    """Floyd's way of choosing without repetition: one random number a member."""
    members = np.full(uniform.shape, -1, np.int64)
    for row in range(stratum.size):
        c = stratum[row]
        chosen = size[c] - anchored[c]
        for at in range(chosen):
            top = pool[c] - chosen + at
            member = min(int(uniform[row, at] * (top + 1)), top)
            for before in range(at):
                if members[row, before] == member:
                    member = top
                    break
            members[row, at] = member
        if anchored[c]:
            members[row, chosen] = pool[c]
    return members


@compiled()
def _collect(
    stratum: Ints,
    members: Ints,
    gain: Floats,
    pool: Ints,
    anchored: Ints,
    inside: Floats,
    outside: Floats,
    values: Floats,
    behind: Floats,
) -> None:
    for row in range(stratum.size):
        c = stratum[row]
        behind[pool[c] + anchored[c]] += outside[c] * gain[row]
        for member in members[row]:
            if member >= 0:
                values[member] += (inside[c] + outside[c]) * gain[row]
