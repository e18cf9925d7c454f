"""Scores before and after: what they are, and how sure their differences are."""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.comparison.rankings import auroc, average_precision
from dataworth.inputs.listings import as_html

ALL = "all models"
ACCURACY, AUROC, PRECISION, MAE, R2 = "balanced accuracy", "AUROC", "average precision", "MAE", "R²"
# Hard predictions of a rare class hardly change: below this part of an even share, which is 20 % of
# the rows with two classes, AUROC is what counts.
RARE = 0.4
DRAWS = 2000  # of the bootstrap


@dataclass(frozen=True)
class Score:
    """What one model scores before and after.

    Attributes
    ----------
    model : str
        The model; "all models" is the mean over them.
    metric : str
        For classes "balanced accuracy" and, where all models have `predict_proba`, "AUROC" (with
        several classes the mean of each against all others) and, with two classes, "average
        precision of" the rarer one; for numbers "MAE" and "R²".
    before, after : float
        The scores, each a mean over the seeds.
    difference : float
        The score after less the score before.
    lower, upper : float
        An interval for the difference that holds 95 % of bootstrap draws, in which the rows judged
        and the seeds are drawn anew, the same ones before and after. What that does to AUROC and
        average precision is counted to first order.
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


@dataclass(frozen=True, repr=False)
class Comparison:
    """What models score before and after, in the metric that counts and in others.

    As text it is the verdict in a line, with other metrics if they clearly say something else; a
    notebook shows all scores and notes.

    Attributes
    ----------
    scores : tuple of Score
        For each metric, the mean over all models and then each model.
    n_before, n_after, n_judged : int
        How many rows there were to learn from, and how many the models were judged on.
    how : str
        How they were judged, in words.
    of_scores, of_columns : tuple of str
        What to keep in mind when reading the scores, and about columns that may be misread.
    """

    scores: tuple[Score, ...]
    n_before: int
    n_after: int
    n_judged: int
    how: str
    of_scores: tuple[str, ...] = ()
    of_columns: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """All that is to be kept in mind, in sentences."""
        return self.of_scores + self.of_columns

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
        said = f"{self.verdict}: {self.headline}"
        over = [score for score in self.scores if score.model == self.headline.model]
        same = (self.verdict, "no clear difference")
        other = [score for score in over[1:] if score.verdict not in same]
        return "; but ".join([said, *(f"{score.verdict}: {score}" for score in other)])

    def __repr__(self) -> str:
        return f"Comparison({self})"

    def _repr_html_(self) -> str:
        """Show the verdict, all scores and what to keep in mind in a notebook."""
        columns = {
            "model": [score.model for score in self.scores],
            "metric": [score.metric for score in self.scores],
            "before": [score.shown(score.before) for score in self.scores],
            "after": [score.shown(score.after) for score in self.scores],
            "difference": [score.shown(score.difference) for score in self.scores],
            "95 % interval": [
                f"{score.shown(score.lower)} to {score.shown(score.upper)}" for score in self.scores
            ],
            "verdict": [score.verdict for score in self.scores],
        }
        rows = f"{self.n_before:,} rows before and {self.n_after:,} after, judged on {self.how}"
        lines = [f"<p>{html.escape(said)}</p>" for said in (str(self), rows, *self.notes)]
        return f"<div>{''.join(lines[:2])}{as_html(columns)}{''.join(lines[2:])}</div>"

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


@dataclass(frozen=True)
class Answers:
    """What models say about the judged rows.

    Attributes
    ----------
    predicted : array of shape (n_seeds, n_models, n_rows)
        Labels or numbers.
    chances : array of shape (n_seeds, n_models, n_rows, n_classes), or None
        The probability of each class that the judged rows have, sorted, if all models say.
    """

    predicted: Array
    chances: Floats | None = None

    def keep(self, place: Any, predicted: Array, chances: Floats | None) -> None:
        """Write down what a model says."""
        self.predicted[place] = predicted
        if self.chances is not None:
            self.chances[place] = chances

    def repeat(self, seed: int, model: int) -> None:
        """Take what a model said with the first seed for what it says with another."""
        for said in (self.predicted, self.chances):
            if said is not None:
                said[seed, model] = said[0, model]


@dataclass(frozen=True)
class Classes:
    """The classes of the judged rows: their names, sorted, and which one each row has."""

    names: Array
    codes: Ints

    @classmethod
    def of(cls, truth: Array) -> Self:
        return cls(*np.unique(truth, return_inverse=True))

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.codes)

    @property
    def rarest(self) -> int:
        return int(np.argmin(self.sizes))

    @property
    def rare(self) -> bool:
        """Whether a class is so rare that hard predictions hardly show what changes."""
        share = self.sizes.min() / self.codes.size
        return bool(len(self.names) > 1 and share < RARE / len(self.names))

    @property
    def note(self) -> str:
        """Why AUROC is in the headline."""
        share = 100 * self.sizes.min() / self.codes.size
        return (
            f"The label {str(self.names[self.rarest])!r:.40} is rare ({share:.1f} % of the judged "
            "rows), so AUROC is in the headline: it shows gains that predicted labels do not."
        )


def scored(
    truth: Array, answers: Mapping[str, Answers], names: Sequence[str], numeric: bool
) -> Iterator[Score]:
    """Score predictions: for each metric, the mean over the models and then each of them.

    Parameters
    ----------
    truth : (n_rows,) array
        The targets of the judged rows.
    answers : mapping of str to Answers
        What models say "before" and "after".
    names : sequence of str
        The names of the models.
    numeric : bool
        Whether targets are numbers.

    Yields
    ------
    Score
        The scores and an interval for their difference.
    """
    sides = [answers["before"], answers["after"]]
    both = np.stack([side.predicted for side in sides])
    if numeric:
        groups = [np.arange(truth.size)]
        error: Floats = np.abs(both - truth)
        added = {MAE: error, R2: error**2}
    else:
        classes = Classes.of(truth)
        groups = [np.flatnonzero(classes.codes == code) for code in range(len(classes.names))]
        added = _of_classes(classes, (both == truth).astype(np.float64), [s.chances for s in sides])
    for metric, rows in added.items():
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


def _of_classes(
    classes: Classes, hits: Floats, chances: Sequence[Floats | None]
) -> dict[str, Floats]:
    """What each row adds to each metric of classes, the one of the headline first."""
    known = [some for some in chances if some is not None]
    if len(known) < 2 or len(classes.names) < 2:
        return {ACCURACY: hits}
    both, rarest = np.stack(known), classes.rarest

    def each(added: Callable[[Floats], Floats]) -> Floats:
        return np.array([[[added(rows) for rows in seed] for seed in side] for side in both])

    found = {AUROC: each(lambda rows: auroc(rows, classes.codes))}
    found = found | {ACCURACY: hits} if classes.rare else {ACCURACY: hits} | found
    if len(classes.names) == 2:
        metric = f"{PRECISION} of {str(classes.names[rarest])!r:.40}"
        wanted = classes.codes == rarest
        found[metric] = each(lambda rows: average_precision(rows[:, rarest], wanted))
    return found


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
