"""Unknown values that must be tensors, judging by the method called on them."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import Edge, Tensor
from analyzers.domain.values import FALSE, NONE, BoundBuiltin, Const, Unknown, Value
from analyzers.machine.autograd.accumulation import blur_after_unknown
from analyzers.machine.autograd.likely_tensors import presumed_loss
from analyzers.machine.autograd.reachability import was_given_graph
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import blur_tensor
from analyzers.machine.autograd.writes import RESHAPING
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.events import BackwardCall
from analyzers.machine.core.havoc import havoc_places, havoc_value, havoc_written, lose_sizes, writes_in_place
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import GUESSES, Guess
from analyzers.machine.core.signals import CalledUnseen, OwnAttributeSet, tell
from analyzers.machine.libraries.torch.autograd_entries import truth_value
from analyzers.machine.libraries.torch.tensor_attributes import FLAGS, PROPERTIES
from analyzers.machine.objects.attributes import call_method
from analyzers.machine.operators.opaque import opaque_result
from analyzers.ops import table
from analyzers.ops.resolve import python_names, signatures


def unknown_tensor_method(m: Machine, receiver: Unknown, name: str, args: Args) -> Value:
    lineage = m.trail(name, m.parents([receiver, *args.pos]))
    if name == "backward":
        m.record.trains = m.record.unresolved.data = True
        m.record.imprecisions += 1
        if m.config.presumes:
            loss = presumed_loss(m, receiver)
            if loss != receiver:
                return call_method(m, loss, name, args)
        PORTS.python.run_callbacks(m)
        tell(m, CalledUnseen((), tuple(m.indexes.runs_again)))
        blur_after_unknown(m, truth_value(m, args.get(2, "create_graph", FALSE)))
        m.note(BackwardCall(m.site(), subject_name(m), receiver.lineage, False, (), None, True, m.st.assumed))
        return NONE
    if name == "item":
        return Unknown(None, None, lineage)
    if name in {"detach", "numpy"}:
        if name == "numpy":
            return Unknown(None, None, lineage)
        # Whatever it is, the result of `detach` has no graph; its memory may be shared with anything.
        if m.config.presumes and was_given_graph(m, [receiver]):
            lineage = replace(lineage, cut="detach")
        ref = m.new_tensor(None, None, lineage=lineage)
        blur_tensor(m, ref.id)
        tensor_at(m, ref.id).inference = None
        return ref
    if name == "detach_":
        havoc_places(m, receiver.reach)
    if name == "retain_grad" or writes_in_place(name):
        m.record.trains = m.record.trains or name in {"retain_grad", "requires_grad_"}
        if name == "retain_grad":
            havoc_value(m, receiver)
            return NONE
        havoc_written(m, receiver)
        if name in RESHAPING or name in {"resize_", "resize_as_", "set_"}:
            lose_sizes(m, receiver)
        m.record.imprecisions += 1
        return receiver
    operands = [receiver, *args.pos, *args.kw.values()]
    result = opaque_result(m, name, operands)
    shared = [m.st.find(ident) for ident in receiver.reach] if _may_share(name) else []
    tensors = [found for found in shared if isinstance(found, Tensor)]
    if len(shared) == len(tensors) == 1:
        of = receiver.reach[0] if tensors[0].base is None else tensors[0].base
        m.st.update(result.id, Tensor, lambda t: replace(t, perhaps_of=of))
    if m.st.grad is False and _may_share(name):
        made = tensor_at(m, result.id)
        inference = None if made.inference else made.inference  # it may be older than the mode
        m.st.put(result.id, replace(made, requires_grad=None, edge=Edge(), inference=inference))
    return result


def _may_share(name: str) -> bool:
    """Whether a method may return its tensor, or a view of it: such keep `requires_grad` where no graph is recorded."""
    rows = [table.row(signature.row) for signature in signatures(f"Tensor.{name}")]
    return any(row is not None and row.returns and row.returns[0].alias is not None for row in rows)


TENSOR_ONLY = frozenset(
    [
        "backward",
        "detach",
        "detach_",
        "requires_grad_",
        "retain_grad",
        "zero_",
        "item",
        "numpy",
        "clone",
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "permute",
        "transpose",
        "contiguous",
        "flatten",
        "softmax",
        "log_softmax",
        "sigmoid",
        "relu",
        "tanh",
        "argmax",
        "masked_fill",
        "masked_fill_",
        "add_",
        "mul_",
        "sub_",
        "div_",
        "copy_",
        "fill_",
        "normal_",
        "uniform_",
        "clamp_",
        "clamp_min",
        "clamp_max",
        "matmul",
        "bmm",
        "mm",
        "gather",
        "scatter",
        "scatter_",
        "index_select",
        "expand",
        "expand_as",
        "unbind",
        "chunk",
        "logsumexp",
        "new_zeros",
        "new_ones",
        "new_tensor",
        "new_full",
        "float",
        "double",
        "half",
        "long",
    ]
)
"""Methods whose call on an unknown value reveals that it is a tensor."""


def tensors_have(name: str) -> bool:
    """Whether tensors have an operator as a method of this name."""
    return f"Tensor.{name}" in python_names()


def is_of_tensors(name: str) -> bool:
    """Whether no other object has such a method: those that write in place are all torch's own."""
    return name in TENSOR_ONLY or (name.endswith("_") and not name.startswith("_") and tensors_have(name))


def _writes_its_argument(m: Machine, name: str) -> bool:
    """Whether this may be a function of torch that writes the tensor it is passed: an unknown owner may be a module.

    Presumed runs take such an owner for the tensor that it most likely is.
    """
    if m.config.presumes or not writes_in_place(name):
        return False
    return any(f"{module}.{name}" in python_names() for module in ("torch", "torch.nn.functional"))


class TensorGuess(Guess):
    """Recognizes tensors by names that only tensors have."""

    def get_attribute(self, m: Machine, owner: Unknown, name: str) -> Value | None:
        if _writes_its_argument(m, name):
            m.st.writes_out = True
        if owner.type is None and is_of_tensors(name):
            return BoundBuiltin(owner, name)
        if owner.type in {"grad", "tensor"} and name in PROPERTIES:
            m.record.imprecisions += 1
            symbol = (owner.symbol, name) if owner.symbol is not None else None
            return Unknown("bool" if name in FLAGS else None, symbol, owner.lineage, owner.reach)
        return None

    def set_attribute(self, m: Machine, owner: Unknown, name: str, value: Value) -> bool:
        if isinstance(value, Const) and isinstance(value.value, bool):
            tell(m, OwnAttributeSet(name, module=False))
        return False

    def call_method(self, m: Machine, owner: Unknown, name: str, args: Args) -> Value | None:
        if owner.type == "torch.Size":
            return Unknown("int")
        if args.pos and _writes_its_argument(m, name):
            havoc_written(m, args.pos[0])
            havoc_places(m, reach_of(args.pos[0]))
            lose_sizes(m, args.pos[0])
        return unknown_tensor_method(m, owner, name, args) if owner.type is None and is_of_tensors(name) else None


GUESSES.append(TensorGuess())
