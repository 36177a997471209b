"""What stands in for tree-sitter in the browser answers as tree-sitter does, over the rows that the worker sends."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest
import tree_sitter

from analyzers.syntax import parse
from tests.cli.command import BROKEN, REPOSITORY

PROGRAMS = {
    **{path.stem: path.read_bytes() for path in sorted((REPOSITORY / "examples").glob("*.py"))},
    "broken": BROKEN.encode() + b"def (:\n  x = [1, \n",
    "letters": "é = 'ß𝔸'  # 𝔸\nfür = é + \\\n  é\n".encode(),
    "empty": b"",
    "half": b"import torch\nx = \n@\nclass A\n    def f(self: y = (1, 2\n",
}


@pytest.fixture(scope="module")
def stand_in() -> Iterator[ModuleType]:
    path = REPOSITORY / "playground" / "python" / "tree_sitter.py"
    spec = importlib.util.spec_from_file_location("tree_sitter_of_the_playground", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    real = parse.LANGUAGE
    module.Parser.rows = rows
    kinds = [(real.node_kind_for_id(kind), real.node_kind_is_named(kind)) for kind in range(real.node_kind_count)]
    module.Language.kinds = kinds
    module.Language.fields = [real.field_name_for_id(field) for field in range(real.field_count + 1)]
    yield module
    del sys.modules[spec.name]


def rows(text: str) -> Sequence[int]:
    """As `playground/parser.js` writes a tree, with JavaScript's offsets."""
    data = text.encode()
    numbers: list[int] = []

    def write(cursor: Any) -> None:
        node = cursor.node
        flags = node.is_named + 2 * node.is_extra + 4 * node.has_error
        begin, end = (len(data[:at].decode().encode("utf-16-le")) // 2 for at in (node.start_byte, node.end_byte))
        numbers.extend((node.kind_id, begin, end, cursor.field_id or 0, flags, node.child_count))
        if cursor.goto_first_child():
            write(cursor)
            while cursor.goto_next_sibling():
                write(cursor)
            cursor.goto_parent()

    write(tree_sitter.Parser(parse.LANGUAGE).parse(data).walk())
    return numbers


def below(node: Any) -> Iterator[Any]:
    yield node
    for child in node.children:
        yield from below(child)


def told(node: Any) -> Any:
    return node and (
        node.kind_id,
        node.type,
        node.start_byte,
        node.end_byte,
        node.is_named,
        node.is_extra,
        node.has_error,
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_node_answers_alike(stand_in: ModuleType, name: str) -> None:
    text = PROGRAMS[name]
    real = tree_sitter.Parser(parse.LANGUAGE).parse(text).root_node
    mine = stand_in.Parser(stand_in.Language(None)).parse(text).root_node
    pairs = [*zip(below(real), below(mine), strict=True)]
    for one, other in pairs:
        assert told(one) == told(other)
        assert told(one.parent) == told(other.parent)
        assert told(one.prev_sibling) == told(other.prev_sibling)
        assert [*map(told, one.named_children)] == [*map(told, other.named_children)]
        if one.named_children:
            assert told(one.named_child(0)) == told(other.named_child(0))
        for field in range(1, parse.LANGUAGE.field_count + 1):
            assert told(one.child_by_field_id(field)) == told(other.child_by_field_id(field))
    for start in range(0, len(text), 7):
        for length in (0, 1, 9):
            ranged = (start, min(start + length, len(text)))
            assert told(real.descendant_for_byte_range(*ranged)) == told(mine.descendant_for_byte_range(*ranged)), (
                ranged
            )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_cursor_goes_the_same_way(stand_in: ModuleType, name: str) -> None:
    text = PROGRAMS[name]
    cursors = [
        tree_sitter.Parser(parse.LANGUAGE).parse(text).walk(),
        stand_in.Parser(stand_in.Language(None)).parse(text).root_node.walk(),
    ]
    for byte in range(0, len(text), 11):
        ways = [[cursor.goto_first_child_for_byte(byte) for _ in range(4)] for cursor in cursors]
        assert [number is None for number in ways[0]] == [number is None for number in ways[1]]
        assert told(cursors[0].node) == told(cursors[1].node)
        while cursors[0].goto_parent():
            assert cursors[1].goto_parent()
        assert not cursors[1].goto_parent()


def test_the_language_answers_alike(stand_in: ModuleType) -> None:
    mine = stand_in.Language(None)
    assert mine.node_kind_count == parse.LANGUAGE.node_kind_count
    assert mine.field_id_for_name("body") == parse.LANGUAGE.field_id_for_name("body")
    assert mine.field_id_for_name("nothing") is None


def test_a_deep_program_is_no_deep_recursion(stand_in: ModuleType) -> None:
    depth = 5_000
    chain = [number for level in range(depth) for number in (1, 0, 1, 0, 1, int(level < depth - 1))]
    stand_in.Parser.rows = lambda text: chain
    try:
        node = stand_in.Parser(stand_in.Language(None)).parse(b"x").root_node
    finally:
        stand_in.Parser.rows = rows
    for _ in range(depth - 1):
        [node] = node.children
    assert node.children == []
