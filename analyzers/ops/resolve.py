"""Which operator a Python call reaches: the overload choice of torch's argument parser, on kinds of arguments.

A *kind* is what the caller knows of one argument: `tensor`, `int`, `float`, `bool`, `complex`, `str`, `none`, `dtype`,
`device`, `layout`, `memory_format`, `generator`, `storage`, `list:` followed by the kind of the elements (`list:int`;
a tuple counts as a list), `list:empty`, `object` for anything else that is known, and `unknown`, which may be any of
them.

Torch tries the signatures of a callable in a fixed order and takes the first that fits; `data/signatures.tsv` holds
them in that order. An unknown argument makes a signature a candidate without ending the search:

    resolve("torch.add", ["tensor", "int"], {})      ->  add.Tensor: in arithmetic a number fits a Tensor parameter
    resolve("Tensor.view", ["tensor", "int", "int"], {})  ->  view, `size` bound to all arguments from position 1 on
    resolve("torch.pow", ["tensor", "unknown"], {})  ->  pow.Tensor_Tensor, ambiguous with pow.Tensor_Scalar

A method's receiver is its first positional argument.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal, TypeAlias

from analyzers.ops import table
from analyzers.ops.table import Row

Kind: TypeAlias = str
Source: TypeAlias = tuple[Literal["arg", "rest"], int] | tuple[Literal["kw"], str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """
    binding: the row's argument name -> where its value stands in the call: `("arg", i)`, `("kw", name)`, or `("rest",
        i)` for all positional arguments from the i-th on, which make one list. An out= tuple is bound to each of the
        row's outputs. `requires_grad` of a factory function is bound though it is no argument of the row.
    candidates: every row that may be meant, `row` first.
    coerced: a tensor stands where a number is wanted.
    """

    row: Row
    binding: Mapping[str, Source]
    candidates: tuple[Row, ...]
    coerced: bool

    @property
    def ambiguous(self) -> bool:
        return len(self.candidates) > 1


@dataclass(frozen=True, slots=True)
class Parameter:
    """`name` is the keyword in Python, `target` the row's argument."""

    name: str
    target: str
    type: str
    optional: bool
    allows_none: bool
    kwarg_only: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """`receiver` is the row's argument that a method is called on."""

    row: str
    out_row: str | None
    receiver: str | None
    parameters: tuple[Parameter, ...]

    @property
    def max_positional(self) -> int:
        return sum(not p.kwarg_only for p in self.parameters)


@cache
def python_names() -> frozenset[str]:
    """Every callable, property and operator method bound to an operator: `torch.add`, `Tensor.add_`, `Tensor.T`, ..."""
    return frozenset(_lines())


def resolve(callable_: str, args: Sequence[Kind], kwargs: Mapping[str, Kind]) -> Resolution | None:
    """None if torch has no such binding, or if the call fits none of its signatures (torch then raises TypeError)."""
    found: list[tuple[Row, dict[str, Source], Fit]] = []
    for signature in signatures(callable_):
        fit, binding = _match(signature, args, kwargs)
        row = table.row(_chosen(signature, kwargs))
        if fit == "no" or row is None:
            continue
        found.append((row, _bind_outputs(row, binding), fit))
        if fit == "yes":
            break
    plain = [entry for entry in found if entry[2] != "coerced"] or found
    if not plain:
        return None
    row, binding, fit = plain[0]
    return Resolution(row, binding, tuple(dict.fromkeys(row for row, _, _ in plain)), fit == "coerced")


@cache
def signatures(callable_: str) -> tuple[Signature, ...]:
    name = callable_.removeprefix("torch.ops.")
    if name.startswith("aten."):
        return _schemas(name.removeprefix("aten."))
    line = _lines().get(callable_)
    if line is None:
        return ()
    records = json.loads(line)
    if isinstance(records, str):
        return signatures(records)
    return tuple(_signature(callable_.startswith("Tensor."), *record) for record in records)


@cache
def _lines() -> dict[str, str]:
    text = (table.DATA / "signatures.tsv").read_text(encoding="utf-8")
    return {name: line for name, _, line in (entry.partition("\t") for entry in text.splitlines())}


def _signature(
    is_method: bool, row: str, out_row: str | None, text: str, renames: Mapping[str, str] = MappingProxyType({})
) -> Signature:
    parsed, _ = table.parse_schema(f"({text}) -> ()")
    parameters = tuple(
        Parameter(
            name="input" if a.name == "self" and a.type == "Tensor" and not is_method else a.name,
            target=renames.get(a.name, a.name),
            type=a.type.removesuffix("?"),
            optional=a.default is not None,
            allows_none=a.type.endswith("?") or a.default == "None",
            kwarg_only=a.kwarg_only,
        )
        for a in parsed
    )
    if is_method:
        return Signature(row, out_row, parameters[0].target, parameters[1:])
    return Signature(row, out_row, None, parameters)


def _schemas(name: str) -> tuple[Signature, ...]:
    """`aten.mul` or `aten.mul.Tensor`: the schemas themselves, those that write to an out= argument last."""
    base = name.split(".", 1)[0]
    chosen = [r for r in table.rows(base) if name == base or name in (r.name, f"{r.name}.default")]
    return tuple(
        Signature(
            row=r.name,
            out_row=None,
            receiver=None,
            parameters=tuple(
                Parameter(
                    a.name, a.name, a.type.removesuffix("?"), a.default is not None, a.type.endswith("?"), a.kwarg_only
                )
                for a in r.args
            ),
        )
        for r in sorted(chosen, key=lambda r: r.out)
    )


def _chosen(signature: Signature, kwargs: Mapping[str, Kind]) -> str:
    if signature.out_row is not None and kwargs.get("out", "none") != "none":
        return signature.out_row
    return signature.row


def _bind_outputs(row: Row, binding: dict[str, Source]) -> dict[str, Source]:
    if row.out and "out" in binding:
        source = binding.pop("out")
        binding.update((a.name, source) for a in row.args if a.written and a.kwarg_only)
    return binding


_NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}


def _match(signature: Signature, args: Sequence[Kind], kwargs: Mapping[str, Kind]) -> tuple["Fit", dict[str, Source]]:
    """FunctionSignature::parse of python_arg_parser.cpp; the binding means nothing if the call does not fit."""
    binding: dict[str, Source] = {}
    position = 0
    if signature.receiver is not None:
        if not args or args[0] not in ("tensor", "unknown"):
            return "no", binding
        binding[signature.receiver] = ("arg", 0)
        position = 1
    first = position
    parameters = signature.parameters
    takes_rest = signature.max_positional == 1 and parameters[0].type.startswith("int[")
    if len(args) - first > signature.max_positional and not takes_rest:
        return "no", binding
    numbers_fit_tensors = signature.row.split(".", 1)[0] in _NUMBERS_AS_TENSORS
    fits: list[Fit] = []
    used: set[str] = set()
    for parameter in parameters:
        source: Source
        if position < len(args):
            if parameter.kwarg_only:
                return "no", binding
            kind, source = args[position], ("arg", position)
            position += 1
        else:
            keyword = next((n for n in (parameter.name, *_NUMPY_NAMES.get(parameter.name, ())) if n in kwargs), None)
            if keyword is None:
                if not parameter.optional:
                    return "no", binding
                continue
            kind, source = kwargs[keyword], ("kw", keyword)
            used.add(keyword)
        fit = _fits(parameter, kind, numbers_fit_tensors)
        rest = args[first:]
        if takes_rest and source == ("arg", first) and (fit == "no" or len(rest) > 1):
            # x.view(2, 3): all positional arguments are one list of ints.
            fit = _worst([_fits_element(kind, "int") for kind in rest])
            source, position = ("rest", first), len(args)
        fits.append(fit)
        binding[parameter.target] = source
    if position < len(args) or used != set(kwargs):
        return "no", binding
    return _worst(fits), binding


# `coerced`: a tensor stands where a number is wanted. Torch takes it if it has one element and needs no gradient, but
# only after the signatures that want a tensor there.
Fit: TypeAlias = Literal["yes", "maybe", "coerced", "no"]


def _worst(fits: Sequence[Fit]) -> Fit:
    order: tuple[Fit, ...] = ("no", "coerced", "maybe")
    return next((fit for fit in order if fit in fits), "yes")


# should_allow_numbers_as_tensors of python_arg_parser.cpp.
_ARITHMETIC = ("add", "div", "divide", "mul", "multiply", "sub", "subtract", "true_divide", "floor_divide")
_NUMBERS_AS_TENSORS = {*_ARITHMETIC, *(f"{name}_" for name in _ARITHMETIC), "to", "_to_copy", "copy_", "copy", "_conj"}

# What each scalar parameter type takes without question.
_TAKES: dict[str, tuple[Kind, ...]] = {
    "Tensor": ("tensor",),
    "Scalar": ("int", "float", "bool", "complex"),
    "float": ("int", "float", "bool"),
    "int": ("int",),
    "bool": ("bool",),
    "str": ("str",),
    "ScalarType": ("dtype",),
    "Device": ("device", "str", "int"),
    "Layout": ("layout",),
    "MemoryFormat": ("memory_format",),
    "Generator": ("generator",),
    "Dimname": ("str",),
    "Storage": ("storage",),
}
_NUMBERS = ("Scalar", "float", "int", "bool")


def _fits(parameter: Parameter, kind: Kind, numbers_fit_tensors: bool) -> Fit:
    if kind == "none":
        return "yes" if parameter.allows_none else "no"
    if kind == "unknown":
        return "maybe"
    element, bracket, size = parameter.type.partition("[")
    element = element.removesuffix("?")
    if not bracket:
        if element == "Tensor" and numbers_fit_tensors and kind in _TAKES["Scalar"]:
            return "yes"
        return _fits_element(kind, element)
    if kind == "list:empty":
        return "yes"
    if kind.startswith("list:"):
        return _fits_element(kind.removeprefix("list:"), element)
    # dim=1 for dim: int[1].
    return _fits_element(kind, element) if size != "]" and element in ("int", "float", "Scalar", "Dimname") else "no"


def _fits_element(kind: Kind, wanted: str) -> Fit:
    if kind == "unknown":
        return "maybe"
    if kind in _TAKES.get(wanted, ()):
        return "yes"
    return "coerced" if kind == "tensor" and wanted in _NUMBERS else "no"
