"""Sampling against sampling: error by number of utility evaluations; draws docs/sampling.png.

scikit-learn's digits, even against odd, K = 5, weights exp(-(d - d_1) / h). The errors are those
of all values of a few validation points over several seeds, against exact values. Permutation
sampling is counted twice: plainly, with one utility for each arriving point, and by the sparing way
it is implemented here, which computes none for a point that does not enter the K nearest.
"""

from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from dataworth import KNNShapley, palette
from dataworth.arrays import Flags, Floats
from dataworth.baselines import monte_carlo
from dataworth.baselines.utility import GameName
from paper.sampling import stratified_monte_carlo

OUT = Path(__file__).parents[1] / "docs" / "sampling.png"
K, N_TRAIN, N_VAL, SEEDS = 5, 500, 6, 5
PERMUTATIONS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
BUDGETS = (500, 1_000, 2_000, 5_000, 10_000, 20_000)
GAMES: tuple[GameName, ...] = ("soft", "hard")


class Problem(NamedTuple):
    """One validation point, nearest training point first, and the exact values."""

    right: Flags
    weights: Floats
    exact: Floats


class Curve(NamedTuple):
    """Root-mean-square errors by mean numbers of utility evaluations."""

    evaluations: Floats
    error: Floats


def problems(game: GameName) -> list[Problem]:
    """Real weights for the soft game, three bits for the hard one."""
    X, digit = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(digit.size)
    train, validation = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_VAL]
    even = digit % 2
    valuator = KNNShapley(
        n_neighbors=K, game=game, n_bits=None if game == "soft" else 3, metric="precomputed"
    ).fit(None, even[train])
    found = []
    for v in validation:
        distance = np.linalg.norm(X[train] - X[v], axis=1)
        rank = np.argsort(distance, kind="stable")
        values = valuator.value(distance[None], even[v : v + 1])
        near = distance[rank] - distance.min()
        weights = np.exp(-near / (0.3 * np.median(near)))
        if game == "hard":
            weights = np.rint(7 * weights)
        found.append(Problem(even[train][rank] == even[v], weights, values.values[rank]))
    return found


def curves(game: GameName) -> tuple[Curve, Curve, Curve]:
    """Plain permutations, sparing permutations, and sampled sets."""
    plain, sparing, ours = [], [], []
    given = problems(game)
    for count in PERMUTATIONS:
        runs = [
            (p, monte_carlo(
                p.right, p.weights, n_neighbors=K, game=game, n_permutations=count,
                random_state=seed,
            ))
            for p in given for seed in range(SEEDS)
        ]  # fmt: skip
        error = np.sqrt(np.mean([(s.values - p.exact) ** 2 for p, s in runs]))
        plain.append((count * N_TRAIN, error))
        sparing.append((np.mean([s.n_evaluations for _, s in runs]), error))
    for budget in BUDGETS:
        runs = [
            (p, stratified_monte_carlo(
                p.right, p.weights, n_neighbors=K, game=game, n_evaluations=budget,
                random_state=seed,
            ))
            for p in given for seed in range(SEEDS)
        ]  # fmt: skip
        error = np.sqrt(np.mean([(s.values - p.exact) ** 2 for p, s in runs]))
        ours.append((np.mean([s.n_evaluations for _, s in runs]), error))
    first, second, third = (Curve(*np.array(c, dtype=float).T) for c in (plain, sparing, ours))
    return first, second, third


def ratios(other: Curve, ours: Curve) -> Floats:
    """How many times as many evaluations `other` needs for the error of each of our budgets.

    Interpolated between logarithms; beyond either end the error of independent samples falls with
    the square root of their number.
    """
    nearest = np.clip(ours.error, other.error.min(), other.error.max())
    needed = np.interp(np.log(nearest), np.log(other.error[::-1]), np.log(other.evaluations[::-1]))
    return np.exp(needed) * (nearest / ours.error) ** 2 / ours.evaluations


def main() -> None:
    """Measure, print and draw."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
    for axis, game in zip(axes, GAMES, strict=True):
        plain, sparing, ours = curves(game)
        middle = []
        print(f"{game} game, {N_TRAIN} points, {N_VAL} validation points, {SEEDS} seeds")
        for name, curve in (("plain permutations", plain), ("sparing permutations", sparing)):
            found = ratios(curve, ours)
            middle.append(float(np.exp(np.log(found).mean())))
            listed = ", ".join(f"{r:.1f}" for r in found)
            print(
                f"  {name}: {middle[-1]:.1f} × our evaluations at equal error "
                f"(by our budgets: {listed})"
            )
        for budget, error in zip(ours.evaluations, ours.error, strict=True):
            print(f"  ours: {budget:8.0f} evaluations, root-mean-square error {error:.2e}")
        axis.loglog(*plain, "o-", color=palette.GREY, label="permutations, plain")
        axis.loglog(*sparing, "s-", color=palette.BLUE, label="permutations, sparing")
        axis.loglog(*ours, "D-", color=palette.VERMILION, label="stratified sets (ours)")
        axis.set_title(
            f"{game} game: {middle[0]:.0f} × fewer than plain,\n"
            f"{middle[1]:.0f} × fewer than sparing permutations",
            fontsize=11,
        )
        axis.set_xlabel("utility evaluations per validation point")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("root-mean-square error of values")
    axes[0].legend(frameon=False, fontsize=9)
    figure.savefig(OUT, dpi=110)
    print(f"wrote {OUT}")


if __name__ == "__main__":
    main()
