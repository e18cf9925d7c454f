"""Training targets: class labels or numbers, and everything that depends on which they are."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError, InputTypeError
from dataworth.inputs import checks

TASKS = ("auto", "classes", "numbers")  # what targets can be said to be
FEW_CLASSES, MANY_CLASSES = 20, 100
NEARLY = 0.95  # the share of numbers in text that looks like numbers
# What people write in numbers and computers do not.
ODD_IN_NUMBERS = frozenset(",$€£¥%()− \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")
PLAIN_NUMBERS = "Mend or leave out what is no plain number, such as n.a. or $1,234."
DIGITS = 13  # that survive in logarithms of numbers up to 1e150


def are_quantities(y: Array) -> bool:
    """Tell whether numbers look like quantities to predict, rather than like classes.

    Up to 20 different numbers may well be classes. More are quantities if some are fractions.
    Whole numbers are if there are more than 100 of them, or more than one for every ten points, as
    long as they are not 0, 1, 2 and so on with hardly a gap, which is how classes are numbered.

    Parameters
    ----------
    y : ndarray
        Targets of any kind.

    Returns
    -------
    bool
        Whether they look like quantities.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.inputs.targets import are_quantities
    >>> are_quantities(np.arange(500) % 250)  # 250 classes
    False
    >>> are_quantities(1000 * np.arange(500))  # 500 prices
    True
    """
    if y.dtype.kind not in "iuf" or not np.isfinite(y).all():
        return False
    distinct = np.unique(y)
    if distinct.size <= FEW_CLASSES:
        return False
    if (distinct != np.floor(distinct)).any():
        return True
    low, span = float(distinct[0]), float(distinct[-1]) - float(distinct[0]) + 1
    if low in (0, 1) and span <= 1.2 * distinct.size and 2 * distinct.size <= y.size:
        return False
    return distinct.size > MANY_CLASSES or 10 * distinct.size > y.size


def quantities_as_text(y: Array) -> str:
    """Say why targets that look like quantities are text, or nothing if they do not.

    They do if they are text of which nearly all entries, 95 in 100, are numbers that look like
    quantities, and some are not plain ones. Text of plain numbers alone is meant to be classes.

    Parameters
    ----------
    y : ndarray
        Targets of any kind.

    Returns
    -------
    str
        What the targets are, to follow a verb, or "".

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.inputs.targets import quantities_as_text
    >>> quantities_as_text(np.array(["n.a.", *map(str, range(200, 700))]))
    "text: 500 numbers, and 1 entry that is none, such as 'n.a.' in row 0"
    >>> quantities_as_text(np.array(["cat", "dog", "7"]))
    ''
    """
    if y.dtype.kind not in "UO" or not all(isinstance(item, str) for item in y):
        return ""
    read = [checks.written_number(item) for item in y]
    numbers = np.array([number for number in read if number is not None])
    if numbers.size < NEARLY * y.size or not are_quantities(numbers):
        return ""
    strays = [row for row, number in enumerate(read) if number is None]
    if strays:
        few = "1 entry that is" if len(strays) == 1 else f"{len(strays):,} entries that are"
        where = f"{str(y[strays[0]])!r:.60} in row {strays[0]}"
        return f"text: {numbers.size:,} numbers, and {few} none, such as {where}"
    odd = next((item for item in y if set(item) & ODD_IN_NUMBERS), None)
    return "" if odd is None else f"numbers written as text, such as {str(odd)!r:.60}"


def variance(y: Array) -> float:
    """Return the variance of numbers, or 1 if they are all the same.

    Parameters
    ----------
    y : ndarray
        Numbers.

    Returns
    -------
    float
        In what units people are shown what numbers to predict are worth.

    Examples
    --------
    >>> import numpy as np
    >>> from dataworth.inputs.targets import variance
    >>> variance(np.array([1.0, 3.0, 5.0, 7.0])), variance(np.array([0.1, 0.1, 0.1]))
    (5.0, 1.0)
    """
    return 1.0 if y.size == 0 or y.min() == y.max() else float(np.var(y))


def shares_changed(before: Iterable[Any], after: Iterable[Any]) -> str:
    """Say which labels are more or less frequent than before, or nothing if none is by much.

    Parameters
    ----------
    before, after : iterable
        The labels.

    Returns
    -------
    str
        The labels whose share changes by a percentage point or by a tenth of itself, those that
        change most first. Nothing of quantities, also if they are text.

    Examples
    --------
    >>> from dataworth.inputs.targets import shares_changed
    >>> shares_changed("no" * 10 + "n" * 80, "no" * 2 + "n" * 80)
    "Share of labels: 'n' 90.0 % → 97.6 %, 'o' 10.0 % → 2.4 %."
    """
    texts = list(map(str, before))
    numbers = [checks.written_number(text) for text in texts]
    plain = None not in numbers and are_quantities(np.array(numbers, float))
    if plain or quantities_as_text(np.array(texts)):
        return ""
    counts = Counter(texts), Counter(map(str, after))
    sizes = [max(some.total(), 1) for some in counts]
    shares = {
        label: [100 * some[label] / size for some, size in zip(counts, sizes, strict=True)]
        for label in counts[0] | counts[1]
    }
    moved = {label: abs(then - now) for label, (now, then) in shares.items()}
    told = [label for label in moved if moved[label] >= min(1.0, 0.1 * shares[label][0])]
    told = sorted((label for label in told if moved[label]), key=lambda label: -moved[label])
    said = [f"{x!r:.40} {shares[x][0]:.1f} % → {shares[x][1]:.1f} %" for x in told[:6]]
    more = f" and {len(told) - 6} more" if len(told) > 6 else ""
    return f"Share of labels: {', '.join(said)}{more}." if said else ""


class Targets(Protocol):
    """The targets of training points."""

    @property
    def codes(self) -> Array:
        """Class codes, or numbers, as a game takes them."""

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 for numbers."""

    @property
    def chance(self) -> float:
        """The mean utility of predicting all points alike, which knows nothing about them."""

    @property
    def stratified(self) -> bool:
        """Whether each fold should have the same shares of the classes."""

    def given(self) -> Array:
        """Return the targets as they were given."""

    def learnt(self) -> Array:
        """Return the targets as an encoder learns from them."""

    def read(self, y_val: Any, n_points: int) -> Array:
        """Check validation targets and return their codes."""

    def names(self, codes: Array) -> Array:
        """Return the targets that these codes stand for."""

    def part(self, index: Ints) -> "Targets":
        """Return the targets of some of the points; codes count only the classes among them."""

    def with_errors(
        self, n: int, parts: Sequence[Ints | slice], rng: np.random.Generator
    ) -> tuple["Targets", Ints]:
        """Return targets with n random errors, or fewer if so many cannot be had, and where.

        Each class keeps a point in each of these parts of the training points.
        """

    @property
    def ballot(self) -> int:
        """How many numbers a vote on a target has."""

    def counted(self, part: Any, votes: Floats) -> Floats:
        """Return votes that were cast by the codes of a part, by the codes of all."""

    def shares(self, votes: Floats) -> Floats:
        """Return votes of weight 1 each, so that they can be added up; those without stay 0."""

    def favoured(self, votes: Floats, codes: Array) -> Array:
        """Return the codes that votes favour.

        Parameters
        ----------
        votes : (n, ballot) array
            The weight of each class or, for numbers, the weighted sum and the weight.
        codes : (n,) array
            The codes of the points that the votes are about. Each wins a tie, and so a vote
            without any weight; among others the lowest wins.

        Returns
        -------
        (n,) array
            The codes.
        """

    def suggested(self, index: Ints, weights: Floats) -> Any:
        """Return what the points at these positions predict with these weights."""


@dataclass(frozen=True)
class Labels:
    """Class labels."""

    codes: Ints
    classes: Array
    stratified = True

    @classmethod
    def of(cls, y: Any, n_points: int | None) -> Self:
        """Check the labels given to `fit`; `n_points` is the number of rows of X, if known."""
        if y is None:  # in words that scikit-learn looks for
            came, hint = "got None", "In fit, y should be a 1d array."
            raise InputTypeError("y", "be an array of labels", came, hint)
        labels = checks.labels(y, "y", n_points=n_points, of="X")
        classes, codes = np.unique(labels, return_inverse=True)
        return cls(codes.astype(np.int64), classes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.classes.size

    @property
    def chance(self) -> float:
        """The mean utility of an equal share of the vote for each class."""
        return 1.0 / self.n_classes

    def given(self) -> Array:
        """Return the labels as they were given."""
        return self.classes[self.codes]

    def learnt(self) -> Array:
        """Return the labels as they were given."""
        return self.given()

    def read(self, y_val: Any, n_points: int) -> Ints:
        """Check validation labels, which must be known classes, and return their codes."""
        labels = checks.labels(y_val, "y_val", n_points=n_points, of="X_val")
        return checks.encode(labels, self.classes, "y_val")

    def names(self, codes: Array) -> Array:
        """Return the labels that these codes stand for."""
        return self.classes[codes]

    def part(self, index: Ints) -> "Labels":
        """Return the labels of some of the points; codes count only the classes among them."""
        present, codes = np.unique(self.codes[index], return_inverse=True)
        return Labels(codes.astype(np.int64), self.classes[present])

    @property
    def ballot(self) -> int:
        """How many numbers a vote has: one for each class."""
        return self.n_classes

    def counted(self, part: "Labels", votes: Floats) -> Floats:
        """Return votes that were cast by the codes of a part, by the codes of all."""
        if part.n_classes == self.n_classes:
            return votes
        out = np.zeros((votes.shape[0], self.n_classes))
        out[:, np.searchsorted(self.classes, part.classes)] = votes
        return out

    def shares(self, votes: Floats) -> Floats:
        """Return the share of each class in the weight."""
        weight = votes.sum(axis=1, keepdims=True)
        return np.divide(votes, weight, out=np.zeros_like(votes), where=weight > 0.0)

    def favoured(self, votes: Floats, codes: Array) -> Ints:
        """Return the classes with the most weight; the given one wins a tie."""
        best = votes.argmax(axis=1)
        rows = np.arange(codes.size)
        return np.where(votes[rows, codes] == votes[rows, best], codes, best)

    def with_errors(
        self, n: int, parts: Sequence[Ints | slice], rng: np.random.Generator
    ) -> tuple["Labels", Ints]:
        """Change n labels to one of the other classes, each as likely as the next."""
        counts = [np.bincount(self.codes[part], minlength=self.n_classes) for part in parts]
        spare = np.min(counts, axis=0) - 1
        everywhere = np.flatnonzero(spare >= 0)
        codes, changed = self.codes.copy(), list[int]()
        for point in rng.permutation(codes.size).tolist():
            if len(changed) == n:
                break
            others = everywhere[everywhere != codes[point]]
            if spare[codes[point]] > 0 and others.size:
                spare[codes[point]] -= 1
                codes[point] = rng.choice(others)
                changed.append(point)
        return Labels(codes, self.classes), np.array(changed, np.int64)

    def suggested(self, index: Ints, weights: Floats) -> Any:
        """Return the label with the most weight, the first in sorted order if there are several."""
        votes = np.bincount(self.codes[index], weights, self.n_classes)
        return self.classes[int(votes.argmax())]


@dataclass(frozen=True)
class Numbers:
    """Numeric targets."""

    codes: Floats
    n_classes = 0
    stratified = False
    ballot = 2

    @classmethod
    def of(cls, y: Any, n_points: int | None) -> Self:
        """Check the numbers given to `fit`; `n_points` is the number of rows of X, if known."""
        return cls(checks.targets(y, "y", n_points=n_points, of="X"))

    @property
    def chance(self) -> float:
        """The mean utility of the mean."""
        return -float(np.var(self.codes))

    def given(self) -> Floats:
        """Return the numbers as they were given."""
        return self.codes

    def learnt(self) -> Floats:
        """Return the numbers as games take them."""
        return self.codes

    def read(self, y_val: Any, n_points: int) -> Floats:
        """Check validation targets and return them."""
        return checks.targets(y_val, "y_val", n_points=n_points, of="X_val")

    def names(self, codes: Array) -> Array:
        """Return the codes, which are the targets themselves."""
        return codes

    def part(self, index: Ints) -> "Numbers":
        """Return the targets of some of the points."""
        return Numbers(self.codes[index])

    def counted(self, part: "Numbers", votes: Floats) -> Floats:
        """Return the votes as they are."""
        return votes

    def shares(self, votes: Floats) -> Floats:
        """Return weighted means, each with the weight 1."""
        weight = votes[:, 1:]
        return np.divide(votes, weight, out=np.zeros_like(votes), where=weight > 0.0)

    def favoured(self, votes: Floats, codes: Array) -> Floats:
        """Return weighted means, or the given numbers where there is no weight."""
        return np.divide(votes[:, 0], votes[:, 1], out=codes.copy(), where=votes[:, 1] > 0.0)

    def with_errors(
        self, n: int, parts: Sequence[Ints | slice], rng: np.random.Generator
    ) -> tuple["Numbers", Ints]:
        """Give n points the target of another point, drawn from all whose target is different."""
        codes, changed = self.codes, rng.permutation(self.codes.size)[:n]
        if (codes == codes[0]).all():
            return self, changed[:0]
        taken = np.arange(codes.size)
        for point in changed:
            taken[point] = rng.choice(np.flatnonzero(codes != codes[point]))
        return self.part(taken), changed

    def suggested(self, index: Ints, weights: Floats) -> float:
        """Return the weighted mean."""
        return float(weights @ self.codes[index] / weights.sum())


@dataclass(frozen=True)
class Logarithms(Numbers):
    """Positive numbers, of which games see the logarithms and people the numbers themselves."""

    numbers: Floats

    @classmethod
    def of(cls, y: Any, n_points: int | None) -> Self:
        """Check the numbers given to `fit`; `n_points` is the number of rows of X, if known."""
        numbers = _positive(checks.targets(y, "y", n_points=n_points, of="X"), "y")
        return cls(np.log(numbers), numbers)

    def given(self) -> Floats:
        """Return the numbers as they were given."""
        return self.numbers

    def read(self, y_val: Any, n_points: int) -> Floats:
        """Check validation targets and return their logarithms."""
        return np.log(_positive(super().read(y_val, n_points), "y_val"))

    def names(self, codes: Array) -> Floats:
        """Return the numbers that have these logarithms, as given or to as many digits as last."""
        known = dict(zip(self.codes.tolist(), self.numbers.tolist(), strict=True))
        return np.array([known.get(code) or _raised(code) for code in codes.tolist()])

    def part(self, index: Ints) -> "Logarithms":
        """Return the targets of some of the points."""
        return Logarithms(self.codes[index], self.numbers[index])

    def suggested(self, index: Ints, weights: Floats) -> float:
        """Return the weighted geometric mean."""
        return _raised(super().suggested(index, weights))


def _raised(logarithm: float) -> float:
    return float(f"{math.exp(logarithm):.{DIGITS}g}")


def _positive(numbers: Floats, name: str) -> Floats:
    bad = int((numbers <= 0.0).sum())
    if bad:
        came = f"{bad:,} of {numbers.size:,} are 0 or negative"
        raise InputError(name, "hold positive numbers with log=True", came)
    return numbers
