"""Generators, without suspending anything: the consumer runs inside the generator.

A loop over a generator runs the generator's body, and each `yield` runs the loop's body in place, so both sides see
each other's writes in the right order, and a `yield` under `no_grad` disables grad in the loop's body, as in torch. A
generator that is consumed whole (`list(g)`, unpacking) is run to its end and its values are collected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import Generator, HeapObject, Iterator, ListObj, by_name
from analyzers.domain.state import State
from analyzers.domain.values import NONE, Func, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.choices import Outcome
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.havoc import havoc_places, havoc_value, put
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import MODELS, ObjectModel
from analyzers.machine.core.streams import Stream
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.calls import run_body
from analyzers.machine.interpreter.closures import havoc_captured, writes_what_it_is_passed
from analyzers.machine.interpreter.contexts import Guard
from analyzers.machine.interpreter.flow import Flow, blurred_element, join_all
from analyzers.machine.interpreter.targets import assign
from analyzers.machine.objects.iteration import any_of, stream_of
from analyzers.syntax import nodes as n

MOST = 64
"""The most values collected from one generator; any further ones are unknown."""


class Stop(PyRaise):
    """The consumer abandons the generator: by break, return, or an exception of its own."""

    def __init__(self, why: str, value: Value = NONE, raised: PyRaise | None = None) -> None:
        super().__init__("GeneratorExit")
        self.why = why
        self.payload = value
        self.raised = raised


def _consumer(
    m: Machine, generator: Generator, body: Callable[[State, Value, int], tuple[Flow, list[State]]], outer: State
) -> Callable[[Value], Value]:
    """What a `yield` does: leave the generator's frame, run the consumer, come back."""
    count = 0

    def handler(value: Value) -> Value:
        nonlocal count
        index = count
        count += 1

        def run() -> list[Outcome]:
            inside = m.extent.frames.pop()
            state = m.st
            own = (state.grad, state.inference, state.casting)
            if generator.func.modes:
                state = state.fork()
                state.grad, state.inference, state.casting = outer.grad, outer.inference, outer.casting
            try:
                step, after = body(state, value, index)
            finally:
                m.extent.frames.append(inside)
            out: list[Outcome] = []
            for next_state in [*after, *step.continues]:
                if generator.func.modes:
                    next_state.grad, next_state.inference, next_state.casting = own
                out.append(Outcome(next_state, NONE))
            out += [Outcome(x, NONE, Stop("break")) for x in step.breaks]
            out += [Outcome(x, NONE, Stop("return", v)) for x, v in step.returns]
            out += [Outcome(x, NONE, Stop("raise", NONE, r)) for x, r in step.raises]
            return out

        return m.outcomes_of(run)

    return handler


def _run(m: Machine, generator: Generator, state: State, handler: Callable[[Value], Value]) -> list[Outcome]:
    m.st = state.fork()
    return run_body(m, generator.func, generator.env, handler)


def run_pushed(
    m: Machine,
    stream: Stream,
    start: State,
    round_: Callable[[list[State], Value, int], tuple[Flow, list[State]]],
    flow: Flow,
) -> tuple[list[State], list[State]]:
    """Run a loop's body at each `yield`; returns the states after the generator's end, and those after a break."""
    generator = stream.generator
    assert generator is not None
    handler = _consumer(m, generator, lambda state, value, index: round_([state], value, index), start)
    exits: list[State] = []
    breaks: list[State] = []
    for outcome in _run(m, generator, start, handler):
        if isinstance(outcome.raised, Stop):
            _leave(outcome, outcome.raised, flow, breaks)
        elif outcome.raised is not None:
            flow.raises.append((outcome.state, outcome.raised))
        else:
            exits.append(outcome.state)
    return exits, breaks


def _leave(outcome: Outcome, stop: Stop, flow: Flow, breaks: list[State]) -> None:
    if stop.why == "return":
        flow.returns.append((outcome.state, stop.payload))
    elif stop.why == "raise" and stop.raised is not None:
        flow.raises.append((outcome.state, stop.raised))
    else:
        breaks.append(outcome.state)


def run_as_context(
    m: Machine,
    s: n.With,
    index: int,
    state: State,
    guard: Guard,
    inner: Callable[[Machine, n.With, int, State], Flow],
) -> Flow:
    """`with` on a function decorated with `contextmanager`: the block runs at its `yield`."""
    flow = Flow()
    generator = guard.generator
    assert generator is not None

    def body(at: State, value: Value, count: int) -> tuple[Flow, list[State]]:
        m.st = at
        target = s.items[index].target
        if target is not None and count == 0:
            assign(m, target, value, s)
        step = inner(m, s, index + 1, m.st)
        flow.continues += step.continues
        step.continues = []
        return step, step.normal

    handler = _consumer(m, generator, body, state)
    for outcome in _run(m, generator, state, handler):
        if isinstance(outcome.raised, Stop):
            _leave(outcome, outcome.raised, flow, flow.breaks)
        elif outcome.raised is not None:
            flow.raises.append((outcome.state, outcome.raised))
        else:
            flow.normal.append(outcome.state)
    return flow


@dataclass(slots=True)
class _Collection:
    """A generator on its way to its end, and the list of what it has yielded. A function inside `collect` would hold
    itself, where it is compiled."""

    m: Machine
    generator: Generator
    into: Ref

    def take(self, value: Value) -> Value:
        m = self.m
        found = m.st.get(self.into.id)
        assert isinstance(found, ListObj)
        if len(found.items) >= MOST or (m.extent.iterations and m.extent.iterations[-1][1] >= MOST):
            m.st.put(self.into.id, ListObj(found.items, value))
            raise Stop("break")
        m.st.put(self.into.id, ListObj((*found.items, value), found.rest))
        return NONE

    def run(self) -> list[Outcome]:
        out = []
        for outcome in _run(self.m, self.generator, self.m.st, self.take):
            if isinstance(outcome.raised, Stop):
                outcome = Outcome(outcome.state, outcome.value)
            out.append(outcome)
        if len(out) > 1 and all(o.raised is None for o in out):
            longest = max((self._items(o.state) for o in out), key=len)
            joined = join_all(self.m, [o.state for o in out])
            if longest and _is_unfiltered(self.generator.func):
                # As a list comprehension over something of unknown length.
                self.m.st = joined
                joined.put(self.into.id, ListObj(longest, blurred_element(self.m, list(longest))))
            out = [Outcome(joined, NONE)]
        return out

    def _items(self, state: State) -> tuple[Value, ...]:
        found = state.get(self.into.id)
        return found.items if isinstance(found, ListObj) else ()


def _is_unfiltered(func: Func) -> bool:
    """Whether this is a generator expression that gives an item in each round."""
    node = func.node
    if not isinstance(node, n.FunctionDef) or node.name != "<genexpr>":
        return False
    return not any(isinstance(part, n.If) for part in n.walk(node.body))


def collect(m: Machine, generator: Generator) -> Stream:
    """Run a generator to its end; returns what it yields."""
    collection = _Collection(m, generator, m.new(ListObj(())))
    limits = m.extent.limits
    m.extent.limits = replace(limits, unrolled=MOST)
    try:
        m.outcomes_of(collection.run)
    finally:
        m.extent.limits = limits
    found = m.st.get(collection.into.id)
    assert isinstance(found, ListObj)
    return Stream(found.items, found.rest)


def advance(m: Machine, ref: Ref, default: Value | None) -> Value:
    """`next(iterator)`."""
    found = m.obj(ref)
    if isinstance(found, Generator):
        stream = collect(m, found)
        m.st.put(ref.id, Iterator(NONE, 0, stream.items, stream.rest))
        found = m.obj(ref)
    if isinstance(found, Iterator):
        items, rest = found.items, found.rest
        if items is None:
            stream = stream_of(m, found.source).drained(m)
            items, rest = stream.items, stream.rest
            if stream.fresh is not None and not items:
                return stream.fresh()
        if found.position is None:
            return any_of(items, rest)
        if found.position < len(items):
            m.st.put(ref.id, Iterator(found.source, found.position + 1, items, rest))
            return items[found.position]
        if rest is not None:
            return rest
        if default is not None:
            return default
        raise PyRaise("StopIteration")
    return Unknown(None, None, None, reach_of(ref))


class IteratorModel(ObjectModel):
    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value:
        return advance(m, owner, None) if name in {"__next__", "send"} else NONE


class HalfUsedModel(IteratorModel):
    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        assert isinstance(found, Iterator)
        for item in (found.source, *(found.items or ()), *(() if found.rest is None else (found.rest,))):
            havoc_value(m, item, seen)
        put(m, ident, found, Iterator(found.source, None, found.items, found.rest))


class GeneratorModel(IteratorModel):
    def stream(self, m: Machine, owner: Ref, found: HeapObject, unpack: int | None) -> Stream:
        assert isinstance(found, Generator)
        return Stream(generator=found, drain=lambda m: collect(m, found))

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        """Unknown code may run it, to any of its `yield`s.

        What it holds is gone through for itself, as it may be written; but generators that hold each other, once.
        """
        assert isinstance(found, Generator)
        havoc_captured(m, found.func)
        reached = {one for one in seen if isinstance(m.st.peek(one), Generator)}
        for _, value in by_name(m.env(found.env).vars):
            havoc_value(m, value, reached)
        if writes_what_it_is_passed(m, found.func):
            havoc_places(m, reached)
        seen |= reached


enter(MODELS, Iterator, HalfUsedModel())
enter(MODELS, Generator, GeneratorModel())
