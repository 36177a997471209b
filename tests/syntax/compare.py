# ruff: noqa: N802
"""Two trees of one file, CPython's and ours, as plain tuples that are equal when the trees say the same.

A tuple is `(kind, start, end, parts...)` with byte offsets in the file. Known differences are levelled here and
nowhere else: text inside an f-string carries no spans, and an implicit `Arguments` is spelled as lists.
"""

from __future__ import annotations

import ast
from dataclasses import fields
from typing import Any

from analyzers.syntax import nodes as n
from analyzers.syntax.lower import lower
from analyzers.syntax.parse import parse
from analyzers.syntax.split import Module, split

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.And: "and", ast.Or: "or", ast.UAdd: "+",
    ast.USub: "-", ast.Invert: "~", ast.Not: "not",
}  # fmt: skip


class FromAst:
    """CPython's tree as tuples."""

    def __init__(self, text: bytes) -> None:
        bom = 3 if text.startswith(b"\xef\xbb\xbf") else 0
        self.text = text
        self.lines = [bom]
        at = 0
        while at < len(text):
            if text[at : at + 1] == b"\n" or (text[at : at + 1] == b"\r" and text[at + 1 : at + 2] != b"\n"):
                self.lines.append(at + 1)
            at += 1
        self.in_fstring = False

    def span(self, node: Any) -> tuple[int, int]:
        if self.in_fstring:
            return (0, 0)
        start, end = (
            self.lines[node.lineno - 1] + node.col_offset,
            self.lines[node.end_lineno - 1] + node.end_col_offset,
        )
        # A block that ends in `;` ends behind it for CPython, though the statement in it does not.
        return start, start + len(self.text[start:end].rstrip(b"; "))

    def all(self, nodes: Any) -> tuple[Any, ...]:
        return tuple(self.of(node) for node in nodes)

    def of(self, node: Any) -> Any:
        if node is None:
            return None
        return getattr(self, type(node).__name__)(node)

    def plain(self, node: Any, *parts: Any) -> tuple[Any, ...]:
        return (type(node).__name__, *self.span(node), *parts)

    def Module(self, node: Any) -> Any:
        return self.all(node.body)

    def Constant(self, node: Any) -> Any:
        return self.plain(node, type(node.value).__name__, repr(node.value))

    def Name(self, node: Any) -> Any:
        return self.plain(node, node.id)

    def Attribute(self, node: Any) -> Any:
        return self.plain(node, self.of(node.value), node.attr)

    def Subscript(self, node: Any) -> Any:
        return self.plain(node, self.of(node.value), self.of(node.slice))

    def Slice(self, node: Any) -> Any:
        return self.plain(node, self.of(node.lower), self.of(node.upper), self.of(node.step))

    def Starred(self, node: Any) -> Any:
        return self.plain(node, self.of(node.value))

    def keyword(self, node: Any) -> Any:
        return ("Keyword", *self.span(node), node.arg, self.of(node.value))

    def Call(self, node: Any) -> Any:
        return self.plain(node, self.of(node.func), self.all(node.args), self.all(node.keywords))

    def UnaryOp(self, node: Any) -> Any:
        return self.plain(node, OPERATORS[type(node.op)], self.of(node.operand))

    def BinOp(self, node: Any) -> Any:
        return self.plain(node, self.of(node.left), OPERATORS[type(node.op)], self.of(node.right))

    def BoolOp(self, node: Any) -> Any:
        return self.plain(node, OPERATORS[type(node.op)], self.all(node.values))

    def Compare(self, node: Any) -> Any:
        ops = tuple(OPERATORS[type(op)] for op in node.ops)
        return self.plain(node, self.of(node.left), ops, self.all(node.comparators))

    def IfExp(self, node: Any) -> Any:
        return self.plain(node, self.of(node.test), self.of(node.body), self.of(node.orelse))

    def NamedExpr(self, node: Any) -> Any:
        return self.plain(node, self.of(node.target), self.of(node.value))

    def Tuple(self, node: Any) -> Any:
        return ("TupleExpr", *self.span(node), self.all(node.elts))

    def List(self, node: Any) -> Any:
        return ("ListExpr", *self.span(node), self.all(node.elts))

    def Set(self, node: Any) -> Any:
        return ("SetExpr", *self.span(node), self.all(node.elts))

    def Dict(self, node: Any) -> Any:
        return ("DictExpr", *self.span(node), self.all(node.keys), self.all(node.values))

    def comprehension(self, node: Any) -> Any:
        return (self.of(node.target), self.of(node.iter), self.all(node.ifs), bool(node.is_async))

    def ListComp(self, node: Any) -> Any:
        return self.plain(node, self.of(node.elt), self.all(node.generators))

    SetComp = GeneratorExp = ListComp

    def DictComp(self, node: Any) -> Any:
        return self.plain(node, self.of(node.key), self.of(node.value), self.all(node.generators))

    def Lambda(self, node: Any) -> Any:
        return self.plain(node, self.of(node.args), self.of(node.body))

    def JoinedStr(self, node: Any) -> Any:
        start, end = self.span(node)
        outer, self.in_fstring = self.in_fstring, True
        values = self.all(node.values)
        self.in_fstring = outer
        return ("JoinedStr", start, end, values)

    def FormattedValue(self, node: Any) -> Any:
        conversion = None if node.conversion == -1 else chr(node.conversion)
        return self.plain(node, self.of(node.value), conversion, self.of(node.format_spec))

    def Await(self, node: Any) -> Any:
        return self.plain(node, self.of(node.value))

    Yield = YieldFrom = Return = Await

    def Expr(self, node: Any) -> Any:
        return ("ExprStmt", *self.span(node), self.of(node.value))

    def arguments(self, node: Any) -> Any:
        positional = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
        pairs = [self.arg(arg, default) for arg, default in zip(positional, defaults, strict=True)]
        kwonly = [self.arg(arg, default) for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
        at = len(node.posonlyargs)
        vararg = node.vararg and self.arg(node.vararg, None)
        kwarg = node.kwarg and self.arg(node.kwarg, None)
        return (tuple(pairs[:at]), tuple(pairs[at:]), vararg, tuple(kwonly), kwarg)

    def arg(self, node: Any, default: Any) -> Any:
        return ("Arg", *self.span(node), node.arg, self.of(node.annotation), self.of(default))

    def FunctionDef(self, node: Any) -> Any:
        is_async = isinstance(node, ast.AsyncFunctionDef)
        head = (node.name, self.of(node.args), self.all(node.decorator_list), self.of(node.returns), is_async)
        return ("FunctionDef", *self.span(node), *head, self.all(node.body))

    AsyncFunctionDef = FunctionDef

    def ClassDef(self, node: Any) -> Any:
        parts = (self.all(node.bases), self.all(node.keywords), self.all(node.body), self.all(node.decorator_list))
        return ("ClassDef", *self.span(node), node.name, *parts)

    def Delete(self, node: Any) -> Any:
        return self.plain(node, self.all(node.targets))

    def Assign(self, node: Any) -> Any:
        return self.plain(node, self.all(node.targets), self.of(node.value))

    def AugAssign(self, node: Any) -> Any:
        return self.plain(node, self.of(node.target), OPERATORS[type(node.op)], self.of(node.value))

    def AnnAssign(self, node: Any) -> Any:
        return self.plain(node, self.of(node.target), self.of(node.annotation), self.of(node.value))

    def For(self, node: Any) -> Any:
        parts = (self.of(node.target), self.of(node.iter), self.all(node.body), self.all(node.orelse))
        return ("For", *self.span(node), *parts, isinstance(node, ast.AsyncFor))

    AsyncFor = For

    def While(self, node: Any) -> Any:
        return self.plain(node, self.of(node.test), self.all(node.body), self.all(node.orelse))

    If = While

    def With(self, node: Any) -> Any:
        items = tuple((self.of(item.context_expr), self.of(item.optional_vars)) for item in node.items)
        return ("With", *self.span(node), items, self.all(node.body), isinstance(node, ast.AsyncWith))

    AsyncWith = With

    def Raise(self, node: Any) -> Any:
        return self.plain(node, self.of(node.exc), self.of(node.cause))

    def ExceptHandler(self, node: Any) -> Any:
        return self.plain(node, self.of(node.type), node.name, self.all(node.body))

    def Try(self, node: Any) -> Any:
        parts = (self.all(node.body), self.all(node.handlers), self.all(node.orelse), self.all(node.finalbody))
        return ("Try", *self.span(node), *parts)

    TryStar = Try

    def Assert(self, node: Any) -> Any:
        return self.plain(node, self.of(node.test), self.of(node.msg))

    def Import(self, node: Any) -> Any:
        return self.plain(node, tuple((alias.name, alias.asname) for alias in node.names))

    def ImportFrom(self, node: Any) -> Any:
        return self.plain(node, node.module, tuple((alias.name, alias.asname) for alias in node.names), node.level)

    def Global(self, node: Any) -> Any:
        return self.plain(node, tuple(node.names))

    Nonlocal = Global

    def Pass(self, node: Any) -> Any:
        return self.plain(node)

    Break = Continue = Pass

    def Match(self, node: Any) -> Any:
        cases = tuple((self.of(case.pattern), self.of(case.guard), self.all(case.body)) for case in node.cases)
        return self.plain(node, self.of(node.subject), cases)

    def MatchValue(self, node: Any) -> Any:
        return self.plain(node, self.of(node.value))

    def MatchSingleton(self, node: Any) -> Any:
        start, end = self.span(node)
        return ("MatchValue", start, end, ("Constant", start, end, type(node.value).__name__, repr(node.value)))

    def MatchAs(self, node: Any) -> Any:
        return self.plain(node, self.of(node.pattern), node.name)

    def MatchOr(self, node: Any) -> Any:
        return self.plain(node, self.all(node.patterns))

    MatchSequence = MatchOr

    def MatchStar(self, node: Any) -> Any:
        return self.plain(node, node.name)

    def MatchMapping(self, node: Any) -> Any:
        return self.plain(node, self.all(node.keys), self.all(node.patterns), node.rest)

    def MatchClass(self, node: Any) -> Any:
        parts = (self.all(node.patterns), tuple(node.kwd_attrs), self.all(node.kwd_patterns))
        return self.plain(node, self.of(node.cls), *parts)


class FromNodes:
    """Our tree as tuples, every chunk put back where it stands."""

    HIDDEN = frozenset({"start", "end", "name_start", "attr_start", "locals", "globals", "nonlocals", "is_generator"})

    def __init__(self, module: Module) -> None:
        self.module = module
        self.in_fstring = False
        self.key = ""

    def chunk(self, key: str) -> Any:
        outer, self.key = self.key, key
        (lowered,) = (self.of(statement) for statement in lower(self.module, key).body)
        self.key = outer
        return lowered

    def of(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self.of(one) for one in node)
        match node:
            case n.ChunkRef():
                return self.chunk(node.key)
            case n.Alias():
                return (node.name, node.asname)
            case n.Comprehension():
                return (self.of(node.target), self.of(node.iter), self.of(node.ifs), node.is_async)
            case n.WithItem():
                return (self.of(node.context), self.of(node.target))
            case n.MatchCase():
                return (self.of(node.pattern), self.of(node.guard), self.of(node.body))
            case n.Arguments():
                return tuple(self.of(getattr(node, name)) for name in names_of(node))
            case n.Constant():
                return ("Constant", *self.span(node), type(node.value).__name__, repr(node.value))
            case n.Node():
                return self.node(node)
        return node

    def node(self, node: n.Node) -> Any:
        kind, (start, end) = type(node).__name__, self.span(node)
        outer = self.in_fstring
        self.in_fstring = outer or kind == "JoinedStr"
        parts = {name: self.of(getattr(node, name)) for name in names_of(node) if name not in self.HIDDEN}
        self.in_fstring = outer
        if kind == "ClassDef" and parts["body"] and isinstance(node.body[-1], n.ChunkRef):  # type: ignore[attr-defined]
            end = parts["body"][-1][2]
        return (kind, start, end, *parts.values())

    def span(self, node: n.Node) -> tuple[int, int]:
        if self.in_fstring:
            return (0, 0)
        start = self.module.to_file(self.key, node.start)
        return start, start if node.end == node.start else self.module.to_file(self.key, node.end - 1) + 1


def names_of(node: n.Node | n.Arguments) -> list[str]:
    return [field.name for field in fields(node)]


def from_ast(text: bytes) -> Any:
    return FromAst(text).of(ast.parse(text))


def from_nodes(text: bytes) -> Any:
    module = split(text, parse(text))
    reader = FromNodes(module)
    return tuple(reader.of(ref) for ref in module.body)


def first_difference(one: Any, other: Any) -> Any:
    """The smallest pair of parts that differ, for a message that a person can read."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            if left != right:
                deeper = first_difference(left, right)
                return deeper if isinstance(left, tuple) and isinstance(right, tuple) else (one, other)
    return one, other
