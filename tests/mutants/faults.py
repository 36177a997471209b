"""Operators that put a fault in: graphs cut, steps out of order, writes where something was saved, graphs kept.

Some faults are none in some scripts: a gradient that is never cleared is harmless where there is one step. Torch says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.mutants.mutate import Edits, Script, fault

# The loss and what it is made of.


@fault
def no_grad_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.indented(bound, "with torch.no_grad():"),)


@fault
def detach_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.wrapped(bound.value, "(", ").detach()"),)


@fault
def data_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.wrapped(bound.value, "(", ").data"),)


@fault
def item_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.wrapped(bound.value, "(", ").item()"),)


@fault
def rewrapped_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.wrapped(bound.value, "torch.tensor((", ").item(), requires_grad=True)"),)


@fault
def loss_made_to_require(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.wrapped(bound.value, "(", ").detach().requires_grad_()"),)


@fault
def numpy_loss(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        yield (script.wrapped(bound.value, "torch.from_numpy((", ").numpy())"),)


@fault
def detached_argument(script: Script) -> Iterator[Edits]:
    """What the loss compares is cut off."""
    for bound, _ in script.losses:
        if isinstance(bound.value, ast.Call) and bound.value.args and isinstance(bound.value.args[0], ast.Name):
            yield (script.wrapped(bound.value.args[0], "", ".detach()"),)


@fault
def one_term_detached(script: Script) -> Iterator[Edits]:
    for bound, _ in script.losses:
        if isinstance(bound.value, ast.BinOp) and isinstance(bound.value.op, ast.Add | ast.Sub):
            yield (script.wrapped(bound.value.left, "(", ").detach()"),)
            yield (script.wrapped(bound.value.right, "(", ").detach()"),)


@fault
def not_reduced(script: Script) -> Iterator[Edits]:
    """`loss.mean()` without `.mean()`; a loss of `torch.nn` without its reduction."""
    for bound, _ in script.losses:
        for call in (node for node in ast.walk(bound.value) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr in {"mean", "sum"}:
                if not call.args and not isinstance(call.func.value, ast.Name | ast.Constant):
                    yield (script.replaced(call, script.source(call.func.value)),)


@fault
def reduction_none(script: Script) -> Iterator[Edits]:
    for call in (node for node in ast.walk(script.tree) if isinstance(node, ast.Call)):
        name = script.source(call.func).rpartition(".")[2]
        is_loss = (name.endswith("Loss") and name[0].isupper()) or name in {
            *("cross_entropy", "nll_loss", "mse_loss", "binary_cross_entropy", "smooth_l1_loss", "l1_loss"),
        }
        if is_loss and not any(word.arg in {"reduction", "reduce", "size_average"} for word in call.keywords):
            inside = script.text[script.end(call.func) : script.end(call)].strip()
            comma = "" if inside == "()" or inside.endswith(",)") else ", "
            yield (script.replaced(call, f"{script.source(call)[:-1]}{comma}reduction='none')"),)


# The model.


@fault
def no_grad_forward(script: Script) -> Iterator[Edits]:
    for forward in script.forwards:
        if not forward.decorator_list:
            yield (script.before(forward, "@torch.no_grad()"),)


@fault
def inference_forward(script: Script) -> Iterator[Edits]:
    for forward in script.forwards:
        if not forward.decorator_list:
            yield (script.before(forward, "@torch.inference_mode()"),)


@fault
def detach_output(script: Script) -> Iterator[Edits]:
    for statement in script.returns:
        assert statement.value
        yield (script.wrapped(statement.value, "(", ").detach()"),)


@fault
def data_output(script: Script) -> Iterator[Edits]:
    for statement in script.returns:
        assert statement.value
        yield (script.wrapped(statement.value, "(", ").data"),)


@fault
def numpy_output(script: Script) -> Iterator[Edits]:
    for statement in script.returns:
        assert statement.value
        yield (script.wrapped(statement.value, "torch.from_numpy((", ").numpy())"),)


@fault
def rebuilt_output(script: Script) -> Iterator[Edits]:
    for statement in script.returns:
        assert statement.value
        yield (script.wrapped(statement.value, "torch.tensor((", ").tolist())"),)


@fault
def detach_hidden(script: Script) -> Iterator[Edits]:
    """A layer's result is cut off inside `forward`."""
    for statement in script.activations:
        yield (script.wrapped(statement.value, "(", ").detach()"),)


@fault
def no_grad_hidden(script: Script) -> Iterator[Edits]:
    for statement in script.activations:
        yield (script.indented(statement, "with torch.no_grad():"),)


@fault
def changed_in_place(script: Script) -> Iterator[Edits]:
    """A layer's result is written by `+=`; some operators saved it."""
    for statement in script.activations:
        yield (script.after(statement, f"{script.source(statement.targets[0])} += 1"),)


@fault
def scaled_in_place(script: Script) -> Iterator[Edits]:
    for statement in script.activations:
        yield (script.after(statement, f"{script.source(statement.targets[0])}.mul_(2)"),)


@fault
def relu_in_place(script: Script) -> Iterator[Edits]:
    for call in (node for node in ast.walk(script.tree) if isinstance(node, ast.Call)):
        name = script.source(call.func).rpartition(".")[2]
        if name in {"relu", "leaky_relu", "ReLU", "LeakyReLU"} and not any(w.arg == "inplace" for w in call.keywords):
            is_layer, is_function = (
                name[0].isupper(),
                script.source(call.func).startswith(("F.", "functional.", "nn.functional")),
            )
            if (is_layer and not call.args) or (is_function and len(call.args) == 1):
                comma = ", " if call.args or call.keywords else ""
                yield (script.replaced(call, f"{script.source(call)[:-1]}{comma}inplace=True)"),)


@fault
def layer_in_list(script: Script) -> Iterator[Edits]:
    """A layer is kept in a plain list, where no one finds its parameters."""
    layers = ("nn.Linear", "nn.Conv2d", "nn.Sequential", "nn.Embedding", "nn.LSTM", "nn.RNN", "torch.nn.Linear")
    for statement in script.statements:
        match statement:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self")) as target], value=ast.Call() as call):
                if script.source(call.func) not in layers:
                    continue
                owner = next((node for node in script.above(statement) if isinstance(node, ast.ClassDef)), script.tree)
                uses = [
                    node
                    for node in ast.walk(owner)
                    if isinstance(node, ast.Attribute)
                    and node is not target
                    and script.source(node) == script.source(target)
                ]
                if uses:
                    edits = [script.wrapped(use, "", "[0]") for use in uses]
                    yield (script.wrapped(call, "[", "]"), *edits)


@fault
def module_list_plain(script: Script) -> Iterator[Edits]:
    for call in (node for node in ast.walk(script.tree) if isinstance(node, ast.Call)):
        if script.source(call.func).rpartition(".")[2] == "ModuleList" and call.args:
            yield (script.replaced(call, f"list({script.source(call.args[0])})"),)


@fault
def parameter_not_leaf(script: Script) -> Iterator[Edits]:
    for call in (node for node in ast.walk(script.tree) if isinstance(node, ast.Call)):
        if script.source(call.func).rpartition(".")[2] == "Parameter":
            yield (script.wrapped(call, "", " * 1.0"),)


@fault
def frozen_model(script: Script) -> Iterator[Edits]:
    for made, model in script.trained:
        yield (script.after(made, f"{model}.requires_grad_(False)"),)


@fault
def frozen_by_loop(script: Script) -> Iterator[Edits]:
    for made, model in script.trained:
        yield (script.before(made, f"for _p in {model}.parameters(): _p.requires_grad = False"),)


@fault
def partly_frozen(script: Script) -> Iterator[Edits]:
    for made, model in script.trained:
        yield (script.after(made, f"next({model}.parameters()).requires_grad = False"),)


@fault
def grad_switched_off(script: Script) -> Iterator[Edits]:
    for made, _ in script.trained:
        yield (script.after(made, "torch.set_grad_enabled(False)"),)


@fault
def requires_grad_dropped(script: Script) -> Iterator[Edits]:
    for word in (node for node in ast.walk(script.tree) if isinstance(node, ast.keyword)):
        if word.arg == "requires_grad" and isinstance(word.value, ast.Constant) and word.value.value is True:
            yield (script.replaced(word.value, "False"),)


@fault
def leaf_scaled(script: Script) -> Iterator[Edits]:
    """A tensor of one's own is no leaf any more."""
    for statement in script.statements:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=ast.Call(keywords=words) as call):
                if any(word.arg == "requires_grad" for word in words):
                    yield (script.wrapped(call, "", " * 0.1"),)


# The optimizer.


@fault
def model_replaced(script: Script) -> Iterator[Edits]:
    """The optimizer holds the parameters of a model that is trained no longer."""
    for made, model in script.trained:
        yield (script.after(made, f"{model} = copy.deepcopy({model})"),)


@fault
def optimizer_over_part(script: Script) -> Iterator[Edits]:
    for _, _, call in script.optimizers:
        if script.source(call.args[0]).endswith(".parameters()"):
            yield (script.wrapped(call.args[0], "list(", ")[:1]"),)


@fault
def written_parameters(script: Script) -> Iterator[Edits]:
    """Weights are changed in place in grad mode, before a step."""
    for (stepped, _, _), (_, model) in zip(script.steps, script.trained, strict=False):
        if script.scope(stepped) is script.tree:
            yield (script.before(stepped, f"for _p in {model}.parameters(): _p.mul_(0.999)"),)


@fault
def written_data(script: Script) -> Iterator[Edits]:
    """Weights are changed between forward and backward, where no version tells."""
    for bound, _ in script.losses:
        for _, model in script.trained[:1]:
            if script.scope(bound) is script.tree:
                yield (script.after(bound, f"for _p in {model}.parameters(): _p.data.mul_(0.5)"),)


# The training step.


@fault
def drop_zero_grad(script: Script) -> Iterator[Edits]:
    for statement, _, _ in script.clearings:
        yield (script.replaced(statement, "pass"),)


@fault
def drop_all_zero_grad(script: Script) -> Iterator[Edits]:
    if len(script.clearings) > 1:
        yield tuple(script.replaced(statement, "pass") for statement, _, _ in script.clearings)


@fault
def drop_step(script: Script) -> Iterator[Edits]:
    for statement, _, _ in script.steps:
        yield (script.replaced(statement, "pass"),)


@fault
def drop_backward(script: Script) -> Iterator[Edits]:
    for statement, _, _ in script.backwards:
        yield (script.replaced(statement, "pass"),)


@fault
def step_before_backward(script: Script) -> Iterator[Edits]:
    for backward, _, _ in script.backwards:
        for stepped, _, _ in _next(script, backward, script.steps):
            yield script.replaced(backward, script.source(stepped)), script.replaced(stepped, script.source(backward))


@fault
def cleared_before_step(script: Script) -> Iterator[Edits]:
    for backward, _, _ in script.backwards:
        for stepped, _, optimizer in _next(script, backward, script.steps):
            yield (script.before(stepped, f"{optimizer}.zero_grad()"),)


@fault
def backward_twice(script: Script) -> Iterator[Edits]:
    for statement, _, _ in script.backwards:
        yield (script.after(statement, script.source(statement)),)


@fault
def stepped_before_backward(script: Script) -> Iterator[Edits]:
    """A step more, between forward and backward: it writes what the forward saved."""
    for backward, _, _ in script.backwards:
        for _, _, optimizer in _next(script, backward, script.steps):
            yield (script.before(backward, f"{optimizer}.step()"),)


@fault
def loss_accumulated(script: Script) -> Iterator[Edits]:
    """`total = total + loss; total.backward()`: the second round leads into the first one's graph."""
    for bound, backward in script.losses:
        loop, name = script.loop(backward), script.source(bound.targets[0])
        if loop is not None and loop is script.loop(bound) and script.alone(loop):
            yield (
                script.before(loop, "_total = 0"),
                script.replaced(backward, f"_total = _total + {name}\n{script.indent(backward)}_total.backward()"),
            )


@fault
def losses_kept(script: Script) -> Iterator[Edits]:
    for bound, backward in script.losses:
        loop, name = script.loop(backward), script.source(bound.targets[0])
        if loop is not None and loop is script.loop(bound) and script.alone(loop):
            yield script.before(loop, "_history = []"), script.after(backward, f"_history.append({name})")


@fault
def losses_summed(script: Script) -> Iterator[Edits]:
    for bound, backward in script.losses:
        loop, name = script.loop(backward), script.source(bound.targets[0])
        if loop is not None and loop is script.loop(bound) and script.alone(loop):
            yield script.before(loop, "_running = 0"), script.after(backward, f"_running += {name}")


@fault
def drop_detach(script: Script) -> Iterator[Edits]:
    for call in (node for node in ast.walk(script.tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"detach", "item"} and not call.args:
            yield (script.replaced(call, script.source(call.func.value)),)


@fault
def drop_data(script: Script) -> Iterator[Edits]:
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name | ast.Call) and script.source(node.value) != "torch.utils":
                yield (script.replaced(node, script.source(node.value)),)


@fault
def drop_no_grad(script: Script) -> Iterator[Edits]:
    for node in ast.walk(script.tree):
        if isinstance(node, ast.With):
            for item in node.items:
                if script.source(item.context_expr).endswith("no_grad()"):
                    yield (script.replaced(item.context_expr, "contextlib.nullcontext()"),)


def _next(
    script: Script, statement: ast.stmt, among: list[tuple[ast.Expr, ast.Call, str]]
) -> list[tuple[ast.Expr, ast.Call, str]]:
    """The first of some calls that stands below a statement, in the same block."""
    block = script.parents[statement]
    return [found for found in among if script.parents[found[0]] is block and found[0].lineno > statement.lineno][:1]
