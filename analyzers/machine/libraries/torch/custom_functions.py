"""Custom autograd functions: `forward` runs without grad, and its result gets a node with the user's own backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import ClassObj, DictObj, Edge, Instance, ListObj, Node, Operand, Tensor, by_name
from analyzers.domain.values import FALSE, NONE, TRUE, BoundBuiltin, Const, Func, Ref, Tup, Unknown, Value
from analyzers.machine.autograd.engine import NODES
from analyzers.machine.autograd.graph import Step, edge_to, operand, refreshed
from analyzers.machine.autograd.saved_tensors import check_savable, save
from analyzers.machine.autograd.tensor_arithmetic import Term, summed_to
from analyzers.machine.autograd.tensors import can_require_grad, tensor_at
from analyzers.machine.autograd.versions import bump, version_kept
from analyzers.machine.autograd.views import view_error, whole_view
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call, unknown_call
from analyzers.machine.core.causes import UNMATERIALIZED, LeafWritten, Plain
from analyzers.machine.core.events import KeptOnContext
from analyzers.machine.core.havoc import havoc_places
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name
from analyzers.machine.core.registries import CLASSES, NAMED_FUNCTIONS, ClassModel
from analyzers.machine.core.signals import CallBegins, CalledUnseen, tell
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.calls import call_function
from analyzers.machine.libraries.torch.function_context import NAME, slot
from analyzers.machine.libraries.torch.modules import watched
from analyzers.machine.objects.classes import find_in_class, is_a
from analyzers.maps import Map
from analyzers.syntax import nodes as n


def apply_function(m: Machine, receiver: Value, args: Args) -> Value:
    """`F.apply(...)`: the edges lead to the inputs as they were before `forward` ran."""
    cls = m.obj(receiver)
    if not isinstance(cls, ClassObj) or not isinstance(receiver, Ref):
        return unknown_call(m, receiver, args)
    forward = find_in_class(m, receiver.id, "forward")
    setup = find_in_class(m, receiver.id, "setup_context")
    if forward is None and cls.known:
        raise m.throw(
            "NotImplementedError",
            "You must implement the forward function for custom autograd.Function.",
            Plain("custom"),
        )
    if not isinstance(forward, Func) or isinstance(setup, Unknown) or args.open:
        return unknown_call(m, receiver, args)
    inputs = [a.id if isinstance(a, Ref) and isinstance(m.obj(a), Tensor) else None for a in args.pos]
    needs = [False if i is None else refreshed(m, i).requires_grad for i in inputs]
    hidden = any(isinstance(a, Unknown) and a.type is None for a in args.pos)
    requires = truth.any_of([*needs, *([None] if hidden else [])])
    call_ = _Call(receiver, cls, args, inputs, truth.both(m.st.grad, requires))
    call_.edges = tuple(None if i is None else edge_to(m, i) for i in inputs)
    call_.operands = tuple(Operand() if i is None else operand(m, i) for i in inputs)
    flags = Tup(tuple(Unknown("bool") if need is None else TRUE if need else FALSE for need in needs))
    attrs: dict[str, Value] = {"needs_input_grad": flags, NAME: Const(cls.name)}
    ctx = m.new(Instance("torch.autograd.FunctionCtx", Map(attrs)))
    before = m.st.grad
    m.st.grad = False
    try:
        plain = replace(forward, kind="static")
        given = args if isinstance(setup, Func) else args.prepend(ctx)
        _check_given(m, cls, forward, given)
        result = call_function(m, plain, given)
        if isinstance(setup, Func):
            call_function(m, replace(setup, kind="static"), Args([ctx, Tup(tuple(args.pos)), result]))
    finally:
        m.st.grad = before
    return call_.wrap(m, ctx, result)


def _check_given(m: Machine, cls: ClassObj, func: Func, args: Args) -> None:
    """Check that a method accepts the arguments that `apply`, or the engine, passes."""
    parameters = func.node.args
    named = [parameter.name for parameter in (*parameters.posonly, *parameters.args)]
    count, without = len(args.pos), dict(func.defaults)
    words = None
    if func.kind == "classmethod":
        return
    if count > len(named) and parameters.vararg is None:
        words = f"takes {len(named)} positional argument{'' if len(named) == 1 else 's'} but {count} were given"
    elif not args.kw and any(name not in without for name in named[count:]):
        words = "missing"
    if words is not None:
        raise m.throw("TypeError", f"{cls.name}.{func.node_name}() {words}", Plain("custom", _start_of(func)))


def _start_of(func: Func) -> Lineage | None:
    node = func.node
    if not isinstance(node, n.FunctionDef):
        return None
    return Lineage("def", Loc(func.module, func.chunk, node.start, node.body[0].start if node.body else node.end))


class _Call:
    """One call of a function: its arguments, and how its results are wrapped."""

    edges: tuple[Edge | None, ...] = ()
    operands: tuple[Operand, ...] = ()
    marks_are_known = True

    def __init__(
        self, receiver: Ref, cls: ClassObj, args: Args, inputs: Sequence[int | None], recorded: truth.Truth
    ) -> None:
        self.receiver = receiver
        self.cls = cls
        self.args = args
        self.inputs = inputs
        self.recorded = recorded

    def wrap(self, m: Machine, ctx: Ref, result: Value) -> Value:
        """The results of `forward`, as `apply` returns them."""
        outputs = result.items if isinstance(result, Tup) else (result,)
        node: int | None = None
        if self.recorded is not False:
            made = Node(
                (self.cls.name + "Backward",), self.edges, (), loc=m.here(), what=self.cls.name, kind="custom",
                seq=m.next_sequence(), epoch=tuple(m.extent.iterations), via=m.via(), operands=self.operands,
            )  # fmt: skip
            node = m.new(made).id
            m.indexes.gradients_are_seen = True
        context = m.st.get(ctx.id)
        if isinstance(context, Instance) and context.open:
            # Unknown code has had `ctx`, and may have marked any output.
            self.marks_are_known, self.recorded = False, self.recorded and None
        dirty, plain = slot(m, ctx, "__dirty__"), slot(m, ctx, "__plain__")
        written = dirty if self.marks_are_known else self.args.pos
        if not any(isinstance(value, Unknown) for value in outputs):
            written = [value for value in written if isinstance(value, Unknown)]
        havoc_places(m, reach_of(*written))
        wrapped = [self._output(m, value, index, node, dirty, plain) for index, value in enumerate(outputs)]
        if node is not None:
            self._note_kept(m, ctx, outputs)
            self._check_saved(m, ctx)
            kept = tuple(
                save(m, v.id, "saved", is_output=v in wrapped, converted=False)
                for v in slot(m, ctx, "__saved__")
                if isinstance(v, Ref) and m.tensor(v)
            )
            payload = Tup((self.receiver, ctx, Tup(tuple(self.args.pos)), Tup(tuple(wrapped))))
            m.st.put(node, replace(m.node(node), saved=kept, payload=payload))
        return Tup(tuple(wrapped)) if isinstance(result, Tup) else wrapped[0]

    def _check_saved(self, m: Machine, ctx: Ref) -> None:
        for index, value in enumerate(slot(m, ctx, "__saved__")):
            if isinstance(value, Ref) and m.tensor(value) is not None:
                check_savable(m, value.id)
            elif self.recorded and (kind := _plain_type(m, value)) is not None:
                site = m.indexes.context_sites.get((ctx.id, "save_for_backward"))
                raise m.throw(
                    "TypeError",
                    f"save_for_backward can only save variables, but argument {index} is of type {kind}",
                    Plain("custom", Lineage("save_for_backward", site.loc) if site is not None else None),
                )

    def _note_kept(self, m: Machine, ctx: Ref, outputs: Sequence[Value]) -> None:
        """Report inputs and outputs that `ctx` holds as attributes."""
        context = m.st.get(ctx.id)
        for name, value in by_name(context.attrs) if isinstance(context, Instance) else ():
            site = m.indexes.context_sites.get((ctx.id, name))
            held = value.items if isinstance(value, Tup) else (value,)
            tensors = [v for v in held if isinstance(v, Ref) and m.tensor(v) is not None]
            if site is None or not tensors:
                continue
            if any(v in outputs for v in tensors):
                m.note(KeptOnContext(site, name, "output", self._methods(m)))
            elif any(v.id in self.inputs for v in tensors):
                m.note(KeptOnContext(site, name, "input", self._methods(m)))

    def _methods(self, m: Machine) -> tuple[Loc, ...]:
        """Where the function's methods are defined."""
        return tuple(m.place_of(v) for _, v in by_name(self.cls.attrs) if isinstance(v, Func))

    def _output(
        self, m: Machine, value: Value, index: int, node: int | None, dirty: Sequence[Value], plain: Sequence[Value]
    ) -> Value:
        tensor = m.tensor(value)
        if tensor is None or not isinstance(value, Ref):
            return value
        is_input = value.id in self.inputs
        if value in plain or can_require_grad(tensor.dtype) is False or node is None:
            return self._detached(m, value) if is_input and value not in dirty else value
        step = Step(self.cls.name, self.cls.name, {}, (), parents=m.parents([value, *self.args.pos]))
        if value in dirty:
            return self._written(m, value, Edge(node, index), step)
        if is_input and not self.marks_are_known:
            havoc_places(m, [value.id])
        if is_input:
            value = whole_view(m, step, value, node, index)
        found = tensor_at(m, value.id)
        requires = truth.both(self.recorded, _may_learn(m, found))
        edge = Edge(node, index) if self.marks_are_known and requires == self.recorded else Edge()
        creation = found.creation if found.base is None else "custom"
        m.st.put(
            value.id,
            replace(
                found, requires_grad=requires, edge=edge, creation=creation,
                attr_version=found.attr_version if found.base is None else version_kept(m, found) or 0,
                lineage=m.trail(self.cls.name, step.parents),
            ),
        )  # fmt: skip
        return value

    def _detached(self, m: Machine, value: Ref) -> Value:
        """An input returned without a derivative: a view without a graph."""
        step = Step(self.cls.name, self.cls.name, {}, (), parents=m.parents([value]))
        view = whole_view(m, step, value, None, 0)
        m.st.put(view.id, replace(tensor_at(m, view.id), requires_grad=False, edge=None, base=None))
        return view

    def _written(self, m: Machine, value: Ref, edge: Edge, step: Step) -> Value:
        """An input that `forward` wrote to: it gets a new place in the graph."""
        found = refreshed(m, value.id)
        if found.requires_grad and found.edge is None and self.recorded:
            raise m.throw(
                "RuntimeError",
                "a leaf Variable that requires grad has been used in an in-place operation.",
                LeafWritten(subject_name(m), self.cls.name, False, found.lineage),
            )
        lineage = m.trail(self.cls.name, step.parents)
        bump(m, value.id, self.cls.name)
        if found.base is not None:
            if found.creation not in {"default", "unknown"} and found.requires_grad and self.recorded:
                raise view_error(m, found, self.cls.name, indirect=False)
            base = refreshed(m, found.base)
            if base.requires_grad and base.edge is None and self.recorded:
                raise m.throw(
                    "RuntimeError",
                    "a view of a leaf Variable that requires grad is being used in an in-place operation",
                    LeafWritten(subject_name(m), self.cls.name, True, base.lineage),
                )
            blurred = Edge() if self.recorded is not False else None
            m.st.put(value.id, replace(found, requires_grad=self.recorded, edge=blurred, lineage=lineage))
            base = tensor_at(m, found.base)
            m.st.put(found.base, replace(base, requires_grad=self.recorded, edge=blurred))
            return value
        m.st.put(value.id, replace(found, requires_grad=self.recorded, edge=edge, lineage=lineage))
        return value


def _may_learn(m: Machine, output: Tensor) -> truth.Truth:
    """Whether an output can be differentiated. One of unknown type may be of integers, for what is certain."""
    can = can_require_grad(output.dtype)
    return True if can is None and m.config.presumes else can


def _plain_type(m: Machine, value: Value) -> str | None:
    """The type of a value that is definitely neither a tensor nor None."""
    match m.obj(value) if isinstance(value, Ref) else value:
        case Const(value=constant) if constant is not None:
            return type(constant).__name__
        case Tup():
            return "tuple"
        case ListObj():
            return "list"
        case DictObj():
            return "dict"
    return None


def _end_of(m: Machine, cls: int, method: str) -> Lineage | None:
    """The last statement of `forward`, after which `backward` should follow, or of `backward`, which returns the
    gradients."""
    func = find_in_class(m, cls, method)
    node = m.whole(func) if isinstance(func, Func) else None
    if not isinstance(func, Func) or not isinstance(node, n.FunctionDef):
        return None
    last = node.body[-1]
    return Lineage(method, Loc(func.module, func.chunk, last.start, last.end))


def _run_user_backward(m: Machine, ident: int, node: Node, certain: bool, grads: Sequence[Value]) -> list[Value]:
    """Run the user's own `backward`, as the engine does on reaching the node; returns a gradient for each edge."""
    unknown: list[Value] = [Unknown() for _ in node.edges]
    payload = node.payload
    if not isinstance(payload, Tup):
        return unknown
    receiver, ctx, _, outputs = payload.items
    assert isinstance(receiver, Ref) and isinstance(ctx, Ref) and isinstance(outputs, Tup)
    func = find_in_class(m, receiver.id, "backward") or find_in_class(m, receiver.id, "vjp")
    cls = m.st.get(receiver.id)
    if func is None:
        if certain and isinstance(cls, ClassObj) and cls.known:
            raise m.throw(
                "NotImplementedError",
                "You must implement either the backward or vjp method for your custom autograd.Function",
                Plain("custom", _end_of(m, receiver.id, "forward")),
            )  # fmt: skip
        return unknown
    context = m.st.get(ctx.id)
    assert isinstance(context, Instance)
    if not certain:
        kept = [value for _, value in by_name(context.attrs)]
        functions = tuple(each for each in (func, *kept) if isinstance(each, Func))
        tell(m, CalledUnseen(reach_of(*kept), functions))
        return unknown
    m.st.put(ctx.id, replace(context, attrs=context.attrs.set("__node__", Const(ident))))
    sparse = slot(m, ctx, "__materialize__") == (FALSE,)
    given = Args([ctx, *(_arrived(m, value, grads, index, sparse) for index, value in enumerate(outputs.items))])
    if isinstance(func, Func):
        if isinstance(cls, ClassObj):
            _check_given(m, cls, func, given)
        func = replace(func, kind="static")
    result = call(m, func, given)
    return _gradients(m, node, payload, result)


def _arrived(m: Machine, output: Value, grads: Sequence[Value], index: int, sparse: bool) -> Value:
    """The gradient of one output: zeros if none arrived, unless the function has disabled that."""
    gradient = grads[index] if index < len(grads) else NONE
    if m.tensor(gradient) is not None:
        return gradient
    if gradient == NONE and sparse:
        return Const(None, Lineage(UNMATERIALIZED, m.here()))
    found = m.tensor(output)
    if isinstance(gradient, Unknown):
        return m.unknown_tensor()
    return m.new_tensor(found.shape, found.dtype, what="grad") if found is not None else NONE


def _gradients(m: Machine, node: Node, payload: Tup, result: Value) -> list[Value]:
    """One gradient for each argument of `forward`; any further ones must be None."""
    arguments = payload.items[2]
    assert isinstance(arguments, Tup)
    expected = len(arguments.items)
    if isinstance(result, Unknown) or isinstance(m.obj(result), ListObj):
        return [Unknown() for _ in node.edges]
    given = list(result.items) if isinstance(result, Tup) else [result]
    if all(g == NONE or isinstance(g, Unknown) for g in given[expected:]):
        if any(isinstance(g, Unknown) for g in given[expected:]):
            m.may_raise()
        del given[expected:]
    if len(given) != expected and m.record.supposes_counts:
        return [Unknown() for _ in node.edges]
    if len(given) != expected:
        raise m.throw(
            "RuntimeError",
            f"function {node.names[0]} returned an incorrect number of gradients",
            Plain("custom", _returned(m, node)),
        )
    return [_gradient(m, node, i, g, arguments.items[i]) for i, g in enumerate(given)]


def _returned(m: Machine, node: Node) -> Lineage | None:
    receiver = node.payload.items[0] if isinstance(node.payload, Tup) else None
    return _end_of(m, receiver.id, "backward") if isinstance(receiver, Ref) else None


def _gradient(m: Machine, node: Node, index: int, gradient: Value, argument: Value) -> Value:
    tensor = m.tensor(argument)
    kind = _plain_type(m, gradient)
    if kind is not None and (tensor is not None and node.edges[index] is not None):
        raise m.throw("RuntimeError", f"expected Variable or None (got {kind})", Plain("custom", _returned(m, node)))
    if gradient == NONE or tensor is None:
        if gradient != NONE and not isinstance(gradient, Unknown) and not isinstance(argument, Unknown):
            raise m.throw(
                "RuntimeError",
                f"function {node.names[0]} returned a gradient different than None at position {index + 1}",
                Plain("custom", _returned(m, node)),
            )
        return gradient
    found = m.tensor(gradient)
    if found is None or node.edges[index] is None:
        return gradient
    wanted, got = node.operands[index].shape, found.shape
    if wanted is None or got is None or None in wanted or None in got or got == wanted:
        return gradient
    if not _expandable(wanted, got):
        raise m.throw(
            "RuntimeError",
            f"Function {node.names[0]} returned an invalid gradient at index {index} - got {_sizes(got)} but expected "
            f"shape compatible with {_sizes(wanted)}",
            Plain("custom", _returned(m, node)),
        )
    return summed_to(Term(m, gradient), wanted).value


def _expandable(shape: tuple[int | None, ...], to: tuple[int | None, ...]) -> bool:
    """Whether a tensor of `shape` can be broadcast to `to`."""
    if len(shape) > len(to):
        return False
    return all(a in {1, b} for a, b in zip(reversed(shape), reversed(to), strict=False))


def _sizes(shape: tuple[int | None, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def call_of_forward(m: Machine, func: Func, run: Callable[[], Value]) -> Value:
    """A function named `forward` is called directly; that of a custom function is meant to run through `apply`."""
    owner = func.owner
    if owner is None or m.frame.library or not is_a(m, owner, "torch.autograd.Function"):
        return run()
    if find_in_class(m, owner, "backward") is None:
        return run()
    takes_context = find_in_class(m, owner, "setup_context") is None
    return watched(m, CallBegins(None, func.qualname.rpartition(".")[0], takes_context), run)


class FunctionModel(ClassModel):
    """`torch.autograd.Function`, for the classes that inherit from it."""

    stateless = True
    marks_written = True

    def class_attribute(self, m: Machine, cls: Ref, found: ClassObj, name: str) -> Value | None:
        return BoundBuiltin(cls, "Function.apply") if name == "apply" else None

    def call_class_method(self, m: Machine, cls: Ref, name: str, args: Args) -> Value | None:
        return apply_function(m, cls, args) if name == "Function.apply" else None

    def call(self, m: Machine, owner: Ref, found: Instance, args: Args) -> Value:
        words = "Legacy autograd function with non-static forward method is deprecated."
        raise m.throw("RuntimeError", words, Plain("custom"))


enter(CLASSES, "torch.autograd.Function", FunctionModel())
enter(NAMED_FUNCTIONS, "forward", call_of_forward)
enter(NODES, "custom", _run_user_backward)
