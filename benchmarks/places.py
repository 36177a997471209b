"""Where in a text to type, and keystroke by keystroke what.

A place is told as a dotted name: `Net.forward` is in that method, `for epoch.for batch` in the module's loop over
batches. One types on a new line, before the last statement of the body.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle


@dataclass(frozen=True, slots=True)
class Place:
    """The start of a statement; lines and columns count from 0."""

    line: int
    indent: int


def find(text: str, dotted: str) -> Place:
    """Raises `LookupError` where the text has no such place."""
    body: list[ast.stmt] = ast.parse(text).body
    for name in dotted.split("."):
        body = _body_of(body, name)
    last = body[-1]
    return Place(last.lineno - 1, last.col_offset)


def _body_of(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    for statement in reversed(statements):
        match statement:
            case ast.FunctionDef(name=found) | ast.ClassDef(name=found) if found == name:
                return statement.body
            case ast.For(target=target) if name in {f"for {node.id}" for node in _names(target)}:
                return statement.body
    raise LookupError(name)


def _names(target: ast.expr) -> list[ast.Name]:
    return [node for node in ast.walk(target) if isinstance(node, ast.Name)]


@dataclass(frozen=True, slots=True)
class Keystroke:
    """`text` goes in at this place; a new line comes with its indentation."""

    line: int
    column: int
    text: str


def keystrokes(place: Place, text: str) -> Iterator[Keystroke]:
    """Types the text again and again, each time on new lines; a line is open at the place already."""
    line, column = place.line, place.indent
    for character in cycle(text.rstrip("\n") + "\n"):
        if character == "\n":
            yield Keystroke(line, column, "\n" + " " * place.indent)
            line, column = line + 1, place.indent
        else:
            yield Keystroke(line, column, character)
            column += 1
