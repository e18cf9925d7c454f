"""Who finds more label errors: AUROCs by data set, compared one against one."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from dataworth.arrays import Flags, Floats, Ints
from paper.writing import sign_test

OURS = "ours"  # how the names of our methods begin


class Aurocs(NamedTuple):
    """AUROCs of finding errors, one for each draw.

    Attributes
    ----------
    overall : (n_draws,) array
        Among all points.
    within : (n_draws,) array
        Among the points of one given label; the mean over labels.
    """

    overall: Floats
    within: Floats


Result = Aurocs | str  # or what went wrong


def aurocs(scores: Floats, given: Ints, planted: Flags) -> tuple[float, float]:
    """The AUROC of finding planted errors by low scores: among all points, and within labels.

    Labels that only errors have, or none, do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.peers.standings import aurocs
    >>> given, planted = np.array([0, 0, 1, 1]), np.array([True, False, False, True])
    >>> aurocs(np.array([0.1, 0.2, 0.3, 0.25]), given, planted)
    (0.75, 1.0)
    """
    inside = []
    for label in np.unique(given):
        some = given == label
        if planted[some].any() and not planted[some].all():
            inside.append(float(roc_auc_score(planted[some], -scores[some])))
    return float(roc_auc_score(planted, -scores)), float(np.mean(inside))


@dataclass
class Standings:
    """What each method found on each data set.

    Attributes
    ----------
    found : dict
        Results by data set and method.
    inside : bool
        Whether AUROCs within labels are compared, instead of those among all points.
    """

    found: dict[str, dict[str, Result]] = field(default_factory=dict)
    inside: bool = False

    def draws(self, data: str, method: str) -> Floats | None:
        """The AUROCs of a method, by draw; None where it failed or was not asked."""
        result = self.found[data].get(method)
        if result is None or isinstance(result, str):
            return None
        return result.within if self.inside else result.overall

    def mean(self, data: str, method: str) -> float:
        """The mean AUROC of a method; NaN where there is none."""
        draws = self.draws(data, method)
        return float("nan") if draws is None else float(draws.mean())

    @property
    def methods(self) -> list[str]:
        """All methods, in the order in which they were asked."""
        return list(dict.fromkeys(m for results in self.found.values() for m in results))

    def means(self) -> dict[str, float]:
        """The mean of each method over the data sets, where it has one on all of them."""
        return {
            m: float(np.mean([self.mean(data, m) for data in self.found])) for m in self.methods
        }

    def lines(self) -> list[str]:
        """The table in Markdown, where a peer is best below it, and who beats whom."""
        if not self.found:
            return ["No data set is at hand.", ""]
        methods = self.methods
        best: Counter[str] = Counter()
        rows, lost = [], []
        for data in self.found:
            first, ours = self._first(data)
            best[first] += 1
            cells = [self._cell(data, m, bold=m == first) for m in methods]
            rows.append(f"| {data} | {' | '.join(cells)} |")
            if ours and first != ours:
                lost.append(f"{data} ({first}, by {self._gap(data, first, ours)})")
        middle = [f"{x:.4f}" if not np.isnan(x) else "–" for x in self.means().values()]
        return [
            f"| data | {' | '.join(methods)} |",
            "|---|" + "---|" * len(methods),
            *rows,
            f"| *mean of {len(rows)}* | {' | '.join(middle)} |",
            f"| *best on* | {' | '.join(str(best[m]) for m in methods)} |",
            "",
            f"**A peer is best on {len(lost)} of {len(rows)} data sets** (by means; the best of "
            "the peers against the best of ours, paired difference ± its standard error): "
            f"{'; '.join(lost) if lost else 'none'}.",
            "",
            *self.duels(),
        ]

    def _first(self, data: str) -> tuple[str, str]:
        """The best method, and the best of ours; "" where there is none.

        Peers are compared with the best of ours, on the draws that both have.
        """
        means = {m: x for m in self.methods if not np.isnan(x := self.mean(data, m))}
        ours = max((m for m in means if m.startswith(OURS)), key=means.__getitem__, default="")
        if not ours:
            return max(means, key=means.__getitem__, default=""), ""
        ahead = {m: -g.mean() for m in means if (g := self._gaps(data, ours, m)) is not None}
        return max(ahead, key=lambda m: (ahead[m], m == ours)), ours

    def duels(self) -> list[str]:
        """Each of ours against each peer, over the data sets, with a sign test."""
        ours = [m for m in self.methods if m.startswith(OURS)]
        peers = [m for m in self.methods if m not in ours]
        out = [
            "One against one: data sets where ours has the higher mean, those where the peer has, "
            "and the p of a two-sided sign test.",
            "",
            f"| ours \\ peer | {' | '.join(peers)} | the best of them |",
            "|---|" + "---|" * (len(peers) + 1),
        ]
        for mine in ours:
            cells = [self._duel(mine, rivals) for rivals in [*([p] for p in peers), peers]]
            out.append(f"| {mine} | {' | '.join(cells)} |")
        return [*out, ""]

    def _duel(self, mine: str, rivals: list[str]) -> str:
        each = ([self._gaps(data, mine, p) for p in rivals] for data in self.found)
        least = ([gaps.mean() for gaps in some if gaps is not None] for some in each)
        test = sign_test(min(some) for some in least if some)
        return f"{test.wins} – {test.losses}, p = {test.p:.2g}"

    def _cell(self, data: str, method: str, *, bold: bool) -> str:
        result, draws = self.found[data].get(method, "–"), self.draws(data, method)
        if draws is None:
            return str(result)
        spread = f" ± {draws.std(ddof=1):.3f}" if draws.size > 1 else ""
        text = f"{draws.mean():.3f}{spread}"
        return f"**{text}**" if bold else text

    def _gaps(self, data: str, one: str, other: str) -> Floats | None:
        """How far one is ahead of another, on the draws that both have."""
        ones, others = self.draws(data, one), self.draws(data, other)
        if ones is None or others is None:
            return None
        n = min(ones.size, others.size)
        return ones[:n] - others[:n]

    def _gap(self, data: str, one: str, other: str) -> str:
        gaps = self._gaps(data, one, other)
        assert gaps is not None
        error = f" ± {gaps.std(ddof=1) / np.sqrt(gaps.size):.3f}" if gaps.size > 1 else ""
        return f"{gaps.mean():.3f}{error}"
