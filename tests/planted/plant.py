"""Plants a fault at a `loss.backward()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Planted:
    """A program with a fault; `kind` is one of `KINDS`."""

    kind: str
    text: str


def lines_of_backward(text: str) -> dict[int, ast.Expr]:
    """The statements `name.backward()` that stand alone on a line, by their lines."""
    lines = text.splitlines()
    found: dict[int, ast.Expr] = {}
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="backward"), args=[], keywords=[])):
                if lines[node.lineno - 1].strip() == ast.unparse(node):
                    found[node.lineno] = node
    return found


def plants(text: str, line: int) -> Iterator[Planted]:
    """The faults that can be planted at the backward in `line`."""
    lines = text.splitlines(keepends=True)
    statement = lines[line - 1]
    indent = statement[: len(statement) - len(statement.lstrip())]
    name = statement.strip().removesuffix(".backward()")

    def changed(before: str = "", after: str = "") -> str:
        return "".join([*lines[: line - 1], before, statement.rstrip("\r\n"), "\n", after, *lines[line:]])

    yield Planted("detached", changed(before=f"{indent}{name} = {name}.detach()\n"))
    yield Planted("twice", changed(after=statement.rstrip("\r\n") + "\n"))
    yield Planted(
        "wrapped", changed(before=f'{indent}{name} = __import__("torch").tensor({name}.item(), requires_grad=True)\n')
    )
    yield from _removed(text, "step", "unstepped")
    yield from _removed(text, "zero_grad", "uncleared")


KINDS = ("detached", "twice", "wrapped", "unstepped", "uncleared")


def _removed(text: str, method: str, kind: str) -> Iterator[Planted]:
    """The program without its only call of a method, if that is a statement of its own on one line."""
    lines = text.splitlines(keepends=True)
    calls = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]
    if len(calls) != 1:
        return
    [call] = calls
    line = lines[call.lineno - 1]
    if line.strip() == ast.unparse(call):
        indent = line[: len(line) - len(line.lstrip())]
        yield Planted(kind, "".join([*lines[: call.lineno - 1], f"{indent}pass\n", *lines[call.lineno :]]))
