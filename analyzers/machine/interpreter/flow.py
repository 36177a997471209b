"""Where a statement leads, and which of its states are joined.

A block runs on several states side by side. Each statement leads from a state to a `Flow`: the states that continue,
and those that leave by `break`, `continue`, `return` or an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from analyzers.domain.join import Join
from analyzers.domain.state import UNLIKELY, State, in_both
from analyzers.domain.values import Unknown, Value
from analyzers.machine.core.choices import Infeasible, Outcome, Path
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.syntax import nodes as n


@dataclass(slots=True)
class Flow:
    """Where a statement leads."""

    normal: list[State] = field(default_factory=list)
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    returns: list[tuple[State, Value]] = field(default_factory=list)
    raises: list[tuple[State, PyRaise]] = field(default_factory=list)

    def take_exits(self, other: Flow) -> None:
        """Add everything in `other` except the states that continue."""
        self.breaks += other.breaks
        self.continues += other.continues
        self.returns += other.returns
        self.raises += other.raises


CROWD = 12
"""States that are compared with each other before the last ones are joined: a function with hundreds of `return`s has
hundreds of them, and comparing all with all would take longer than running them did."""


def reduce_states(m: Machine, states: Sequence[State], limit: int | None = None) -> list[State]:
    """Join states that autograd cannot tell apart, then join the last ones until few enough are left."""
    limit = limit or m.apart(m.extent.limits.states)
    if len(states) > limit:
        states = _meant(m, states)
    kept: list[State] = []
    for state in states:
        for index, other in enumerate(kept):
            if m.interchangeable(other, state):
                kept[index] = m.join(other, state, either=m.config.presumes)
                break
        else:
            kept.append(state)
            _join_last(m, kept, max(limit, CROWD))
    _join_last(m, kept, limit)
    return kept


def _join_last(m: Machine, states: list[State], most: int) -> None:
    """Join the last states, but none that are in different grad modes: of what is computed in a joined mode nobody
    knows whether it has a graph."""
    most = max(most, len({state.grad for state in states}))
    while len(states) > most:
        last = states.pop()
        at = next((at for at in reversed(range(len(states))) if states[at].grad is last.grad), None)
        if at is None:
            states.insert(0, last)  # the only one in its mode
        else:
            states[at] = m.join(states[at], last, either=m.config.presumes)


def _meant(m: Machine, states: Sequence[State]) -> Sequence[State]:
    """On presumed values: the states that are to be joined, but for those on ways of the running function that nobody
    means, if others are. What was done in calls that are over has told of that already."""
    if not m.config.presumes or len(states) < 2:
        return states
    shared = states[0].taken
    for state in states[1:]:
        shared = in_both(shared, state.taken)
    frame = m.user_frame()
    here = frame.module, frame.chunk
    return [
        state
        for state in states
        if not any(
            way == UNLIKELY and (loc.module, loc.chunk) == here and loc not in shared
            for loc, way in state.taken.items()
        )
    ] or states


def join_all(m: Machine, states: Sequence[State]) -> State:
    states = _meant(m, states)
    joined = states[0]
    for other in states[1:]:
        joined = m.join(joined, other)
    return joined


def run_choices(
    m: Machine, node: n.Node, state: State, run: Callable[[], None], finish: Callable[[], None], flow: Flow
) -> None:
    frame = m.frame
    statement = frame.statement
    before = m.extent.path
    memo: dict[tuple[object, ...], list[Outcome]] = {}
    pending: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
    passes = 0
    try:
        while pending:
            passes += 1
            prefix, replay = pending.pop()
            if passes > 24:
                break
            m.extent.path = Path(prefix, replay, memo=memo)
            m.st = state.fork()
            frame.node = node
            frame.statement = statement
            try:
                run()
            except PyRaise as raised:
                flow.raises.append((m.st, raised.drop_frames()))
            except Infeasible:
                pass
            except ReturnSignal as signal:
                flow.returns.append((m.st, signal.value))
                passed(m, node)
            else:
                finish()
                passed(m, node)
            pending += reversed(m.extent.path.open)
    finally:
        m.extent.path = before


def passed(m: Machine, node: n.Node) -> None:
    frame = m.frame
    if not frame.library:
        m.pass_by(m.loc_of(frame, node), frame.visit)


class ReturnSignal(Exception):  # noqa: N818
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


def blurred_element(m: Machine, items: Sequence[Value]) -> Value:
    """A single value that stands for each of the later elements."""
    if not items:
        return Unknown()
    joined = items[0]
    if all(item == joined for item in items):
        return joined
    merge = Join(m.st, m.st, m.fresh)
    return merge.all(items)
