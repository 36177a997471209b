"""Edits that fixes are made of: finding the node at a place, replacing, inserting, wrapping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Change, Facts, FixDraft, Moved
from analyzers.syntax import nodes as n

_VIEWS = """
    T H mT mH real imag view view_as reshape reshape_as squeeze unsqueeze transpose t permute expand expand_as flatten
    narrow select index getitem chunk split tensor_split unbind diagonal unfold swapaxes movedim detach data slice
    as_strided contiguous to float
"""
VIEWS = frozenset(_VIEWS.split())
"""Operators whose result may share the memory of what they were given."""


def children(node: n.Node | n.Arguments) -> Iterator[n.Node]:
    for slot in fields(node):
        yield from _nodes(getattr(node, slot.name))


def _nodes(value: object) -> Iterator[n.Node]:
    if isinstance(value, n.Node):
        yield value
    elif isinstance(value, n.Arguments):
        yield from children(value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def walk(node: n.Node) -> Iterator[n.Node]:
    yield node
    for child in children(node):
        yield from walk(child)


def path_to(facts: Facts, loc: Loc) -> list[n.Node]:
    """The nodes around `loc`, outermost first, ending in the smallest that spans it."""
    path: list[n.Node] = []
    level: Iterator[n.Node] | tuple[n.Stmt, ...] = facts.places.chunk(loc).body
    while True:
        inner = next((c for c in level if c.start <= loc.start and loc.end <= c.end and c.start < c.end), None)
        if inner is None:
            return path
        path.append(inner)
        level = children(inner)


def node_at(facts: Facts, loc: Loc) -> n.Node | None:
    """The expression that spans exactly `loc`, or else the statement that does."""
    exact = [node for node in path_to(facts, loc) if (node.start, node.end) == (loc.start, loc.end)]
    return exact[-1] if exact else None


def is_statement(node: n.Node) -> bool:
    return isinstance(node, n.Stmt)


def statement_at(facts: Facts, loc: Loc) -> n.Node | None:
    """The innermost statement around `loc`."""
    return next((node for node in reversed(path_to(facts, loc)) if is_statement(node)), None)


def at(loc: Loc, node: n.Node) -> Loc:
    """The place of another node of the same chunk."""
    return replace(loc, start=node.start, end=node.end)


def rebind_detached(facts: Facts, loc: Loc) -> Iterator[FixDraft]:
    """`h.detach_()` becomes `h = h.detach()`."""
    statement = statement_at(facts, loc)
    match statement:
        case n.ExprStmt(value=n.Call(func=n.Attribute(value=n.Name() | n.Attribute() as owner, attr="detach_"))):
            name = facts.text(at(loc, owner))
            yield FixDraft("Bind the detached tensor", True, ((at(loc, statement), f"{name} = {name}.detach()"),))


def between(loc: Loc, start: int, end: int) -> Loc:
    return replace(loc, start=start, end=end)


def before_dot(facts: Facts, loc: Loc, attribute: n.Attribute) -> Loc:
    """The empty place behind the owner of an attribute, and behind its parentheses."""
    text = facts.places.chunk(loc).text[: attribute.attr_start].rstrip().removesuffix(b".").rstrip()
    return between(loc, len(text), len(text))


def is_bare(node: n.Node) -> bool:
    """Whether `.method()` behind an expression is called on all of it."""
    return isinstance(node, n.Name | n.Attribute | n.Call | n.Subscript | n.ListExpr)


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
    """Take a keyword argument out of a call, with the comma before it or behind it."""
    given = sorted((*call.args, *call.keywords), key=lambda argument: argument.start)
    index = given.index(keyword)
    if index:
        return between(loc, given[index - 1].end, keyword.end), ""
    end = given[1].start if len(given) > 1 else keyword.end
    return between(loc, keyword.start, end), ""


def indentation(facts: Facts, loc: Loc, statement: n.Node) -> str | None:
    """The white space before a statement; None where something else stands before it on its line."""
    text = facts.places.chunk(loc).text[: statement.start].decode("utf-8", "replace")
    line = text.rpartition("\n")[2]
    return line if not line.strip() else None


def insert_before(facts: Facts, loc: Loc, statement: n.Node, text: str) -> Change | None:
    """Lines of their own before a statement."""
    indent = indentation(facts, loc, statement)
    if indent is None:
        return None
    lines = text.replace("\n", f"\n{indent}")
    return between(loc, statement.start, statement.start), f"{lines}\n{indent}"


def swap(facts: Facts, one: Loc, other: Loc, title: str) -> Iterator[FixDraft]:
    """Exchange the statements at two places that stand one after the other, comments aside."""
    first, second = statement_at(facts, one), statement_at(facts, other)
    if (one.module, one.chunk) != (other.module, other.chunk) or first is None or second is None:
        return
    apart = facts.text(between(one, first.end, second.start)) if first.end <= second.start else "?"
    if not re.fullmatch(r"(\s|#[^\n]*)*", apart):
        return
    a, b = at(one, first), at(one, second)
    yield FixDraft(title, True, ((a, (Moved(b),)), (b, (Moved(a),))))


def out_of_place(facts: Facts, loc: Loc) -> FixDraft | None:
    """The write at `loc` as an assignment of a new tensor to the name; safe where no other name sees the write."""
    statement = statement_at(facts, loc)
    if _is_given_by_loop(facts, loc, statement):
        return None
    match statement:
        case n.AugAssign(target=target, op=op, value=value) if is_variable(target):
            name = facts.text(at(loc, target))
            right = facts.text(at(loc, value))
            if isinstance(value, n.BinOp | n.IfExp | n.BoolOp | n.Compare | n.Lambda | n.UnaryOp | n.TupleExpr):
                right = f"({right})"
            change = (at(loc, statement), f"{name} = {name} {op} {right}")
            title = f"Write `{name} = {name} {op} …`, which makes a new tensor"
            return FixDraft(title, owns(facts, loc, name), (change,))
        case n.ExprStmt(value=n.Call() as call):
            renamed = _without_underscores(facts, loc, call)
            if renamed is None:
                return _clone_before(facts, loc, call, statement)
            owner, text, method = renamed
            name = facts.text(at(loc, owner))
            change = (at(loc, statement), f"{name} = {text}")
            return FixDraft(f"Use the out-of-place `{method}`", owns(facts, loc, name), (change,))
        case n.Assign(targets=(n.Subscript(value=owner),)) | n.AugAssign(target=n.Subscript(value=owner)):
            return _clone(facts, loc, owner, statement)
    return None


def _is_given_by_loop(facts: Facts, loc: Loc, statement: n.Node | None) -> bool:
    """Whether a write goes to what a loop hands out: another tensor under that name is no part of the whole."""
    match statement:
        case n.AugAssign(target=n.Name(id=name)) | n.ExprStmt(value=n.Call(func=n.Attribute(value=n.Name(id=name)))):
            loops = (node for node in path_to(facts, loc) if isinstance(node, n.For))
            targets = (node for loop in loops for node in walk(loop.target))
            return any(isinstance(node, n.Name) and node.id == name for node in targets)
    return False


def _without_underscores(facts: Facts, loc: Loc, call: n.Call) -> tuple[n.Node, str, str] | None:
    """`y.add_(1).mul_(2)`: the name, the same chain of out-of-place methods, and the last of them."""
    cuts: list[int] = []
    last = ""
    current: n.Node = call
    while isinstance(current, n.Call):
        func = current.func
        if not isinstance(func, n.Attribute) or not func.attr.endswith("_") or func.attr.endswith("__"):
            return None
        if func.attr[:-1] in _NEVER_OUT_OF_PLACE:
            return None
        last = last or func.attr[:-1]
        cuts.append(func.end - 1)
        current = func.value
    if not cuts or not is_variable(current):
        return None
    raw = facts.places.chunk(loc).text
    pieces, begin = [], call.start
    for cut in reversed(cuts):
        pieces.append(raw[begin:cut])
        begin = cut + 1
    pieces.append(raw[begin : call.end])
    return current, b"".join(pieces).decode("utf-8", "replace"), last


def is_variable(node: n.Node) -> bool:
    """A name, an attribute, or what a dict has under a key: what an assignment gives another value."""
    match node:
        case n.Subscript(value=owner, index=n.Constant(value=str())):
            return is_variable(owner)
        case n.Attribute(value=owner):
            return is_variable(owner)
    return isinstance(node, n.Name)


_NEVER_OUT_OF_PLACE = {"zero", "fill", "normal", "uniform", "copy", "random", "exponential", "cauchy", "set"}


def _clone_before(facts: Facts, loc: Loc, call: n.Call, statement: n.Node) -> FixDraft | None:
    """For a write without out-of-place form: `y = y.clone()` first."""
    if not isinstance(call.func, n.Attribute) or not call.func.attr.endswith("_"):
        return None
    return _clone(facts, loc, call.func.value, statement)


def _clone(facts: Facts, loc: Loc, owner: n.Node, statement: n.Node) -> FixDraft | None:
    if not isinstance(owner, n.Name):
        return None
    name, old = owner.id, f"old_{owner.id}"
    reads = walk(statement.value) if isinstance(statement, n.Assign) else ()
    inside = [at(loc, node) for node in reads if isinstance(node, n.Name) and node.id == name]
    chunks = (facts.places.chunk(loc), *facts.places.statements(loc.module))
    if inside and any(old.encode() in chunk.text for chunk in chunks):
        return None
    # What the statement itself reads of the tensor may be saved too, so it is read from the old one.
    text = f"{old}, {name} = {name}, {name}.clone()" if inside else f"{name} = {name}.clone()"
    change = insert_before(facts, loc, statement, text)
    if change is None:
        return None
    changes = (change, *((place, old) for place in inside))
    return FixDraft(f"Write to a copy: `{name}.clone()`", owns(facts, loc, name), changes)


def owns(facts: Facts, loc: Loc, name: str) -> bool:
    """Whether the tensor that `name` holds at `loc` is held by no other name, and shown by no view.

    Told from the bindings of the run: those of `name` before `loc`, against all others with the same trail.
    """
    around = path_to(facts, loc)
    if not name.isidentifier() or any(isinstance(node, n.For | n.While) for node in around):
        return False
    if any(a.name == name for f in around if isinstance(f, n.FunctionDef) for a in (*f.args.posonly, *f.args.args)):
        return False
    scopes = {b.scope for b in facts.run.bindings if b.loc.chunk == loc.chunk}
    mine = [
        b for b in facts.run.bindings
        if b.name == name and b.loc.module == loc.module and b.lineage is not None
        and (b.loc.chunk == loc.chunk or b.scope in scopes or b.scope == "<module>")
        and not (b.loc.chunk == loc.chunk and b.loc.end >= loc.end)
    ]  # fmt: skip
    if not mine or any(b.lineage is None or b.lineage.what in VIEWS or not b.lineage.loc for b in mine):
        return False
    trails = {id(b.lineage) for b in mine}
    for other in facts.run.bindings:
        if other.lineage is None or other.name == name:
            continue
        shows = other.lineage.what in VIEWS and any(id(p) in trails for p in other.lineage.parents)
        if id(other.lineage) in trails or shows:
            return False
    return True


def float_literals(loc: Loc, facts: Facts, node: n.Node) -> tuple[Change, ...] | None:
    """The integers of a literal list as floats; None where anything else stands in it."""
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
