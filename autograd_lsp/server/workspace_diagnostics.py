"""`workspace/diagnostic`: the findings of every file of the workspace, open or not, for a client that pulls them.

One file is asked about after the other, each makes way for what the user asks meanwhile, and of what was told only
result ids are kept. A client that has the newest of everything is answered once something changes. Notebooks are left
out: where one is open, its cells are asked about.
"""

from __future__ import annotations

import logging
import os
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled

from analyzers.queries.cancellation import Cancelled
from autograd_lsp.files.folders import files_below
from autograd_lsp.files.gitignore import GitIgnore
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.convert import Converter, result_id_of
from autograd_lsp.server.documents import path_of, uri_of

if TYPE_CHECKING:
    from analyzers.host import Snapshot

logger = logging.getLogger(__name__)

MOST_FILES = 10_000
"""Of a workspace with more, the rest is told when it is opened."""

Full: TypeAlias = types.WorkspaceFullDocumentDiagnosticReport
Unchanged: TypeAlias = types.WorkspaceUnchangedDocumentDiagnosticReport


def register(server: AutogradServer) -> None:
    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def pull(params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
        answer = Answer(server, params)
        while True:
            revision = server.revision
            await answer.bring_up_to_date()
            if server.revision != revision:
                continue  # any of it may be old already
            if answer.has_news or not answer.known:
                return types.WorkspaceDiagnosticReport(answer.reports())
            await server.next_change()


class Answer:
    """`known` holds, by path, the spelling and the result id of what the client has been told."""

    def __init__(self, server: AutogradServer, params: types.WorkspaceDiagnosticParams) -> None:
        self.known = {path_of(one.uri): (one.uri, one.value) for one in params.previous_result_ids}
        self.has_news = False
        self._server = server
        self._work = params.work_done_token
        self._partial = params.partial_result_token
        self._news: dict[str, Full] = {}

    async def bring_up_to_date(self) -> None:
        """Tell of each file that is other than what is known of it, with its progress the first time."""
        paths = await self._server.beside(lambda: _files(self._server))
        work, self._work = self._work, None
        progress = self._server.work_done_progress
        if work is not None:
            progress.begin(work, types.WorkDoneProgressBegin("autograd-lsp", cancellable=True, percentage=0))
        try:
            for number, path in enumerate(paths):
                if work is not None:
                    if progress.tokens[work].cancelled():
                        raise JsonRpcRequestCancelled
                    message = f"{os.path.basename(path)} ({number + 1} of {len(paths)})"
                    share = 100 * number // len(paths)
                    progress.report(work, types.WorkDoneProgressReport(message=message, percentage=share))
                if self._server.display.workspace or self._server.shown_as(path):
                    await self._look_at(path)
            for gone in self.known.keys() - set(paths if self._server.display.workspace else self._server.open_paths()):
                if self._server.open_document(self.known[gone][0]) is None:
                    self._tell(gone, [])
        finally:
            if work is not None:
                progress.end(work, types.WorkDoneProgressEnd())
                del progress.tokens[work]

    def reports(self) -> list[Full | Unchanged]:
        """What has not been told yet, with a word on each file that is as it was known."""
        if self._partial is not None:
            return []
        same = [(path, uri, value) for path, (uri, value) in self.known.items() if path not in self._news]
        unchanged = [Unchanged(uri, value, self._server.version_of(uri)) for path, uri, value in same]
        return [*self._news.values(), *unchanged]

    async def _look_at(self, path: str) -> None:
        server = self._server

        def answer(snapshot: Snapshot, converter: Converter) -> list[types.Diagnostic]:
            server.shrink_if_large()
            sightings = server.sightings(snapshot, path)
            return converter.diagnostics(sightings, converter.uri(path))

        try:
            self._tell(path, await server.ask_at_leisure(answer))
        except Cancelled:
            raise
        except Exception:
            logger.exception("the analysis of %s failed", path)

    def _tell(self, path: str, diagnostics: list[types.Diagnostic]) -> None:
        result_id = result_id_of(diagnostics)
        uri, known = self.known.get(path, (next(iter(self._server.shown_as(path)), uri_of(path)), None))
        if known == result_id:
            return
        self.known[path] = (uri, result_id)
        self.has_news = True
        report = Full(uri, diagnostics, self._server.version_of(uri), result_id=result_id)
        if self._partial is None:
            self._news[path] = report
        else:
            part = types.WorkspaceDiagnosticReportPartialResult([report])
            self._server.progress(types.ProgressParams(self._partial, part))


def _files(server: AutogradServer) -> list[str]:
    """The open ones first: somebody looks at them."""
    paths = dict.fromkeys(document.key for document in server.open_documents())
    for folder in server.folders() if server.display.workspace else ():
        below = files_below(folder, server.configuration, (".py",), GitIgnore.below(folder))
        paths.update(dict.fromkeys(islice(below, MOST_FILES - len(paths))))
    return list(paths)
