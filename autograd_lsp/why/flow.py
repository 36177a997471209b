"""Traces what may have influenced a line, by names alone, for programs that the machine cannot follow.

The names that a line reads lead to the statements that bind them, in the same function or in the module; those lead on,
into functions of the file that they call and to the arguments that callers give. Nothing here is certain: it ranks
places that a person would look at first.

    h = encode(x).detach()      distance 2: binds `h`
    loss = h.sum()              distance 1: binds `loss`
    loss.backward()             the line
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

Scope: TypeAlias = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef

_MOST_STEPS = 2_000
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement of the way; `scope` is the function that it stands in."""

    statement: ast.stmt
    scope: Scope
    distance: int


@dataclass(slots=True)
class Flow:
    """One file's statements by scope, with the `with`, the loops and the functions around each."""

    tree: ast.Module
    around: dict[ast.AST, tuple[ast.AST, ...]] = field(default_factory=dict)
    statements: dict[Scope, list[ast.stmt]] = field(default_factory=dict)
    functions: dict[str, list[Scope]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        waiting: list[tuple[ast.AST, tuple[ast.AST, ...], Scope]] = [(self.tree, (), self.tree)]
        while waiting:
            node, around, scope = waiting.pop()
            if isinstance(node, ast.stmt):
                self.around[node] = around
                self.statements.setdefault(scope, []).append(node)
            inner = scope
            if isinstance(node, _FUNCTIONS):
                self.functions.setdefault(node.name, []).append(node)
                inner = node
            below = (*around, node) if isinstance(node, ast.stmt) else around
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                    waiting.append((child, below, inner))

    def statement_at(self, line: int) -> tuple[ast.stmt, Scope] | None:
        """The innermost statement on a line, from 1."""
        found = [
            (statement, scope)
            for scope, statements in self.statements.items()
            for statement in statements
            if statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        ]
        return max(found, key=lambda item: (item[0].lineno, len(self.around[item[0]])), default=None)

    def into(self, statement: ast.stmt, scope: Scope) -> dict[ast.stmt, Step]:
        """The statements that lead to one, each with the shortest way."""
        found = {statement: Step(statement, scope, 0)}
        queue: list[tuple[Scope, str, int]] = [(scope, name, 1) for name in _read(statement)]
        queue += [(callee, "return", 1) for callee in self._called(statement)]
        seen = set(queue)
        for at, name, distance in queue:
            if len(seen) > _MOST_STEPS:
                break
            for other in self._binding(at, name):
                found.setdefault(other, Step(other, at, distance))
                more = [(at, word, distance + 1) for word in _read(other)]
                more += [(callee, "return", distance + 1) for callee in self._called(other)]
                queue += [item for item in more if item not in seen]
                seen.update(more)
            outer = [(caller, word, distance + 1) for caller, word in self._from_outside(at, name)]
            queue += [item for item in outer if item not in seen]
            seen.update(outer)
        return found

    def _binding(self, scope: Scope, name: str) -> Iterator[ast.stmt]:
        for statement in self.statements.get(scope, ()):
            if name == "return":
                if isinstance(statement, ast.Return):
                    yield statement
            elif name in _bound(statement) or name in _changed(statement):
                yield statement

    def _called(self, statement: ast.stmt) -> Iterator[Scope]:
        """The functions of the file that may be called; of a model, `forward`."""
        for node in own_nodes(statement):
            if isinstance(node, ast.Call):
                name = dotted(node.func).rpartition(".")[2]
                yield from self.functions.get(name, self.functions.get("forward", ()) if name.islower() else ())

    def _from_outside(self, scope: Scope, name: str) -> Iterator[tuple[Scope, str]]:
        """What a name is that a function does not bind: of the module, an attribute of `self`, or given by a caller."""
        if isinstance(scope, ast.Module):
            return
        yield self.tree, name
        if name.startswith("self."):
            yield from ((other, name) for others in self.functions.values() for other in others)
            return
        arguments = [argument.arg for argument in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)]
        if name not in arguments:
            return
        for caller, statements in self.statements.items():
            for statement in statements:
                for node in own_nodes(statement):
                    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] == scope.name:
                        yield from ((caller, word) for argument in node.args for word in _names(argument))


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of the statements inside it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        children = ast.iter_child_nodes(node)
        waiting += [child for child in children if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)]


def dotted(node: ast.AST) -> str:
    """`self.net` of what is written so; of a call or a subscript, what stands before it."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr):
            return f"{dotted(value)}.{attr}"
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return dotted(value)
        case ast.Call(func=func):
            return dotted(func)
    return ""


def written_in_place(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """What a statement writes to without binding a name to another object, and where it says so."""
    match statement:
        case ast.AugAssign(target=target):
            yield dotted(target), statement
        case ast.Assign(targets=targets):
            yield from ((dotted(target), statement) for target in targets if isinstance(target, ast.Subscript))
    for node in own_nodes(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_in_place(node.func.attr):
            yield dotted(node.func.value), node


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.startswith("_") and method not in ("requires_grad_", "detach_", "train_")


def _bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Assign(targets=targets):
            nodes = [part for target in targets for part in _parts(target)]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            nodes = _parts(target)
        case ast.With(items=items):
            nodes = [part for item in items if item.optional_vars is not None for part in _parts(item.optional_vars)]
        case _:
            nodes = []
    walrus = [node.target for node in own_nodes(statement) if isinstance(node, ast.NamedExpr)]
    return {dotted(node) for node in [*nodes, *walrus]}


def _parts(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, ast.Tuple | ast.List):
        return [part for element in target.elts for part in _parts(element)]
    return [target]


def _changed(statement: ast.stmt) -> set[str]:
    """What a call for its own sake may change: `losses` of `losses.append(loss)`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
            return {dotted(value)}
    return set()


def _read(statement: ast.stmt) -> set[str]:
    return {name for node in own_nodes(statement) for name in _names_of(node)}


def _names(expression: ast.AST) -> set[str]:
    return {name for node in ast.walk(expression) for name in _names_of(node)}


def _names_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Attribute) and dotted(node).startswith("self."):
        yield dotted(node)
