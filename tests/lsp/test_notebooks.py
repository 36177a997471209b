"""Notebooks: cells are documents to the client and one program to the analyzer."""

from __future__ import annotations

import asyncio

from lsprotocol import types

from tests.lsp.editor import PATIENCE, PULL_CLIENT, PUSH_CLIENT, Editor, editing
from tests.lsp.test_requests import applied

NOTEBOOK = "file:///project/run.ipynb"
IMPORTS = "%matplotlib inline\nimport torch\nx = torch.ones(3, requires_grad=True)"
EXP = "s = '😀'; y = x.exp()"
WRITE = "y.add_(1)"
STEP = "%time y.sum().backward()"
CELLS = {"a": IMPORTS, "b": EXP, "c": WRITE, "d": STEP}

SYNC = types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities())
PUSH = types.ClientCapabilities(
    text_document=PUSH_CLIENT.text_document, workspace=PUSH_CLIENT.workspace, notebook_document=SYNC
)
PULL = types.ClientCapabilities(text_document=PULL_CLIENT.text_document, notebook_document=SYNC)


def uri(cell: str) -> str:
    return f"notebook-cell:/anywhere#{cell}"


def open_notebook(editor: Editor, cells: dict[str, str]) -> None:
    listed = [types.NotebookCell(types.NotebookCellKind.Code, uri(cell)) for cell in cells]
    texts = [types.TextDocumentItem(uri(cell), types.LanguageKind.Python, 1, text) for cell, text in cells.items()]
    document = types.NotebookDocument(NOTEBOOK, "jupyter-notebook", 1, listed)
    editor.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, texts))


def change(editor: Editor, version: int, cells: types.NotebookDocumentCellChanges) -> None:
    document = types.VersionedNotebookDocumentIdentifier(version, NOTEBOOK)
    event = types.NotebookDocumentChangeEvent(cells=cells)
    editor.notebook_document_did_change(types.DidChangeNotebookDocumentParams(document, event))


def rearranged(
    start: int, removed: int, cells: list[str], *, opened: dict[str, str] | None = None, closed: list[str] | None = None
) -> types.NotebookDocumentCellChanges:
    """At `start`, `removed` cells give way to others; new ones are opened, and some closed."""
    listed = [types.NotebookCell(types.NotebookCellKind.Code, uri(cell)) for cell in cells]
    items = [types.TextDocumentItem(uri(c), types.LanguageKind.Python, 1, text) for c, text in (opened or {}).items()]
    return types.NotebookDocumentCellChanges(
        structure=types.NotebookDocumentCellChangeStructure(
            types.NotebookCellArrayChange(start, removed, listed),
            did_open=items,
            did_close=[types.TextDocumentIdentifier(uri(cell)) for cell in closed or []],
        )
    )


def typed(cell: str, version: int, text: str) -> types.NotebookDocumentCellChanges:
    whole = types.TextDocumentContentChangeWholeDocument(text)
    document = types.VersionedTextDocumentIdentifier(version, uri(cell))
    return types.NotebookDocumentCellChanges(text_content=[types.NotebookDocumentCellContentChanges(document, [whole])])


async def codes(editor: Editor, cells: str) -> dict[str, list[object]]:
    return {cell: [d.code for d in (await editor.pull(uri(cell))).items] for cell in cells}


async def test_each_cell_is_published_what_lies_in_it() -> None:
    async with editing(PUSH) as editor:
        open_notebook(editor, CELLS)
        [diagnostic] = await editor.diagnostics_of(uri("c"), 1)
        assert diagnostic.code == "AG104"
        assert diagnostic.range == types.Range(types.Position(0, 0), types.Position(0, 9))
        steps = {(r.location.uri, r.location.range.start.line) for r in diagnostic.related_information or []}
        assert steps == {(uri("b"), 0), (uri("d"), 0)}
        # The emoji counts as two, and what stands for the magic is as long as the magic is.
        at = {r.location.uri: r.location.range.start.character for r in diagnostic.related_information or []}
        assert at == {uri("b"): EXP.index("x.exp()") + 1, uri("d"): STEP.index("y.sum()")}
        for cell in "abd":
            assert await editor.diagnostics_of(uri(cell), 1) == []


async def test_a_cell_that_goes_takes_its_diagnostics_along() -> None:
    async with editing(PUSH) as editor:
        open_notebook(editor, CELLS)
        await editor.diagnostics_of(uri("c"), 1)
        change(editor, 2, rearranged(2, 1, [], closed=["c"]))
        assert await editor.diagnostics_of(uri("c"), None) == []
        editor.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(
                types.NotebookDocumentIdentifier(NOTEBOOK), [types.TextDocumentIdentifier(uri(cell)) for cell in "abd"]
            )
        )
        for cell in "abd":
            assert await editor.diagnostics_of(uri(cell), None) == []


async def test_cells_are_edited_moved_inserted_and_deleted() -> None:
    async with editing(PULL) as editor:
        open_notebook(editor, CELLS)
        fine: dict[str, list[object]] = {cell: [] for cell in "abcd"}
        assert await codes(editor, "abcd") == {**fine, "c": ["AG104"]}
        change(editor, 2, typed("c", 2, "y = y.add(1)"))
        assert await codes(editor, "abcd") == fine
        change(editor, 3, typed("c", 3, WRITE))
        # The write moves behind the backward, and comes back.
        change(editor, 4, rearranged(2, 2, ["d", "c"]))
        assert await codes(editor, "abcd") == fine
        change(editor, 5, rearranged(2, 2, ["c", "d"]))
        assert await codes(editor, "abcd") == {**fine, "c": ["AG104"]}
        change(editor, 6, rearranged(2, 0, ["e"], opened={"e": "\n\ny = y + 1"}))
        assert await codes(editor, "abcde") == {**fine, "e": []}
        change(editor, 7, rearranged(2, 1, [], closed=["e"]))
        assert await codes(editor, "abcd") == {**fine, "c": ["AG104"]}
        # A cell whose kind changes there and back is closed and opened in one go.
        change(editor, 8, rearranged(2, 1, ["c"], opened={"c": f"\n{WRITE}"}, closed=["c"]))
        [diagnostic] = (await editor.pull(uri("c"))).items
        assert diagnostic.range.start == types.Position(1, 0)
        assert editor.published == []


async def test_requests_are_answered_in_the_cell_they_are_about() -> None:
    async with editing(PULL) as editor:
        open_notebook(editor, {**CELLS, "f": "%%bash\necho y", "g": STEP.replace("%time ", "# z\n")})
        hover = await editor.hover(uri("b"), 0, len("s = '😀'; ") + 1)
        assert hover is not None
        assert "ExpBackward0" in str(hover.contents)
        assert await editor.hover(uri("f"), 1, 5) is None
        assert await editor.hints(uri("b")) == {(0, len("s = '😀'; y") + 1): ": ExpBackward0"}
        assert await editor.hints(uri("a")) == await editor.hints(uri("f")) == {}
        change(editor, 2, typed("c", 2, ""))
        [lens] = await editor.lenses(uri("d"))
        assert lens.range.start == types.Position(0, STEP.index("y.sum()"))
        assert lens.command is not None
        assert lens.command.title == "reaches `x`"
        assert await editor.lenses(uri("a")) == []


async def test_a_fix_edits_its_cell() -> None:
    async with editing(PUSH) as editor:
        open_notebook(editor, CELLS)
        [diagnostic] = await editor.diagnostics_of(uri("c"), 1)
        best = next(one for one in await editor.code_actions(uri("c"), diagnostic) if one.is_preferred)
        [edit] = best.edit.document_changes
        assert (edit.text_document.uri, edit.text_document.version) == (uri("c"), 1)
        change(editor, 2, typed("c", 2, applied(WRITE, edit.edits)))
        assert await editor.diagnostics_of(uri("c"), 2) == []
        assert not await editor.code_actions(uri("a"), diagnostic, only=["source.fixAll"])


async def test_what_is_no_python_is_left_out() -> None:
    async with editing(PULL) as editor:
        open_notebook(editor, CELLS)
        listed = types.NotebookCell(types.NotebookCellKind.Markup, uri("m"))
        text = types.TextDocumentItem(uri("m"), "markdown", 1, "y = y.add(1)")
        structure = types.NotebookDocumentCellChangeStructure(
            types.NotebookCellArrayChange(2, 0, [listed]), did_open=[text]
        )
        change(editor, 2, types.NotebookDocumentCellChanges(structure=structure))
        assert await codes(editor, "cm") == {"c": ["AG104"], "m": []}


async def test_a_half_typed_cell_leaves_the_others_alone() -> None:
    async with editing(PULL) as editor:
        open_notebook(editor, CELLS)
        for text in ("z = (", "'''", "%%", "!", "def f(:\n  x =", "\\"):
            change(editor, 2, typed("b", 2, f"{EXP}\n{text}"))
            await asyncio.wait_for(codes(editor, "abcd"), PATIENCE)
        change(editor, 3, typed("b", 3, EXP))
        assert (await codes(editor, "c"))["c"] == ["AG104"]
