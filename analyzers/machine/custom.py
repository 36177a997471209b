"""Custom autograd functions: `forward` runs without grad, its result gets a node whose backward is the user's own."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from analyzers.domain.objects import ClassObj, Edge, Instance, Node, Tensor
from analyzers.domain.values import Const, Func, Ref, Tup, Unknown, Value
from analyzers.machine.calls import Args, call_function, unknown_call
from analyzers.machine.core import Machine
from analyzers.machine.events import Plain
from analyzers.machine.tensors import Step, edge_to, refreshed, save, tensor_at


def apply_function(m: Machine, receiver: Value, args: Args) -> Value:
    from analyzers.domain import truth
    from analyzers.machine.attributes import find_in_class

    cls = m.obj(receiver)
    if not isinstance(cls, ClassObj) or not isinstance(receiver, Ref):
        return unknown_call(m, receiver, args)
    forward = find_in_class(m, receiver.id, "forward")
    if not isinstance(forward, Func):
        return unknown_call(m, receiver, args)
    inputs = [a.id for a in args.pos if isinstance(a, Ref) and isinstance(m.obj(a), Tensor)]
    requires = truth.any_of(refreshed(m, i).requires_grad for i in inputs)
    if any(isinstance(a, Unknown) and a.type is None for a in args.pos) and requires is False:
        requires = None
    recorded = truth.both(m.st.grad, requires)
    ctx = m.new(Instance("torch.autograd.FunctionCtx", Map(), open=True))
    before = m.st.grad
    m.st.grad = False
    setup = find_in_class(m, receiver.id, "setup_context")
    try:
        plain = replace(forward, kind="static")
        result = call_function(m, plain, args if isinstance(setup, Func) else args.prepend(ctx))
        if isinstance(setup, Func):
            call_function(m, replace(setup, kind="static"), Args([ctx, Tup(tuple(args.pos)), result]))
    finally:
        m.st.grad = before
    return _wrap(m, receiver, cls, ctx, inputs, result, recorded)


def _wrap(
    m: Machine, receiver: Ref, cls: ClassObj, ctx: Ref, inputs: list[int], result: Value, recorded: bool | None
) -> Value:
    from analyzers.machine.attributes import find_in_class

    outputs = result.items if isinstance(result, Tup) else (result,)
    context = m.st.get(ctx.id)
    kept = context.attrs.get("__saved__") if isinstance(context, Instance) else None
    plain = context.attrs.get("__plain__") if isinstance(context, Instance) else None
    not_differentiable = set(plain.items) if isinstance(plain, Tup) else set()
    dirty = context.attrs.get("__dirty__") if isinstance(context, Instance) else None
    has_backward = any(
        isinstance(find_in_class(m, receiver.id, name), Func) for name in ("backward", "vjp")
    ) or not cls.known
    node: int | None = None
    if recorded is not False:
        edges = tuple(edge_to(m, i) for i in inputs)
        made = Node(
            (cls.name + "Backward",), edges, (), loc=m.here(), what=cls.name, kind="custom",
            seq=m.next_sequence(), epoch=tuple(m.iterations), via=m.via(),
            payload=None if has_backward else Const("no-backward"),
        )  # fmt: skip
        node = m.new(made).id
    wrapped: list[Value] = []
    for index, value in enumerate(outputs):
        tensor = m.tensor(value)
        if tensor is None or not isinstance(value, Ref):
            wrapped.append(value)
            continue
        step = Step(cls.name, cls.name, {}, (), parents=m.parents([value, *(Ref(i) for i in inputs)]))
        if value in not_differentiable:
            wrapped.append(value)
            continue
        from analyzers.machine.tensors import can_require_grad

        if node is None or can_require_grad(tensor.dtype) is False:
            wrapped.append(value)
            continue
        if value.id in inputs and not (isinstance(dirty, Tup) and value in dirty.items):
            from analyzers.machine.tensors import new_view

            view = new_view(m, step, value.id, tensor.shape, node, index, contiguous=tensor.contiguous)
            found = tensor_at(m, view.id)
            m.st.put(view.id, replace(found, requires_grad=recorded, creation="custom"))
            wrapped.append(view)
            continue
        current = tensor_at(m, value.id)
        m.st.put(
            value.id,
            replace(current, requires_grad=recorded, edge=Edge(node, index), lineage=m.trail(cls.name, step.parents)),
        )
        wrapped.append(value)
    if node is not None and isinstance(kept, Tup):
        saved = tuple(
            save(m, v.id, "saved", is_output=v in wrapped) for v in kept.items if isinstance(v, Ref) and m.tensor(v)
        )
        m.st.put(node, replace(m.node(node), saved=saved))
    return Tup(tuple(wrapped)) if isinstance(result, Tup) else wrapped[0]


def context_method(m: Machine, receiver: Ref, found: Instance, name: str, args: Args) -> Value:
    """`ctx.save_for_backward(...)` and its kin."""
    slots = {
        "save_for_backward": "__saved__",
        "mark_dirty": "__dirty__",
        "mark_non_differentiable": "__plain__",
    }
    slot = slots.get(name)
    if slot is not None:
        m.st.put(receiver.id, Instance(found.cls, found.attrs.set(slot, Tup(tuple(args.pos))), True))
    return Const(None)


def check_backward(m: Machine, node: Node) -> None:
    """A function without `backward` raises when backward comes to it."""
    if node.payload == Const("no-backward"):
        raise m.throw(
            "NotImplementedError", "You must implement either the backward or vjp method for your custom autograd.Function",
            Plain("custom"),
        )  # fmt: skip
