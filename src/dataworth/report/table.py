"""The table of the least valuable points, and what explains their values."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dataworth import DataValues, decisions
from dataworth.arrays import Array
from dataworth.errors import InputError, InputTypeError
from dataworth.explanation import Explanation
from dataworth.report import cells
from dataworth.report.images import Album, Gallery
from dataworth.report.summary import Groups

MOST_COLUMNS = 60
MOST_COMPARED = 12  # columns shown of neighbours and validation points
MOST_REASONS = 10  # neighbours shown of a point, and validation points
MOST_NOTICED = 200  # points shown beside the least valuable ones, as they are odd
TEXT_BUDGET = 2_500_000
TEXT_LENGTHS = (20_000, 5_000, 1_000, 300, 100, 30)
COMPARED_LENGTHS = (300, 100, 50, 20)


def check_explanations(
    explanations: Iterable[Explanation], n_train: int, n_validation: int
) -> dict[int, Explanation]:
    """Return the explanations by position; n_validation is -1 if it is not known."""
    known: dict[int, Explanation] = {}
    for number, explanation in enumerate(explanations):
        name = f"explanations[{number}]"
        if not hasattr(explanation, "hurts"):
            came = f"{name} is {explanation!r:.60}"
            raise InputTypeError("explanations", "be what KNNShapley.explain returned", came)
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
    """Rows of the least valuable points, and records of the points that explain them.

    Parameters
    ----------
    values : DataValues
        The values.
    shown : sequence of Column
        The columns that users gave; the first 60 are shown.
    explanations : dict
        Explanations by position.
    n_rows : int
        How many points.
    """

    def __init__(
        self,
        values: DataValues,
        shown: Sequence[cells.Column],
        explanations: Mapping[int, Explanation],
        n_rows: int,
    ) -> None:
        self.values, self.scale = values, values.scale
        self.columns = shown[:MOST_COLUMNS]
        self.noticed = _noticed(values, n_rows)
        self.positions = [*values.order[:n_rows].tolist(), *self.noticed]
        self.reasons = {p: explanations[p] for p in self.positions if p in explanations}
        self.album = Album()
        self.notes: list[str] = []
        if len(shown) > MOST_COLUMNS:
            self.notes.append(f"Of {len(shown)} columns the first {MOST_COLUMNS} are shown.")

    def rows(self, points: Points, groups: Sequence[Groups]) -> list[dict[str, Any]]:
        """Make one object per row; keys are short because there are many rows."""
        raw = [[cells.cell(c.items[p]) for c in self.columns] for p in self.positions]
        length, cut = cells.cut_to_budget(raw, TEXT_BUDGET, TEXT_LENGTHS)
        if length < TEXT_LENGTHS[0]:
            self.notes.append(f"Texts are cut after {length:,} characters to keep the file small.")
        rows = []
        for position, line in zip(self.positions, raw, strict=True):
            row = {
                "p": position,
                "v": cells.significant(float(self.values.values[position]) / self.scale),
                "y": label_text(self.values.labels[position]),
                "c": [cut(c) for c in line],
                "g": [int(group.codes[position]) for group in groups],
                **points.facts(position, self.album),
            }
            if self.values.notes is not None:
                names = range(len(self.values)) if points.ids is None else points.ids
                words = self.values.notes.reasons(position, names)
                row["f"] = [cells.clipped(word, 120) for word in words]
            lower, upper = float(self.values.lower[position]), float(self.values.upper[position])
            if lower < upper:
                row["b"] = [cells.significant(end / self.scale) for end in (lower, upper)]
            if position in self.reasons:
                row |= _why(self.reasons[position], self.scale)
            rows.append(row)
        return rows

    def neighbors(self, points: Points) -> dict[str, Any]:
        """Make records of the training points that the explanations name."""
        return self._records(points, [e.neighbors["index"] for e in self.reasons.values()])

    def judges(self, points: Points) -> dict[str, Any]:
        """Make records of the validation points that the explanations name."""
        return self._records(points, [e.hurts["validation"] for e in self.reasons.values()])

    def _records(self, points: Points, named: Iterable[Array]) -> dict[str, Any]:
        """Make records of points: their first cells, cut short, those of the worst rows first."""
        positions = list(dict.fromkeys(int(p) for some in named for p in some[:MOST_REASONS]))
        shown = [points.columns.get(c.name) for c in self.columns[:MOST_COMPARED]]
        raw = [[None if c is None else cells.cell(c.items[p]) for c in shown] for p in positions]
        _, cut = cells.cut_to_budget(raw, TEXT_BUDGET // 2, COMPARED_LENGTHS)
        return {
            str(position): {"c": [cut(c) for c in line], **points.facts(position, self.album)}
            for position, line in zip(positions, raw, strict=True)
        }


def _noticed(values: DataValues, n_rows: int) -> list[int]:
    """Return points that are not among the least valuable, but copies or outliers."""
    if values.notes is None:
        return []
    odd = values.notes.conflict | values.notes.outlier
    return [p for p in values.order[n_rows:].tolist() if odd[p]][:MOST_NOTICED]


def _why(explanation: Explanation, scale: float) -> dict[str, Any]:
    suggested = explanation.suggested
    if isinstance(suggested, float) and math.isfinite(suggested):
        suggested = f"{suggested:.6g}"
    hurts = explanation.hurts[:MOST_REASONS]
    near = explanation.neighbors[:MOST_REASONS]
    number = cells.significant
    return {
        "s": label_text(suggested),
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
