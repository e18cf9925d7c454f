"""Kernels as plain Python: no compiler stands between the source and the numbers.

Compiled code reads beyond the end of an array without a word, and integers overflow in it; plain
Python raises an error in the first case, and numpy warns in the second.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ENUMERATED = """
import json, sys
import numba, numpy as np
from dataworth import KNNShapley
from tests.games.test_games import GAMES, random_case
if not numba.config.DISABLE_JIT:
    sys.exit("compiled")
games, worst = 0, 0.0
for game in GAMES:
    for seed in range(96):  # every fourth has the same semivalue
        real = seed % 6 == 5 and game in ("soft", "regression")
        case = random_case(game, seed, **({"n_bits": None} if real else {}))
        values, exact = case.values(), case.enumerated()
        slack = (values.upper - values.lower).max()  # what real weights are certain to
        error = np.abs(values.values - exact).max() - slack
        games, worst = games + 1, max(worst, float(error) / case.scale)
        if seed % 5 == 0:
            bounded = case.values(max_rank=2)
            if not ((bounded.lower <= exact + 1e-12 * case.scale).all()
                    and (bounded.upper >= exact - 1e-12 * case.scale).all()):
                sys.exit(f"bounds of {game} {seed}")
rng = np.random.default_rng(0)
X, y = rng.integers(0, 5, (30, 2)).astype(float), rng.integers(0, 3, 30)
for way in ((), (X[:9] + 0.3, y[:9])):
    exact = KNNShapley(weights="uniform").fit(X, y).value(*way).values
    for max_rank in (1, 7, 27):
        some = KNNShapley(weights="uniform", max_rank=max_rank).fit(X, y).value(*way)
        if not ((some.lower <= exact + 1e-12) & (exact - 1e-12 <= some.upper)).all():
            sys.exit(f"bounds of the nearest {max_rank}")
print(json.dumps([games, worst]))
"""


def test_small_games_without_the_compiler() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ENUMERATED],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    games, worst = json.loads(done.stdout)
    assert games == 384
    assert worst < 1e-12
