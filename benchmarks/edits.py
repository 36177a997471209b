"""Whole edits that mean something: another number, one more statement, one statement less.

Where they are is drawn at random, the same for the same text.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` goes in the place of `erased`. Lines and columns count from 0, columns by characters."""

    line: int
    column: int
    erased: str
    text: str

    def undone(self) -> Edit:
        return Edit(self.line, self.column, self.text, self.erased)

    def applied(self, text: str) -> str:
        lines = text.split("\n")
        at = sum(len(line) + 1 for line in lines[: self.line]) + self.column
        assert text.startswith(self.erased, at)
        return text[:at] + self.text + text[at + len(self.erased) :]


def edits(text: str, count: int) -> list[Edit]:
    """Raises `LookupError` where there is too little to change."""
    found = list(islice(_drawn(text, random.Random(count)), count))
    if len(found) < count:
        raise LookupError("nothing to change")
    return found


def _drawn(text: str, chance: random.Random) -> Iterator[Edit]:
    lines = text.split("\n")
    statements = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and not isinstance(node, _DEFINITIONS)
        if not lines[node.lineno - 1][: node.col_offset].strip()
    ]
    for number in range(1000 if statements else 0):
        statement, draw = chance.choice(statements), chance.choice((_number, _addition, _deletion))
        edit = draw(statement, lines[statement.lineno - 1], number)
        if edit is not None and _is_python(edit.applied(text)):
            yield edit


def _addition(statement: ast.stmt, line: str, number: int) -> Edit:
    del line
    indent = statement.col_offset
    return Edit(statement.lineno - 1, indent, "", f"added_{number} = {number}\n" + " " * indent)


def _deletion(statement: ast.stmt, line: str, number: int) -> Edit | None:
    del number
    if statement.lineno != statement.end_lineno or hasattr(statement, "body") or not line.isascii():
        return None
    return Edit(
        statement.lineno - 1, statement.col_offset, line[statement.col_offset : statement.end_col_offset], "pass"
    )


def _number(statement: ast.stmt, line: str, number: int) -> Edit | None:
    """Of several numbers in the first line of a statement any."""
    found = [
        node for node in ast.walk(statement) if isinstance(node, ast.Constant) and type(node.value) in {int, float}
    ]
    found = [node for node in found if node.lineno == node.end_lineno == statement.lineno]
    if not found or not line.isascii():
        return None
    constant = found[number % len(found)]
    assert isinstance(constant.value, int | float)
    erased = line[constant.col_offset : constant.end_col_offset]
    return Edit(statement.lineno - 1, constant.col_offset, erased, str(constant.value + 1))


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
