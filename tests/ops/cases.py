"""Calls of torch's operators, from the sample inputs that torch ships, as text over named operands.

A case of `torch.add` is the text `torch.add(t0, t1, alpha=2)` with two tensors. Torch runs the text on those tensors;
the analyzer reads it behind lines that make tensors of the same shapes, dtypes and flags.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from tests.ops.extras import EXTRAS, Extra, spelled
from tests.ops.spelling import DTYPES, Speller, UnspellableError, copied, recorded

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


@dataclass(frozen=True, slots=True)
class Flags:
    """Which operands require grad (`leaf`: being leaves), whether grad mode is on, and whether the first is a view."""

    requires: tuple[int, ...] = ()
    leaf: bool = False
    grad: bool = True
    view: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """`call` binds `r`; `form` is `function`, `alias`, `method`, `in place`, `operator` or `out`.

    A `brief` case is run once, where all that can requires grad.
    """

    operator: str
    form: str
    call: str
    operands: tuple[torch.Tensor, ...] = field(compare=False)
    brief: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for cases of which the analyzer sees no difference."""
        return (self.form, self.call, tuple((t.shape, t.stride(), t.dtype) for t in self.operands))

    def flags(self) -> Iterator[Flags]:
        """The ways of requiring grad in which the case is run."""
        target = self.call.partition("out=")[2]
        floats = [i for i, t in enumerate(self.operands) if t.is_floating_point() or t.is_complex()]
        able = tuple(i for i in floats if f"t{i}" not in target)
        targets = tuple(i for i in floats if f"t{i}" in target)
        if self.brief:
            yield Flags(able)
            return
        yield Flags()
        if able:
            yield from (Flags(able), Flags(able, grad=False))
        if targets:
            yield from (Flags(targets), Flags(targets, leaf=True), Flags(targets, leaf=True, grad=False))
        if self.form == "out" or not able:
            return
        if len(able) > 1:
            yield from (Flags((i,)) for i in able[:4])
        if self.form in ("function", "in place"):
            yield Flags(able, leaf=True)
        if self.form == "in place":
            yield Flags(able, view=True)
            if 0 in able and len(able) > 1:
                yield Flags(able[1:], view=True)

    def program(self, flags: Flags) -> str:
        """The whole program, as the analyzer reads it."""
        lines = ["import hidden, torch"]
        for i in range(len(self.operands)):
            made = self.made(i)
            view = "[...]" if flags.view and i == 0 else ""
            if i not in flags.requires:
                lines.append(f"t{i} = {made}{view}")
            elif flags.leaf:
                lines.append(f"t{i} = {made}.requires_grad_()")
            else:
                lines += [f"leaf{i} = {made}.requires_grad_()", f"t{i} = leaf{i}.clone(){view}"]
        lines += [self.call] if flags.grad else ["with torch.no_grad():", f"    {self.call}"]
        return "\n".join(lines) + "\n"

    def made(self, number: int) -> str:
        """The expression that makes an operand."""
        return _maker(self.operands[number])


def _maker(tensor: torch.Tensor) -> str:
    if not tensor.is_contiguous():
        return f"torch.empty_strided({tuple(tensor.shape)}, {tensor.stride()}, dtype={tensor.dtype})"
    random = tensor.is_floating_point() or tensor.is_complex()
    maker = "empty" if "float8" in str(tensor.dtype) else "randn" if random else "zeros"
    return f"torch.{maker}({tuple(tensor.shape)}, dtype={tensor.dtype})"


def operators() -> list[Any]:
    """The entries of `op_db` that a CPU can run, and our own of what it does not sample."""
    return [info for info in op_db if not info.name.startswith("jiterator")] + EXTRAS


def name_of(info: Any) -> str:
    """An operator's name, with that of the variant where there are several."""
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name


@dataclass(slots=True)
class Tally:
    """How many samples of its first dtype torch gives, how many were spelled, and in which forms."""

    given: int = 0
    spelled: int = 0
    forms: dict[str, int] = field(default_factory=dict)


def cases(
    info: Any, most: int, dtypes: int = len(DTYPES), tally: Tally | None = None, *, rest: bool = False
) -> Iterator[Case]:
    """The cases of one operator, none twice: `most` samples of its first dtype, a few of each other.

    With `rest`, the other samples of its first dtype follow, each in one form and brief.
    """
    seen: set[tuple[object, ...]] = set()
    takes = [dtype for dtype in DTYPES if dtype in info.dtypes] or list(info.dtypes)[:1]
    for order, dtype in enumerate(takes[:dtypes]):
        torch.manual_seed(0)
        # Not `info.sample_inputs`: that reads the source of every caller on the stack, ten times the cost.
        samples = info.sample_inputs_func(info, "cpu", dtype, requires_grad=False)
        limit = 3 if order else None if rest else most
        for number, sample in enumerate(itertools.islice(samples, limit)):
            found = list(_forms(info, sample, number) if number < most else _briefly(info, sample))
            if tally is not None and order == 0:
                tally.given += 1
                tally.spelled += any(case.form == "function" for case in found)
            for case in found:
                if case.key not in seen:
                    seen.add(case.key)
                    if tally is not None:
                        tally.forms[case.form] = tally.forms.get(case.form, 0) + 1
                    yield case
        if tally is not None and order == 0:
            tally.given += sum(1 for _ in samples)


Maker = Callable[[Speller], str]

_RARE = 4
"""Only so many samples are also called by other names and with empty targets."""


def _forms(info: Any, sample: Any, number: int) -> Iterator[Case]:
    for form, make in _makers(info, sample, number):
        speller = Speller()
        try:
            call = make(speller)
        except UnspellableError:
            continue
        yield Case(name_of(info), form, call, tuple(speller.operands))


def _briefly(info: Any, sample: Any) -> Iterator[Case]:
    """The sample as a call of the function."""
    speller = Speller()
    with contextlib.suppress(UnspellableError):
        call = _function(speller, info, sample)
        yield Case(name_of(info), "function", call, tuple(speller.operands), brief=True)


def _makers(info: Any, sample: Any, number: int) -> Iterator[tuple[str, Maker]]:
    """The forms in which users write an operator, and how each is spelled."""
    yield "function", lambda s: _function(s, info, sample)
    aliases = info.aliases if number < _RARE else ()
    for alias in aliases:
        yield "alias", lambda s, alias=alias: _alias(s, alias, sample)  # type: ignore[misc]
    if number < _RARE:
        yield "alias", lambda s: _functional(s, info, sample)
    if isinstance(sample.input, torch.Tensor):
        for form, attribute in (("method", "method_variant"), ("in place", "inplace_variant")):
            for variant in (getattr(owner, attribute) for owner in (info, *aliases)):
                if variant is not None:
                    yield form, lambda s, variant=variant: _method(s, variant, sample)  # type: ignore[misc]
        yield "in place", lambda s: _in_place_function(s, info, sample)
        yield "in place", lambda s: _in_place_keyword(s, info, sample)
        if len(sample.args) <= 1 and not sample.kwargs:
            for variant in (info.operator_variant, info.inplace_operator_variant):
                if variant in _INFIX or variant in _PREFIX:
                    form = "in place" if variant is info.inplace_operator_variant else "operator"
                    yield form, lambda s, variant=variant: _operator(s, variant, sample)  # type: ignore[misc]
    if info.supports_out:
        yield "out", lambda s: _out(s, info, sample)
        if number < _RARE:
            yield "out", lambda s: _out(s, info, sample, empty=True)


def _function(speller: Speller, info: Any, sample: Any) -> str:
    if isinstance(info, Extra):
        return spelled(speller, sample)
    found = _named(info)
    if found is not None:
        return f"r = {found}({speller.arguments((sample.input, *sample.args), sample.kwargs)})"
    return recorded(speller, info, sample)


def _named(info: Any) -> str | None:
    """The operator's own name, if what it leads to is what the samples are for."""
    name = f"torch.{info.name.removeprefix('torch.')}"
    value = _lookup(name)
    return name if value is not None and value is info.op else None


def _lookup(name: str) -> Any:
    value: Any = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def _alias(speller: Speller, alias: Any, sample: Any) -> str:
    if not callable(alias.op):
        raise UnspellableError
    name = alias.name.removeprefix("torch.")
    return f"r = torch.{name}({speller.arguments((sample.input, *sample.args), sample.kwargs)})"


def _functional(speller: Speller, info: Any, sample: Any) -> str:
    """`torch.nn.functional.softmax(t0, 0)`, which leads to what has samples as `torch.softmax`."""
    name = f"torch.nn.functional.{info.name}"
    if "." in info.name or not callable(_lookup(name)):
        raise UnspellableError
    return f"r = {name}({speller.arguments((sample.input, *sample.args), sample.kwargs)})"


def _in_place_function(speller: Speller, info: Any, sample: Any) -> str:
    """`torch.relu_(t0)`, `torch.nn.functional.relu_(t0)`."""
    name = _named(info)
    if name is None or not callable(_lookup(f"{name}_")):
        raise UnspellableError
    return f"r = {name}_({speller.arguments((sample.input, *sample.args), sample.kwargs)})"


def _in_place_keyword(speller: Speller, info: Any, sample: Any) -> str:
    """`torch.nn.functional.relu(t0, inplace=True)`."""
    name = f"torch.{info.name}"
    func = _lookup(name) if info.name.startswith("nn.functional.") else None
    if not inspect.isfunction(func) or "inplace" not in inspect.signature(func).parameters:
        raise UnspellableError
    arguments = speller.arguments((sample.input, *sample.args), {**sample.kwargs, "inplace": True})
    return f"r = {name}({arguments})"


def _method(speller: Speller, variant: Any, sample: Any) -> str:
    name = getattr(variant, "__name__", "<lambda>")
    if not hasattr(torch.Tensor, name):
        raise UnspellableError
    if name == "__getitem__":
        return f"r = {speller.value(sample.input)}[{speller.index(sample.args[0])}]"
    receiver = speller.value(sample.input)
    return f"r = {receiver}.{name}({speller.arguments(sample.args, sample.kwargs)})"


def _target(result: torch.Tensor, empty: bool) -> torch.Tensor:
    return torch.empty(0, dtype=result.dtype) if empty else torch.empty_like(result)


def _operator(speller: Speller, variant: Any, sample: Any) -> str:
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


def _out(speller: Speller, info: Any, sample: Any, *, empty: bool = False) -> str:
    name = _named(info)
    if name is None:
        raise UnspellableError
    arguments = speller.arguments((sample.input, *sample.args), sample.kwargs)
    try:
        result = info.op(copied(sample.input), *copied(sample.args), **copied(sample.kwargs))
    except Exception as error:
        raise UnspellableError from error
    if isinstance(result, tuple) and all(isinstance(item, torch.Tensor) for item in result):
        target = speller.value(tuple(_target(item, empty) for item in result))
    elif isinstance(result, torch.Tensor):
        target = speller.value(_target(result, empty))
    else:
        raise UnspellableError
    return f"r = {name}({arguments}, out={target})"
