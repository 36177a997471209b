"""Patterns of `match` statements: from tree-sitter's nodes to ours.

A name in a pattern is a capture and binds; a dotted name is a value; `_` is neither. Tree-sitter leaves the minus of
a negative number beside it as a token, so alternatives and keys are read as runs of tokens.
"""

from __future__ import annotations

from tree_sitter import Node

from analyzers.syntax import nodes as n
from analyzers.syntax import parse
from analyzers.syntax.expressions import expr
from analyzers.syntax.source import MAX_DEPTH, Source, error

_CASE = parse.kind("case_pattern")
_DOTTED = parse.kind("dotted_name")
_UNION = parse.kind("union_pattern")
_CLASS = parse.kind("class_pattern")
_MAPPING = parse.kind("dict_pattern")
_SPLAT = parse.kind("splat_pattern")
_COMPLEX = parse.kind("complex_pattern")
_KEYWORD = parse.kind("keyword_pattern")
_SEQUENCE = parse.kinds("list_pattern")
_TUPLE = parse.kinds("tuple_pattern")
_AS = parse.kinds("as_pattern")


def pattern(c: Source, nodes: list[Node]) -> n.Pattern:
    """Lower the pattern that the tokens `nodes` spell: most often one node, two for a negative number."""
    first, last = nodes[0], nodes[-1]
    start, end = c.at(first.start_byte), c.at(last.end_byte)
    if c.depth >= MAX_DEPTH:
        return n.MatchValue(start, end, n.ErrorExpr(start, end))
    c.depth += 1
    lowered = _pattern(c, nodes, start, end)
    c.depth -= 1
    return lowered


def open_sequence(c: Source, nodes: list[Node], end: int) -> n.Pattern:
    """`case a, b:`, whose sequence has no brackets; `end` is the file offset where its last token ends."""
    patterns = tuple(pattern(c, [one]) for one in nodes)
    return n.MatchSequence(c.at(nodes[0].start_byte), c.at(end), patterns)


def dotted(c: Source, node: Node) -> n.Expr:
    """`a.b.c` as attributes of attributes."""
    first, *rest = parse.parts(node)
    lowered = expr(c, first)
    for one in rest:
        lowered = n.Attribute(lowered.start, c.at(one.end_byte), lowered, c.name(one), c.at(one.start_byte))
    return lowered


def _pattern(c: Source, nodes: list[Node], start: int, end: int) -> n.Pattern:
    first = nodes[0]
    kind = first.kind_id
    if len(nodes) > 1 or not first.is_named:
        if first.type == "_":
            return n.MatchAs(start, end, None, None)
        return n.MatchValue(start, end, _value(c, nodes))
    if kind == _CASE:
        return pattern(c, _tokens(first))
    if kind == _DOTTED:
        return _capture_or_value(c, first, start, end)
    if kind == _UNION:
        return n.MatchOr(start, end, tuple(pattern(c, run) for run in _runs(_tokens(first), "|")))
    if kind in _AS:
        inner = parse.parts(first)
        name = _bind(c, inner[-1])
        return n.MatchAs(start, end, pattern(c, inner[:1]), name)
    if kind in _SEQUENCE:
        return n.MatchSequence(start, end, tuple(pattern(c, [one]) for one in parse.parts(first)))
    if kind in _TUPLE:
        inner = parse.parts(first)
        if len(inner) == 1 and not any(one.type == "," for one in first.children):
            return pattern(c, inner)
        return n.MatchSequence(start, end, tuple(pattern(c, [one]) for one in inner))
    if kind == _MAPPING:
        return _mapping(c, first, start, end)
    if kind == _CLASS:
        return _class(c, first, start, end)
    if kind == _SPLAT:
        return n.MatchStar(start, end, _starred_name(c, first))
    return n.MatchValue(start, end, _value(c, nodes))


def _capture_or_value(c: Source, node: Node, start: int, end: int) -> n.Pattern:
    names = parse.parts(node)
    if len(names) > 1:
        return n.MatchValue(start, end, dotted(c, node))
    return n.MatchAs(start, end, None, _bind(c, names[0]))


def _mapping(c: Source, node: Node, start: int, end: int) -> n.Pattern:
    keys: list[n.Expr] = []
    patterns: list[n.Pattern] = []
    rest: str | None = None
    for run in _runs(_tokens(node)[1:-1], ","):
        if run[0].kind_id == _SPLAT:
            rest = _starred_name(c, run[0])
            continue
        key, value = _runs(run, ":")
        keys.append(_value(c, key))
        patterns.append(pattern(c, value))
    return n.MatchMapping(start, end, tuple(keys), tuple(patterns), rest)


def _class(c: Source, node: Node, start: int, end: int) -> n.Pattern:
    cls, *inner = parse.parts(node)
    positional: list[n.Pattern] = []
    names: list[str] = []
    keywords: list[n.Pattern] = []
    for one in inner:
        tokens = _tokens(one)
        if tokens and tokens[0].kind_id == _KEYWORD:
            name, _, *value = _tokens(tokens[0])
            names.append(c.name(name))
            keywords.append(pattern(c, value))
        else:
            positional.append(pattern(c, [one]))
    return n.MatchClass(start, end, dotted(c, cls), tuple(positional), tuple(names), tuple(keywords))


def _value(c: Source, nodes: list[Node]) -> n.Expr:
    """A literal, a negative number, `1+2j` or a dotted name."""
    first, last = nodes[0], nodes[-1]
    start, end = c.at(first.start_byte), c.at(last.end_byte)
    if len(nodes) == 2 and first.type == "-":
        return n.UnaryOp(start, end, "-", expr(c, last))
    if len(nodes) > 1:
        return n.ErrorExpr(start, end)
    if first.kind_id == _DOTTED:
        return dotted(c, first)
    if first.kind_id == _COMPLEX:
        tokens = _tokens(first)
        *real, operator, imaginary = tokens
        if not real:
            return error(c, first)
        return n.BinOp(start, end, _value(c, real), operator.type, expr(c, imaginary))
    return expr(c, first)


def _starred_name(c: Source, node: Node) -> str | None:
    tokens = _tokens(node)
    return None if tokens[-1].type == "_" else _bind(c, tokens[-1])


def _bind(c: Source, node: Node) -> str | None:
    name = c.name(node)
    if name == "_":
        return None
    c.scope.bound.add(name)
    return name


def _tokens(node: Node) -> list[Node]:
    return [one for one in node.children if not one.is_extra]


def _runs(nodes: list[Node], separator: str) -> list[list[Node]]:
    runs: list[list[Node]] = [[]]
    for node in nodes:
        if node.type == separator:
            runs.append([])
        else:
            runs[-1].append(node)
    return [run for run in runs if run]
