"""A program's tree, with a probe after each statement that binds something.

`y = x.exp()` becomes `y = x.exp(); __autograd_bound__(3, "train", (("y", y),))`: the call stands at the place of its
statement, so tracebacks keep their lines, and its arguments die with it, so no tensor lives longer than it would.
(`sys.settrace` would be less text, but it keeps dead tensors alive in CPython 3.11.)

What is probed: the targets of assignments, `for`, `with` and `:=`. A target is a name, or an attribute, key or item of
a name, called as it is written: `y`, `self.h`, `d["k"]`, `xs[0]`. Other targets are read in ways that could change
what the program does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

BOUND = "__autograd_bound__"
WALRUS = "__autograd_walrus__"
CAUGHT = "__autograd_caught__"
REVEAL = "__autograd_reveal__"
REACHED = "__autograd_reached__"

_SWALLOWERS = {"raises", "suppress", "assertRaises", "assertRaisesRegex"}


def instrument(text: str, path: str) -> ast.Module:
    """The tree of `text`, probed; raises `SyntaxError` as `compile` does."""
    tree = ast.parse(text, path)
    _Prober(text).visit(tree)
    _mark_reached(tree)
    return ast.fix_missing_locations(tree)


def _mark_reached(tree: ast.Module) -> None:
    """A probe before each statement."""
    for parent in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list):
                setattr(parent, name, [new for node in block for new in _marked(node)])


def _marked(node: ast.stmt) -> list[ast.stmt]:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.ImportFrom(module="__future__"):
            return [node]
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name.startswith("__autograd_"):
            return [node]
    probe = ast.Call(_load(REACHED), [ast.Constant(node.lineno)], [])
    return [ast.copy_location(ast.Expr(ast.copy_location(probe, node)), node), node]


class _Prober(ast.NodeTransformer):
    def __init__(self, text: str) -> None:
        self.text = text
        self.scopes: list[str] = []
        self.classes: list[str] = []

    # Scopes: `scope` is what `__qualname__` would say.

    @property
    def scope(self) -> str:
        return ".".join(self.scopes).removesuffix(".<locals>") or "<module>"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._within(node, [node.name, "<locals>"])

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._within(node, [node.name, "<locals>"])

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._within(node, ["<lambda>", "<locals>"])

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.classes.append(node.name)
        result = self._within(node, [node.name])
        self.classes.pop()
        return result

    def _within(self, node: ast.AST, names: list[str]) -> ast.AST:
        depth = len(self.scopes)
        self.scopes += names
        self.generic_visit(node)
        del self.scopes[depth:]
        return node

    # Statements that bind.

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, *self._bound(node, node.targets)]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, *self._bound(node, [node.target])]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        return [node, *(self._bound(node, [node.target]) if node.value is not None else ())]

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body[:0] = self._bound(node, [node.target])
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        self.generic_visit(node)
        node.body[:0] = self._bound(node, [node.target])
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        if any(_swallows(item.context_expr) for item in node.items):
            node.body = [_reporting(node.body)]
        node.body[:0] = self._bound(node, [item.optional_vars for item in node.items if item.optional_vars])
        return node

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.AST:
        self.generic_visit(node)
        node.body[:0] = self._bound(node, [item.optional_vars for item in node.items if item.optional_vars])
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self.generic_visit(node)
        node.value = _call(WALRUS, node, ast.Constant(self.scope), ast.Constant(node.target.id), node.value)
        return node

    # Exceptions that the program keeps to itself, and `reveal`.

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.copy_location(ast.Expr(_call(CAUGHT, node)), node))
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Name(id="reveal"), args=[argument]):
                name = ast.Constant(self._source(argument))
                node.value = _call(REVEAL, node, ast.Constant(self.scope), name, argument)
        return node

    def _bound(self, node: ast.stmt, targets: list[ast.expr]) -> list[ast.stmt]:
        items = [item for target in targets for item in self._items(target)]
        if not items:
            return []
        probe = _call(BOUND, node, ast.Constant(self.scope), ast.Tuple(items, ast.Load()))
        return [ast.copy_location(ast.Expr(probe), node)]

    def _items(self, target: ast.expr) -> Iterator[ast.expr]:
        """`(text, value)` for a name, `(text, owner, attribute)` or `(text, owner, key, None)` for one level deeper."""
        text = ast.Constant(self._source(target))
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    yield from self._items(part)
            case ast.Name():
                yield ast.Tuple([text, _load(target.id)], ast.Load())
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
                yield ast.Tuple([text, _load(owner), ast.Constant(self._mangled(attribute))], ast.Load())
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=key)):
                yield ast.Tuple([text, _load(owner), ast.Constant(key), ast.Constant(None)], ast.Load())
            case ast.Subscript(value=ast.Name(id=owner), slice=ast.Name(id=key)):
                yield ast.Tuple([text, _load(owner), _load(key), ast.Constant(None)], ast.Load())

    def _mangled(self, attribute: str) -> str:
        if self.classes and attribute.startswith("__") and not attribute.endswith("__"):
            return f"_{self.classes[-1].lstrip('_')}{attribute}"
        return attribute

    def _source(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or ast.unparse(node)


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(function: str, node: ast.stmt | ast.expr | ast.ExceptHandler, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(_load(function), [ast.Constant(node.lineno), *arguments], [])
    return ast.copy_location(call, node)


def _swallows(context: ast.expr) -> bool:
    match context:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _SWALLOWERS
    return False


def _reporting(body: list[ast.stmt]) -> ast.stmt:
    """`try: body` that reports what leaves it, for the sake of `with pytest.raises(...)` around it."""
    first = body[0]
    report = ast.copy_location(ast.Expr(_call(CAUGHT, first)), first)
    again = ast.copy_location(ast.Raise(), first)
    handler = ast.copy_location(ast.ExceptHandler(_load("BaseException"), None, [report, again]), first)
    return ast.copy_location(ast.Try(body, [handler], [], []), first)
