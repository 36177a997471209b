"""Broken and endless text: what it costs to cut it into statements grows with its length."""

from __future__ import annotations

from itertools import pairwise

import pytest

from analyzers.syntax.parse import parse
from analyzers.syntax.repair import repair
from analyzers.syntax.split import split
from analyzers.syntax.unbound import Around
from tests.support.steps import lines_of

TEXTS = {
    "broken lines": lambda n: b"x = = 1\n" * n,
    "open brackets": lambda n: b"x = (\n" * n,
    "open quotes": lambda n: b'x = """\n' * n,
    "broken headers": lambda n: b"def f(:\n    x = 1\n" * n,
    "half-typed names": lambda n: b"def f():\n" + b"".join(b"    name%d\n" % k for k in range(n)),
    "calls of calls": lambda n: b"def f():\n    " + b"".join(b"f%d(" % k for k in range(n)) + b")" * n + b"\n",
    "decorators": lambda n: b"@a\n" * n,
    "continued lines": lambda n: b"x = 1 \\\n" * n,
    "clauses": lambda n: b"if x:\n    y\n" + b"else:\n    y\n" * n,
}


def cost(text: bytes) -> int:
    return lines_of(lambda: split(text, parse(text)))


@pytest.mark.parametrize("name", TEXTS)
def test_four_times_as_much_text_costs_four_times_as_much(name: str) -> None:
    fewer, more = (cost(TEXTS[name](n)) for n in (150, 600))
    assert more <= 5 * fewer


def test_what_is_nested_deeper_than_python_allows_is_one_hole() -> None:
    deep = b"".join(b" " * k + b"if x:\n" for k in range(300)) + b" " * 300 + b"y = = 1\n"
    text = b"a = 1\n" + deep + b"b = 2\n"
    mended = repair(text)
    [(start, end)] = mended.holes.items()
    assert mended.text[:start] == text[:start]
    assert mended.text[end:] == text[end:]
    assert text[:start].count(b"if") == 101
    assert not mended.tree.root_node.has_error


def test_the_nodes_around_a_byte() -> None:
    text = b"def f(a):\n    x = a.b(c)\n    return x\n"
    around = Around(parse(text).root_node)
    for at in (*range(len(text)), *reversed(range(len(text)))):
        node, nodes = parse(text).root_node.descendant_for_byte_range(at, at + 1), around.byte(at)
        assert node is not None
        assert (nodes[-1].start_byte, nodes[-1].end_byte) == (node.start_byte, node.end_byte) or node.child_count
        for outer, inner in pairwise(nodes):
            assert inner.parent == outer
