"""The nodes of expressions, and of the parameters that a lambda has as a function has them.

`analyzers/syntax/nodes.py` has these and those of statements.
"""

from __future__ import annotations

from dataclasses import dataclass
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
