"""Edits that are asked for when the action is chosen, and those that fix a whole notebook."""

from __future__ import annotations

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import BROKEN, PULL_CLIENT, PUSH_CLIENT, Editor, editing
from tests.lsp.test_notebooks import CELLS, SYNC, change, open_notebook, rearranged, typed, uri
from tests.lsp.test_requests import applied

URI = "file:///project/train.py"
STEP = """\
def step_{0}():
    z = torch.ones(3, requires_grad=True).exp()
    z.mul_({0})
    z.sum().backward()
"""
TWICE = f"import torch\n{STEP.format(1)}{STEP.format(2)}"
EVERYTHING = types.Range(types.Position(0, 0), types.Position(99, 0))
NOTEBOOK_FIX_ALL = "notebook.source.fixAll.autograd-lsp"


def client(*, resolves: str = "edit", keeps_data: bool = True) -> types.ClientCapabilities:
    actions = types.CodeActionClientCapabilities(
        data_support=keeps_data, resolve_support=types.ClientCodeActionResolveOptions([resolves])
    )
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(code_action=actions),
        workspace=PUSH_CLIENT.workspace,
        notebook_document=SYNC,
    )


async def all_actions(editor: Editor, document: str, only: list[str] | None = None) -> list[types.CodeAction]:
    context = types.CodeActionContext([], only=["quickfix", "source.fixAll"] if only is None else only)
    params = types.CodeActionParams(types.TextDocumentIdentifier(document), EVERYTHING, context)
    found = await editor.text_document_code_action_async(params)
    assert all(isinstance(action, types.CodeAction) for action in found or [])
    return [action for action in found or [] if isinstance(action, types.CodeAction)]


async def test_a_client_that_resolves_edits_gets_the_same_edits_later() -> None:
    async with editing(PUSH_CLIENT) as editor:
        assert not editor.offer.code_action_provider.resolve_provider
        editor.open(URI, TWICE)
        at_once = await all_actions(editor, URI)
    async with editing(client()) as editor:
        assert editor.offer.code_action_provider.resolve_provider
        editor.open(URI, TWICE)
        lazy = await all_actions(editor, URI)
        assert len(lazy) == len(at_once) > 4
        assert [action.edit for action in lazy] == [None] * len(lazy)
        resolved = [await editor.code_action_resolve_async(action) for action in lazy]
    for action, whole in zip(at_once, resolved, strict=True):
        whole.data = None
        assert whole == action
    assert len({repr(action.edit) for action in at_once}) == len(at_once)


async def test_two_causes_in_another_file_are_told_apart_where_both_are_shown() -> None:
    library = "def write(a, b, flag):\n    if flag:\n        a.add_(1)\n    else:\n        b.add_(1)\n"
    text = """\
import torch
from lib import write
def run(flag):
    x = torch.ones(3, requires_grad=True)
    a, b = x.exp(), x.tanh()
    write(a, b, flag)
    (a + b).sum().backward()
"""
    async with editing(client()) as editor:
        editor.open("file:///project/lib.py", library)
        editor.open(URI, text)
        actions = [one for one in await all_actions(editor, URI) if one.title == "Use the out-of-place `add`"]
        edits = [await editor.edit_of(action) for action in actions]
    lines = [change.edits[0].range.start.line for edit in edits for change in edit.document_changes or []]
    assert sorted(lines) == [2, 4]


@pytest.mark.parametrize("capabilities", [client(resolves="command"), client(keeps_data=False), PULL_CLIENT])
async def test_any_other_client_gets_them_at_once(capabilities: types.ClientCapabilities) -> None:
    async with editing(capabilities) as editor:
        assert not editor.offer.code_action_provider.resolve_provider
        editor.open(URI, BROKEN)
        actions = await all_actions(editor, URI)
    assert actions and all(action.edit is not None and action.data is None for action in actions)


async def test_an_action_for_a_text_that_has_changed_is_refused() -> None:
    async with editing(client()) as editor:
        editor.open(URI, BROKEN)
        actions = await all_actions(editor, URI)
        editor.edit(URI, 2, (0, 0), (0, 0), "\n")
        for action in actions:
            with pytest.raises(JsonRpcException) as refusal:
                await editor.code_action_resolve_async(action)
            assert refusal.value.code == types.LSPErrorCodes.ContentModified


@pytest.mark.parametrize("data", [None, 3, "x", {"a": 1}, [], [URI], [URI, 1], [7, 1, "title"]])
async def test_what_is_no_action_of_ours_comes_back_as_it_was(data: object) -> None:
    async with editing(client()) as editor:
        editor.open(URI, BROKEN)
        sent = {"title": "theirs", "kind": "quickfix", "data": data}
        answer = await editor.request_as_is(types.CODE_ACTION_RESOLVE, sent)
    assert getattr(answer, "title", None) == "theirs"
    assert getattr(answer, "edit", None) is None


@pytest.mark.parametrize("data", [[URI, 1, "title"], [URI, 1, {"a": []}, None], ["file:///closed.py", None, "title"]])
async def test_an_action_that_there_is_no_longer_is_refused(data: object) -> None:
    async with editing(client()) as editor:
        editor.open(URI, BROKEN)
        with pytest.raises(JsonRpcException) as refusal:
            await editor.request_as_is(types.CODE_ACTION_RESOLVE, {"title": "t", "kind": "quickfix", "data": data})
    assert refusal.value.code == types.LSPErrorCodes.ContentModified


@pytest.mark.parametrize("lazy", [False, True])
async def test_all_cells_of_a_notebook_are_fixed_as_it_is_saved(lazy: bool) -> None:
    """VS Code asks the first cell, whatever is in it, for the kind or for a parent of it."""
    cells = {"a": CELLS["a"], "f": STEP.format(3), **CELLS}
    capabilities = client() if lazy else client(keeps_data=False)
    async with editing(capabilities) as editor:
        assert NOTEBOOK_FIX_ALL in editor.offer.code_action_provider.code_action_kinds
        open_notebook(editor, cells)
        for only in (NOTEBOOK_FIX_ALL, "notebook.source.fixAll", "notebook"):
            [action] = await all_actions(editor, uri("a"), [only])
            assert action.kind == NOTEBOOK_FIX_ALL
        assert (action.edit is None) == lazy
        edit = await editor.edit_of(action)
        assert not await all_actions(editor, uri("a"), ["source.fixAll"])
        [own] = [await editor.edit_of(one) for one in await all_actions(editor, uri("f"), ["source.fixAll"])]
    changes = {change.text_document.uri: change for change in edit.document_changes or []}
    assert set(changes) == {uri("c"), uri("f")}
    assert [change.text_document.uri for change in own.document_changes or []] == [uri("f")]
    assert {change.text_document.version for change in changes.values()} == {1}
    fixed = {cell: applied(cells[cell], changes[uri(cell)].edits) for cell in "cf"}
    assert fixed == {"c": "y = y.add(1)", "f": STEP.format(3).replace("z.mul_", "z = z.mul")}


async def test_a_notebook_without_faults_has_nothing_to_fix_nor_has_a_file() -> None:
    async with editing(client()) as editor:
        open_notebook(editor, CELLS)
        editor.open(URI, BROKEN)
        assert not await all_actions(editor, URI, ["notebook"])
        assert not await all_actions(editor, "file:///project/run.ipynb", ["notebook"])
        assert await all_actions(editor, uri("a"), ["notebook"])
        change(editor, 2, typed("c", 2, "y = y.add(1)"))
        assert not await all_actions(editor, uri("a"), ["notebook"])
        change(editor, 3, rearranged(2, 1, [], closed=["c"]))
        assert not await all_actions(editor, uri("c"), ["notebook"])


async def test_a_client_without_notebooks_is_not_offered_to_fix_them() -> None:
    async with editing(PUSH_CLIENT) as editor:
        assert NOTEBOOK_FIX_ALL not in editor.offer.code_action_provider.code_action_kinds
