"""Calls of torch's operators, from the sample inputs that torch ships, as text over named operands.

A case of `torch.add` is the text `torch.add(t0, t1, alpha=2)` with two tensors. Torch runs the text on those tensors;
the analyzer reads it behind lines that make tensors of the same shapes, dtypes and flags.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.testing._internal.common_methods_invocations import op_db

DTYPES = (torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool)
"""The first of these that an operator takes is sampled in full, the others with a few samples."""

_SPELLED = {torch.float16, torch.bfloat16, torch.complex128, torch.uint8, torch.int8, torch.int16, torch.int32, *DTYPES}
_INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.matmul: "@", operator.and_: "&", operator.or_: "|",
    operator.xor: "^", operator.lshift: "<<", operator.rshift: ">>", operator.eq: "==", operator.ne: "!=",
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.iadd: "+=", operator.isub: "-=", operator.imul: "*=", operator.itruediv: "/=", operator.ifloordiv: "//=",
    operator.imod: "%=", operator.ipow: "**=", operator.imatmul: "@=", operator.iand: "&=", operator.ior: "|=",
    operator.ixor: "^=", operator.ilshift: "<<=", operator.irshift: ">>=",
}  # fmt: skip
_PREFIX = {operator.neg: "-", operator.invert: "~", operator.pos: "+"}


class UnspellableError(Exception):
    """An argument that no literal makes, or a call that has no name."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Which operands require grad (`leaf`: being leaves), and whether grad mode is on."""

    requires: tuple[int, ...] = ()
    leaf: bool = False
    grad: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """`call` binds `r`; `form` is `function`, `method`, `in place`, `operator` or `out`."""

    operator: str
    form: str
    call: str
    operands: tuple[torch.Tensor, ...] = field(compare=False)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for cases of which the analyzer sees no difference."""
        return (self.form, self.call, tuple((t.shape, t.stride(), t.dtype) for t in self.operands))

    def flags(self) -> Iterator[Flags]:
        """The ways of requiring grad in which the case is run."""
        target = self.call.partition("out=")[2]
        floats = (i for i, t in enumerate(self.operands) if t.is_floating_point() or t.is_complex())
        able = tuple(i for i in floats if f"t{i}" not in target)
        yield Flags()
        if not able:
            return
        yield Flags(able)
        if self.form == "out":
            return
        if len(able) > 1:
            yield from (Flags((i,)) for i in able[:4])
        yield Flags(able, grad=False)
        if self.form in ("function", "in place"):
            yield Flags(able, leaf=True)

    def program(self, flags: Flags) -> str:
        """The whole program, as the analyzer reads it."""
        lines = ["import torch"]
        for i, tensor in enumerate(self.operands):
            made = _maker(tensor)
            if i not in flags.requires:
                lines.append(f"t{i} = {made}")
            elif flags.leaf:
                lines.append(f"t{i} = {made}.requires_grad_()")
            else:
                lines += [f"leaf{i} = {made}.requires_grad_()", f"t{i} = leaf{i}.clone()"]
        lines += [self.call] if flags.grad else ["with torch.no_grad():", f"    {self.call}"]
        return "\n".join(lines) + "\n"


def _maker(tensor: torch.Tensor) -> str:
    if not tensor.is_contiguous():
        return f"torch.empty_strided({tuple(tensor.shape)}, {tensor.stride()}, dtype={tensor.dtype})"
    random = tensor.is_floating_point() or tensor.is_complex()
    return f"torch.{'randn' if random else 'zeros'}({tuple(tensor.shape)}, dtype={tensor.dtype})"


def operators() -> list[Any]:
    """The entries of `op_db` that a CPU can run."""
    return [info for info in op_db if not info.name.startswith("jiterator")]


def cases(info: Any, most: int, dtypes: int = len(DTYPES)) -> Iterator[Case]:
    """The cases of one operator, none twice: `most` samples of its first dtype, a few of each other."""
    seen: set[tuple[object, ...]] = set()
    takes = [dtype for dtype in DTYPES if dtype in info.dtypes] or list(info.dtypes)[:1]
    for order, dtype in enumerate(takes[:dtypes]):
        torch.manual_seed(0)
        # Not `info.sample_inputs`: that reads the source of every caller on the stack, ten times the cost.
        samples = info.sample_inputs_func(info, "cpu", dtype, requires_grad=False)
        for sample in itertools.islice(samples, most if order == 0 else 3):
            for case in _forms(info, sample):
                if case.key not in seen:
                    seen.add(case.key)
                    yield case


def _forms(info: Any, sample: Any) -> Iterator[Case]:
    name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
    makers: list[tuple[str, Callable[[_Speller], str]]] = [("function", lambda s: _function(s, info, sample))]
    if isinstance(sample.input, torch.Tensor):
        for form, variant in (("method", info.method_variant), ("in place", info.inplace_variant)):
            if variant is not None:
                makers.append((form, lambda s, variant=variant: _method(s, variant, sample)))  # type: ignore[misc]
        if len(sample.args) <= 1 and not sample.kwargs:
            for variant in (info.operator_variant, info.inplace_operator_variant):
                if variant in _INFIX or variant in _PREFIX:
                    makers.append(("operator", lambda s, variant=variant: _operator(s, variant, sample)))  # type: ignore[misc]
    if info.supports_out:
        makers.append(("out", lambda s: _out(s, info, sample)))
    for form, make in makers:
        speller = _Speller()
        try:
            call = make(speller)
        except UnspellableError:
            continue
        yield Case(name, form, call, tuple(speller.operands))


def _function(speller: _Speller, info: Any, sample: Any) -> str:
    found = _named(info)
    if found is not None:
        return f"r = {found}({speller.arguments((sample.input, *sample.args), sample.kwargs)})"
    return f"r = {_recorded(speller, info, sample)}"


def _named(info: Any) -> str | None:
    """The operator's own name, if what it leads to is what the samples are for."""
    value: Any = torch
    name = info.name.removeprefix("torch.")
    for part in name.split("."):
        value = getattr(value, part, None)
    return f"torch.{name}" if value is not None and value is info.op else None


def _recorded(speller: _Speller, info: Any, sample: Any) -> str:
    """What a nameless wrapper calls: the first of torch's functions that a mode sees."""
    calls: list[tuple[Any, Any, Any]] = []

    class Mode(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append((func, args, kwargs or {}))
            with torch._C.DisableTorchFunction():
                return func(*args, **(kwargs or {}))

    value, args, kwargs = _copied(sample.input), _copied(sample.args), _copied(sample.kwargs)
    try:
        with torch.no_grad(), Mode():
            info.op(value, *args, **kwargs)
    except Exception as error:
        raise UnspellableError from error
    # A wrapper that seeds the generators asks the result for its device.
    calls = [call for call in calls if resolve_name(call[0]) != "torch.Tensor.device.__get__"]
    if len(calls) != 1:
        raise UnspellableError
    func, args, kwargs = calls[0]
    return _called(speller, func, args, kwargs)


def _called(speller: _Speller, func: Any, args: Any, kwargs: Any) -> str:
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


def _method(speller: _Speller, variant: Any, sample: Any) -> str:
    name = getattr(variant, "__name__", "<lambda>")
    if not hasattr(torch.Tensor, name):
        raise UnspellableError
    if name == "__getitem__":
        return f"r = {speller.value(sample.input)}[{speller.index(sample.args[0])}]"
    receiver = speller.value(sample.input)
    return f"r = {receiver}.{name}({speller.arguments(sample.args, sample.kwargs)})"


def _operator(speller: _Speller, variant: Any, sample: Any) -> str:
    left = speller.value(sample.input)
    if variant in _PREFIX:
        if sample.args:
            raise UnspellableError
        return f"r = {_PREFIX[variant]}{left}"
    if len(sample.args) != 1:
        raise UnspellableError
    symbol = _INFIX[variant]
    right = speller.value(sample.args[0])
    if symbol.endswith("=") and symbol not in ("==", "!=", "<=", ">="):
        return f"{left} {symbol} {right}; r = {left}"
    return f"r = {left} {symbol} {right}"


def _out(speller: _Speller, info: Any, sample: Any) -> str:
    name = _named(info)
    if name is None:
        raise UnspellableError
    arguments = speller.arguments((sample.input, *sample.args), sample.kwargs)
    try:
        result = info.op(_copied(sample.input), *_copied(sample.args), **_copied(sample.kwargs))
    except Exception as error:
        raise UnspellableError from error
    if isinstance(result, tuple) and all(isinstance(item, torch.Tensor) for item in result):
        target = speller.value(tuple(torch.empty_like(item) for item in result))
    elif isinstance(result, torch.Tensor):
        target = speller.value(torch.empty_like(result))
    else:
        raise UnspellableError
    return f"r = {name}({arguments}, out={target})"


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, tuple | list) and not isinstance(value, torch.Size):
        return type(value)(_copied(item) for item in value)
    return value


class _Speller:
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
        if value is Ellipsis:
            return "..."
        raise UnspellableError

    def _tensor(self, tensor: torch.Tensor) -> str:
        if tensor.layout is not torch.strided or tensor.dtype not in _SPELLED or type(tensor) is not torch.Tensor:
            raise UnspellableError
        if id(tensor) not in self._names:
            self._names[id(tensor)] = f"t{len(self.operands)}"
            self._kept.append(tensor)
            plain = tensor.detach().resolve_conj().resolve_neg()
            dense = torch.ops.aten.is_non_overlapping_and_dense(plain)
            self.operands.append(plain.clone() if dense else plain.contiguous().clone())
        return self._names[id(tensor)]
