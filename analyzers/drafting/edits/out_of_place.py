"""Rewrites an in-place write to create a new tensor, and tells whether any other name would have seen the write."""

from __future__ import annotations

from analyzers.domain.lineage import Loc
from analyzers.drafting.base import Facts, FixDraft
from analyzers.drafting.edits.pieces import insert_before
from analyzers.drafting.places.tree import at, is_variable, path_to, statement_at, walk
from analyzers.syntax import nodes as n

_VIEWS = """
    T H mT mH real imag view view_as reshape reshape_as squeeze unsqueeze transpose t permute expand expand_as flatten
    narrow select index getitem chunk split tensor_split unbind diagonal unfold swapaxes movedim detach data slice
    as_strided contiguous to float
"""
VIEWS = frozenset(_VIEWS.split())
"""Operators whose result may share the memory of what they were given."""


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
            title = f"Write `{name} = {name} {op} …`, which creates a new tensor"
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
    text = f"{old} = {name}\n{name} = {name}.clone()" if inside else f"{name} = {name}.clone()"
    change = insert_before(facts, loc, statement, text)
    if change is None:
        return None
    changes = (change, *((place, old) for place in inside))
    return FixDraft(f"Write to a copy: `{name}.clone()`", owns(facts, loc, name), changes)


def owns(facts: Facts, loc: Loc, name: str) -> bool:
    """Whether the tensor that `name` holds at `loc` is held by no other name, and shown by no view.

    Decided from the bindings of the run: those of `name` before `loc`, compared with all others with the same trail.
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
