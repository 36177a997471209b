"""`raise`, `try`, `except` and `finally`."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.domain.copies import replace
from analyzers.domain.objects import ClassObj
from analyzers.domain.state import State
from analyzers.domain.values import Tup
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.causes import Plain, Raised
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter.dispatch import evaluate, leads, run_block, runs
from analyzers.machine.interpreter.flow import Flow, reduce_states
from analyzers.machine.objects.exceptions import catches, exception_name, exception_object, fault_of, message_of
from analyzers.syntax import nodes as n


def handler_for(
    m: Machine, handlers: tuple[n.ExceptHandler, ...], raised: PyRaise, state: State
) -> n.ExceptHandler | None:
    """The first handler that catches, or may catch, the exception."""
    if raised.name == "GeneratorExit":
        return None
    for handler in handlers:
        if handler.type is None:
            return handler
        m.st = state.fork()
        try:
            wanted = evaluate(m, handler.type)
        except PyRaise:
            return handler
        classes = wanted.items if isinstance(wanted, Tup) else (wanted,)
        if any(catches(m, c, raised) for c in classes):
            return handler
    return None


@runs(n.Raise)
def _raise(m: Machine, s: n.Raise) -> None:
    if s.exc is None:
        raise PyRaise("Exception")
    value = evaluate(m, s.exc)
    if isinstance(m.obj(value), ClassObj):
        value = call(m, value, Args())
    name = exception_name(m, value)
    if m.frame.library:
        raise m.throw(name, message_of(m, value), Plain("library", fault_of(m, value)))
    raise PyRaise(name, "", value)


@leads(n.Try)
def _try(m: Machine, s: n.Try, state: State) -> Flow:
    frame = m.frame
    flow = Flow()
    handled: list[State] = []
    frame.handlers += bool(s.handlers)
    possible: list[State] = []
    try:
        inner = Flow()
        states = [state]
        for statement in s.body:
            if not states:
                break
            before, doubts = states[0], m.record.imprecisions
            step = run_block(m, (statement,), states)
            if s.handlers and m.record.imprecisions != doubts:
                possible.append(before)
            inner.take_exits(step)
            states = step.normal
        inner.normal = states
    finally:
        frame.handlers -= bool(s.handlers)
    # If the machine met something unknown, an exception may have come from it.
    caught_surely = False
    for after, raised in inner.raises:
        handler = handler_for(m, s.handlers, raised, after)
        if handler is None:
            flow.raises.append((after, raised))
            continue
        if raised.event is not None and not _reraises(handler):
            raised.event.caught = True
            raised.event.expected = raised.event.expected or _is_attempt(s, handler, raised.event)
        caught_surely = True
        _run_handler(m, handler, after, raised, flow, handled)
    if s.handlers and not caught_surely and possible:
        for handler in s.handlers:
            _run_handler(m, handler, possible[-1].fork(), None, flow, handled)
    rest = run_block(m, s.orelse, inner.normal) if s.orelse else Flow(normal=inner.normal)
    flow.take_exits(rest)
    flow.breaks += inner.breaks
    flow.continues += inner.continues
    flow.returns += inner.returns
    flow.normal = reduce_states(m, rest.normal + handled) if rest.normal or handled else []
    if s.finalbody:
        flow = _finally(m, s.finalbody, flow)
    frame.statement = s
    return flow


def _is_attempt(s: n.Try, handler: n.ExceptHandler, raised: Raised) -> bool:
    """Whether one statement is tried for each of several things, some of which it suits, and passed over where it
    fails: `for p in parameters: try: p.register_hook(f)`."""
    later = bool(raised.site.iterations) and raised.site.iterations[-1][1] > 0
    return later and len(s.body) == 1 and all(isinstance(step, n.Pass | n.Continue) for step in handler.body)


def _reraises(handler: n.ExceptHandler) -> bool:
    return bool(handler.body) and isinstance(handler.body[-1], n.Raise)


def _run_handler(
    m: Machine, handler: n.ExceptHandler, state: State, raised: PyRaise | None, flow: Flow, handled: list[State]
) -> None:
    m.st = state.fork()
    if handler.name is not None:
        m.bind(m.frame.env, handler.name, exception_object(m, raised))
    if raised is None:
        m.extent.hypothetical += 1
    try:
        step = run_block(m, handler.body, [m.st])
    finally:
        if raised is None:
            m.extent.hypothetical -= 1
    if handler.name is not None:
        _unbind(m, handler.name, step)
    handled += step.normal
    if raised is None:
        # The exception itself was only possible: that the handler re-raises it proves nothing.
        step.raises = []
    else:
        step.raises = [(x, raised if r.name == "Exception" and r.event is None else r) for x, r in step.raises]
    flow.take_exits(step)


def _unbind(m: Machine, name: str, step: Flow) -> None:
    """The name of an exception ends with its handler, whichever way that is left."""
    ends = [*step.normal, *step.breaks, *step.continues, *(x for x, _ in step.returns), *(x for x, _ in step.raises)]
    for state in ends:
        m.st = state
        scope = m.env(m.frame.env)
        if name in scope.vars:
            m.st.put(m.frame.env, replace(scope, vars=scope.vars.delete(name)))


def _finally(m: Machine, body: Sequence[n.Stmt], flow: Flow) -> Flow:
    out = Flow()

    def through(states: list[State]) -> list[State]:
        if not states:
            return []
        step = run_block(m, body, states)
        out.take_exits(step)
        return step.normal

    out.normal = through(flow.normal)
    out.breaks += through(flow.breaks)
    out.continues += through(flow.continues)
    for state, value in flow.returns:
        out.returns += [(x, value) for x in through([state])]
    for state, raised in flow.raises:
        out.raises += [(x, raised) for x in through([state])]
    return out
