"""Custom autograd functions: `forward` runs without grad, its result gets a node whose backward is the user's own."""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import ClassObj, Edge, Instance, ListObj, Node, Tensor
from analyzers.domain.values import NONE, Const, Func, Ref, Tup, Unknown, Value
from analyzers.machine.calls import Args, call_function, unknown_call
from analyzers.machine.core import Machine
from analyzers.machine.events import Plain
from analyzers.machine.tensors import Step, edge_to, refreshed, save, tensor_at
from analyzers.syntax import nodes as n


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
    return _wrap(m, receiver, cls, ctx, inputs, result, recorded, len(args.pos))


def _wrap(
    m: Machine,
    receiver: Ref,
    cls: ClassObj,
    ctx: Ref,
    inputs: list[int],
    result: Value,
    recorded: bool | None,
    arguments: int,
) -> Value:
    outputs = result.items if isinstance(result, Tup) else (result,)
    context = m.st.get(ctx.id)
    kept = context.attrs.get("__saved__") if isinstance(context, Instance) else None
    plain = context.attrs.get("__plain__") if isinstance(context, Instance) else None
    not_differentiable = set(plain.items) if isinstance(plain, Tup) else set()
    dirty = context.attrs.get("__dirty__") if isinstance(context, Instance) else None
    node: int | None = None
    if recorded is not False:
        edges = tuple(edge_to(m, i) for i in inputs)
        made = Node(
            (cls.name + "Backward",), edges, (), loc=m.here(), what=cls.name, kind="custom",
            seq=m.next_sequence(), epoch=tuple(m.iterations), via=m.via(),
            payload=Tup((receiver, ctx, Const(arguments), Const(len(outputs)))),
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
            from analyzers.machine.memory import lay_out, layout_of
            from analyzers.machine.tensors import new_view

            view = new_view(m, step, value.id, tensor.shape, node, index, contiguous=tensor.contiguous)
            layout = layout_of(tensor)
            if layout is not None:
                lay_out(tensor_at(m, view.id), layout)
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


def _end_of_forward(m: Machine, cls: int) -> Lineage | None:
    """The last statement of `forward`, behind which `backward` belongs."""
    from analyzers.machine.attributes import find_in_class

    func = find_in_class(m, cls, "forward")
    if not isinstance(func, Func) or not isinstance(func.node, n.FunctionDef):
        return None
    last = func.node.body[-1]
    return Lineage("forward", Loc(func.module, func.chunk, last.start, last.end))


def run_user_backward(m: Machine, ident: int, node: Node, certain: bool) -> None:
    """Run the user's own `backward`, as the engine does when it comes to the node."""
    payload = node.payload
    if not isinstance(payload, Tup):
        return
    receiver, ctx, inputs, outputs = payload.items
    assert isinstance(receiver, Ref) and isinstance(ctx, Ref)
    from analyzers.machine.attributes import find_in_class

    func = find_in_class(m, receiver.id, "backward") or find_in_class(m, receiver.id, "vjp")
    cls = m.st.get(receiver.id)
    if not isinstance(func, Func):
        if certain and isinstance(cls, ClassObj) and cls.known:
            raise m.throw(
                "NotImplementedError",
                "You must implement either the backward or vjp method for your custom autograd.Function",
                Plain("custom", _end_of_forward(m, receiver.id)),
            )  # fmt: skip
        return
    if not certain:
        return
    context = m.st.get(ctx.id)
    assert isinstance(context, Instance)
    m.st.put(ctx.id, Instance(context.cls, context.attrs.set("__node__", Const(ident)), True))
    count = m.int_of(outputs) or 1
    gradients: list[Value] = [m.new_tensor(None, None, what="grad") for _ in range(count)]
    before = m.st.grad
    m.st.grad = False
    try:
        result = call_function(m, replace(func, kind="static"), Args([ctx, *gradients]))
    finally:
        m.st.grad = before
    _check_gradients(m, node, result, m.int_of(inputs) or 0)


def _check_gradients(m: Machine, node: Node, result: Value, expected: int) -> None:
    """As many gradients as `forward` had arguments; more only if they are None."""
    if isinstance(result, Unknown):
        return
    given = list(result.items) if isinstance(result, Tup) else [result]
    if isinstance(m.obj(result), ListObj):
        return
    extra = given[expected:]
    if (len(given) < expected and not (len(given) == 1 and given[0] == NONE and expected == 1)) or any(
        g != NONE and not isinstance(g, Unknown) for g in extra
    ):
        raise m.throw(
            "RuntimeError", f"function {node.names[0]} returned an incorrect number of gradients", Plain("custom")
        )


def saved_tensors(m: Machine, found: Instance) -> Value:
    """`ctx.saved_tensors` inside backward: the check of what was freed and changed since."""
    from analyzers.machine.backward import Walk

    node = found.attrs.get("__node__")
    kept = found.attrs.get("__saved__", Tup(()))
    if isinstance(node, Const) and isinstance(node.value, int):
        Walk(m, False, "").check(m.node(node.value), True)
    return kept
