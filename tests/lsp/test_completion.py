"""Completion in the lists of comments that silence findings, and nowhere else."""

from __future__ import annotations

import pytest
from lsprotocol import types

from analyzers.rules import RULES
from tests.lsp.editor import Editor, editing
from tests.lsp.test_notebooks import PUSH, open_notebook, uri
from tests.support.texts import edited

URI = "file:///project/train.py"
COMPLETING = types.TextDocumentClientCapabilities(completion=types.CompletionClientCapabilities())
CLIENT = types.ClientCapabilities(text_document=COMPLETING)
CODES = [rule.code for rule in RULES]
NAMES = [rule.name for rule in RULES]


async def complete(editor: Editor, document: str, line: int, character: int) -> list[types.CompletionItem] | None:
    where = types.TextDocumentIdentifier(document)
    params = types.CompletionParams(where, types.Position(line, character))
    found = await editor.text_document_completion_async(params)
    assert not isinstance(found, types.CompletionList)
    return found and list(found)


@pytest.mark.parametrize(
    ("line", "then"),
    [
        ("x = 1  # autograd: ignore[|", "x = 1  # autograd: ignore[AG104"),
        ("x = 1  # autograd: ignore[|]", "x = 1  # autograd: ignore[AG104]"),
        ("x = 1  # autograd: ignore[AG1|01, AG102]", "x = 1  # autograd: ignore[AG104, AG102]"),
        ("x = 1  # autograd: ignore[AG102,|]", "x = 1  # autograd: ignore[AG102, AG104]"),
        ("x = 1  # autograd: ignore[AG102, sav|, AG101]", "x = 1  # autograd: ignore[AG102, AG104, AG101]"),
        ("# Autograd:ignore-file [ag|", "# Autograd:ignore-file [AG104"),
        ("x = 1  # why  # autograd: ignore[|", "x = 1  # why  # autograd: ignore[AG104"),
        ("x = 1  # noqa:|", "x = 1  # noqa: AG104"),
        ("x = 1  # noqa: E501, a|", "x = 1  # noqa: E501, AG104"),
        ("x = 1  # noqa: E501 |  # autograd: ignore[AG101]", "x = 1  # noqa: E501 AG104  # autograd: ignore[AG101]"),
        ("# ruff: noqa: AG1|", "# ruff: noqa: AG104"),
        ("s = '😀'; x = (  # autograd: ignore[|", "s = '😀'; x = (  # autograd: ignore[AG104"),
    ],
)
async def test_a_rule_is_written_where_the_list_has_its_word(line: str, then: str) -> None:
    before, after = line.split("|")
    text = f"import torch\n{before}{after}\n"
    async with editing(CLIENT) as editor:
        editor.open(URI, text)
        items = await complete(editor, URI, 1, len(before.encode("utf-16-le")) // 2)
    assert items is not None
    assert sorted((item.sort_text, item.label) for item in items) == [(item.sort_text, item.label) for item in items]
    [item] = [item for item in items if item.label == "AG104"]
    assert item.detail == next(rule.summary for rule in RULES if rule.code == "AG104")
    assert isinstance(item.text_edit, types.TextEdit)
    assert edited(text, item.text_edit.range, item.text_edit.new_text, "utf-16") == f"import torch\n{then}\n"


async def test_names_are_offered_where_they_count_and_nothing_twice() -> None:
    lines = ["# autograd: ignore[", "# autograd: ignore[ag104, ", "# noqa: E501, AG104, ", "# noqa: "]
    async with editing(CLIENT) as editor:
        editor.open(URI, "".join(f"x = 1  {line}\n" for line in lines))
        found = [await complete(editor, URI, number, 7 + len(line)) or [] for number, line in enumerate(lines)]
    labels = [[item.label for item in items] for items in found]
    others = [code for code in CODES if code != "AG104"]
    assert labels == [
        [*CODES, *NAMES],
        [*others, *(name for name in NAMES if name != "saved-tensor-modified")],
        others,
        CODES,
    ]


@pytest.mark.parametrize(
    "line",
    [
        "x[|",
        "x = 1  # autograd: |",
        "x = 1  # autograd: ignore|",
        "x = 1  # autograd: ignore[AG104]|",
        "x = 1  # autograd: ignored[|",
        "x = 1  # [|",
        "x = 1  # noqa|",
        "x = 1  # noqa: because |",
        "x = 1  # noqa: E|",
        "x = 1  # ruff: noqa: |",
        "x = 1 | # autograd: ignore[AG104]",
        "s = '# autograd: ignore[|'",
        "s = '''\n# autograd: ignore[|'''",
    ],
)
async def test_there_is_nothing_anywhere_else(line: str) -> None:
    text = f"import torch\n{line}\n"
    before = text.partition("|")[0]
    async with editing(CLIENT) as editor:
        editor.open(URI, text.replace("|", ""))
        at = before.count("\n"), len(before.rpartition("\n")[2])
        assert await complete(editor, URI, *at) is None
        assert await complete(editor, URI, 900, 900) is None
        assert await complete(editor, "file:///project/closed.py", 0, 30) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_count_as_the_client_counts(encoding: str) -> None:
    general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(encoding)])
    line = "s = '😀é'  # autograd: ignore[AG1"
    units = {"utf-8": len(line.encode()), "utf-16": len(line) + 1, "utf-32": len(line)}[encoding]
    async with editing(types.ClientCapabilities(text_document=COMPLETING, general=general)) as editor:
        editor.open(URI, line)
        [item, *_] = await complete(editor, URI, 0, units) or []
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.range == types.Range(types.Position(0, units - 3), types.Position(0, units))


async def test_a_cell_of_a_notebook_has_its_own_lines() -> None:
    capabilities = types.ClientCapabilities(text_document=COMPLETING, notebook_document=PUSH.notebook_document)
    async with editing(capabilities) as editor:
        open_notebook(editor, {"a": "import torch\nx = 1", "b": "%time x  # autograd: ignore[\ny = 2"})
        [item, *_] = await complete(editor, uri("b"), 0, 28) or []
        assert await complete(editor, uri("b"), 1, 5) is None
    assert isinstance(item.text_edit, types.TextEdit)
    assert item.text_edit.range == types.Range(types.Position(0, 28), types.Position(0, 28))


async def test_it_is_offered_to_those_who_complete() -> None:
    async with editing(CLIENT) as editor:
        offer = editor.offer.completion_provider
        assert offer is not None and set(offer.trigger_characters or ()) == {"[", ",", ":"}
    async with editing(types.ClientCapabilities()) as editor:
        assert editor.offer.completion_provider is None
