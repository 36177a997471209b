"""Numpy arrays: their attributes, methods and arithmetic, and the tensors they share memory with."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import NUMBERS
from analyzers.domain.objects import Array, HeapObject, ListObj, Storage, Tensor
from analyzers.domain.values import BoundBuiltin, Const, Ref, SliceValue, Tup, Unknown, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.likely_tensors import may_be_beside
from analyzers.machine.autograd.versions import write_hidden
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import NumpyOnGraph
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import argument_name
from analyzers.machine.core.registries import FOREIGN_TYPES, MODELS, ObjectModel
from analyzers.machine.core.streams import Stream
from analyzers.machine.core.tables import enter
from analyzers.machine.libraries.torch.tensor_attributes import shape_value

ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**", "@"})


def array_of(m: Machine, sources: list[Value], *, solid: bool = False) -> Value:
    """A new numpy array computed from `sources`."""
    storage = m.fresh()
    m.st.put(storage, Storage())
    return m.new(Array(storage, lineage=m.trail("numpy", m.parents(sources)), solid=solid))


def is_solid(m: Machine, value: Value) -> bool:
    """Whether a value is an array with at least one dimension."""
    found = m.obj(value)
    return isinstance(found, Array) and found.solid


def stays_solid(m: Machine, values: Sequence[Value]) -> bool:
    """Whether numpy returns an array with at least one dimension for these; if one may be a tensor, the result may be
    too."""
    plain = all(
        isinstance(v, Const) or isinstance(m.obj(v), Array) or (isinstance(v, Unknown) and v.type in NUMBERS)
        for v in values
    )
    return plain and any(is_solid(m, value) for value in values)


def refuse_array(m: Machine, op: str, left: Value, right: Value) -> None:
    """`tensor - array`: numpy handles it, and asks the tensor for an array, which a tensor with a graph refuses."""
    if op in ARITHMETIC and is_solid(m, right):
        check_convertible(m, left, other=right)
    elif op == "/" and is_solid(m, left):
        check_convertible(m, right, other=left)


IN_PLACE = frozenset({"fill", "sort", "put", "partition", "resize", "itemset"})


SCALARS = frozenset({"item", "tolist", "sum", "mean", "max", "min", "std", "var", "argmax", "argmin", "any", "all"})


def array_attribute(m: Machine, owner: Ref, array: Array, name: str) -> Value:
    match name:
        case "shape":
            return shape_value(array.shape)
        case "T":
            return m.new(
                replace(
                    array,
                    shape=None if array.shape is None else array.shape[::-1],
                    strides=None if array.strides is None else array.strides[::-1],
                    contiguous=array.contiguous if array.shape is not None and len(array.shape) < 2 else None,
                )
            )
        case "flat" | "real" | "imag":
            return m.new(Array(array.storage, None, array.dtype, lineage=array.lineage))
        case "dtype" | "size" | "ndim":
            return Unknown()
    return BoundBuiltin(owner, name)


def call_array_method(m: Machine, owner: Ref, array: Array, name: str, args: Args) -> Value:
    if name in IN_PLACE:
        write_hidden(m, array.storage, name)
        return Const(None)
    if name in {"item", "tolist"}:
        return Unknown(
            "float" if name == "item" and (array.dtype or "").startswith("float") else None, None, array.lineage
        )
    if name in SCALARS and not args.pos and not args.kw:
        return Unknown(None, None, array.lineage)
    if name in {"reshape", "view", "transpose", "squeeze", "ravel"}:
        solid = array.solid and name != "squeeze" and args.pos != [Tup(())]
        return m.new(replace(array, shape=None, contiguous=None, strides=None, solid=solid))
    if name in {"astype", "copy", "flatten", "clip", "round"}:
        return array_of(m, [owner], solid=array.solid)
    return array_of(m, [owner, *args.pos])


def check_convertible(m: Machine, value: Value, other: Value | None = None, among: Value | None = None) -> None:
    """`np.array(tensor)` and most numpy functions call `tensor.__array__()`, which a tensor with a graph refuses.

    `other` is the array that an operator combines it with, `among` the list that it is an item of.
    """
    found = m.obj(value)
    if isinstance(found, Tensor) and isinstance(value, Ref):
        tensor = refreshed(m, value.id)
        if tensor.presumed:
            return  # what a model or a function returned that nobody knows may be a list of numbers
        if tensor.requires_grad and m.st.grad is True and not may_be_beside(m, tensor.lineage):
            raise m.throw(
                "RuntimeError", "Can't call numpy() on Tensor that requires grad",
                NumpyOnGraph(argument_name(m, among or value), tensor.lineage, other is not None),
            )  # fmt: skip
    elif isinstance(found, ListObj):
        for item in found.items[:8]:
            if isinstance(m.obj(item), Tensor):
                check_convertible(m, item, among=value)


class ArrayModel(ObjectModel):
    rank = 1

    def get_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
        assert isinstance(found, Array)
        return array_attribute(m, owner, found, name)

    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value:
        assert isinstance(found, Array)
        return call_array_method(m, owner, found, name, args)

    def unary(self, m: Machine, op: str, owner: Ref, found: HeapObject) -> Value:
        return array_of(m, [owner])

    def binary(self, m: Machine, op: str, left: Value, right: Value) -> Value | None:
        for array, other in ((left, right), (right, left)):
            if isinstance(other, Unknown) and other.type not in NUMBERS and not is_solid(m, array):
                return None  # a number of numpy's leaves the operation to a tensor
        return array_of(m, [left, right], solid=op != "@" and stays_solid(m, [left, right]))

    def augmented(self, m: Machine, op: str, old: Ref, found: HeapObject, value: Value) -> Value:
        assert isinstance(found, Array)
        write_hidden(m, found.storage, f"{op}=")
        return old

    def compare(self, m: Machine, op: str, left: Value, right: Value) -> Value:
        return array_of(m, [])

    def get_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value) -> Value:
        assert isinstance(found, Array)
        return array_of(m, [owner], solid=found.solid and isinstance(index, SliceValue))

    def set_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value, value: Value) -> None:
        assert isinstance(found, Array)
        write_hidden(m, found.storage, "[...] =")

    def stream(self, m: Machine, owner: Ref, found: HeapObject, unpack: int | None) -> Stream:
        assert isinstance(found, Array)
        return Stream((), Unknown(None, None, found.lineage))

    def is_true(self, m: Machine, owner: Ref, found: HeapObject) -> truth.Truth:
        return None

    def is_instance(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> truth.Truth:
        return name == "numpy.ndarray" if name.startswith("builtins.") or name in FOREIGN_TYPES else None

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, Array)
        write_hidden(m, found.storage, "?")


enter(MODELS, Array, ArrayModel())
