"""Arguments of operators: their kinds, dtypes and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzers.domain.join import NUMBERS
from analyzers.domain.objects import Array, Instance, ListObj, Shape, Tensor
from analyzers.domain.values import Builtin, Const, RangeValue, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.tensors import can_require_grad
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ranges import length_of, range_items
from analyzers.ops import infer as shapes
from analyzers.ops.infer import ANY, OpenList, Pieces, TensorType
from analyzers.ops.table import Arg, Row

Bound = dict[str, Value]


def shape_of(m: Machine, value: Value | None) -> tuple[int | None, ...] | None:
    tensor = m.tensor(value) if value is not None else None
    return tensor.shape if tensor is not None else None


def rank_of(m: Machine, value: Value | None) -> int | None:
    shape = shape_of(m, value)
    return None if shape is None else len(shape)


def size_value(size: int | None) -> Value:
    """A size as an operator argument."""
    return Unknown("int") if size is None else Const(size)


def sizes_value(shape: tuple[int | None, ...] | None) -> Value:
    """A shape as an operator argument."""
    return Unknown() if shape is None else Tup(tuple(size_value(s) for s in shape))


def ints(values: tuple[int, ...] | list[int]) -> Tup:
    return Tup(tuple(Const(v) for v in values))


DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32",
}  # fmt: skip


DTYPE_NAMES = frozenset(
    [
        "float16",
        "float32",
        "float64",
        "bfloat16",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool",
        "complex32",
        "complex64",
        "complex128",
        "float8_e4m3fn",
        "float8_e5m2",
    ]
) | frozenset(DTYPES)


def dtype_of(value: Value) -> str | None:
    """`torch.float` -> `float32`."""
    if isinstance(value, Builtin):
        last = value.name.rsplit(".", 1)[-1]
        if value.name.startswith("torch.") and last in DTYPE_NAMES:
            return DTYPES.get(last, last)
        return {"builtins.float": "float64", "builtins.int": "int64", "builtins.bool": "bool"}.get(value.name)
    return None


def kind_of(m: Machine, value: Value) -> str:
    """What overload resolution needs to know about an argument."""
    match value:
        case Const(value=v):
            if v is None:
                return "none"
            kind = type(v).__name__
            return kind if kind in {"int", "float", "bool", "complex", "str"} else "object"
        case Unknown(type="torch.Size"):
            return "list:int"
        case Unknown(type=t):
            return t if t in {"int", "float", "bool", "complex", "str"} else "unknown"
        case Tup(items=items):
            return _list_kind(m, items)
        case RangeValue():
            return "list:int"
        case Builtin(name=name):
            if dtype_of(value) is not None:
                return "dtype"
            if "memory_format" in name or name in {
                "torch.contiguous_format",
                "torch.channels_last",
                "torch.preserve_format",
            }:
                return "memory_format"
            return "layout" if name in {"torch.strided", "torch.sparse_coo"} else "object"
        case Ref():
            found = m.obj(value)
            if isinstance(found, Tensor):
                return "tensor"
            if isinstance(found, ListObj):
                if found.rest is not None:
                    first = found.items[0] if found.items else found.rest
                    inner = kind_of(m, first)
                    return "list:" + (inner if inner in {"tensor", "int", "float", "bool"} else "unknown")
                return _list_kind(m, found.items)
            if isinstance(found, Instance) and found.cls == "torch.device":
                return "device"
            if isinstance(found, Instance) and found.cls == "torch.Generator":
                return "generator"
            return "object"
    return "object"


def _list_kind(m: Machine, items: Sequence[Value]) -> str:
    if not items:
        return "list:empty"
    kinds = {kind_of(m, item) for item in items}
    if len(kinds) == 1:
        return "list:" + kinds.pop()
    if kinds <= {"int", "bool"}:
        return "list:int"
    if kinds <= {"int", "float", "bool"}:
        return "list:float"
    if "tensor" in kinds and kinds <= {"tensor", "none"}:
        return "list:tensor"
    return "list:unknown"


def type_of_argument(m: Machine, value: Value) -> object:
    """An argument in the form that shape inference expects."""
    match value:
        case Const(value=v):
            return v
        case Unknown(type=kind) if kind in shapes.NUMBERS:
            return shapes.NUMBERS[kind]
        case Tup(items=items):
            return [type_of_argument(m, i) for i in items]
        case Builtin():
            name = dtype_of(value)
            return name if name is not None else shapes.UNKNOWN
        case RangeValue():
            numbers = range_items(value)
            return [type_of_argument(m, i) for i in numbers] if numbers is not None else shapes.UNKNOWN
        case Ref():
            found = m.obj(value)
            if isinstance(found, Tensor):
                return TensorType(found.shape, found.dtype)
            if isinstance(found, ListObj):
                known = [type_of_argument(m, i) for i in found.items]
                if found.rest is None:
                    return known
                rest = type_of_argument(m, found.rest)
                return OpenList(tuple(known), rest) if isinstance(rest, TensorType) else shapes.UNKNOWN
    return shapes.UNKNOWN


def tensors_in(m: Machine, value: Value) -> tuple[int, ...]:
    """The tensors in one argument."""
    if isinstance(value, Tup):
        return tuple(i for item in value.items for i in tensors_in(m, item))
    if isinstance(value, Ref):
        found = m.obj(value)
        if isinstance(found, Tensor):
            return (value.id,)
        if isinstance(found, ListObj):
            rest = (found.rest,) if found.rest is not None else ()
            return tuple(i for item in (*found.items, *rest) for i in tensors_in(m, item))
    return ()


def unknown_operand(m: Machine, value: Value) -> bool:
    """Whether an argument may be or contain a tensor that the machine cannot see."""
    match value:
        case Unknown(type=t):
            return t is None or t == "tensor"
        case Tup(items=items):
            return any(unknown_operand(m, i) for i in items)
        case Ref():
            found = m.obj(value)
            if isinstance(found, ListObj):
                return any(unknown_operand(m, i) for i in found.items) or (
                    found.rest is not None and unknown_operand(m, found.rest)
                )
            return isinstance(found, Instance)
    return False


def tensors_taken(row: Row, bound: Mapping[str, Value]) -> list[Value]:
    """The arguments that may be tensors: a size, a dimension or a flag brings no graph along, whatever it came from."""
    return [value for name, value in bound.items() if (given := row.arg(name)) is None or _may_be_tensor(given)]


def _may_be_tensor(parameter: Arg) -> bool:
    return parameter.type.startswith(("Tensor", "Scalar"))


def types_of(m: Machine, bound: Mapping[str, Value]) -> dict[str, object]:
    return {name: type_of_argument(m, value) for name, value in bound.items()}


def infer(m: Machine, row: Row, bound: Mapping[str, Value]) -> tuple[TensorType, ...] | None:
    try:
        return shapes.infer(row.base, types_of(m, bound), default_dtype=m.indexes.default_dtype)
    except shapes.ShapeError as refused:
        refuse(m, refused)
        return None


def surely_floating(m: Machine, row: Row, bound: Mapping[str, Value], order: int) -> bool:
    """Whether a result has a dtype that can require grad, given that what requires grad has one. An operand of unknown
    dtype does not take it away: it is converted to that of the others, or has no part in it."""
    types = types_of(m, bound)
    for name, given in types.items():
        arg = row.arg(name)
        if isinstance(given, TensorType) and given.dtype is None:
            types[name] = TensorType(given.shape, m.indexes.default_dtype)
        elif given is shapes.UNKNOWN and arg is not None and arg.type in {"Tensor", "Tensor?"}:
            types[name] = TensorType(None, m.indexes.default_dtype)
    try:
        results = shapes.infer(row.base, types, default_dtype=m.indexes.default_dtype)
    except shapes.ShapeError:
        return False
    return results is not None and order < len(results) and can_require_grad(results[order].dtype) is True


def infer_list(m: Machine, row: Row, bound: Mapping[str, Value]) -> Pieces | None:
    try:
        return shapes.infer_list(row.base, types_of(m, bound))
    except shapes.ShapeError as refused:
        refuse(m, refused)
        return None


def pieces(m: Machine, row: Row, bound: Mapping[str, Value], count: int | None) -> Pieces:
    """What a row that returns a list returns; no more than `count` of them are needed."""
    listed = infer_list(m, row, bound)
    if listed is not None:
        return listed.limited(count)
    return Pieces((), ANY) if count is None else Pieces.of(count, lambda i: ANY)


def list_of(m: Machine, wanted: Pieces, made: Sequence[Ref]) -> Value:
    """The list of the tensors that were made for some pieces, of which one may stand for all that follow."""
    return Tup(tuple(made)) if wanted.rest is None else m.new(ListObj(tuple(made[:-1]), made[-1], distinct=True))


def refuse(m: Machine, error: shapes.ShapeError) -> None:
    """Torch raises for these sizes. Ignored if the prelude made the call, since torch may not make it itself."""
    if not m.frame.library and not m.extent.enclosing_operator:
        raise m.throw(error.exception, str(error), Plain("sizes"))


def data_type(m: Machine, value: Value) -> tuple[Shape, str | None]:
    """The shape and dtype that `torch.tensor` infers for Python data."""
    match value:
        case Const(value=v):
            return (), _number_type(m, type(v).__name__)
        case Unknown(type=t):
            return ((), _number_type(m, t)) if t in NUMBERS else (None, None)
        case RangeValue():
            return (length_of(m, value),), "int64"
        case Tup(items=items):
            return _sequence_type(m, items, None)
        case Ref():
            found = m.obj(value)
            if isinstance(found, ListObj):
                return _sequence_type(m, found.items, found.rest)
            if isinstance(found, Tensor | Array):
                return found.shape, found.dtype
    return None, None


def _number_type(m: Machine, name: str | None) -> str | None:
    return {"int": "int64", "bool": "bool", "float": m.indexes.default_dtype, "complex": "complex64"}.get(name or "")


def _sequence_type(m: Machine, items: tuple[Value, ...], rest: Value | None) -> tuple[Shape, str | None]:
    if not items and rest is None:
        return (0,), m.indexes.default_dtype
    parts = [data_type(m, item) for item in (*items[:64], *((rest,) if rest is not None else ()))]
    shapes = {shape for shape, _ in parts}
    dtypes = {dtype for _, dtype in parts}
    size = len(items) if rest is None else None
    inner = shapes.pop() if len(shapes) == 1 else None
    order = ["bool", "int64", "float32", "float64", "complex64"]
    dtype: str | None = None
    if None not in dtypes and dtypes <= set(order):
        dtype = max((d for d in dtypes if d is not None), key=order.index)
    return (None if inner is None else (size, *inner)), dtype
