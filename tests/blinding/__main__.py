"""`python -m tests.blinding --count 20000 --seed 7 --jobs 2`: what is false of programs that hide something.

The table counts; of each of the most frequent false claims, the smallest program is shown.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.blinding.measure import Measured, measure, worst
from tests.blinding.programs import pairs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.blinding", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others follow")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=5, help="how many kinds of false claims to print, minimised")
    parser.add_argument("--each", type=int, default=1, help="how many programs to print for each of these")
    parser.add_argument("--warned", type=int, default=0, help="how many programs with a new warning to print")
    parser.add_argument(
        "--into", type=Path, help="a folder for the programs of which something false is said, as they are"
    )
    options = parser.parse_args()
    began = time.monotonic()
    measured = Measured()
    for measured in measure(pairs(options.seed, options.count), options.jobs):
        false = "; ".join(f"{len(items)} {key}" for key, items in measured.false.items())
        print(f"{measured.programs} programs, false: {false or 'nothing'}", file=sys.stderr)
    print(*measured.table(), sep="\n")
    print(f"{time.monotonic() - began:.0f} s")
    if options.into is not None:
        options.into.mkdir(parents=True, exist_ok=True)
        for number, (text, item) in enumerate(pair for items in measured.false.values() for pair in items):
            (options.into / f"{number:03}.py").write_text(f"# {item.key}: {item.detail}\n{text}")
    for text, item in worst(measured, options.show, options.each):
        print(f"\n## {item.key}\n{item.detail}\n\n{text}", end="")
    for text, message in measured.warned[: options.warned]:
        print(f"\n## warned: {message}\n\n{text}", end="")


if __name__ == "__main__":
    main()
