"""Loops: a few real rounds, then one that represents all the others.

A loop over a known, short sequence runs to its end, unless its rounds are long. Any other loop runs its first rounds
for real, so that "the second iteration" is a state one can point to, and then continues from a *blurred* state: the
join of the loop-head states of the last rounds, in which a counter is any number and a loop-carried tensor is any of
its kind. A loop of unknown length is assumed to run at least twice.

    for x in loader:            # rounds 1, 2: real; then h is blurred: grown in each round
        h = torch.tanh(h @ w + x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from analyzers.domain.copies import replace
from analyzers.domain.join import one_of, reach_of
from analyzers.domain.lineage import BLURRED, Loc
from analyzers.domain.objects import Instance
from analyzers.domain.settling import Left, gone_on_from, settled
from analyzers.domain.state import State
from analyzers.domain.values import Const, RangeValue, Tup, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.replay.recorded import Standing
from analyzers.machine.core.streams import Stream
from analyzers.machine.interpreter.conditions import condition
from analyzers.machine.interpreter.dispatch import evaluate, leads, run_block
from analyzers.machine.interpreter.flow import Flow, blurred_element, join_all, reduce_states, run_choices
from analyzers.machine.interpreter.generators import run_pushed
from analyzers.machine.interpreter.targets import assign
from analyzers.machine.objects.counting import counted, is_building, note_supposed, suppose
from analyzers.machine.objects.iteration import stream_of
from analyzers.syntax import nodes as n

LIBRARY_ROUNDS = 4_000
"""The most rounds of a prelude loop: these iterate over parameters and submodules, and none may be skipped."""


PARAMETERS = 400
"""The most rounds of a loop over parameters, none of which may be skipped either."""


LONG = 2_000
"""The most statements in the real rounds of a loop of known length, before one round stands for the rest."""


LAYERS = 64
"""The most rounds of a loop over objects, such as the layers a tensor passes through."""


WRITTEN_OUT = 48
"""The most rounds of a loop over values that the program writes out one by one, such as the sizes of its layers, and of
one that counts the parts of what is being made."""


@leads(n.For)
def run_for(m: Machine, s: n.For, state: State) -> Flow:
    flow = Flow()
    starts: list[tuple[State, Stream]] = []
    streams: list[Stream] = []

    def begin() -> None:
        source = evaluate(m, s.iter)
        stream = stream_of(m, source)
        if stream.numbers is not None and not _asks_for_its_number(s):
            stream = replace(stream, numbers=None)
        if isinstance(source, RangeValue) and is_building(m):
            stream = counted(m, source, stream)
            if stream.supposed is not None:
                suppose(m)
        streams.append(stream)

    run_choices(m, s.iter, state, begin, lambda: starts.append((m.st, streams[-1])), flow)
    for start, stream in starts:
        known = _met_as_it_was_left(m, s, start)
        if known is not None:
            _leave(m, s, [known], [], flow)
            continue
        before = len(flow.normal)
        if stream.generator is not None:
            _push_through(m, s, start, stream, flow)
        else:
            _pull(m, s, start, stream, flow)
        if _runs_backward(s.body):
            m.indexes.left[_mark(m, s)] = [Left(start, end, _environments(m)) for end in flow.normal[before:]]
    m.frame.statement = s
    return flow


def _mark(m: Machine, loop: n.For | n.While) -> tuple[Loc, int, int]:
    """Identifies a loop; a loop in a generator expression is a different one at each evaluation of that."""
    clause = loop.target.start if isinstance(loop, n.For) else loop.start
    func = m.frame.func.node if m.frame.func is not None else None
    made = m.frame.env if isinstance(func, n.FunctionDef) and func.name == "<genexpr>" else 0
    return m.loc_of(m.frame, loop), clause, made


@contextmanager
def _iteration(m: Machine, loop: n.For | n.While, index: int) -> Iterator[None]:
    before = m.enter((_mark(m, loop), index))
    m.extent.iterations.append((m.loc_of(m.frame, loop), index))
    m.extent.loops.append(loop)
    if not m.frame.library:
        m.extent.began.append(m.ids.last)
    try:
        yield
    finally:
        m.extent.visit = before
        m.extent.iterations.pop()
        m.extent.loops.pop()
        if not m.frame.library:
            m.extent.began.pop()


def _round(m: Machine, s: n.For, heads: list[State], make: Callable[[], Value], index: int) -> tuple[Flow, list[State]]:
    """One iteration: bind the target and run the body; returns its flow and the states at the next loop head."""
    flow = Flow()
    bound: list[State] = []
    with _iteration(m, s, index):
        for head in heads:
            run_choices(m, s.target, head, lambda: assign(m, s.target, make(), s), lambda: bound.append(m.st), flow)
        step = run_block(m, s.body, bound) if bound else Flow()
    flow.take_exits(step)
    return flow, step.normal


def _pull(m: Machine, s: n.For, start: State, stream: Stream, flow: Flow) -> None:
    heads = [start]
    exits: list[State] = []
    breaks: list[State] = []
    items = stream.items
    most = _most_rounds(m, s, items)
    exact = stream.rest is None and len(items) <= most
    rounds = len(items)
    if not exact:
        # Objects that are surely in the sequence may not be skipped; one number is as good as another.
        plain = all(isinstance(item, Const) for item in items)
        sure = most if reach_of(*items) else 0 if plain and _is_met_again(m, s) else 2
        rounds = max(_real_rounds(m, s), min(len(items), sure, most))
    if not rounds and stream.numbers is not None:
        rounds = 1
    previous: list[State] = heads
    before = m.budget.steps
    for index in range(rounds):
        if not heads:
            break
        if stream.rest is None and index >= len(items):
            break
        if (
            exact
            and most in {m.extent.limits.unrolled, WRITTEN_OUT}
            and m.budget.steps - before > LONG
            and _real_rounds(m, s) <= index < rounds - 2
        ):
            exact, rounds = False, index
            break
        make = stream.at(m, index)
        previous, made_before = heads, m.ids.last
        step, after = _round(m, s, heads, make, index)
        note_supposed(m, stream, index, made_before)
        heads = _settle(m, flow, step, after, breaks)
        if not exact and index >= 1 and stream.rest is not None and index + 1 >= len(items):
            exits += heads
        if not exact and 1 <= index < rounds - 1 and _tells_nothing_new(m, previous, heads):
            rounds = index + 1
            break
    if not exact and heads and (stream.rest is not None or len(items) > rounds):
        skipped = items[rounds:]
        if skipped and stream.rest is not None:
            make = _giver(one_of(*skipped, stream.rest))
        else:
            make = _giver(blurred_element(m, skipped)) if skipped else stream.make(m)
        # What a loop met again leaves behind is that of a round: no sequence is presumed to be empty.
        ended = None if rounds > 1 else heads if rounds else []
        previous = previous if rounds > 1 else heads
        go = partial(_round, m, s, make=make, index=BLURRED + rounds)
        exits = [_blur(m, s, previous, heads, exits, go, flow, breaks, ended)]
    else:
        exits += heads if exact or stream.rest is None else []
    _leave(m, s, exits, breaks, flow)


def _tells_nothing_new(m: Machine, before: list[State], after: list[State]) -> bool:
    """Whether the next round would do what this one has done."""
    return len(before) == len(after) == 1 and settled(before[0], after[0], _environments(m), m.ids.block)


def _most_rounds(m: Machine, s: n.For, items: Sequence[Value]) -> int:
    """The most rounds that a loop of known length runs for real."""
    if m.frame.library:
        return LIBRARY_ROUNDS
    if items and not n.mentions(s.body, "backward"):
        if _holds_parameter(m, items[0]):
            return PARAMETERS
        if isinstance(m.obj(items[0]), Instance):
            return LAYERS
        if any(isinstance(item, Tup) or (isinstance(item, Const) and isinstance(item.value, str)) for item in items):
            return WRITTEN_OUT
        if isinstance(items[0], Const) and is_building(m):
            return WRITTEN_OUT
    return m.extent.limits.unrolled


def _holds_parameter(m: Machine, item: Value) -> bool:
    if isinstance(item, Tup):
        return any(_holds_parameter(m, part) for part in item.items)
    tensor = m.tensor(item)
    return tensor is not None and tensor.parameter


def _real_rounds(m: Machine, s: n.For | n.While) -> int:
    """The number of real rounds. If backward is called, one more: the graph left by one round is freed by the next, and
    used again in the third.

    A loop inside a later round of another loop has been seen before, and starts in a state that joins all its rounds.
    Inside later rounds of two others, or in the round that stands for all of one, such a round will do: loops
    inside one another would otherwise cost twice as much with each.
    """
    if _is_met_again(m, s):
        return 1 if m.standing() == Standing(1, in_blurred=False) else 0
    return m.rounds(m.extent.limits.rounds + (not m.frame.library and _runs_backward(s.body)))


def _runs_backward(body: Sequence[n.Stmt]) -> bool:
    """Whether each round calls backward once; where a loop in it does, that one's rounds show what follows from it."""
    return any(
        _runs_backward([*s.body, *s.orelse])
        if isinstance(s, n.If)
        else _runs_backward(s.body)
        if isinstance(s, n.With)
        else not isinstance(s, n.For | n.While) and n.mentions(s, "backward")
        for s in body
    )


def _asks_for_its_number(s: n.For) -> bool:
    """Whether the first round may differ from the others: `if k == 0:`. In any other loop no round is told apart, nor
    are the items that it picks by its number."""
    name = s.target.id if isinstance(s.target, n.Name) else None
    tests = [node.test for node in n.walk(s.body) if isinstance(node, n.If | n.IfExp)] if name is not None else []
    return any(isinstance(node, n.Name) and node.id == name for node in n.walk(tests))


def _is_met_again(m: Machine, s: n.For | n.While) -> bool:
    return m.standing().later > 0 and m.test(_is_finished, _mark(m, s))


def _met_as_it_was_left(m: Machine, s: n.For, start: State) -> State | None:
    """What a training loop leaves that is met again in a state like the one it left: it has told all it can."""
    if not _runs_backward(s.body) or not _is_met_again(m, s):
        return None
    m.opaque()
    here = _environments(m)
    for left in m.indexes.left.get(_mark(m, s), ()):
        gone_on = gone_on_from(left, start, here, m.ids.block) if left.end.modes() == start.modes() else None
        if gone_on is not None:
            return gone_on
    return None


def _environments(m: Machine) -> tuple[int, ...]:
    return tuple([frame.env for frame in reversed(m.extent.frames)])


def _giver(value: Value) -> Callable[[], Value]:
    return lambda: value


def _settle(m: Machine, flow: Flow, step: Flow, after: list[State], breaks: list[State]) -> list[State]:
    """Collect a round's exits; returns the states at the next loop head."""
    breaks += step.breaks
    flow.returns += step.returns
    flow.raises += step.raises
    heads = after + step.continues
    return reduce_states(m, heads) if len(heads) > 1 else heads


def _blur(
    m: Machine,
    s: n.For | n.While,
    previous: list[State],
    heads: list[State],
    exits: list[State],
    go: Callable[[list[State]], tuple[Flow, list[State]]],
    flow: Flow,
    breaks: list[State],
    ended: Sequence[State] | None = None,
) -> State:
    """Run the round that stands for all later ones until it changes nothing more; returns the state after the loop:
    that of any round, or of `ended` and the rounds run here."""
    ends = [] if ended is None else list(ended)
    blurred = join_all(m, [*previous, *heads])
    for _ in range(1 if _is_met_again(m, s) else 2):
        step, after = go([blurred])
        following = _settle(m, flow, step, after, breaks)
        if not following:
            break
        ends += following
        merged = join_all(m, [blurred, *following])
        if settled(blurred, merged, _environments(m), m.ids.block):
            blurred = merged
            break
        blurred = merged
    left = [blurred] if ended is None or not ends else ends
    return join_all(m, [*left, *exits]) if len(left) + len(exits) > 1 else left[0]


def _leave(m: Machine, s: n.For | n.While, exits: list[State], breaks: list[State], flow: Flow) -> None:
    m.effect(_finish, _mark(m, s))
    if s.orelse and exits:
        step = run_block(m, s.orelse, exits)
        flow.take_exits(step)
        exits = step.normal
    states = exits + breaks
    flow.normal += reduce_states(m, states) if len(states) > 1 else states


def _push_through(m: Machine, s: n.For, start: State, stream: Stream, flow: Flow) -> None:
    """A loop over a fresh generator: its body runs, and each `yield` runs the loop's body in place."""
    limits = m.extent.limits
    m.extent.limits = replace(limits, rounds=_real_rounds(m, s))
    try:
        exits, breaks = run_pushed(
            m, stream, start, lambda heads, element, index: _round(m, s, heads, _giver(element), index), flow
        )
    finally:
        m.extent.limits = limits
    _leave(m, s, exits, breaks, flow)


def _finish(m: Machine, mark: object) -> None:
    m.indexes.finished.add(mark)


def _is_finished(m: Machine, mark: object) -> bool:
    return mark in m.indexes.finished


@leads(n.While)
def run_while(m: Machine, s: n.While, state: State) -> Flow:
    flow = Flow()
    heads = [state]
    exits: list[State] = []
    breaks: list[State] = []
    previous = heads
    always = isinstance(s.test, n.Constant) and bool(s.test.value)
    fewest = _real_rounds(m, s)
    rounds = fewest if always else m.extent.limits.unrolled
    certain = True
    done = 0
    for index in range(rounds):
        yes: list[State] = []
        for head in heads:
            good, bad, step = condition(m, s.test, head)
            flow.take_exits(step)
            yes += good
            exits += bad
            certain = certain and not (good and bad)
        if not certain and index >= fewest:
            heads = yes
            break
        if not yes:
            heads = []
            break
        previous = heads
        heads = _while_round(m, s, reduce_states(m, yes), index, flow, breaks)
        done = index + 1
        if not heads:
            break
        if 1 <= index < rounds - 1 and _tells_nothing_new(m, previous, heads):
            break
    if heads:
        go = partial(_while_on, m, s, BLURRED + done, exits)
        blurred = _blur(m, s, previous, heads, [], go, flow, breaks)
        _, bad, _ = condition(m, s.test, blurred)
        exits = [join_all(m, [*exits, *bad])] if exits or bad else []
    m.frame.statement = s
    _leave(m, s, exits, breaks, flow)
    return flow


def _while_on(m: Machine, s: n.While, index: int, exits: list[State], heads: list[State]) -> tuple[Flow, list[State]]:
    """A round that stands for others, from any of `heads`."""
    inside: list[State] = []
    out = Flow()
    for head in heads:
        good, bad, step = condition(m, s.test, head)
        out.take_exits(step)
        inside += good
        exits.extend(bad)
    if not inside:
        return out, []
    extra: list[State] = []
    after = _while_round(m, s, inside, index, out, extra)
    out.breaks += extra
    return out, after


def _while_round(
    m: Machine, s: n.While, heads: list[State], index: int, flow: Flow, breaks: list[State]
) -> list[State]:
    with _iteration(m, s, index):
        step = run_block(m, s.body, heads)
    return _settle(m, flow, step, step.normal, breaks)
