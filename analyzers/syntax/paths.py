"""What trees name: dotted paths in expressions, names that statements bind, cases that conditions list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzers.syntax import nodes as n


def attribute_paths(trees: Iterable[object]) -> Iterator[str]:
    """`p.grad` and `p.grad.zero_` of `p.grad.zero_()`: each attribute that is reached from a name."""
    for node in n.walk(trees):
        path = path_of(node) if isinstance(node, n.Attribute) else None
        if path is not None:
            yield path


NUMBER_TESTS = frozenset({"isfinite", "isinf", "isnan"})
"""Functions of `math`, numpy and torch that ask how large a number or a tensor is, and not of what kind it is."""


def paths_handed_over(tree: n.Expr) -> frozenset[str]:
    """Of `ready(p.grad, x)` and `p.grad is x`, `p.grad` and `x`: the names and attributes that calls in an expression
    are given, unless they ask about numbers, and those of which it asks which object they are."""
    calls = [node for node in n.walk([tree]) if isinstance(node, n.Call)]
    calls = [call for call in calls if (path_of(call.func) or "").rpartition(".")[2] not in NUMBER_TESTS]
    values = [value for call in calls for value in (*call.args, *(keyword.value for keyword in call.keywords))]
    for node in n.walk([tree]):
        if isinstance(node, n.Compare) and set(node.ops) <= {"is", "is not"}:
            values += [node.left, *node.comparators]
    names = [path for value in values if (path := path_of(value)) is not None]
    return frozenset([*names, *attribute_paths(values)])


def paths_at_fault(node: n.Node, *, of_kind: bool) -> frozenset[str]:
    """What an expression names that fails: `x.grad` and `x.grad.data` of `x.grad.data`. With `of_kind` it fails as a
    value is of another kind than one that has the attribute, which is then named, too: `x` of `x.cpu`."""
    owner = path_of(node.value) if of_kind and isinstance(node, n.Attribute) else None
    return frozenset([*attribute_paths([node]), *([] if owner is None else [owner])])


def path_of(node: n.Node) -> str | None:
    """`p.grad`, if that is what an expression is."""
    if isinstance(node, n.Name):
        return node.id
    before = path_of(node.value) if isinstance(node, n.Attribute) else None
    return f"{before}.{node.attr}" if isinstance(node, n.Attribute) and before is not None else None


def names_bound(trees: Iterable[object]) -> frozenset[str]:
    """The names that the statements in some trees bind, in the bodies of functions in them too."""
    return frozenset(name for node in n.walk(trees) for name in _bound_by(node))


def names_in(target: n.Expr) -> Iterator[str]:
    """The names that a target binds: `a` and `b` in `a, (b, *c.d)`."""
    match target:
        case n.Name(id=name):
            yield name
        case n.TupleExpr(elts=elts) | n.ListExpr(elts=elts):
            for element in elts:
                yield from names_in(element)
        case n.Starred(value=value):
            yield from names_in(value)


def _bound_by(node: n.Node) -> Iterator[str]:
    match node:
        case n.Assign(targets=targets):
            for target in targets:
                yield from names_in(target)
        case n.AugAssign(target=target) | n.AnnAssign(target=target) | n.For(target=target):
            yield from names_in(target)
        case n.WithItem() if node.target is not None:
            yield from names_in(node.target)
        case n.NamedExpr():
            yield from names_in(node.target)
        case n.FunctionHead(name=name) | n.ClassDef(name=name) | n.ExceptHandler(name=str(name)):
            yield name
        case n.Import(names=names) | n.ImportFrom(names=names):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in names)


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
        case n.Call(func=n.Attribute(value=owner, attr="startswith" | "endswith"), args=(part,)) if _is_written_out(
            part
        ):
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
