"""What a run needs of a game, and what the games with labels have in common.

A game holds everything that is the same for all validation points of a run. It answers one
question: given the points that can matter, nearest first, what is each of them worth?
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.games.kernels import votes as kernel
from dataworth.games.kernels.coefficients import Coefficients
from dataworth.games.kernels.coefficients import reach as reach_of
from dataworth.games.solutions import ByClass, Solution
from dataworth.weights.ranked import Ranked, RankedRows
from dataworth.weights.weighting import Weighting


@dataclass(frozen=True)
class Setup:
    """What a game needs to know before it sees any point.

    Attributes
    ----------
    n_classes : int
        The number of classes; 0 if targets are numbers.
    n_neighbors : int
        K, at most the number of training points.
    weighting : Weighting
        How distances become weights.
    multiclass, ties : str
        The rules of the hard game, as `KNNShapley` takes them.
    center : bool
        Whether an empty set predicts the mean of the targets, in the game of numbers.
    among : bool
        Whether each validation point is one of the training points, and left out of its own game.
    """

    n_classes: int
    n_neighbors: int
    weighting: Weighting
    multiclass: str
    ties: str
    center: bool = True
    among: bool = False


class Game(Protocol):
    """What a run needs of a game."""

    @property
    def n_points(self) -> int:
        """The number of training points."""

    def solve(self, ranked: Ranked, label: Any) -> Solution:
        """Value the ranked points for one validation point.

        `label` is its class code, or its target.
        """

    @property
    def ballot(self) -> int:
        """How many numbers a vote has."""

    def judge(
        self, ranked: RankedRows, labels: Any, voters: int, worth: Floats, votes: Floats
    ) -> None:
        """Let the nearest points vote on validation points that have these labels.

        Parameters
        ----------
        ranked : RankedRows
            The points, a row for each validation point.
        labels : (r,) array
            Its class code, or its target.
        voters : int
            How many of the nearest points vote, instead of K.
        worth : (r,) array
            Receives the utility of the voters.
        votes : (r, ballot) array
            Receives what they say: the weight of each class or, for numbers, the weighted sum of
            the targets and the weight.
        """


@runtime_checkable
class GameByRows(Game, Protocol):
    """A game that values several validation points at a time, without Python between them."""

    @property
    def by_rows(self) -> bool:
        """Whether `add_rows` can be used."""

    def add_rows(
        self, ranked: RankedRows, labels: Any, factors: Floats, into: Ints, sums: Floats
    ) -> None:
        """Add the values for several validation points to sums, one after the other.

        Those for each of them are multiplied by its factor, and added to the row of `sums` that
        `into` names.
        """


@runtime_checkable
class GameOfNearest(Game, Protocol):
    """A game that bounds several validation points at a time if only the nearest are ranked."""

    @property
    def nearest_by_rows(self) -> bool:
        """Whether `add_nearest_rows` can be used."""

    def add_nearest_rows(
        self,
        ranked: RankedRows,
        own: Ints,
        labels: Any,
        factors: Floats,
        into: Ints,
        sums: Floats,
    ) -> None:
        """Add values, lower and upper ends for several validation points to sums.

        As `add_rows`, but `sums` has these three rows wherever `into` points to. `own` is the
        training point that each validation point is, or -1.
        """


class GameModule(Protocol):
    """What the module of a game must have."""

    def game(self, setup: Setup, targets: Array, coefficients: Coefficients) -> Game:
        """Return the game of these training targets, which are class codes or numbers."""

    def check(self, setup: Setup) -> None:
        """Raise an InputError if the game cannot be played with this setup."""

    def seconds(self, setup: Setup, n: int) -> float:
        """Return roughly how long n ranked points take, on one core of a common machine."""


@dataclass(frozen=True)
class Classification:
    """What the games with labels have in common.

    Attributes
    ----------
    codes : (n_train,) array of int
        Class codes of the training points, below `n_classes`.
    n_classes : int
        The number of classes.
    n_neighbors : int
        K, at most the number of training points.
    weighting : Weighting
        How distances become weights.
    coefficients : Coefficients
        The coefficients of the semivalue.
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

    @property
    def ballot(self) -> int:
        """How many numbers a vote has: one for each class."""
        return self.n_classes

    def tally(self, ranked: RankedRows, voters: int, votes: Floats) -> None:
        """Add up the weights of the voters by class."""
        kernel.tally(self.codes, ranked.order, ranked.weights, ranked.sizes, voters, votes)

    def solution(
        self,
        ranked: Ranked,
        label: int,
        out: Floats,
        table: Floats,
        margins: tuple[Any, Any],
        sided: bool,
    ) -> Solution:
        """Return the values with their margins.

        Parameters
        ----------
        ranked : Ranked
            The points.
        label : int
            The right class code.
        out : (n,) array
            The values of the ranked points.
        table : (n_classes, top+1) array
            The values of the points behind them, by class and weight.
        margins : tuple of two numbers or of two (n_classes,) arrays
            How far off the values of the ranked points, and of those behind, can be at most.
        sided : bool
            Whether values of right points can only be too small and those of wrong points only too
            large.

        Returns
        -------
        Solution
            The values of all points.
        """
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
        """Bound the values of points of unknown weight behind the ranked ones, by class."""
        return reach_of(self.coefficients, ranked.players, ranked.order.size, self.n_neighbors)
