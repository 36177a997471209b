"""The syntax tree that the machine runs: Python's own abstract grammar, with spans relative to a chunk.

A *chunk* is the unit of change: one statement at the top of a module, the header of a class together with its plain
statements, or one method. Every node carries `start` and `end`, byte offsets (UTF-8) counted from the first byte of
its chunk, so text that moves because of an edit above it keeps an equal tree.

Names follow the standard library's `ast`. What differs: a class body and a module body hold a `ChunkRef` where
another chunk starts, strings joined from parts keep their parts, and broken text is an `ErrorStmt`, which the
machine steps over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TypeAlias


@dataclass(slots=True)
class Node:
    """A piece of source: bytes `start` to `end` of its chunk."""

    start: int
    end: int


# --- expressions -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Constant(Node):
    """A literal: `value` is None, a bool, int, float, complex, str, bytes or Ellipsis."""

    value: object | None


@dataclass(slots=True)
class Name(Node):
    id: str


@dataclass(slots=True)
class Attribute(Node):
    """`value.attr`; `attr_start` is where the attribute's name begins."""

    value: Expr
    attr: str
    attr_start: int


@dataclass(slots=True)
class Subscript(Node):
    value: Expr
    index: Expr


@dataclass(slots=True)
class Slice(Node):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True)
class Starred(Node):
    value: Expr


@dataclass(slots=True)
class Keyword(Node):
    """`arg=value` in a call; `arg` is None for `**value`."""

    arg: str | None
    value: Expr


@dataclass(slots=True)
class Call(Node):
    func: Expr
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


@dataclass(slots=True)
class UnaryOp(Node):
    """`op` is one of `+ - ~ not`."""

    op: str
    operand: Expr


@dataclass(slots=True)
class BinOp(Node):
    """`op` as written: `+ - * / // % ** @ & | ^ << >>`."""

    left: Expr
    op: str
    right: Expr


@dataclass(slots=True)
class BoolOp(Node):
    """`op` is `and` or `or`; `a and b and c` has three values."""

    op: str
    values: tuple[Expr, ...]


@dataclass(slots=True)
class Compare(Node):
    """`left ops[0] comparators[0] ops[1] ...`; an op is as written, `not in` and `is not` with one space."""

    left: Expr
    ops: tuple[str, ...]
    comparators: tuple[Expr, ...]


@dataclass(slots=True)
class IfExp(Node):
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True)
class NamedExpr(Node):
    target: Name
    value: Expr


@dataclass(slots=True)
class TupleExpr(Node):
    elts: tuple[Expr, ...]


@dataclass(slots=True)
class ListExpr(Node):
    elts: tuple[Expr, ...]


@dataclass(slots=True)
class SetExpr(Node):
    elts: tuple[Expr, ...]


@dataclass(slots=True)
class DictExpr(Node):
    """A key of None is `**value`."""

    keys: tuple[Expr | None, ...]
    values: tuple[Expr, ...]


@dataclass(slots=True)
class Comprehension(Node):
    """One `for target in iter if ...` clause."""

    target: Expr
    iter: Expr
    ifs: tuple[Expr, ...]
    is_async: bool


@dataclass(slots=True)
class ListComp(Node):
    elt: Expr
    generators: tuple[Comprehension, ...]


@dataclass(slots=True)
class SetComp(Node):
    elt: Expr
    generators: tuple[Comprehension, ...]


@dataclass(slots=True)
class GeneratorExp(Node):
    elt: Expr
    generators: tuple[Comprehension, ...]


@dataclass(slots=True)
class DictComp(Node):
    key: Expr
    value: Expr
    generators: tuple[Comprehension, ...]


@dataclass(slots=True)
class Lambda(Node):
    args: Arguments
    body: Expr


@dataclass(slots=True)
class JoinedStr(Node):
    """An f-string: `values` are `Constant` strings and `FormattedValue`s, in order."""

    values: tuple[Expr, ...]


@dataclass(slots=True)
class FormattedValue(Node):
    """`{value!conversion:spec}`; `conversion` is one of `r s a` or None."""

    value: Expr
    conversion: str | None
    format_spec: Expr | None


@dataclass(slots=True)
class Await(Node):
    value: Expr


@dataclass(slots=True)
class Yield(Node):
    value: Expr | None


@dataclass(slots=True)
class YieldFrom(Node):
    value: Expr


@dataclass(slots=True)
class ErrorExpr(Node):
    """Text that does not parse where an expression should stand: its value is unknown."""


Expr: TypeAlias = (
    Constant | Name | Attribute | Subscript | Slice | Starred | Call | UnaryOp | BinOp | BoolOp | Compare | IfExp
    | NamedExpr | TupleExpr | ListExpr | SetExpr | DictExpr | ListComp | SetComp | GeneratorExp | DictComp | Lambda
    | JoinedStr | FormattedValue | Await | Yield | YieldFrom | ErrorExpr
)  # fmt: skip


# --- functions --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Arg(Node):
    name: str
    annotation: Expr | None
    default: Expr | None


@dataclass(slots=True)
class Arguments:
    posonly: tuple[Arg, ...]
    args: tuple[Arg, ...]
    vararg: Arg | None
    kwonly: tuple[Arg, ...]
    kwarg: Arg | None


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
