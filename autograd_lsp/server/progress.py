"""Reports that the analyzer is at work, once that takes long enough to notice."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from lsprotocol import types
from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

_PATIENCE = 1.0
"""Seconds of work before it is told."""


class Progress:
    """One line in the client's status bar for all that is being analysed, from the first file to the last."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._under_way: dict[object, str] = {}
        self._telling: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    @contextmanager
    def of(self, path: str) -> Iterator[None]:
        """While the block runs, the file at `path` is being analysed."""
        mark = object()
        self._under_way[mark] = PurePath(path).name
        self._changed.set()
        if self._telling is None and self._is_wanted():
            self._telling = asyncio.get_running_loop().create_task(self._tell())
        try:
            yield
        finally:
            del self._under_way[mark]
            self._changed.set()
            if not self._under_way and self._telling is not None:
                self._telling.cancel()
                self._telling = None

    def _is_wanted(self) -> bool:
        window = self._server.client_capabilities.window
        return window is not None and bool(window.work_done_progress)

    async def _tell(self) -> None:
        await asyncio.sleep(_PATIENCE)
        progress, token = self._server.work_done_progress, str(uuid.uuid4())
        try:
            await progress.create_async(token)
        except Exception:
            logger.exception("the client cannot show progress")
            return
        progress.begin(token, types.WorkDoneProgressBegin("autograd-lsp", message=self._message()))
        try:
            while True:
                self._changed.clear()
                await self._changed.wait()
                if self._under_way:
                    progress.report(token, types.WorkDoneProgressReport(message=self._message()))
        finally:
            progress.end(token, types.WorkDoneProgressEnd())
            del progress.tokens[token]  # pygls keeps it

    def _message(self) -> str:
        """The file that has been worked on longest: the others wait for it."""
        return f"analysing {next(iter(self._under_way.values()), '')}"
