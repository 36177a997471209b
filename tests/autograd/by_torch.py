"""Scenarios on real torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from tests.autograd.api import Api, Entry, Handle


class Torch(Api):
    def raised_by(self, step: Callable[[], object]) -> Entry | None:
        try:
            step()
        except Exception as raised:
            return [type(raised).__name__, str(raised), ""]
        return None

    def described(self, tensor: Handle) -> dict[str, Any]:
        function = tensor.grad_fn
        return {
            "leaf": tensor.is_leaf,
            "requires_grad": tensor.requires_grad,
            "grad_fn": None if function is None else _name(function),
            "version": None if tensor.is_inference() else tensor._version,
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "view": None if tensor.is_inference() else tensor._base is not None,
            "inference": tensor.is_inference(),
        }

    def graph(self, tensor: Handle) -> Any:
        if tensor.requires_grad and tensor.grad_fn is None:
            return "AccumulateGrad"
        return _tree(tensor.grad_fn)

    def grad_of(self, tensor: Handle) -> Any:
        found = tensor.grad
        return None if found is None else [list(found.shape), found.requires_grad, found.grad_fn is not None]

    def layout(self, tensor: Handle) -> Any:
        return [list(tensor.stride()), tensor.storage_offset(), tensor.is_contiguous()]

    def same(self, one: Handle, other: Handle) -> Any:
        memory = one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
        before = other._version
        torch._C._increment_version([one])
        return [one is other, memory, other._version != before]

    def missing(self, value: Handle) -> bool:
        return value is None

    def tensor(self, *sizes: int, grad: bool = False, dtype: str = "float32") -> Handle:
        return torch.ones(sizes, dtype=getattr(torch, dtype), requires_grad=grad)

    def dtype(self, name: str) -> Any:
        return getattr(torch, name)

    def op(self, name: str, *args: Any, **named: Any) -> Any:
        if not name.startswith("torch."):
            return getattr(torch.Tensor, name)(*args, **named)
        function: Any = torch
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        return function(*args, **named)

    def item(self, tensor: Handle, index: Any) -> Handle:
        return tensor[index]

    def set_item(self, tensor: Handle, index: Any, value: Any) -> None:
        tensor[index] = value

    def flag(self, tensor: Handle, on: bool, *, method: bool = False) -> None:
        if method:
            tensor.requires_grad_(on)
        else:
            tensor.requires_grad = on

    def detach(self, tensor: Handle) -> Handle:
        return tensor.detach()

    def data(self, tensor: Handle) -> Handle:
        return tensor.data

    def backward(
        self,
        *roots: Handle,
        gradient: Handle = None,
        retain: bool | None = None,
        create: bool = False,
        inputs: Sequence[Handle] | None = None,
    ) -> None:
        given = None if gradient is None else [gradient]
        torch.autograd.backward(roots, given, retain_graph=retain, create_graph=create, inputs=inputs)

    def grad(
        self,
        outputs: Sequence[Handle],
        inputs: Sequence[Handle],
        *,
        retain: bool | None = None,
        create: bool = False,
        unused: bool = False,
        materialize: bool = False,
    ) -> list[Handle]:
        found = torch.autograd.grad(
            outputs, inputs, retain_graph=retain, create_graph=create, allow_unused=unused or None,
            materialize_grads=materialize,
        )  # fmt: skip
        return list(found)

    @contextmanager
    def mode(self, grad: bool, *, inference: bool = False) -> Iterator[None]:
        with torch.inference_mode() if inference else torch.set_grad_enabled(grad):
            yield

    def hook(self, tensor: Handle, hook: Callable[[Handle], Handle]) -> None:
        tensor.register_hook(hook)

    def hook_after(self, leaf: Handle, hook: Callable[[Handle], None]) -> None:
        leaf.register_post_accumulate_grad_hook(hook)

    def retain_grad(self, tensor: Handle) -> None:
        tensor.retain_grad()

    def packing(
        self, pack: Callable[[Handle], Handle], unpack: Callable[[Handle], Handle]
    ) -> AbstractContextManager[None]:
        return torch.autograd.graph.saved_tensors_hooks(pack, unpack)


def _tree(node: Any) -> Any:
    if node is None:
        return None
    name = _name(node)
    below = [_tree(next_node) for next_node, _ in node.next_functions if next_node is not None]
    return name if name == "AccumulateGrad" else [name, below]


def _name(node: Any) -> str:
    name: str = node.name()
    return name.removeprefix("torch::autograd::")
