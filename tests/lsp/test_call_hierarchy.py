"""Call hierarchy: the calls that ran in the analysis, for those who want them from there."""

from __future__ import annotations

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, editing
from tests.lsp.test_clients import Listening
from tests.lsp.test_notebooks import SYNC, open_notebook, uri
from tests.lsp.test_views import until

URI = "file:///project/train.py"
OTHER = "file:///project/layers.py"
ON: dict[str, object] = {"autograd-lsp": {"callHierarchy": True}}
LAYERS = """\
import torch
from torch import nn
def scaled(x):
    return 2 * x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 2)
    def forward(self, x):
        return scaled(self.body(scaled(x)))
"""
TRAIN = """\
import torch
from layers import Net
net = Net()
def step(batch):
    if batch is None:
        never(batch)
    loss = net(batch).sum()
    loss.register_hook(lambda grad: grad)
    loss.backward()
step(torch.ones(3, 2))
for data in [torch.ones(3, 2)]:
    step(data)
def never(batch):
    pass
"""


def client(*, dynamic: bool = False, **others: object) -> types.ClientCapabilities:
    calls = types.CallHierarchyClientCapabilities(dynamic_registration=dynamic)
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(call_hierarchy=calls),
        workspace=types.WorkspaceClientCapabilities(
            configuration=True, inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
        ),
        notebook_document=SYNC,
        **others,  # type: ignore[arg-type]
    )


async def prepared(editor: Editor, document: str, line: int, character: int) -> list[types.CallHierarchyItem]:
    where = types.TextDocumentIdentifier(document)
    params = types.CallHierarchyPrepareParams(where, types.Position(line, character))
    return list(await editor.text_document_prepare_call_hierarchy_async(params) or [])


async def incoming(editor: Editor, item: types.CallHierarchyItem) -> list[tuple[str, str, list[tuple[int, int]]]]:
    """The name and the document of each caller, with where its calls begin."""
    found = await editor.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
    return [(one.from_.name, one.from_.uri, starts(one.from_ranges)) for one in found or []]


async def outgoing(editor: Editor, item: types.CallHierarchyItem) -> list[tuple[str, str, list[tuple[int, int]]]]:
    found = await editor.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(item))
    return [(one.to.name, one.to.uri, starts(one.from_ranges)) for one in found or []]


def starts(ranges: object) -> list[tuple[int, int]]:
    return [(one.start.line, one.start.character) for one in ranges]  # type: ignore[attr-defined]


async def opened(editor: Editor) -> None:
    """Both files, once the settings have arrived."""
    await until(lambda: editor.refreshed)
    editor.open(OTHER, LAYERS)
    editor.open(URI, TRAIN)


async def test_calls_that_ran_are_found_both_ways() -> None:
    async with editing(client(), settings=ON) as editor:
        await opened(editor)
        [step] = await prepared(editor, URI, 3, 6)
        assert (step.name, step.kind, step.uri) == ("step", types.SymbolKind.Function, URI)
        assert step.selection_range == types.Range(types.Position(3, 4), types.Position(3, 8))
        assert (step.range.start, step.range.end.line) == (types.Position(3, 0), 8)
        assert await incoming(editor, step) == [("<module>", URI, [(9, 0), (11, 4)])]
        assert await outgoing(editor, step) == [
            ("Net.forward", OTHER, [(6, 11)]),
            ("step.<locals>.<lambda>", URI, [(8, 4)]),
        ]
        [forward] = await prepared(editor, URI, 6, 12)
        assert (forward.name, forward.kind, forward.uri) == ("Net.forward", types.SymbolKind.Method, OTHER)
        assert await incoming(editor, forward) == [("step", URI, [(6, 11)])]
        assert await outgoing(editor, forward) == [("scaled", OTHER, [(9, 15), (9, 32)])]
        [module] = [one.from_ for one in await incoming_calls(editor, step)]
        assert (module.kind, module.detail) == (types.SymbolKind.Module, "train.py")
        assert {name for name, _, _ in await outgoing(editor, module)} == {"Net.__init__", "step"}
        assert await incoming(editor, module) == []


async def incoming_calls(editor: Editor, item: types.CallHierarchyItem) -> list[types.CallHierarchyIncomingCall]:
    found = await editor.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
    return list(found or [])


async def test_what_did_not_run_has_no_calls() -> None:
    async with editing(client(), settings=ON) as editor:
        await opened(editor)
        for position in [(5, 10), (12, 5), (0, 8), (9, 8), (11, 10), (90, 9)]:
            assert await prepared(editor, URI, *position) == []
        assert await prepared(editor, "file:///project/closed.py", 0, 0) == []
        [step] = await prepared(editor, URI, 9, 2)
        editor.edit(URI, 2, (0, 0), (0, 0), "\n")
        assert await incoming(editor, step) == [("<module>", URI, [(10, 0), (12, 4)])]
        editor.edit(URI, 3, (12, 4), (12, 14), "pass")
        assert await incoming(editor, step) == [("<module>", URI, [(10, 0)])]
        step.name = "gone"
        assert await incoming(editor, step) == await outgoing(editor, step) == []


async def test_what_a_loop_asks_for_is_no_call_of_the_last_one_in_its_body() -> None:
    text = """\
import torch
class Data(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return torch.ones(3, requires_grad=True)
    def __len__(self):
        return 3
for x in torch.utils.data.DataLoader(Data()):
    x.sum().backward()
"""
    async with editing(client(), settings=ON) as editor:
        await until(lambda: editor.refreshed)
        editor.open(URI, text)
        for item in await prepared(editor, URI, 2, 10):
            assert (7, 4) not in [at for _, _, places in await incoming(editor, item) for at in places]


async def test_a_client_that_is_told_nothing_later_has_it_by_its_setting() -> None:
    async with editing(client()) as editor:
        assert editor.offer.call_hierarchy_provider
        editor.open(URI, TRAIN)
        assert await prepared(editor, URI, 3, 6) == []
        editor.set_configuration({"callHierarchy": True}, section="autograd-lsp")
        editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await until(lambda: editor.refreshed)
        assert len(await prepared(editor, URI, 3, 6)) == 1


async def test_any_other_is_offered_it_as_long_as_it_is_on() -> None:
    listening, gone = Listening(), list[str]()

    @listening.feature(types.CLIENT_UNREGISTER_CAPABILITY)
    def unregister(params: types.UnregistrationParams) -> None:
        gone.extend(one.method for one in params.unregisterations)

    async with editing(client(dynamic=True), editor=listening) as editor:
        assert editor.offer.call_hierarchy_provider is None
        editor.open(URI, TRAIN)
        for round_ in (1, 2):
            for setting, heard in ((True, listening.registered), (False, gone)):
                editor.set_configuration({"callHierarchy": setting}, section="autograd-lsp")
                editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
                await until(lambda: len(heard) == round_)  # noqa: B023  (awaited at once)
                assert bool(await prepared(editor, URI, 3, 6)) == setting
        assert listening.registered == gone == [types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY] * 2


async def test_a_client_that_shows_none_is_offered_none() -> None:
    async with editing() as editor:
        assert editor.offer.call_hierarchy_provider is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_count_as_the_client_counts(encoding: str) -> None:
    before = "s = '😀é'; "
    units = {"utf-8": len(before.encode()), "utf-16": len(before) + 1, "utf-32": len(before)}[encoding]
    general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
    async with editing(client(general=general), settings=ON) as editor:
        await until(lambda: editor.refreshed)
        editor.open(URI, f"def f(x):\n    return x\n{before}f(1)\n")
        [item] = await prepared(editor, URI, 2, units)
        assert await incoming(editor, item) == [("<module>", URI, [(2, units)])]


async def test_each_cell_of_a_notebook_calls_for_itself() -> None:
    async with editing(client(), settings=ON) as editor:
        await until(lambda: editor.refreshed)
        open_notebook(editor, {"a": "%magic\ndef f(x):\n    return x", "b": "f(1)", "c": "\nf(2)\nf(3)"})
        [item] = await prepared(editor, uri("a"), 1, 4)
        assert (item.uri, item.detail) == (uri("a"), "run.ipynb")
        assert await incoming(editor, item) == [
            ("<module>", uri("b"), [(0, 0)]),
            ("<module>", uri("c"), [(1, 0), (2, 0)]),
        ]
        *_, last = await incoming_calls(editor, item)
        assert await outgoing(editor, last.from_) == [("f", uri("a"), [(1, 0), (2, 0)])]
