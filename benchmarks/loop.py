"""Does the loop pay? Models before and after the rows that the ruler points at are dropped.

`python -m benchmarks.loop` writes benchmarks/LOOP.md; `--quick` does so for two data sets. What was
measured is kept, so that a run that was cut short goes on. The data sets are those of the paper,
from the folder that DATAWORTH_DATA names.
"""

import sys
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import dataworth
from benchmarks.peers.environments import ROOT
from benchmarks.peers.noise import Pool, features
from dataworth import KNNShapley, LinearScores, OutOfBagForest, compare
from dataworth.arrays import Floats, Ints
from dataworth.comparison import Comparison
from dataworth.comparison.scores import ACCURACY, Score
from dataworth.files.atomic import atomic
from paper import protocol
from paper.datasets import SOURCES, load
from paper.detection import DATA
from paper.store import Store

OUT = ROOT / "benchmarks" / "LOOP.md"
KEPT = ROOT / "results" / ".work" / "loop.jsonl"
N_TRAIN, N_TEST, RATE, REPEATS, SEEDS = 1000, 1000, 0.1, 3, 3


def measured(name: str) -> dict[str, Any]:
    """Plant errors, value, drop the suspects up to the ruler's cut-off, and compare models."""
    data, rng = load(name), protocol.generator(name, 0)
    train, held = protocol.split(data, N_TRAIN, N_TEST, rng)
    pool = Pool(data.X, data.y, SOURCES[name].kind == "embedding")
    X, X_test = features(pool, train, held)
    wrong = rng.permutation(train.size) < round(RATE * train.size)
    y = protocol.flip(data.y[train], wrong, rng)
    valuator = KNNShapley(
        encoder=["auto", OutOfBagForest(), LinearScores()], n_neighbors=10, progress=False
    )
    values = valuator.fit(X, y).value(ruler=REPEATS)
    if values.ruler is None or values.ruler.cutoff is None:
        return {"cutoff": None}
    suspects = values.suspects()["index"]
    before, test = _frame(X, y), _frame(X_test, data.y[held])

    def less(rows: Ints) -> Comparison:
        return compare(
            before, before.drop(rows), label="y", test=test, task="classes", seeds=SEEDS,
            progress=False,
        )  # fmt: skip

    return {
        "cutoff": len(suspects),
        "hits": int(wrong[suspects].sum()),
        "planted": int(wrong.sum()),
        "after": _accuracies(less(suspects)),
        "ideal": _accuracies(less(np.flatnonzero(wrong))),
    }


def _accuracies(made: Comparison) -> list[dict[str, Any]]:
    return [asdict(score) for score in made.scores if score.metric == ACCURACY]


def _frame(X: Floats, y: Ints) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(y=y)


def line(title: str, found: dict[str, Any]) -> str:
    """The row of the table."""
    if found["cutoff"] is None:
        return f"| {title} | cannot tell | | | | | | | |"
    after, ideal = ([Score(**score) for score in found[side]] for side in ("after", "ideal"))
    cells = [title, f"{found['cutoff']}", f"{found['hits']} of {found['planted']}"]
    cells += [after[0].verdict, str(after[0]).removeprefix("balanced accuracy ")]
    cells += [f"{score.difference:+.3f}" for score in after[1:]]
    cells.append(f"{ideal[0].difference:+.3f}")
    return f"| {' | '.join(cells)} |"


def page(rows: dict[str, dict[str, Any]]) -> str:
    """The page in Markdown."""
    told = [found for found in rows.values() if found["cutoff"] is not None]
    verdicts = [Score(**found["after"][0]).verdict for found in told]
    models = [score["model"] for score in told[0]["after"][1:]]
    gains = [found["after"][0]["difference"] for found in told]
    heads = ["data", "dropped", "planted errors among them", "verdict"]
    heads += ["balanced accuracy, mean of the models", *models, "all errors dropped, no others"]
    return "\n".join(
        [
            "# Does the loop pay?",
            "",
            f"Written by `python -m benchmarks.loop`, dataworth {dataworth.__version__}. Of each "
            f"data set, {N_TRAIN:,} training rows (fewer where a balanced draw without repeats is "
            f"smaller) of which {RATE:.0%} get another label at random, and {N_TEST:,} test rows "
            "with the labels they have. Rows are valued by `KNNShapley(encoder=['auto', "
            f"OutOfBagForest(), LinearScores()], n_neighbors=10)` and `value(ruler={REPEATS})`; "
            "those that `suspects()` lists are dropped, unseen by anybody. `compare` trains models "
            "before and "
            f"after, with {SEEDS} seeds; intervals hold 95 % of bootstrap draws. The last column "
            "is what somebody gains who knows which labels are wrong.",
            "",
            f"Better on {verdicts.count('better')} of {len(rows)} data sets, worse on "
            f"{verdicts.count('worse')}, no clear difference on "
            f"{verdicts.count('no clear difference')}; the mean difference is "
            f"{np.mean(gains):+.3f}.",
            "",
            f"| {' | '.join(heads)} |",
            "|---|" + "---|" * (len(heads) - 1),
            *(line(title, found) for title, found in rows.items()),
            "",
        ]
    )


def main(quick: bool) -> int:
    """Measure what is missing, and write the page."""
    store = Store(KEPT, sources=("protocol.py", "../benchmarks/loop.py"))
    rows: dict[str, dict[str, Any]] = {}
    for name in ("phoneme", "wind") if quick else DATA:
        try:
            load(name)
        except FileNotFoundError as error:
            print(f"left out: {name} ({error})", file=sys.stderr)
            continue
        rows[SOURCES[name].title] = store.get({"data": name}, partial(measured, name))
        print(line(SOURCES[name].title, rows[SOURCES[name].title]), flush=True)
    with atomic(OUT) as file:
        file.write(page(rows).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main("--quick" in sys.argv[1:]))
