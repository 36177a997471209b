"""Calls: arguments meet parameters, a body runs, and the states it ends in come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from immutables import Map

from analyzers.domain.join import reach_of
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import ClassObj, DictObj, Env, Generator, Instance, ListObj, Tensor, by_name
from analyzers.domain.state import State
from analyzers.domain.values import (
    NONE,
    BoundBuiltin,
    Builtin,
    Const,
    Func,
    Method,
    Native,
    Partial,
    Ref,
    Tup,
    Unknown,
    Value,
)
from analyzers.machine.core import Frame, Infeasible, Machine, Outcome, OutOfFuel, PyRaise
from analyzers.machine.events import doubt
from analyzers.syntax import nodes as n


@dataclass(slots=True)
class Args:
    """The arguments of one call; `open` when there may be more: of either kind, or named as one of `more`."""

    pos: list[Value] = field(default_factory=list)
    kw: dict[str, Value] = field(default_factory=dict)
    open: bool = False
    more: frozenset[Value] | None = None

    def get(self, index: int, name: str, default: Value | None = None) -> Value:
        """A builtin's parameter, by position or name."""
        if index < len(self.pos):
            return self.pos[index]
        if name in self.kw:
            return self.kw[name]
        if self.may_name(name):
            return Unknown()
        return default if default is not None else NONE

    def all(self) -> list[Value]:
        return [*self.pos, *self.kw.values()]

    def prepend(self, value: Value) -> Args:
        return Args([value, *self.pos], self.kw, self.open, self.more)

    def may_name(self, name: str) -> bool:
        """Whether a parameter that was given nothing may have been given something unseen."""
        return self.open and (self.more is None or Const(name) in self.more)


def call(m: Machine, func: Value, args: Args) -> Value:
    match func:
        case Func(node_name="forward"):
            from analyzers.machine.uses import call_of_forward

            return call_of_forward(m, func, lambda: call_function(m, func, args))
        case Func():
            return call_function(m, func, args)
        case Method(receiver=receiver, func=inner):
            result = call_function(m, inner, args.prepend(receiver))
            return marked(m, inner, result, args) if inner.node_name in MARKED and not m.frame.library else result
        case Builtin(name=name):
            from analyzers.machine.library import call_library

            return call_library(m, name, args)
        case BoundBuiltin(receiver=receiver, name=name):
            from analyzers.machine.methods import call_bound

            return call_bound(m, receiver, name, args)
        case Partial(func=inner_func, args=first, kwargs=named):
            return call(m, inner_func, Args([*first, *args.pos], {**dict(named), **args.kw}, args.open))
        case Native(call=native):
            return native(m, args)
        case Ref():
            found = m.obj(func)
            if isinstance(found, ClassObj):
                return instantiate(m, func, found, args)
            if isinstance(found, Instance):
                return _call_instance(m, func, found, args)
        case Const(value=value) if value is not None:
            raise PyRaise("TypeError", f"'{type(value).__name__}' object is not callable")
    return unknown_call(m, func, args)


MARKED = frozenset({"sample", "log_prob"})
"""Methods of distributions that trails tell of by name."""


def marked(m: Machine, func: Func, result: Value, args: Args) -> Value:
    """The result of a distribution's method, with that method as the last step of its trail."""
    found = m.tensor(result)
    if found is not None and isinstance(result, Ref) and func.module.startswith("<") and found.lineage is not None:
        parents = (found.lineage, *m.parents(args.pos))
        trail = Lineage(func.node_name, m.here(), parents, None, m.via(), found.lineage.attached)
        m.st.put(result.id, replace(found, lineage=trail))
    return result


def unknown_call(m: Machine, func: Value, args: Args) -> Value:
    """A call of something unknown: what it was handed may have changed, and the result may be any of it."""
    from analyzers.machine.havoc import havoc_value
    from analyzers.machine.presumed import made_outside

    made = made_outside(m, func, args)
    if made is not None:
        return made
    m.doubts += 1
    values = [func, *args.all()]
    seen: set[int] = set()
    for value in args.all() if m.presumes else values:
        havoc_value(m, value, seen)
    lineage = m.trail("?", m.parents(values))
    return Unknown(None, m.fresh(), lineage, reach_of(*values))


def _call_instance(m: Machine, func: Ref, found: Instance, args: Args) -> Value:
    from analyzers.machine.attributes import find_in_class
    from analyzers.machine.classes import decorate
    from analyzers.machine.contexts import mode_of

    if isinstance(found.cls, str):
        if mode_of(m, func) is not None or found.cls == "transparent":
            return decorate(m, func, args.get(0, "func"))
        return unknown_call(m, func, args)
    called = find_in_class(m, found.cls, "__call__")
    if called is None:
        from analyzers.machine.attributes import is_a
        from analyzers.machine.events import Plain

        if is_a(m, found.cls, "torch.autograd.Function"):
            raise m.throw(
                "RuntimeError",
                "Legacy autograd function with non-static forward method is deprecated.",
                Plain("custom"),
            )
        return unknown_call(m, func, args)
    # A module without hooks: what `Module.__call__` of the prelude does.
    is_plain = isinstance(called, Func) and called.qualname == "Module.__call__" and called.module.startswith("<")
    name = "forward" if is_plain and found.attrs.get("_hooked") == Const(False) else "__call__"
    if is_plain and isinstance(found.attrs.get("_hooked"), Unknown) and _is_layer(m, found):
        # It may have been hooked out of sight: whatever its own `forward` says, something else may come out.
        return unknown_call(m, func, args)
    if m.frame.library or "_modules" not in found.attrs:
        return call_method(m, func, name, args)
    from analyzers.machine.uses import watched

    return watched(m, lambda: call_method(m, func, name, args))


def _is_layer(m: Machine, found: Instance) -> bool:
    """Whether a module is one of the library's own, without parts that the program may have made."""
    parts = m.obj(found.attrs["_modules"]) if "_modules" in found.attrs else None
    return m.st.is_library(found) and isinstance(parts, DictObj) and not parts.items and parts.rest is None


def call_method(m: Machine, receiver: Value, name: str, args: Args) -> Value:
    from analyzers.machine.attributes import get_attribute

    return call(m, get_attribute(m, receiver, name), args)


# --- functions --------------------------------------------------------------------------------------------------


def call_function(m: Machine, func: Func, args: Args) -> Value:
    node = m.whole(func)
    if isinstance(node, n.FunctionDef) and (node.is_generator or node.is_async):
        if node.is_async and not node.is_generator:
            return m.outcomes_of(lambda: run_function(m, func, args))
        env = bind_arguments(m, func, args)
        return m.new(Generator(func, env))
    return m.outcomes_of(lambda: run_function(m, func, args))


def run_function(m: Machine, func: Func, args: Args) -> list[Outcome]:
    try:
        env = bind_arguments(m, func, args)
        if any(isinstance(value, Unknown) for value in m.env(env).vars.values()):
            from analyzers.machine.presumed import presume_arguments

            presume_arguments(m, func, env)
    except PyRaise as raised:
        return [Outcome(m.st, NONE, raised)]
    if any(frame.func is not None for frame in m.frames):
        return run_body(m, func, env, None)
    return _run_from_module(m, func, env)


LONG_CALL = 2_000
"""Statements that a call from the level of a module, such as a decorator, may take without a tensor."""


def _run_from_module(m: Machine, func: Func, env: int) -> list[Outcome]:
    """Modules fill tables, write docstrings and look through folders as they are imported, and a recursion on what is
    unknown could use up all the steps of a run."""
    from analyzers.machine.havoc import havoc_unfinished

    before, noted = m.st, len(m.events)
    m.st = before.fork()
    try:
        with m.briefly(LONG_CALL):
            return run_body(m, func, env, None)
    except OutOfFuel:
        if m.steps > m.limits.steps:
            raise
    written, grad = m.st.since(before.log), m.st.grad
    m.st = before
    m.st.grad = grad if grad is before.grad else None
    doubt(m.events[noted:])
    havoc_unfinished(m, func, written)
    return [_not_followed(m, env)]


def _not_followed(m: Machine, env: int) -> Outcome:
    """What a call leaves behind of its arguments, and gives, that is not followed to its end."""
    from analyzers.machine.havoc import havoc_value

    values = [value for _, value in by_name(m.env(env).vars)]
    for value in values:
        havoc_value(m, value)
    return Outcome(m.st, Unknown(None, m.fresh(), m.trail("?", m.parents(values)), reach_of(*values)))


def too_deep(m: Machine, func: Func, env: int) -> bool:
    """Whether a call is not followed: it stands too deep, or the function calls itself again and again.

    A method that goes down a tree of objects, as a module's `__call__` and `train` do, is called on another object
    each time, and ends with the tree.
    """
    if len(m.frames) >= m.limits.depth:
        return True
    same = [f for f in m.frames if f.func is not None and f.func.node is func.node]
    most = VAGUE_SELF_CALLS if any(isinstance(v, Unknown) for v in m.env(env).vars.values()) else SELF_CALLS
    if len(same) < most:
        return False
    subject = _subject(m, func, env)
    return sum(subject is None or _subject(m, func, f.env) in {None, subject} for f in same) >= most


SELF_CALLS = 4
"""Calls of a function within each other that are followed."""

VAGUE_SELF_CALLS = 2
"""The same where an argument is not known, so that nothing tells how deep it goes."""


def _subject(m: Machine, func: Func, env: int) -> Ref | None:
    """The object that a function's first argument is."""
    parameters = (*func.node.args.posonly, *func.node.args.args)
    value = m.env(env).vars.get(parameters[0].name) if parameters else None
    return value if isinstance(value, Ref) and isinstance(m.obj(value), Instance) else None


def run_body(m: Machine, func: Func, env: int, yields: Callable[[Value], Value] | None) -> list[Outcome]:
    """Run a function's body in the environment `env`; gives the states it ends in, few of them."""
    from analyzers.machine.contexts import apply_mode, restore_modes
    from analyzers.machine.statements import Flow, run_block, run_choices

    caller = m.frames[-1] if m.frames else None
    if too_deep(m, func, env):
        return [_not_followed(m, env)]
    library = func.module.startswith("<")
    node = m.whole(func)
    frame = Frame(func.module, func.chunk, func.qualname, env, func, library, node, node)
    if isinstance(node, n.FunctionDef):
        frame.locals = node.locals
        frame.globals = node.globals
    frame.yields = yields
    if not library:
        m.entered.add((func.module, func.chunk, func.qualname))
    before = m.enter((caller.chunk, caller.node.start, caller.node.end) if caller is not None else func.qualname)
    modes = [apply_mode(m, mode) for mode in func.modes]
    start = m.st
    saved = (m.path, m.loops)
    m.loops = m.loops if library else list(m.loops)
    m.frames.append(frame)
    try:
        if isinstance(node, n.FunctionDef):
            flow = run_block(m, node.body, [start])
        else:
            flow = Flow()
            body = node.body
            results: list[Value] = []

            def run() -> None:
                from analyzers.machine.expressions import evaluate

                results.append(evaluate(m, body))

            run_choices(m, body, start, run, lambda: flow.returns.append((m.st, results[-1])), flow)
    finally:
        m.frames.pop()
        m.visit = before
        m.path, m.loops = saved
    out = [Outcome(x, NONE) for x in flow.normal]
    out += [Outcome(x, v) for x, v in flow.returns]
    raised = [Outcome(x, NONE, r) for x, r in flow.raises]
    for outcome in (*out, *raised):
        for before_call in modes[:1]:
            outcome.state = outcome.state.fork()
            restore_modes(outcome.state, before_call)
    return [*fewer(m, out), *_fewer_raises(raised)]


def _fewer_raises(raised: list[Outcome]) -> list[Outcome]:
    """Exceptions of one class stay apart only as far as a handler could tell."""
    kept: dict[tuple[str, object], Outcome] = {}
    for outcome in raised:
        assert outcome.raised is not None
        why = getattr(outcome.raised, "why", None)
        if why is not None:
            kept[why, id(outcome)] = outcome
        else:
            kept.setdefault((outcome.raised.name, id(outcome.raised.event)), outcome)
    return list(kept.values())


def fewer(m: Machine, outcomes: list[Outcome]) -> list[Outcome]:
    """Join outcomes that autograd cannot tell apart, then the last until few enough are left."""
    if len(outcomes) <= 1:
        return outcomes
    slot = m.fresh()
    for outcome in outcomes:
        outcome.state = outcome.state.fork()
        outcome.state.put(slot, Env(Map({"r": outcome.value})))
    kept: list[State] = []
    for outcome in outcomes:
        for index, other in enumerate(kept):
            if m.interchangeable(other, outcome.state):
                kept[index] = m.join(other, outcome.state)
                break
        else:
            kept.append(outcome.state)
    while len(kept) > m.apart(m.limits.outcomes):
        last = kept.pop()
        kept[-1] = m.join(kept[-1], last)
    out = []
    for state in kept:
        holder = state.get(slot)
        assert isinstance(holder, Env)
        out.append(Outcome(state, holder.vars["r"]))
    return out


def run_statements(m: Machine, body: Sequence[n.Stmt]) -> None:
    """Run statements in the present frame, in place; several states at the end become one."""
    from analyzers.machine.statements import join_all, run_block

    saved = m.path
    flow = run_block(m, body, [m.st])
    m.path = saved
    if flow.normal:
        m.st = join_all(m, flow.normal)
    elif flow.raises:
        m.st, raised = flow.raises[0]
        raise raised
    else:
        raise Infeasible


def bind_arguments(m: Machine, func: Func, args: Args) -> int:
    """A new environment with the parameters bound as Python binds them; what cannot be known is unknown."""
    parameters = func.node.args
    values: dict[str, Value] = {}
    pos = list(args.pos)
    named = dict(args.kw)
    defaults = dict(func.defaults)
    for parameter in (*parameters.posonly, *parameters.args):
        if pos:
            values[parameter.name] = pos.pop(0)
        elif parameter.name in named:
            values[parameter.name] = named.pop(parameter.name)
        elif args.may_name(parameter.name):
            values[parameter.name] = Unknown(symbol=m.fresh())
        elif parameter.name in defaults:
            values[parameter.name] = defaults[parameter.name]
        else:
            raise PyRaise("TypeError", f"{func.node_name}() missing 1 required positional argument: '{parameter.name}'")
    if parameters.vararg is not None:
        all_given = args.more is not None or not args.open
        rest: Value = Tup(tuple(pos)) if all_given else m.new(ListObj(tuple(pos), Unknown()))
        values[parameters.vararg.name] = rest
    elif pos:
        raise PyRaise("TypeError", f"{func.node_name}() takes fewer positional arguments")
    for parameter in parameters.kwonly:
        if parameter.name in named:
            values[parameter.name] = named.pop(parameter.name)
        elif parameter.name in defaults and not args.may_name(parameter.name):
            values[parameter.name] = defaults[parameter.name]
        else:
            values[parameter.name] = Unknown(symbol=m.fresh())
    if parameters.kwarg is not None:
        items = {Const(k): v for k, v in named.items()}
        others = Unknown() if args.open else None
        values[parameters.kwarg.name] = m.new(DictObj(Map(items), tuple(items), others, keys=args.more or None))
    elif named:
        raise PyRaise("TypeError", f"{func.node_name}() got an unexpected keyword argument '{next(iter(named))}'")
    return m.new(Env(Map(values), func.env, func.module)).id


# --- classes ----------------------------------------------------------------------------------------------------


def instantiate(m: Machine, ref: Ref, cls: ClassObj, args: Args) -> Value:
    from analyzers.machine.attributes import class_name, find_in_class

    if cls.kind == "namedtuple":
        names = tuple(f[0] for f in cls.fields)
        defaults = {f[0]: f[1] for f in cls.fields}
        items = tuple(args.get(i, name, defaults[name]) for i, name in enumerate(names))
        return Tup(items, cls.name, names, ref.id)
    if cls.kind == "enum":
        return Unknown(None, None, None, (ref.id,))
    outside = [a for a in cls.ancestry if isinstance(a, str)]
    if any(a in {"torch.Tensor", "torch.nn.Parameter"} for a in outside):
        for value in args.all():
            if isinstance(m.obj(value), Tensor):
                return m.unknown_tensor(m.lineage(value))
        return m.unknown_tensor()
    new = find_in_class(m, ref.id, "__new__")
    if isinstance(new, Func) and not new.module.startswith("<"):
        made = call_function(m, new, args.prepend(ref))
        if not isinstance(m.obj(made), Instance):
            return made
        result: Value = made
    else:
        is_open = not cls.known or any(a not in PLAIN_BASES for a in outside)
        result = m.new(Instance(ref.id, Map(), is_open))
    init = find_in_class(m, ref.id, "__init__")
    if cls.kind == "dataclass" and (init is None or not _own_init(m, cls)):
        _dataclass_init(m, result, cls, args)
        if find_in_class(m, ref.id, "__post_init__") is not None:
            call_method(m, result, "__post_init__", Args())
        return result
    if init is not None:
        call_method(m, result, "__init__", args)
    elif isinstance(result, Ref) and any(a.startswith("builtins.") for a in outside):
        found = m.st.get(result.id)
        if isinstance(found, Instance):
            m.st.put(result.id, Instance(found.cls, found.attrs.set("args", Tup(tuple(args.pos))), found.open))
    if class_name(m, ref.id) == "torch.nn.Module" and not cls.known:
        return result
    return result


PLAIN_BASES = frozenset(
    {"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "torch.autograd.Function", "enum.Enum"}
)
"""Outside classes that give their instances no state of their own."""


def _own_init(m: Machine, cls: ClassObj) -> bool:
    return "__init__" in cls.attrs


def _dataclass_init(m: Machine, result: Value, cls: ClassObj, args: Args) -> None:
    if not isinstance(result, Ref):
        return
    attrs: dict[str, Value] = {}
    for index, (name, default, _) in enumerate(cls.fields):
        value = default
        made = m.obj(default) if default is not None else None
        given = index < len(args.pos) or name in args.kw or args.open
        if given:
            value = args.get(index, name)
        elif isinstance(made, Instance) and made.cls == "dataclasses.field":
            factory = made.attrs.get("default_factory")
            value = call(m, factory, Args()) if factory is not None else made.attrs.get("default", Unknown())
        attrs[name] = value if value is not None else Unknown()
    found = m.st.get(result.id)
    if isinstance(found, Instance):
        m.st.put(result.id, Instance(found.cls, found.attrs.update(attrs), found.open))
