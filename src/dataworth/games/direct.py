"""The hard game of several classes at once: is the right label the heaviest?"""

from dataclasses import dataclass

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.errors import InputError
from dataworth.games.game import Classification, Setup
from dataworth.games.kernels import direct
from dataworth.games.kernels import votes as vote
from dataworth.games.solutions import Solution
from dataworth.weights.ranked import Ranked, RankedRows

MOST_BYTES = 2**30


def check(setup: Setup) -> None:
    """Refuse a game with too many classes, or whose table would take too much memory."""
    if setup.n_classes > direct.MOST_CLASSES:
        raise InputError(
            "multiclass",
            f"be 'one-vs-one' for more than {direct.MOST_CLASSES} classes",
            f"y has {setup.n_classes}",
        )
    k, top = setup.n_neighbors, setup.weighting.top
    size = direct.table_bytes(setup.n_classes, k, top)
    if size > MOST_BYTES:
        raise InputError(
            "multiclass",
            "be 'one-vs-one' for a game of this size",
            f"the table of 'direct' would take {size / 2**30:.0f} GB with {setup.n_classes} "
            f"classes, n_neighbors={k} and n_bits={setup.weighting.n_bits}",
        )


def seconds(setup: Setup, n: int) -> float:
    """Return roughly how long n ranked points take."""
    k, top = min(setup.n_neighbors, n), setup.weighting.top
    return direct.seconds(n, setup.n_classes, k, top) if setup.n_classes > 1 and k > 0 else 0.0


@dataclass(frozen=True)
class DirectGame(Classification):
    """The weighted vote of up to four classes at once."""

    tie: float

    def solve(self, ranked: Ranked, label: int) -> Solution:
        """Values for one validation point."""
        top = self.weighting.top
        table = np.zeros((self.n_classes, top + 1))
        if ranked.order.size == 0 or self.n_classes == 1:
            return self.solution(
                ranked, label, np.zeros(ranked.order.size), table, (0.0, 0.0), True
            )
        # On the lattice the right class comes first, and the others keep their order.
        place = np.arange(self.n_classes)
        place[:label] += 1
        place[label] = 0
        ids = place[self.codes[ranked.order]] * (top + 1) + ranked.weights
        players = ranked.players
        k = min(self.n_neighbors, players)
        out, tail = np.empty(ids.size), np.zeros(table.size)
        margins = direct.values(
            ids,
            direct.lattice(self.n_classes, k, top, self.tie),
            players,
            k,
            self.coefficients,
            out,
            tail,
        )
        # With two rivals or more, a wrong point can help by pushing out a worse one.
        sided = ranked.falling and self.n_classes == 2
        return self.solution(ranked, label, out, tail.reshape(table.shape)[place], margins, sided)

    def judge(
        self, ranked: RankedRows, labels: Ints, voters: int, worth: Floats, votes: Floats
    ) -> None:
        """Say whether the label wins the vote."""
        self.tally(ranked, voters, votes)
        vote.win(votes, labels, self.tie, worth)
