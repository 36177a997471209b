"""Hides random expressions of a program, without moving a line."""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hidden:
    """What is to be hidden: bytes `start` to `end` of the program, or, if none, the module just imported as `name`."""

    start: int
    end: int
    name: str = ""

    def insertions(self, data: bytes) -> Iterator[tuple[tuple[int, int, int], bytes]]:
        """What to insert and where, in an order in which one inside another nests."""
        if self.name:
            yield (self.end, 2, 0), f"; {self.name} = hidden.same({self.name})".encode()
            return
        opening, closing = (b"(", b")") if data[self.start : self.start + 1] == b"(" else (b"((", b"))")
        yield (self.start, 1, -self.end), b"hidden.same" + opening
        yield (self.end, 0, -self.start), closing


def blinded(text: str, dice: random.Random, wraps: int) -> str | None:
    """`text` with up to `wraps` of its parts hidden, each of a random kind; None where there is nothing to hide."""
    tree = ast.parse(text)
    data = text.encode()
    by_kind = candidates(tree, data)
    if not by_kind:
        return None
    return hide(data, tree, {dice.choice(by_kind[dice.choice(sorted(by_kind))]) for _ in range(wraps)})


def hide(data: bytes, tree: ast.Module, chosen: set[Hidden]) -> str:
    """The program with all of these hidden."""
    first = next((node for node in tree.body if not _comes_first(node)), None)
    start = _Offsets(data).start(first) if first is not None else len(data)
    pieces = [((start, -1, 0), b"import hidden; ")]
    for hidden in chosen:
        pieces += hidden.insertions(data)
    for (offset, _, _), piece in sorted(pieces, reverse=True):
        data = data[:offset] + piece + data[offset:]
    return data.decode()


def hidden_at(data: bytes, node: ast.expr) -> Hidden:
    """An expression of a program, to be hidden."""
    offsets = _Offsets(data)
    return Hidden(offsets.start(node), offsets.end(node))


def candidates(tree: ast.Module, data: bytes) -> dict[str, list[Hidden]]:
    """All that can be hidden in a program, by kind."""
    offsets = _Offsets(data)
    found: dict[str, list[Hidden]] = defaultdict(list)
    for node, parent in _expressions(tree):
        found[_kind(node, parent)].append(Hidden(offsets.start(node), offsets.end(node)))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not _comes_first(node):
            names = [alias.asname or alias.name for alias in node.names]
            found["module"] += [Hidden(0, offsets.end(node), name) for name in names if name.isidentifier()]
    return {kind: hidden for kind, hidden in found.items() if hidden}


def _expressions(parent: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Each expression that can be hidden, with the node that it is part of."""
    for name, value in ast.iter_fields(parent):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, (ast.JoinedStr, ast.pattern)):
                if isinstance(child, ast.expr) and _can_be_hidden(child, parent):
                    yield child, parent
                yield from _expressions(child)


def _can_be_hidden(node: ast.expr, parent: ast.AST) -> bool:
    match node:
        case ast.Starred() | ast.Slice() | ast.GeneratorExp():
            return False
        case ast.Tuple(elts=parts) if any(isinstance(part, (ast.Starred, ast.Slice)) for part in parts):
            return False
        case ast.Constant() if isinstance(parent, ast.Expr):
            return False
    return isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))


def _kind(node: ast.expr, parent: ast.AST) -> str:
    if node is getattr(parent, "test", None):
        return "condition"
    match parent:
        case ast.ClassDef(bases=bases) if node in bases:
            return "base"
        case ast.Call(func=func) if node is func:
            return "function"
        case ast.For() | ast.comprehension() if node is parent.iter:
            return "iterable"
    match node:
        case ast.Name():
            return "name"
        case ast.Constant():
            return "constant"
        case ast.Call():
            return "call"
        case ast.List() | ast.Tuple() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return "container"
        case ast.Attribute() | ast.Subscript():
            return "part"
    return "operation"


def _comes_first(node: ast.stmt) -> bool:
    """Whether no other statement may be in front of this one."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.ImportFrom(module="__future__"):
            return True
    return False


class _Offsets:
    """Where a node begins and ends, in bytes."""

    def __init__(self, data: bytes) -> None:
        self._lines = [0, *(number + 1 for number, byte in enumerate(data) if byte == 10)]

    def start(self, node: ast.stmt | ast.expr) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.stmt | ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset
