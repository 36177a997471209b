"""What pygls gets wrong between the wire and our handlers stays mended: answers, errors, the end, files of the disk."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError

from autograd_lsp.config import Configuration
from autograd_lsp.server.app import AutogradServer
from autograd_lsp.server.features import create_server
from autograd_lsp.server.progress import Progress
from autograd_lsp.server.protocol import Protocol
from autograd_lsp.server.wire import messages
from tests.lsp.editor import BROKEN, PATIENCE, REPOSITORY, SERVER, editing


def server() -> AutogradServer:
    def no_host() -> None:
        raise AssertionError("nothing is analysed")

    return create_server(no_host, Configuration())  # type: ignore[arg-type]


def protocol() -> Protocol:
    return server().protocol


def test_an_answer_to_a_question_that_was_given_up_is_dropped() -> None:
    ours: Future[Any] = Future()
    ours.cancel()
    ours.set_running_or_notify_cancel()
    under_test = protocol()
    under_test._request_futures[7] = ours
    under_test._handle_response(7, result=None)
    assert 7 not in under_test._request_futures


async def test_nothing_is_kept_of_a_message_that_has_been_handled() -> None:
    async def wait() -> None:
        await asyncio.sleep(0)

    def wait_as_a_step() -> Iterator[object]:
        yield wait, (), {}

    under_test, done = protocol(), list[Future[Any]]()
    for number, handler in enumerate([wait, wait_as_a_step]):
        under_test._execute_handler(number, handler, done.append)
    assert under_test._request_futures
    while len(done) < 2:
        await asyncio.sleep(0)
    assert not under_test._request_futures


async def test_a_shutdown_answers_what_is_under_way() -> None:
    """Those that end as they are cancelled take themselves from the table that is walked."""
    under_test, sent = protocol(), list[Any]()
    under_test._send_data = sent.append  # type: ignore[method-assign]
    under_test.is_initialized = True
    for number in range(3):
        pending: Future[Any] = Future()
        pending.add_done_callback(lambda done, n=number: under_test._send_handler_result(done, msg_id=n))
        under_test._request_futures[number] = pending
    under_test.handle_message(types.ShutdownRequest(id=9))
    assert [answer.id for answer in sent] == [0, 1, 2, 9]
    assert [getattr(answer, "error", None) is not None for answer in sent] == [True, True, True, False]


async def test_nothing_is_kept_of_progress_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    under_test, sent = server(), list[Any]()
    shown = under_test.work_done_progress

    async def create(token: str) -> None:
        shown.tokens[token] = Future()

    monkeypatch.setattr("autograd_lsp.server.progress._PATIENCE", 0)
    monkeypatch.setattr(shown, "create_async", create)
    monkeypatch.setattr(under_test.protocol, "_send_data", sent.append)
    monkeypatch.setattr(Progress, "_is_wanted", lambda _: True)
    with Progress(under_test).of("train.py"):
        while not sent:
            await asyncio.sleep(0)
        assert shown.tokens
    while len(sent) < 2:
        await asyncio.sleep(0)
    assert not shown.tokens


def test_an_error_carries_no_stack_trace() -> None:
    try:
        raise ValueError("in a handler")
    except ValueError:
        error = JsonRpcInternalError.of(sys.exc_info()).to_response_error()
    assert "traceback" in error.data, "pygls sends none any more"
    under_test, sent = protocol(), list[Any]()
    under_test._send_data = sent.append  # type: ignore[method-assign]
    under_test._send_response(7, error=error)
    assert [answer.id for answer in sent] == [7]
    assert "traceback" not in sent[0].error.data


def message(content: object) -> bytes:
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def test_the_server_ends_with_its_input_and_survives_what_is_no_json() -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None}}
    broken = b"Content-Length: 9\r\n\r\n{nonsense"
    done = subprocess.run(
        SERVER, input=broken + message(hello), cwd=REPOSITORY, capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0
    assert b'"capabilities"' in done.stdout


HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None}}
SHUTDOWN = {"jsonrpc": "2.0", "id": 2, "method": "shutdown"}
EXIT = {"jsonrpc": "2.0", "method": "exit"}
HOVER = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "textDocument/hover",
    "params": {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}},
}


def conversation(data: bytes) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and all that was answered, of a server that is sent this and no more."""
    done = subprocess.run(SERVER, input=data, cwd=REPOSITORY, capture_output=True, timeout=PATIENCE, check=False)
    answers = [json.loads(body) for body in messages(io.BytesIO(done.stdout)) if isinstance(body, bytes)]
    return done.returncode, [answer for answer in answers if "id" in answer]


def test_before_initialize_nothing_is_answered_and_after_shutdown_nothing_is_taken() -> None:
    code, answers = conversation(b"".join(map(message, (HOVER, HELLO, HELLO, SHUTDOWN, HOVER, EXIT))))
    assert [(answer["id"], answer.get("error", {}).get("code")) for answer in answers] == [
        (7, -32002),
        (1, None),
        (1, -32600),
        (2, None),
        (7, -32600),
    ]
    assert code == 0


def test_an_exit_without_a_shutdown_is_an_error() -> None:
    assert conversation(message(HELLO) + message(EXIT))[0] == 1
    assert conversation(message(EXIT))[0] == 1


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"Content-Length: abc\r\n\r\n{}", -32700),
        (b"Content-Length: -5\r\n\r\n{}", -32700),
        (b"Content-Length: 999999999999\r\n\r\n{}", -32700),
        (b"Content-Length:\r\nContent-Type: x\r\n\r\n{\n\n}", -32700),
        (b"Content-Length: 9\r\n\r\n{nonsense", -32700),
        (message("[" * 100_000)[:-2] + b" " * 2, -32700),
        (message([]), -32600),
        (message(None), -32600),
        (message({"id": 3}), -32600),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", None),
    ],
)
def test_the_next_message_is_read_whatever_came_before(sent: bytes, code: int | None) -> None:
    _, answers = conversation(sent + message(HELLO) + message(SHUTDOWN) + message(EXIT))
    if code is not None:
        assert (answers[0]["id"], answers[0]["error"]["code"]) == (None, code)
    assert [answer["id"] for answer in answers[code is not None :]] == [1, 2]


@pytest.mark.parametrize("last", [EXIT, None])
def test_the_server_ends_whatever_it_is_doing(last: object) -> None:
    """Here the thread that answers is busy for good, as soon as it has said what it can do."""
    program = (
        "import time, autograd_lsp.server.app as app, autograd_lsp.server.wire as wire\n"
        "app.AutogradServer.use_own_documents = lambda *a: time.sleep(600)\n"
        "from autograd_lsp.cli import main; main(['server'])"
    )
    sent = message(HELLO) + (message(last) if last else b"")
    with subprocess.Popen([sys.executable, "-c", program], cwd=REPOSITORY, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(sent)
        process.stdin.flush()
        if last is None:
            process.stdin.close()
        assert process.wait(PATIENCE) == 1


def test_the_server_ends_when_its_client_is_gone() -> None:
    """Which its input does not tell, as another process may hold the other end of it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        hello = {**HELLO, "params": {"capabilities": {}, "processId": client.pid}}
        with subprocess.Popen(SERVER, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(message(hello))
            process.stdin.flush()
            assert b"capabilities" in next(iter(messages(process.stdout)))  # type: ignore[operator]
            assert client.stdin is not None
            client.stdin.close()
            client.wait()
            assert process.wait(PATIENCE) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_a_file_that_is_not_open_has_the_lines_that_it_has_on_the_disk(tmp_path: Path, end: str) -> None:
    library, caller = tmp_path / "library.py", tmp_path / "train.py"
    library.write_bytes(f"# é{end}def write(y):{end}    y.add_(1){end}".encode())
    text = BROKEN.replace("y.add_(1)", "from library import write; write(y)")
    caller.write_text(text, encoding="utf-8")
    async with editing(folders=[tmp_path.as_uri()]) as editor:
        editor.open(caller.as_uri(), text)
        [diagnostic] = await editor.diagnostics_of(caller.as_uri(), 1)
    [cause] = [step.location for step in diagnostic.related_information or [] if step.location.uri == library.as_uri()]
    assert cause.range == types.Range(types.Position(2, 4), types.Position(2, 13))
