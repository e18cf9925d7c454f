"""Scores before and after: what they are, and how sure their differences are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints

ALL = "all models"
ACCURACY, MAE, R2 = "balanced accuracy", "MAE", "R²"
DRAWS = 2000  # of the bootstrap


@dataclass(frozen=True)
class Score:
    """What one model scores before and after.

    Attributes
    ----------
    model : str
        The model; "all models" is the mean over them.
    metric : str
        "balanced accuracy" for classes; "MAE" and "R²" for numbers.
    before, after : float
        The scores, each a mean over the seeds.
    difference : float
        The score after less the score before.
    lower, upper : float
        An interval for the difference that holds 95 % of bootstrap draws, in which the rows judged
        and the seeds are drawn anew, the same ones before and after.
    """

    model: str
    metric: str
    before: float
    after: float
    difference: float
    lower: float
    upper: float

    @property
    def verdict(self) -> str:
        """In a word: "better", "worse" or "no clear difference"."""
        if self.lower <= 0.0 <= self.upper:
            return "no clear difference"
        return "worse" if (self.difference > 0.0) == self.falls else "better"

    @property
    def falls(self) -> bool:
        """Whether less is better."""
        return self.metric == MAE

    def __str__(self) -> str:
        before, after = self.shown(self.before), self.shown(self.after)
        sign = "−" if self.difference < 0 else "+"
        margin = self.shown((self.upper - self.lower) / 2)
        change = f"{sign}{self.shown(abs(self.difference))} ± {margin}"
        return f"{self.metric} {before} → {after} ({change})"

    def shown(self, number: float) -> str:
        """Write a number with as many digits as this score deserves."""
        digits = 3
        if self.metric == MAE and self.before > 0.0:
            digits = max(3 - int(np.floor(np.log10(self.before))), 0)
        return f"{number:,.{digits}f}".replace("-", "−")


@dataclass(frozen=True)
class Comparison:
    """What models score before and after, in the metric that counts and in others.

    Attributes
    ----------
    scores : tuple of Score
        For each metric, the mean over all models and then each model.
    n_before, n_after, n_judged : int
        How many rows there were to learn from, and how many the models were judged on.
    how : str
        How they were judged, in words.
    notes : tuple of str
        What to keep in mind when reading the scores.
    """

    scores: tuple[Score, ...]
    n_before: int
    n_after: int
    n_judged: int
    how: str
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> Score:
        """The mean over all models, in the first metric."""
        return self.scores[0]

    @property
    def in_headline(self) -> list[Score]:
        """The scores in the metric of the headline."""
        return [score for score in self.scores if score.metric == self.headline.metric]

    @property
    def verdict(self) -> str:
        """In a word: "better", "worse" or "no clear difference"."""
        return self.headline.verdict

    def __str__(self) -> str:
        return f"{self.verdict}: {self.headline}"

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the difference that each model sees, with its interval.

        Parameters
        ----------
        ax : matplotlib axes or None
            The axes to draw on; None makes new ones.

        Returns
        -------
        matplotlib axes
            The axes drawn on.
        """
        from dataworth import plots

        return plots.differences(self.in_headline, ax=ax)


def scored(
    truth: Array, predicted: Mapping[str, Array], names: Sequence[str], numeric: bool
) -> Iterator[Score]:
    """Score predictions: for each metric, the mean over the models and then each of them.

    Parameters
    ----------
    truth : (n_rows,) array
        The targets of the judged rows.
    predicted : mapping of str to array of shape (n_seeds, n_models, n_rows)
        The predictions "before" and "after".
    names : sequence of str
        The names of the models.
    numeric : bool
        Whether targets are numbers.

    Yields
    ------
    Score
        The scores and an interval for their difference.
    """
    groups = [np.flatnonzero(truth == label) for label in np.unique(truth)]
    if numeric:
        groups = [np.arange(truth.size)]
    both = np.stack([predicted["before"], predicted["after"]])
    for metric in (MAE, R2) if numeric else (ACCURACY,):
        rows = _outcomes(both, truth, metric)
        rng = np.random.default_rng(0)
        whole, *draws = (
            _metric(rows, metric, truth, groups, chance) for chance in (None, *[rng] * DRAWS)
        )
        changes = np.array([after - before for before, after in draws])
        for at, name in enumerate([ALL, *names]):
            pick = slice(None) if name == ALL else slice(at - 1, at)
            before, after = whole[:, pick].mean(axis=1).tolist()
            ends = np.quantile(changes[:, pick].mean(axis=1), [0.025, 0.975]).tolist()
            yield Score(name, metric, before, after, after - before, *ends)


def _outcomes(predicted: Array, truth: Array, metric: str) -> Floats:
    """What each prediction adds to a metric: whether it is right, or how far off it is."""
    if metric == ACCURACY:
        return (predicted == truth).astype(np.float64)
    error: Floats = np.abs(predicted - truth)
    return error if metric == MAE else error**2


def _metric(
    rows: Floats,
    metric: str,
    truth: Array,
    groups: Sequence[Ints],
    chance: np.random.Generator | None,
) -> Floats:
    """The metric of each side and model, (2, models), from (2, seeds, models, rows).

    With a generator, rows and seeds are drawn anew. Groups count alike, however many rows they
    have, and each keeps its number of rows.
    """
    weights = np.zeros(truth.size)
    for group in groups:
        weights[group] = _shares(group.size, chance) / len(groups)
    means = np.einsum("s,xsmr,r->xm", _shares(rows.shape[1], chance), rows, weights, optimize=True)
    if metric != R2:
        return means
    spread = weights @ (truth - weights @ truth) ** 2
    return 1.0 - means / spread if spread else np.full_like(means, np.nan)


def _shares(n: int, chance: np.random.Generator | None) -> Floats:
    """How much each of n things counts: all alike, or as often as it is drawn in n draws."""
    drawn = np.arange(n) if chance is None else chance.integers(n, size=n)
    return np.bincount(drawn, minlength=n) / n
