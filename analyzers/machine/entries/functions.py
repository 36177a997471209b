"""Runs functions that nothing in their file calls, on unknown arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzers.domain.copies import replace
from analyzers.domain.lineage import Loc
from analyzers.domain.objects import ClassObj, Instance
from analyzers.domain.state import State, Taken
from analyzers.domain.values import Const, Func, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.budget import Limits, OutOfFuel
from analyzers.machine.core.choices import Infeasible, Outcome
from analyzers.machine.core.events import Binding, Event, Hidden, Presumption, doubt
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame, whole
from analyzers.machine.core.probe import Probe
from analyzers.machine.core.program import ModuleRun, Program
from analyzers.machine.entries.attached import attached_calls
from analyzers.machine.entries.entry_state import forget_empty, forget_gradients, havoc_globals
from analyzers.machine.entries.frameworks import CONTRACT, drive, driver_of, go_backward, is_trained
from analyzers.machine.entries.test_runners import is_test
from analyzers.machine.interpreter.calls import run_function
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.observers.bindings import bindings_of
from analyzers.machine.observers.graph_liveness import escape, report_dead
from analyzers.maps import Map
from analyzers.syntax import nodes as n


@dataclass(slots=True)
class FunctionRun:
    """The results of running a function on unknown arguments."""

    events: tuple[Event, ...]
    bindings: tuple[Binding, ...]
    entered: frozenset[tuple[str, str, str]]
    passed: Mapping[tuple[Loc, int], Taken]
    out_of_fuel: bool = False
    trains: bool = False
    presumptions: tuple[Presumption, ...] = ()
    hidden_facts: Mapping[tuple[Loc, str], Hidden | None] = field(default_factory=dict)
    attached: frozenset[Loc] = frozenset()


BUDGET, PRESUMED_BUDGET = 20_000, 80_000
"""The number of statements for all functions of a file run on unknown arguments, and the same again for all instances;
and the number for those run on presumed arguments."""


TRAINING_CALL = Limits(steps=6_000, depth=20, states=3, outcomes=2)


PRESUMED_CALL = replace(TRAINING_CALL, steps=12_000)
"""The most that a function or a class's `__init__` gets where values are presumed."""


UNKNOWN_CALL = Limits(steps=500, depth=10, states=2, outcomes=2)
"""The limits of a run on unknown arguments: there are many, and most values in them are unknown. A function that calls
backward gets more."""


@dataclass(slots=True)
class Made:
    """An instance of a class as left by its `__init__` on unknown arguments, and the state that contains it."""

    state: State
    value: Value
    next_id: int
    presumptions: tuple[Presumption, ...] = ()


def later(program: Program, module: ModuleRun) -> ModuleRun:
    """The module in the state that one of its functions may find it in."""
    machine = _machine(program, module, "", None)
    havoc_globals(machine, module)
    machine.st.forget_writes()
    return replace(module, state=machine.st, next_id=machine.ids.next)


def make_instance(program: Program, module: ModuleRun, cls: int, *, presume: bool = False) -> Made:
    found = module.state.find(cls)
    chunk = ""
    if isinstance(found, ClassObj):
        init = next((f for f in module.functions if f.owner == cls), None)
        chunk = init.chunk if init is not None else ""
    constructors = sum(f.node_name == "__init__" for f in module.functions)
    machine = _machine(program, module, chunk, presumed_limits(constructors) if presume else _share(constructors))
    machine.config.presumes = presume
    try:
        value = instance_of(machine, cls)
        if presume:
            forget_empty(machine, cls)
        else:
            havoc_globals(machine, module, [value])
        _settle(machine, value)
    except (OutOfFuel, RecursionError):
        half = _half_made(machine) if presume else None
        if half is None:
            machine.st = module.state.fork()
            half = machine.new(Instance(cls, Map(), True))
        value = half
    return Made(machine.st, value, machine.ids.next, tuple(machine.record.presumptions))


def _half_made(machine: Machine) -> Ref | None:
    """The instance as it was when the steps of its `__init__` were used up."""
    found = None if machine.config.receiver is None else machine.st.find(machine.config.receiver)
    if machine.config.receiver is None or not isinstance(found, Instance):
        return None
    made = Ref(machine.config.receiver)
    machine.st.put(made.id, replace(found, open=True))
    _settle(machine, made)
    return made


def _machine(program: Program, module: ModuleRun, chunk: str, limits: Limits | None) -> Machine:
    machine = Machine(program, module.block, module.next_id, limits or UNKNOWN_CALL)
    machine.st = module.state.fork()
    machine.indexes.default_dtype = module.default_dtype or machine.indexes.default_dtype
    root = n.Pass(0, 0)
    machine.extent.frames.append(Frame(module.path, chunk, "<module>", module.env, None, False, root, root))
    machine.ids.sequence = 1 << 20
    return machine


def run_unknown(
    program: Program,
    module: ModuleRun,
    func: Func,
    made: Made | None,
    limits: Limits | None = None,
    probe: Probe | None = None,
    *,
    presume: bool = False,
    attached: frozenset[Loc] = frozenset(),
) -> FunctionRun:
    """Run `func` on unknown arguments, in the final state of its module.

    `made` is the instance that a method is called on. With `presume`, arguments are what their role suggests, grad mode
    is on, and nothing is certain.
    """
    trains = calls_backward(program, func)
    tested = is_test(_machine(program, module, func.chunk, None), func)
    if limits is None:
        limits = TRAINING_CALL if trains or tested else _share(len(module.functions))
    machine = _machine(program, module, func.chunk, limits)
    machine.config.probe = probe
    machine.config.presumes = presume
    machine.config.attached = attached
    if presume:
        machine.record.presumptions = dict.fromkeys(module.presumptions)
    if made is not None:
        _continue_from(machine, made)
    exhausted = False
    try:
        args = unknown_arguments(func, made)
        machine.st.grad = True if presume or trains or tested else None
        outcomes = _presumed(machine, func, args, made) if presume else run_function(machine, func, args)
        if trains:
            for outcome in outcomes:
                machine.st = outcome.state
                escape(machine, [outcome.value, *args.all()])
            report_dead(machine)
    except (OutOfFuel, RecursionError):
        exhausted = True
        doubt(machine.record.events)
    except (PyRaise, Infeasible):
        pass
    return FunctionRun(
        tuple(machine.record.events),
        bindings_of(machine),
        frozenset(machine.record.entered),
        machine.record.passed,
        exhausted,
        machine.record.trains,
        _presumptions(machine, func, made),
        dict(machine.record.hidden_facts),
        attached_calls(machine, machine.record.events),
    )


def _presumed(machine: Machine, func: Func, args: Args, made: Made | None) -> list[Outcome]:
    """Run a function on presumed values, or train the class that it is a part of as a framework would; a backward goes
    through what a module returns."""
    driver = driver_of(machine, func) if made is not None else None
    if driver is not None and made is not None:
        drive(machine, func, driver, made.value)
        report_dead(machine)
        return []
    forget_gradients(machine)
    outcomes = run_function(machine, func, args)
    for outcome in outcomes if is_trained(machine, func) else ():
        machine.st = outcome.state
        if outcome.raised is None:
            go_backward(machine, func, outcome.value)
    return outcomes


def _continue_from(machine: Machine, made: Made) -> None:
    machine.record.presumptions.update(dict.fromkeys(made.presumptions))
    machine.config.receiver = made.value.id if isinstance(made.value, Ref) else None
    machine.st = made.state.fork()
    machine.ids.first = machine.ids.next = made.next_id


def _presumptions(machine: Machine, func: Func, made: Made | None) -> tuple[Presumption, ...]:
    """What a run has presumed: of an object, if nothing else, that it is as its `__init__` left it."""
    record = machine.record
    if machine.config.presumes and made is not None and not record.presumptions:
        machine.presume("the object is as its `__init__` left it", machine.place_of(func))
    return tuple(record.presumptions)


def _share(runs: int) -> Limits:
    """The functions of a file share a budget, so that a file with hundreds of them does not take too long."""
    share = BUDGET // max(runs, 1)
    return UNKNOWN_CALL if share >= UNKNOWN_CALL.steps else replace(UNKNOWN_CALL, steps=max(share, 60))


def presumed_limits(runs: int) -> Limits:
    """The limits for each function of a file, or each class, if this many are run on presumed arguments."""
    return replace(PRESUMED_CALL, steps=min(PRESUMED_CALL.steps, PRESUMED_BUDGET // max(runs, 1)))


def calls_backward(program: Program, func: Func) -> bool:
    """Whether a function calls backward itself, which only makes sense with grad mode on."""
    return n.mentions(whole(program, func), "backward")


def takes_instance(func: Func) -> bool:
    """Whether a function's first argument is an instance of the class that defines it."""
    return func.owner is not None and func.kind in {"function", "property", "cached_property", "context"}


def unknown_arguments(func: Func, made: Made | None) -> Args:
    """Unknown arguments for a call; `self` is an instance created by its class."""
    parameters = func.node.args
    pos: list[Value] = []
    names = [p.name for p in (*parameters.posonly, *parameters.args)]
    for index, name in enumerate(names):
        if index == 0 and made is not None:
            pos.append(made.value)
        elif index == 0 and func.owner is not None and func.kind == "classmethod":
            pos.append(Ref(func.owner))
        else:
            pos.append(Unknown(symbol=("arg", name)))
    kw: dict[str, Value] = {p.name: Unknown(symbol=("arg", p.name)) for p in parameters.kwonly}
    return Args(pos, kw, parameters.vararg is not None or parameters.kwarg is not None)


def instance_of(machine: Machine, cls: int) -> Value:
    """An instance of a class, created by its own `__init__` on unknown arguments."""
    found = machine.st.find(cls)
    if not isinstance(found, ClassObj):
        return Unknown()
    before = machine.st
    machine.st = before.fork()
    made = machine.new(Instance(cls, Map(), True))
    machine.config.receiver = made.id
    init = find_in_class(machine, cls, "__init__")
    if isinstance(init, Func):
        grad = machine.st.grad
        machine.st.grad = True
        args = Args([made], {}, True)
        for parameter in (*init.node.args.posonly, *init.node.args.args)[1:]:
            args.pos.append(Unknown(symbol=("arg", parameter.name)))
        args.open = init.node.args.vararg is not None or init.node.args.kwarg is not None
        try:
            ends = [o for o in run_function(machine, init, args) if o.raised is None]
        except (PyRaise, Infeasible):
            ends = []
        if ends:
            machine.st = ends[0].state.fork()
            for other in ends[1:]:
                machine.st = machine.join(machine.st, other.state)
        else:
            machine.st = before.fork()
            made = machine.new(Instance(cls, Map(), True))
        machine.st.grad = grad
    instance = machine.st.get(made.id)
    if isinstance(instance, Instance):
        attrs = instance.attrs
        if "training" in attrs:
            attrs = attrs.set("training", Unknown("bool", symbol=("training", made.id)))
        loose = {k: Unknown(symbol=(made.id, k)) for k, v in attrs.items() if _settled(v) and k not in CONTRACT}
        attrs = attrs.update(loose)
        machine.st.put(made.id, Instance(instance.cls, attrs, True))
    return made


def _settle(machine: Machine, made: Value) -> None:
    """Whatever an unknown attribute is, it is the same whenever it is read, until somebody may have changed it."""
    found = machine.obj(made)
    if isinstance(found, Instance) and isinstance(made, Ref):
        unnamed = {k: v for k, v in found.attrs.items() if isinstance(v, Unknown) and v.symbol is None}
        named = {k: replace(v, symbol=(made.id, k)) for k, v in unnamed.items()}
        machine.st.put(made.id, replace(found, attrs=found.attrs.update(named)))


def _settled(value: Value) -> bool:
    """A plain constant set by `__init__`, which any other method may have changed since."""
    return isinstance(value, Const) and not isinstance(value.value, str)
