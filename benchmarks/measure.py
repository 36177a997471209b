"""Servers on one workspace, by turns: each keystroke goes to each of them before the next is typed.

So whatever else the machine does hits all alike. Whose turn is first rotates. A turn ends when the server is idle
again: what it goes on doing after its answer is not timed against the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from benchmarks.cases import EditCase, Scene, StartCase, TypingCase
from benchmarks.client import Client, Document, Failed
from benchmarks.edits import Edit, edits
from benchmarks.places import Keystroke, find, keystrokes
from benchmarks.quiet import Tree
from benchmarks.results import Result
from benchmarks.servers import Tool

T = TypeVar("T")

Tick = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """`budget` is in seconds for typing in one case: once it is used up, `ENOUGH` keystrokes end the case, and once it
    is used up three times, `FEW` do."""

    keystrokes: int = 100
    edits: int = 12
    warm_up: int = 5
    starts: int = 7
    checks: int = 3
    budget: float = 180.0
    push: bool = False


ENOUGH = 10
FEW = 3


@dataclass(slots=True)
class Session:
    """A server with the scene open before it, and a new line where one is going to type."""

    client: Client
    document: Document
    tree: Tree
    diagnostics: int

    @classmethod
    async def begin(cls, tool: Tool, scene: Scene, push: bool, log: Path, types: bool = True) -> Session:
        client = await tool.start(scene.folder, push, log)
        try:
            tree = Tree(client.process.pid)
            document = Document.of(scene.file)
            opened = await client.open(document)
            for path in scene.others:
                await client.open(Document.of(path))
            await tree.settled()
            if types:
                place = find(document.text, scene.place)
                await client.type(document, place.line, 0, " " * place.indent + "\n")
                await tree.settled()
        except BaseException:
            await client.kill()
            raise
        return cls(client, document, tree, len(opened.diagnostics))

    async def type(self, stroke: Keystroke) -> float:
        answer = await self.client.type(self.document, stroke.line, stroke.column, stroke.text)
        await self.tree.calm()
        return answer.seconds

    async def change(self, edit: Edit) -> float:
        answer = await self.client.type(self.document, edit.line, edit.column, edit.text, edit.erased)
        await self.tree.calm()
        return answer.seconds


async def measure_edits(case: EditCase, tools: Sequence[Tool], effort: Effort, folder: Path, tick: Tick) -> Result:
    """Each edit goes to each server, and is taken back, which is not timed."""
    scene = case.build(_empty(folder / case.name))
    text = scene.file.read_text(encoding="utf-8")
    result = Result(case.name, case.group, f"{case.title}, {text.count(chr(10)):,} lines", text.count("\n"))
    chosen, sessions = edits(text, effort.edits), await _sessions(tools, scene, effort, folder, result, types=False)
    try:
        for number, edit in enumerate(chosen):
            for session in _rotated(sessions, number):
                name = session.client.name
                if name in result.failed:
                    continue
                try:
                    result.seconds[name].append(await session.change(edit))
                    await session.change(edit.undone())
                except (Failed, OSError) as error:
                    result.failed[name] = str(error)
            tick()
    finally:
        for session in sessions:
            await session.client.stop()
    return result


async def _sessions(
    tools: Sequence[Tool], scene: Scene, effort: Effort, folder: Path, result: Result, *, types: bool
) -> list[Session]:
    sessions: list[Session] = []
    for tool in tools:
        if tool.server.answers == "never":
            continue
        try:
            session = await Session.begin(tool, scene, effort.push, folder / f"{tool.name}.log", types)
        except (Failed, OSError) as error:
            result.failed[tool.name] = str(error)
            continue
        sessions.append(session)
        result.seconds[tool.name] = []
        result.diagnostics[tool.name] = session.diagnostics
    return sessions


async def measure_typing(case: TypingCase, tools: Sequence[Tool], effort: Effort, folder: Path, tick: Tick) -> Result:
    scene = case.build(_empty(folder / case.name))
    result = Result(case.name, case.group, case.title, case.size)
    sessions = await _sessions(tools, scene, effort, folder, result, types=True)
    try:
        place = find(scene.file.read_text(encoding="utf-8"), scene.place)
        strokes = list(islice(keystrokes(place, case.text), effort.warm_up + effort.keystrokes))
        await _type_by_turns(sessions, strokes, effort, result, tick)
    finally:
        for session in sessions:
            await session.client.stop()
    return result


async def _type_by_turns(
    sessions: Sequence[Session], strokes: Sequence[Keystroke], effort: Effort, result: Result, tick: Tick
) -> None:
    begun = perf_counter()
    for number, stroke in enumerate(strokes):
        for session in _rotated(sessions, number):
            name = session.client.name
            if name in result.failed:
                continue
            try:
                seconds = await session.type(stroke)
            except (Failed, OSError) as error:
                result.failed[name] = str(error)
                continue
            if number >= effort.warm_up:
                result.seconds[name].append(seconds)
        tick()
        timed, budgets = number + 1 - effort.warm_up, (perf_counter() - begun) / effort.budget
        if timed >= (FEW if budgets > 3 else ENOUGH if budgets > 1 else len(strokes)):
            break


async def measure_start(
    case: StartCase, tools: Sequence[Tool], effort: Effort, folder: Path, tick: Tick
) -> list[Result]:
    """Until the answer to `initialize`, and from `didOpen` until that file's first diagnostics."""
    scene = case.build(_empty(folder / case.name))
    started = Result("start-initialized", case.group, f"{case.title} to `initialized`")
    opened = Result("start-open", case.group, "from opening 990 lines in a new server to their diagnostics", 990)
    for number in range(effort.starts):
        for tool in _rotated(tools, number):
            try:
                client = await tool.start(scene.folder, effort.push, folder / f"{tool.name}.log")
            except (Failed, OSError) as error:
                started.failed[tool.name] = str(error)
                continue
            try:
                started.seconds.setdefault(tool.name, []).append(client.initialized)
                if tool.server.answers != "never":
                    answer = await client.open(Document.of(scene.file))
                    opened.seconds.setdefault(tool.name, []).append(answer.seconds)
                    opened.diagnostics[tool.name] = len(answer.diagnostics)
            except (Failed, OSError) as error:
                opened.failed[tool.name] = str(error)
            finally:
                await client.stop()
        tick()
    return [started, opened]


def _rotated(items: Sequence[T], by: int) -> list[T]:
    start = by % len(items) if items else 0
    return [*items[start:], *items[:start]]


def _empty(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
