"""The result for owners: what whole data sets are worth, and what each owner is paid."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from dataworth.arrays import Array, Floats, Ints
from dataworth.errors import InputError, InputTypeError
from dataworth.files import tables
from dataworth.files import values as files
from dataworth.files.atomic import atomic
from dataworth.inputs import checks, frames

ARRAYS = ("owners", "values", "n_points", "standard_error", "sampling_error", "point_sums")
# So many standard errors on either side of a mean hold it in 95 of 100 cases.
NORMAL = 1.959963984540054
NEGATIVE = ("charge", "zero")
# Values that add up to less than this share of their sizes are as good as 0 together: amounts would
# be enormous, and decided by rounding errors.
CANCELLED = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class OwnerValues:
    """What each owner's data set is worth as a whole.

    Attributes
    ----------
    owners : (G,) array
        The owners, sorted: text by character code, so that capitals come first.
    values : (G,) array of float64
        Their values: the mean over the validation points of the Shapley value (or of the semivalue
        asked for) in the game whose players are the owners. Shapley values add up to
        U(all) - U(none).
    n_points : (G,) array of int
        How many training points each owner has.
    standard_error : (G,) array of float64
        How much the values would vary with other validation points like these: the standard
        deviation over the validation points, divided by the root of their number. NaN if there is
        only one. If values are sampled, it includes that. With a list of encoders it is the mean
        over them, and the true one is at most that.
    sampling_error : (G,) array of float64
        How much of this comes from sampling permutations; 0 if values are exact.
    point_sums : (G,) array of float64
        What the owner's points are worth together in the game whose players are points. Never
        sampled.
    exact : bool
        Whether no permutations were sampled. Values are then exact for these validation points and
        for weights as rounded by `n_bits`, up to `weight_error`, if the search found all neighbours
        (see `recall`).
    params : mapping
        The parameters of the valuator, not those of `value_owners`; functions appear under their
        names.
    n_validation : int
        The number of validation points.
    weight_error : float
        As in `DataValues`.
    version : str
        The version of dataworth that computed the values.
    recall : float or None
        As in `DataValues`.
    origin : Origin or None
        The library that the training table came from.
    scale : float
        As in `DataValues`.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]], ["a", "a", "b", "b"]
    >>> valuator = KNNShapley(n_neighbors=1, weights="uniform").fit(X, y)
    >>> values = valuator.value_owners(["Ann", "Bob", "Bob", "Bob"], [[0.0], [1.2]], ["a", "b"])
    >>> dict(zip(values.owners.tolist(), values.payouts(100).tolist()))
    {'Ann': 0.0, 'Bob': 100.0}
    """

    owners: Array
    values: Floats
    n_points: Ints
    standard_error: Floats
    sampling_error: Floats
    point_sums: Floats
    exact: bool
    params: Mapping[str, Any]
    n_validation: int
    weight_error: float
    version: str
    recall: float | None = None
    origin: frames.Origin | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        for name in ARRAYS:
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "params": dict(self.params)}  # a read-only view does not travel

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return self.values.size

    def __repr__(self) -> str:
        how = "exact" if self.exact else "sampled"
        return (
            f"OwnerValues({len(self)} owners, {int(self.n_points.sum())} points, "
            f"{self.n_validation} validation points, {how}, "
            f"sum {math.fsum(self.values) / self.scale:.6g})"
        )

    @property
    def lower(self) -> Floats:
        """The lower end of a 95 % interval for the value with very many such validation points.

        It takes the mean over the validation points to be normally distributed.
        """
        return self.values - NORMAL * self.standard_error

    @property
    def upper(self) -> Floats:
        """The upper end of this interval."""
        return self.values + NORMAL * self.standard_error

    @property
    def share(self) -> Floats:
        """The values as shares of their sum.

        They add up to 1. An owner whose data do harm has a negative share, and the others together
        then have more than 1. If values add up to 0, shares are NaN; if they add up to less, signs
        are the other way round, and nothing should be paid by them.
        """
        return _shares(self.values)

    @property
    def point_share(self) -> Floats:
        """The same for the sums of point values."""
        return _shares(self.point_sums)

    @property
    def best_first(self) -> Ints:
        """The positions of the owners, the most valuable first; ties keep their order."""
        return np.argsort(-self.values, kind="stable")

    def payouts(self, budget: Any, *, negative: str = "charge") -> Floats:
        """Share out a budget by value, in amounts that add up to it to the cent.

        Values are those of owners as players, not `point_sums`. Each amount is rounded down to a
        cent, negative ones away from 0. The cents that are left go, one each, to those who lost
        most by that and, where that is equal to a millionth of a cent, to the first in `owners`.
        Amounts are computed in fractions, so that they are exact before they are rounded.

        Parameters
        ----------
        budget : number or str
            The budget, in whole cents: 10000, or "99.95".
        negative : {"charge", "zero"}
            What becomes of owners with negative values. `"charge"`: their amounts are negative,
            without limit, and the others together get more than the budget. `"zero"`: they get
            nothing, and the others share the budget.

        Returns
        -------
        (G,) array of float64
            The amounts, in the order of `owners` (a table has the most valuable first). There is
            an error if values do not add up to more than 0, or to next to nothing beside what they
            are; with `"zero"`, if none is positive.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> valuator = KNNShapley(n_neighbors=3, weights="uniform")
        >>> valuator = valuator.fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
        >>> owners = valuator.value_owners(["Ann", "Bob", "Cleo"], [[0.5]], ["a"])
        >>> owners.payouts(100)
        array([ 183.34, -266.67,  183.33])
        >>> owners.payouts(100, negative="zero")
        array([50.,  0., 50.])
        """
        total_cents = cents(budget)
        checks.choice(negative, "negative", NEGATIVE)
        values = self.values if negative == "charge" else np.maximum(self.values, 0.0)
        total = math.fsum(values)
        if not total > CANCELLED * math.fsum(np.abs(values)):
            raise InputError(
                "budget",
                "be shared among owners who are worth something together",
                f"the values of all owners add up to {total:.6g}",
            )
        parts = [Fraction(value) for value in values.tolist()]
        each = total_cents / sum(parts, Fraction())
        exact = [each * part for part in parts]
        whole = [math.floor(amount) for amount in exact]
        lost = [round((amount - floor) * 10**6) for amount, floor in zip(exact, whole, strict=True)]
        order = sorted(range(len(whole)), key=lambda i: -lost[i])
        for place in order[: total_cents - sum(whole)]:
            whole[place] += 1
        return np.array(whole) / 100.0

    def columns(self, budget: Any = None) -> dict[str, Array]:
        """Arrange the result as the columns of a table, the most valuable owner first.

        Parameters
        ----------
        budget : number, str or None
            If given, a column `amount` has `payouts(budget)`, with negative values charged.

        Returns
        -------
        dict
            The columns owner, n_points, value, share, standard_error, lower, upper, point_sum,
            point_share and, with a budget, amount; sampling_error if values were sampled.
        """
        found: dict[str, Array] = {
            "owner": self.owners,
            "n_points": self.n_points,
            "value": self.values,
            "share": self.share,
            "standard_error": self.standard_error,
            "lower": self.lower,
            "upper": self.upper,
            "point_sum": self.point_sums,
            "point_share": self.point_share,
        }
        if not self.exact:
            found["sampling_error"] = self.sampling_error
        if budget is not None:
            found["amount"] = self.payouts(budget)
        return {name: column[self.best_first] for name, column in found.items()}

    def to_frame(self, library: str | None = None, *, budget: Any = None) -> Any:
        """Make a data frame with the columns of `columns`, the most valuable owner first.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"} or None
            None takes the library of the training table or, for arrays, the first one that is
            installed.
        budget : number, str or None
            If given, a column `amount` has `payouts(budget)`, with negative values charged.

        Returns
        -------
        data frame
            One row per owner. In pandas, the owners are the index; in others, they are the column
            `index`.
        """
        columns = self.columns(budget)
        owners = columns.pop("owner")
        origin = None if self.origin is None else frames.Origin(self.origin.library)
        return frames.to_frame(columns, owners, origin, library)

    def save(self, path: str | os.PathLike[str], *, budget: Any = None) -> None:
        """Write the columns of `columns` to a CSV or TSV file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The file: .csv or .tsv.
        budget : number, str or None
            If given, a column `amount` has `payouts(budget)`, with negative values charged.
        """
        ending = tables.check_ending(path, tables.SEPARATORS, "path")
        columns = self.columns(budget)
        with atomic(path) as file:
            files.write_csv(file, columns, tables.SEPARATORS[ending])


def _shares(values: Floats) -> Floats:
    total = math.fsum(values)
    return values / total if total else np.full(values.size, math.nan)


def cents(budget: Any) -> int:
    """Return a budget in cents; it must be a positive number of them."""
    wanted = "be a positive amount in whole cents"
    if isinstance(budget, bool | np.bool_):
        raise InputTypeError("budget", wanted, f"got {budget!r}")
    try:
        amount = Decimal(str(budget)) * 100
        whole = int(amount)
    except (InvalidOperation, ValueError, OverflowError):
        raise InputTypeError("budget", wanted, f"got {budget!r:.60}") from None
    if whole != amount or whole <= 0 or whole > 2**53:
        raise InputError("budget", wanted, f"got {budget!r:.60}")
    return whole
