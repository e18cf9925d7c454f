"""What the panels show: counts, quantiles and sums, never the points themselves."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dataworth import decisions, palette
from dataworth.arrays import Flags, Floats, Ints
from dataworth.owner_values import OwnerValues, cents
from dataworth.report import cells

MOST_GROUPS = 12
MOST_COLOURS = len(palette.CLASSES)
N_BINS = 6
N_STEPS = 60
N_CURVE = 300
LOWEST = 10  # one in so many points of a class is low
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Groups:
    """The points in a few groups.

    Attributes
    ----------
    title : str
        What they are grouped by.
    codes : (n_train,) array of int64
        The group of each point.
    names : list of str
        The names of the groups: bins of numbers in their order, categories by their size.
    binned : bool
        Whether the groups are bins of numbers.
    rest : int or None
        The group of all categories that are too rare to have one of their own, if there is one.
    """

    title: str
    codes: Ints
    names: list[str]
    binned: bool
    rest: int | None


def categories(title: str, items: Sequence[Any]) -> Groups:
    """Give each of the most frequent values a group of its own; the others share one."""
    texts = [None if v is None else _text(v) for v in items]
    ranked = sorted(Counter(texts).items(), key=lambda pair: (-pair[1], str(pair[0])))
    own = ranked if len(ranked) <= MOST_GROUPS else ranked[: MOST_GROUPS - 1]
    names = ["missing" if t is None else cells.clipped(t, 80) or "empty" for t, _ in own]
    rest = None
    if len(own) < len(ranked):
        rest = len(own)
        names.append(f"{len(ranked) - len(own)} others")
    code = {text: position for position, (text, _) in enumerate(own)}
    return Groups(title, np.array([code.get(t, rest) for t in texts]), names, False, rest)


def _text(value: Any) -> str:
    if not isinstance(value, float):
        return decisions.plain(value)
    return str(int(value)) if value.is_integer() else repr(float(value))


def bins(title: str, items: Sequence[Any]) -> Groups:
    """Group numbers that are next to each other, about as many points in each group."""
    numbers = np.array([np.nan if v is None else float(v) for v in items])
    known = ~np.isnan(numbers)
    inner = np.unique(
        np.quantile(numbers[known], np.arange(1, N_BINS) / N_BINS, method="inverted_cdf")
    )
    raw = np.where(known, np.searchsorted(inner, numbers), N_BINS)
    present, codes = np.unique(raw, return_inverse=True)
    names = []
    for position, code in enumerate(present):
        if code == N_BINS:
            names.append("missing")
            continue
        low, high = numbers[codes == position].min(), numbers[codes == position].max()
        ends = [cells.quantity(float(end)) for end in (low, high)]
        names.append(" to ".join(dict.fromkeys(ends)))
    return Groups(title, codes, names, True, None)


def by_column(column: cells.Column) -> Groups:
    """Group a column: into bins if it has many different numbers, else into categories."""
    if column.is_number and len(set(column.items)) > MOST_GROUPS:
        return bins(column.name, column.items)
    return categories(column.name, column.items)


def histogram(values: Floats, classes: Groups) -> dict[str, Any]:
    """Count values by class in bins of one width; an edge is at 0, outliers in the outer bins."""
    low, high = np.quantile(values, [0.005, 0.995])
    if low == high:
        low, high = values.min(), values.max()
    width = _round_step((high - low) / N_STEPS or abs(high) / N_STEPS or 1.0)
    first, last = np.floor(low / width), np.floor(high / width)
    steps = (np.clip(np.floor(values / width), first, last) - first).astype(np.int64)
    n_steps = int(last - first) + 1
    codes, names = _coloured(classes)
    counts = np.zeros((len(names), n_steps), np.int64)
    np.add.at(counts, (codes, steps), 1)
    edges = (first + np.arange(n_steps + 1)) * width
    return {
        "edges": [cells.significant(e) for e in edges.tolist()],
        "below": bool(values.min() < edges[0]),
        "above": bool(values.max() >= edges[-1]),
        "series": [
            {"name": name, "counts": row.tolist()} for name, row in zip(names, counts, strict=True)
        ],
    }


def _round_step(width: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten, so that the edges of bins are round."""
    power = 10.0 ** np.floor(np.log10(width))
    return float(power * min(m for m in (1, 2, 5, 10) if m * power >= width * 0.999))


def _coloured(groups: Groups) -> tuple[Ints, list[str]]:
    """Keep as many groups as there are colours, and pool the others."""
    if len(groups.names) <= MOST_COLOURS + (groups.rest is not None):
        return groups.codes, groups.names
    kept = groups.names[:MOST_COLOURS]
    return np.minimum(groups.codes, MOST_COLOURS), [*kept, "all others"]


def curve(values: Floats) -> dict[str, Any]:
    """Add values up, the best first; keep the sums at a few hundred sizes and at the peak."""
    sums = np.concatenate([[0.0], np.cumsum(np.sort(values)[::-1])])
    peak = int((values > 0).sum())
    sizes = np.linspace(0, values.size, N_CURVE + 1).round().astype(np.int64)
    sizes = np.unique(np.append(sizes, peak))
    return {"sizes": sizes.tolist(), "sums": [cells.significant(s) for s in sums[sizes].tolist()]}


def lowest(values: Floats, classes: Groups) -> Flags:
    """Tell which points are among the lowest tenth of their class.

    Values of a rare class are lower than those of others, right or wrong, so that a group of points
    is compared with others class by class.
    """
    order = np.lexsort((values, classes.codes))
    sizes = np.bincount(classes.codes)
    place = np.empty(values.size, np.int64)  # of a point among those of its class
    place[order] = np.arange(values.size) - (np.cumsum(sizes) - sizes)[classes.codes[order]]
    return (place + 1) * LOWEST <= sizes[classes.codes]


def breakdown(values: Floats, groups: Groups, low: Flags) -> dict[str, Any]:
    """List each group's name, size, number of points that are low, mean and quantiles."""
    rows = []
    for code, name in enumerate(groups.names):
        inside = groups.codes == code
        own = values[inside]
        quantiles = [cells.significant(q) for q in np.quantile(own, QUANTILES).tolist()]
        n_low = int(low[inside].sum())
        rows.append([name, own.size, n_low, cells.significant(float(own.mean())), quantiles])
    return {"name": groups.title, "binned": groups.binned, "rest": groups.rest, "groups": rows}


def owners(paid: OwnerValues, budget: Any) -> dict[str, Any]:
    """List what each owner is worth and due, the most valuable first."""
    columns = {name: column.tolist() for name, column in paid.columns(budget).items()}
    columns["value"] = [value / paid.scale for value in columns["value"]]
    total = math.fsum(columns["value"])
    whole = total * paid.scale
    ends = [[end / whole if total else math.nan for end in columns[c]] for c in ("lower", "upper")]
    numbers = [columns["value"], columns["share"], *ends, columns["point_share"]]
    rows = [
        [cells.clipped(decisions.plain(owner), 80), n_points]
        + [None if math.isnan(x) else cells.significant(x) for x in some]
        for owner, n_points, some in zip(
            columns["owner"], columns["n_points"], zip(*numbers, strict=True), strict=True
        )
    ]
    return {
        "rows": rows,
        "amounts": None if budget is None else columns["amount"],
        "budget": None if budget is None else cents(budget) / 100,
        "exact": paid.exact,
        "positive": total > 0.0,
    }


# The data of each panel, under the name by which its script finds them. They are made of the values
# and of all groupings, the first of which is by label or target.
PANELS: Mapping[str, Callable[[Floats, Sequence[Groups]], Any]] = {
    "histogram": lambda values, groups: histogram(values, groups[0]),
    "curve": lambda values, groups: curve(values),
    "breakdowns": lambda values, groups: [
        breakdown(values, part, lowest(values, groups[0])) for part in groups
    ],
    "low": lambda values, groups: int(lowest(values, groups[0]).sum()),
}
