"""`python -m tests.oracle PATH...`: what real torch does with each program, as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.oracle import Program, run_batch


def main() -> None:
    """Run the programs that the command line names, and print their runs by path."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("path", nargs="+", type=Path, help="a program, or a folder with main.py")
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--seconds", type=int, default=60, help="the time that each may take")
    options = parser.parse_args()
    runs = run_batch([Program.at(path) for path in options.path], options.jobs, options.seconds)
    json.dump({str(path): run.to_json() for path, run in zip(options.path, runs, strict=True)}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
