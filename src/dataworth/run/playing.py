"""Plays the games of a run, one for each representation, and takes their mean."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dataworth.arrays import Array, Floats
from dataworth.run import adding_up
from dataworth.run.adding_up import Tally
from dataworth.run.agreement import Agreement
from dataworth.run.agreement import mean as mean_agreement
from dataworth.run.checkpoints import Checkpoint
from dataworth.training.judges import Judges
from dataworth.training.representations import Representation, mean_of, shares_of


@dataclass(frozen=True)
class Played:
    """What the training points got in the games of a run.

    Attributes
    ----------
    values, lower, upper : (n_train,) array
        The mean over the games, and its bounds.
    by_game : list of (n_train,) array
        The values in each game.
    shares : (n_games,) array
        How much each game counts in the mean.
    weight_error : float
        The most that the values of a validation point are off because weights are real, in the
        mean over the games.
    agreement, suggested : (n_train,) array or None
        How well the others predict each point, and the label they favour, if points judged each
        other.
    """

    values: Floats
    lower: Floats
    upper: Floats
    by_game: list[Floats]
    shares: Floats
    weight_error: float
    agreement: Floats | None
    suggested: Array | None


def play(shown: Sequence[Representation], judges: Judges, kept: Checkpoint | None) -> Played:
    """Play the game of each representation.

    Games count by agreement, where there is any: more points have a say in it than in the game.
    """
    several, inside = len(shown) > 1, shown[0].folds[0].inside
    games = [
        Tally(
            one.settings,
            one.folds,
            judges.factors[judges.places(one.folds)],
            np.zeros((one.height, one.training.n_points)),
            agreement=(
                Agreement(one.training.targets, one.folds, several=several) if inside else None
            ),
        )
        for one in shown
    ]
    adding_up.total(games, kept)
    totals = [game.sums / judges.total for game in games]
    gains = [
        float(total[0].sum()) if game.agreement is None else game.agreement.gain()
        for game, total in zip(games, totals, strict=True)
    ]
    shares = shares_of(gains)
    # Games without bounds have one row, which is its own bound.
    lower, upper = ([total[i % len(total)] for total in totals] for i in (1, 2))
    said = [game.agreement for game in games if game.agreement is not None]
    agreement, suggested = mean_agreement(said, shares) if said else (None, None)
    return Played(
        values=mean_of([total[0] for total in totals], shares),
        lower=mean_of(lower, shares),
        upper=mean_of(upper, shares),
        by_game=[total[0] for total in totals],
        shares=shares,
        weight_error=float(shares @ [game.worst[0] for game in games]),
        agreement=agreement,
        suggested=suggested,
    )
