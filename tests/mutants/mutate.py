"""Breaks a training script's text: each operator puts in one fault of autograd's, or a change that changes nothing.

An operator is a function from a `Script` to edits of its text, one tuple of edits for each mutant. Lines stay where
they are unless an operator puts one in, so that a mutant reads like the script. What a mutant does is not claimed here:
torch runs it. Operators live in `faults` and in `harmless`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

OPTIMIZERS = "Adadelta Adagrad Adam AdamW Adamax ASGD LBFGS NAdam RAdam RMSprop Rprop SGD SparseAdam"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters from `start` to `end`."""

    start: int
    end: int
    text: str


Edits: TypeAlias = tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A script's text after one operator, and the line of its first edit."""

    operator: str
    line: int
    text: str


@dataclass(frozen=True)
class Script:
    """A script's text and tree, and the places where its training lies."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins, in characters."""
        starts = [0]
        for line in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def offset(self, line: int, column: int) -> int:
        """`column` counts bytes, as `ast` does."""
        begin = self._lines[line - 1]
        text = self.text[begin : self._lines[line]]
        return begin + len(text.encode()[:column].decode())

    def start(self, node: ast.AST) -> int:
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        return self.text[self.start(node) : self.end(node)]

    def indent(self, node: ast.AST) -> str:
        begin = self._lines[node.lineno - 1]  # type: ignore[attr-defined]
        return self.text[begin : self.start(node)]

    def replaced(self, node: ast.AST, text: str) -> Edit:
        return Edit(self.start(node), self.end(node), text)

    def wrapped(self, node: ast.AST, before: str, after: str) -> Edit:
        return self.replaced(node, before + self.source(node) + after)

    def before(self, statement: ast.stmt, text: str) -> Edit:
        """A statement of its own above `statement`."""
        begin = self.start(statement)
        return Edit(begin, begin, f"{text}\n{self.indent(statement)}")

    def after(self, statement: ast.stmt, text: str) -> Edit:
        begin = self.end(statement)
        return Edit(begin, begin, f"\n{self.indent(statement)}{text}")

    def indented(self, statement: ast.stmt, header: str) -> Edit:
        """The statement as the body of `header`."""
        inner = self.source(statement).replace("\n", "\n    ")
        return self.replaced(statement, f"{header}\n{self.indent(statement)}    {inner}")

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST) -> ast.AST:
        """The function that holds a node, or the module."""
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        return next((found for found in self.above(node) if isinstance(found, functions)), self.tree)

    def loop(self, node: ast.AST) -> ast.For | ast.While | None:
        """The innermost loop around a node, in its own function."""
        for found in self.above(node):
            if isinstance(found, ast.For | ast.While):
                return found
            if isinstance(found, ast.FunctionDef):
                return None
        return None

    def alone(self, statement: ast.stmt) -> bool:
        """Whether the statement has its line for itself."""
        return not self.indent(statement).strip()

    @cached_property
    def statements(self) -> list[ast.stmt]:
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.stmt) and self.alone(node)]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def calls(self, *methods: str) -> list[tuple[ast.Expr, ast.Call, str]]:
        """Statements that are `receiver.method(...)`, with the call and the receiver's text."""
        found: list[tuple[ast.Expr, ast.Call, str]] = []
        for statement in self.statements:
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver, attr=name)) as call):
                    if name in methods:
                        found.append((statement, call, self.source(receiver)))
        return found

    @cached_property
    def backwards(self) -> list[tuple[ast.Expr, ast.Call, str]]:
        return self.calls("backward")

    @cached_property
    def clearings(self) -> list[tuple[ast.Expr, ast.Call, str]]:
        return self.calls("zero_grad")

    @cached_property
    def steps(self) -> list[tuple[ast.Expr, ast.Call, str]]:
        """Steps of optimizers, not of schedulers or games: what is stepped is made as an optimizer, or cleared."""
        known = {receiver for _, _, receiver in self.clearings} | {name for _, name, _ in self.optimizers}
        return [found for found in self.calls("step") if found[2] in known]

    @cached_property
    def optimizers(self) -> list[tuple[ast.Assign, str, ast.Call]]:
        """Statements `name = Optimizer(...)`."""
        found: list[tuple[ast.Assign, str, ast.Call]] = []
        for statement in self.statements:
            match statement:
                case ast.Assign(targets=[target], value=ast.Call(func=func) as call):
                    if self.source(func).rpartition(".")[2] in OPTIMIZERS.split() and call.args:
                        found.append((statement, self.source(target), call))
        return found

    @cached_property
    def trained(self) -> list[tuple[ast.Assign, str]]:
        """Where an optimizer is made over `model.parameters()`: that statement and the model's text."""
        found: list[tuple[ast.Assign, str]] = []
        for statement, _, call in self.optimizers:
            match call.args[0]:
                case ast.Call(func=ast.Attribute(value=model, attr="parameters")):
                    found.append((statement, self.source(model)))
        return found

    @cached_property
    def losses(self) -> list[tuple[ast.Assign, ast.Expr]]:
        """For each `loss.backward()`: the last statement above it, in its function, that binds `loss`."""
        found: list[tuple[ast.Assign, ast.Expr]] = []
        for statement, _, receiver in self.backwards:
            bound = [
                other
                for other in self.statements
                if isinstance(other, ast.Assign)
                and len(other.targets) == 1
                and not isinstance(other.value, ast.Constant)
                and self.source(other.targets[0]) == receiver
                and other.lineno < statement.lineno
                and self.scope(other) is self.scope(statement)
            ]
            if bound:
                found.append((bound[-1], statement))
        return found

    @cached_property
    def forwards(self) -> list[ast.FunctionDef]:
        nodes = ast.walk(self.tree)
        return [
            node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == "forward" and node.args.args
        ]

    @cached_property
    def returns(self) -> list[ast.Return]:
        """The last `return` of each `forward`, where it gives back one value."""
        found: list[ast.Return] = []
        for forward in self.forwards:
            last = forward.body[-1]
            if isinstance(last, ast.Return) and last.value is not None and not isinstance(last.value, ast.Tuple):
                if self.alone(last):
                    found.append(last)
        return found

    @cached_property
    def activations(self) -> list[ast.Assign]:
        """Statements of a `forward` that bind a name to a call's result."""
        found: list[ast.Assign] = []
        for forward in self.forwards:
            for statement in self.statements:
                match statement:
                    case ast.Assign(targets=[ast.Name()], value=ast.Call()):
                        if forward in self.above(statement):
                            found.append(statement)
        return found


Operator: TypeAlias = Callable[[Script], Iterator[Edits]]

FAULTS: dict[str, Operator] = {}
HARMLESS: dict[str, Operator] = {}


def fault(operator: Operator) -> Operator:
    """Registers an operator that is meant to break something."""
    FAULTS[operator.__name__] = operator
    return operator


def harmless(operator: Operator) -> Operator:
    """Registers an operator that is meant to change nothing."""
    HARMLESS[operator.__name__] = operator
    return operator


def mutants(text: str, most: int = 1) -> list[Mutant]:
    """Every operator's mutants of a script, at most so many of each, spread over its places."""
    from tests.mutants import faults
    from tests.mutants import harmless as kept

    assert faults and kept
    script = Script(text)
    found: list[Mutant] = []
    seen = {text}
    for name, operator in (FAULTS | HARMLESS).items():
        made: list[Mutant] = []
        for edits in operator(script):
            changed = applied(text, (*edits, *_imports(script, edits)))
            if changed not in seen and _parses(changed):
                seen.add(changed)
                first = min(edit.start for edit in edits)
                made.append(Mutant(name, text.count("\n", 0, first) + 1, changed))
        found += _spread(made, most, len(text))
    return found


def _spread(made: list[Mutant], most: int, turn: int) -> list[Mutant]:
    """At most so many of them, from a place on that differs from script to script."""
    count = len(made)
    return made if count <= most else [made[(turn + i * count // most) % count] for i in range(most)]


def _imports(script: Script, edits: Edits) -> Edits:
    """What the new text names and the script does not import, put above its first import."""
    new = "".join(edit.text for edit in edits)
    imports = [statement for statement in script.tree.body if isinstance(statement, ast.Import | ast.ImportFrom)]
    wanted = [name for name in ("torch", "copy", "contextlib") if f"{name}." in new]
    known = {alias.asname or alias.name for found in imports if isinstance(found, ast.Import) for alias in found.names}
    first = next((found for found in imports if getattr(found, "module", "") != "__future__"), None)
    missing = [name for name in wanted if name not in known]
    return (script.before(first, "\n".join(f"import {name}" for name in missing)),) if first and missing else ()


def applied(text: str, edits: Edits) -> str:
    """The text with all edits made; they do not overlap."""
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _parses(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True
