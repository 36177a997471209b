"""`autograd_machine`: what the prelude asks the machine for, as Python cannot say it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from immutables import Map

from analyzers.domain.join import NUMBERS, one_of
from analyzers.domain.objects import DictObj, Edge, Instance, ListObj, Shape
from analyzers.domain.values import NONE, BoundBuiltin, Const, Func, Method, Ref, Tup, Unknown, Value
from analyzers.machine.calls import Args, call
from analyzers.machine.core import Machine
from analyzers.machine.events import NoGraph, OutputReplaced
from analyzers.machine.expressions import truth_of
from analyzers.machine.memory import whole_view
from analyzers.machine.natives import called, native
from analyzers.machine.tensor_attributes import is_device
from analyzers.machine.tensors import (
    Step,
    bump,
    inputs_require_grad,
    make_node,
    refreshed,
    subject_name,
    tensor_at,
    write_hidden,
)
from analyzers.machine.torch_calls import opaque_result


@native("autograd_machine.write")
def _write(m: Machine, args: Args) -> Value:
    target = args.get(0, "t")
    if isinstance(target, Ref) and m.tensor(target) is not None:
        bump(m, target.id, library_caller(m))
    return NONE


@native("autograd_machine.share_gradient")
def _share_gradient(m: Machine, args: Args) -> Value:
    target = args.get(0, "t")
    tensor = m.tensor(target)
    if tensor is not None and isinstance(target, Ref):
        m.st.put(target.id, replace(tensor, shared_grad=True))
    return NONE


def library_caller(m: Machine) -> str:
    """The library function that the user's own code called."""
    inner = None
    for frame in reversed(m.frames):
        if not frame.library:
            break
        inner = frame
    return inner.func.node_name if inner is not None and inner.func is not None else "write"


@native("autograd_machine.blur")
def _blur(m: Machine, args: Args) -> Value:
    """Writes to a tensor, nobody knows how many."""
    from analyzers.machine.tensors import blur_tensor

    target = args.get(0, "t")
    if isinstance(target, Ref) and m.tensor(target) is not None:
        blur_tensor(m, target.id)
    return NONE


@native("autograd_machine.write_hidden")
def _write_hidden(m: Machine, args: Args) -> Value:
    tensor = m.tensor(args.get(0, "t"))
    if tensor is not None:
        write_hidden(m, tensor.storage, "step")
    return NONE


@native("autograd_machine.update")
def _update(m: Machine, args: Args) -> Value:
    """A write to the first tensor that autograd records, made of all of them in a way that is not known."""
    from analyzers.machine.tensors import check_usable, check_write, edge_to, edges_of, rebase

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


@native("autograd_machine.surely")
def _surely(m: Machine, args: Args) -> Value:
    return Const(truth_of(m, args.get(0, "condition"))[0] is True)


@native("autograd_machine.known")
def _known(m: Machine, args: Args) -> Value:
    """Whether all of these are numbers that the machine knows."""
    return Const(not args.open and all(isinstance(value, Const) for value in args.all()))


@native("autograd_machine.says_nothing")
def _says_nothing(m: Machine, args: Args) -> Value:
    """Whether a value may be anything at all."""
    value = args.get(0, "value")
    return Const(isinstance(value, Unknown) and value.type is None)


@native("autograd_machine.is_device")
def _is_device(m: Machine, args: Args) -> Value:
    return Const(is_device(m, args.get(0, "value")))


@native("autograd_machine.unknown")
def _unknown(m: Machine, args: Args) -> Value:
    return Unknown(None, m.fresh())


@native("autograd_machine.either")
def _either(m: Machine, args: Args) -> Value:
    return one_of(args.get(0, "left"), args.get(1, "right"))


@native("autograd_machine.delayed_error")
def _delayed_error(m: Machine, args: Args) -> Value:
    """The same numbers, behind a node whose backward raises."""
    source = args.get(0, "tensor")
    tensor = m.tensor(source)
    if tensor is None:
        return Unknown()
    result = m.new_tensor(tensor.shape, tensor.dtype, requires_grad=True, parents=m.parents([source]))
    step = Step("error", "error", {}, ("Error",), (), "unimplemented", payload=args.get(1, "message"))
    tensor_at(m, result.id).edge = Edge(make_node(m, step, ()))
    return result


@native("autograd_machine.outside")
def _outside(m: Machine, args: Args) -> Value:
    """A tensor as those see it who do not know the leaves `inputs`: without graph, if it leads nowhere else."""
    from analyzers.machine.iteration import stream_of
    from analyzers.machine.tensors import leaves_behind

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


@native("autograd_machine.without_graph")
def _without_graph(m: Machine, args: Args) -> Value:
    """Raises what torch says of a backward that finds no graph behind a tensor."""
    value, message = args.get(0, "tensor"), args.get(1, "message")
    tensor = m.tensor(value)
    if tensor is None or not isinstance(message, Const) or not isinstance(message.value, str):
        return Unknown()
    raise m.throw("RuntimeError", message.value, NoGraph(subject_name(m), tensor.lineage, tensor.dtype))


@native("autograd_machine.inside")
def _inside(m: Machine, args: Args) -> Value:
    """A tensor as a function sees it that `torch.func` differentiates: no operator lies between the two."""
    value = args.get(0, "tensor")
    if m.tensor(value) is None or not isinstance(value, Ref):
        return value
    step = Step("inside", "torch.func", {"self": (value.id,)}, (), ("self",), "inside", m.parents([value]))
    return whole_view(m, step, value, make_node(m, step, ()))


@native("autograd_machine.keep")
def _keep(m: Machine, args: Args) -> Value:
    """Remember tensors as they are now: a node that nothing leads to."""
    from analyzers.machine.tensors import save

    ids = tuple(value.id for value in args.pos if isinstance(value, Ref) and m.tensor(value) is not None)
    step = Step("checkpoint", "checkpoint", {"input": ids}, ("CheckpointBackward",), ())
    return Ref(make_node(m, step, [save(m, ident, "input") for ident in ids], ()))


@native("autograd_machine.kept")
def _kept(m: Machine, args: Args) -> Value:
    """Ask for what `keep` remembers, as a backward asks for what a node has saved."""
    from analyzers.machine.backward import Walk

    kept = args.get(0, "kept")
    if isinstance(kept, Ref):
        Walk(m, True, "").check(m.node(kept.id), True)
    return NONE


@native("autograd_machine.walk")
def _walk(m: Machine, args: Args) -> Value:
    """Which backward is under way."""
    return Const(m.walks[-1][0]) if m.walks else NONE


@native("autograd_machine.aimed")
def _aimed(m: Machine, args: Args) -> Value:
    """Whether the backward under way goes to named inputs only."""
    return Const(bool(m.walks) and m.walks[-1][1])


@native("autograd_machine.sized")
def _sized(m: Machine, args: Args) -> Value:
    """A tensor of which the sizes are known by what the operator was not told."""
    value = args.get(0, "tensor")
    tensor = m.tensor(value)
    if tensor is not None and isinstance(value, Ref) and not args.open:
        m.st.put(value.id, replace(tensor, shape=tuple(m.int_of(size) for size in args.pos[1:])))
    return value


@native("autograd_machine.spread")
def _spread(m: Machine, args: Args) -> Value:
    """Something computed of a tensor, with more dimensions in front."""
    tensor = m.tensor(value := args.get(0, "tensor"))
    sizes = args.get(1, "shape")
    if tensor is None or not isinstance(value, Ref):
        return value
    if not isinstance(sizes, Tup) or tensor.shape is None:
        return opaque_like(m, value, None)
    return opaque_like(m, value, (*(m.int_of(size) for size in sizes.items), *tensor.shape))


def opaque_like(m: Machine, value: Ref, shape: Shape) -> Ref:
    """Something computed of one tensor in a way that the machine does not follow."""
    result = opaque_result(m, "func", [value])
    made, source = tensor_at(m, result.id), refreshed(m, value.id)
    made.shape, made.dtype = shape, source.dtype
    if source.requires_grad is False:
        made.requires_grad, made.edge = False, None
    return result


def _unknown_of(kind: str) -> Callable[[Machine, Args], Value]:
    return lambda m, args: Unknown(kind)


for _kind in sorted(NUMBERS - {"complex"} | {"str"}):
    native(f"autograd_machine.unknown_{_kind}")(_unknown_of(_kind))


@native("autograd_machine.namespace")
def _namespace(m: Machine, args: Args) -> Value:
    """What a command line gave: an object with these attributes, and perhaps with others."""
    found = m.obj(args.get(0, "values"))
    if not isinstance(found, DictObj) or found.rest is not None or args.get(1, "whole") != Const(True):
        return Unknown(None, m.fresh())
    values = {str(name.value): value for name, value in found.items.items() if isinstance(name, Const)}
    return m.new(Instance("argparse.Namespace", Map(values), True))


@native("autograd_machine.several")
def _several(m: Machine, args: Args) -> Value:
    """A list of one such value or more."""
    value = args.get(0, "value")
    return m.new(ListObj((value,), value))


def members(m: Machine, module: Value, table: str) -> list[tuple[str, Value]]:
    """The parameters, buffers or modules below a module, each once, by dotted name."""
    out: list[tuple[str, Value]] = []
    seen: set[Value] = set()
    visited: set[int] = set()

    def walk(value: Value, prefix: str) -> None:
        found = m.obj(value)
        if not isinstance(value, Ref) or value.id in visited or not isinstance(found, Instance):
            return
        visited.add(value.id)
        if table == "_modules":
            out.append((prefix.rstrip("."), value))
        else:
            own = m.obj(found.attrs[table]) if table in found.attrs else None
            if isinstance(own, DictObj):
                for key in own.order:
                    item = own.items[key]
                    if item != NONE and item not in seen and isinstance(key, Const):
                        seen.add(item)
                        out.append((f"{prefix}{key.value}", item))
        children = m.obj(found.attrs["_modules"]) if "_modules" in found.attrs else None
        if isinstance(children, DictObj):
            for key in children.order:
                if isinstance(key, Const):
                    walk(children.items[key], f"{prefix}{key.value}.")

    walk(module, "")
    return out


def is_open(m: Machine, module: Value) -> bool:
    """Whether a module may have members that the machine does not know."""
    for _, value in members(m, module, "_modules"):
        found = m.obj(value)
        if not isinstance(found, Instance):
            return True
        for table in ("_modules", "_parameters"):
            own = m.obj(found.attrs[table]) if table in found.attrs else None
            if not isinstance(own, DictObj) or own.rest is not None:
                return True
            if any(isinstance(v, Unknown) for v in own.items.values()):
                return True
        own_class = m.st.get(found.cls) if isinstance(found.cls, int) else None
        if not getattr(own_class, "known", False):
            return True
    return not members(m, module, "_modules")


def _holds_unknown(m: Machine, module: Value) -> bool:
    """Whether an attribute of a module, or of one below it, may be a module that the machine does not know."""
    for _, value in members(m, module, "_modules"):
        found = m.obj(value)
        if isinstance(found, Instance) and any(isinstance(v, Unknown) and v.type is None for v in found.attrs.values()):
            return True
    return False


def _named(m: Machine, args: Args, table: str) -> Value:
    module = args.get(0, "module")
    pairs = tuple(Tup((Const(name), value)) for name, value in members(m, module, table))
    more = is_open(m, module) or (not pairs and _holds_unknown(m, module))
    rest = Tup((Unknown("str"), Unknown())) if more else None
    return m.new(ListObj(pairs, rest))


@native("autograd_machine.named_parameters")
def _named_parameters(m: Machine, args: Args) -> Value:
    return _named(m, args, "_parameters")


@native("autograd_machine.parameters")
def _parameters(m: Machine, args: Args) -> Value:
    named = m.obj(_named(m, args, "_parameters"))
    assert isinstance(named, ListObj)
    found = tuple(pair.items[1] for pair in named.items if isinstance(pair, Tup))
    return m.new(ListObj(found, None if named.rest is None else Unknown()))


@native("autograd_machine.named_buffers")
def _named_buffers(m: Machine, args: Args) -> Value:
    return _named(m, args, "_buffers")


@native("autograd_machine.named_modules")
def _named_modules(m: Machine, args: Args) -> Value:
    return _named(m, args, "_modules")


@native("autograd_machine.follow")
def _follow(m: Machine, args: Args) -> Value:
    from analyzers.machine.followers import follow

    follow(m, args.get(0, "target"), args.get(1, "source"))
    return NONE


@native("autograd_machine.note_replaced")
def _note_replaced(m: Machine, args: Args) -> Value:
    hook = args.get(0, "hook")
    func = hook.func if isinstance(hook, Method) else hook
    if isinstance(func, Func):
        m.note(OutputReplaced(m.site(), m.place_of(func), m.lineage(args.get(1, "result"))))
    return NONE


@native(
    "autograd_machine.note_optimizer",
    "autograd_machine.note_scale",
    "autograd_machine.note_unscale",
    "autograd_machine.note_scaled_step",
    "autograd_machine.note_step",
    "autograd_machine.note_zero",
    "autograd_machine.note_clip",
    "autograd_machine.note_scheduler",
)
def _note(m: Machine, args: Args) -> Value:
    from analyzers.machine.training import note

    note(m, called(m), args.get(0, "what"))
    return NONE
