"""Semantic tokens: what is sure of the tensors that names give, for those who want to see it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from autograd_lsp.server.requests.semantic_tokens import LEGEND
from tests.lsp.editor import PULL_CLIENT, Editor, editing
from tests.lsp.test_clients import Listening
from tests.lsp.test_notebooks import SYNC, open_notebook, uri
from tests.lsp.test_views import until

URI = "file:///project/train.py"
ON: dict[str, object] = {"autograd-lsp": {"semanticTokens": True}}
CONTROLLED = (sys.executable, str(Path(__file__).with_name("controlled_server.py")))
TEXT = """\
import torch
x = torch.ones(3, requires_grad=True)
n = 3
d = torch.ones(3)
h = (x * d).detach()
loss = (h + n).sum() + x.sum()
for either in (x, d):
    print(either)
for odd in (x, 2):
    print(odd)
def f(given):
    inner = x.exp()
    with torch.no_grad():
        score = inner * given
    return torch.argmax(inner)
f(d)
def uncalled():
    own = torch.ones(3).requires_grad_()
    return x + own
"""
FOUND = {
    "1 x": "requiresGrad leaf",
    "3 d": "",
    "4 h": "detached",
    "4 x": "requiresGrad leaf",
    "4 d": "",
    "5 loss": "requiresGrad",
    "5 h": "detached",
    "5 x": "requiresGrad leaf",
    "6 either": "",
    "6 x": "requiresGrad leaf",
    "6 d": "",
    "7 either": "",
    "8 x": "requiresGrad leaf",
    "11 inner": "requiresGrad",
    "11 x": "requiresGrad leaf",
    "13 score": "detached",
    "13 inner": "requiresGrad",
    "13 given": "",
    "14 inner": "requiresGrad",
    "15 d": "",
    "17 own": "requiresGrad leaf",
    "18 x": "",
    "18 own": "requiresGrad leaf",
}


def client(*, dynamic: bool = False, part: bool = True, **others: object) -> types.ClientCapabilities:
    tokens = types.SemanticTokensClientCapabilities(
        requests=types.ClientSemanticTokensRequestOptions(range=part, full=True),
        token_types=[],
        token_modifiers=[],
        formats=[types.TokenFormat.Relative],
        dynamic_registration=dynamic,
    )
    refresh = types.SemanticTokensWorkspaceClientCapabilities(refresh_support=True)
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(semantic_tokens=tokens),
        workspace=types.WorkspaceClientCapabilities(configuration=True, semantic_tokens=refresh),
        notebook_document=SYNC,
        **others,  # type: ignore[arg-type]
    )


def said(text: str, found: types.SemanticTokens | None, encoding: str = "utf-16-le") -> dict[str, str] | None:
    """The line and the text of each token, with its modifiers."""
    if found is None:
        return None
    told: dict[str, str] = {}
    line = character = 0
    width = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}[encoding]
    for at in range(0, len(found.data), 5):
        lines, since, length, kind, modifiers = found.data[at : at + 5]
        line, character = line + lines, since + (0 if lines else character)
        assert LEGEND.token_types[kind] == "variable"
        written = text.split("\n")[line].encode(encoding)[character * width : (character + length) * width]
        words = [word for bit, word in enumerate(LEGEND.token_modifiers) if modifiers & 1 << bit]
        told[f"{line} {written.decode(encoding)}"] = " ".join(words)
    return told


async def full(editor: Editor, document: str) -> types.SemanticTokens | None:
    where = types.TextDocumentIdentifier(document)
    return await editor.text_document_semantic_tokens_full_async(types.SemanticTokensParams(where))


async def part(editor: Editor, document: str, first: int, last: int) -> types.SemanticTokens | None:
    where = types.Range(types.Position(first, 0), types.Position(last, 0))
    params = types.SemanticTokensRangeParams(types.TextDocumentIdentifier(document), where)
    return await editor.text_document_semantic_tokens_range_async(params)


async def on(editor: Editor) -> None:
    """Until the settings have arrived."""
    await until(lambda: editor.refreshed)


async def test_names_of_tensors_are_told_apart() -> None:
    async with editing(client(), settings=ON) as editor:
        await on(editor)
        editor.open(URI, TEXT)
        assert said(TEXT, await full(editor, URI)) == {**FOUND}
        some = {key: words for key, words in FOUND.items() if key.split()[0] in {"4", "5"}}
        assert said(TEXT, await part(editor, URI, 4, 6)) == some
        assert await part(editor, URI, 2, 3) is None
        editor.edit(URI, 2, (4, 11), (4, 20), "")
        found = said(TEXT.replace(".detach()", ""), await full(editor, URI))
        assert found is not None and (found["4 h"], found["5 h"]) == ("requiresGrad", "requiresGrad")


async def test_a_client_that_is_told_nothing_later_has_them_by_its_setting() -> None:
    async with editing(client()) as editor:
        offer = editor.offer.semantic_tokens_provider
        assert offer is not None and [*offer.legend.token_modifiers] == LEGEND.token_modifiers
        assert offer.full and offer.range
        editor.open(URI, TEXT)
        assert await full(editor, URI) is None
        assert await part(editor, URI, 0, 99) is None
        for setting, shows in ((True, True), (False, False)):
            del editor.refreshed[:]
            editor.set_configuration({"semanticTokens": setting}, section="autograd-lsp")
            editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
            await on(editor)
            assert editor.refreshed == ["tokens"]
            assert (await full(editor, URI) is not None) == shows
        editor.set_configuration({"semanticTokens": "yes"}, section="autograd-lsp")
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await until(lambda: editor.messages)
        assert editor.messages.pop().message.startswith("autograd-lsp: autograd-lsp.semanticTokens: expected true")


async def test_any_other_is_offered_them_as_long_as_they_are_on() -> None:
    listening, gone = Listening(), list[str]()

    @listening.feature(types.CLIENT_UNREGISTER_CAPABILITY)
    def unregister(params: types.UnregistrationParams) -> None:
        gone.extend(one.method for one in params.unregisterations)

    async with editing(client(dynamic=True), editor=listening) as editor:
        assert editor.offer.semantic_tokens_provider is None
        for setting in (True, False):
            editor.set_configuration({"semanticTokens": setting}, section="autograd-lsp")
            editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
            await until(lambda: gone if not setting else listening.registered)  # noqa: B023  (awaited at once)
        assert (listening.registered, gone) == (["textDocument/semanticTokens"], ["textDocument/semanticTokens"])


async def test_only_the_requests_are_offered_that_a_client_makes() -> None:
    async with editing(client(part=False)) as editor:
        offer = editor.offer.semantic_tokens_provider
        assert offer is not None and offer.full and not offer.range
    async with editing(PULL_CLIENT) as editor:
        assert editor.offer.semantic_tokens_provider is None


async def test_an_edit_elsewhere_is_no_reason_to_ask_again_while_they_are_off() -> None:
    async with editing(client()) as editor:
        editor.open("file:///project/other.py", "y = 1\n")
        editor.open(URI, TEXT)
        editor.edit(URI, 2, (0, 0), (0, 0), "\n")
        await asyncio.sleep(1)
        assert editor.refreshed == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_count_as_the_client_counts(encoding: str) -> None:
    text = TEXT.replace("h = ", "s = '😀é'; größe = x; h = ", 1)
    general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
    async with editing(client(general=general), settings=ON) as editor:
        await on(editor)
        editor.open(URI, text)
        found = said(text, await full(editor, URI), {"utf-8": "utf-8"}.get(encoding, f"{encoding}-le"))
    assert found == {**FOUND, "4 größe": "requiresGrad leaf"}


async def test_a_cell_of_a_notebook_has_its_own() -> None:
    lines = TEXT.splitlines()
    cells = {"a": "\n".join(lines[:4]), "b": "\n".join(lines[4:6])}
    async with editing(client(), settings=ON) as editor:
        await on(editor)
        open_notebook(editor, cells)
        found = {cell: said(text, await full(editor, uri(cell))) for cell, text in cells.items()}
        assert await part(editor, uri("b"), 1, 1) is None
    assert found["a"] == {"1 x": "requiresGrad leaf", "3 d": ""}
    assert found["b"] == {
        f"{int(key.split()[0]) - 4} {key.split()[1]}": words for key, words in FOUND.items() if key[0] in "45"
    }


async def test_an_excluded_file_has_none_nor_has_one_that_fails(tmp_path: Path) -> None:
    (tmp_path / "autograd-lsp.toml").write_text('exclude = ["old/"]')
    async with editing(client(), settings=ON) as editor:
        await on(editor)
        excluded = (tmp_path / "old" / "net.py").as_uri()
        editor.open(excluded, TEXT)
        assert await full(editor, excluded) is None
        assert await full(editor, "file:///project/closed.py") is None
    async with editing(client(), CONTROLLED, settings=ON) as editor:
        await on(editor)
        editor.open(URI, "FAIL")
        assert await full(editor, URI) is None
    assert editor.messages == []
