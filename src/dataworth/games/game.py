"""What a run needs of a game, and what the games with labels share.

A game holds what is the same for all validation points of a run and answers one question: given
the points that can matter, nearest first, what is each of them worth?
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.games.kernels.coefficients import Coefficients
from dataworth.games.kernels.coefficients import reach as reach_of
from dataworth.games.solutions import ByClass, Solution
from dataworth.weights.ranked import Ranked
from dataworth.weights.weighting import Weighting


@dataclass(frozen=True)
class Setup:
    """What a game is played with, whoever the points are.

    Attributes
    ----------
    n_classes : int
        The number of classes; 0 where targets are numbers.
    n_neighbors : int
        K, at most the number of training points.
    weighting : Weighting
        How distances become weights.
    multiclass, ties : str
        The rules of the hard game.
    """

    n_classes: int
    n_neighbors: int
    weighting: Weighting
    multiclass: str
    ties: str


class Game(Protocol):
    """What a run needs of a game."""

    @property
    def n_points(self) -> int:
        """The number of training points."""

    def solve(self, ranked: Ranked, label: Any) -> Solution:
        """Values for one validation point, given its label's code or its target."""


class GameModule(Protocol):
    """What the module of a game must have."""

    def game(self, setup: Setup, targets: Array, coefficients: Coefficients) -> Game:
        """The game of these training targets: class codes, or numbers."""

    def check(self, setup: Setup) -> None:
        """Refuse what this game cannot be played with: rules, weights, too large a table."""


@dataclass(frozen=True)
class Classification:
    """What the games with labels share.

    Attributes
    ----------
    codes : (n_train,) array of int
        Class codes of the training points, below `n_classes`.
    n_neighbors : int
        At most the number of training points.
    """

    codes: Ints
    n_classes: int
    n_neighbors: int
    weighting: Weighting
    coefficients: Coefficients

    @property
    def n_points(self) -> int:
        """The number of training points."""
        return self.codes.size

    def solution(
        self,
        ranked: Ranked,
        label: int,
        out: Floats,
        table: Floats,
        margins: tuple[Any, Any],
        sided: bool,
    ) -> Solution:
        """Values with their margins; `table` is by class and weight, margins by class."""
        if ranked.behind is None:
            return Solution(out)
        if ranked.capped:
            table, margins = np.zeros_like(table), (margins[0], self.reach(ranked, label))
        codes = self.codes[ranked.order]
        right = np.arange(self.n_classes) == label
        near, far = np.empty((2, self.n_classes))
        near[:], far[:] = margins
        outer = ByClass(self.codes, table, far, right if sided else None)
        return Solution(out, near[codes], right[codes] if sided else None, outer)

    def reach(self, ranked: Ranked, label: int) -> Any:
        """What points of unknown weight behind those ranked can be worth at most, by class."""
        return reach_of(self.coefficients, ranked.players, ranked.order.size, self.n_neighbors)
