"""`python -m benchmarks.soak PATH ... --minutes 10`: types into files for a while, and watches memory and answers.

Changes come in bursts, as fast as they can be written, across all files: characters, lines that are taken out or put
in. Of each burst the last version has to be answered. At the end every file is asked about once more, and a new server
about the same texts: both have to say the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import psutil
from rich.console import Console
from rich.progress import Progress

from benchmarks.client import Answer, Answers, Client, Document, Failed, Json
from benchmarks.servers import OURS, installed

WORDS = ("x = y.detach()", "loss.backward()", "# note", "with torch.no_grad():", "y = (a", "z += 1", "pass")

SETTLING = 60.0
"""Seconds after which memory should have stopped growing."""

LONGEST_BURST = 8


@dataclass(slots=True)
class Typist:
    """Edits the lines of one document at random; `lines` end without their line feeds."""

    document: Document
    chance: random.Random
    lines: list[str] = field(init=False)
    taken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.document.text.split("\n")

    def change(self) -> Json:
        """One change, as the protocol tells it."""
        at = self.chance.randrange(len(self.lines))
        kind = self.chance.random()
        if kind < 0.6:
            return self._characters(at)
        if kind < 0.75 and len(self.lines) > 1:
            self.taken = self.lines[at : at + self.chance.randint(1, 5)]
            return self._lines(at, len(self.taken), [])
        if kind < 0.9 and self.taken:
            return self._lines(at, 0, self.taken)
        indent = len(self.lines[at]) - len(self.lines[at].lstrip())
        return self._lines(at, 0, [" " * indent + self.chance.choice(WORDS)])

    def _characters(self, at: int) -> Json:
        line = self.lines[at]
        column = self.chance.randint(0, len(line)) if line.isascii() else 0
        erased = self.chance.randint(0, 2) if line.isascii() and self.chance.random() < 0.4 else 0
        erased = min(erased, len(line) - column)
        text = self.chance.choice("abcxyz_.()[]= 0:")
        self.lines[at] = line[:column] + text + line[column + erased :]
        return _change(at, column, at, column + erased, text)

    def _lines(self, at: int, gone: int, come: Sequence[str]) -> Json:
        """Whole lines out and in; the last line stays, so that there is always a line to begin the next one."""
        gone = min(gone, len(self.lines) - 1 - at)
        self.lines[at : at + gone] = come
        return _change(at, 0, at + gone, 0, "".join(f"{line}\n" for line in come))


def _change(line: int, column: int, end_line: int, end_column: int, text: str) -> Json:
    start, end = {"line": line, "character": column}, {"line": end_line, "character": end_column}
    return {"range": {"start": start, "end": end}, "text": text}


@dataclass(slots=True)
class Outcome:
    """`memory` are megabytes by seconds since the start."""

    keystrokes: int = 0
    answers: int = 0
    slowest: float = 0.0
    memory: list[tuple[float, float]] = field(default_factory=list)

    def largest(self, start: float, end: float) -> float:
        return max((size for at, size in self.memory if start <= at < end), default=0.0)


async def _start(folder: Path, answers: Answers) -> Client:
    (tool,), _ = installed([OURS])
    return await tool.start(folder, answers == "push")


async def soak(paths: Sequence[Path], seconds: float, seed: int, answers: Answers, progress: Progress) -> Outcome:
    """Raises `Failed` where a version is not answered, or is answered otherwise than by a new server."""
    folder = paths[0].parent
    chance = random.Random(seed)
    outcome = Outcome()
    client = await _start(folder, answers)
    try:
        process = psutil.Process(client.process.pid)
        typists = [Typist(Document.of(path), chance) for path in paths]
        for typist in typists:
            await client.open(typist.document)
        begun = monotonic()
        task = progress.add_task("typing", total=seconds)
        while (passed := monotonic() - begun) < seconds:
            outcome.memory.append((passed, process.memory_info().rss / 1e6))
            progress.update(task, completed=passed)
            answer = await _burst(client, chance.choice(typists), chance.randint(1, LONGEST_BURST), outcome)
            outcome.slowest = max(outcome.slowest, answer.seconds)
        said = [await _ask(client, typist) for typist in typists]
    finally:
        await client.stop()
    await _compare(folder, answers, typists, said)
    return outcome


async def _burst(client: Client, typist: Typist, length: int, outcome: Outcome) -> Answer:
    document = typist.document
    for _ in range(length - 1):
        document.version += 1
        identified = {"uri": document.uri, "version": document.version}
        client.notify("textDocument/didChange", {"textDocument": identified, "contentChanges": [typist.change()]})
    outcome.keystrokes += length
    outcome.answers += 1
    return await client.change(document, typist.change())


async def _ask(client: Client, typist: Typist) -> Answer:
    """What the server says now, in answer to a change that changes nothing."""
    return await client.change(typist.document, _change(0, 0, 0, 0, ""))


async def _compare(folder: Path, answers: Answers, typists: Sequence[Typist], said: Sequence[Answer]) -> None:
    client = await _start(folder, answers)
    try:
        documents = [Document(one.document.uri, "\n".join(one.lines)) for one in typists]
        for document in documents:
            await client.open(document)
        for document, before in zip(documents, said, strict=True):
            now = await client.change(document, _change(0, 0, 0, 0, ""))
            if _told(now) != _told(before):
                raise Failed(f"{document.uri}: a new server says {_told(now)}, the other one said {_told(before)}")
    finally:
        await client.stop()


def _told(answer: Answer) -> list[str]:
    """`data` has what is the server's own."""
    return sorted(json.dumps({**found, "data": None}, sort_keys=True) for found in answer.diagnostics)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--push", action="store_true", help="ask nothing: wait for what the server publishes by itself")
    options = parser.parse_args()
    paths = [path.resolve() for path in options.paths]
    told = Console(stderr=True)
    seconds = 60 * options.minutes
    with Progress(console=told) as progress:
        try:
            run = soak(paths, seconds, options.seed, "push" if options.push else "pull", progress)
            outcome = asyncio.run(run)
        except Failed as error:
            told.print(f"failed: {error}", highlight=False, soft_wrap=True)
            return 1
    settling = min(SETTLING, seconds / 2)
    early, late = outcome.largest(0, settling), outcome.largest(settling, seconds)
    print(
        f"{len(paths)} files, {outcome.keystrokes} changes in {options.minutes:g} minutes, {outcome.answers} versions "
        f"waited for and answered, the slowest in {outcome.slowest:.2f} s; at most {early:.0f} MB in the first "
        f"{settling:.0f} s, {late:.0f} MB after ({100 * (late - early) / early:+.1f} %); a new server says the same"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
