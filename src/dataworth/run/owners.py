"""The work of one worker if owners are valued: it values both owners and points."""

import math
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError
from dataworth.games import owners
from dataworth.games.owners import OwnerGame, Sampling, Way
from dataworth.inputs import checks
from dataworth.inputs.targets import Targets, variance
from dataworth.run.job import BLOCK, Job, Part
from dataworth.settings import Settings
from dataworth.training.folds import Fold, OpenedFold
from dataworth.training.judges import Judges

# The rows of the sums: values, and what the points of an owner are worth together if points are the
# players, both times the factor of the validation point; and, times its square, values, squares of
# values, and squared standard errors of samples.
ROWS = 5
METHODS = ("auto", "exact", "sampling")
TOL = 1e-3  # the default standard error of samples, in units of the largest change of utility


@dataclass(frozen=True)
class OwnerJob:
    """Everything a worker needs to value owners.

    Attributes
    ----------
    points : Job
        The job of valuing points, which finds and ranks them.
    game : OwnerGame
        What whole data sets are worth.
    """

    points: Job
    game: OwnerGame

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + 2 * self.points.__sizeof__()

    @property
    def width(self) -> int:
        """How many validation points to hand over at a time, in whole blocks."""
        return self.points.width

    def run(self, queries: Any, labels: Array, own: Ints | None, factors: Floats) -> list[Part]:
        """Return the sums over these validation points, one part for each block."""
        found = enumerate(self.points.search.rows(queries))
        parts = []
        for _ in range(0, len(labels), BLOCK):
            sums, error = np.zeros((ROWS, self.game.n_owners)), 0.0
            for i, row in islice(found, BLOCK):
                without = None if own is None else own[i]
                ranked, of_points = self.points.solve(row, labels[i], without)
                solved = self.game.solve(ranked, labels[i])
                whose = self.game.owners[ranked.order]
                factor, square = factors[i], factors[i] ** 2
                sums[0] += factor * solved.values
                sums[1] += factor * np.bincount(whose, of_points.inner, self.game.n_owners)
                sums[2] += square * solved.values
                sums[3] += square * solved.values**2
                sums[4] += square * solved.variance
                error = max(error, solved.error)
            parts.append(Part(sums, slice(None), error))
        return parts


@dataclass(frozen=True)
class OwnerPlan:
    """A plan to value owners, with one column of the sums for each of them.

    Attributes
    ----------
    codes : (n_train,) array of int
        The owner of each training point, from 0 to n_owners - 1.
    n_owners : int
        The number of owners.
    way : {"enumeration", "products", "sampling"}
        How values are computed.
    sampling : Sampling
        How permutations are drawn, if they are.
    seconds : float
        How long the owners of one validation point will take; 0 if it is not known.
    """

    codes: Ints
    n_owners: int
    way: Way
    sampling: Sampling
    seconds: float

    def __call__(
        self, settings: Settings, fold: Fold, opened: OpenedFold
    ) -> tuple[OwnerJob, slice]:
        targets = opened.targets
        game = OwnerGame(
            owners=self.codes[fold.judged],
            n_owners=self.n_owners,
            targets=targets.codes,
            setup=settings.setup(
                targets.codes.size, targets.n_classes, among=opened.own is not None
            ),
            name=settings.game.name,
            law=settings.law,
            way=self.way,
            sampling=self.sampling,
        )
        return OwnerJob(Job.of(settings, opened), game), slice(None)


def plan(
    settings: Settings,
    targets: Targets,
    codes: Ints,
    judges: Judges,
    method: str,
    tol: float | None,
    seed: int,
) -> OwnerPlan:
    """Check how owners are to be valued, and return the plan.

    Parameters
    ----------
    settings : Settings
        The parameters of the run.
    targets : Targets
        The targets of all training points.
    codes : (n_train,) array of int
        The owner of each training point.
    judges : Judges
        How much the validation points count.
    method, tol, seed
        As in `KNNShapley.value_owners`, where the seed is `random_state`.

    Returns
    -------
    OwnerPlan
        The plan.
    """
    checks.choice(method, "method", METHODS)
    checks.integer(seed, "random_state", least=0)
    n_owners = int(codes.max()) + 1
    if tol is not None:
        tol = checks.positive(tol, "tol")
        if method == "exact":
            raise InputError("tol", "be None with method='exact'", f"got {tol!r}")
    else:
        tol = TOL * (variance(targets.codes) if settings.game.numeric else 1.0)
    setup = settings.setup(targets.codes.size, targets.n_classes)
    way = owners.choose(setup, settings.game.name, n_owners, anyhow=method == "exact")
    if method == "exact" and way == "sampling":
        raise InputError(
            "method",
            "be 'auto' or 'sampling' for the hard game with multiclass='direct' and more than "
            f"{owners.MOST_ENUMERATED} owners",
            "got 'exact'",
        )
    if method == "sampling":
        way = "sampling"
    # Errors of validation points are independent, so that of their mean is smaller by the root.
    sampling = Sampling(tol * math.sqrt(judges.effective), seed)
    each = owners.seconds(setup, settings.game.name, n_owners) if way == "products" else 0.0
    return OwnerPlan(codes, n_owners, way, sampling, each)


def statistics(sums: Floats, judges: Judges) -> Floats:
    """Return four rows: values, their standard errors, those of sampling, and sums of points.

    Parameters
    ----------
    sums : (ROWS, G) array
        The sums over all validation points.
    judges : Judges
        How much these count.

    Returns
    -------
    (4, G) array
        The rows.
    """
    mean, points = sums[:2] / judges.total
    linear, squares, sampled = sums[2:] / judges.squares
    spread = np.maximum(squares - mean * (2.0 * linear - mean), 0.0)
    n = judges.number
    spread = spread * n / (n - 1) if n > 1 else spread * np.nan
    errors = np.sqrt(spread / judges.effective), np.sqrt(sampled / judges.effective)
    return np.stack([mean, *errors, points])
