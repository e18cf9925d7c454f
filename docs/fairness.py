"""Draw the plots of the fairness page: how pay-outs by two rules answer to what owners may try.

scikit-learn's table of breast cancer biopsies, shared out among clinics. `python -m docs.fairness`
also prints the figures that the page quotes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from dataworth import KNNShapley, OwnerValues, palette
from dataworth.arrays import Array, Floats

OUT = Path(__file__).parent
CLINICS = {"Ash": 120, "Birch": 100, "Cedar": 80, "Elm": 40, "Fir": 20}
SEEDS = 10
COPIES = (0.0, 0.25, 0.5, 0.75, 1.0)
TIMES = (1, 2, 3, 4, 5)
PIECES = (1, 2, 3, 5, 10, 20)
NOISE = (0.0, 0.5, 1.0, 2.0, 4.0)
FLIPS = (0.0, 0.1, 0.2, 0.3, 0.4)
JITTER = (0.0, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Market:
    """Rows with their owners, and the buyer's own rows."""

    X: Floats
    y: Array
    owners: Array
    X_val: Floats
    y_val: Array

    def shares(self) -> dict[str, tuple[float, float]]:
        """Each owner's share in percent, as a whole and by points."""
        values = self.values()
        pairs = zip(100 * values.share, 100 * values.point_share, strict=True)
        return {
            str(owner): (float(a), float(b))
            for owner, (a, b) in zip(values.owners, pairs, strict=True)
        }

    def values(self) -> OwnerValues:
        """What the owners are worth."""
        return KNNShapley().fit(self.X, self.y).value_owners(self.owners, self.X_val, self.y_val)

    def of(self, owner: str) -> Array:
        """The positions of an owner's rows."""
        return np.flatnonzero(self.owners == owner)

    def with_rows(self, rows: Array, owner: str) -> "Market":
        """The market with copies of some rows, in an owner's hands."""
        return replace(
            self,
            X=np.concatenate([self.X, self.X[rows]]),
            y=np.concatenate([self.y, self.y[rows]]),
            owners=np.concatenate([self.owners, np.full(rows.size, owner)]),
        )


def market(seed: int) -> Market:
    """Share out shuffled rows; those that are left over are the buyer's."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(seed).permutation(y.size)
    n = sum(CLINICS.values())
    owners = np.repeat(list(CLINICS), list(CLINICS.values()))
    train, rest = order[:n], order[n:]
    return Market(X[train], y[train], owners, X[rest], y[rest])


def copying(start: Market, part: float, rng: np.random.Generator) -> Market:
    """Somebody new brings copies of a part of what Ash has."""
    rows = rng.permutation(start.of("Ash"))
    return start.with_rows(rows[: round(part * rows.size)], "copier")


def repeating(start: Market, times: float, rng: np.random.Generator) -> Market:
    """Elm delivers all of its rows several times."""
    return start.with_rows(np.tile(start.of("Elm"), int(times) - 1), "Elm")


def jittering(start: Market, size: float, rng: np.random.Generator) -> Market:
    """Elm delivers all of its rows three times, the copies with noise."""
    more, n = repeating(start, 3, rng), start.y.size
    X = more.X.copy()
    X[n:] += size * rng.normal(size=X[n:].shape)
    return replace(more, X=X)


def splitting(start: Market, pieces: float, rng: np.random.Generator) -> Market:
    """Birch founds daughters, and gives each an equal part of its rows."""
    owners = start.owners.astype("U16")
    rows = rng.permutation(start.of("Birch"))
    owners[rows] = [f"Birch {i % int(pieces)}" for i in range(rows.size)]
    return replace(start, owners=owners)


def noise(start: Market, size: float, rng: np.random.Generator) -> Market:
    """Cedar measures badly: noise of so many standard deviations."""
    X, rows = start.X.copy(), start.of("Cedar")
    X[rows] += size * rng.normal(size=(rows.size, X.shape[1]))
    return replace(start, X=X)


def flips(start: Market, part: float, rng: np.random.Generator) -> Market:
    """Cedar diagnoses carelessly: so many of its labels are wrong."""
    y, rows = start.y.copy(), start.of("Cedar")
    wrong = rows[rng.permutation(rows.size)[: round(part * rows.size)]]
    y[wrong] = 1 - y[wrong]
    return replace(start, y=y)


Trick = Callable[[Market, float, np.random.Generator], Market]


def curve(trick: Trick, steps: Sequence[float], who: str) -> Floats:
    """Mean shares by step of all owners whose names begin so, as a whole and by points."""
    out = np.zeros((len(steps), 2))
    for seed in range(SEEDS):
        for i, step in enumerate(steps):
            shares = trick(market(seed), step, np.random.default_rng(seed)).shares()
            mine = [pair for owner, pair in shares.items() if owner.startswith(who)]
            out[i] += np.sum(mine, axis=0) if mine else 0.0
    return out / SEEDS


def draw(name: str, panels: Sequence[tuple[str, str, Sequence[float], Floats]]) -> None:
    """Draw one panel for each (title, what the steps are, steps, shares)."""
    figure, axes = plt.subplots(
        1, len(panels), figsize=(4.2 * len(panels), 3.4), layout="constrained", squeeze=False
    )
    for axis, (title, what, steps, shares) in zip(axes.flat, panels, strict=True):
        for k, (rule, colour) in enumerate(
            (("owners as players", palette.BLUE), ("sum of points", palette.VERMILION))
        ):
            axis.plot(steps, shares[:, k], color=colour, marker="os"[k], markersize=5, label=rule)
        axis.axhline(0.0, color=palette.GREY, linewidth=0.8)
        axis.set(title=title, xlabel=what, ylabel="share of the pay-out (%)")
        low, high = axis.get_ylim()
        axis.set_ylim(min(0.0, low), high + 0.08 * (high - low))
        axis.spines[["top", "right"]].set_visible(False)
    axes.flat[0].legend(frameon=False)
    figure.savefig(OUT / name, dpi=110)
    plt.close(figure)


def main() -> None:
    """Print the pay-outs and the figures, and draw the plots."""
    print(market(0).values().to_frame("pandas", budget=10_000).round(4).to_string())
    percent, wrong = [100 * part for part in COPIES], [100 * part for part in FLIPS]
    copied = {who: curve(copying, COPIES, who) for who in ("copier", "Ash")}
    repeated = curve(repeating, TIMES, "Elm")
    pieces = curve(splitting, PIECES, "Birch")
    jittered = curve(jittering, JITTER, "Elm")
    noisy, flipped = curve(noise, NOISE, "Cedar"), curve(flips, FLIPS, "Cedar")
    for said, shares in (
        ("copier", copied["copier"]),
        ("Ash, copied", copied["Ash"]),
        ("Elm, repeated", repeated),
        ("Elm, three times with jitter", jittered),
        ("Birch, split", pieces),
        ("Cedar, noise", noisy),
        ("Cedar, flips", flipped),
    ):
        print(said, shares.round(2).tolist())
    draw(
        "fairness-copying.png",
        (
            ("Somebody copies Ash: the copier", "part copied (%)", percent, copied["copier"]),
            ("Somebody copies Ash: Ash", "part copied (%)", percent, copied["Ash"]),
            ("Elm delivers its rows several times", "times", TIMES, repeated),
        ),
    )
    draw(
        "fairness-splitting.png",
        (
            ("Birch takes several names", "names", PIECES, pieces),
            ("Elm delivers three times, disguised", "noise on the copies (sd)", JITTER, jittered),
        ),
    )
    draw(
        "fairness-noise.png",
        (
            ("Cedar's features get noisy", "noise (sd)", NOISE, noisy),
            ("Cedar's labels get wrong", "wrong labels (%)", wrong, flipped),
        ),
    )


if __name__ == "__main__":
    main()
