"""Hover, quick fixes and the graph, asked of the real server."""

from __future__ import annotations

from lsprotocol import types

from tests.lsp.editor import BROKEN, PULL_CLIENT, editing
from tests.support.texts import edited

URI = "file:///project/train.py"


def applied(text: str, edits: list) -> str:
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = edited(text, edit.range, edit.new_text, "utf-16")
    return text


async def test_hover_says_what_the_tensor_is() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        hover = await editor.hover(URI, 2, 0)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind == types.MarkupKind.Markdown
    assert "requires_grad=True" in hover.contents.value
    assert "ExpBackward0" in hover.contents.value
    assert "shape=[3" in hover.contents.value


async def test_hover_on_the_line_of_a_finding_tells_its_cause() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        hovers = [await editor.hover(URI, 3, 0), await editor.hover(URI, 3, 3), await editor.hover(URI, 4, 8)]
    for hover in hovers:
        assert hover is not None
        assert "**error AG104** saved-tensor-modified" in hover.contents.value
        assert "line 3: `exp` saved its result here" in hover.contents.value
        assert "line 5: torch raises `RuntimeError`" in hover.contents.value
    tensor, call, backward = hovers
    assert "**`y`**: tensor" in tensor.contents.value
    assert "writes `y` in place (version 0 to 1)" in call.contents.value
    assert "line 4: the cause" in backward.contents.value
    assert call.range == types.Range(types.Position(3, 0), types.Position(3, 6))


async def test_hover_says_what_a_call_did_once_the_file_is_edited() -> None:
    text = BROKEN.replace("y.add_(1)\n", "")
    async with editing() as editor:
        editor.open(URI, text)
        before = await editor.hover(URI, 3, 8)
        editor.edit(URI, 2, (2, 0), (2, 0), "\n")
        moved = await editor.hover(URI, 4, 8)
        editor.edit(URI, 3, (1, 4), (1, 4), "2 * ")
        changed = await editor.hover(URI, 4, 8)
    assert before is not None and "fills `.grad` of `x`" in before.contents.value
    assert moved is not None and moved.contents.value == before.contents.value.replace("line 4", "line 5").replace(
        "line 3", "line 4"
    )
    assert changed is not None and "fills `.grad`" not in changed.contents.value


async def test_hover_is_plain_for_a_client_that_shows_plain_text() -> None:
    async with editing(PULL_CLIENT) as editor:
        editor.open(URI, BROKEN)
        hover = await editor.hover(URI, 2, 0)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind == types.MarkupKind.PlainText
    assert "`" not in hover.contents.value


async def test_hover_where_there_is_no_tensor_is_silent() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        assert await editor.hover(URI, 0, 2) is None


async def test_the_quick_fix_mends_the_program() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
        actions = await editor.code_actions(URI, diagnostic)
        assert [action.is_preferred for action in actions].count(True) == 1
        best = next(action for action in actions if action.is_preferred)
        assert best.kind == types.CodeActionKind.QuickFix
        assert list(best.diagnostics) == [diagnostic]
        [change] = best.edit.document_changes
        assert (change.text_document.uri, change.text_document.version) == (URI, 1)
        mended = applied(BROKEN, change.edits)
        editor.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(2, URI), [types.TextDocumentContentChangeWholeDocument(mended)]
            )
        )
        assert await editor.diagnostics_of(URI, 2) == []


async def test_a_client_without_document_changes_gets_plain_changes() -> None:
    async with editing(PULL_CLIENT) as editor:
        editor.open(URI, BROKEN)
        report = await editor.pull(URI)
        actions = await editor.code_actions(URI, report.items[0])
    assert actions[0].edit.document_changes is None
    assert list(actions[0].edit.changes) == [URI]


async def test_fix_all_is_there_for_those_who_ask() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
        [action] = await editor.code_actions(URI, diagnostic, only=["source.fixAll"])
        assert action.kind == "source.fixAll.autograd-lsp"
        assert not await editor.code_actions(URI, diagnostic, only=["refactor"])


async def test_a_finding_can_be_ignored_by_a_comment() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
        action = (await editor.code_actions(URI, diagnostic))[-1]
        assert (action.title, action.kind) == ("Ignore AG104 on this line", types.CodeActionKind.QuickFix)
        assert not action.is_preferred
        [change] = action.edit.document_changes
        ignored = applied(BROKEN, change.edits)
        assert "y.add_(1)  # autograd: ignore[AG104]\n" in ignored
        editor.open("file:///project/ignored.py", ignored)
        assert await editor.diagnostics_of("file:///project/ignored.py", 1) == []


async def test_a_comment_that_ignores_nothing_is_removed_by_its_fix() -> None:
    text = BROKEN.replace("y.add_(1)", "y.add(1)  # autograd: ignore[AG104]")
    async with editing() as editor:
        editor.open(URI, text)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
        assert (diagnostic.code, list(diagnostic.tags or [])) == ("AG002", [types.DiagnosticTag.Unnecessary])
        [action] = await editor.code_actions(URI, diagnostic)
        [fix_all] = await editor.code_actions(URI, diagnostic, only=["source.fixAll"])
        for one in (action, fix_all):
            assert applied(text, one.edit.document_changes[0].edits) == BROKEN.replace("add_", "add")


async def test_a_comment_that_another_open_document_needs_is_not_unused() -> None:
    library = "def write(y):\n    y.add_(1)  # autograd: ignore[AG104]\n"
    caller = BROKEN.replace("y = ", "from lib import write\ny = ").replace("y.add_(1)", "write(y)")
    async with editing(PULL_CLIENT) as editor:
        editor.open("file:///project/lib.py", library)
        [unused] = (await editor.pull("file:///project/lib.py")).items
        assert unused.code == "AG002"
        editor.open("file:///project/caller.py", caller)
        assert not (await editor.pull("file:///project/lib.py")).items
        editor.close("file:///project/caller.py")
        assert len((await editor.pull("file:///project/lib.py")).items) == 1


async def test_the_graph_of_the_tensor_under_the_cursor() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        params = {"textDocument": {"uri": URI}, "position": {"line": 2, "character": 0}}
        graph = await editor.protocol.send_request_async("autograd/graph", params)
    assert graph.name == "y"
    assert "ExpBackward0" in {node.label for node in graph.nodes}
    assert graph.dot.startswith("digraph")
    assert graph.svg.startswith("<svg")
    assert "ExpBackward0" in graph.svg
    assert len(graph.edges) >= 2
