"""Statements that contain no other statements: assignments, imports, `return` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tree_sitter import Node

from analyzers.syntax import nodes as n
from analyzers.syntax import parse
from analyzers.syntax.expressions import IDENTIFIER, expr, listed, target
from analyzers.syntax.source import Scope, Source, error

_TYPE = parse.field("type")
_OPERATOR = parse.field("operator")
_CAUSE = parse.field("cause")
_ASSIGNMENT = parse.kind("assignment")
_AUGMENTED = parse.kind("augmented_assignment")
_ALIASED = parse.kind("aliased_import")
_RELATIVE = parse.kind("relative_import")
_IMPORT_PREFIX = parse.kind("import_prefix")
_WILDCARD = parse.kind("wildcard_import")
_EXPRESSION_LIST = parse.kind("expression_list")

LowerStatement: TypeAlias = Callable[[Source, Node], n.Stmt]


def broken(c: Source, node: Node) -> n.ErrorStmt:
    return n.ErrorStmt(c.at(node.start_byte), c.at(node.end_byte))


def _expression(c: Source, node: Node) -> n.Stmt:
    inner = parse.parts(node)
    if not inner:
        return broken(c, node)
    first = inner[0]
    kind = first.kind_id
    if kind == _ASSIGNMENT:
        return _assignment(c, first)
    if kind == _AUGMENTED:
        left, *_, right = parse.parts(first)
        operator = first.child_by_field_id(_OPERATOR)
        start, end = c.at(first.start_byte), c.at(first.end_byte)
        op = "" if operator is None else operator.type[:-1]
        return n.AugAssign(start, end, target(c, left), op, _value(c, right))
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    return n.ExprStmt(start, end, listed(c, node, 0))


def _assignment(c: Source, node: Node) -> n.Stmt:
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    annotation = node.child_by_field_id(_TYPE)
    if annotation is not None:
        return _annotated(c, node, annotation)
    targets: list[n.Expr] = []
    while node.kind_id == _ASSIGNMENT:
        if node.child_by_field_id(_TYPE) is not None:
            return n.ErrorStmt(start, end)
        left, node = parse.parts(node)
        targets.append(target(c, left))
    return n.Assign(start, end, tuple(targets), _value(c, node))


def _value(c: Source, node: Node) -> n.Expr:
    """What an assignment binds, which is unknown while it is half typed."""
    return error(c, node) if c.leaves_out(node) else expr(c, node)


def _annotated(c: Source, node: Node, annotation: Node) -> n.Stmt:
    left, _, *values = parse.parts(node)
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    if values and values[0].kind_id == _ASSIGNMENT:
        return n.ErrorStmt(start, end)
    declared = bool(values) or left.kind_id == IDENTIFIER
    assigned = target(c, left) if declared else _unbound(c, left)
    value = _value(c, values[0]) if values else None
    return n.AnnAssign(start, end, assigned, expr(c, annotation), value)


def _unbound(c: Source, node: Node) -> n.Expr:
    """`(x): int` declares nothing: Python does not make `x` a local for it."""
    outer = c.scope
    c.scope = Scope()
    lowered = target(c, node)
    c.scope = outer
    return lowered


def _simple(make: Callable[[int, int], n.Stmt]) -> LowerStatement:
    def lower(c: Source, node: Node) -> n.Stmt:
        return make(c.at(node.start_byte), c.at(node.end_byte))

    return lower


def _return(c: Source, node: Node) -> n.Stmt:
    inner = parse.parts(node)
    return n.Return(c.at(node.start_byte), c.at(node.end_byte), expr(c, inner[0]) if inner else None)


def _delete(c: Source, node: Node) -> n.Stmt:
    inner = parse.parts(node)
    if len(inner) == 1 and inner[0].kind_id == _EXPRESSION_LIST:
        inner = parse.parts(inner[0])
    targets = tuple(target(c, one) for one in inner)
    return n.Delete(c.at(node.start_byte), c.at(node.end_byte), targets)


def _raise(c: Source, node: Node) -> n.Stmt:
    cause = node.child_by_field_id(_CAUSE)
    inner = parse.parts(node)
    if inner and inner[0].kind_id == _EXPRESSION_LIST:
        return broken(c, node)
    exc = expr(c, inner[0]) if inner else None
    lowered_cause = None if cause is None else expr(c, cause)
    return n.Raise(c.at(node.start_byte), c.at(node.end_byte), exc, lowered_cause)


def _assert(c: Source, node: Node) -> n.Stmt:
    test, *msg = parse.parts(node)
    message = expr(c, msg[0]) if msg else None
    return n.Assert(c.at(node.start_byte), c.at(node.end_byte), expr(c, test), message)


def _import(c: Source, node: Node) -> n.Stmt:
    names = tuple(_alias(c, one) for one in parse.parts(node))
    c.scope.bound.update(alias.asname or alias.name.split(".")[0] for alias in names)
    return n.Import(c.at(node.start_byte), c.at(node.end_byte), names)


def _import_from(c: Source, node: Node) -> n.Stmt:
    source, *imported = parse.parts(node)
    module: str | None
    module, level = None, 0
    if source.kind_id == _RELATIVE:
        for one in parse.parts(source):
            if one.kind_id == _IMPORT_PREFIX:
                level = c.text[one.start_byte : one.end_byte].count(b".")
            else:
                module = _dotted_name(c, one)
    else:
        module = _dotted_name(c, source)
    return _from(c, node, module, imported, level)


def _future(c: Source, node: Node) -> n.Stmt:
    return _from(c, node, "__future__", parse.parts(node), 0)


def _from(c: Source, node: Node, module: str | None, imported: list[Node], level: int) -> n.Stmt:
    names = tuple(_alias(c, one) for one in imported)
    c.scope.bound.update(alias.asname or alias.name for alias in names if alias.name != "*")
    return n.ImportFrom(c.at(node.start_byte), c.at(node.end_byte), module, names, level)


def _alias(c: Source, node: Node) -> n.Alias:
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    if node.kind_id == _WILDCARD:
        return n.Alias(start, end, "*", None)
    if node.kind_id == _ALIASED:
        name, asname = parse.parts(node)
        return n.Alias(start, end, _dotted_name(c, name), c.name(asname))
    return n.Alias(start, end, _dotted_name(c, node), None)


def _dotted_name(c: Source, node: Node) -> str:
    return ".".join(c.name(one) for one in parse.parts(node))


def _global(c: Source, node: Node) -> n.Stmt:
    names = tuple(c.name(one) for one in parse.parts(node))
    c.scope.globals.update(names)
    return n.Global(c.at(node.start_byte), c.at(node.end_byte), names)


def _nonlocal(c: Source, node: Node) -> n.Stmt:
    names = tuple(c.name(one) for one in parse.parts(node))
    c.scope.nonlocals.update(names)
    return n.Nonlocal(c.at(node.start_byte), c.at(node.end_byte), names)


SIMPLE: dict[str, LowerStatement] = {
    "expression_statement": _expression,
    "pass_statement": _simple(n.Pass),
    "break_statement": _simple(n.Break),
    "continue_statement": _simple(n.Continue),
    "return_statement": _return,
    "delete_statement": _delete,
    "raise_statement": _raise,
    "assert_statement": _assert,
    "import_statement": _import,
    "import_from_statement": _import_from,
    "future_import_statement": _future,
    "global_statement": _global,
    "nonlocal_statement": _nonlocal,
}
"""By the name of tree-sitter's kind, what lowers it."""
