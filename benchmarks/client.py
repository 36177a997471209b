"""A language client of no particular editor: it opens, types, and tells how long each answer took.

One *keystroke* is one incremental `didChange`. Its *answer* is what says how the document stands in that very version:

- of a server that is *pulled* from, the response to a `textDocument/diagnostic` request sent right after the change;
- of a server that *pushes*, the `publishDiagnostics` notification that bears the version of the change. A server that
  names no version has answered with whatever it publishes next.

The clock starts before the change is written to the server's pipe, and stops when the last byte of the answer has been
read: what parsing it costs is the editor's. The same code speaks to every server.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

Answers = Literal["pull", "push", "never"]
"""How a server tells diagnostics; `never` for one that is only started."""

Json = dict[str, Any]

PATIENCE = 180.0
"""Seconds after which an answer is not coming any more."""

_ASK_AGAIN = {-32802, -32801, -32800}
"""Server cancelled, content modified, request cancelled: the answer is still owed, and asking again is on the clock."""


class Failed(Exception):  # noqa: N818
    """The server is gone, silent, or refuses."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`seconds` from the change to the last byte of the answer."""

    seconds: float
    diagnostics: list[Json]


@dataclass(slots=True)
class Document:
    """A text as the editor has it; columns count UTF-16 units, and what is typed is ASCII."""

    uri: str
    text: str
    version: int = 1

    @classmethod
    def of(cls, path: Path) -> Document:
        return cls(path.as_uri(), path.read_text(encoding="utf-8"))


@dataclass(slots=True)
class Client:
    """One server process. `published` holds by URI what came last, and when."""

    name: str
    answers: Answers
    process: asyncio.subprocess.Process
    settings: Mapping[str, Any]
    started: float
    capabilities: Json = field(default_factory=dict)
    initialized: float = 0.0
    """Seconds from the start of the process to the answer to `initialize`."""
    published: dict[str, tuple[float, Json]] = field(default_factory=dict)
    _ids: itertools.count[int] = field(default_factory=itertools.count)
    _waiting: dict[int, asyncio.Future[tuple[float, Json]]] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _reader: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls,
        name: str,
        command: Sequence[str],
        folder: Path,
        answers: Answers = "push",
        *,
        environment: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        log: Path | None = None,
    ) -> Client:
        """The server of this command on this folder, initialized; `settings` are answered by section."""
        begun = perf_counter()
        with open(log or os.devnull, "ab") as stderr:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                env=dict(environment) if environment is not None else None,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
            )
        client = cls(name, answers, process, settings or {}, begun)
        client._reader = asyncio.create_task(client._read())
        try:
            arrived, response = await client._ask("initialize", _initialize(folder, answers, client.settings))
        except BaseException:
            await client.kill()
            raise
        client.initialized = arrived - begun
        client.capabilities = response["capabilities"]
        client.notify("initialized", {})
        if client.settings:
            client.notify("workspace/didChangeConfiguration", {"settings": client.settings})
        return client

    async def open(self, document: Document) -> Answer:
        item = {"uri": document.uri, "languageId": "python", "version": document.version, "text": document.text}
        begun = perf_counter()
        self.notify("textDocument/didOpen", {"textDocument": item})
        return await self._answer(document, begun)

    async def type(self, document: Document, line: int, column: int, text: str, erased: str = "") -> Answer:
        """Erases what stands at this place, of any number of lines, and puts `text` there."""
        *before, last = erased.split("\n")
        end = {"line": line + len(before), "character": len(last) if before else column + len(last)}
        span = {"start": {"line": line, "character": column}, "end": end}
        return await self.change(document, {"range": span, "text": text})

    async def change(self, document: Document, change: Json) -> Answer:
        """One change, as the protocol tells it."""
        document.version += 1
        params = {"textDocument": {"uri": document.uri, "version": document.version}, "contentChanges": [change]}
        begun = perf_counter()
        self.notify("textDocument/didChange", params)
        return await self._answer(document, begun)

    def close(self, document: Document) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})

    async def stop(self) -> None:
        """Asks the server to leave, and makes it leave when it does not."""
        with suppress(Failed):
            await self._ask("shutdown", None, patience=10.0)
            self.notify("exit", None)
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.process.wait(), 5.0)
        await self.kill()

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    async def request(self, method: str, params: Any) -> Any:
        return (await self._ask(method, params))[1]

    async def _answer(self, document: Document, begun: float) -> Answer:
        if self.answers == "push":
            arrived, published = await self._published(document, begun)
            return Answer(arrived - begun, published["diagnostics"])
        report: Json | None = None
        while report is None:
            params = {"textDocument": {"uri": document.uri}}
            arrived, report = await self._ask("textDocument/diagnostic", params, again=True)
        return Answer(arrived - begun, report.get("items", []))

    async def _published(self, document: Document, begun: float) -> tuple[float, Json]:
        while True:
            arrived, params = self.published.get(document.uri, (0.0, {}))
            if arrived > begun and params.get("version") in {None, document.version}:
                return arrived, params
            self._news.clear()
            await self._within(PATIENCE - (perf_counter() - begun), self._news.wait(), "publish diagnostics")

    async def _ask(
        self, method: str, params: Any, patience: float = PATIENCE, again: bool = False
    ) -> tuple[float, Any]:
        """When the answer came, and its result; None for one that is to be asked for `again`."""
        number = next(self._ids)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "method": method, "params": params})
        arrived, message = await self._within(patience, future, f"answer {method}")
        error = message.get("error")
        if error is None:
            return arrived, message.get("result")
        if again and error["code"] in _ASK_AGAIN:
            return arrived, None
        raise Failed(f"{self.name} answers {method} with: {error['message']}")

    async def _within(self, patience: float, awaitable: Any, what: str) -> Any:
        try:
            found = await asyncio.wait_for(awaitable, max(patience, 0.0))
        except asyncio.TimeoutError:
            raise Failed(f"{self.name} does not {what}") from None
        if self._reader is None or self._reader.done():
            raise Failed(f"{self.name} has ended")
        return found

    def _send(self, message: Json) -> None:
        if self._reader is not None and self._reader.done():
            raise Failed(f"{self.name} has ended")
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        stream = self.process.stdout
        try:
            while True:
                length = 0
                while (header := await stream.readuntil(b"\r\n")) != b"\r\n":
                    key, _, value = header.partition(b":")
                    if key.lower() == b"content-length":
                        length = int(value)
                body = await stream.readexactly(length)
                self._receive(perf_counter(), json.loads(body))
        except (asyncio.IncompleteReadError, ConnectionError):
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(Failed(f"{self.name} has ended"))
            self._news.set()

    def _receive(self, arrived: float, message: Json) -> None:
        match message:
            case {"method": method, "id": number}:
                result = self._configured(message["params"]) if method == "workspace/configuration" else None
                self._send({"id": number, "result": result})
            case {"method": "textDocument/publishDiagnostics", "params": params}:
                self.published[params["uri"]] = arrived, params
                self._news.set()
            case {"id": int(number)}:
                future = self._waiting.pop(number, None)
                if future is not None and not future.done():
                    future.set_result((arrived, message))

    def _configured(self, params: Json) -> list[Any]:
        return [_section(self.settings, item.get("section", "")) for item in params["items"]]


def _section(settings: Mapping[str, Any], dotted: str) -> Any:
    found: Any = settings
    for part in filter(None, dotted.split(".")):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _initialize(folder: Path, answers: Answers, settings: Mapping[str, Any]) -> Json:
    text_document: Json = {
        "synchronization": {"dynamicRegistration": False},
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
    }
    if answers == "pull":
        text_document["diagnostic"] = {"dynamicRegistration": False, "relatedDocumentSupport": False}
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "benchmarks"},
        "rootPath": str(folder),
        "rootUri": folder.as_uri(),
        "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
        "initializationOptions": dict(settings),
        "capabilities": {
            "general": {"positionEncodings": ["utf-16"]},
            "textDocument": text_document,
            "window": {"workDoneProgress": False},
            "workspace": {"configuration": True, "workspaceFolders": True, "diagnostics": {"refreshSupport": True}},
        },
    }
