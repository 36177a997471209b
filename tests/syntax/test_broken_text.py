"""No text makes the parser raise, and a broken line costs that line alone."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.syntax import expressions, nodes, statements
from analyzers.syntax.comments import suppressions
from analyzers.syntax.lower import lower
from analyzers.syntax.nodes import Chunk, ErrorStmt, FunctionDef
from analyzers.syntax.parse import edit, parse
from analyzers.syntax.split import split

SAMPLES = [Path(module.__file__).read_bytes() for module in (expressions, statements, nodes)]
SMALL = b'''"""Doc."""
import torch
from a import (b,
    c)


class Net(nn.Module):
    """More."""

    size: int = 3

    @property
    def width(self) -> int:
        return self.size if self else f"{self!r:>{3}}"

    def forward(self, x, *rest, **kwargs):
        for i, (a, b) in enumerate(rest):
            if a and not b:
                x = x + [j for j in a if j][0]
            elif b:
                continue
            else:
                x = {"k": i, **kwargs}[x]
        try:
            with torch.no_grad() as g, h:
                x += 1
        except (A, B) as e:
            raise C from e
        finally:
            pass
        match x:
            case [1, *_] | {"a": b}:
                return x
        return lambda y: (yield y)


net = Net()
'''


def everything(text: bytes) -> list[Chunk]:
    module = split(text, parse(text))
    assert module.directives == suppressions(text, module.is_comment)
    chunks = [lower(module, key) for key in module.spans]
    for chunk in chunks:
        span = module.spans[chunk.key]
        assert 0 <= span.start <= span.end <= len(text) - module.start(chunk.key)
        for statement in chunk.body:
            assert 0 <= statement.start <= statement.end <= len(chunk.text), (chunk, text)
    return chunks


def test_every_prefix_and_suffix() -> None:
    for at in range(len(SMALL)):
        everything(SMALL[:at])
        everything(SMALL[at:])


@pytest.mark.parametrize("sample", SAMPLES)
def test_some_prefixes_of_large_files(sample: bytes) -> None:
    for at in random.Random(0).sample(range(len(sample)), 12):
        everything(sample[:at])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(SMALL)), st.integers(0, 12), st.binary(max_size=4)), min_size=1, max_size=4)
)
def test_mutated_bytes(mutations: list[tuple[int, int, bytes]]) -> None:
    text = SMALL
    for at, length, inserted in mutations:
        text = text[:at] + inserted + text[at + length :]
    everything(text)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(SMALL)), st.integers(0, 3), st.sampled_from([*"()[]{}:,.='\"\\\n\t #@*", "def "])),
        min_size=1,
        max_size=4,
    )
)
def test_mutated_tokens(mutations: list[tuple[int, int, str]]) -> None:
    text = SMALL
    for at, length, inserted in mutations:
        text = text[:at] + inserted.encode() + text[at + length :]
    everything(text)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(text: bytes) -> None:
    everything(text)


@pytest.mark.parametrize(
    "text",
    [
        b"\x00",
        b"x = 1\x00\ny = 2\n",
        b"\xef\xbb\xbfx = 1\n",
        b"x = 1\r\nif x:\r\n\ty = 2\r\n",
        b"x = '" + b"a" * 100_000 + b"'\n",
        b"x = " + b"(" * 3_000 + b")" * 3_000 + b"\n",
        b"x = " + b"(" * 3_000,
        b"x = " + b"-" * 3_000 + b"1\n",
        b"x = " + b"1 + " * 3_000 + b"1\n",
        b"x = a" + b".b" * 3_000 + b"\n",
        b"x = " + b"1 if a else " * 3_000 + b"1\n",
        b"x = " + b"lambda: " * 3_000 + b"1\n",
        b"x = " + b"a and " * 3_000 + b"1\n",
        b"x = 1 & " + b"a ^ " * 3_000 + b"1\n",
        b"a = " * 3_000 + b"1\n",
        b"if a: pass\n" + b"elif a: pass\n" * 3_000,
        b"".join(b" " * depth + b"if a:\n" for depth in range(300)) + b" " * 300 + b"pass\n",
        b"".join(b" " * depth + b"class a:\n" for depth in range(300)) + b" " * 300 + b"pass\n",
        b"".join(b" " * depth + b"if (a:\n" for depth in range(300)) + b" " * 300 + b"pass\n",
        b"match x:\n case " + b"[" * 1_000 + b"]" * 1_000 + b": pass\n",
        b"f'" + b"{f'" * 50,
        b"def f(a, ()): pass",
        b"def g():\n" + b"    # why\n" * 50_000 + b"    pass\n",
        b"def g():\n" + b"    y = (\n" * 20_000 + b"    pass\n",
        b"def g():\n" + b"    y\n" * 50_000 + b"    pass\n",
    ],
    ids=lambda text: repr(text[:24]),
)
def test_hostile_text(text: bytes) -> None:
    everything(text)
    everything(b"def f():\n    pass\n" + text)


PYTHON_2 = "print 'x'"
"""The grammar knows it."""
BROKEN_LINES = [
    "y = x +",
    "y = x if",
    "y = x.  # why",
    "del",
    "y = f(x",
    "y = x.",
    "y = ",
    "y = [1, 2",
    "y = }",
    'y = "',
    "y = '''",
    "if x",
    "for x in",
    "with a as",
    "def g(x",
    "class",
    "import",
    "from a import",
    PYTHON_2,
    "@",
    "return x y",
    "x = = 2",
    "lambda",
    "else:",
]


@pytest.mark.parametrize("broken", BROKEN_LINES)
def test_statements_around_a_broken_line_survive(broken: str) -> None:
    text = f"a = 1\n{broken}\nb = 2\n\n\ndef f():\n    return 3\n".encode()
    bodies = [chunk.body[0] for chunk in everything(text)]
    whole = [chunk.body[0] for chunk in everything(b"a = 1\nb = 2\n\n\ndef f():\n    return 3\n")]
    assert [one for one in bodies if not isinstance(one, ErrorStmt)] == whole
    assert len(bodies) == len(whole) + 1


@pytest.mark.parametrize("broken", BROKEN_LINES)
def test_a_broken_line_in_a_method_leaves_its_neighbours(broken: str) -> None:
    before = b"class A:\n    def f(self):\n        a = 1\n        b = 2\n        return a\n\n"
    before += b"    def g(self):\n        pass\n"
    text = before.replace(b"        b = 2\n", f"        {broken}\n".encode())
    old = {chunk.key: chunk for chunk in everything(before)}
    new = {chunk.key: chunk for chunk in everything(text)}
    assert set(new) == set(old)
    assert new["A"] == old["A"] and new["A.g"] == old["A.g"]
    if broken != PYTHON_2:
        without = {chunk.key: chunk for chunk in everything(before.replace(b"        b = 2\n", b""))}
        assert new["A.f"] == without["A.f"]
        return
    function = new["A.f"].body[0]
    assert isinstance(function, FunctionDef)
    assert [type(one).__name__ for one in function.body] == ["Assign", "ErrorStmt", "Return"]
    error = function.body[1]
    assert new["A.f"].text[error.start : error.end].decode() == broken


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, len(SMALL)), st.integers(0, 40), st.sampled_from(["", "x", "(", "\n", '"""', "    y = 1\n", "\n\n"])
)
def test_an_edited_tree_is_the_tree_of_the_edited_text(at: int, length: int, inserted: str) -> None:
    end = min(at + length, len(SMALL))
    text = SMALL[:at] + inserted.encode() + SMALL[end:]
    old = parse(SMALL)
    tree = parse(text, edit(old, at, end, at + len(inserted.encode()), SMALL, text))
    incremental, fresh = split(text, tree), split(text, parse(text))
    assert incremental.spans == fresh.spans
    assert [lower(incremental, key) for key in fresh.spans] == [lower(fresh, key) for key in fresh.spans]


def test_a_string_that_looks_like_code_survives_a_broken_line() -> None:
    string = b'x = f(\n    r"""\ndef g(\n""" + """\nmore = (\n""".format(\n    1\n)\n)\n'
    (whole,) = everything(string)
    bodies = everything(b"y = (\n" + string + b"z = )\n")
    assert bodies[1] == whole
    assert [type(chunk.body[0]).__name__ for chunk in bodies] == ["ErrorStmt", "Assign", "ErrorStmt"]


def test_a_decorator_over_several_lines_survives_a_broken_line() -> None:
    decorated = b"@case(\n    1,\n)\n@other\ndef f(): pass\n"
    (whole,) = everything(decorated)
    assert everything(b"y = (\n" + decorated)[1] == whole
