"""The ruler: errors that we plant ourselves, to see where errors land among the scores.

Some labels are changed at random and everything is valued and scored again, a few times. Each
planted error then has a rank: how many of the other points look worse. Everything else follows from
these ranks.
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import Any, Self

import numpy as np

from dataworth.arrays import Floats, Ints
from dataworth.inputs import checks

SHARE_PLANTED, LEAST_PLANTED, MOST_PLANTED = 0.05, 20, 1000
# What is concluded from some of the planted errors allows for chance, 95 times in 100: the least of
# many noisy ratios would be far too low, as the first few ranks show something or other by chance.
Z = 1.645
# Below this AUROC, and above this number of errors per point, the estimate is of no use to anybody.
LEAST_AUROC, LARGEST_RATIO = 0.65, 0.75


def n_planted(n_points: int) -> int:
    """Return how many errors to plant: some, but not so many that the data become others.

    Examples
    --------
    >>> from dataworth.suspects.ruler import n_planted
    >>> n_planted(10), n_planted(200), n_planted(2000), n_planted(10**6)
    (2, 20, 100, 1000)
    """
    wanted = max(round(SHARE_PLANTED * n_points), LEAST_PLANTED)
    return min(wanted, n_points // 4, MOST_PLANTED)


def ranks(scores: Floats, planted: Ints) -> tuple[int, ...]:
    """Return how many points that are not planted come before each planted one, sorted.

    Parameters
    ----------
    scores : (n_train,) array
        The scores; the worst come first, and ties by position.
    planted : (n_planted,) array of int
        The positions of the planted errors.

    Returns
    -------
    tuple of int
        One rank for each planted error.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.suspects.ruler import ranks
    >>> ranks(np.array([0.3, 0.1, 0.2, 0.0]), np.array([2, 1]))
    (1, 1)
    """
    is_planted = np.zeros(scores.size, dtype=bool)
    is_planted[planted] = True
    in_order = is_planted[np.argsort(scores, kind="stable")]
    return tuple(np.cumsum(~in_order)[in_order].tolist())


@dataclass(frozen=True)
class Ruler:
    """How far scores can be trusted, measured on errors that were planted at random.

    Attributes
    ----------
    n_points : int
        The number of training points.
    n_classes : int
        The number of classes; 0 for numbers to predict.
    ranks : tuple of tuple of int
        For each repeat, how many of the points that were not planted look worse than each planted
        error, in ascending order.

    Examples
    --------
    >>> from dataworth.suspects.ruler import Ruler
    >>> ruler = Ruler(1000, 10, ranks=((0, 2, 3, 3, 5, 9, 14, 30), (0, 1, 4, 4, 8, 8, 12, 70)))
    >>> print(ruler)
    At most about 24 of 1,000 labels look wrong; the 24 worst rows hold about 88 % of such errors.
    >>> round(ruler.recall(10), 2), round(ruler.auroc, 2)
    (0.69, 0.99)
    """

    n_points: int
    n_classes: int
    ranks: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return self.sentence

    @property
    def n_repeats(self) -> int:
        """How often errors were planted."""
        return len(self.ranks)

    @cached_property
    def _depths(self) -> Floats:
        """The share of the other points that look worse than each planted error, sorted."""
        each = [np.array(some) / (self.n_points - len(some)) for some in self.ranks]
        return np.sort(np.concatenate(each))

    @property
    def auroc(self) -> float:
        """How often a planted error looks worse than another point: 0.5 is mere chance."""
        return float(1.0 - self._depths.mean())

    @property
    def tells(self) -> bool:
        """Whether scores tell planted errors from other points well enough to count errors."""
        return self._separates and self._ratio <= LARGEST_RATIO

    @property
    def _separates(self) -> bool:
        error = float(self._depths.std()) / sqrt(self._depths.size)
        return self.auroc - Z * error >= LEAST_AUROC

    @cached_property
    def _ratio(self) -> float:
        """The most errors, per point, that the planted ones allow.

        Go down to any rank: if errors are as easy to find as planted ones, a known share of them is
        among the points so far, and these errors cannot be more than the points. The least that any
        rank allows is what all ranks allow.
        """
        size = self._depths.size
        depths, counts = np.unique(self._depths, return_counts=True)
        share = _lower_end(np.cumsum(counts) / size, size)
        others = self.n_points - size / self.n_repeats
        found = depths * others  # points so far, which may all be errors
        # The largest e that fits: by chance, only e share - Z √(e share (1 - share)) are found.
        noise = Z * np.sqrt(share * (1.0 - share))
        errors = ((noise + np.sqrt(noise**2 + 4.0 * share * found)) / (2.0 * share)) ** 2
        return float(errors.min() / others)

    @property
    def error_rate(self) -> float | None:
        """An upper estimate of the share of wrong labels; None if the ruler cannot tell.

        It is near the truth if the worst points are errors one and all, and too high if right
        labels look as wrong as errors do, as where classes overlap.
        """
        if not self.tells:
            return None
        if not self.n_classes:
            return self._ratio
        # A planted label that replaced a wrong one may be the right one: planted errors are easier
        # to find than they seem, and the more so the more labels are wrong.
        return self._ratio / (1.0 + self._ratio / (self.n_classes - 1))

    @property
    def n_errors(self) -> int | None:
        """An upper estimate of the number of wrong labels; None if the ruler cannot tell."""
        return None if self.error_rate is None else ceil(self.error_rate * self.n_points)

    @property
    def cutoff(self) -> int | None:
        """How many of the worst points to look at; None if the ruler cannot tell.

        They are as many as there are wrong labels at most. In a perfect ranking they would be all
        of these; in a real one, about as many errors are missed as right labels are looked at.
        """
        return self.n_errors

    def recall(self, n: int) -> float:
        """Return the share of random errors that the n worst points hold.

        Parameters
        ----------
        n : int
            How many points, from 0 to all.

        Returns
        -------
        float
            The mean over the repeats. In so far as planted labels replaced wrong ones and may be
            right, it is corrected, by `error_rate`.
        """
        return float(np.mean(self._recalls(n)))

    def spread(self, n: int) -> float:
        """Return the standard deviation of the recall over the repeats; NaN with only one.

        Parameters
        ----------
        n : int
            As in `recall`.
        """
        return float(np.std(self._recalls(n), ddof=1)) if self.n_repeats > 1 else float("nan")

    def _recalls(self, n: int) -> Floats:
        """The recall in each repeat."""
        n = checks.integer(n, "n", least=0, most=self.n_points)
        # An error is one of n_points, and a planted one has come on top of fewer, so ranks stretch.
        deepest = [(n - 1) * (self.n_points - len(r)) // (self.n_points - 1) for r in self.ranks]
        seen = np.array(
            [
                np.searchsorted(some, rank, side="right") / len(some)
                for some, rank in zip(self.ranks, deepest, strict=True)
            ]
        )
        rate = self.error_rate
        if rate is None or not self.n_classes:
            return seen
        # seen = (1 - right) recall + right passed, and n / n_points = rate recall + (1 - rate)
        # passed, where `right` is the share of planted labels that are right, and `passed` the
        # share of right labels among all that lie in the n points.
        right = rate / (self.n_classes - 1)
        recall = (seen * (1.0 - rate) - right * n / self.n_points) / (1.0 - rate - right)
        return np.clip(recall, 0.0, 1.0)

    @property
    def sentence(self) -> str:
        """How many labels look wrong, in words."""
        what = "labels" if self.n_classes else "targets"
        n = self.n_errors
        if n is None and self._separates:
            size = self._depths.size
            count = "one planted error" if size == 1 else f"{size:,} planted errors"
            return f"How many {what} are wrong cannot be told from {count}."
        if n is None:
            return (
                f"How many {what} are wrong cannot be told: errors planted at random hardly look "
                f"worse than other rows (AUROC {self.auroc:.2f})."
            )
        some = "the worst row holds" if n == 1 else f"the {n:,} worst rows hold"
        return (
            f"At most about {n:,} of {self.n_points:,} {what} look{'s' * (n == 1)} wrong; {some} "
            f"about {100 * self.recall(n):.0f} % of such errors."
        )

    def plain(self) -> dict[str, Any]:
        """Return numbers and lists that JSON can hold; `of` makes a ruler of them."""
        return {**asdict(self), "ranks": [list(some) for some in self.ranks]}

    @classmethod
    def of(cls, plain: Any) -> Self:
        """Make a ruler of what `plain` returned; a ValueError says that it did not."""
        try:
            made = cls(**{**plain, "ranks": tuple(tuple(some) for some in plain["ranks"])})
        except (TypeError, KeyError):
            raise ValueError("its ruler is none") from None
        numbers = (made.n_points, made.n_classes, *(k for some in made.ranks for k in some))
        if not (
            all(type(number) is int and number >= 0 for number in numbers)
            and made.n_classes != 1
            and made.ranks
            and all(
                0 < len(some) < made.n_points
                and some == tuple(sorted(some))
                and some[-1] <= made.n_points - len(some)
                for some in made.ranks
            )
        ):
            raise ValueError("its ruler does not fit")
        return made


def _lower_end(share: Floats, size: int) -> Floats:
    """Return the lower end of Wilson's interval for shares that were seen in `size` draws."""
    middle = share + Z**2 / (2 * size)
    return (middle - Z * np.sqrt(share * (1 - share) / size + (Z / (2 * size)) ** 2)) / (
        1 + Z**2 / size
    )
