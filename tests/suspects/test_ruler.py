"""The ruler on ranks: bookkeeping against plain counting, estimates against errors we know of."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dataworth.errors import InputError
from dataworth.suspects.ruler import Ruler, n_planted, ranks


def counted(scores: Sequence[float], planted: Sequence[int]) -> list[int]:
    """Ranks by their definition: the others that come before, by score and then by position."""
    others = [i for i in range(len(scores)) if i not in planted]
    return sorted(sum((scores[i], i) < (scores[p], p) for i in others) for p in planted)


def test_ranks_count_the_others_that_look_worse() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 15))
        scores = rng.integers(0, 5, n) / 4
        planted = rng.permutation(n)[: int(rng.integers(1, n))]
        assert ranks(scores, planted) == tuple(counted(scores.tolist(), planted.tolist()))


@pytest.mark.parametrize(
    ("n_points", "planted"),
    [(3, 0), (4, 1), (40, 10), (79, 19), (80, 20), (400, 20), (401, 20), (1000, 50), (10**5, 1000)],
)
def test_how_many_are_planted(n_points: int, planted: int) -> None:
    assert n_planted(n_points) == planted


def test_recall_is_the_share_of_planted_errors_so_far() -> None:
    """For numbers, nothing is corrected; a rank of k among 90 is one of k · 99 / 90 among 100."""
    ruler = Ruler(100, 0, ((0, 1, 2, 3, 9, 9, 9, 20, 50, 90), (0, 0, 0, 0, 0, 0, 1, 1, 1, 2)))
    assert ruler.recall(0) == 0.0
    assert ruler.recall(1) == (0.1 + 0.6) / 2
    assert ruler.recall(10) == (0.4 + 1.0) / 2  # a rank of 9 is 9.9 among 100
    assert ruler.recall(11) == (0.7 + 1.0) / 2
    assert ruler.recall(99) == (0.9 + 1.0) / 2
    assert ruler.recall(100) == 1.0
    assert ruler.spread(100) == 0.0
    np.testing.assert_allclose(ruler.spread(10), 0.6 / np.sqrt(2), rtol=0, atol=1e-12)
    assert np.isnan(Ruler(100, 0, ruler.ranks[:1]).spread(10))
    np.testing.assert_allclose(ruler.auroc, 1 - (193 + 5) / 20 / 90, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [-1, 101, 1.5, "all", None])
def test_recall_refuses_what_is_no_number_of_points(n: Any) -> None:
    with pytest.raises(InputError, match="^n must be a whole number"):
        Ruler(100, 2, ((0, 1),)).recall(n)


def planted_by(
    rng: np.random.Generator, n: int, rate: float, gap: float, n_classes: int, repeats: int = 3
) -> tuple[Ruler, float]:
    """A ruler on scores of which we know everything, and the share of errors that its worst hold.

    Errors score `gap` lower. Where a planted label replaces a wrong one, it may be the right one.
    """
    wrong = rng.permutation(n) < round(rate * n)
    base = rng.normal(size=n)
    found = []
    for _ in range(repeats):
        planted = rng.permutation(n)[: n_planted(n)]
        now = wrong.copy()
        lucky = rng.random(planted.size) < (1 / (n_classes - 1) if n_classes else 0)
        now[planted] = ~(wrong[planted] & lucky)
        scores = 0.8 * base + 0.6 * rng.normal(size=n) - gap * now
        found.append(ranks(scores, planted))
    ruler = Ruler(n, n_classes, tuple(found))
    if ruler.cutoff is None or not wrong.any():
        return ruler, np.nan
    worst = np.argsort(0.8 * base + 0.6 * rng.normal(size=n) - gap * wrong)[: ruler.cutoff]
    return ruler, float(wrong[worst].sum() / wrong.sum())


@pytest.mark.parametrize("n_classes", [0, 2, 10])
@pytest.mark.parametrize("rate", [0.02, 0.05, 0.1, 0.2])
def test_separable_errors_are_counted(rate: float, n_classes: int) -> None:
    """At most about: seldom below the truth, not far above it, and with the right recall."""
    rng = np.random.default_rng(0)
    rulers, true = zip(
        *(planted_by(rng, 1000, rate, 4.0, n_classes) for _ in range(40)), strict=True
    )
    counts = np.array([ruler.n_errors for ruler in rulers]) / (1000 * rate)
    assert np.mean(counts < 0.95) <= 0.1
    assert np.max(counts) < 1.75
    assert np.median(counts) < 1.5
    said = np.mean([ruler.recall(ruler.n_errors) for ruler in rulers])
    assert abs(said - np.mean(true)) < 0.04


def test_overlapping_errors_are_overestimated_but_not_missed() -> None:
    rng = np.random.default_rng(1)
    rulers = [planted_by(rng, 1000, 0.05, 1.5, 2)[0] for _ in range(40)]
    counts = np.array([ruler.n_errors for ruler in rulers])
    assert np.mean(counts < 50) <= 0.05
    assert np.median(counts) > 60


def test_clean_data_have_hardly_an_error() -> None:
    ruler, _ = planted_by(np.random.default_rng(0), 1000, 0.0, 5.0, 3)
    assert ruler.n_errors == 1
    assert ruler.sentence.startswith(
        "At most about 1 of 1,000 labels looks wrong; the worst row holds"
    )


@pytest.mark.parametrize("n", [50, 1000])
def test_scores_that_say_nothing_give_no_estimate(n: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        ruler, _ = planted_by(rng, n, 0.1, 0.0, 3)
        assert not ruler.tells
        assert ruler.n_errors is None
        assert ruler.cutoff is None
        assert ruler.error_rate is None
        said = (
            "How many labels are wrong cannot be told: errors planted at random hardly look worse"
        )
        assert ruler.sentence.startswith(said)


def test_a_few_planted_errors_do_not_tell() -> None:
    assert str(Ruler(5, 2, ((0,),))) == (
        "How many labels are wrong cannot be told from one planted error."
    )
    assert "cannot be told from 2 planted errors" in str(Ruler(5, 0, ((0,), (0,))))


def test_numbers_are_called_targets() -> None:
    ruler = planted_by(np.random.default_rng(0), 2000, 0.05, 5.0, 0)[0]
    assert ruler.n_errors is not None
    assert ruler.sentence == (
        f"At most about {ruler.n_errors} of 2,000 targets look wrong; the {ruler.n_errors} worst "
        f"rows hold about {100 * ruler.recall(ruler.n_errors):.0f} % of such errors."
    )


def test_plain_numbers_make_the_same_ruler() -> None:
    ruler = planted_by(np.random.default_rng(0), 100, 0.05, 3.0, 3)[0]
    assert Ruler.of(json.loads(json.dumps(ruler.plain()))) == ruler


@pytest.mark.parametrize(
    "change",
    [
        {"ranks": []},
        {"ranks": [[]]},
        {"ranks": [[1, 0]]},
        {"ranks": [[-1, 0]]},
        {"ranks": [[0, 9]]},
        {"ranks": [[0, 1.0]]},
        {"ranks": [[0, True]]},
        {"ranks": 3},
        {"ranks": [3]},
        {"ranks": None},
        {"n_points": 2},
        {"n_points": "10"},
        {"n_classes": 1},
        {"n_classes": -2},
        {"n_classes": None},
        {"more": 1},
    ],
    ids=str,
)
def test_what_is_no_ruler_is_refused(change: dict[str, Any]) -> None:
    good = {"n_points": 10, "n_classes": 2, "ranks": [[0, 1], [2, 8]]}
    assert Ruler.of(good)
    with pytest.raises(ValueError, match="its ruler"):
        Ruler.of({**good, **change})
    nothing: tuple[Any, ...] = (None, 3, [], "ruler", {})
    for none in nothing:
        with pytest.raises(ValueError, match="its ruler"):
            Ruler.of(none)
