"""Some seconds of the fuzzer, and the cases that it found before."""

from pathlib import Path

import pytest

from dataworth.games.registry import GAMES
from tests.fuzz.case import CASES, Case
from tests.fuzz.checking import check
from tests.fuzz.playing import UTILITIES
from tests.fuzz.running import run

SECONDS = 10.0
LEAST = 200  # games, where the first of them compile kernels for longer than that


def test_every_game_has_an_oracle() -> None:
    assert set(UTILITIES) == set(GAMES)


@pytest.mark.parametrize("seed", [17, None], ids=["the same games", "other games each time"])
def test_random_games_equal_enumeration(seed: int | None) -> None:
    tally = run(SECONDS, seed, least=LEAST)
    print(tally.text())
    assert not tally.failures, "\n".join(failure.text() for failure in tally.failures)


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_cases_that_failed_once(path: Path) -> None:
    verdict = check(Case.from_json(path.read_text()))
    assert not verdict.problem, f"{verdict.problem}\n{verdict.detail}"
