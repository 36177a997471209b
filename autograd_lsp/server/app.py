"""What the features share: the host, the open documents, and the single way to query the analyzer."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from analyzers.queries.cancellation import Cancelled, CancelToken
from analyzers.report import Sighting
from autograd_lsp import __version__
from autograd_lsp.config import ConfigError, Configuration, is_below
from autograd_lsp.config.display import Display
from autograd_lsp.server.convert import Converter
from autograd_lsp.server.documents import Document, Documents, encoding_of, path_of
from autograd_lsp.server.known import KnownFindings
from autograd_lsp.server.open_notebooks import SYNC, OpenNotebook, open_notebook
from autograd_lsp.server.progress import Progress
from autograd_lsp.server.protocol import Protocol
from autograd_lsp.server.worker import Worker
from autograd_lsp.text.positions import without_lone_surrogates
from autograd_lsp.text.sinks import notice

if TYPE_CHECKING:
    from analyzers.host import Host, Snapshot

logger = logging.getLogger(__name__)

T = TypeVar("T")

_ANSWERS_TO_REMEMBER = 1_000
"""The analyzer drops nothing sooner, however much memory it takes: what it needs it would only run again."""


class AutogradServer(LanguageServer):
    protocol: Protocol

    def __init__(self, make_host: Callable[[], Host], configuration: Configuration) -> None:
        """`configuration` is the one that the host asks."""
        super().__init__("autograd-lsp", __version__, protocol_cls=Protocol, notebook_document_sync=SYNC)
        self._make_host = make_host
        self._making_host = threading.Lock()
        self._host: Host | None = None
        self.configuration = configuration
        configuration.on_error = self.tell_bad_configuration
        self.known = KnownFindings(configuration, self.tell_bad_configuration)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told: set[str] = set()
        self.revision = 0
        """Counts every change that the analyzer was told of."""
        self._remembered = 0
        """Answers given since the analyzer has dropped what it had used longest ago."""
        self.notebooks: dict[str, OpenNotebook] = {}
        """The open ones, by path."""
        self.display = Display()
        self.durations: deque[float] = deque(maxlen=100)
        """Seconds that the last answers took."""
        self.counts: dict[str, int] = {}
        """Findings of each file that was asked about, when it was last."""
        self.when_changed: list[Callable[[bool], None]] = []
        """Who wants to hear of every change that the analyzer was told of, and whether it is one to an open text."""
        self.when_answered: list[Callable[[str], None]] = []
        """Who wants to hear of every file whose findings were told."""
        self._waiting: list[asyncio.Future[None]] = []
        self._urgent = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._leisurely: list[CancelToken] = []
        self._worker = Worker()
        self.work = Progress(self)

    @property
    def host(self) -> Host:
        """Made when it is needed first: to load the analyzer takes longer than to tell the client what we can do."""
        with self._making_host:
            if self._host is None:
                self._host = self._make_host()
            return self._host

    def prepare(self) -> None:
        """Load the analyzer, beside whatever the client does first."""
        self._worker.start(lambda: self.host)

    def use_own_documents(self, params: types.InitializeParams) -> None:
        """Called while initializing: pygls has made its workspace and not yet used it."""
        self._loop = asyncio.get_running_loop()
        self.protocol.trace = params.trace or types.TraceValue.Off
        workspace = self.protocol.workspace
        self.protocol._workspace = Documents(
            workspace.root_uri,
            types.TextDocumentSyncKind.Incremental,
            params.workspace_folders or [],
            workspace.position_encoding,
        )

    def open_document(self, uri: str) -> Document | None:
        document = self.workspace.get_text_document(uri)
        return document if isinstance(document, Document) and document.version is not None else None

    def open_documents(self) -> Iterable[Document]:
        """Those that are files of their own: the cells of notebooks are not."""
        documents = [one for one in list(self.workspace.text_documents.values()) if isinstance(one, Document)]
        return [document for document in documents if not self._is_cell(document.uri)]

    def path(self, uri: str) -> str:
        """The path that the analyzer knows a document by; of a cell, that of its notebook."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        return path_of(notebook.uri if notebook is not None else uri)

    def open_paths(self) -> list[str]:
        """Open files and notebooks."""
        return [*(document.key for document in self.open_documents()), *self.notebooks]

    def shown_as(self, path: str) -> list[str]:
        """The URIs of the open documents that show the file at `path`; of a notebook, of its cells."""
        if path in self.notebooks:
            return list(self.notebooks[path].uris)
        return [document.uri for document in self.open_documents() if document.key == path]

    def version_of(self, uri: str) -> int | None:
        document = self.open_document(uri)
        return document.version if document else None

    def tell_text(self, document: Document) -> None:
        text = without_lone_surrogates(document.source)
        self._tell(lambda: self.host.set_text(document.key, text), by_edit=True)

    def tell_opened(self, document: Document) -> None:
        self.tell_text(document)
        self._tell_which_are_open()

    def tell_closed(self, uri: str) -> None:
        self._tell(lambda: self.host.close(path_of(uri)))
        self._tell_which_are_open()

    def tell_notebook(self, uri: str) -> None:
        """A notebook was opened, or is other than it was."""
        document = self.workspace.get_notebook_document(notebook_uri=uri)
        if document is None:
            return
        path = path_of(uri)
        is_new = path not in self.notebooks
        notebook = self.notebooks[path] = open_notebook(document, self.workspace)
        self._tell(lambda: self.host.set_text(path, notebook.program.text), by_edit=True)
        if is_new:
            self._tell_which_are_open()

    def tell_notebook_closed(self, uri: str) -> None:
        self.notebooks.pop(path_of(uri), None)
        self.tell_closed(uri)

    def tell_disk_changed(self, uri: str) -> None:
        self._tell(lambda: self.host.file_changed(path_of(uri)))

    def tell_outside_known(self, kinds: Mapping[str, str]) -> None:
        self._tell(lambda: self.host.outside_known(kinds))

    def tell_configuration_changed(self) -> None:
        """Bad configurations are told again."""
        self._told.clear()
        self.configuration.forget()
        self._tell(self.host.choices_changed)

    def tell_display_changed(self) -> None:
        """The user wants to see more, or less, of what is said. An answer under way is for what was wanted."""
        self.revision += 1
        self._say_changed(by_edit=False)

    def tell_bad_configuration(self, error: ConfigError | str) -> None:
        """To the user, once, from whichever thread. What is wrong counts as if it were not there."""
        message = str(error)
        if message not in self._told and self._loop is not None:
            self._told.add(message)
            params = types.ShowMessageParams(types.MessageType.Error, notice(f"autograd-lsp: {message}"))
            self._loop.call_soon_threadsafe(self.window_show_message, params)

    def sightings(self, snapshot: Snapshot, path: str) -> list[Sighting]:
        """None where the file is excluded, nor of what lies in one that is, nor what a baseline records."""
        excludes = self.configuration.excludes
        if excludes(path):
            return []
        found = [one for one in snapshot.sightings(path) if not excludes(one.finding.place.path)]
        found = self.known.new(snapshot, found)
        self.counts[path] = len(found)
        return found

    async def ask(self, question: Callable[[Snapshot, Converter], T]) -> T:
        """The answer for the newest texts: a question that a change cuts short, or overtakes, is asked again."""
        return await self._ask_now(question, is_quick=False)

    async def _ask_now(self, question: Callable[[Snapshot, Converter], T], *, is_quick: bool) -> T:
        self._urgent += 1
        self._is_quiet.clear()
        for token in self._leisurely:
            token.cancel()
        try:
            return await self._ask(question, CancelToken(self._worker.make_way), is_quick=is_quick)
        finally:
            self._urgent -= 1
            if not self._urgent:
                self._is_quiet.set()

    async def ask_at_leisure(self, question: Callable[[Snapshot, Converter], T]) -> T:
        """The same for one of many questions that nobody waits for: it makes way for `ask`, and is asked again then."""
        while True:
            await self._is_quiet.wait()
            token = CancelToken(self._worker.make_way)
            self._leisurely.append(token)
            try:
                return await self._ask(question, token, is_quick=False)
            except Cancelled:
                if not token.is_cancelled:
                    raise
            finally:
                self._leisurely.remove(token)

    async def _ask(self, question: Callable[[Snapshot, Converter], T], token: CancelToken, *, is_quick: bool) -> T:
        while True:
            revision, began = self.revision, time.monotonic()
            try:
                answer = await self._worker.run(
                    lambda aside: self._answer(question, token, aside=aside), is_quick=is_quick
                )
            except Cancelled:
                if self.revision == revision or token.is_cancelled:
                    raise
            else:
                if self.revision == revision:
                    self._note_answer(question, time.monotonic() - began)
                    return answer

    async def ask_about(self, uri: str, question: Callable[[Snapshot, Converter], T], otherwise: T) -> T:
        """For a request with a position in it: the position means nothing once its document has changed.

        A failure of the analyzer is logged, and the answer is `otherwise`.
        """
        version = self.version_of(uri)

        @functools.wraps(question)
        def guarded(snapshot: Snapshot, converter: Converter) -> T:
            if self.version_of(uri) != version:
                raise JsonRpcContentModified
            return question(snapshot, converter)

        try:
            answer = await self._ask_now(guarded, is_quick=True)
        except JsonRpcException:
            raise
        except Exception:
            logger.exception("the analysis of %s failed", uri)
            return otherwise
        if self.version_of(uri) != version:
            raise JsonRpcContentModified
        return answer

    async def beside(self, job: Callable[[], T]) -> T:
        """What takes too long for the thread that talks with the client."""
        return await self._worker.run(lambda _: job())

    async def next_change(self) -> None:
        """Until the analyzer is told of a change, or something else is to be shown."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    def folders(self) -> list[str]:
        """Those of the workspace that lie on the disk, none within another."""
        uris = [folder.uri for folder in list(self.workspace.folders.values())]
        roots = {path for uri in uris or [self.workspace.root_uri or ""] if (path := to_fs_path(uri)) is not None}
        paths = sorted(os.path.normpath(path) for path in roots if path)
        return [one for one in paths if not any(one != other and is_below(one, other) for other in paths)]

    def shrink_if_large(self) -> None:
        """On the worker thread, by those who ask about one file after the other."""
        self.host.shrink_if_large()

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """Into the log. A message box in the middle of someone's typing helps nobody."""
        logger.error("%s: %s", source.__name__, error)

    def _is_cell(self, uri: str) -> bool:
        return self.workspace.get_notebook_document(cell_uri=uri) is not None

    def _note_answer(self, question: Callable[..., object], seconds: float) -> None:
        self.durations.append(seconds)
        if self.protocol.trace != types.TraceValue.Off:
            feature = question.__module__.rpartition(".")[2]
            verbose = f"revision {self.revision}, {len(self.open_paths())} open"
            is_verbose = self.protocol.trace == types.TraceValue.Verbose
            message = f"{feature}: answered in {1000 * seconds:.0f} ms"
            self.log_trace(types.LogTraceParams(message, verbose if is_verbose else None))

    def _answer(self, question: Callable[[Snapshot, Converter], T], token: CancelToken, *, aside: bool) -> T:
        """On the worker thread; `aside` in the middle of another answer."""
        token.check()
        snapshot = self.host.snapshot(token, aside=aside)
        uris = {document.key: document.uri for document in self.open_documents()}
        notebooks = dict(self.notebooks)
        self._remembered += 1
        if not aside and self._remembered > _ANSWERS_TO_REMEMBER and self.host.shrink_if_large():
            self._remembered = 0
        return question(snapshot, Converter(snapshot, encoding_of(self.workspace.position_codec), uris, notebooks))

    def _tell_which_are_open(self) -> None:
        self._tell(lambda: self.host.look_at_together(self.open_paths()))

    def _tell(self, change: Callable[[], object], *, by_edit: bool = False) -> None:
        self.revision += 1
        try:
            change()
        except Exception:
            logger.exception("the analyzer did not take a change")
        self._say_changed(by_edit=by_edit)

    def _say_changed(self, *, by_edit: bool) -> None:
        for tell in self.when_changed:
            tell(by_edit)
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)
