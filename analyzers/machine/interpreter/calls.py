"""Function calls: run a body and return the states it ends in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzers.domain.join import reach_of
from analyzers.domain.objects import Env, Generator, Instance, by_name
from analyzers.domain.state import State
from analyzers.domain.values import NONE, Func, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.budget import OutOfFuel
from analyzers.machine.core.choices import Infeasible, Outcome
from analyzers.machine.core.events import doubt
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine, apply_mode, restore_modes
from analyzers.machine.core.places import Frame
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.registries import CALLS
from analyzers.machine.core.replay.summaries import summarised
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.binding import bind_arguments
from analyzers.machine.interpreter.closures import havoc_named, havoc_written_by
from analyzers.machine.interpreter.declared import declare_parameters
from analyzers.machine.interpreter.dispatch import evaluate, run_block
from analyzers.machine.interpreter.flow import Flow, join_all, reduce_states, run_choices
from analyzers.maps import Map
from analyzers.syntax import nodes as n


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
            PORTS.likely.arguments(m, func, env)
            if not func.module.startswith("<"):
                declare_parameters(m, func, env)
    except PyRaise as raised:
        return [Outcome(m.st, NONE, raised)]
    if any(frame.func is not None for frame in m.extent.frames):
        return run_body(m, func, env, None)
    return _run_from_module(m, func, env)


LONG_CALL = 2_000
"""How many statements a call from module level, such as a decorator, may run without creating a tensor."""


def _run_from_module(m: Machine, func: Func, env: int) -> list[Outcome]:
    """Call a function from module level, within a step limit: importing modules fill tables, write docstrings and scan
    folders, and recursion on unknown values could use up the run's steps."""
    before, noted = m.st, len(m.record.events)
    m.st = before.fork()
    try:
        with m.briefly(LONG_CALL):
            return run_body(m, func, env, None)
    except OutOfFuel:
        if m.budget.steps > m.extent.limits.steps:
            raise
    written, grad = m.st.written(before.log), m.st.grad
    m.st = before
    m.st.grad = grad if grad is before.grad else None
    doubt(m.record.events[noted:])
    havoc_written_by(m, written)
    return [_not_followed(m, func, env)]


def _not_followed(m: Machine, func: Func, env: int) -> Outcome:
    """The outcome of a call that is not followed to its end: its arguments and what it names are havocked, and its
    result is unknown."""
    values = [value for _, value in by_name(m.env(env).vars)]
    for value in values:
        havoc_value(m, value)
    havoc_named(m, func)
    return Outcome(m.st, Unknown(None, m.fresh(), m.trail("?", m.parents(values)), reach_of(*values)))


def too_deep(m: Machine, func: Func, env: int) -> bool:
    """Whether a call is not followed: the stack is too deep, or the function keeps calling itself.

    A method that walks a tree of objects, such as a module's `__call__` or `train`, is called on a different object
    each time and stops with the tree.
    """
    if len(m.extent.frames) >= m.extent.limits.depth:
        return True
    same = [f for f in m.extent.frames if f.func is not None and f.func.node is func.node]
    most = VAGUE_SELF_CALLS if any(isinstance(v, Unknown) for v in m.env(env).vars.values()) else SELF_CALLS
    if len(same) < most:
        return False
    subject = _subject(m, func, env)
    return sum(subject is None or _subject(m, func, f.env) in {None, subject} for f in same) >= most


def _is_left_to_subclass(m: Machine, func: Func, env: int, node: n.FunctionDef | n.Lambda) -> bool:
    """Whether a method does nothing, and is called on an object whose class may be one that defines it anew."""
    receiver = m.config.receiver
    if receiver is None or func.owner is None or func.module.startswith("<") or not isinstance(node, n.FunctionDef):
        return False
    subject = _subject(m, func, env)
    return subject is not None and subject.id == receiver and all(map(_is_placeholder, node.body))


def _is_placeholder(statement: n.Stmt) -> bool:
    match statement:
        case n.Pass() | n.ExprStmt(value=n.Constant()):
            return True
        case n.Raise(exc=n.Name(id="NotImplementedError") | n.Call(func=n.Name(id="NotImplementedError"))):
            return True
    return False


SELF_CALLS = 4
"""How many nested calls of the same function are followed."""


VAGUE_SELF_CALLS = 2
"""The same if an argument is unknown, so that the recursion depth is too."""


def _subject(m: Machine, func: Func, env: int) -> Ref | None:
    """The instance passed as a function's first argument, if it is one."""
    parameters = (*func.node.args.posonly, *func.node.args.args)
    value = m.env(env).vars.get(parameters[0].name) if parameters else None
    return value if isinstance(value, Ref) and isinstance(m.obj(value), Instance) else None


def run_body(m: Machine, func: Func, env: int, yields: Callable[[Value], Value] | None) -> list[Outcome]:
    """Run a function's body in the environment `env`; returns the states it ends in, reduced to a few."""
    if yields is not None:
        m.opaque()
        return _run_body(m, func, env, yields)
    return summarised(m, func, env, lambda: _run_body(m, func, env, None))


def _run_body(m: Machine, func: Func, env: int, yields: Callable[[Value], Value] | None) -> list[Outcome]:
    caller = m.extent.frames[-1] if m.extent.frames else None
    node = m.whole(func)
    if too_deep(m, func, env) or _is_left_to_subclass(m, func, env, node):
        return [_not_followed(m, func, env)]
    library = func.module.startswith("<")
    frame = Frame(func.module, func.chunk, func.qualname, env, func, library, node, node)
    if isinstance(node, n.FunctionDef):
        frame.locals = node.locals
        frame.globals = node.globals
    frame.yields = yields
    if not library:
        m.record.entered.add((func.module, func.chunk, func.qualname))
    before = m.enter(func.qualname if caller is None else m.called_here())
    modes = [apply_mode(m, mode) for mode in func.modes]
    start = m.st
    saved = (m.extent.path, m.extent.loops)
    m.extent.loops = m.extent.loops if library else list(m.extent.loops)
    m.extent.frames.append(frame)
    if m.config.probe is not None and not library:
        m.config.probe.enters(m)
    try:
        if isinstance(node, n.FunctionDef):
            flow = run_block(m, node.body, [start])
        else:
            flow = Flow()
            body = node.body
            results: list[Value] = []

            def run() -> None:
                results.append(evaluate(m, body))

            run_choices(m, body, start, run, lambda: flow.returns.append((m.st, results[-1])), flow)
    finally:
        m.extent.frames.pop()
        m.extent.visit = before
        m.extent.path, m.extent.loops = saved
    out = [Outcome(x, NONE) for x in flow.normal]
    out += [Outcome(x, v) for x, v in flow.returns]
    raised = [Outcome(x, NONE, r) for x, r in flow.raises]
    for outcome in (*out, *raised):
        for before_call in modes[:1]:
            outcome.state = outcome.state.fork()
            restore_modes(outcome.state, before_call)
    if library:
        out = _as_one(m, start, out)
    return [*fewer(m, out), *_fewer_raises(raised)]


def _as_one(m: Machine, start: State, outcomes: list[Outcome]) -> list[Outcome]:
    """What a function of a library returns, as one outcome, if it is a tensor on each of its ways, and these part at
    conditions of its own: of what rank a layer's input is."""
    if len(outcomes) < 2 or not all(_is_tensor(m, outcome) for outcome in outcomes):
        return outcomes
    ways = (way for outcome in outcomes for way in outcome.state.taken.items())
    parted = {loc for loc, way in ways if start.taken.get(loc) != way}
    return _joined_at_most(m, outcomes, 1) if parted <= {m.here()} else outcomes


def _is_tensor(m: Machine, outcome: Outcome) -> bool:
    m.st = outcome.state
    return m.tensor(outcome.value) is not None


def _fewer_raises(raised: list[Outcome]) -> list[Outcome]:
    """Keep only exceptions that a handler could tell apart."""
    kept: list[Outcome] = []
    for outcome in raised:
        assert outcome.raised is not None
        stops = getattr(outcome.raised, "why", None) is not None
        if stops or not any(_raises_alike(outcome.raised, other.raised) for other in kept):
            kept.append(outcome)
    return kept


def _raises_alike(one: PyRaise, other: PyRaise | None) -> bool:
    stops = other is None or getattr(other, "why", None) is not None
    return not stops and other is not None and one.name == other.name and one.event is other.event


def fewer(m: Machine, outcomes: list[Outcome]) -> list[Outcome]:
    """Join outcomes that autograd cannot tell apart, then join the last ones until few enough are left."""
    return outcomes if len(outcomes) <= 1 else _joined_at_most(m, outcomes, m.apart(m.extent.limits.outcomes))


def _joined_at_most(m: Machine, outcomes: list[Outcome], most: int) -> list[Outcome]:
    slot = m.fresh()
    for outcome in outcomes:
        outcome.state = outcome.state.fork()
        outcome.state.put(slot, Env(Map({"r": outcome.value})))
    kept = reduce_states(m, [outcome.state for outcome in outcomes], most)
    out = []
    for state in kept:
        holder = state.get(slot)
        assert isinstance(holder, Env)
        out.append(Outcome(state, holder.vars["r"]))
    return out


def run_statements(m: Machine, body: Sequence[n.Stmt]) -> None:
    """Run statements in the current frame, in place; if they end in several states, these are joined."""
    saved = m.extent.path
    flow = run_block(m, body, [m.st])
    m.extent.path = saved
    if flow.normal:
        m.st = join_all(m, flow.normal)
    elif flow.raises:
        m.st, raised = flow.raises[0]
        raise raised
    else:
        raise Infeasible


def _call(m: Machine, func: Value, args: Args) -> Value:
    assert isinstance(func, Func)
    return call_function(m, func, args)


enter(CALLS, Func, _call)
