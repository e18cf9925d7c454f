"""The command: `python -m tests.fuzz --seconds 600`, or `--seed S --only I` for one case again."""

import argparse
import sys

from tests.fuzz.running import Tally, run, run_one


def main(arguments: list[str] | None = None) -> int:
    """Fuzz for some seconds, print what came of it, and return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to draw games")
    parser.add_argument("--seed", type=int, help="a whole number; drawn anew if it is not given")
    parser.add_argument("--only", type=int, help="play this one case of the seed")
    parser.add_argument("--large", type=float, default=0.04, help="the share of large games")
    given = parser.parse_args(arguments)
    if given.only is not None:
        return run_one(given.seed or 0, given.only, given.large)
    tally: Tally = run(given.seconds, given.seed, large_share=given.large, say=print)
    print(tally.text())
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
