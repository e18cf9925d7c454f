"""The table of the most suspect points, and what explains their values."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataworth import decisions
from dataworth.arrays import Ints
from dataworth.errors import InputError, InputTypeError
from dataworth.explanation import Explanation
from dataworth.report import cells, words
from dataworth.report.images import Album, Gallery
from dataworth.report.summary import Groups
from dataworth.result import DataValues

ROWS, MOST_ROWS = 500, 2000  # of the table, usually and at most
MOST_CONTRIBUTIONS = 2**25  # numbers held while points are explained
QUOTA = 3  # times its share of the rows is the most that a label gets
MOST_COLUMNS = 60
MOST_COMPARED = 30  # columns shown of neighbours and validation points
MOST_REASONS = 10  # neighbours shown of a point, and validation points
MOST_NOTICED = 200  # points shown beside the least valuable ones, as they are odd
TEXT_BUDGET = 2_500_000
TEXT_LENGTHS = (20_000, 5_000, 1_000, 300, 100, 30)
COMPARED_LENGTHS = (1_000, 300, 100, 50, 20)


def check_explanations(
    explanations: Iterable[Explanation], n_train: int, n_validation: int
) -> dict[int, Explanation]:
    """Return the explanations by position; n_validation is -1 if it is not known."""
    known: dict[int, Explanation] = {}
    for number, explanation in enumerate(explanations):
        name = f"explanations[{number}]"
        if not hasattr(explanation, "hurts"):
            came = f"{name} is {explanation!r:.60}"
            raise InputTypeError("explanations", "be what explain returned", came)
        if not 0 <= explanation.index < n_train:
            raise InputError(
                f"{name}.index", f"be from 0 to {n_train - 1}", f"got {explanation.index}"
            )
        if explanation.index in known:
            raise InputError(
                "explanations",
                "explain each point once",
                f"{name}: position {explanation.index} is explained twice",
            )
        for field, positions, end in (
            ("neighbors", explanation.neighbors["index"], n_train),
            ("hurts", explanation.hurts["validation"], n_validation),
        ):
            for position in positions.tolist():
                if position < 0 or 0 <= end <= position:
                    raise InputError(
                        "explanations",
                        "name points that exist",
                        f"{name}.{field} names a point that is not there: {position}",
                    )
        known[explanation.index] = explanation
    return known


def listed(values: DataValues, rows: int) -> Ints:
    """Return the positions of the points that the table lists, the most suspect first.

    A label that is rare has few neighbours of its own and so low values, right or wrong. So that it
    does not fill the table, no label gets more than three times its share of the rows, unless the
    ruler says to look at them.

    Parameters
    ----------
    values : DataValues
        The values.
    rows : int
        How many points to list.

    Returns
    -------
    array of int
        Their positions.

    Examples
    --------
    >>> from dataworth import KNNShapley
    >>> from dataworth.report.table import listed
    >>> X, y = [[0.0], [0.1], [1.0], [1.1], [0.05]], ["a", "a", "b", "b", "b"]
    >>> listed(KNNShapley(n_neighbors=2).fit(X, y).value(), 1)
    array([4])
    """
    order = values.suspects_first
    if values.numeric or rows >= order.size:
        return order[:rows]
    _, codes = np.unique(values.labels[order], return_inverse=True)
    quota = np.ceil(QUOTA * rows * np.bincount(codes) / order.size)
    by_label = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))[:-1]])
    place = np.empty(order.size, np.int64)  # of a point among those of its label
    place[by_label] = np.arange(order.size) - starts[codes[by_label]]
    kept = place < quota[codes]
    if values.ruler is not None and values.ruler.cutoff is not None:
        kept[: values.ruler.cutoff] = True
    return order[kept][:rows]


def noticed(values: DataValues, listed: Ints) -> Ints:
    """Return points that are not listed as suspects, but are copies or outliers."""
    if values.notes is None:
        return listed[:0]
    odd = values.notes.conflict | values.notes.outlier
    odd[listed] = False
    return values.suspects_first[odd[values.suspects_first]][:MOST_NOTICED]


def worth_explaining(values: DataValues, rows: int = ROWS) -> list[int]:
    """Return the points that the table lists, or fewer if memory is short, to be explained.

    Parameters
    ----------
    values : DataValues
        The values.
    rows : int
        How many points the table lists.

    Returns
    -------
    list of int
        Their positions.
    """
    most = max(MOST_CONTRIBUTIONS // max(values.n_validation, 1), 1)
    worst = listed(values, rows)
    return [*worst.tolist(), *noticed(values, worst).tolist()][:most]


def label_text(label: Any) -> str | None:
    """Return a label as text, or None if it is missing."""
    return None if cells.is_missing(label) else decisions.plain(label)


@dataclass(frozen=True)
class Points:
    """Training or validation points as users gave them.

    Attributes
    ----------
    columns : dict
        The columns by name.
    ids : sequence or None
        The ids, if there are any.
    gallery : Gallery or None
        The pictures, if there are any.
    """

    columns: Mapping[str, cells.Column]
    ids: Sequence[Any] | None = None
    gallery: Gallery | None = None

    def facts(self, position: int, album: Album) -> dict[str, Any]:
        """Return the id and the picture of a point, if it has them."""
        facts: dict[str, Any] = {}
        if self.ids is not None:
            facts["id"] = label_text(self.ids[position])
        if self.gallery is not None:
            facts["i"] = album.place(self.gallery, position)
        return facts


class Table:
    """Rows of the most suspect points, and records of the points that explain them.

    Parameters
    ----------
    values : DataValues
        The values.
    train : Points
        The training points.
    shown : sequence of str
        The names of the columns to show.
    explanations : dict
        Explanations by position.
    n_rows : int
        How many points.

    Attributes
    ----------
    n_noticed : int
        How many of the points are listed only because they are copies or outliers.
    n_suspects : int
        How many of the points, the first ones, are up to the ruler's cut-off.
    quota : bool
        Whether points of a label were left out because it had its share of the rows.
    notes : list of str
        What the page should say about what it leaves out.
    """

    def __init__(
        self,
        values: DataValues,
        train: Points,
        shown: Sequence[str],
        explanations: Mapping[int, Explanation],
        n_rows: int,
    ) -> None:
        self.values, self.scale = values, values.scale
        self.columns = [train.columns[name] for name in shown]
        worst = listed(values, n_rows)
        self.quota = not np.array_equal(worst, values.suspects_first[: worst.size])
        odd = noticed(values, worst)
        self.n_noticed = odd.size
        self.positions: list[int] = [*worst.tolist(), *odd.tolist()]
        cutoff = 0 if values.ruler is None else values.ruler.cutoff or 0
        self.n_suspects = int(np.isin(self.positions, values.suspects_first[:cutoff]).sum())
        self.reasons = {p: explanations[p] for p in self.positions if p in explanations}
        self.album = Album()
        self.notes: list[str] = []
        self._train = train
        self._far_off = values.far_off
        self._matter = self._words()

    def _words(self) -> dict[int, dict[int, list[str]]]:
        """Find the words that matter in long texts, by position and column."""
        found: dict[int, dict[int, list[str]]] = {}
        near = {p: e.neighbors["index"][:MOST_REASONS].tolist() for p, e in self.reasons.items()}
        used = set(near).union(*near.values())
        for k, column in enumerate(self.columns):
            texts = {p: v for p in used if isinstance(v := column.items[p], str)}
            if not any(len(text) > words.LONG for text in texts.values()):
                continue
            rarity = words.Rarity(texts.values())
            for p, others in near.items():
                shared = rarity.shared(texts.get(p, ""), [texts.get(o, "") for o in others])
                if shared:
                    found.setdefault(p, {})[k] = shared
        return found

    def rows(self, groups: Sequence[Groups]) -> list[dict[str, Any]]:
        """Make one object per row; keys are short because there are many rows."""
        scores = self.values.score if self.values.agreement is not None else None
        raw = [[cells.cell(c.items[p]) for c in self.columns] for p in self.positions]
        length, cut = cells.cut_to_budget(raw, TEXT_BUDGET, TEXT_LENGTHS)
        if length < TEXT_LENGTHS[0]:
            self.notes.append(f"Texts are cut to {length:,} characters to keep the file small.")
        rows = []
        for position, line in zip(self.positions, raw, strict=True):
            matter = self._matter.get(position, {})
            row = {
                "p": position,
                "v": cells.significant(float(self.values.values[position]) / self.scale),
                "y": label_text(self.values.labels[position]),
                "c": [cut(c, matter.get(k, ())) for k, c in enumerate(line)],
                "g": [int(group.codes[position]) for group in groups],
                "f": self._flags(position),
                **self._train.facts(position, self.album),
            }
            if scores is not None:
                row["z"] = cells.significant(float(scores[position]))
            lower, upper = float(self.values.lower[position]), float(self.values.upper[position])
            if lower < upper:
                row["b"] = [cells.significant(end / self.scale) for end in (lower, upper)]
            if matter:
                row["w"] = matter
            if position in self.reasons or self.values.suggested is not None:
                row["s"] = self._suggested(position)
            if position in self.reasons:
                row |= _why(self.reasons[position], self.scale)
            rows.append(row)
        return rows

    def _suggested(self, position: int) -> str | None:
        """Return what the result suggests or, where it does not know, what the neighbours shown do.

        All who vote on a point count in the result, in all representations: the few neighbours that
        explain it need not agree with them, and the page must say what files and terminals say.
        """
        if self.values.suggested is not None:
            suggested = self.values.suggested[position]
        elif position in self.reasons:
            suggested = self.reasons[position].suggested
        else:
            return None
        given = self.values.labels[position]
        if self.values.numeric and suggested is not None and suggested != given:
            suggested = f"{suggested:.12g}" if math.isfinite(suggested) else None
        return label_text(suggested)

    def _flags(self, position: int) -> list[list[str]]:
        """Say why a point is suspect: pairs of a word that the row shows, and a sentence."""
        flags = []
        suggested = self._suggested(position)
        given = label_text(self.values.labels[position])
        if suggested is not None and suggested != given and not self.values.numeric:
            flags.append(["label", f"The others say “{suggested}”, not “{given}”."])
        if self._far_off[position]:
            flags.append(["target", "The target is far from what the others say."])
        if self.values.notes is not None:
            ids = self._train.ids
            names = range(len(self.values)) if ids is None else ids
            said = [cells.clipped(s, 120) for s in self.values.notes.reasons(position, names)]
            flags += [[reason, f"{reason[:1].upper()}{reason[1:]}."] for reason in said]
        return flags

    def neighbors(self) -> dict[str, Any]:
        """Make records of the training points that the explanations name."""
        return self._records(self._train, "neighbors", "index")

    def judges(self, points: Points) -> dict[str, Any]:
        """Make records of the validation points that the explanations name."""
        return self._records(points, "hurts", "validation")

    def _records(self, points: Points, table: str, field: str) -> dict[str, Any]:
        """Make records of points: their first cells, cut short, those of the worst rows first."""
        matter: dict[int, dict[int, set[str]]] = {}
        for row, reason in self.reasons.items():
            for p in getattr(reason, table)[field][:MOST_REASONS].tolist():
                known = matter.setdefault(p, {})
                for k, shared in self._matter.get(row, {}).items():
                    known.setdefault(k, set()).update(shared)
        shown = [points.columns.get(c.name) for c in self.columns[:MOST_COMPARED]]
        raw = [[None if c is None else cells.cell(c.items[p]) for c in shown] for p in matter]
        _, cut = cells.cut_to_budget(raw, TEXT_BUDGET // 2, COMPARED_LENGTHS)
        return {
            str(position): {
                "c": [cut(c, known.get(k, ())) for k, c in enumerate(line)],
                **points.facts(position, self.album),
            }
            for (position, known), line in zip(matter.items(), raw, strict=True)
        }


def _why(explanation: Explanation, scale: float) -> dict[str, Any]:
    hurts = explanation.hurts[:MOST_REASONS]
    near = explanation.neighbors[:MOST_REASONS]
    number = cells.significant
    return {
        "h": [
            [int(h["validation"]), label_text(h["label"]), number(float(h["contribution"]) / scale)]
            for h in hurts
        ],
        "n": [
            [
                int(n["index"]),
                label_text(n["label"]),
                number(float(n["distance"])),
                number(float(n["weight"])),
            ]
            for n in near
        ],
    }
