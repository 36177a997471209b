"""What an editor shows beside findings: lenses, hints, highlights and the status."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from analyzers.report import Leaf, Place, Reach
from autograd_lsp.server.partner import is_worth_it
from autograd_lsp.server.requests.code_lens import reach_words
from tests.lsp.editor import BROKEN, PATIENCE, PULL_CLIENT, Editor, editing, with_encodings

URI = "file:///project/train.py"
OTHER = "file:///project/other.py"
CONTROLLED = (sys.executable, str(Path(__file__).with_name("controlled_server.py")))

NET = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 1)
    def forward(self, x):
        return self.head(self.body(x).detach())
model = Net()
loss = (
    model(torch.ones(2, 4))
)
loss.sum().backward(
    retain_graph=False
)
"""
REFRESHED_CLIENT = types.ClientCapabilities(
    text_document=PULL_CLIENT.text_document,
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
    ),
)


async def titles(editor: Editor, uri: str) -> list[str]:
    return [lens.command.title for lens in await editor.lenses(uri) if lens.command is not None]


async def until(what: Callable[[], object]) -> None:
    async def arrived() -> None:
        while not what():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(arrived(), PATIENCE)


async def test_a_lens_says_what_a_backward_does_not_reach() -> None:
    async with editing() as editor:
        editor.open(URI, NET)
        [lens] = await editor.lenses(URI)
        assert lens.range == types.Range(types.Position(13, 0), types.Position(13, 0))
        assert lens.command.title == "reaches 2 of 4 parameters: not `body.weight`, `body.bias`"
        assert lens.command.command in editor.offer.execute_command_provider.commands
        command = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
        await editor.workspace_execute_command_async(command)
        [message] = editor.messages
        assert message.type == types.MessageType.Info
        assert "\nreached: head.weight, head.bias\nnot reached: body.weight, body.bias" in message.message
        editor.edit(URI, 2, (8, 37), (8, 46), "")
        assert await titles(editor, URI) == ["reaches all 4 parameters"]
        editor.edit(URI, 3, (9, 0), (9, 13), "model = unknown()")
        assert await titles(editor, URI) == ["not followed: `unknown()` is not known"]
        await editor.workspace_execute_command_async(command)
        assert "unknown" in editor.messages[-1].message


async def test_a_lens_says_what_is_not_known() -> None:
    async with editing() as editor:
        editor.open(URI, "import torch\nfrom away import score\nloss = score(3)\nloss.backward()\n")
        [lens] = await editor.lenses(URI)
        assert lens.command.title == "not followed: `score(3)` is not known"
        command = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
        await editor.workspace_execute_command_async(command)
        assert editor.messages[-1].message.endswith(lens.command.title)


async def test_a_client_that_can_go_to_places_is_given_them() -> None:
    capabilities = types.ClientCapabilities(
        text_document=PULL_CLIENT.text_document,
        experimental={"commands": {"commands": ["autograd-lsp.showReach"]}},
    )
    async with editing(capabilities) as editor:
        editor.open(URI, NET)
        [lens] = await editor.lenses(URI)
    assert lens.command.command == "autograd-lsp.showReach"
    uri, position, places = lens.command.arguments
    assert (uri, position["line"]) == (URI, 13)
    # Weight and bias are made by one call.
    assert [(place["uri"], place["range"]["start"]["line"]) for place in places] == [(URI, 5)]


@pytest.mark.parametrize("experimental", [[], 3, {"commands": {"commands": [1, None]}}])
async def test_what_a_client_says_beside_the_protocol_may_be_anything(experimental: object) -> None:
    async with editing(types.ClientCapabilities(experimental=experimental)) as editor:
        assert editor.offer.code_lens_provider is not None


async def test_hints_say_what_is_new_about_a_name() -> None:
    text = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y = y.exp()
a, b = y * 2, torch.ones(3)
y = y.detach()
w = x.detach().clone()
w.requires_grad_()
é = '😀'; v = x.sum()
v.backward()
"""
    async with editing(with_encodings(types.PositionEncodingKind.Utf8)) as editor:
        editor.open(URI, text)
        hints = await editor.hints(URI)
        assert hints == {
            (2, 1): ": ExpBackward0",
            (4, 1): ": MulBackward0",
            (5, 1): ": no grad",
            (8, len("é = '😀'; v".encode())): ": SumBackward0",
        }
        assert await editor.hints(URI, 4, 6) == {at: word for at, word in hints.items() if 4 <= at[0] < 6}


async def test_a_hint_says_more_when_it_is_pointed_at() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        where = types.Range(types.Position(0, 0), types.Position(9, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(URI), where)
        [hint] = await editor.text_document_inlay_hint_async(params)
    assert hint.tooltip.startswith("y: requires_grad=True")
    assert "shape=[3]" in hint.tooltip


async def test_each_kind_of_hint_and_the_lens_can_be_switched() -> None:
    settings: dict[str, object] = {
        "autograd-lsp": {"inlayHints": {"shape": True, "gradFn": False}, "codeLens": {"reach": False}}
    }
    async with editing(REFRESHED_CLIENT, settings=settings) as editor:
        await until(lambda: editor.refreshed)
        editor.open(URI, BROKEN)
        assert await editor.hints(URI) == {(1, 1): ": [3]", (2, 1): ": requires_grad [3]"}
        editor.open(OTHER, NET)
        assert await titles(editor, OTHER) == []
        for bad in ({"inlayHints": {"shape": "yes"}}, {"inlayHints": 3}):
            editor.set_configuration(bad, section="autograd-lsp")
            editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
            await until(lambda: editor.messages)
            assert editor.messages.pop().message.startswith("autograd-lsp: autograd-lsp.inlayHints")
        assert await titles(editor, OTHER) != []


async def test_what_an_edit_does_to_other_documents_is_asked_about_again() -> None:
    async with editing(REFRESHED_CLIENT) as editor:
        editor.open(OTHER, "import torch\nx = torch.ones(3, requires_grad=True)\n")
        editor.edit(OTHER, 2, (0, 0), (0, 0), "\n")
        await asyncio.sleep(1)
        del editor.refreshed[:]
        editor.open(URI, "from other import x\ny = x.exp()\n")
        assert await editor.hints(URI) == {(1, 1): ": ExpBackward0"}
        await until(lambda: {"hints", "lenses"} <= set(editor.refreshed))
        del editor.refreshed[:]
        editor.edit(OTHER, 3, (2, 16), (2, 36), "")
        await until(lambda: {"hints", "lenses"} <= set(editor.refreshed))
        assert await editor.hints(URI) == {}


async def test_an_excluded_file_has_neither_hints_nor_lenses(tmp_path: Path) -> None:
    (tmp_path / "autograd-lsp.toml").write_text('exclude = ["old/"]')
    uri = (tmp_path / "old" / "net.py").as_uri()
    async with editing() as editor:
        editor.open(uri, NET)
        assert await editor.hints(uri) == {}
        assert await editor.lenses(uri) == []


async def highlights(editor: Editor, line: int, character: int) -> list[tuple[int, types.DocumentHighlightKind]] | None:
    document, position = types.TextDocumentIdentifier(URI), types.Position(line, character)
    found = await editor.text_document_document_highlight_async(types.DocumentHighlightParams(document, position))
    return None if found is None else [(one.range.start.line, one.kind) for one in found]


async def test_the_steps_of_a_trace_are_highlighted_on_its_finding_alone() -> None:
    read, write = types.DocumentHighlightKind.Read, types.DocumentHighlightKind.Write
    async with editing() as editor:
        editor.open(URI, BROKEN)
        assert await highlights(editor, 3, 2) == [(2, read), (3, write), (4, read)]
        assert await highlights(editor, 1, 0) is None
        assert await highlights(editor, 99, 0) is None


async def test_the_status_counts_what_is_open_and_what_was_asked(tmp_path: Path) -> None:
    async with editing(PULL_CLIENT, folders=[tmp_path.as_uri()]) as editor:
        editor.open(URI, BROKEN)
        await editor.pull(URI)
        status = await editor.protocol.send_request_async("autograd/status", None)
        assert (status.open.files, status.open.notebooks) == (1, 0)
        assert (status.analysed.files, status.analysed.findings) == (1, 1)
        assert list(status.folders) == [str(tmp_path)]
        assert status.answers.counted == 1
        second = status.secondProcess
        assert second.state in ({"loading", "ready"} if is_worth_it() else {"none"})
        assert (second.pid is None) == (second.state == "none")
        command = types.ExecuteCommandParams("autograd-lsp.status")
        shown = await editor.workspace_execute_command_async(command)
        assert shown["version"] == status.version
        [message] = editor.messages
        assert "analysed: 1 files, 1 findings" in message.message
        with pytest.raises(JsonRpcException):
            await editor.workspace_execute_command_async(types.ExecuteCommandParams("autograd-lsp.nothing"))


async def test_answers_are_traced_while_the_client_wants_it() -> None:
    async with editing(PULL_CLIENT) as editor:
        editor.open(URI, BROKEN)
        await editor.pull(URI)
        assert editor.traced == []
        editor.set_trace(types.SetTraceParams(types.TraceValue.Messages))
        await editor.lenses(URI)
        await until(lambda: editor.traced)
        editor.set_trace(types.SetTraceParams(types.TraceValue.Off))
        await editor.pull(URI)
        assert [line.partition(":")[0] for line in editor.traced] == ["code_lens"]


async def test_a_failure_of_the_analyzer_shows_nothing() -> None:
    async with editing(server=CONTROLLED) as editor:
        editor.open(URI, "FAIL")
        assert await editor.hints(URI) == {}
        assert await editor.lenses(URI) == []
        assert await highlights(editor, 0, 0) is None
    assert editor.messages == []


def leaves(*names: str) -> tuple[Leaf, ...]:
    return tuple(Leaf(name, None) for name in names)


FOUR = leaves("a.weight", "a.bias", "b.weight", "b.bias")
LAYERS = leaves(*(f"body.{layer}.{name}" for layer in range(3) for name in ("weight", "bias")))


@pytest.mark.parametrize(
    ("always", "sometimes", "never", "besides", "words"),
    [
        (FOUR, (), (), (), "reaches all 4 parameters"),
        (FOUR[:1], (), (), (), "reaches `a.weight`"),
        (FOUR, (), (), leaves("x"), "reaches all 4 parameters and `x`"),
        ((), (), (), leaves("x", "y"), "reaches `x`, `y`"),
        (FOUR[:2], FOUR[2:], (), (), "reaches 2 to 4 of 4 parameters: not always `b.weight`, `b.bias`"),
        (FOUR[:1], FOUR[1:2], FOUR[2:], (), "reaches 1 to 2 of 4 parameters: not `b.weight`, `b.bias`"),
        (FOUR, (), LAYERS, (), "reaches 4 of 10 parameters: not `body.*`"),
        (LAYERS[:2], (), LAYERS[2:], (), "reaches 2 of 6 parameters: not `body.1.*`, `body.2.*`"),
        (FOUR, (), leaves("p", "q", "r", "s", "t"), (), "reaches 4 of 9 parameters: not `p`, `q`, `r` and 2 more"),
    ],
)
def test_the_words_of_a_lens(always, sometimes, never, besides, words: str) -> None:
    assert reach_words(Reach(Place("/p.py", 0, 1), always, sometimes, never, besides, 0)) == words
