"""`python -m tests.hover.causes [--part a|b] [-v]`: whether who hovers where it goes wrong learns the line to blame.

Of each faulty program of the corpus the line is taken where torch raises, or, where it raises nothing, each line that
is fair to report. All names on it are hovered over in the real server. The cause is *told* by a card that shows a
finding, and in it a line that a person would edit; a finding on that very line tells it by being there.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections.abc import Iterator

from tests.corpus.labels import PARTS, Labelled, corpus
from tests.hover.latency import names
from tests.lsp.editor import Editor, editing
from tests.support.analyzer import Line

FINDING = re.compile(r"^\*\*(?:error|warning|info) AG\d+\*\*", re.MULTILINE)
PLACE = re.compile(r"^- (?:(?P<file>\S+) )?line (?P<line>\d+):", re.MULTILINE)


def trouble(program: Labelled) -> frozenset[Line]:
    if program.truth.at is not None:
        return frozenset({program.truth.at})
    return frozenset(line for silent in program.silent for line in silent.lines)


def told(card: str, here: Line) -> Iterator[Line]:
    """The lines that the findings on a card lead to."""
    if FINDING.search(card):
        yield here
        for found in PLACE.finditer(card):
            yield Line(found["file"] or here.file, int(found["line"]))


async def tells_cause(editor: Editor, program: Labelled) -> bool:
    sources = program.sources
    uris = {name: (sources.root / name).resolve().as_uri() for name in sources.texts}
    found: set[Line] = set()
    for name, uri in uris.items():
        editor.open(uri, sources.texts[name])
        await editor.diagnostics_of(uri, 1)
    for here in trouble(program):
        uri = uris[here.file]
        for line, character in names(sources.texts[here.file]):
            if line == here.number - 1:
                answer = await editor.hover(uri, line, character)
                found |= set(told(str(answer.contents.value), here)) if answer is not None else set()
    return bool(found & program.causes)


async def measure(parts: tuple[str, ...], verbose: bool) -> None:
    for part in parts:
        programs = [program for program in corpus((part,)) if program.causes and trouble(program)]
        short: list[str] = []
        for program in programs:
            async with editing() as editor:
                if not await tells_cause(editor, program):
                    short.append(program.name)
        print(
            f"{part}: the cause is told for {len(programs) - len(short)} of {len(programs)} faulty programs", flush=True
        )
        if verbose:
            print(*short, sep="\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hover.causes", description=__doc__)
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("-v", "--verbose", action="store_true", help="name the programs whose cause is not told")
    options = parser.parse_args()
    asyncio.run(measure((options.part,) if options.part else PARTS, options.verbose))
    return 0


if __name__ == "__main__":
    sys.exit(main())
