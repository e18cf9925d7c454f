"""Draws and checks cases until time is up, and counts."""

import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.case import CASES, Case
from tests.fuzz.checking import Verdict, check
from tests.fuzz.drawing import draw
from tests.fuzz.shrinking import shrunk

MOST_FAILURES = 10  # no more are collected


@dataclass
class Failure:
    """A case that failed: how to draw it again, and the smallest one like it."""

    seed: int
    index: int
    large_share: float
    case: Case
    verdict: Verdict

    @property
    def command(self) -> str:
        """The command that plays the case again."""
        more = f" --large {self.large_share}" if self.large_share != 0.04 else ""
        return f"python -m tests.fuzz --seed {self.seed} --only {self.index}{more}"

    def text(self) -> str:
        """Say what is wrong, how to see it again, and the shrunken case."""
        verdict = self.verdict
        said = f"{verdict.problem} (error {verdict.error:.3g})\n{verdict.detail}"
        return f"{said}\nAgain: {self.command}\nShrunken:\n{self.case.to_json()}"


@dataclass
class Tally:
    """What came of a run."""

    seed: int
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    errors: dict[str, tuple[float, int]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    differences: int = 0

    def add(self, index: int, case: Case, verdict: Verdict) -> None:
        """Count a case."""
        self.kinds[case.kind] += 1
        group = _group(case)
        if not verdict.problem and verdict.error >= self.errors.get(group, (-1.0, 0))[0]:
            self.errors[group] = (verdict.error, index)
        self.differences += bool(verdict.problem)

    def text(self) -> str:
        """Return the summary."""
        games = self.kinds.total()
        lines = [f"seed {self.seed}: {games} games in {self.seconds:.0f} s"]
        lines += [f"  {count:7d}  {kind}" for kind, count in sorted(self.kinds.items())]
        lines.append("largest errors, in units of the utility, and the case that has it:")
        for group, (error, index) in sorted(self.errors.items()):
            lines.append(f"  {error:.1e}  {group} (--seed {self.seed} --only {index})")
        lines.append(f"differences beyond the tolerance: {self.differences}")
        return "\n".join(lines)


def _group(case: Case) -> str:
    if case.check == "large":
        return "sums of large games"
    bits = case.params["n_bits"]
    if case.params["weights"] == "uniform":
        words = "uniform weights"
    else:
        words = "real weights" if bits is None else f"{bits:2d} bits"
    semivalue = case.params["semivalue"]
    tiny = isinstance(semivalue, list) and min(semivalue[1:]) < 1e-3
    words += f", {case.game}"
    return words + (", Beta with a parameter below 1e-3" if tiny else "")


def run(
    seconds: float,
    seed: int | None = None,
    *,
    large_share: float = 0.04,
    least: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Tally:
    """Check cases for some seconds, and at least so many of them."""
    tally = Tally(secrets.randbelow(2**31) if seed is None else seed)
    say(f"seed {tally.seed}")
    started, index = time.monotonic(), 0
    while time.monotonic() - started < seconds or index < least:
        case = draw(tally.seed, index, large_share)
        verdict = check(case)
        tally.add(index, case, verdict)
        if verdict.problem:
            small, reason = shrunk(case, verdict)
            failure = Failure(tally.seed, index, large_share, small, reason)
            tally.failures.append(failure)
            path = CASES / f"seed-{tally.seed}-{index}.json"
            small.note = f"{reason.problem.splitlines()[0]}; {failure.command}"
            path.write_text(small.to_json())
            say(f"{failure.text()}Kept as {path.name}\n")
            if len(tally.failures) >= MOST_FAILURES:
                break
        index += 1
    tally.seconds = time.monotonic() - started
    return tally


def run_one(seed: int, index: int, large_share: float) -> int:
    """Play one case again, print it and what came of it, and return 1 if it fails."""
    case = draw(seed, index, large_share)
    verdict = check(case)
    print(case.to_json())
    print(verdict.problem or f"right, with an error of {verdict.error:.1e}")
    print(verdict.detail)
    return 1 if verdict.problem else 0
