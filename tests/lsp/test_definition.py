"""From a tensor to where it was made, and to what cut, freed or saved it; beside a server that knows every name."""

from __future__ import annotations

import pytest
from lsprotocol import types

from tests.lsp.editor import BROKEN, Editor, editing, with_encodings
from tests.lsp.test_notebooks import PULL, open_notebook, uri

URI = "file:///project/train.py"
OTHER = "file:///project/layers.py"

CUT = """\
import torch
x = torch.ones(3, requires_grad=True)
h = (x * 2).detach()
loss = (h + 1).sum()
loss.backward()
"""
FREED = """\
import torch
x = torch.ones(3, requires_grad=True)
loss = x.exp().sum()
loss.backward()
again = loss * 2
again.backward()
"""
SAVED = """\
import torch
x = torch.ones(3, requires_grad=True)
w = torch.ones(3)
y = x * w
w.add_(1)
y.sum().backward()
"""
LINKS = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        definition=types.DefinitionClientCapabilities(link_support=True),
        type_definition=types.TypeDefinitionClientCapabilities(link_support=True),
    )
)


async def definition(editor: Editor, document: str, line: int, character: int) -> list[types.Location] | None:
    where = types.TextDocumentIdentifier(document)
    found = await editor.text_document_definition_async(types.DefinitionParams(where, types.Position(line, character)))
    return found and [one for one in found if isinstance(one, types.Location)]


async def type_definition(editor: Editor, document: str, line: int, character: int) -> list[types.Location] | None:
    where = types.TextDocumentIdentifier(document)
    found = await editor.text_document_type_definition_async(
        types.TypeDefinitionParams(where, types.Position(line, character))
    )
    return found and [one for one in found if isinstance(one, types.Location)]


def lines(found: list[types.Location] | None) -> list[tuple[str, int]] | None:
    return found and [(one.uri, one.range.start.line) for one in found]


@pytest.mark.parametrize(
    ("text", "position", "made", "changed"),
    [
        (CUT, (4, 0), 3, [2]),
        (FREED, (5, 0), 4, [3]),
        (SAVED, (4, 0), 2, [3]),
    ],
)
async def test_from_a_finding_to_what_cut_freed_or_saved_the_tensor(
    text: str, position: tuple[int, int], made: int, changed: list[int]
) -> None:
    async with editing() as editor:
        editor.open(URI, text)
        assert lines(await type_definition(editor, URI, *position)) == [(URI, line) for line in [made, *changed]]
        assert lines(await definition(editor, URI, *position)) == [(URI, line) for line in changed]


async def test_what_binds_a_name_is_left_to_others() -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN)
        assert lines(await type_definition(editor, URI, 3, 0)) == [(URI, 2)]
        # `exp` saved its result in the line that binds `y`.
        assert await definition(editor, URI, 3, 0) is None
        editor.edit(URI, 2, (2, 0), (3, 0), "z = x.exp()\ny = z\n")
        assert lines(await definition(editor, URI, 4, 0)) == [(URI, 2)]


async def test_where_there_is_no_finding_a_name_is_defined_by_others() -> None:
    text = CUT.replace("loss.backward()", "(loss + x.sum()).backward()\nprint(loss, 3)")
    async with editing() as editor:
        editor.open(URI, text)
        assert lines(await type_definition(editor, URI, 5, 6)) == [(URI, 3), (URI, 2)]
        assert await definition(editor, URI, 5, 6) is None
        for position in [(0, 8), (1, 4), (5, 0), (5, 12), (70, 3)]:
            assert await type_definition(editor, URI, *position) is None
            assert await definition(editor, URI, *position) is None


async def test_a_cut_of_an_operand_is_none_of_the_result() -> None:
    text = CUT.replace("(h + 1).sum()", "(h * x).sum()").replace("loss.backward()", "loss.backward(); loss.backward()")
    async with editing() as editor:
        editor.open(URI, text)
        assert lines(await definition(editor, URI, 4, 18)) == [(URI, 4)]


async def test_a_result_leads_to_the_file_whose_function_made_it() -> None:
    layers = "def layer(a):\n    b = a.exp()\n    return b\n"
    text = "import torch\nfrom layers import layer\nx = torch.ones(3, requires_grad=True)\ny = layer(x * 2)\n"
    async with editing() as editor:
        editor.open(OTHER, layers)
        editor.open(URI, text)
        assert lines(await type_definition(editor, URI, 3, 0)) == [(OTHER, 1)]


async def test_a_client_that_takes_links_is_given_the_name_too() -> None:
    async with editing(LINKS) as editor:
        editor.open(URI, CUT)
        where = types.TextDocumentIdentifier(URI)
        position = types.Position(4, 2)
        for found in (
            await editor.text_document_definition_async(types.DefinitionParams(where, position)),
            await editor.text_document_type_definition_async(types.TypeDefinitionParams(where, position)),
        ):
            assert isinstance(found, list)
            link = found[-1]
            assert isinstance(link, types.LocationLink)
            assert link.origin_selection_range == types.Range(types.Position(4, 0), types.Position(4, 4))
            assert link.target_uri == URI
            assert link.target_range == types.Range(types.Position(2, 4), types.Position(2, 20))
            assert link.target_selection_range == link.target_range


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_count_as_the_client_counts(encoding: str) -> None:
    text = CUT.replace("h = ", "s = '😀é'; h = ").replace("loss.backward()", "s = '😀é'; loss.backward()")
    before = "s = '😀é'; "
    units = {"utf-8": len(before.encode()), "utf-16": len(before) + 1, "utf-32": len(before)}[encoding]
    async with editing(with_encodings(types.PositionEncodingKind(encoding))) as editor:
        editor.open(URI, text)
        [found] = await definition(editor, URI, 4, units) or []
    assert (found.range.start.character, found.range.end.character) == (units + 4, units + 20)


async def test_in_a_notebook_it_leads_to_the_cell() -> None:
    first, second, third = CUT.splitlines()[:2], CUT.splitlines()[2:4], CUT.splitlines()[4:]
    cells = {name: "\n".join(part) for name, part in zip("abc", (first, second, third), strict=True)}
    async with editing(PULL) as editor:
        open_notebook(editor, cells)
        assert lines(await type_definition(editor, uri("c"), 0, 0)) == [(uri("b"), 1), (uri("b"), 0)]
        assert lines(await definition(editor, uri("c"), 0, 0)) == [(uri("b"), 0)]
