"""What real torch shows of a program: facts by key, the same keys as `machine_side` has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.prelude.programs import Facts, Program, lines, paths

torch.set_num_threads(1)


class _Marked(dict[str, Any]):
    """A namespace that calls `mark` when `start` is bound."""

    mark: Callable[[], None]

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if name == "start":
            self.mark()


def run(program: Program) -> Facts:
    """Runs the program on clones of its operands."""
    names = _Marked(torch=torch)
    for name, tensor in program.operands.items():
        names[name] = tensor.detach().clone().requires_grad_(tensor.requires_grad)
    before: dict[str, int] = {}
    names.mark = lambda: before.update({key: t._version for key, t in watched(names)})
    torch.manual_seed(0)
    try:
        exec(program.body, names)
    except Exception as error:
        return {("outcome",): type(error).__name__}
    return {("outcome",): "ends", **facts(names, before)}


def watched(names: dict[str, Any]) -> list[tuple[str, torch.Tensor]]:
    """The tensors that the program knows by name: operands, and the parameters and buffers of `module`."""
    found = [(key, value) for key, value in names.items() if key.startswith("operand")]
    module = names.get("module")
    if isinstance(module, torch.nn.Module):
        found += [*module.named_parameters(), *module.named_buffers()]
    return found


def facts(names: dict[str, Any], before: dict[str, int]) -> Facts:
    found: Facts = {}
    module = names.get("module")
    if isinstance(module, torch.nn.Module):
        found |= members(module)
    tensors = watched(names)
    outputs = list(paths(names.get("output"), "output"))
    known = {id(tensor): name for name, tensor in tensors}
    found["outputs",] = [path for path, _ in outputs]
    for path, tensor in outputs:
        found |= {(path, key): value for key, value in describe(tensor, known).items()}
    for name, tensor in tensors:
        if name in before:
            found[name, "written"] = tensor._version != before[name]
    found |= plain(names)
    roots = [tensor for _, tensor in outputs if tensor.requires_grad]
    if roots:
        found["backward",] = backward_raises(roots)
        if found["backward",] is None:
            found |= saved(roots, [*tensors, *outputs]) | gradients(roots, tensors)
    return found


def plain(names: dict[str, Any]) -> Facts:
    """What the program itself observes: each value bound to a name that begins with `seen`."""
    return {(key,): concrete(value) for key, value in names.items() if key.startswith("seen")}


def concrete(value: Any) -> Any:
    """A value with tensors described."""
    match value:
        case torch.Tensor():
            return describe(value, {})
        case dict():
            return {key: concrete(inner) for key, inner in value.items()}
        case tuple() | list():
            return [concrete(inner) for inner in value] if isinstance(value, list) else tuple(map(concrete, value))
    return value


def members(module: torch.nn.Module) -> Facts:
    found: Facts = {
        ("parameters",): [name for name, _ in module.named_parameters()],
        ("buffers",): [name for name, _ in module.named_buffers()],
        ("modules",): [name for name, _ in module.named_modules()],
    }
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        found[name, "shape"] = tuple(tensor.shape)
        found[name, "dtype"] = str(tensor.dtype).removeprefix("torch.")
        found[name, "requires_grad"] = tensor.requires_grad
        found[name, "leaf"] = tensor.is_leaf
    return found


def describe(tensor: torch.Tensor, known: dict[int, str]) -> dict[str, Any]:
    return {
        "shape": tuple(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "requires_grad": tensor.requires_grad,
        "leaf": tensor.is_leaf,
        "view": tensor._is_view(),
        "is": known.get(id(tensor)),
        "graph": graph(tensor, known),
    }


def saved(roots: list[torch.Tensor], tensors: list[tuple[str, torch.Tensor]]) -> Facts:
    """Of which tensors a write would make backward raise."""
    found: Facts = {}
    for name, tensor in tensors:
        version = tensor._version
        torch._C._autograd._unsafe_set_version_counter((tensor,), (version + 1,))
        found[name, "saved"] = backward_raises(roots) is not None
        torch._C._autograd._unsafe_set_version_counter((tensor,), (version,))
    return found


def graph(tensor: torch.Tensor, known: dict[int, str]) -> list[str]:
    """The graph behind a tensor; leaves by the name that the program knows them by."""

    def label(node: Any) -> str:
        name: str = node.name()
        if name == "torch::autograd::AccumulateGrad":
            return f"leaf {known.get(id(node.variable))}"
        return name.removeprefix("torch::autograd::")

    return lines(tensor.grad_fn, label, lambda node: [child for child, _ in node.next_functions if child is not None])


def backward_raises(roots: list[torch.Tensor]) -> str | None:
    """The type of what backward raises, if it does."""
    try:
        torch.autograd.backward(roots, [torch.ones_like(t) for t in roots], retain_graph=True)
    except (RuntimeError, NotImplementedError) as error:
        return type(error).__name__
    return None


def gradients(roots: list[torch.Tensor], tensors: list[tuple[str, torch.Tensor]]) -> Facts:
    """Which tensors a backward from all outputs gives a gradient to."""
    for _, tensor in tensors:
        tensor.grad = None
    backward_raises(roots)
    return {(name, "grad"): tensor.grad is not None for name, tensor in tensors}
