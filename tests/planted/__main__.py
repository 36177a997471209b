"""`python -m tests.planted FOLDER --count 40 --seed 7`: how many faults planted in loops that are followed are found.

FOLDER holds scripts, in whatever folders of their own. Of each file at most one loop is taken, and one fault at random.
Every fault that was not found is printed with its place.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from tests.planted.measure import Outcome, measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=40, help="how many loops to take")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    scripts = sorted(options.folder.rglob("*.py"))
    dice = random.Random(options.seed)
    dice.shuffle(scripts)
    outcomes: list[Outcome] = []
    for outcome in measure(scripts, dice):
        outcomes.append(outcome)
        told = "found" if outcome.found else "missed"
        print(f"{told} {outcome.kind:10} {outcome.path}:{outcome.line} {' '.join(outcome.codes)}")
        sys.stdout.flush()
        if len(outcomes) == options.count:
            break
    print(f"{sum(outcome.found for outcome in outcomes)} of {len(outcomes)} found")


if __name__ == "__main__":
    main()
