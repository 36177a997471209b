"""The model of tensors: attributes, methods, operators, items, iteration, truth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.lineage import BESIDE
from analyzers.domain.objects import ClassObj, HeapObject, Node, Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Builtin, Const, Ref, Unknown, Value
from analyzers.machine.autograd.accumulation import with_gradient_perhaps
from analyzers.machine.autograd.havoc import havoc_tensor
from analyzers.machine.autograd.likely_tensors import part_of
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import (
    CLASSES,
    DECLARED,
    FOREIGN_TYPES,
    MODELS,
    TYPE_GUARDS,
    TYPE_TESTS,
    WHOLE_LIBRARIES,
    ClassModel,
    ObjectModel,
)
from analyzers.machine.core.signals import Escaped, tell
from analyzers.machine.core.streams import Stream
from analyzers.machine.core.tables import enter
from analyzers.machine.libraries.numpy.arrays import refuse_array
from analyzers.machine.libraries.torch.tensor_attributes import (
    call_tensor_method,
    set_tensor_attribute,
    tensor_attribute,
)
from analyzers.machine.libraries.torch.tensor_operators import is_tensor, refuse_saved, stream_of_rows, tensor_binary
from analyzers.machine.objects.classes import class_name
from analyzers.machine.objects.comparisons import COMPARE_DUNDER, SWAPPED
from analyzers.machine.objects.operators import DUNDER, refuse_none_gradient, type_name
from analyzers.machine.operators.arguments import dtype_of
from analyzers.machine.operators.dispatch import call_torch
from analyzers.machine.operators.indexing import assign_index, index_tensor
from analyzers.ops.infer import numel

TENSOR_TYPES = frozenset({"torch.Tensor", "torch.autograd.Variable", "torch.FloatTensor"})

FLOATING_TYPES = {"FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16"}
INTEGER_TYPES = {
    "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8",
    "BoolTensor": "bool",
}  # fmt: skip
"""What constructors of the old kind make, in `torch` and in `torch.cuda`."""

UNARY = {"-": "Tensor.__neg__", "+": "Tensor.__pos__", "~": "Tensor.__invert__"}


class TensorModel(ObjectModel):
    rank = 3
    is_key = True

    def get_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
        assert isinstance(found, Tensor)
        return tensor_attribute(m, owner, found, name)

    def set_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        assert isinstance(found, Tensor)
        set_tensor_attribute(m, owner, found, name, value)

    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value:
        return call_tensor_method(m, owner, name, args)

    def another(self, m: Machine, owner: Ref, found: HeapObject) -> Ref:
        assert isinstance(found, Tensor)
        if found.base is not None:
            return m.new(found)
        made = m.new_tensor(None, None)
        own = m.st.get(made.id)
        assert isinstance(own, Tensor)
        m.st.put(made.id, replace(found, storage=own.storage, counter=own.counter))
        return made

    def call(self, m: Machine, owner: Ref, found: HeapObject, args: Args) -> Value | None:
        """A method of what a presumed model returns, such as a distribution's `sample`: not all keep its graph."""
        assert isinstance(found, Tensor)
        return part_of(m, found, BESIDE) if found.presumed else None

    def unary(self, m: Machine, op: str, owner: Ref, found: HeapObject) -> Value:
        return call_torch(m, UNARY[op], [owner], {})

    def binary(self, m: Machine, op: str, left: Value, right: Value) -> Value:
        refuse_saved(m, op, left, right)
        refuse_array(m, op, left, right)
        return tensor_binary(m, op, left, right)

    def augmented(self, m: Machine, op: str, old: Ref, found: HeapObject, value: Value) -> Value:
        refuse_none_gradient(m, old, value)
        refuse_array(m, op, old, value)
        return call_torch(m, f"Tensor.__i{DUNDER[op]}__", [old, value], {})

    def compare(self, m: Machine, op: str, left: Value, right: Value) -> Value:
        if left is NONE or right is NONE or type_name(left) == "str" or type_name(right) == "str":
            return TRUE if op == "!=" else FALSE
        if is_tensor(m, left):
            return call_torch(m, f"Tensor.__{COMPARE_DUNDER[op]}__", [left, right], {})
        return call_torch(m, f"Tensor.__{COMPARE_DUNDER[SWAPPED[op]]}__", [right, left], {})

    def get_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value) -> Value:
        assert isinstance(found, Tensor)
        return index_tensor(m, owner, found, index)

    def set_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value, value: Value) -> None:
        assert isinstance(found, Tensor)
        assign_index(m, owner, found, index, value)

    def stream(self, m: Machine, owner: Ref, found: HeapObject, unpack: int | None) -> Stream:
        assert isinstance(found, Tensor)
        return stream_of_rows(m, owner, found, unpack)

    def is_true(self, m: Machine, owner: Ref, found: HeapObject) -> truth.Truth:
        """Only a tensor with one element has a truth value."""
        assert isinstance(found, Tensor)
        size = numel(found.shape)
        if size is not None and size != 1:
            many = "more than one value" if size else "no values"
            raise m.throw("RuntimeError", f"Boolean value of Tensor with {many} is ambiguous")
        return None

    def identical(self, found: HeapObject, other: HeapObject) -> truth.Truth:
        if isinstance(found, Tensor) and isinstance(other, Tensor) and (found.aliases or other.aliases):
            return None
        return False

    def written_or_made(self, m: Machine, old: Unknown, made: Value) -> Value:
        """Either has a graph if what is added has one, though a view that is written has another place in it; without
        one, a tensor that is written keeps its flag."""
        found = m.tensor(made)
        if found is None:
            return made
        if found.requires_grad:
            if found.edge is not None and found.edge.node is not None:
                m.st.update(found.edge.node, Node, lambda node: replace(node, names=()))
            return made
        return Unknown(None, None, found.lineage, reach_of(old, made))

    def is_instance(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> truth.Truth:
        assert isinstance(found, Tensor)
        if found.presumed:
            return None
        if name in TENSOR_TYPES:
            return True
        if name in {"torch.nn.Parameter", "torch.nn.parameter.Parameter"}:
            return found.parameter
        return False if name.startswith("builtins.") else None

    def grant(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        assert isinstance(found, Tensor)
        match name, value:
            case "requires_grad", Const(value=bool(on)) if found.requires_grad is None and found.base is None:
                m.st.put(owner.id, replace(found, requires_grad=on, edge=found.edge if on else None))
            case "dim" | "ndim" | "ndimension" | "len(shape)", Const(value=int(rank)) if found.shape is None:
                m.st.put(owner.id, replace(found, shape=(None,) * max(rank, 0)))

    def is_of(self, m: Machine, owner: Ref, found: HeapObject, cls: Ref) -> truth.Truth:
        assert isinstance(found, Tensor)
        if class_name(m, cls.id) == "torch.nn.Parameter":
            return found.parameter
        return None if found.cls is None and not isinstance(m.st.get(cls.id), ClassObj) else False

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, Tensor)
        if m.config.presumes or (m.extent.forgets == "state" and _is_trained(found)):
            tell(m, Escaped([found]))
            if m.extent.forgets:
                m.st.put(ident, with_gradient_perhaps(ident, found))
        else:
            havoc_tensor(m, ident, found, seen)


def _is_trained(tensor: Tensor) -> bool:
    """Whether this is a parameter, or a leaf that was made as one is: what the program does not freeze stays so."""
    return tensor.parameter or (tensor.requires_grad is True and tensor.is_leaf is True and tensor.base is None)


class TensorClass(ClassModel):
    """`torch.Tensor` and `nn.Parameter`, for the classes that inherit from them."""

    def make(self, m: Machine, cls: Ref, found: ClassObj, args: Args) -> Value:
        for value in args.all():
            if is_tensor(m, value):
                return m.unknown_tensor(m.lineage(value))
        return m.unknown_tensor()


def _declared(m: Machine, value: Unknown) -> Value | None:
    """A tensor of which nothing else is known. Of what may be a known object, and where values are presumed anyway,
    more is known without."""
    if m.config.presumes or value.reach or value.type not in {None, "tensor"}:
        return None
    return m.unknown_tensor(value.lineage)


def _declared_integers(dtype: str, m: Machine, value: Unknown) -> Value | None:
    """A tensor of integers, which has no gradient."""
    if value.reach or value.type not in {None, "tensor"}:
        return None
    made = m.unknown_tensor(value.lineage)
    m.st.update(made.id, Tensor, lambda t: replace(t, requires_grad=False, edge=None, dtype=dtype))
    return made


def _of_integers(dtype: str) -> Callable[[Machine, Unknown], Value | None]:
    return partial(_declared_integers, dtype)


def _is_dtype(m: Machine, value: Value) -> truth.Truth:
    return isinstance(value, Builtin) and value.name.startswith("torch.") and dtype_of(value) is not None


enter(MODELS, Tensor, TensorModel())
enter(CLASSES, "torch.Tensor", TensorClass())
enter(CLASSES, "torch.nn.Parameter", TensorClass())
enter(TYPE_TESTS, "torch.dtype", _is_dtype)
enter(TYPE_GUARDS, "torch.is_tensor", "torch.Tensor")
for _name in TENSOR_TYPES:
    enter(DECLARED, _name, _declared)
for _name, _dtype in INTEGER_TYPES.items():
    enter(DECLARED, f"torch.{_name}", _of_integers(_dtype))
    enter(DECLARED, f"torch.cuda.{_name}", _of_integers(_dtype))
FOREIGN_TYPES.update(TENSOR_TYPES)
WHOLE_LIBRARIES.add("torch")
