"""The small edits that fixes consist of: adding or dropping an argument, inserting a line, swapping statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Change, Facts, FixDraft, Moved
from analyzers.drafting.places.tree import at, before_dot, between, indentation, statement_at, walk
from analyzers.syntax import nodes as n


def rebind_detached(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`h.detach_()` becomes `h = h.detach()`."""
    statement = statement_at(facts, loc)
    match statement:
        case n.ExprStmt(value=n.Call(func=n.Attribute(value=n.Name() | n.Attribute() as owner, attr="detach_"))):
            name = facts.text(at(loc, owner))
            yield FixDraft("Assign the detached tensor", True, ((at(loc, statement), f"{name} = {name}.detach()"),))


def drop_suffix(facts: Facts, loc: Loc, attribute: n.Attribute, whole: n.Node) -> Change:
    """Cut an attribute and what follows it: `x.detach()` becomes `x`."""
    return between(loc, before_dot(facts, loc, attribute).start, whole.end), ""


def add_argument(facts: Facts, loc: Loc, call: n.Call, text: str) -> Change:
    """Put one more argument into a call."""
    given = (*call.args, *call.keywords)
    source = facts.text(between(loc, call.func.end, call.end))
    empty = not given and "#" not in source
    comma = "" if empty or source[:-1].rstrip().endswith(",") else ", "
    return between(loc, call.end - 1, call.end - 1), f"{comma}{text}"


def drop_keyword(loc: Loc, call: n.Call, keyword: n.Keyword) -> Change:
    """Take a keyword argument out of a call, with the comma before or after it."""
    given = sorted((*call.args, *call.keywords), key=lambda argument: argument.start)
    index = given.index(keyword)
    if index:
        return between(loc, given[index - 1].end, keyword.end), ""
    end = given[1].start if len(given) > 1 else keyword.end
    return between(loc, keyword.start, end), ""


def insert_before(facts: Facts, loc: Loc, statement: n.Node, text: str) -> Change | None:
    """Lines of their own before a statement."""
    indent = indentation(facts, loc, statement)
    if indent is None:
        return None
    lines = text.replace("\n", f"\n{indent}")
    return between(loc, statement.start, statement.start), f"{lines}\n{indent}"


def swap(facts: Facts, one: Loc, other: Loc, title: str) -> Iterator[FixDraft]:
    """Swap the statements at two places that directly follow each other, ignoring comments."""
    first, second = statement_at(facts, one), statement_at(facts, other)
    if (one.module, one.chunk) != (other.module, other.chunk) or first is None or second is None:
        return
    apart = facts.text(between(one, first.end, second.start)) if first.end <= second.start else "?"
    if not re.fullmatch(r"(\s|#[^\n]*)*", apart):
        return
    a, b = at(one, first), at(one, second)
    yield FixDraft(title, True, ((a, (Moved(b),)), (b, (Moved(a),))))


def float_literals(loc: Loc, facts: Facts, node: n.Node) -> tuple[Change, ...] | None:
    """The integers of a literal list as floats; None if it contains anything else."""
    changes: list[Change] = []
    for part in walk(node):
        match part:
            case n.Constant(value=bool()):
                return None
            case n.Constant(value=int()):
                changes.append((at(loc, part), f"{facts.text(at(loc, part))}.0"))
            case n.ListExpr() | n.TupleExpr() | n.UnaryOp(op="-" | "+"):
                pass
            case _:
                return None
    return tuple(changes)
