"""Conditions that tell cases apart: `kind == "a"`, `name.startswith("res")`, `isinstance(x, Conv)`."""

from __future__ import annotations

from analyzers.syntax import nodes as n
from analyzers.syntax.paths import path_of

_EQUALITY = frozenset({"==", "is", "in"})


def asked_about(test: n.Expr) -> str | None:
    """The name or attribute that a condition compares with what is written there, if it does nothing else."""
    match test:
        case n.BoolOp(op="or", values=values):
            subjects = {asked_about(value) for value in values}
            return subjects.pop() if len(subjects) == 1 else None
        case n.Compare(left=left, ops=(op,), comparators=(right,)) if op in _EQUALITY and _is_written_out(right):
            return path_of(left)
        case n.Call(func=n.Name(id="isinstance"), args=(subject, _)):
            return path_of(subject)
        case n.Call(func=n.Attribute(value=owner), args=args) if args and all(map(_is_written_out, args)):
            return path_of(owner)
    return None


def is_elif(orelse: tuple[n.Stmt, ...]) -> bool:
    return len(orelse) == 1 and isinstance(orelse[0], n.If)


def _is_written_out(node: n.Expr) -> bool:
    """Whether it is the name of a case: numbers count rounds as well, of which most are not listed."""
    match node:
        case n.Constant(value=value):
            return isinstance(value, str)
        case n.TupleExpr(elts=elts) | n.ListExpr(elts=elts) | n.SetExpr(elts=elts):
            return all(map(_is_written_out, elts))
        case n.Attribute(attr=attr):
            # A member of an enumeration.
            return attr.isupper() and path_of(node) is not None
    return False
