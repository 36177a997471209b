"""How long a hover takes in an editor: `python -m tests.hover.latency PATH...` asks the real server and prints figures.

Each program is opened by itself, its diagnostics are waited for, and every name in it is hovered over, in order. What
counts is the time from the request to the answer, over standard input and output, where the answer speaks of a tensor.
The first of a program is told apart: it runs the program once more, with a recorder.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from tests.lsp.editor import Editor, editing


@dataclass(frozen=True)
class Measured:
    """Milliseconds of one program's hovers, and how many names had nothing to say of a tensor."""

    first: list[float]
    later: list[float]
    silent: int


def names(text: str) -> Iterator[tuple[int, int]]:
    """Line and column of each name, as the protocol counts."""
    lines = text.encode().splitlines(keepends=True)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
    for node in sorted(found, key=lambda name: (name.lineno, name.col_offset)):
        before = lines[node.lineno - 1][: node.col_offset].decode()
        yield node.lineno - 1, len(before.encode("utf-16-le")) // 2


async def measure(editor: Editor, path: Path) -> Measured:
    text, uri = path.read_text(encoding="utf-8"), path.resolve().as_uri()
    editor.open(uri, text)
    await editor.diagnostics_of(uri, 1)
    taken: list[float] = []
    silent = 0
    for line, character in names(text):
        began = time.perf_counter()
        answer = await editor.hover(uri, line, character)
        milliseconds = 1000 * (time.perf_counter() - began)
        if answer is not None and "requires_grad" in str(answer.contents):
            taken.append(milliseconds)
        else:
            silent += 1
    editor.close(uri)
    return Measured(taken[:1], taken[1:], silent)


async def measure_all(paths: Sequence[Path]) -> list[Measured]:
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(version_support=True)
        )
    )
    async with editing(capabilities) as editor:
        return [await measure(editor, path) for path in paths]


def line(what: str, milliseconds: list[float]) -> str:
    if len(milliseconds) < 2:
        return f"{what}: {len(milliseconds)}"
    middle, p95 = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[-1]
    return f"{what}: {len(milliseconds)}, median {middle:.1f} ms, p95 {p95:.1f} ms, longest {max(milliseconds):.1f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hover.latency", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="Python programs, or folders of them")
    parser.add_argument("--most", type=int, default=20, help="of all programs, the first so many (20)")
    options = parser.parse_args()
    found = [file for path in options.paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    programs = found[: options.most]
    try:
        measured = asyncio.run(measure_all(programs))
    except (OSError, SyntaxError, UnicodeDecodeError, TimeoutError, asyncio.TimeoutError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(f"programs: {len(measured)}, names that are no tensors: {sum(one.silent for one in measured)}")
    print(line("first hovers", [one for each in measured for one in each.first]))
    print(line("later hovers", [one for each in measured for one in each.later]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
