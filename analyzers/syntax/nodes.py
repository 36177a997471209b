"""The syntax tree that the machine runs: Python's own abstract grammar, with spans relative to a chunk.

A *chunk* is the unit of change: one statement at the top of a module, the header of a class together with its plain
statements, or one method. Every node carries `start` and `end`, byte offsets (UTF-8) counted from the first byte of
its chunk, so text that moves because of an edit above it keeps an equal tree.

Names follow the standard library's `ast`. What differs: a class body and a module body hold a `ChunkRef` where
another chunk starts, strings joined from parts keep their parts, and broken text is an `ErrorStmt`, which the machine
steps over. The nodes of expressions are in `analyzers/syntax/expression_nodes.py`, and have their names here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TypeAlias

from analyzers.syntax.expression_nodes import (
    Arg,
    Arguments,
    Attribute,
    Await,
    BinOp,
    BoolOp,
    Call,
    Compare,
    Comprehension,
    Constant,
    DictComp,
    DictExpr,
    ErrorExpr,
    Expr,
    FormattedValue,
    GeneratorExp,
    IfExp,
    JoinedStr,
    Keyword,
    Lambda,
    ListComp,
    ListExpr,
    Name,
    NamedExpr,
    Node,
    SetComp,
    SetExpr,
    Slice,
    Starred,
    Subscript,
    TupleExpr,
    UnaryOp,
    Yield,
    YieldFrom,
)

__all__ = [
    "Alias", "AnnAssign", "Arg", "Arguments", "Assert", "Assign", "Attribute", "AugAssign", "Await", "BinOp",
    "BoolOp", "Break", "Call", "Chunk", "ChunkRef", "ClassDef", "Compare", "Comprehension", "Constant", "Continue",
    "Delete", "DictComp", "DictExpr", "ErrorExpr", "ErrorStmt", "ExceptHandler", "Expr", "ExprStmt", "For",
    "FormattedValue", "FunctionDef", "FunctionHead", "GeneratorExp", "Global", "If", "IfExp", "Import",
    "ImportFrom", "JoinedStr", "Keyword", "Lambda", "ListComp", "ListExpr", "Match", "MatchAs", "MatchCase",
    "MatchClass", "MatchMapping", "MatchOr", "MatchSequence", "MatchStar", "MatchValue", "Name", "NamedExpr",
    "Node", "Nonlocal", "Pass", "Pattern", "Raise", "Return", "SetComp", "SetExpr", "Slice", "Starred", "Stmt",
    "Subscript", "Try", "TupleExpr", "UnaryOp", "While", "With", "WithItem", "Yield", "YieldFrom", "mentions",
    "walk",
]  # fmt: skip

# --- statements -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class FunctionHead(Node):
    """What `def` evaluates: a function without its body, which is the rest of the chunk. `name_start` is where the
    name begins."""

    name: str
    name_start: int
    args: Arguments
    decorators: tuple[Expr, ...]
    returns: Expr | None
    is_async: bool


@dataclass(slots=True)
class FunctionDef(FunctionHead):
    """`locals` are the names the body binds (parameters too), less `globals` and `nonlocals`; `is_generator` says
    that the body itself (not a function inside it) yields."""

    body: tuple[Stmt, ...]
    is_generator: bool
    locals: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]


@dataclass(slots=True)
class ClassDef(Node):
    name: str
    name_start: int
    bases: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]
    body: tuple[Stmt, ...]
    decorators: tuple[Expr, ...]


@dataclass(slots=True)
class ChunkRef(Node):
    """Another chunk starts here: a method in a class body, or a statement of the module. Its own span is empty."""

    key: str


@dataclass(slots=True)
class Return(Node):
    value: Expr | None


@dataclass(slots=True)
class Delete(Node):
    targets: tuple[Expr, ...]


@dataclass(slots=True)
class Assign(Node):
    """`targets[0] = targets[1] = value`."""

    targets: tuple[Expr, ...]
    value: Expr


@dataclass(slots=True)
class AugAssign(Node):
    """`target op= value`; `op` without the `=`."""

    target: Expr
    op: str
    value: Expr


@dataclass(slots=True)
class AnnAssign(Node):
    target: Expr
    annotation: Expr
    value: Expr | None


@dataclass(slots=True)
class For(Node):
    target: Expr
    iter: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    is_async: bool


@dataclass(slots=True)
class While(Node):
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(slots=True)
class If(Node):
    """`elif` is an `If` alone in `orelse`."""

    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(slots=True)
class WithItem(Node):
    context: Expr
    target: Expr | None


@dataclass(slots=True)
class With(Node):
    items: tuple[WithItem, ...]
    body: tuple[Stmt, ...]
    is_async: bool


@dataclass(slots=True)
class Raise(Node):
    exc: Expr | None
    cause: Expr | None


@dataclass(slots=True)
class ExceptHandler(Node):
    type: Expr | None
    name: str | None
    body: tuple[Stmt, ...]


@dataclass(slots=True)
class Try(Node):
    body: tuple[Stmt, ...]
    handlers: tuple[ExceptHandler, ...]
    orelse: tuple[Stmt, ...]
    finalbody: tuple[Stmt, ...]


@dataclass(slots=True)
class Assert(Node):
    test: Expr
    msg: Expr | None


@dataclass(slots=True)
class Alias(Node):
    name: str
    asname: str | None


@dataclass(slots=True)
class Import(Node):
    names: tuple[Alias, ...]


@dataclass(slots=True)
class ImportFrom(Node):
    """`from ..module import names`: `level` counts the dots; a star is an `Alias` named `*`."""

    module: str | None
    names: tuple[Alias, ...]
    level: int


@dataclass(slots=True)
class Global(Node):
    names: tuple[str, ...]


@dataclass(slots=True)
class Nonlocal(Node):
    names: tuple[str, ...]


@dataclass(slots=True)
class ExprStmt(Node):
    value: Expr


@dataclass(slots=True)
class Pass(Node):
    pass


@dataclass(slots=True)
class Break(Node):
    pass


@dataclass(slots=True)
class Continue(Node):
    pass


@dataclass(slots=True)
class MatchCase(Node):
    pattern: Pattern
    guard: Expr | None
    body: tuple[Stmt, ...]


@dataclass(slots=True)
class Match(Node):
    subject: Expr
    cases: tuple[MatchCase, ...]


@dataclass(slots=True)
class ErrorStmt(Node):
    """Text that does not parse: the machine steps over it."""


Stmt: TypeAlias = (
    FunctionHead | ClassDef | ChunkRef | Return | Delete | Assign | AugAssign | AnnAssign | For | While | If | With
    | Raise | Try | Assert | Import | ImportFrom | Global | Nonlocal | ExprStmt | Pass | Break | Continue | Match
    | ErrorStmt
)  # fmt: skip


# --- patterns ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class MatchValue(Node):
    value: Expr


@dataclass(slots=True)
class MatchAs(Node):
    """`pattern as name`, a bare capture (`pattern` None) or `_` (both None)."""

    pattern: Pattern | None
    name: str | None


@dataclass(slots=True)
class MatchOr(Node):
    patterns: tuple[Pattern, ...]


@dataclass(slots=True)
class MatchSequence(Node):
    patterns: tuple[Pattern, ...]


@dataclass(slots=True)
class MatchStar(Node):
    name: str | None


@dataclass(slots=True)
class MatchMapping(Node):
    keys: tuple[Expr, ...]
    patterns: tuple[Pattern, ...]
    rest: str | None


@dataclass(slots=True)
class MatchClass(Node):
    cls: Expr
    patterns: tuple[Pattern, ...]
    kwd_attrs: tuple[str, ...]
    kwd_patterns: tuple[Pattern, ...]


Pattern: TypeAlias = MatchValue | MatchAs | MatchOr | MatchSequence | MatchStar | MatchMapping | MatchClass


# --- chunks -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Chunk:
    """One unit of change, lowered: `key` names it within its module, `text` is its source.

    Two chunks with equal key and text have equal bodies.
    """

    key: str
    text: bytes
    body: tuple[Stmt, ...]


def walk(trees: Iterable[object]) -> Iterator[Node]:
    """Every node in some trees, in no particular order."""
    stack = list(trees)
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is tuple:
            stack.extend(current)  # type: ignore[arg-type]
            continue
        read = _READERS.get(kind)
        if read is None:
            read = _READERS[kind] = _reader(kind)
        if read is not _nothing:
            if kind is not Arguments:
                yield current  # type: ignore[misc]
            stack.extend(read(current))


def attributes_set(trees: Iterable[object]) -> frozenset[str]:
    """The names of the attributes that some trees assign to, of whatever object."""
    found: set[str] = set()
    for node in walk(trees):
        match node:
            case Assign(targets=targets):
                found.update(_attributes_in(targets))
            case AugAssign(target=target) | AnnAssign(target=target) | For(target=target) | WithItem(target=target):
                found.update(_attributes_in((target,)))
    return frozenset(found)


def _attributes_in(targets: Iterable[Expr | None]) -> Iterator[str]:
    """`a` and `b` of `self.a, (self.b, c)`."""
    for target in targets:
        match target:
            case Attribute(attr=attr):
                yield attr
            case TupleExpr(elts=parts) | ListExpr(elts=parts):
                yield from _attributes_in(parts)
            case Starred(value=part):
                yield from _attributes_in((part,))


def _nothing(value: object) -> tuple[object, ...]:
    """What lies in a value that is no node."""
    del value
    return ()


_READERS: dict[type, Callable[[object], tuple[object, ...]]] = {}


def _reader(kind: type) -> Callable[[object], tuple[object, ...]]:
    """Gives all that the nodes of one kind hold."""
    if not issubclass(kind, Node | Arguments):
        return _nothing
    slots = [slot.name for slot in fields(kind)]
    assert len(slots) > 1, "of one name alone `attrgetter` gives no tuple"
    return attrgetter(*slots)


def mentions(tree: object, *attrs: str) -> bool:
    """Whether a node, or one of several, has an attribute of one of these names anywhere."""
    return any(isinstance(node, Attribute) and node.attr in attrs for node in walk([tree]))
