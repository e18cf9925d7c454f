"""Agreement: what the training points that are judged say about those that judge them."""

from collections.abc import Sequence

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.inputs.targets import Targets
from dataworth.run.job import Verdicts
from dataworth.training.folds import Fold
from dataworth.training.representations import mean_of


class Agreement:
    """How well the others predict each training point, added up over its verdicts.

    Attributes
    ----------
    targets : Targets
        The targets of all training points.
    times : (n_train,) array of int
        How often each point judges.
    arrays : dict
        The state: `worth` has the sum of utilities of each point, and `votes` what was said about
        it. That is the code which the vote favours if no point judges twice, so that large numbers
        of classes take no memory, and else the sum of its votes, as it is with `several` games.
    """

    def __init__(self, targets: Targets, folds: Sequence[Fold], *, several: bool) -> None:
        n = targets.codes.size
        judges = np.concatenate([fold.positions for fold in folds])
        self.targets, self.times = targets, np.bincount(judges, minlength=n)
        self._once = bool(self.times.max() == 1) and not several
        votes = targets.codes.copy() if self._once else np.zeros((n, targets.ballot))
        self.arrays: dict[str, Array] = {"worth": np.zeros(n), "votes": votes}

    def add(self, positions: Ints, judged: Targets, verdicts: Verdicts) -> None:
        """Add the verdicts of points with targets `judged` on the points at these positions."""
        votes = self.targets.counted(judged, verdicts.votes)
        self.arrays["worth"][positions] += verdicts.worth
        if self._once:
            own = self.targets.codes[positions]
            self.arrays["votes"][positions] = self.targets.favoured(votes, own)
        else:
            self.arrays["votes"][positions] += votes

    def mean(self) -> Floats:
        """Return the mean utility of each point, which is NaN if it never judges."""
        never = np.full(self.times.size, np.nan)
        return np.divide(self.arrays["worth"], self.times, out=never, where=self.times > 0)

    def gain(self) -> float:
        """Return how much better than chance the others predict points, in the mean."""
        return float(np.nanmean(self.mean())) - self.targets.chance

    def codes(self) -> Array:
        """Return the code that is suggested for each point; its own if it never judges."""
        votes = self.arrays["votes"]
        return votes if self._once else self.targets.favoured(votes, self.targets.codes)


def mean(games: Sequence[Agreement], shares: Floats) -> tuple[Floats, Array]:
    """Return the mean agreement of several games, and the targets that their mean vote favours.

    `shares` says how much each game counts.
    """
    targets = games[0].targets
    codes = games[0].codes()
    if len(games) > 1:
        said = [targets.shares(game.arrays["votes"]) for game in games]
        codes = targets.favoured(mean_of(said, shares), targets.codes)
    return mean_of([game.mean() for game in games], shares), targets.names(codes)
