"""Operators between expressions: grouped as Python groups them, and however long the sum, without recursion along it.

Who asks says how operands are lowered: `expr`.

    a & b ^ c        tree-sitter's grammar has `a & (b ^ c)`, Python has `(a & b) ^ c`
    a < b <= c       one comparison with two operators
"""

from __future__ import annotations

from tree_sitter import Node

from analyzers.syntax import nodes as n
from analyzers.syntax import parse
from analyzers.syntax.source import MAX_DEPTH, Lower, Source, error

_BINARY = parse.kind("binary_operator")
_BOOLEAN = parse.kind("boolean_operator")
_OPERATOR = parse.field("operator")
_PRECEDENCE = {
    op: rank
    for rank, ops in enumerate((("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "//", "%", "@"), ("**",)))
    for op in ops
}


def unary(c: Source, node: Node, expr: Lower) -> n.Expr:
    operator = node.children[0].type
    return n.UnaryOp(c.at(node.start_byte), c.at(node.end_byte), operator, expr(c, parse.parts(node)[0]))


def binary(c: Source, node: Node, expr: Lower) -> n.Expr:
    """`a + b + c` leans to the left, so a long sum is walked down and built up without recursion."""
    spine: list[tuple[Node, list[Node]]] = []
    while node.kind_id == _BINARY:
        tokens = [one for one in node.children if not one.is_extra]
        if tokens[1].type == "&" and any(_is_xor(one) for one in (tokens[0], tokens[2])):
            return _regrouped(c, spine[0][0] if spine else node, expr)
        spine.append((node, tokens))
        node = tokens[0]
    if c.depth + len(spine) > MAX_DEPTH:
        return error(c, spine[0][0])
    c.depth += len(spine)
    lowered = expr(c, node)
    for whole, (_, operator, right) in reversed(spine):
        start, end = c.at(whole.start_byte), c.at(whole.end_byte)
        lowered = n.BinOp(start, end, lowered, operator.type, expr(c, right))
    c.depth -= len(spine)
    return lowered


def _is_xor(node: Node) -> bool:
    operator = node.child_by_field_id(_OPERATOR) if node.kind_id == _BINARY else None
    return operator is not None and operator.type == "^"


def _regrouped(c: Source, node: Node, expr: Lower) -> n.Expr:
    """Tree-sitter's grammar lets `^` bind closer than `&`; Python does not. Group the operands by Python's rule."""
    pending: list[tuple[n.Expr, int, str]] = []
    tokens = _flat(node)
    if c.depth + len(tokens) // 2 > MAX_DEPTH:
        return error(c, node)
    for token, following in zip(tokens[::2], [*tokens[1::2], None], strict=True):
        operand, start, end = expr(c, token), c.at(token.start_byte), c.at(token.end_byte)
        operator = "" if following is None else following.type
        while pending and _binds_first(pending[-1][2], operator):
            left, start, joined = pending.pop()
            operand = n.BinOp(start, end, left, joined, operand)
        pending.append((operand, start, operator))
    return pending[-1][0]


def _flat(node: Node) -> list[Node]:
    """Operands and operators of a binary expression, in the order of the text."""
    tokens: list[Node] = []
    pending = [node]
    while pending:
        one = pending.pop()
        if one.kind_id == _BINARY:
            pending.extend(child for child in reversed(one.children) if not child.is_extra)
        else:
            tokens.append(one)
    return tokens


def _binds_first(left: str, right: str) -> bool:
    """Whether in `a left b right c` the left operator takes `b`; the end of the expression binds nothing."""
    return not right or (_PRECEDENCE[left] >= _PRECEDENCE[right] and right != "**")


def boolean(c: Source, node: Node, expr: Lower) -> n.Expr:
    start, end = c.at(node.start_byte), c.at(node.end_byte)
    values: list[Node] = []
    operator = None
    while node.kind_id == _BOOLEAN:
        left, token, right = [one for one in node.children if not one.is_extra]
        if operator is not None and token.type != operator:
            break
        operator = token.type
        values.append(right)
        node = left
    values.append(node)
    return n.BoolOp(start, end, operator or "and", tuple(expr(c, one) for one in reversed(values)))


def compare(c: Source, node: Node, expr: Lower) -> n.Expr:
    operands: list[Node] = []
    operators: list[str] = []
    for one in node.children:
        if one.is_named:
            if not one.is_extra:
                operands.append(one)
        else:
            operators.append("!=" if one.type == "<>" else one.type)
    left, *rest = operands
    comparators = tuple(expr(c, one) for one in rest)
    return n.Compare(c.at(node.start_byte), c.at(node.end_byte), expr(c, left), tuple(operators), comparators)
