"""Games: from ranked neighbours of one validation point to values, through a kernel.

A game holds what is the same for all validation points of a run and answers one question: given
the training points nearest first, who gets a value and which?
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dataworth.kernels import hard
from dataworth.weights import Weighting

GAME_NAMES = ("hard",)


@dataclass(frozen=True)
class HardGame:
    """The weighted vote; one-vs-one where there are more than two classes.

    Parameters
    ----------
    codes : (n_train,) class codes of the training points.
    n_classes : the number of classes among them.
    n_neighbors : how many nearest points vote.
    weighting : how distances become integer weights.
    """

    codes: NDArray[np.int64]
    n_classes: int
    n_neighbors: int
    weighting: Weighting
    displace: NDArray[np.float64] = field(init=False, repr=False)
    inverse: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rank = np.maximum(np.arange(self.codes.size + 1, dtype=np.float64), 1.0)
        later = np.maximum(rank, 2.0)  # nothing is displaced at rank 1
        object.__setattr__(self, "inverse", 1.0 / rank)
        object.__setattr__(self, "displace", self.n_neighbors / (later * (later - 1.0)))

    def values(
        self, order: NDArray[np.int64], distances: NDArray[np.float64], label: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Training indices and their values; points that are not named have the value 0.

        `order` are training indices nearest first, `distances` belong to them, `label` is the
        class code of the validation point.
        """
        weights = self.weighting.integers(distances)
        nonzero = np.flatnonzero(weights)
        size = nonzero[-1] + 1 if nonzero.size else 0  # behind it are null players only
        members = order[:size]
        out = np.empty(size)
        hard.one_vs_one(
            self.codes[members],
            weights[:size],
            label,
            self.n_classes,
            self.weighting.top,
            self.n_neighbors,
            self.displace,
            self.inverse,
            out,
        )
        return members, out
