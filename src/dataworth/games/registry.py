"""The games that `KNNShapley(game=...)` knows by name; importing this module imports none of them.

A new game needs a kernel, a module beside this one with `game(setup, targets, coefficients)` and
`check(setup)` (see `games.game.GameModule`), and an entry here.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from dataworth.games.game import GameModule


@dataclass(frozen=True)
class GameKind:
    """A game: what a set of training points is worth to a validation point.

    Attributes
    ----------
    name : str
        What `game=` and the command line call it.
    short : str
        What a set is worth, in a few words, for the help of the command line.
    words : str
        The same in full, for the documentation.
    module : str
        The name of the module that implements it.
    cost : str
        The time that one validation point takes after sorting, with N training points, K
        neighbours and b bits.
    numeric : bool
        Whether targets are numbers instead of labels.
    real_weights : bool
        Whether it can be played with weights that are not rounded (`n_bits=None`).
    radius : bool
        Whether it can be played by all points within a radius.
    least_weight : float
        Real weights below this count as 0.
    options : tuple of str
        The parameters of `KNNShapley` that only some games have, and this one has.
    """

    name: str
    short: str
    words: str
    module: str
    cost: str
    numeric: bool = False
    real_weights: bool = True
    radius: bool = True
    least_weight: float = 1e-300
    options: tuple[str, ...] = ()

    def load(self) -> "GameModule":
        """Import the module that implements it."""
        return cast("GameModule", import_module(self.module))


DEFAULT_GAME = "soft"
NUMERIC_GAME = "regression"  # what numbers to predict are played with unless another is asked for
GAMES = {
    kind.name: kind
    for kind in (
        GameKind(
            "soft",
            "the share of the right label",
            "the share of the right label in the total weight of the K nearest; 1 / number of "
            "classes for an empty set.",
            "dataworth.games.soft",
            "O(N K + 2^b K^2), O(N K J) with real weights and J of about 40 nodes, O(N) unweighted",
        ),
        GameKind(
            "hard",
            "whether the vote is right",
            "1 if the weighted vote of the K nearest is right, else 0. See `ties` for tied votes "
            "and `multiclass` for more than two classes.",
            "dataworth.games.hard",
            "O(N K^2 + 4^b K^3) for each pair of the right class with another",
            real_weights=False,
            radius=False,
            options=("multiclass", "ties"),
        ),
        GameKind(
            "regression",
            "minus the squared error of the mean target",
            "minus the squared error of the weighted mean of the K nearest targets. See `center` "
            "for sets that are empty or have no weight, and `log` for prices and their like.",
            "dataworth.games.regression",
            "O(N K + 2^b K^2), O(N K J) with real weights and J of about 40 nodes, O(N) unweighted",
            numeric=True,
            least_weight=1e-140,  # its square must not vanish
            options=("center", "log"),
        ),
    )
}
