"""Result files: their statistics, their tables, and the versions they come from."""

import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

import dataworth
from dataworth.files import atomic as files


class Interval(NamedTuple):
    """A mean with half the width of its 95 % interval (t distribution over seeds)."""

    mean: float
    half: float

    def __str__(self) -> str:
        half = f" ± {self.half:.3f}" if np.isfinite(self.half) else ""
        return f"{self.mean:.3f}{half}"

    def signed(self) -> str:
        """Written as the difference of two means."""
        half = f" ± {self.half:.4f}" if np.isfinite(self.half) else ""
        return f"{self.mean:+.4f}{half}"


def interval(numbers: Sequence[float]) -> Interval:
    """Mean and 95 % interval; a single number has no interval.

    Examples
    --------
    >>> print(interval([0.8, 0.9]), interval([0.75]))
    0.850 ± 0.635 0.750
    """
    found = np.asarray(numbers, dtype=np.float64)
    if found.size < 2:
        return Interval(float(found.mean()), float("nan"))
    error = found.std(ddof=1) / np.sqrt(found.size)
    return Interval(float(found.mean()), float(error * stats.t.ppf(0.975, found.size - 1)))


class SignTest(NamedTuple):
    """How often one method beat another, and how likely that or more is by chance (two-sided)."""

    wins: int
    losses: int
    p: float

    def __str__(self) -> str:
        return f"{self.wins} better, {self.losses} worse, p = {self.p:.2g}"


def sign_test(differences: Iterable[float]) -> SignTest:
    """The sign test over data sets; differences of 0 do not count.

    Examples
    --------
    >>> print(sign_test([0.1] * 9 + [-0.1]))
    9 better, 1 worse, p = 0.021
    """
    given = list(differences)
    wins, losses = sum(d > 0 for d in given), sum(d < 0 for d in given)
    p = float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return SignTest(wins, losses, p)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in line) + " |" for line in lines)


def _cell(content: object) -> str:
    return str(content).replace("|", "\\|").replace("\n", " ")


def versions(extra: Sequence[str] = ()) -> str:
    """The versions of the packages that the figures depend on."""
    names = ("numpy", "scipy", "numba", "scikit-learn", *extra)
    found = [f"Python {platform.python_version()}", f"dataworth {dataworth.__version__}"]
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def write(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.atomic(path) as file:
        file.write(text.encode())
