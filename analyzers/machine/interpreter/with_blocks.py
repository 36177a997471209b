"""`with` blocks: entering, running the body, and leaving on every way out."""

from __future__ import annotations

from analyzers.domain.state import State
from analyzers.machine.core.machine import Machine
from analyzers.machine.interpreter.contexts import Guard, enter_context, leave_context
from analyzers.machine.interpreter.dispatch import evaluate, leads, run_block
from analyzers.machine.interpreter.flow import Flow, run_choices
from analyzers.machine.interpreter.generators import run_as_context
from analyzers.machine.interpreter.targets import assign
from analyzers.syntax import nodes as n


@leads(n.With)
def _with(m: Machine, s: n.With, state: State) -> Flow:
    flow = _with_items(m, s, 0, state)
    m.frame.statement = s
    return flow


def _with_items(m: Machine, s: n.With, index: int, state: State) -> Flow:
    """`with a, b: body` is `with a: with b: body`."""
    if index == len(s.items):
        return run_block(m, s.body, [state])
    item = s.items[index]
    flow = Flow()
    entered: list[tuple[State, Guard]] = []
    guards: list[Guard] = []

    def run() -> None:
        manager = evaluate(m, item.context)
        m.frame.node = item.context
        guard, value = enter_context(m, manager)
        guards.append(guard)
        if item.target is not None and guard.generator is None:
            assign(m, item.target, value, s)

    run_choices(m, item.context, state, run, lambda: entered.append((m.st, guards[-1])), flow)
    for inside, guard in entered:
        if guard.generator is not None:
            step = run_as_context(m, s, index, inside, guard, _with_items)
        else:
            m.extent.expecting += guard.expects
            try:
                step = _with_items(m, s, index + 1, inside)
            finally:
                m.extent.expecting -= guard.expects
            step = leave_context(m, item.context, guard, step)
        flow.normal += step.normal
        flow.take_exits(step)
    return flow
