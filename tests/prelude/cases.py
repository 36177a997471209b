"""`python -m tests.prelude.cases [NAME ...] [--show N]`: the programs of `programs_*.py`, torch beside the machine."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import torch.nn.utils.prune  # noqa: F401  (the programs name it)

from tests.prelude import programs_nn, programs_optim, programs_rest
from tests.prelude.machine_side import Analyzer
from tests.prelude.programs import Program
from tests.prelude.report import score, table


def programs() -> Iterator[Program]:
    """Each function `case_...` with what its file defines for all of them; what it returns is compared."""
    for module in (programs_nn, programs_optim, programs_rest):
        yield from _programs(module)


def _programs(module: ModuleType) -> Iterator[Program]:
    assert module.__file__ is not None
    text = Path(module.__file__).read_text(encoding="utf-8")
    cases: dict[str, str] = {}
    shared: list[str] = []
    for node in ast.parse(text).body:
        source = ast.get_source_segment(text, node) or ""
        if isinstance(node, ast.FunctionDef) and node.name.startswith("case_"):
            cases[node.name] = source
        else:
            shared.append(source)
    for name, source in cases.items():
        yield Program(name, lines=[*shared, source, f"seen = {name}(torch)"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.prelude.cases", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of programs; all unless told")
    parser.add_argument("--show", type=int, default=0, help="show what differs")
    options = parser.parse_args()
    analyzer = Analyzer()
    chosen = (p for p in programs() if not options.names or any(name in p.name for name in options.names))
    for line in table((score(p.name, [p], analyzer) for p in chosen), options.show):
        print(line, flush=True)


if __name__ == "__main__":
    main()
