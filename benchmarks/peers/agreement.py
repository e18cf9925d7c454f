"""Whether our values are the peers', by a stated translation where the games differ."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import translations
from benchmarks.peers.pool import Worker
from dataworth import KNNShapley

K, BITS = 5, 3
LIMIT = 60.0
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Case:
    """A peer's call, and our values as the peer would state them."""

    name: str
    library: str
    args: dict[str, Any]
    translation: str
    tolerance: float
    n_train: int


JIA = "the unweighted translation below"
CASES = (
    Case("pyDVL, unweighted", "pydvl", {"n_neighbors": K}, JIA, 1e-12, 300),
    Case("shapiq, unweighted", "shapiq", {"n_neighbors": K}, JIA, 1e-12, 300),
    Case("OpenDataVal, unweighted (float32)", "opendataval", {"n_neighbors": K}, JIA, 1e-7, 300),
    Case(
        "shapiq, weighted",
        "shapiq",
        {"n_neighbors": K, "n_bits": BITS},
        "the weighted translation below",
        1e-10,
        40,
    ),
    Case(
        "cleanlab, `data_shapley_knn`",
        "cleanlab",
        {"n_neighbors": K, "metric": "euclidean"},
        "the truncation below",
        1e-12,
        150,
    ),
)

TEXT = """\
Translations, N training points, K ≤ N:

- **Unweighted.** The peers' U(S) is the number of right labels among the K nearest of S, divided by
  K even where S has fewer points, and U(∅) = 0; ours divides by the number of points that are
  there, and U(∅) = 1 / number of classes C. Only sets of fewer than K points differ, where
  distance does not matter. With q the share of validation points that have the point's label, A the
  mean number of training points that have a validation point's label and H = 1 + 1/2 + … + 1/K:
  theirs = ours + [1/C − (H − 1)(N q − A)/(N − 1)] / N. All three report the mean over
  validation points (shapiq one point at a time), as we do.
- **Weighted.** shapiq rounds weights to multiples of 2^−b, we to multiples of 1/(2^b − 1); a
  callable `weights` that returns round(w 2^b)/(2^(b+1) − 1), with `n_bits=b + 1`, is its grid. Both
  let ties win and take the mean over rivals. Its U(∅) is 0 and ours 1: theirs = ours + 1/n for each
  vote of n points that the point takes part in, divided by the number of rivals.
- **cleanlab.** Of each validation point, the K nearest get their unweighted value, translated as
  above, less that of the K-th nearest, all others 0; then 0.5 (mean + 1). So these are no Shapley
  values, their sum means nothing, and K = 1 always gives 0.5.
"""


def make_data(n_train: int, n_classes: int, n_val: int = 12) -> Arrays:
    """Labels by position with some noise, so that no class is alone anywhere; float32 numbers."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_train + n_val, 3)).astype(np.float32).astype(np.float64)
    y = np.clip(np.floor((X.sum(axis=1) + 2.0) / 4.0 * n_classes), 0, n_classes - 1)
    noisy = rng.random(y.size) < 0.2
    y[noisy] = rng.integers(0, n_classes, int(noisy.sum()))
    y = y.astype(np.int64)
    return {"X_train": X[n_val:], "y_train": y[n_val:], "X_val": X[:n_val], "y_val": y[:n_val]}


def translated(case: Case, data: Arrays) -> NDArray[np.float64]:
    """Our values, as the peer would state them."""
    X, y, y_val = data["X_train"], data["y_train"], data["y_val"]
    if case.library == "cleanlab":
        return translations.truncated(X, y, K)
    if "n_bits" in case.args:
        grid = translations.power_of_two_grid(BITS)
        valuator = KNNShapley(n_neighbors=K, game="hard", weights=grid, n_bits=BITS + 1)
        return translations.hard(valuator.fit(X, y).value(data["X_val"], y_val).values, y, y_val)
    valuator = KNNShapley(n_neighbors=K, weights="uniform")
    values = valuator.fit(X, y).value(data["X_val"], y_val).values
    return translations.unweighted(values, y, y_val, K)


def section(folder: Path) -> tuple[list[str], bool]:
    """The part on agreement, and whether all values agreed."""
    out = [
        "## Agreement",
        "",
        f"The largest difference between a peer's value and ours, translated; K = {K}. The "
        "benchmark fails where it is above the tolerance, or a peer could not be asked.",
        "",
        "| peer | classes | N | translation | largest difference | tolerance |",
        "|---|---|---|---|---|---|",
    ]
    good = True
    for case in CASES:
        for n_classes in (2, 3):
            with Worker(case.library, LIMIT) as worker:
                data = make_data(case.n_train, n_classes)
                np.savez(folder / "data.npz", allow_pickle=False, **data)
                answer = worker.order(
                    call=case.library,
                    args=case.args,
                    data=str(folder / "data.npz"),
                    out=str(folder / "values.npy"),
                )
                start = f"| {case.name} | {n_classes} | {case.n_train} | {case.translation} |"
                if "failed" in answer:
                    out.append(f"{start} {answer['failed']} | – |")
                    good = False
                    continue
                theirs = np.load(folder / "values.npy", allow_pickle=False)
                worst = float(np.abs(theirs - translated(case, data)).max())
                agree = worst <= case.tolerance
                good &= agree
                mark = "" if agree else " **differs**"
                out.append(f"{start} {worst:.1e}{mark} | {case.tolerance:.0e} |")
    return [*out, "", *TEXT.splitlines(), ""], good
