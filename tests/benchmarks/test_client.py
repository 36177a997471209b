"""The benchmarks' client, on our own server: what it types is what the server has, and each version gets its answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.client import Client, Document, Failed
from benchmarks.servers import OURS, Tool, installed, of_checkout

PROGRAM = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()

y.sum().backward()
"""


@pytest.fixture
def ours() -> Tool:
    [tool], missing = installed([OURS])
    assert not missing
    return tool


@pytest.fixture
def document(tmp_path: Path) -> Document:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return Document.of(path)


@pytest.mark.parametrize("push", [False, True])
async def test_each_keystroke_is_answered_for_its_own_version(ours: Tool, document: Document, push: bool) -> None:
    client = await ours.start(Path(document.uri.removeprefix("file://")).parent, push)
    try:
        assert (await client.open(document)).diagnostics == []
        for column, character in enumerate("y.add_(1)"):
            answer = await client.type(document, 3, column, character)
            assert answer.seconds > 0
            assert document.version == column + 2
            if push:
                assert client.published[document.uri][1]["version"] == document.version
        assert [found["code"] for found in answer.diagnostics] == ["AG104"]
        await client.type(document, 0, 0, "a = 1\n  ")
        [found] = (await client.type(document, 0, 0, "", erased="a = 1\n  ")).diagnostics
        assert found["range"]["start"] == {"line": 3, "character": 0}
        erased = await client.type(document, 3, 0, "", erased="y.add_(1)")
        assert erased.diagnostics == []
    finally:
        await client.stop()
    assert client.process.returncode == 0
    assert bool(client.published) == push


async def test_a_server_that_ends_is_no_hang(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="short has ended"):
        await Client.start("short", [sys.executable, "-c", "pass"], tmp_path)


async def test_settings_are_answered_by_section(tmp_path: Path) -> None:
    client = await Client.start("echo", [sys.executable, "-c", _ASKS], tmp_path, settings={"python": {"depth": 3}})
    assert await client.request("what", None) == [3, {"depth": 3}, None]
    await client.kill()


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert installed(["pyrefly", "pyright"]) == ([], ["pyrefly", "pyright"])


def test_another_checkout_runs_its_own_modules(tmp_path: Path) -> None:
    (tmp_path / "autograd_lsp").mkdir()
    (tmp_path / "autograd_lsp" / "__main__.py").write_text("print('autograd-lsp 7.8.9')")
    [tool], missing = installed([], of_checkout(tmp_path))
    assert (tool.name, tool.version, missing) == ("before", "7.8.9", ["before-compiled"])
    assert list(tool.checks()) == ["before"]


_ASKS = """
import json, sys

def read():
    length = int(sys.stdin.buffer.readline().split()[1])
    sys.stdin.buffer.readline()
    return json.loads(sys.stdin.buffer.read(length))

def write(message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()

items = [{"section": "python.depth"}, {"section": "python"}, {"section": "none"}]
while message := read():
    if message.get("method") == "initialize":
        write({"id": message["id"], "result": {"capabilities": {}}})
    elif message.get("method") == "what":
        write({"id": 1, "method": "workspace/configuration", "params": {"items": items}})
        answer = read()
        write({"id": message["id"], "result": answer["result"]})
"""
