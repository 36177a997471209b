"""One program for both sides: torch runs it on the sample's own tensors, the machine on tensors of their shapes.

A program has operands, each a name, a tensor, and the text that makes one of its kind; then lines of Python. Its last
statement binds `end`. Where it binds `start`, the versions are taken down, and what is written is what changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

Facts = dict[tuple[str, ...], Any]
"""What one side says of a program, by what it is about."""

Node = TypeVar("Node", bound=Hashable)


@dataclass(slots=True)
class Program:
    """`lines` is the part that both sides run as it stands."""

    name: str
    operands: dict[str, torch.Tensor] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)
    kept: list[object] = field(default_factory=list)

    @property
    def body(self) -> str:
        """What torch runs, in a namespace that holds `torch` and the operands."""
        return "\n".join([*self.lines, "end = None", ""])

    @property
    def text(self) -> str:
        """What the machine runs."""
        made = [f"{name} = {creation(tensor)}" for name, tensor in self.operands.items()]
        return "\n".join(["import torch", *made, self.body])

    def source(self, value: Any, requires_grad: bool | None = None) -> str:
        """An expression for a sample's argument; a tensor becomes an operand, the same tensor the same operand."""
        match value:
            case torch.Tensor():
                return self._operand(value, requires_grad)
            case torch.Size() | tuple():
                inner = ", ".join(self.source(v, requires_grad) for v in value)
                return f"({inner},)" if len(value) == 1 else f"({inner})"
            case list():
                return "[" + ", ".join(self.source(v, requires_grad) for v in value) + "]"
            case dict():
                return "{" + ", ".join(f"{k!r}: {self.source(v, requires_grad)}" for k, v in value.items()) + "}"
            case torch.nn.TransformerEncoderLayer():
                return encoder_layer(value)
            case float() if value in (float("inf"), float("-inf")):
                return f"float('{value}')"
            case bool() | int() | float() | str() | None:
                return repr(value)
            case torch.dtype():
                return str(value)
        if type(value).__name__ == "LinearCrossEntropyOptions":
            return f"torch.nn.{value!r}"
        for module, prefix in ((torch.nn.functional, "torch.nn.functional"), (torch, "torch")):
            name = getattr(value, "__name__", "")
            if getattr(module, name, None) is value:
                return f"{prefix}.{name}"
        raise TypeError(f"no source for {type(value)}")

    def arguments(self, args: Any, kwargs: Any, requires_grad: bool | None = None) -> str:
        """The arguments of a call."""
        parts = [self.source(a, requires_grad) for a in args]
        return ", ".join([*parts, *(f"{k}={self.source(v, requires_grad)}" for k, v in kwargs.items())])

    def _operand(self, tensor: torch.Tensor, requires_grad: bool | None) -> str:
        if id(tensor) not in self.sources:
            name = f"operand{len(self.operands)}"
            flag = tensor.requires_grad if requires_grad is None else requires_grad and tensor.requires_grad
            self.operands[name] = tensor.detach().clone().requires_grad_(flag)
            self.sources[id(tensor)] = name
            self.kept.append(tensor)
        return self.sources[id(tensor)]


def creation(tensor: torch.Tensor) -> str:
    """An expression that makes a tensor of the same shape, dtype and flags."""
    flags = f"dtype={tensor.dtype}" + (", requires_grad=True" if tensor.requires_grad else "")
    if tensor.layout is not torch.strided:
        return f"torch.zeros({tuple(tensor.shape)}, {flags}, layout={tensor.layout})"
    if tensor.is_contiguous():
        return f"torch.zeros({tuple(tensor.shape)}, {flags})"
    return f"torch.empty_strided({tuple(tensor.shape)}, {tensor.stride()}, {flags})"


def encoder_layer(layer: torch.nn.TransformerEncoderLayer) -> str:
    """The call that makes such a layer."""
    activation = "gelu" if layer.activation is torch.nn.functional.gelu else "relu"
    given = (
        layer.linear1.in_features,
        layer.self_attn.num_heads,
        layer.linear1.out_features,
        layer.dropout.p,
        activation,
        layer.norm1.eps,
        layer.self_attn.batch_first,
        layer.norm_first,
        layer.linear1.bias is not None,
    )
    return f"torch.nn.TransformerEncoderLayer{given!r}"


def paths(value: Any, path: str) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors in a value, each with the expression that leads to it."""
    match value:
        case torch.Tensor():
            yield path, value
        case dict():
            for key, inner in value.items():
                yield from paths(inner, f"{path}[{key!r}]")
        case tuple() | list():
            for index, inner in enumerate(value):
                yield from paths(inner, f"{path}[{index}]")


def lines(root: Node | None, label: Callable[[Node], str], children: Callable[[Node], list[Node]]) -> list[str]:
    """A graph in the order of a walk, a line for each node: its number, its label, and the numbers of its children."""
    numbers: dict[Node, int] = {}
    order: list[Node] = [] if root is None else [root]
    for node in order:
        if node in numbers:
            continue
        numbers[node] = len(numbers)
        order += children(node)
    return [f"{n} {label(node)} {[numbers[child] for child in children(node)]}" for node, n in numbers.items()]
