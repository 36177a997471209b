"""The server while the analyzer is busy, broken, or asked nonsense."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import BROKEN, PATIENCE, PATIENT_CLIENT, PULL_CLIENT, PUSH_CLIENT, REPOSITORY, Editor, editing

CONTROLLED = (sys.executable, str(Path(__file__).with_name("controlled_server.py")))
URI = "file:///project/train.py"
OTHER = "file:///project/other.py"


async def test_a_change_cancels_the_analysis_of_the_text_before() -> None:
    async with editing(server=CONTROLLED) as editor:
        editor.open(URI, "SLOW")
        editor.edit(URI, 2, (0, 0), (0, 4), "done")
        [diagnostic] = await editor.diagnostics_of(URI, 2)
    assert diagnostic.message == "done"
    assert [params.version for params in editor.published] == [2]


async def test_a_change_elsewhere_cancels_too_and_both_get_their_turn() -> None:
    async with editing(server=CONTROLLED) as editor:
        editor.open(URI, "one")
        editor.open(OTHER, "SLOW")
        editor.edit(OTHER, 2, (0, 0), (0, 4), "two")
        assert [d.message for d in await editor.diagnostics_of(OTHER, 2)] == ["two"]
        assert [d.message for d in await editor.diagnostics_of(URI, 1)] == ["one"]


async def test_a_failure_in_one_document_leaves_the_others_alone() -> None:
    async with editing(server=CONTROLLED) as editor:
        editor.open(URI, "FAIL")
        assert await editor.hover(URI, 0, 0) is None
        editor.open(OTHER, "fine")
        assert [d.message for d in await editor.diagnostics_of(OTHER, 1)] == ["fine"]
        editor.edit(URI, 2, (0, 0), (0, 4), "mended")
        assert [d.message for d in await editor.diagnostics_of(URI, 2)] == ["mended"]
    assert editor.messages == []


async def test_a_request_about_a_text_that_has_changed_is_refused() -> None:
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(URI, "SLOW")
        hover = asyncio.ensure_future(editor.hover(URI, 0, 0))
        await asyncio.sleep(0.2)
        editor.edit(URI, 2, (0, 0), (0, 4), "done")
        with pytest.raises(JsonRpcException) as refusal:
            await asyncio.wait_for(hover, PATIENCE)
    assert refusal.value.code == types.LSPErrorCodes.ContentModified


async def test_a_pull_that_was_overtaken_answers_for_the_newest_text() -> None:
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(URI, "SLOW")
        pulled = asyncio.ensure_future(editor.pull(URI))
        await asyncio.sleep(0.2)
        editor.edit(URI, 2, (0, 0), (0, 4), "done")
        report = await asyncio.wait_for(pulled, PATIENCE)
    assert [d.message for d in report.items] == ["done"]


async def test_a_cancelled_request_is_answered_while_the_analyzer_still_works() -> None:
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(URI, "SLOW")
        params = types.HoverParams(types.TextDocumentIdentifier(URI), types.Position(0, 0))
        hover = editor.protocol.send_request(types.TEXT_DOCUMENT_HOVER, params, msg_id="h")
        await asyncio.sleep(0.2)
        editor.cancel_request(types.CancelParams("h"))
        with pytest.raises(JsonRpcException) as refusal:
            await asyncio.wait_for(asyncio.wrap_future(hover), PATIENCE)
    assert refusal.value.code == types.LSPErrorCodes.RequestCancelled


async def test_a_hover_is_answered_while_another_file_is_analysed() -> None:
    """Here for good, so that nothing else could answer it."""
    async with editing(PULL_CLIENT, CONTROLLED) as editor:
        editor.open(OTHER, "fine")
        editor.open(URI, "SLOW")
        pulled = asyncio.ensure_future(editor.pull(URI))
        await asyncio.sleep(0.2)
        for _ in range(2):
            assert await asyncio.wait_for(editor.hover(OTHER, 0, 0), PATIENCE) is not None
        assert not pulled.done()
        editor.edit(URI, 2, (0, 0), (0, 4), "done")
        assert [d.message for d in (await asyncio.wait_for(pulled, PATIENCE)).items] == ["done"]


async def test_leaving_does_not_wait_for_the_analyzer() -> None:
    async with editing(server=CONTROLLED) as editor:
        editor.open(URI, "SLOW")
        await asyncio.sleep(0.2)
        before = time.monotonic()
    assert time.monotonic() - before < 5


def told(editor: Editor) -> list[str]:
    """What was told of work that takes long, in order."""
    [reports] = editor.progress_reports.values()
    return [f"{value.kind} {getattr(value, 'message', None) or ''}".strip() for value in reports]


async def test_work_that_takes_long_is_told_until_it_ends() -> None:
    async with editing(PATIENT_CLIENT, CONTROLLED) as editor:
        editor.open(URI, "SLOW")
        await asyncio.sleep(1.5)
        editor.open(OTHER, "fine")
        editor.edit(URI, 2, (0, 0), (0, 4), "done")
        await editor.diagnostics_of(URI, 2)
        await editor.diagnostics_of(OTHER, 1)
        await asyncio.sleep(0.1)
        name = URI.rpartition("/")[2]
        assert told(editor)[0] == f"begin analysing {name}"
        assert [line for line in told(editor) if line.startswith("end")] == told(editor)[-1:]


async def test_nothing_is_told_of_quick_work_nor_to_clients_that_do_not_show_it() -> None:
    for capabilities, text in ((PATIENT_CLIENT, "fine"), (PUSH_CLIENT, "SLOW")):
        async with editing(capabilities, CONTROLLED) as editor:
            editor.open(URI, text)
            await asyncio.sleep(1.3)
            editor.edit(URI, 2, (0, 0), (0, 4), "done")
            await editor.diagnostics_of(URI, 2)
            assert not editor.progress_reports


async def test_a_request_that_makes_no_sense_is_answered() -> None:
    async with editing() as editor:
        for method, params in [("textDocument/hover", {"textDocument": {}}), ("autograd/graph", {"nothing": 1})]:
            with pytest.raises(JsonRpcException) as refusal:
                await editor.request_as_is(method, params)
            assert refusal.value.code == types.ErrorCodes.InvalidParams
        editor.open(URI, BROKEN)
        assert len(await editor.diagnostics_of(URI, 1)) == 1


async def test_a_file_changed_on_the_disk_is_asked_about_again() -> None:
    capabilities = types.ClientCapabilities(
        text_document=PULL_CLIENT.text_document,
        workspace=types.WorkspaceClientCapabilities(
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        ),
    )
    async with editing(capabilities) as editor:
        editor.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams([types.FileEvent(OTHER, types.FileChangeType.Changed)])
        )
        editor.open(URI, BROKEN)
        await editor.pull(URI)
        assert editor.diagnostic_refresh_count == 1


async def test_over_tcp_the_first_editor_keeps_its_connection() -> None:
    command = [sys.executable, "-m", "autograd_lsp", "server", "--tcp", "127.0.0.1:0"]
    with subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().rpartition(":")[2])
        editor = Editor()
        await editor.start_tcp("127.0.0.1", port)
        await editor.initialize_session(types.InitializeParams(PUSH_CLIENT))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        writer.close()
        editor.open(URI, BROKEN)
        assert len(await editor.diagnostics_of(URI, 1)) == 1
        await editor.shutdown_session()
        assert await asyncio.to_thread(process.wait, PATIENCE) == 0
        await editor.stop()


def test_what_prints_while_serving_does_not_reach_the_protocol() -> None:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None}}
    )
    program = (
        "import analyzers.host, autograd_lsp.server.features as f; real = f.AutogradServer.use_own_documents\n"
        "f.AutogradServer.use_own_documents = lambda *a: (print('stray'), real(*a))\n"
        "from autograd_lsp.server.transport import serve_stdio; serve_stdio()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        input=f"Content-Length: {len(body)}\r\n\r\n{body}",
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.stdout.startswith("Content-Length")
    assert "stray" in run.stderr
