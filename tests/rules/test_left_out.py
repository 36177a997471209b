"""What of a file is not analysed is told."""

from __future__ import annotations

import pytest

from analyzers.host import Host
from analyzers.report import Choice

A = "/lab/a.py"


def told(text: str, off: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """The text that each finding about syntax is at, and its message."""
    host = Host(choose=lambda _: Choice(off=off))
    host.set_text(A, text)
    findings = host.snapshot().findings(A)
    data = text.encode()
    return [(data[f.place.start : f.place.end].decode(), f.message) for f in findings if f.code == "AG005"]


@pytest.mark.parametrize("text", ["", "x = 1\n", "match = x\n", "def f[T](x: T) -> T: ...\n", "x = f'{a!r:>{b}}'\n"])
def test_python_that_parses(text: str) -> None:
    assert told(text) == []


def test_a_file_that_is_no_python() -> None:
    assert told("def f(:\n") == [("def f(:", "this does not parse: this line is not analysed")]


def test_what_a_broken_header_takes_along_is_counted() -> None:
    assert told("import os\nclass A(:\n    x = 1\n\n    y = 2\nz = 3\n") == [
        ("class A(:", "this does not parse: these 4 lines are not analysed")
    ]


def test_a_stretch_is_told_once() -> None:
    text = "x = = 1\n\n# still broken\ny = = 2\nz = 3\nw = = 4  # the end\n"
    assert told(text) == [
        ("x = = 1", "this does not parse: these 4 lines are not analysed"),
        ("w = = 4  # the end", "this does not parse: this line is not analysed"),
    ]


def test_a_broken_statement_leaves_the_function_around_it() -> None:
    [(at, _)] = told("def f():\n    a = 1\n    b = (\n    return a\n")
    assert at == "b = ("


def test_the_rule_can_be_switched_off_and_silenced() -> None:
    assert told("x = = 1\n", frozenset({"AG005"})) == []
    assert told("x = = 1  # autograd: ignore[syntax-error]\n") == []
    assert told("# autograd: ignore-file[AG005]\nx = = 1\n") == []
