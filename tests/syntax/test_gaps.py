"""What says nothing is in no chunk: comments, blanks and half a statement leave each chunk as it was, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.syntax.lower import lower
from analyzers.syntax.nodes import (
    AnnAssign,
    Assign,
    AugAssign,
    Chunk,
    ClassDef,
    ErrorExpr,
    FunctionDef,
    FunctionHead,
    Name,
    Stmt,
    walk,
)
from analyzers.syntax.parse import parse
from analyzers.syntax.split import Module, split

TEXT = '''\
import torch

for x in range(3):
    if x:
        y = f(x,
              2)
    elif x > 1:
        y = 2
    else:
        y = """one

# two
        three"""
    try:
        g(y)
    except (A,
            B):
        raise
    finally:
        with a as b, c:
            z = 1 + \\
                2

@decorated
def f(
    x,
):
    """What it does."""
    while x:
        x -= 1
    return [
        x,
        x,
    ]


class Net(Base):
    size = 3

    def forward(self, x):
        def inner():
            return x
        class Inner:
            y = x
            z = x
        return inner
net = Net()
'''
LINES = TEXT.splitlines(keepends=True)
BETWEEN_STATEMENTS = [2, 4, 7, 8, 9, 13, 14, 17, 18, 19, 20, 27, 28, 29, 39, 40, 41, 44, 45]
"""The lines above which there is room for another statement, by their index."""
INSIDE = [5, 10, 11, 12, 16, 21, 25, 26, 31, 32, 33]
"""The lines that stand in brackets, in a string or behind a backslash."""
NOTHING = ("\n", "  \n", "# why\n", '# """ or "\n', "\t# why ( \n")
BROKEN = ("y = (\n", "y = x.\n", "f(x, # why\n", "for\n")
UNBOUND = ("f(y, nix)\n", "nobody = 1 + nix.f(y)\n", "y.z[nix] = 1  # why\n", "f(y=[\n  nix,\n])\n")
NAMES = ("na\n", "né  # why\n", "n # why ( \n")


def module_of(text: str) -> Module:
    return split(text.encode(), parse(text.encode()))


def chunks_of(text: str) -> dict[str, Chunk]:
    module = module_of(text)
    return {key: lower(module, key) for key, span in module.spans.items() if not span.is_hole}


def above(index: int, line: str) -> str:
    return "".join([*LINES[:index], line, *LINES[index:]])


def indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


@pytest.mark.parametrize("index", BETWEEN_STATEMENTS)
@pytest.mark.parametrize("line", NOTHING)
def test_a_line_without_code_is_in_no_chunk(line: str, index: int) -> None:
    assert chunks_of(above(index, line)) == chunks_of(TEXT)


@pytest.mark.parametrize("index", [index for index in BETWEEN_STATEMENTS if LINES[index].strip() != "else:"])
@pytest.mark.parametrize("line", BROKEN)
def test_half_a_statement_is_in_no_chunk(line: str, index: int) -> None:
    if LINES[index].lstrip().startswith(("elif", "else", "except", "finally")):
        index -= 1
    text = above(index, indentation(LINES[index]) + line)
    assert chunks_of(text) == chunks_of(TEXT)


@pytest.mark.parametrize("index", [4, 7, 9, 13, 17, 20, 27, 28, 29, 40, 41, 44, 45])
@pytest.mark.parametrize("line", NAMES)
def test_a_name_alone_in_a_block_is_in_no_chunk(line: str, index: int) -> None:
    assert chunks_of(above(index, indentation(LINES[index]) + line)) == chunks_of(TEXT)


@pytest.mark.parametrize("index", [4, 7, 9, 13, 27, 28, 29, 40, 41, 44, 45])
@pytest.mark.parametrize("line", UNBOUND)
def test_a_statement_in_a_block_that_reads_what_nothing_binds_is_in_no_chunk(line: str, index: int) -> None:
    assert chunks_of(above(index, indentation(LINES[index]) + line)) == chunks_of(TEXT)


@pytest.mark.parametrize(
    "line",
    [
        "nix = f(y)",
        "y = x.nix",
        "y = f(nix=1)",
        "nix += 1",
        "y: nix = 1",
        "y = x or nix",
        "y = x if y else nix",
        "y = lambda: nix",
        "y = [nix for y in x]",
        "y = 1; x = nix",
        "return nix",
        "y = print(x)",
        "y = f(nix)  # nix",
        "y = f(nix, globals())",
        "from os import *\n    y = nix",
        "try:\n        if x:\n            y = nix\n    except NameError:\n        pass",
    ],
)
def test_a_statement_that_need_not_miss_a_name_stays(line: str) -> None:
    text = f"def f(x, y):\n    {line}\n    return 1"
    (chunk,) = chunks_of(text).values()
    assert len(chunk.text.splitlines()) == len(text.splitlines())


@pytest.mark.parametrize(
    ("line", "kept", "lowered"),
    [
        ("y = 2 * nix", "y =", Assign),
        ("y = x = nix(  # why\n        2)", "y = x =", Assign),
        ("y, other = nix", "y, other =", Assign),
        ("y += nix", "y +=", AugAssign),
        ("y.size[0] =nix", "y.size[0] =", Assign),
        ("y: int = nix", "y: int =", AnnAssign),
    ],
)
def test_what_a_half_typed_value_is_bound_to_is_lost(line: str, kept: str, lowered: type[Stmt]) -> None:
    text = f"def f(x, y):\n    {line}\n    return y"
    (chunk,) = chunks_of(text).values()
    assert chunk.text.decode() == f"def f(x, y):\n    {kept}\n    return y"
    (function,) = chunk.body
    assert isinstance(function, FunctionDef)
    statement = function.body[0]
    assert isinstance(statement, lowered)
    assert isinstance(statement, Assign | AugAssign | AnnAssign)
    assert isinstance(statement.value, ErrorExpr)


def test_names_that_come_from_elsewhere_are_bound() -> None:
    text = b"def f(x):\n    x = nix(x)\n    return x"
    assert split(text, parse(text), is_closed=False).spans["f"].text == text


@pytest.mark.parametrize("index", BETWEEN_STATEMENTS)
@pytest.mark.parametrize("blanks", ["  ", "  # why", "# why"])
def test_what_stands_behind_a_line_is_in_no_chunk(blanks: str, index: int) -> None:
    if not LINES[index - 1].strip():
        return
    text = "".join([*LINES[: index - 1], LINES[index - 1][:-1] + blanks + "\n", *LINES[index:]])
    assert chunks_of(text) == chunks_of(TEXT)


@pytest.mark.parametrize("index", INSIDE)
@pytest.mark.parametrize("line", ["\n", "# why\n"])
def test_what_stands_inside_a_statement_stays(line: str, index: int) -> None:
    was, now = chunks_of(TEXT), chunks_of(above(index, line))
    assert len(now) == len(was)
    assert [chunk.text for chunk in now.values()] != [chunk.text for chunk in was.values()]


def test_a_statement_that_does_not_parse_at_the_end_of_a_block_is_in_no_chunk() -> None:
    for line in BROKEN:
        assert chunks_of("for x in xs:\n    y = 1\n    " + line) == chunks_of("for x in xs:\n    y = 1\n")
        assert chunks_of("class A:\n    y = 1\n    " + line) == chunks_of("class A:\n    y = 1\n")


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    unicode\nexcept NameError:\n    unicode = str\n",
        "f(\n    x\n)\n",
        "def f():\n    return (\n        x\n    )\n",
        "if x:\n    x\\\n    .z\n",
        "if x:\n    pass\n",
        "if x:\n    '''\n    x\n    '''\n",
        "x\n",
    ],
)
def test_a_name_that_is_no_half_typed_statement_stays(text: str) -> None:
    (chunk, *_) = chunks_of(text).values()
    assert chunk.text == text.rstrip("\n").encode()


def test_a_comment_behind_a_decorator_is_in_no_chunk() -> None:
    text = "@f\n@g(1)\ndef h(): pass\n"
    assert chunks_of(text.replace("@f", "@f  # why").replace("(1)", "(1)  # why\n# and")) == chunks_of(text)


def test_a_function_of_broken_text_alone_has_no_body() -> None:
    (chunk,) = chunks_of("def f(x):\n    y = (\n").values()
    (function,) = chunk.body
    assert isinstance(function, FunctionDef)
    assert function.body == ()
    assert chunk.text == b"def f(x):"


def test_a_broken_statement_of_a_module_is_not_in_its_body() -> None:
    assert module_of("a = 1\nb = (\nc = 3\n").body == module_of("a = 1\nc = 3\n").body


def test_lines_that_end_in_carriage_returns_are_told_apart_from_gaps() -> None:
    text = TEXT.replace("\n", "\r\n")
    assert max(len(span.segments) for span in module_of("if x:\r\n    y = 1\r\n    z = 2\r\n").chunks) == 1
    for line in NOTHING:
        commented = above(4, line).replace("\n", "\r\n")
        assert chunks_of(commented) == chunks_of(text)


def test_a_comment_is_in_no_chunk_and_its_neighbours_are() -> None:
    text = "if x:\n    a = 1  # why\n    # and\n    b = 2\n"
    module = module_of(text)
    assert module.locate(text.index("why")) is None
    assert module.locate(text.index("and")) is None
    for name in ("a = 1", "b = 2"):
        key, at = module.locate(text.index(name)) or ("", 0)
        assert module.spans[key].text[at:].startswith(name.encode())


@given(
    st.lists(
        st.tuples(st.sampled_from(BETWEEN_STATEMENTS), st.sampled_from(NOTHING + BROKEN[:2])), min_size=1, max_size=6
    )
)
def test_every_name_and_statement_is_at_its_place(added: list[tuple[int, str]]) -> None:
    lines = list(LINES)
    for index, line in sorted(added, reverse=True):
        at = index - LINES[index].lstrip().startswith(("elif", "else", "except", "finally"))
        lines.insert(at, (indentation(LINES[at]) if line in BROKEN else "") + line)
    check_places("".join(lines))


@pytest.mark.parametrize("path", [Path(statement.__file__) for statement in (pytest, st)], ids=lambda path: path.stem)
def test_every_name_of_a_file_is_at_its_place(path: Path) -> None:
    check_places(path.read_text(encoding="utf-8"))


def check_places(text: str) -> None:
    """What a node is in its chunk, it is in the file."""
    module, data = module_of(text), text.encode()
    for key in module.spans:
        for node in walk(lower(module, key).body):
            start, end = module.to_file(key, node.start), module.to_file(key, node.end)
            if isinstance(node, Name):
                assert data[start:end].decode() == node.id
                assert module.locate(start) == (key, node.start)
            elif isinstance(node, Stmt) and not isinstance(node, ClassDef | FunctionHead):
                there, here = data[start:end].split(), module.spans[key].text[node.start : node.end].split()
                assert there[:1] == here[:1]
                assert there[-1:] == here[-1:]
