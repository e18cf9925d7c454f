"""The hard game: is the weighted vote of the K nearest right?"""

from dataclasses import dataclass

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.games import direct
from dataworth.games.game import Classification, Game, Setup
from dataworth.games.kernels import hard
from dataworth.games.kernels import votes as vote
from dataworth.games.kernels.coefficients import Coefficients, reach
from dataworth.games.solutions import Solution
from dataworth.games.ties import TIES
from dataworth.weights.ranked import Ranked, RankedRows


def game(setup: Setup, targets: Ints, coefficients: Coefficients) -> Game:
    """Return the hard game of these class codes, one-vs-one or direct."""
    kind = direct.DirectGame if setup.multiclass == "direct" else HardGame
    common = (targets, setup.n_classes, setup.n_neighbors, setup.weighting, coefficients)
    return kind(*common, tie=TIES[setup.ties].worth)


def check(setup: Setup) -> None:
    """Refuse a game whose table would take too much memory."""
    if setup.multiclass == "direct":
        direct.check(setup)


def seconds(setup: Setup, n: int) -> float:
    """Return roughly how long n ranked points take."""
    if setup.multiclass == "direct":
        return direct.seconds(setup, n)
    games = max(setup.n_classes - 1, 1)
    return games * hard.seconds(2 * n // (games + 1), setup.n_neighbors, setup.weighting.top)


@dataclass(frozen=True)
class HardGame(Classification):
    """The weighted vote, one-vs-one if there are more than two classes."""

    tie: float

    def solve(self, ranked: Ranked, label: int) -> Solution:
        """Values for one validation point."""
        codes = self.codes[ranked.order]
        _, players = self._counts(ranked)
        top = self.weighting.top
        out = np.empty(codes.size)
        table, margins = np.empty((self.n_classes, top + 1)), np.empty((2, self.n_classes))
        hard.one_vs_one(
            codes, ranked.weights, label, players, top, self.n_neighbors, self.tie,
            self.coefficients, out, table, margins,
        )  # fmt: skip
        return self.solution(ranked, label, out, table, (margins[0], margins[1]), ranked.falling)

    def add_rows(
        self, ranked: RankedRows, labels: Ints, factors: Floats, into: Ints, sums: Floats
    ) -> None:
        """Add the values for several validation points to sums, times their factors."""
        hard.rows(
            self.codes, self.n_classes, ranked.order, ranked.weights, ranked.sizes, labels, factors,
            self.weighting.top, self.n_neighbors, self.tie, self.coefficients, into, sums,
        )  # fmt: skip

    def judge(
        self, ranked: RankedRows, labels: Ints, voters: int, worth: Floats, votes: Floats
    ) -> None:
        """Say in how many pairs with a rival the label wins; the vote is that of all classes."""
        self.tally(ranked, voters, votes)
        vote.pair_wins(
            self.codes, self.n_classes, ranked.order, ranked.weights, ranked.sizes, labels, voters,
            self.tie, worth,
        )  # fmt: skip

    @property
    def by_rows(self) -> bool:
        """Whether `add_rows` can be used."""
        return True

    def _counts(self, ranked: Ranked) -> tuple[Ints, Ints]:
        """Count the ranked points of each class, and all points of each class."""
        near = np.bincount(self.codes[ranked.order], minlength=self.n_classes)
        if ranked.behind is None:
            return near, near
        return near, near + np.bincount(self.codes[ranked.others], minlength=self.n_classes)

    def reach(self, ranked: Ranked, label: int) -> Floats:
        near, players = self._counts(ranked)
        out = np.zeros(self.n_classes)
        for rival in range(self.n_classes):
            pair = [label, rival]
            contested = players[rival] > 0 or (self.tie < 1.0 and players[label] > 0)
            if rival != label and contested:
                out[pair] += reach(
                    self.coefficients,
                    int(players[pair].sum()),
                    int(near[pair].sum()),
                    self.n_neighbors,
                )
        return out / max(self.n_classes - 1, 1)
