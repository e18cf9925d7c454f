"""The result: values with all that is needed to read, compare and keep them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from dataworth.arrays import Array, Flags, Floats, Ints
from dataworth.errors import InputError
from dataworth.files import values as files
from dataworth.games.registry import GAMES
from dataworth.inputs import checks, frames
from dataworth.inputs.groups import by
from dataworth.inputs.listings import listing
from dataworth.inputs.targets import variance
from dataworth.notes import Notes
from dataworth.suspects import scores
from dataworth.suspects.labels import one_sided
from dataworth.suspects.ruler import Ruler


@dataclass(frozen=True, eq=False, repr=False)
class DataValues:
    """What each training point is worth.

    Attributes
    ----------
    values : (n_train,) array of float64
        The values in the order of the training points: the mean over the validation points of the
        Shapley value, or of the semivalue asked for. Read the order first: how negative the values
        of harmless points are depends on the game (Shapley values add up to U(all) - U(none)).
    lower, upper : (n_train,) array of float64
        An interval that holds the exact value for certain, up to rounding. Both ends equal the
        value except with `max_rank`, with real weights, or with a graph in which weights do not
        vanish. With an approximate search the interval is certain only if its recall is 1.
    index : (n_train,) array
        The index of a pandas frame, else the positions 0 to n_train - 1. Labels that a plain array
        cannot hold (several levels, time zones, mixed kinds) are kept as text.
    labels : (n_train,) array
        The training labels or, in regression, the targets as they were given.
    params : mapping
        The parameters of the valuator; functions appear under their names.
    n_validation : int
        The number of validation points.
    weight_error : float
        With real weights, the most that a value of one validation point can be off because a sum
        of exponentials stands in for the division, in units of the utility (squared targets for
        regression); 0 with rounded weights.
    version : str
        The version of dataworth that computed the values.
    recall : float or None
        With an approximate search, the share of the nearest training points that it found for up
        to 32 of the validation points; else None.
    origin : Origin or None
        The library that the training table came from, and its index; None for arrays. A file keeps
        only the library.
    agreement : (n_train,) array of float64 or None
        How well the others predict each point, if training points judged each other (leave-one-out
        and cross-valuation): U of the points that it judged and that vote on it, in the units of
        the game, such as the share of its label in their weight. All points that have weight vote
        on labels if weights are automatic, and all that a forest weighs; otherwise its K nearest
        do. NaN for a point that never judged, and the mean for one that judged several times. With
        `max_rank`, a graph or an approximate search, only points that were ranked or found have a
        vote. None if validation points came from outside.
    suggested : (n_train,) array or None
        The label that those who vote give most weight to (the point's own label if none has more,
        else the first in sorted order), or the weighted mean of their targets. The point's own for
        one that never judged, or whose neighbours have no weight. None as for `agreement`.
    by_encoder : mapping or None
        With a list of encoders, the values in the game of each, by the name of the encoder. Values,
        bounds, `agreement` and `weight_error` are means over the encoders, each of which counts by
        the fourth power of what points gain with it, and `suggested` is what the mean of their
        votes favours. None without a list.
    notes : Notes or None
        Which rows are copies of others, and which are far from all others. None if the rows were
        not in memory, or come from a file of values, which does not keep them.
    ruler : Ruler or None
        How many labels look wrong, and how far the ranking of suspects can be trusted, measured on
        planted errors; None unless it was asked for, as by `value(ruler=3)`.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> values = KNNShapley(n_neighbors=2).fit(X, y).value([[0.0], [1.0]], ["a", "b"])
    >>> values.worst(1)["index"]
    array([4])
    """

    values: Floats
    lower: Floats
    upper: Floats
    index: Array
    labels: Array
    params: Mapping[str, Any]
    n_validation: int
    weight_error: float
    version: str
    recall: float | None = None
    origin: frames.Origin | None = None
    agreement: Floats | None = None
    suggested: Array | None = None
    by_encoder: Mapping[str, Floats] | None = None
    notes: Notes | None = None
    ruler: Ruler | None = None

    def __post_init__(self) -> None:
        for name in self._known():
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)
        object.__setattr__(self, "params", MappingProxyType(dict(self.params)))
        if self.by_encoder is not None:
            views = {name: values.view() for name, values in self.by_encoder.items()}
            for view in views.values():
                view.flags.writeable = False
            object.__setattr__(self, "by_encoder", MappingProxyType(views))

    def _known(self) -> list[str]:
        """Return the names of the arrays that there are."""
        optional = [name for name in files.OPTIONAL if getattr(self, name) is not None]
        return [*files.ARRAYS, *optional]

    def __getstate__(self) -> dict[str, Any]:
        by = None if self.by_encoder is None else dict(self.by_encoder)
        # Read-only views do not travel.
        return {**self.__dict__, "params": dict(self.params), "by_encoder": by}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return self.values.size

    def __repr__(self) -> str:
        return f"DataValues({' '.join(self.facts()).rstrip('.')})"

    def _repr_html_(self) -> str:
        from dataworth import notebook

        return notebook.shown(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is None:
            return np.asarray(self.values, dtype)
        return np.array(self.values, dtype, copy=copy)

    def facts(self) -> list[str]:
        """Say in a few sentences what these values are, the most important first.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> values = KNNShapley(n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"]).value([[0]], ["a"])
        >>> values.facts()
        ['2 points, judged by 1 validation point; values from 0 to 0.5.']
        """
        points, judges = len(self), self.n_validation
        said = f"{points:,} point{'s' * (points != 1)}"
        if self.agreement is not None:
            said += ", judged by each other"
        elif judges:
            said += f", judged by {judges:,} validation point{'s' * (judges != 1)}"
        low, high = (end / self.scale for end in (self.values.min(), self.values.max()))
        first = [] if self.ruler is None else [self.ruler.sentence]
        first += filter(None, [self.one_sided, self.far_off_said])
        return [*first, f"{said}; values from {low:.4g} to {high:.4g}{self.unit}."]

    @property
    def one_sided(self) -> str:
        """A sentence if nearly all suspects up to the ruler's cut-off have one label, else ""."""
        cutoff = None if self.ruler is None or self.numeric else self.ruler.cutoff
        return "" if cutoff is None else one_sided(self.labels, self.suspects_first[:cutoff])

    @property
    def far_off(self) -> Flags:
        """Which targets of a regression are far from what the others say.

        Their errors are more than three times the range of the middle half of all errors above
        that half. No labels are, and no targets of which nobody says anything.
        """
        if self.agreement is None or self.suggested is None or not self.numeric:
            return np.zeros(len(self), bool)
        far: Flags = scores.far_off(self.agreement) & (self.suggested != self.labels)
        return far

    @property
    def far_off_said(self) -> str:
        """A sentence if targets are far from what the others say, else ""."""
        n = int(self.far_off.sum())
        some = "1 target is" if n == 1 else f"{n:,} targets are"
        return f"{some} far from what the others say." if n else ""

    @property
    def order(self) -> Ints:
        """The positions of the points, the least valuable first; ties keep the training order."""
        return np.argsort(self.values, kind="stable")

    @property
    def best_first(self) -> Ints:
        """The positions of the points, the most valuable first; ties keep the training order."""
        return np.argsort(-self.values, kind="stable")

    @property
    def score(self) -> Floats:
        """How wrong the label of each point looks; lower is more suspect.

        This is no Shapley value: it is the value and the agreement, each less its mean and divided
        by its standard deviation over the training points, added up. Where agreement is not known,
        the value alone counts.
        """
        return scores.score(self.values, self.agreement)

    @property
    def suspects_first(self) -> Ints:
        """The positions of the points by their score, the most suspect first; ties by position.

        Without agreement this is `order`.
        """
        # Scores of values that differ by next to nothing may be the same.
        return self.order if self.agreement is None else np.argsort(self.score, kind="stable")

    @property
    def numeric(self) -> bool:
        """Whether the targets are numbers, not labels.

        The game decides. A CSV file does not keep it: then fractions are taken for numbers.
        """
        game = self.params.get("game")
        return self.labels.dtype.kind == "f" if game is None else is_numeric(game)

    @property
    def scale(self) -> float:
        """What to divide values by before people read them: 1, or the variance of the targets.

        Values of a regression are in squared units of its targets. As shares of their variance they
        say how much of it a point explains, and their sum is close to the R² of the neighbours.
        With `log=True` it is the variance of the logarithms. A CSV file does not say which, and its
        values are shown as they are.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [10.0, 11.0, 12.0, 13.0]
        >>> values = KNNShapley(game="regression", n_neighbors=1).fit(X, y).value([[0.1]], [10.0])
        >>> values.scale
        1.25
        >>> values.facts()
        ["4 points, judged by 1 validation point; values from 0 to 1.3 of the targets' variance."]
        """
        if not self.unit:
            return 1.0
        return variance(np.log(self.labels) if self.params.get("log") else self.labels)

    @property
    def unit(self) -> str:
        """The words that say what values are shares of, to be put behind a number."""
        if not self.numeric or "game" not in self.params:
            return ""
        return f" of the {'logarithms' if self.params.get('log') else 'targets'}' variance"

    def worst(self, n: int = 10) -> Any:
        """List the n least valuable points, or all points if there are fewer.

        Parameters
        ----------
        n : int
            How many points.

        Returns
        -------
        data frame or structured array
            The points with the columns index, value and label, the least valuable first; ties keep
            the training order. It is a frame of the library that the training table came from, and
            for arrays a structured array that is printed as a table. `table["index"]` names the
            points in either, and `explain` takes the table as it is.
        """
        return self._table(self.order, n)

    def best(self, n: int = 10) -> Any:
        """List the n most valuable points, or all points if there are fewer.

        Parameters
        ----------
        n : int
            How many points.

        Returns
        -------
        data frame or structured array
            As `worst`, but with the most valuable first.
        """
        return self._table(self.best_first, n)

    def suspects(self, n: int | None = None) -> Any:
        """List the n points whose labels look wrong most, or all points if there are fewer.

        Parameters
        ----------
        n : int or None
            How many points. None leaves it to the ruler: as many as there are wrong labels at
            most, which needs values that were computed with one.

        Returns
        -------
        data frame or structured array
            As `worst`, with the columns index, score (lower is more suspect), label, suggested,
            value and agreement, the most suspect first; ties keep the training order. If
            validation points came from outside, agreement and suggested labels are not known: the
            table is without them, and the value alone ranks.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
        >>> values = KNNShapley(n_neighbors=2).fit(X, y).value()
        >>> values.suspects(1)[["index", "label", "suggested"]].tolist()
        [(4, 'b', 'a')]
        """
        if n is None:
            n = self._cutoff()
        columns = {
            "index": self.index,
            "score": self.score,
            "label": self.labels,
            "suggested": self.suggested,
            "value": self.values,
            "agreement": self.agreement,
        }
        known = {name: column for name, column in columns.items() if column is not None}
        return self._listed(known, self.suspects_first, n)

    def _cutoff(self) -> int:
        """Return how many points the ruler says to look at."""
        if self.ruler is None:
            hint = "Give n, or let value(ruler=3) measure how many labels look wrong."
            raise InputError("n", "be a whole number for values without a ruler", "got None", hint)
        if self.ruler.cutoff is None:
            what = "targets" if self.numeric else "labels"
            wanted = f"be a whole number if the ruler cannot tell how many {what} are wrong"
            raise InputError("n", wanted, "got None", self.far_off_said)
        return self.ruler.cutoff

    def _table(self, order: Ints, n: int) -> Any:
        columns = {"index": self.index, "value": self.values, "label": self.labels}
        return self._listed(columns, order, n)

    def _listed(self, columns: Mapping[str, Array], order: Ints, n: int) -> Any:
        """Arrange the first n points in this order as a table of the library that came in."""
        chosen = order[: checks.integer(n, "n", least=0)]
        return listing({name: column[chosen] for name, column in columns.items()}, self.origin)

    def by(self, groups: Any) -> Any:
        """Add values up by group, such as the owners of the data, the largest sum first.

        Parameters
        ----------
        groups : (n_train,) array or series
            The group of each training point: strings, integers or booleans, none of them missing.

        Returns
        -------
        data frame or structured array
            As `worst`, one row per group with the columns group, count, sum, mean, lower and upper
            (which hold the exact sum for certain), and share: the sum as a share of the sum of all
            values. Shares add up to 1, but if some sums are negative and others not, shares are
            negative or more than 1: decide first whether you take money from owners whose data does
            harm. If all values add up to 0, shares are NaN. Values can be added up in this way in
            every game; only Shapley values also add up to U(all) - U(none).

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> X, y = [[0.0], [0.1], [1.0], [1.1]], ["a", "a", "b", "b"]
        >>> values = KNNShapley(n_neighbors=1).fit(X, y).value([[0.0], [1.2]], ["a", "b"])
        >>> table = values.by(["Ann", "Bob", "Bob", "Bob"])
        >>> table["group"].tolist(), table["share"].round(6).tolist()
        (['Bob', 'Ann'], [0.75, 0.25])
        """
        return by(self.values, self.lower, self.upper, groups, self.origin)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw how the values are spread, by class if there are few.

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

        return plots.distribution(self, ax=ax)

    def plot_classes(self, *, ax: Any = None) -> Any:
        """Draw the values of each class.

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

        return plots.by_class(self, ax=ax)

    def plot_detection(self, bad: Any, *, ax: Any = None) -> Any:
        """Draw how fast you find known bad points by going from the least valuable point on.

        `dataworth.plots.detection_curve` has the numbers.

        Parameters
        ----------
        bad : (n_train,) array of bool
            True for each bad point.
        ax : matplotlib axes or None
            The axes to draw on; None makes new ones.

        Returns
        -------
        matplotlib axes
            The axes drawn on.
        """
        from dataworth import plots

        return plots.detection(self, bad, ax=ax)

    def plot_removal(
        self, X: Any, y: Any, X_test: Any, y_test: Any, *, ax: Any = None, **options: Any
    ) -> Any:
        """Draw the score of a model as the least valuable, the most valuable or random points go.

        `dataworth.plots.removal_curve` has the numbers.

        Parameters
        ----------
        X, y : array or data frame
            The training points that were valued.
        X_test, y_test : array or data frame
            Points to score the model on.
        ax : matplotlib axes or None
            The axes to draw on; None makes new ones.
        **options
            `model`, `fractions` and `progress`, as in `dataworth.plots.removal_curve`, and
            `cutoff`: how many points you mean to remove, which a line marks.

        Returns
        -------
        matplotlib axes
            The axes drawn on.
        """
        from dataworth import plots

        return plots.removal(self, X, y, X_test, y_test, ax=ax, **options)

    def to_frame(self, library: str | None = None) -> Any:
        """Make a data frame with the columns value, lower, upper and label, and the notes.

        If they are known, the columns agreement, suggested and score follow, and with a ruler that
        can tell, suspect: whether a point is among those that `suspects` lists.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"} or None
            None takes the library of the training table or, for arrays, the first one that is
            installed.

        Returns
        -------
        data frame
            One row per training point. A frame of pandas has the index of the training table, the
            others have a column `index`. With `notes`, more columns are duplicate_of (the index of
            the first row with the same features), conflict and outlier.

        Examples
        --------
        >>> from dataworth import KNNShapley
        >>> values = KNNShapley(n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"]).value([[0]], ["a"])
        >>> values.to_frame("pandas")
           value  lower  upper label duplicate_of  conflict  outlier
        0    0.5    0.5    0.5     a         None     False    False
        1    0.0    0.0    0.0     b         None     False    False
        """
        columns = {"value": self.values, "lower": self.lower, "upper": self.upper}
        columns["label"] = self.labels
        if self.agreement is not None and self.suggested is not None:
            columns |= {"agreement": self.agreement, "suggested": self.suggested}
        columns |= self._ranking()
        if self.notes is not None:
            columns |= self.notes.columns(self.index)
        return frames.to_frame(columns, self.index, self.origin, library)

    def _ranking(self) -> dict[str, Array]:
        """Return the score of each point, and whether the ruler says to look at it, if known."""
        if self.agreement is None:
            return {}
        if self.ruler is None or self.ruler.cutoff is None:
            return {"score": self.score}
        suspect = np.zeros(len(self), dtype=bool)
        suspect[self.suspects_first[: self.ruler.cutoff]] = True
        return {"score": self.score, "suspect": suspect}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all.

        Parameters
        ----------
        path : str or path
            The file. The ending of its name tells the format: .npz, or none, is a numpy archive
            with JSON inside; .parquet, .arrow and .feather are tables that keep everything too;
            .csv and .tsv keep the columns alone. Other endings are refused.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from dataworth import DataValues, KNNShapley
        >>> values = KNNShapley(n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"]).value([[0]], ["a"])
        >>> with TemporaryDirectory() as folder:
        ...     values.save(Path(folder, "values.npz"))
        ...     DataValues.load(Path(folder, "values.npz")).values
        array([0.5, 0. ])
        """
        write_values(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that `save` wrote. Nothing is ever unpickled.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        DataValues
            The result, with the library of its training table but not with its index object.
        """
        return cls.of(files.read(path))

    def contents(self, groups: Array | None = None) -> files.Contents:
        """What a file keeps."""
        return files.Contents(
            {name: getattr(self, name) for name in self._known()},
            files.Facts(
                params=self.params,
                n_validation=self.n_validation,
                weight_error=self.weight_error,
                version=self.version,
                recall=self.recall,
                library=None if self.origin is None else self.origin.library,
                ruler=self.ruler,
            ),
            groups,
            self.by_encoder,
            self._ranking(),
        )

    @classmethod
    def of(cls, contents: files.Contents) -> Self:
        facts, arrays = contents.facts, dict[str, Any](contents.arrays)
        return cls(
            **arrays,
            params=facts.params,
            n_validation=facts.n_validation,
            weight_error=facts.weight_error,
            version=facts.version,
            recall=facts.recall,
            origin=None if facts.library is None else frames.Origin(facts.library),
            by_encoder=contents.by_encoder,
            ruler=facts.ruler,
        )


def is_numeric(game: str) -> bool:
    """Tell whether the targets of a game are numbers, not labels."""
    return game in GAMES and GAMES[game].numeric


def value_columns(
    values: DataValues, *, ids: bool = False, groups: Array | None = None
) -> dict[str, Array]:
    """Arrange values as the columns of a table.

    Parameters
    ----------
    values : DataValues
        The values.
    ids : bool
        Whether the index holds ids that users gave; the column is then named so.
    groups : (n_train,) array or None
        The group of each training point.

    Returns
    -------
    dict
        The columns: index or id, value, lower, upper, label and, if they are known, agreement,
        suggested, score, suspect and group.
    """
    return files.columns(values.contents(groups), ids=ids)


def write_values(
    path: str | os.PathLike[str],
    values: DataValues,
    *,
    ids: bool = False,
    groups: Array | None = None,
) -> None:
    """Write values in the format that the ending of the name asks for, whole or not at all.

    Parquet, Arrow, Feather and NPZ files keep everything that `DataValues.save` does; CSV and TSV
    files keep only the columns of `value_columns`. NPZ files do not keep groups.

    Parameters
    ----------
    path : str or path
        The file.
    values : DataValues
        The values.
    ids, groups
        As in `value_columns`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from dataworth import KNNShapley
    >>> from dataworth.result import read_values, write_values
    >>> values = KNNShapley(n_neighbors=1).fit([[0.0], [1.0]], ["a", "b"]).value([[0]], ["a"])
    >>> with TemporaryDirectory() as folder:
    ...     write_values(Path(folder, "values.csv"), values)
    ...     read_values(Path(folder, "values.csv"))[0].values
    array([0.5, 0. ])
    """
    files.write(path, values.contents(groups), ids=ids)


def read_values(path: str | os.PathLike[str]) -> tuple[DataValues, Array | None]:
    """Read values from a file that `write_values` wrote.

    Parameters
    ----------
    path : str or path
        The file. Its ending tells the format.

    Returns
    -------
    values : DataValues
        The values. From a CSV or TSV file they come without parameters and version.
    groups : (n_train,) array or None
        The group of each training point, if the file has them.
    """
    contents = files.read(path)
    return DataValues.of(contents), contents.groups
