"""What the paper prints: arXiv 2401.11103, tables of AUROC, cited for comparison."""

import numpy as np

from paper.protocol import TEXT

Table = dict[str, tuple[float, ...]]

MISLABEL_COLUMNS = ("soft-uniform", "hard-uniform", "hard-linear", "hard-linear-sqrt")
MISLABEL: Table = {
    "2dplanes": (0.849, 0.8, 0.884, 0.831),
    "cpu": (0.867, 0.929, 0.956, 0.956),
    "phoneme": (0.707, 0.724, 0.773, 0.778),
    "fraud": (0.556, 0.547, 0.751, 0.596),
    "creditcard": (0.698, 0.676, 0.842, 0.747),
    "vehicle": (0.689, 0.724, 0.8, 0.813),
    "click": (0.627, 0.6, 0.751, 0.693),
    "wind": (0.836, 0.849, 0.858, 0.88),
    "pol": (0.907, 0.862, 1.0, 0.991),
    "mnist": (0.724, 0.471, 0.831, 0.836),
    "cifar10": (0.684, 0.76, 0.76, 0.756),
    "agnews": (0.953, 0.978, 0.991, 0.988),
    "dbpedia": (0.968, 0.902, 1.0, 1.0),
}
NOISY: Table = {
    "2dplanes": (0.556, 0.498, 0.733, 0.68),
    "cpu": (0.778, 0.769, 0.942, 0.947),
    "phoneme": (0.551, 0.6, 0.744, 0.673),
    "fraud": (0.862, 0.858, 0.911, 0.916),
    "creditcard": (0.453, 0.422, 0.653, 0.636),
    "vehicle": (0.511, 0.52, 0.916, 0.933),
    "click": (0.44, 0.444, 0.711, 0.662),
    "wind": (0.782, 0.804, 0.849, 0.853),
    "pol": (0.493, 0.502, 0.836, 0.804),
    "mnist": (0.782, 0.538, 0.911, 0.911),
    "cifar10": (0.533, 0.418, 0.8, 0.822),
    "agnews": (0.481, 0.531, 0.559, 0.543),
    "dbpedia": (0.482, 0.498, 0.58, 0.576),
}
# The first two are of the soft game: the paper's theorem on the O(N^K) algorithm has its utility,
# and so does its authors' code (mode "softlabel").
CONTINUOUS_COLUMNS = ("soft-real", "soft-real-sampled", "hard-linear", "hard-linear-sqrt")
CONTINUOUS_MISLABEL: Table = {
    "2dplanes": (0.853, 0.851, 0.854, 0.851),
    "cpu": (0.809, 0.791, 0.809, 0.796),
    "phoneme": (0.729, 0.609, 0.747, 0.742),
    "fraud": (0.511, 0.501, 0.507, 0.513),
    "creditcard": (0.723, 0.716, 0.724, 0.698),
    "vehicle": (0.733, 0.636, 0.72, 0.769),
    "click": (0.707, 0.609, 0.707, 0.719),
    "wind": (0.81, 0.769, 0.813, 0.809),
    "pol": (0.973, 0.978, 0.996, 1.0),
    "mnist": (0.732, 0.742, 0.733, 0.72),
    "cifar10": (0.742, 0.64, 0.729, 0.722),
    "agnews": (0.942, 0.932, 0.944, 0.914),
    "dbpedia": (0.969, 0.969, 0.988, 0.988),
}
CONTINUOUS_NOISY: Table = {
    "2dplanes": (0.62, 0.524, 0.609, 0.604),
    "cpu": (0.76, 0.698, 0.8, 0.676),
    "phoneme": (0.591, 0.542, 0.578, 0.6),
    "fraud": (0.831, 0.722, 0.831, 0.622),
    "creditcard": (0.493, 0.507, 0.533, 0.489),
    "vehicle": (0.569, 0.529, 0.533, 0.44),
    "click": (0.431, 0.458, 0.413, 0.333),
    "wind": (0.773, 0.667, 0.773, 0.649),
    "pol": (0.502, 0.52, 0.547, 0.471),
    "mnist": (0.68, 0.671, 0.676, 0.678),
    "cifar10": (0.502, 0.529, 0.509, 0.502),
    "agnews": (0.508, 0.508, 0.472, 0.444),
    "dbpedia": (0.447, 0.451, 0.443, 0.514),
}


def error_bound(rank: int, n: int, n_neighbors: int) -> float:
    """The paper's bound epsilon(M*) on what its approximation leaves out.

    It is the sum over m > M* of 1/(m-K) - 1/m, which telescopes, plus what the sets of fewer than K
    points that reach beyond M* add, computed as ratios of binomials.

    Examples
    --------
    >>> error_bound(100, 100, 5)
    0.0
    >>> round(error_bound(10, 100, 5), 3)
    0.635
    """
    if rank <= n_neighbors:
        raise ValueError(f"rank must be more than n_neighbors, {n_neighbors}; got {rank}.")
    if rank >= n:
        return 0.0
    behind = np.arange(rank + 1, n + 1, dtype=np.float64)
    total = float(np.sum(1.0 / (behind - n_neighbors) - 1.0 / behind))
    every, near = 1.0, 1.0  # (N choose l) and (M* choose l), each over (N-1 choose l)
    for size in range(1, n_neighbors):
        below = n - size  # of (N-1 choose l), its l-th factor over l
        every *= (n - size + 1) / below
        near *= max(rank - size + 1, 0) / below
        total += (every - near) / n
    return total


def without_text(table: Table) -> Table:
    """The rows of tables and images; the data sets of text have other sizes."""
    return {name: row for name, row in table.items() if name not in TEXT}


def standing(table: Table) -> str:
    """What the table of a task says of the weighted game, in words.

    Examples
    --------
    >>> standing({"a": (0.5, 0.6, 0.6, 0.7), "b": (0.5, 0.4, 0.9, 0.9)})
    'above the unweighted soft one on 2 of 2 data sets, above both unweighted ones on 1 ...'
    """
    rows = list(table.values())
    soft = sum(row[2] > row[0] for row in rows)
    both = sum(row[2] > max(row[:2]) for row in rows)
    level = sum(row[2] == max(row[:2]) for row in rows)
    exact, cut = (sum(row[k] == max(row) for row in rows) for k in (2, 3))
    return (
        f"above the unweighted soft one on {soft} of {len(rows)} data sets, above both unweighted "
        f"ones on {both} and level with one of them on {level}; it is the best of the four "
        f"columns, alone or level, on {exact}, and its approximation on {cut}"
    )


def multiples(table: Table, step: float) -> tuple[int, int, float]:
    """How many figures of a table, rounded to 0.001, can be multiples of `step`, and of how many.

    The third number is the share of all numbers of three digits that can be such multiples.

    Examples
    --------
    >>> multiples({"a": (0.849, 0.8), "b": (0.5, 0.998)}, 1 / 225)
    (2, 4, 0.225...)
    """
    possible = {round(k * step, 3) for k in range(round(1 / step) + 1)}
    figures = [round(f, 3) for row in table.values() for f in row]
    return sum(f in possible for f in figures), len(figures), len(possible) / 1001
