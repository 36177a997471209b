"""Chunks stay equal under edits that do not touch them, and places map from file to chunk and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.syntax import split as split_module
from analyzers.syntax import statements
from analyzers.syntax.lower import lower
from analyzers.syntax.nodes import Chunk, ChunkRef, ClassDef
from analyzers.syntax.parse import parse
from analyzers.syntax.split import Module, split

TEXT = b"""import torch

class Net(Base):
    size = 3

    @property
    def width(self):
        return self.size

    @width.setter
    def width(self, value):
        self.size = value

    class Inner:
        depth = 4

        def f(self): pass

    end = size

    if end:
        def g(self): pass

def f(): pass
def f(): pass
x = 1
x = 1
"""
LARGE = [Path(module.__file__).read_bytes() for module in (statements, split_module)]


def module_of(text: bytes) -> Module:
    return split(text, parse(text))


def chunks_of(text: bytes) -> dict[str, Chunk]:
    module = module_of(text)
    return {key: lower(module, key) for key in module.spans}


def test_keys() -> None:
    keys = [key for key in module_of(TEXT).spans if not key.startswith("stmt:")]
    assert keys == ["Net.width", "Net.width#2", "Net.Inner.f", "Net.Inner", "Net", "f", "f#2"]
    repeated = [ref.key for ref in module_of(TEXT).body][-2:]
    assert repeated[1] == repeated[0] + "#2"


def test_a_class_refers_to_its_methods_in_order() -> None:
    (net,) = chunks_of(TEXT)["Net"].body
    assert isinstance(net, ClassDef)
    assert [one.key if isinstance(one, ChunkRef) else type(one).__name__ for one in net.body] == [
        "Assign",
        "Net.width",
        "Net.width#2",
        "Net.Inner",
        "Assign",
        "If",
    ]
    assert b"self.size" not in chunks_of(TEXT)["Net"].text


def test_an_edit_inside_a_method_leaves_its_class_equal() -> None:
    before = chunks_of(TEXT)
    after = chunks_of(TEXT.replace(b"return self.size", b"x = 1\n        return self.size + x"))
    assert {key for key in before if before[key] != after[key]} == {"Net.width"}


def test_a_line_on_top_leaves_every_chunk_equal() -> None:
    before, after = chunks_of(TEXT), chunks_of(b"import os\n\n" + TEXT)
    assert before == {key: after[key] for key in before}
    assert len(after) == len(before) + 1


def test_blank_lines_and_comments_between_methods_change_nothing() -> None:
    assert chunks_of(TEXT) == chunks_of(TEXT.replace(b"\n    @property", b"\n\n    # why\n\n    @property"))


def test_another_method_changes_its_class() -> None:
    before = chunks_of(TEXT)
    after = chunks_of(TEXT.replace(b"    end = size\n", b"    end = size\n    def h(self): pass\n"))
    assert {key for key in after if before.get(key) != after[key]} == {"Net", "Net.h"}


@pytest.mark.parametrize("text", [TEXT, *LARGE])
def test_chunk_text_is_file_text(text: bytes) -> None:
    module = module_of(text)
    for span in module.spans.values():
        for chunk_offset, offset, length in span.segments:
            file_offset = module.start(span.key) + offset
            assert span.text[chunk_offset : chunk_offset + length] == text[file_offset : file_offset + length]


@given(st.integers(0, len(TEXT) - 1))
def test_places_go_there_and_back(offset: int) -> None:
    module = module_of(TEXT)
    found = module.locate(offset)
    if found is None:
        assert not any(0 <= offset - module.start(span.key) <= span.end for span in module.chunks)
        return
    key, at = found
    span = module.spans[key]
    back, outside = module.to_file(key, at), offset - module.start(key)
    inside = any(segment.offset <= outside <= segment.offset + segment.length for segment in span.segments)
    assert back == offset if inside else back < offset


def test_a_place_in_a_method_is_in_the_methods_chunk() -> None:
    at = TEXT.index(b"self.size = value")
    key, offset = module_of(TEXT).locate(at) or ("", 0)
    assert key == "Net.width#2"
    assert chunks_of(TEXT)[key].text[offset:].startswith(b"self.size = value")
