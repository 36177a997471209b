"""Lines and columns as each client counts them."""

from __future__ import annotations

import pytest
from lsprotocol import types

from autograd_lsp.text.positions import LineIndex, Position, lsp_index, without_lone_surrogates
from tests.lsp.editor import BROKEN, editing, with_encodings

URI = "file:///project/train.py"
ASTRAL = BROKEN.replace("y.add_(1)", "s = '😀é'; y.add_(1)")
LINE_BREAKS = ["\n", "\r\n", "\r"]
NO_LINE_BREAKS = ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize(
    ("encodings", "start"),
    [
        ((types.PositionEncodingKind.Utf16,), 11),
        ((types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16), 14),
        ((types.PositionEncodingKind.Utf32, types.PositionEncodingKind.Utf8), 10),
        ((), 11),
    ],
)
async def test_columns_are_in_the_units_that_the_client_chose(encodings: tuple, start: int) -> None:
    async with editing(with_encodings(*encodings)) as editor:
        editor.open(URI, ASTRAL)
        [diagnostic] = await editor.diagnostics_of(URI, 1)
        assert diagnostic.range == types.Range(types.Position(3, start), types.Position(3, start + 9))
        editor.edit(URI, 2, (3, start), (3, start + 9), "y = y.add(1)")
        assert await editor.diagnostics_of(URI, 2) == []


@pytest.mark.parametrize("line_break", LINE_BREAKS)
async def test_every_kind_of_line_break_ends_a_line(line_break: str) -> None:
    async with editing() as editor:
        editor.open(URI, BROKEN.replace("\n", line_break))
        [diagnostic] = await editor.diagnostics_of(URI, 1)
        assert diagnostic.range.start == types.Position(3, 0)
        editor.edit(URI, 2, (3, 0), (3, 9), "y = y.add(1)")
        assert await editor.diagnostics_of(URI, 2) == []


@pytest.mark.parametrize("separator", NO_LINE_BREAKS)
async def test_what_only_python_strings_call_a_line_break_does_not_end_a_line(separator: str) -> None:
    async with editing() as editor:
        editor.open(URI, f"# one{separator}line\n{BROKEN}")
        [diagnostic] = await editor.diagnostics_of(URI, 1)
        assert diagnostic.range.start == types.Position(4, 0)
        editor.edit(URI, 2, (4, 0), (4, 9), "y = y.add(1)")
        assert await editor.diagnostics_of(URI, 2) == []


TEXTS = ["", "a", "a\n", "\n\n", "é\r\n😀x\r\n", "a\rb\n\rc", "x\u2028y\n😀", "\ufeffa\n", "tab\there\n日本語"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_every_character_offset_survives_the_way_there_and_back(text: str, encoding) -> None:
    index = LineIndex(text)
    for characters in range(len(text) + 1):
        offset = len(text[:characters].encode())
        if text[characters - 1 : characters + 1] == "\r\n":
            continue  # inside a line break there is no position
        assert index.offset(index.position(offset)) == offset
        line, column = index.lsp_position(offset, encoding)
        assert index.lsp_offset(line, column, encoding) == offset
        assert lsp_index(text, line, column, encoding)[0] == characters


@pytest.mark.parametrize("text", TEXTS)
def test_a_line_that_is_known_leads_to_the_same_place(text: str) -> None:
    index = LineIndex(text)
    for line in range(index.line_count + 1):
        for known in range(index.line_count):
            near = known, index.start(known)
            assert lsp_index(text, line, 1, "utf-16", near) == lsp_index(text, line, 1, "utf-16")


def test_columns_for_people_count_characters_from_one() -> None:
    index = LineIndex("a\n😀é = 1\n")
    assert index.position(len("a\n😀é".encode())) == Position(2, 3)


def test_positions_out_of_range_are_moved_inside() -> None:
    index = LineIndex("ab\ncd")
    assert lsp_index(index.text, 0, 99, "utf-16") == (2, 0)
    assert lsp_index(index.text, 99, 0, "utf-16") == (5, 5)
    assert index.lsp_offset(99, 7, "utf-8") == 5
    assert index.position(99) == Position(2, 3)


def test_a_lone_surrogate_is_replaced_without_moving_anything() -> None:
    text = without_lone_surrogates("a\ud800b")
    assert LineIndex(text).lsp_offset(0, 2, "utf-16") == 4
    assert text.encode() == "a\ufffdb".encode()
