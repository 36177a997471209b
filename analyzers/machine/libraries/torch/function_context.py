"""`ctx` of a custom function: what it stores, and what happens to that."""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Instance
from analyzers.domain.values import BoundBuiltin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.engine import Walk
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES, TUPLES, ClassModel, TupleModel
from analyzers.machine.core.tables import enter

SLOTS = {
    "save_for_backward": "__saved__",
    "mark_dirty": "__dirty__",
    "mark_non_differentiable": "__plain__",
    "set_materialize_grads": "__materialize__",
}


NAME = "__name__"


SAVED = "saved_tensors"


SAVED_NAMES = frozenset({"saved_tensors", "saved_variables"})


OWN = frozenset({
    "apply", "apply_boxed", "apply_jvp", "dirty_tensors", "mark_shared_storage", "materialize_grads",
    "maybe_clear_saved_tensors", "metadata", "name", "next_functions", "non_differentiable", "register_hook",
    "register_prehook", "requires_grad", "save_for_forward", "saved_for_forward", "to_save",
})  # fmt: skip
"""The other attributes of every `ctx`."""


def slot(m: Machine, ctx: Ref, name: str) -> tuple[Value, ...]:
    """The arguments that a method of `ctx` was called with."""
    found = m.st.get(ctx.id)
    kept = found.attrs.get(name) if isinstance(found, Instance) else None
    return kept.items if isinstance(kept, Tup) else ()


def context_method(m: Machine, receiver: Ref, found: Instance, name: str, args: Args) -> Value:
    """`ctx.save_for_backward(...)` and similar methods."""
    where = SLOTS.get(name)
    if where is not None:
        m.indexes.context_sites[receiver.id, name] = m.site()
        kept: Value = Unknown() if args.open else Tup(tuple(args.pos))
        m.st.put(receiver.id, replace(found, attrs=found.attrs.set(where, kept)))
    return Const(None)


def context_attribute(m: Machine, owner: Ref, found: Instance, name: str) -> Value:
    """The attributes of `ctx` other than those set by `forward`."""
    if name in SAVED_NAMES:
        return _saved_tensors(m, owner, found)
    if name in SLOTS or name == "save_for_forward":
        return BoundBuiltin(owner, name)
    if has(found, name) is False:
        cls = found.attrs[NAME]
        assert isinstance(cls, Const)
        raise m.throw("AttributeError", f"'{cls.value}Backward' object has no attribute '{name}'", Plain("custom"))
    return Unknown()


def has(found: Instance, name: str) -> truth.Truth:
    """Whether `ctx` has an attribute."""
    if name in found.attrs or name in SAVED_NAMES or name in SLOTS or name in OWN:
        return True
    return None if found.open or name.startswith("_") else False


def _saved_tensors(m: Machine, ctx: Ref, found: Instance) -> Value:
    """`ctx.saved_tensors` inside backward: checks what has been freed or modified since."""
    node = found.attrs.get("__node__")
    kept = found.attrs.get("__saved__", Tup(()))
    if isinstance(node, Const) and isinstance(node.value, int):
        Walk(m, False, "").check(m.node(node.value), True)
    if found.open:
        return kept if "__saved__" in found.attrs else Unknown()
    return replace(kept, kind=SAVED) if isinstance(kept, Tup) else kept


class SavedTensors(TupleModel):
    """The tuple `ctx.saved_tensors`, mistakenly used as a tensor."""

    def misused(self, m: Machine, owner: Value, exception: str, message: str) -> None:
        raise m.throw(exception, message, Plain("custom"))


enter(TUPLES, SAVED, SavedTensors())


class ContextModel(ClassModel):
    """`ctx`."""

    def get_attribute(self, m: Machine, owner: Ref, found: Instance, name: str) -> Value:
        return context_attribute(m, owner, found, name)

    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value:
        return context_method(m, owner, found, name, args)

    def store(self, m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> bool:
        if not m.frame.library:
            m.indexes.context_sites[owner.id, name] = m.site()
        return False


enter(CLASSES, "torch.autograd.FunctionCtx", ContextModel())
