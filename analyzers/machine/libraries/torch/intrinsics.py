"""`autograd_machine`: what the prelude asks the machine for, because Python cannot express it."""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import Edge, ListObj, Shape
from analyzers.domain.values import NONE, BoundBuiltin, Const, Func, Method, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.engine import Walk
from analyzers.machine.autograd.graph import (
    Step,
    edge_to,
    edges_of,
    inputs_require_grad,
    leaves_behind,
    make_node,
    refreshed,
)
from analyzers.machine.autograd.saved_tensors import check_savable, save
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import blur_tensor, bump, write_hidden
from analyzers.machine.autograd.views import check_usable, whole_view
from analyzers.machine.autograd.writes import check_write, rebase
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.causes import NoGraph, Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import library_caller, subject_name
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import answers
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.operators.devices import is_device
from analyzers.machine.operators.opaque import opaque_result


@answers("autograd_machine.refuse")
def _refuse(m: Machine, args: Args) -> Value:
    """Raise what torch raises where the order of calls is wrong: that is told even where only one way leads there."""
    message = args.get(0, "message")
    assert isinstance(message, Const)
    raise m.throw("RuntimeError", str(message.value), Plain("order-of-calls"))


@answers("autograd_machine.write")
def _write(m: Machine, args: Args) -> Value:
    target = args.get(0, "t")
    if isinstance(target, Ref) and m.tensor(target) is not None:
        bump(m, target.id, library_caller(m))
    return NONE


@answers("autograd_machine.share_gradient")
def _share_gradient(m: Machine, args: Args) -> Value:
    target = args.get(0, "t")
    tensor = m.tensor(target)
    if tensor is not None and isinstance(target, Ref):
        m.st.put(target.id, replace(tensor, shared_grad=True))
    return NONE


@answers("autograd_machine.blur")
def _blur(m: Machine, args: Args) -> Value:
    """An unknown number of writes to a tensor."""
    target = args.get(0, "t")
    if isinstance(target, Ref) and m.tensor(target) is not None:
        blur_tensor(m, target.id)
    return NONE


@answers("autograd_machine.write_hidden")
def _write_hidden(m: Machine, args: Args) -> Value:
    tensor = m.tensor(args.get(0, "t"))
    if tensor is not None:
        write_hidden(m, tensor.storage, "step")
    return NONE


@answers("autograd_machine.update")
def _update(m: Machine, args: Args) -> Value:
    """A recorded write to the first tensor, computed from all of them in an unknown way."""
    ids = [value.id for value in args.pos if isinstance(value, Ref) and m.tensor(value) is not None]
    if not ids:
        return NONE
    name = library_caller(m)
    step = Step(name, name, {"self": (ids[0],), "other": tuple(ids[1:])}, (), ("self", "other"), "unknown")
    step.requires = inputs_require_grad(m, step)
    check_usable(m, step)
    check_write(m, ids[0], step)
    base = tensor_at(m, ids[0]).base
    edges, base_edge = edges_of(m, step), edge_to(m, base) if base is not None else None
    bump(m, ids[0], name)
    rebase(m, ids[0], step, [], edges, base_edge)
    return NONE


@answers("autograd_machine.is_device")
def _is_device(m: Machine, args: Args) -> Value:
    return Const(is_device(m, args.get(0, "value")))


@answers("autograd_machine.torch_since")
def _torch_since(m: Machine, args: Args) -> Value:
    """Whether the program's torch is at least this one; where nobody knows, it is the one that the tables are of."""
    wanted = tuple(value.value for value in args.all() if isinstance(value, Const))
    release = m.config.program.torch_release()
    return Const(release is None or release >= wanted)


@answers("autograd_machine.delayed_error")
def _delayed_error(m: Machine, args: Args) -> Value:
    """The same numbers, with a node whose backward raises."""
    source = args.get(0, "tensor")
    tensor = m.tensor(source)
    if tensor is None:
        return Unknown()
    result = m.new_tensor(tensor.shape, tensor.dtype, requires_grad=True, parents=m.parents([source]))
    step = Step("error", "error", {}, ("Error",), (), "unimplemented", payload=args.get(1, "message"))
    tensor_at(m, result.id).edge = Edge(make_node(m, step, ()))
    return result


@answers("autograd_machine.outside")
def _outside(m: Machine, args: Args) -> Value:
    """A tensor as seen by code unaware of the leaves `inputs`: without its graph, if that leads nowhere else."""
    tensor = m.tensor(value := args.get(0, "tensor"))
    if tensor is None or not isinstance(value, Ref):
        return value
    inner = {i.id for i in stream_of(m, args.get(1, "inputs")).items if isinstance(i, Ref)}
    reached = leaves_behind(m, value.id)
    if reached is None or not reached & inner:
        return value
    if reached <= inner:
        return call(m, BoundBuiltin(value, "detach"), Args())
    return opaque_like(m, value, tensor.shape)


@answers("autograd_machine.without_graph")
def _without_graph(m: Machine, args: Args) -> Value:
    """Raise torch's error for a backward from a tensor without a graph."""
    value, message = args.get(0, "tensor"), args.get(1, "message")
    tensor = m.tensor(value)
    if tensor is None or not isinstance(message, Const) or not isinstance(message.value, str):
        return Unknown()
    raise m.throw("RuntimeError", message.value, NoGraph(subject_name(m, value), tensor.lineage, tensor.dtype))


@answers("autograd_machine.inside")
def _inside(m: Machine, args: Args) -> Value:
    """A tensor as seen inside a function that `torch.func` differentiates: no operator is between the two."""
    value = args.get(0, "tensor")
    if m.tensor(value) is None or not isinstance(value, Ref):
        return value
    step = Step("inside", "torch.func", {"self": (value.id,)}, (), ("self",), "inside", m.parents([value]))
    return whole_view(m, step, value, make_node(m, step, ()))


@answers("autograd_machine.keep")
def _keep(m: Machine, args: Args) -> Value:
    """Save tensors as they are now, in a node that nothing leads to."""
    ids = tuple(value.id for value in args.pos if isinstance(value, Ref) and m.tensor(value) is not None)
    for ident in ids:
        check_savable(m, ident)
    step = Step("checkpoint", "checkpoint", {"input": ids}, ("CheckpointBackward",), ())
    return Ref(make_node(m, step, [save(m, ident, "input", converted=False) for ident in ids], ()))


@answers("autograd_machine.kept")
def _kept(m: Machine, args: Args) -> Value:
    """Unpack what `keep` saved, as a backward unpacks a node's saved tensors."""
    kept = args.get(0, "kept")
    if isinstance(kept, Ref):
        Walk(m, True, "").check(m.node(kept.id), True)
    return NONE


@answers("autograd_machine.runs_again")
def _runs_again(m: Machine, args: Args) -> Value:
    """A backward will call a function, and so may one that nobody knows."""
    function = args.get(0, "function")
    func = function.func if isinstance(function, Method) else function
    if isinstance(func, Func):
        PORTS.python.given_away(m, func)
        m.indexes.runs_again[func] = None
    return NONE


@answers("autograd_machine.has_tensor")
def _has_tensor(m: Machine, args: Args) -> Value:
    """Whether some item of a list is surely a tensor."""
    found = m.obj(args.get(0, "values"))
    return Const(isinstance(found, ListObj) and any(m.tensor(item) is not None for item in found.items))


@answers("autograd_machine.walk")
def _walk(m: Machine, args: Args) -> Value:
    """The current backward."""
    return Const(m.extent.walks[-1][0]) if m.extent.walks else NONE


@answers("autograd_machine.aimed")
def _aimed(m: Machine, args: Args) -> Value:
    """Whether the current backward only goes to named inputs."""
    return Const(bool(m.extent.walks) and m.extent.walks[-1][1])


@answers("autograd_machine.sized")
def _sized(m: Machine, args: Args) -> Value:
    """A tensor whose sizes are known from something other than the operator's arguments."""
    value = args.get(0, "tensor")
    tensor = m.tensor(value)
    if tensor is not None and isinstance(value, Ref) and not args.open:
        m.st.put(value.id, replace(tensor, shape=tuple(m.int_of(size) for size in args.pos[1:])))
    return value


@answers("autograd_machine.spread")
def _spread(m: Machine, args: Args) -> Value:
    """A result computed from a tensor, with additional leading dimensions."""
    tensor = m.tensor(value := args.get(0, "tensor"))
    sizes = args.get(1, "shape")
    if tensor is None or not isinstance(value, Ref):
        return value
    if not isinstance(sizes, Tup) or tensor.shape is None:
        return opaque_like(m, value, None)
    return opaque_like(m, value, (*(m.int_of(size) for size in sizes.items), *tensor.shape))


def opaque_like(m: Machine, value: Ref, shape: Shape) -> Ref:
    """A result computed from a tensor in a way that the machine does not follow."""
    result = opaque_result(m, "func", [value])
    made, source = tensor_at(m, result.id), refreshed(m, value.id)
    made.shape, made.dtype = shape, source.dtype
    if source.requires_grad is False:
        made.requires_grad, made.edge = False, None
    return result
