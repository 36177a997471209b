"""Operators that change nothing that autograd does: the analyzer has nothing new to say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.mutants.mutate import Edit, Edits, Script, harmless


@harmless
def cloned_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.wrapped(bound.value, "(", ").clone()"),)


@harmless
def cloned_output(script: Script) -> Iterator[Edits]:
    for statement in script.returns:
        assert statement.value
        yield (script.wrapped(statement.value, "(", ").clone()"),)


@harmless
def viewed_output(script: Script) -> Iterator[Edits]:
    for statement in script.returns:
        assert statement.value
        yield (script.wrapped(statement.value, "(", ")[:]"),)


@harmless
def renamed_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        if isinstance(bound.targets[0], ast.Name):
            names = [node for node in ast.walk(script.tree) if isinstance(node, ast.Name)]
            same = [node for node in names if node.id == bound.targets[0].id]
            words = {node.arg for node in ast.walk(script.tree) if isinstance(node, ast.arg | ast.keyword)}
            if bound.targets[0].id not in words and not re.search(r"\b(global|nonlocal)\b", script.text):
                yield tuple(script.replaced(node, f"{node.id}_renamed") for node in same)


@harmless
def cleared_later(script: Script) -> Iterator[Edits]:
    """`zero_grad` right before `backward`."""
    for statement, _, _ in script.clearings:
        for backward, _, _ in script.backwards:
            block = script.parents[backward]
            if script.parents[statement] is block and statement.lineno < backward.lineno:
                yield script.replaced(statement, "pass"), script.before(backward, script.source(statement))
                break


@harmless
def cleared_to_zero(script: Script) -> Iterator[Edits]:
    for _, call, _ in script.clearings:
        if not call.args and not call.keywords:
            yield (script.replaced(call, f"{script.source(call)[:-1]}set_to_none=False)"),)


@harmless
def graph_retained(script: Script) -> Iterator[Edits]:
    for _, call, _ in script.backwards:
        if not call.args and not call.keywords:
            yield (script.replaced(call, f"{script.source(call)[:-1]}retain_graph=True)"),)


@harmless
def value_logged(script: Script) -> Iterator[Edits]:
    for bound, backward in script.losses:
        yield (script.after(bound, f"_value = {script.source(backward.value.func.value)}.item()"),)  # type: ignore[attr-defined]


@harmless
def values_kept(script: Script) -> Iterator[Edits]:
    for bound, backward in script.losses:
        loop, name = script.loop(backward), script.source(bound.targets[0])
        if loop is not None and loop is script.loop(bound) and script.alone(loop):
            yield script.before(loop, "_seen = []"), script.after(backward, f"_seen.append({name}.detach())")


@harmless
def aliased_loss(script: Script) -> Iterator[Edits]:
    for bound, backward in script.losses:
        name = script.source(bound.targets[0])
        call = script.source(backward)
        yield (script.replaced(backward, f"_alias = {name}\n{script.indent(backward)}_alias{call[len(name) :]}"),)


@harmless
def grad_enabled(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.indented(bound, "with torch.enable_grad():"),)


@harmless
def no_grad_beside(script: Script) -> Iterator[Edits]:
    """Something is computed of the loss in `no_grad`, and used by no one."""
    for bound, _ in script.losses:
        name = script.source(bound.targets[0])
        yield (script.after(bound, f"with torch.no_grad(): _beside = {name} * 2"),)


@harmless
def zero_added_in_place(script: Script) -> Iterator[Edits]:
    """The loss is a result that nobody saved; writing it is fine."""
    for bound, _ in script.losses:
        name = script.source(bound.targets[0])
        yield (script.after(bound, f"{name} = {name} + 0.0; {name} += 0.0"),)


@harmless
def parameters_touched(script: Script) -> Iterator[Edits]:
    """In `no_grad`, after the last step: in place and right."""
    for (stepped, _, _), (_, model) in zip(script.steps[-1:], script.trained[-1:], strict=False):
        if script.scope(stepped) is script.tree:
            text = f"with torch.no_grad(): [_p.mul_(1.0) for _p in {model}.parameters()]"
            yield (script.after(stepped, text),)


@harmless
def hidden_copied(script: Script) -> Iterator[Edits]:
    for statement in script.activations:
        yield (script.wrapped(statement.value, "(", ") * 1.0"),)


@harmless
def blank_lines(script: Script) -> Iterator[Edits]:
    yield (Edit(0, 0, "# A comment.\n\n"),)
