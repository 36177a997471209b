"""Write `analyzers/ops/data/`: torch's operators as text, read from the wheel by the code that generates torch itself.

    python tools/generate_ops.py            # writes rows.tsv and signatures.tsv
    python tools/generate_ops.py --check    # fails if the committed files are stale

- `rows.tsv`: one line per operator base name, `name<TAB>json`; the json is the list of its overloads
  (`analyzers.ops.table`).
- `signatures.tsv`: one line per Python callable, `name<TAB>json`; the json is the list of its signatures in the order
  in which torch's argument parser tries them, or the name of the callable it is another name for
  (`analyzers.ops.resolve`).

Schemas come from `native_functions.yaml`; what a gradient needs from `derivatives.yaml`, and when a saved tensor is
really saved follows `emit_body` of `gen_variable_type.py`, whose rules `_saved` and `_guard` restate. Composite
operators have no entry there: whether one only forwards to a single primitive, and whether it returns a view, is
observed on small tensors (`observe`).
"""

import argparse
import importlib
import itertools
import json
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torchgen
from torch.utils._python_dispatch import TorchDispatchMode
from torchgen.api import cpp
from torchgen.api.autograd import (
    dispatch_strategy,
    gen_differentiable_outputs,
    is_differentiable,
    match_differentiability_info,
)
from torchgen.api.types import BaseCType, ListCType, OptionalCType, VectorCType, iTensorListRefT, tensorListT, tensorT
from torchgen.context import native_function_manager
from torchgen.gen import parse_native_yaml
from torchgen.model import DispatchKey, SchemaKind, Variant
from torchgen.packaged.autograd import gen_python_functions as python
from torchgen.packaged.autograd.gen_inplace_or_view_type import get_base_name, get_view_info, is_tensor_list_type
from torchgen.packaged.autograd.gen_trace_type import MANUAL_AUTOGRAD
from torchgen.packaged.autograd.gen_variable_type import DONT_REQUIRE_DERIVATIVE, GRADIENT_IMPLEMENTED_FOR_COMPLEX
from torchgen.packaged.autograd.load_derivatives import load_derivatives

PACKAGED = Path(torchgen.__file__).parent / "packaged"
NATIVE = str(PACKAGED / "ATen/native/native_functions.yaml")
TAGS = str(PACKAGED / "ATen/native/tags.yaml")
DERIVATIVES = str(PACKAGED / "autograd/derivatives.yaml")
DEPRECATED = str(PACKAGED / "autograd/deprecated.yaml")
DATA = Path(__file__).parent.parent / "analyzers/ops/data"

SAVED_TENSOR = (BaseCType(tensorT), OptionalCType(BaseCType(tensorT)))
SAVED_LIST = (
    BaseCType(tensorListT),
    ListCType(OptionalCType(BaseCType(tensorT))),
    BaseCType(iTensorListRefT),
    VectorCType(BaseCType(tensorT)),
)

# Written by hand in VariableTypeManual.cpp, so no yaml speaks of them.
MANUAL_ROWS: dict[str, dict[str, Any]] = {
    "copy_": {"kind": "derivative", "grad_fn": "CopyBackwards", "differentiable": ["self", "src"]},
    "detach": {"kind": "no-grad", "view": "view"},
    "detach_": {"kind": "no-grad", "bumps": False},
    "requires_grad_": {"kind": "no-grad", "bumps": False},
    "_fw_primal": {"kind": "derivative", "grad_fn": "_FwPrimalBackward0", "differentiable": ["self"], "view": "view"},
}


def rows() -> dict[str, list[dict[str, Any]]]:
    """Base name -> one record per overload, in the order of native_functions.yaml."""
    infos, _ = load_derivatives(DERIVATIVES, NATIVE, TAGS)
    parsed = parse_native_yaml(NATIVE, TAGS)
    cpu = parsed.backend_indices[DispatchKey.CPU]
    table: dict[str, list[dict[str, Any]]] = {}
    for fn in match_differentiability_info(parsed.native_functions, infos):
        with native_function_manager(fn.func):
            record = _row(fn, cpu.has_kernel(fn.func))
        table.setdefault(str(fn.func.func.name.name), []).append(record)
    observe(table)
    return dict(sorted(table.items()))


def observe(table: dict[str, list[dict[str, Any]]]) -> None:
    """Fill in `alias_of` and `view` of the composite rows, from what they do on small tensors."""
    torch.manual_seed(0)
    for base, records in table.items():
        for record in records:
            if (
                record["kind"] != "composite"
                or "!) out" in record["schema"]
                or not record["schema"].startswith("(Tensor")
            ):
                continue
            aliases = "(a" in record["schema"].split(" -> ")[0] and "(a!" not in record["schema"]
            record.pop("view", None)
            if aliases:
                record["view"] = "maybe"
            overload = getattr(getattr(torch.ops.aten, base, None), record["overload"] or "default", None)
            if overload is None or base.startswith("_") or _UNSAFE.search(base):
                continue
            forwards: set[str | None] = set()
            views: set[str | None] = set()
            for arguments in _samples(overload._schema):
                try:
                    forwards.add(_forwards_to(overload, arguments))
                    if aliases:
                        views.add(_view_of(overload, arguments))
                    elif None in forwards:
                        break
                except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
                    continue
            if len(forwards) == 1 and (target := forwards.pop()) is not None:
                record["alias_of"] = target
            if aliases and len(views) == 1 and (view := views.pop()) is not None:
                record["view"] = view


# Internals that do not check their arguments, what touches more than its arguments, and what refuses some dtypes.
_UNSAFE = re.compile(
    "fbgemm|quantized|fake_quant|mkldnn|cudnn|miopen|lstm|gru|rnn|sparse|chalf|contiguous|^to$|_data|rename|retain_grad|reshape_as|float_power_"
)
_SHAPES = ((), (3,), (3, 3), (2, 3, 3))


def _samples(schema: Any) -> Iterator[list[Any]]:
    """Arguments for a schema, with a few values for whatever is no tensor.

    The tensors have one shape and are contiguous; or the first is neither contiguous nor of double precision, and the
    others broadcast to it.
    """
    for shape in _SHAPES:
        for plain in (True, False) if len(shape) > 1 else (True,):
            choices = [_choices(argument, shape, plain, i == 0) for i, argument in enumerate(schema.arguments)]
            yield from (list(values) for values in itertools.islice(itertools.product(*choices), 8))


def _choices(argument: Any, shape: tuple[int, ...], plain: bool, first: bool) -> list[Any]:
    if plain:
        tensor = torch.rand(shape, dtype=torch.float64)
    else:
        tensor = torch.rand(shape).mT if first else torch.rand(shape[-1:])
    size = list(shape) or [1]
    values: dict[str, list[Any]] = {
        "Tensor": [tensor],
        "Tensor[]": [[tensor, tensor.clone()]],
        "int": [0, 1, -1],
        "int[]": [size, [0], [-1]],
        "number": [0.5, 2],
        "float": [0.5],
        "bool": [False, True],
        "ScalarType": [torch.float64, torch.float32],
        "Device": [torch.device("cpu")],
    }
    text = str(argument.type).replace("List[Tensor]", "Tensor[]").replace("List[int]", "int[]")
    text = text.removeprefix("Optional[").removesuffix("]") if text.startswith("Optional[") else text
    found = values.get("ScalarType" if argument.name == "dtype" else text, [])
    return [argument.default_value, *found] if argument.has_default_value() else found


class _Recorder(TorchDispatchMode):  # type: ignore[misc]
    """The calls that reach the backends."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, list[Any]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func, _all_arguments(func._schema, args, kwargs or {})))
        return func(*args, **(kwargs or {}))


def _all_arguments(schema: Any, args: Any, kwargs: Any) -> list[Any]:
    given = dict(zip([a.name for a in schema.arguments], args, strict=False)) | kwargs
    return [given.get(a.name, a.default_value) for a in schema.arguments]


def _call(overload: Any, arguments: list[Any]) -> Any:
    pairs = list(zip(overload._schema.arguments, arguments, strict=True))
    return overload(*[v for a, v in pairs if not a.kwarg_only], **{a.name: v for a, v in pairs if a.kwarg_only})


def _forwards_to(overload: Any, arguments: list[Any]) -> str | None:
    """The one operator that is called with all our arguments in our order, and defaults after them."""
    arguments = [a.clone() if isinstance(a, torch.Tensor) and overload._schema.is_mutable else a for a in arguments]
    recorder = _Recorder()
    with torch.no_grad(), recorder:
        _call(overload, arguments)
    if len(recorder.calls) != 1:
        return None
    ((func, theirs),) = recorder.calls
    extra = zip(func._schema.arguments[len(arguments) :], theirs[len(arguments) :], strict=True)
    same = len(theirs) >= len(arguments) and all(map(_same, arguments, theirs))
    plain = all(a.has_default_value() and _same(a.default_value, value) for a, value in extra)
    if not (same and plain and len(func._schema.returns) == len(overload._schema.returns)):
        return None
    return str(func._schema.name).removeprefix("aten::") + f".{func._schema.overload_name}".rstrip(".")


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, torch.Tensor) or isinstance(theirs, torch.Tensor):
        return ours is theirs
    if isinstance(ours, list) and isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


def _view_of(overload: Any, arguments: list[Any]) -> str | None:
    if overload._schema.is_mutable:
        return None
    given = [a.clone().requires_grad_() if isinstance(a, torch.Tensor) else a for a in arguments]
    result = _call(overload, given)
    tensors = [t for t in (result if isinstance(result, (list, tuple)) else [result]) if isinstance(t, torch.Tensor)]
    if not tensors or any(t._base is not given[0] for t in tensors):
        return None
    multi = torch._C._autograd.CreationMeta.MULTI_OUTPUT_NODE
    return "multi" if torch._C._autograd._get_creation_meta(tensors[0]) == multi else "view"


def _row(fn: Any, has_cpu_kernel: bool) -> dict[str, Any]:
    f = fn.func
    schema = str(f.func)
    record: dict[str, Any] = {
        "overload": f.func.name.overload_name,
        "schema": schema[schema.index("(") :].replace("SymInt", "int"),
    }
    variants = ("m" if Variant.method in f.variants else "") + ("f" if Variant.function in f.variants else "")
    record["variants"] = variants
    if get_view_info(f) is not None and f.func.kind() == SchemaKind.functional:
        record["view"] = "multi" if any(is_tensor_list_type(r.type) for r in f.func.returns) else "view"
    if cpp.name(f.func) in MANUAL_AUTOGRAD:
        record.update(MANUAL_ROWS.get(str(f.func.name), {"kind": "no-grad"}))
        return record
    # A CompositeImplicitAutograd kernel beats the generated autograd kernel on backends without a kernel of their own.
    composite = f.has_composite_implicit_autograd_kernel and not has_cpu_kernel
    if composite or dispatch_strategy(fn) == "use_type":
        record["kind"] = "composite"
        return record
    record.update(_autograd(fn))
    return record


def _autograd(fn: Any) -> dict[str, Any]:
    f = fn.func
    info = fn.info["Default"] if fn.info else None
    inplace = f.func.kind() == SchemaKind.inplace
    inputs = [a for a in f.func.arguments.flat_non_out if is_differentiable(a.name, a.type, info)]
    renamed = _foreach_names(f, info) if inplace and cpp.name(f.func).startswith("_foreach") and info else {}
    outputs = [r.name for r in gen_differentiable_outputs(fn)]
    returns = cpp.return_names(f)
    undifferentiable = get_base_name(f) in DONT_REQUIRE_DERIVATIVE or cpp.name(f.func) in DONT_REQUIRE_DERIVATIVE
    if undifferentiable or not inputs or not (outputs or renamed):
        return {"kind": "no-grad"}
    tensors = [i for i, r in enumerate(f.func.returns) if r.type.is_tensor_like()]
    record: dict[str, Any] = {}
    if hidden := [i for i in tensors if returns[i] not in outputs]:
        record["not_differentiable"] = hidden
    if info is None or not info.has_derivatives:
        edges = [a.name for a in inputs]
        return {"kind": "not-implemented", "grad_fn": "NotImplemented", "differentiable": edges, **record}
    names = {renamed.get(name, name) for d in info.derivatives for name in d.var_names}
    edges = [a for a in inputs if a.name in names]
    record.update(kind="derivative", grad_fn=info.op, differentiable=[a.name for a in edges])
    lacking = [n for d in info.derivatives if "not_implemented" in d.formula for n in d.var_names]
    if lacking := [a.name for a in edges if a.name in {renamed.get(n, n) for n in lacking}]:
        record["gradient_not_implemented"] = lacking
    harmless = {*info.non_differentiable_arg_names, "output"}
    if forbidden := [a.name for a in inputs if a not in edges and a.name not in harmless]:
        record["forbidden"] = forbidden
    if info.output_differentiability_conditions:
        record["condition"] = info.output_differentiability_conditions[0]
    if f.func.kind() == SchemaKind.functional and get_base_name(f) not in GRADIENT_IMPLEMENTED_FOR_COMPLEX:
        record["real_only"] = True
    if f.func.kind() != SchemaKind.out and (saves := _saved(f, info, edges, renamed)):
        record["saves"] = saves
    return record


def _foreach_names(f: Any, info: Any) -> dict[str, str]:
    """An in-place foreach operator borrows the formulas of the plain operator: its argument names -> ours."""
    reference = info.func.func.arguments.flat_non_out
    return {theirs.name: ours.name for ours, theirs in zip(f.func.arguments.flat_non_out, reference, strict=False)}


def _saved(f: Any, info: Any, edges: list[Any], renamed: dict[str, str]) -> list[Any]:
    """[name, output position or -1, is a list, inputs for whose sake it is saved or null], one per saved tensor."""
    saves: list[Any] = []
    inplace = f.func.kind() == SchemaKind.inplace
    for arg in info.all_saved_inputs:
        if arg.nctype.type in SAVED_TENSOR + SAVED_LIST:
            name = _name(arg)
            private = inplace and name == "self" and arg.nctype.type in SAVED_TENSOR
            shown = "original_self" if private else renamed.get(name, name)
            saves.append([shown, -1, arg.nctype.type in SAVED_LIST, _guard(arg, info, edges, bool(renamed))])
    names = [n if n != "self" else "result" for n in cpp.return_names(f)]
    for arg in info.all_saved_outputs:
        if arg.nctype.type in SAVED_TENSOR + SAVED_LIST:
            index = names.index(_name(arg)) if _name(arg) in names else 0
            saves.append([_name(arg), index, arg.nctype.type in SAVED_LIST, None])
    return sorted(saves, key=lambda s: (s[1], s[0]))


def _name(arg: Any) -> str:
    return str(getattr(arg.nctype.name, "name", arg.nctype.name))


def _guard(arg: Any, info: Any, edges: list[Any], foreach: bool) -> list[str] | None:
    """`guard_for` of gen_variable_type: the inputs one of which must require grad, or None if it is always saved."""
    if any(is_tensor_list_type(a.type) for a in edges) and not foreach:
        return None
    if "backward" in info.name or len(edges) <= 1 or arg.nctype.type != BaseCType(tensorT):
        return None
    used_in = [d for d in info.derivatives if arg in d.saved_inputs]
    if len(used_in) != 1:
        return None
    (derivative,) = used_in
    if len(derivative.var_names) == 1:
        position = [a.name for d in info.derivatives for a in info.args_with_derivatives].index(derivative.var_names[0])
        return [edges[position].name]
    wrapped = re.search(rf"wrap_opt_if\({_name(arg)},(.*?)\)", derivative.formula)
    if wrapped is None:
        return None
    return [edges[int(i)].name for i in re.findall(r"grad_input_mask\[(\d+)\]", wrapped.group(1))]


def _by_hand(row: str, parameters: str = "", **renames: str) -> list[Any]:
    """A method's signature: the receiver, then `parameters` under their Python names; `renames` leads to the row's."""
    text = f"Tensor self, {parameters}" if parameters else "Tensor self"
    return [row, None, text, renames] if renames else [row, None, text]


# Bound by hand in python_variable_methods.cpp or python_torch_functions_manual.cpp, or defined in torch/_tensor.py.
_MEMORY_FORMAT = "*, MemoryFormat? memory_format=None"
_TO = f"bool non_blocking=False, bool copy=False, {_MEMORY_FORMAT}"
_GEOMETRY = "int storage_offset, int[] size, int[] stride=[]"
_SECTIONS = "split_size_or_sections"
_CASTS = ("bfloat16", "bool", "byte", "cdouble", "cfloat", "char", "double", "float", "half", "int", "long", "short")
MANUAL_SIGNATURES: dict[str, list[list[Any]] | str] = {
    **{f"Tensor.{cast}": [_by_hand("to.dtype", _MEMORY_FORMAT)] for cast in _CASTS},
    "Tensor.__rfloordiv__": [_by_hand("floor_divide", "Tensor other", self="other", other="self")],
    "Tensor.__rmatmul__": [_by_hand("matmul", "Tensor other", self="other", other="self")],
    "Tensor.__rmod__": [
        _by_hand("remainder.Tensor", "Tensor other", self="other", other="self"),
        _by_hand("remainder.Scalar_Tensor", "Scalar other", self="other", other="self"),
    ],
    "Tensor.__rpow__": [
        _by_hand("pow.Tensor_Tensor", "Tensor other", self="exponent", other="self"),
        _by_hand("pow.Scalar", "Scalar other", self="exponent", other="self"),
    ],
    "Tensor.H": [_by_hand("matrix_H")],
    "Tensor.T": [_by_hand("numpy_T")],
    "Tensor.mH": [_by_hand("mH")],
    "Tensor.mT": [_by_hand("mT")],
    "Tensor.real": [_by_hand("real")],
    "Tensor.imag": [_by_hand("imag")],
    "Tensor.contiguous": [_by_hand("contiguous", "*, MemoryFormat memory_format=contiguous_format")],
    "Tensor.copy_": [_by_hand("copy_", "Tensor other, bool non_blocking=False", other="src")],
    "Tensor.cpu": [_by_hand("to.device", _MEMORY_FORMAT)],
    "Tensor.cuda": [_by_hand("to.device", f"Device? device=None, bool non_blocking=False, {_MEMORY_FORMAT}")],
    "Tensor.dim": [_by_hand("dim")],
    "Tensor.ndimension": "Tensor.dim",
    "Tensor.is_contiguous": [_by_hand("is_contiguous", "*, MemoryFormat memory_format=contiguous_format")],
    "Tensor.item": [_by_hand("item")],
    "Tensor.numel": [_by_hand("numel")],
    "Tensor.nelement": "Tensor.numel",
    "torch.numel": "Tensor.numel",
    "Tensor.nonzero": [_by_hand("nonzero"), _by_hand("nonzero_numpy", "*, bool as_tuple")],
    "torch.nonzero": "Tensor.nonzero",
    "Tensor.requires_grad_": [_by_hand("requires_grad_", "bool requires_grad=True")],
    "Tensor.set_": [
        _by_hand("set_"),
        _by_hand("set_.source_Storage", "Storage source"),
        _by_hand("set_.source_Storage_storage_offset", f"Storage source, {_GEOMETRY}"),
        _by_hand("set_.source_Tensor", "Tensor source"),
        _by_hand("set_.source_Tensor_storage_offset", f"Tensor source, {_GEOMETRY}"),
    ],
    "Tensor.size": [_by_hand("size.int", "int? dim=None")],
    "Tensor.split": [
        _by_hand("split.Tensor", "int split_size, int dim=0"),
        _by_hand("split_with_sizes", "int[] split_size, int dim=0", split_size="split_sizes"),
    ],
    "Tensor.storage_offset": [_by_hand("storage_offset")],
    "Tensor.stride": [_by_hand("stride.int", "int? dim=None")],
    "Tensor.to": [
        _by_hand("to.device", f"Device device=None, ScalarType dtype=None, {_TO}"),
        _by_hand("to.dtype", f"ScalarType dtype, {_TO}"),
        _by_hand("to.other", f"Tensor tensor, {_TO}", tensor="other"),
    ],
    "torch.split": [
        [
            "split.Tensor",
            None,
            f"Tensor tensor, int {_SECTIONS}, int dim=0",
            {"tensor": "self", _SECTIONS: "split_size"},
        ],
        [
            "split_with_sizes",
            None,
            f"Tensor tensor, int[] {_SECTIONS}, int dim=0",
            {"tensor": "self", _SECTIONS: "split_sizes"},
        ],
    ],
}

# Defined in Python, and no more than a call of one binding with the same parameters in the same order.
FORWARDS: dict[str, str] = {
    "Tensor.__abs__": "Tensor.abs",
    "Tensor.__add__": "Tensor.add",
    "Tensor.__radd__": "Tensor.add",
    "Tensor.__iadd__": "Tensor.add_",
    "Tensor.__sub__": "Tensor.sub",
    "Tensor.__isub__": "Tensor.sub_",
    "Tensor.__rsub__": "torch.rsub",
    "Tensor.__mul__": "Tensor.mul",
    "Tensor.__rmul__": "Tensor.mul",
    "Tensor.__imul__": "Tensor.mul_",
    "Tensor.__div__": "Tensor.div",
    "Tensor.__idiv__": "Tensor.div_",
    "Tensor.__truediv__": "Tensor.div",
    "Tensor.__itruediv__": "Tensor.div_",
    "Tensor.__floordiv__": "Tensor.floor_divide",
    "Tensor.__ifloordiv__": "Tensor.floor_divide_",
    "Tensor.__mod__": "Tensor.remainder",
    "Tensor.__imod__": "Tensor.remainder_",
    "Tensor.__pow__": "Tensor.pow",
    "Tensor.__ipow__": "Tensor.pow_",
    "Tensor.__matmul__": "Tensor.matmul",
    "Tensor.__neg__": "Tensor.neg",
    "Tensor.__pos__": "Tensor.positive",
    "Tensor.__invert__": "Tensor.bitwise_not",
    "Tensor.__eq__": "Tensor.eq",
    "Tensor.__ne__": "Tensor.ne",
    "Tensor.__lt__": "Tensor.lt",
    "Tensor.__le__": "Tensor.le",
    "Tensor.__gt__": "Tensor.gt",
    "Tensor.__ge__": "Tensor.ge",
    "Tensor.__rand__": "Tensor.bitwise_and",
    "Tensor.__ror__": "Tensor.bitwise_or",
    "Tensor.__rxor__": "Tensor.bitwise_xor",
    "torch.block_diag": "torch._VF.block_diag",
    "torch.cartesian_prod": "torch._VF.cartesian_prod",
    "torch.nn.functional.sigmoid": "Tensor.sigmoid",
    "torch.nn.functional.tanh": "Tensor.tanh",
}
_OWNERS = (
    (python.is_py_torch_function, "torch._VF", "", False),
    (python.is_py_variable_method, "Tensor", "", True),
    (python.is_py_nn_function, "torch._C._nn", "", False),
    (python.is_py_linalg_function, "torch._C._linalg", "linalg_", False),
    (python.is_py_fft_function, "torch._C._fft", "fft_", False),
    (python.is_py_special_function, "torch._C._special", "special_", False),
    (python.is_py_sparse_function, "torch._C._sparse", "", False),
    (python.is_py_nested_function, "torch._C._nested", "", False),
)
_PUBLIC = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special", "torch.sparse", "torch.nested")


def signatures() -> dict[str, list[list[Any]] | str]:
    """Callable -> [row, out= row or null, parameters, renames] in parse order, or the callable that it is."""
    functions = [f for f in parse_native_yaml(NATIVE, TAGS).native_functions if python.should_generate_py_binding(f)]
    table: dict[str, list[list[Any]] | str] = {}
    for belongs, owner, _, method in _OWNERS:
        pairs = python.load_signatures(functions, DEPRECATED, method=method)
        for name, overloads in python.group_filter_overloads(pairs, belongs).items():
            groups = python.group_overloads(overloads)
            ordered = sorted(groups, key=lambda g: g.signature.deprecated)
            table[f"{owner}.{name}"] = [_signature(group, method) for group in ordered]
    table.update(MANUAL_SIGNATURES)
    shown = {**_public_names(table), **FORWARDS}
    table.update((name, target) for name, target in shown.items() if name not in MANUAL_SIGNATURES)
    return dict(sorted(table.items()))


def _signature(group: Any, method: bool) -> list[Any]:
    signature = group.signature
    positional = [*(["Tensor self"] if method else []), *map(_parameter, signature.input_args)]
    keyword = [_parameter(a) for a in signature.input_kwargs]
    if signature.output_args is not None:
        keyword.append(_parameter(signature.output_args))
    keyword += [_parameter(a) for a in signature.tensor_options_args]
    record: list[Any] = [
        str(group.base.func.name),
        str(group.outplace.func.name) if group.outplace is not None else None,
        ", ".join([*positional, *(["*", *keyword] if keyword else [])]),
    ]
    if signature.deprecated:
        ours = [a.name for a in group.base.func.arguments.flat_non_out]
        theirs = [name for name in signature.deprecated_args_exprs if name != "out"]
        renames = {a: b for a, b in zip(theirs, ours, strict=False) if a != b and a.isidentifier()}
        record += [renames] if renames else []
    return record


def _parameter(argument: Any) -> str:
    text = f"{str(argument.type).replace('SymInt', 'int')} {argument.name}"
    if argument.default is None:
        return text
    nothing = {"nullptr": "None", "::std::nullopt": "None", "std::nullopt": "None", "{}": "None"}
    return f"{text}={nothing.get(argument.default, argument.default)}"


def _public_names(table: dict[str, Any]) -> dict[str, str]:
    """The names under which torch's modules show a binding: `torch.nn.functional.conv2d` for `torch._VF.conv2d`."""
    found: dict[str, str] = {}
    for module in _PUBLIC:
        for name, value in sorted(vars(importlib.import_module(module)).items()):
            if isinstance(value, types.BuiltinFunctionType):
                owner = getattr(value.__self__, "__name__", "torch._VF")
                target = f"{owner}.{value.__name__}"
                if target in table:
                    found[f"{module}.{name}"] = target
    return found


def _write(name: str, table: dict[str, Any], check: bool) -> bool:
    text = "".join(f"{key}\t{json.dumps(value, separators=(',', ':'))}\n" for key, value in table.items())
    path = DATA / name
    if check:
        return path.exists() and path.read_text() == text
    path.write_text(text)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed files instead of writing them")
    check = parser.parse_args().check
    fresh = [_write("rows.tsv", rows(), check), _write("signatures.tsv", signatures(), check)]
    return 0 if all(fresh) else 1


if __name__ == "__main__":
    sys.exit(main())
