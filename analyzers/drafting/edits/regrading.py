"""Gives a tensor its graph back: removes what cuts it, and makes the result the leaf.

A cut can be removed if it is a call or attribute of its own, if the statement can move out of the `no_grad` scope, or
if it is a decorator. The leaf must be the result: `torch.randn(3, requires_grad=True) * 0.1` is not a leaf, but
`(torch.randn(3) * 0.1).requires_grad_()` is.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzers.domain.lineage import Lineage, Loc
from analyzers.drafting.base import Change, Facts, FixDraft
from analyzers.drafting.edits.lines import brought_out
from analyzers.drafting.edits.pieces import add_argument, drop_keyword, drop_suffix
from analyzers.drafting.places.blocks import Spot
from analyzers.drafting.places.cuts import FACTORIES, switched_off
from analyzers.drafting.places.tree import at, between, indentation, is_bare, node_at, path_to, statement_at, walk
from analyzers.drafting.words import short
from analyzers.syntax import nodes as n

_MODES = frozenset({"no_grad", "inference_mode"})
_BEFORE_CREATE = 4
"""As many arguments of `torch.autograd.grad` come before `create_graph`."""


def attach(facts: Facts, step: Lineage) -> tuple[str, bool, tuple[Change, ...]] | None:
    """How to remove a cut: a title, whether the cut had no other purpose, and the changes."""
    assert step.loc is not None
    loc = step.loc
    match node_at(facts, loc):
        case n.Call(func=n.Attribute(attr="detach" | "item" as name) as func, args=()) as whole:
            return f"Remove `.{name}()`", True, (drop_suffix(facts, loc, func, whole),)
        case n.Attribute(attr="data") as whole:
            return "Remove `.data`", True, (drop_suffix(facts, loc, whole, whole),)
        case n.Call(func=n.Attribute(attr="tensor") as func, args=(n.ListExpr() | n.Name(),), keywords=()):
            stack = (at(loc, func), f"{facts.text(at(loc, func.value))}.stack")
            return "Use `torch.stack`, which keeps the graph", bool(step.parents), (stack,)
        case n.Call(func=n.Attribute(attr="grad") | n.Name(id="grad"), args=given) as whole if step.cut == "no-grad":
            return None if len(given) > _BEFORE_CREATE else _recorded(facts, loc, whole)
    if step.cut in {"no-grad", "inference"}:
        return _in_place(facts, loc) or _new_leaf(facts, loc) or _scope(facts, step)
    return None


def _recorded(facts: Facts, loc: Loc, call: n.Call) -> tuple[str, bool, tuple[Change, ...]]:
    """`torch.autograd.grad(loss, w)` whose result should have a graph."""
    asked = next((at(loc, keyword.value) for keyword in call.keywords if keyword.arg == "create_graph"), None)
    change = (asked, "True") if asked is not None else add_argument(facts, loc, call, "create_graph=True")
    return "Record the gradient's graph: `create_graph=True`", True, (change,)


def _in_place(facts: Facts, loc: Loc) -> tuple[str, bool, tuple[Change, ...]] | None:
    """`w = w - lr * w.grad` under `no_grad` binds another tensor; `w -= lr * w.grad` trains the same one."""
    statement = statement_at(facts, loc)
    match statement:
        case n.Assign(targets=(n.Name(id=name),), value=n.BinOp(left=n.Name(id=left), op="-" | "+" as op, right=right)):
            if name == left and any(isinstance(part, n.Attribute) and part.attr == "grad" for part in walk(right)):
                text = f"{name} {op}= {facts.text(at(loc, right))}"
                if not any(word in facts.places.chunk(loc).text for word in (b"zero_", b"grad = None")):
                    indent = indentation(facts, loc, statement)
                    if indent is None:
                        return None
                    text += f"\n{indent}{name}.grad = None"
                return f"Write in place: `{name} {op}= …`", True, ((at(loc, statement), text),)
    return None


def _new_leaf(facts: Facts, loc: Loc) -> tuple[str, bool, tuple[Change, ...]] | None:
    """`[p - lr * p.grad for p in params]` under `no_grad` makes new leaves, which have to ask for their gradients."""
    match node_at(facts, loc):
        case n.BinOp(left=n.Name(id=name), op="-" | "+", right=right) as whole:
            if any(isinstance(p, n.Attribute) and p.attr == "grad" and _is_named(p.value, name) for p in walk(right)):
                return "Make the result a leaf: `.requires_grad_()`", True, behind(loc, whole, ".requires_grad_()")
    return None


def _is_named(node: n.Node, name: str) -> bool:
    return isinstance(node, n.Name) and node.id == name


def _scope(facts: Facts, step: Lineage) -> tuple[str, bool, tuple[Change, ...]] | None:
    off = switched_off(facts, step)
    if off is None:
        return None
    mode, is_decorator = off
    if is_decorator:
        return _undecorated(facts, mode)
    for place in (step.loc, *reversed(step.via)):
        if place is None or (place.module, place.chunk) != (mode.module, mode.chunk):
            continue
        for scope in path_to(facts, place):
            if isinstance(scope, n.With) and [at(place, item.context) for item in scope.items] == [mode]:
                first = next((i for i, s in enumerate(scope.body) if s.start <= place.start < s.end), None)
                changes = None if first is None else brought_out(facts, _spot(place, scope), first)
                if first is None or changes is None or scope.items[0].target is not None or scope.is_async:
                    return None
                title = f"Move it out of `with {short(facts.text(mode))}`"
                return (title if first else f"Remove `with {short(facts.text(mode))}`"), True, changes
    return None


def _spot(loc: Loc, node: n.Node) -> Spot:
    return at(loc, node), node


def _undecorated(facts: Facts, mode: Loc) -> tuple[str, bool, tuple[Change, ...]] | None:
    """Without a decorator; others may call the function and rely on it."""
    text = facts.places.chunk(mode).text
    sign = text.rfind(b"@", 0, mode.start)
    rest = text[mode.end :].partition(b"\n")[0].strip()
    if sign < 0 or text[sign + 1 : mode.start].strip() or (rest and not rest.startswith(b"#")):
        return None
    return f"Remove `@{facts.text(mode)}`", False, ((between(mode, sign, mode.end), ""),)


def leaf_of_result(facts: Facts, made: Loc) -> FixDraft | None:
    """Make the result of an expression the leaf, where a leaf was made inside it."""
    whole = node_at(facts, made)
    if whole is None or isinstance(whole, n.Stmt):
        return None
    # The outermost expression around it that is still computed from it alone.
    leaves = [(c, k) for c in walk(whole) if isinstance(c, n.Call) for k in c.keywords if _asks(k)]
    if len(leaves) != 1 or leaves[0][0] is whole:
        return None
    call, keyword = leaves[0]
    path = path_to(facts, at(made, call))
    if any(isinstance(part, n.Lambda | n.FunctionDef) for part in path[path.index(whole) :]):
        return None
    return FixDraft(
        "Make the result the leaf",
        True,
        (drop_keyword(made, call, keyword), *behind(made, whole, ".requires_grad_()")),
    )


def _asks(keyword: n.Keyword) -> bool:
    return keyword.arg == "requires_grad" and isinstance(keyword.value, n.Constant) and keyword.value.value is True


def require(facts: Facts, made: Lineage | None, *, safe: bool) -> Iterator[FixDraft]:
    """Have a tensor require grad where it is made."""
    if made is None or made.loc is None or made.what.removeprefix("torch.") not in FACTORIES:
        return
    call = node_at(facts, made.loc)
    if isinstance(call, n.Call) and not any(k.arg == "requires_grad" for k in call.keywords):
        yield FixDraft("Make it require grad", safe, (add_argument(facts, made.loc, call, "requires_grad=True"),))


def behind(loc: Loc, node: n.Node, suffix: str) -> tuple[Change, ...]:
    """A method called on what a node yields, in parentheses where it needs them."""
    end = between(loc, node.end, node.end)
    if is_bare(node):
        return ((end, suffix),)
    return (between(loc, node.start, node.start), "("), (end, f"){suffix}")
