"""Calls as text: what a wrapper of torch's samples calls, and the arguments that a literal makes.

The tensors among the arguments become operands, `t0`, `t1`, and so on. A wrapper that calls several functions becomes
several statements, with names `v0`, `v1` for what is handed on:

    lambda a, b: torch.linalg.pinv(a @ b.mT)     # v0 = t1.mT; v1 = t0 @ v0; r = torch.linalg.pinv(v1)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode, resolve_name

DTYPES = (torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool)
"""The first of these that an operator takes is sampled in full, the others with a few samples."""

_SPELLED = {
    torch.float16, torch.bfloat16, torch.complex128, torch.uint8, torch.int8, torch.int16, torch.int32,
    torch.float8_e4m3fn, torch.float8_e5m2, *DTYPES,
}  # fmt: skip
_UNSEEN = {"torch.Tensor.device.__get__", "torch.Tensor.shape.__get__"}
"""What wrappers ask of tensors without calling an operator."""
_PYTHON = ("pca_lowrank", "svd_lowrank")
"""Functions in Python, which hide from a mode behind their parts."""


class UnspellableError(Exception):
    """An argument that no literal makes, or a call that has no name."""


def copied(value: Any) -> Any:
    """The same arguments with tensors of their own."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        return type(value)(copied(item) for item in value)
    return value


class Speller:
    """Writes arguments, and collects the tensors among them under names."""

    def __init__(self) -> None:
        self.operands: list[torch.Tensor] = []
        self._names: dict[int, str] = {}
        self._kept: list[torch.Tensor] = []

    def arguments(self, args: Any, kwargs: Any) -> str:
        return ", ".join([*map(self.value, args), *(f"{key}={self.value(item)}" for key, item in kwargs.items())])

    def index(self, value: Any) -> str:
        """What stands between the brackets of a subscript."""
        items = value if isinstance(value, tuple) else (value,)
        parts = [self._slice(item) if isinstance(item, slice) else self.value(item) for item in items]
        return ", ".join(parts) + ("," if isinstance(value, tuple) and len(items) == 1 else "") or "()"

    def _slice(self, value: slice) -> str:
        start, stop, step = ("" if part is None else self.value(part) for part in (value.start, value.stop, value.step))
        return f"{start}:{stop}" + (f":{step}" if step else "")

    def value(self, value: Any) -> str:
        match value:
            case torch.Tensor():
                return self._tensor(value)
            case None | bool() | int() | str():
                return repr(value)
            case float():
                return repr(value) if math.isfinite(value) else f'float("{value}")'
            case complex():
                return repr(value)
            case torch.dtype() | torch.layout() | torch.memory_format():
                return str(value)
            case torch.device():
                return f'torch.device("{value}")'
            case slice():
                return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"
            case list():
                return f"[{', '.join(map(self.value, value))}]"
            case tuple():
                return f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})"
            case torch.nn.PairwiseDistance():
                return f"torch.nn.PairwiseDistance({value.norm!r}, {value.eps!r}, {value.keepdim!r})"
            case torch.nn.LinearCrossEntropyOptions():
                options = {name.name: getattr(value, name.name) for name in dataclasses.fields(value)}
                return f"torch.nn.LinearCrossEntropyOptions({self.arguments((), options)})"
        if value is Ellipsis:
            return "..."
        raise UnspellableError

    def name(self, name: str, result: Any) -> None:
        """What a statement binds, for later statements."""
        if isinstance(result, torch.Tensor):
            self._names[id(result)] = name
            self._kept.append(result)
        elif isinstance(result, tuple | list):
            for i, item in enumerate(result):
                self.name(f"{name}[{i}]", item)

    def _tensor(self, tensor: torch.Tensor) -> str:
        if id(tensor) not in self._names:
            if tensor.layout is not torch.strided or tensor.dtype not in _SPELLED or type(tensor) is not torch.Tensor:
                raise UnspellableError
            self._names[id(tensor)] = f"t{len(self.operands)}"
            self._kept.append(tensor)
            plain = tensor.detach().resolve_conj().resolve_neg()
            dense = torch.ops.aten.is_non_overlapping_and_dense(plain)
            self.operands.append(plain.clone() if dense else plain.contiguous().clone())
        return self._names[id(tensor)]


def recorded(speller: Speller, info: Any, sample: Any) -> str:
    """What a nameless wrapper calls, as a mode sees it."""
    texts: list[str] = []
    last: list[Any] = []

    def note(text: str, call: Callable[[], Any]) -> Any:
        name = f"v{len(texts)}"
        texts.append(text)
        with torch._C.DisableTorchFunction():
            last[:] = [call()]
        speller.name(name, last[0])
        return last[0]

    class Mode(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if resolve_name(func) in _UNSEEN:
                return func(*args, **(kwargs or {}))
            return note(_called(speller, func, args, kwargs or {}), lambda: func(*args, **(kwargs or {})))

    def spy(name: str) -> Any:
        func = getattr(torch, name)
        return lambda *args, **kwargs: note(
            f"torch.{name}({speller.arguments(args, kwargs)})", lambda: func(*args, **kwargs)
        )

    value, args, kwargs = copied(sample.input), copied(sample.args), copied(sample.kwargs)
    try:
        with torch.no_grad(), mock.patch.multiple(torch, **{name: spy(name) for name in _PYTHON}), Mode():
            returned = info.op(value, *args, **kwargs)
    except Exception as error:
        raise UnspellableError from error
    if not texts or (len(texts) > 1 and last[0] is not returned):
        raise UnspellableError
    names = [*(f"v{i}" for i in range(len(texts) - 1)), "r"]
    return "; ".join(f"{name} = {text}" for name, text in zip(names, texts, strict=True))


def _called(speller: Speller, func: Any, args: Any, kwargs: Any) -> str:
    name = getattr(func, "__name__", "")
    if name == "__get__":
        return f"{speller.value(args[0])}.{func.__self__.__name__}"
    if name == "__getitem__":
        return f"{speller.value(args[0])}[{speller.index(args[1])}]"
    if isinstance(func, torch._ops.OpOverloadPacket | torch._ops.OpOverload):
        return f"torch.ops.{func}({speller.arguments(args, kwargs)})"
    full = resolve_name(func)
    if full is None:
        raise UnspellableError
    full = full.replace("torch.functional.", "torch.")
    if full.startswith("torch.Tensor."):
        return f"{speller.value(args[0])}.{name}({speller.arguments(args[1:], kwargs)})"
    return f"{full}({speller.arguments(args, kwargs)})"
