"""Finding the function that runs a syntax node; running blocks statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from analyzers.domain.state import State
from analyzers.domain.values import Value
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.choices import Infeasible, Path
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.tables import enter
from analyzers.machine.interpreter.flow import Flow, join_all, reduce_states, run_choices
from analyzers.syntax import nodes as n

Evaluator: TypeAlias = Callable[..., Value]


EVALUATE: Final[dict[type[n.Node], Evaluator]] = {}
"""How each kind of expression is evaluated."""


def evaluates(kind: type[n.Node]) -> Callable[[Evaluator], Evaluator]:
    """Register a function as the evaluator of expressions of this kind."""

    def add(handler: Evaluator) -> Evaluator:
        enter(EVALUATE, kind, handler)
        return handler

    return add


def evaluate(m: Machine, node: n.Expr) -> Value:
    return EVALUATE[type(node)](m, node)


Simple: TypeAlias = Callable[..., None]


Compound: TypeAlias = Callable[..., Flow]


SIMPLE: Final[dict[type[n.Node], Simple]] = {}


COMPOUND: Final[dict[type[n.Node], Compound]] = {}
"""How each kind of statement is run: on the current state, or from one state to a flow."""


def runs(*kinds: type[n.Node]) -> Callable[[Simple], Simple]:
    """Register a function as the one that runs simple statements of these kinds."""

    def add(handler: Simple) -> Simple:
        for kind in kinds:
            enter(SIMPLE, kind, handler)
        return handler

    return add


def leads(kind: type[n.Node]) -> Callable[[Compound], Compound]:
    """Register a function as the one that runs compound statements of this kind."""

    def add(handler: Compound) -> Compound:
        enter(COMPOUND, kind, handler)
        return handler

    return add


def run_block(m: Machine, body: Sequence[n.Stmt], states: list[State]) -> Flow:
    flow = Flow()
    for statement in body:
        if not states:
            break
        after: list[State] = []
        exits = Flow()
        for state in states:
            step = run_statement(m, statement, state)
            after += step.normal
            exits.take_exits(step)
        if exits.raises and not after and _fails_for_another_reason(m, exits):
            after = [_past_failure(m, statement, exits.raises[0][0])]
        else:
            flow.take_exits(exits)
        # States that were apart stay apart; look for equivalent ones only if new ones appeared.
        states = (
            reduce_states(m, after)
            if len(after) > len(states) or len(after) > m.apart(m.extent.limits.states)
            else after
        )
    flow.normal = states
    return flow


ON_PURPOSE = frozenset(
    {"AssertionError", "Exception", "GeneratorExit", "KeyboardInterrupt", "NotImplementedError", "StopIteration"}
    | {"StopAsyncIteration", "SystemExit"}
)


def _fails_for_another_reason(m: Machine, exits: Flow) -> bool:
    """Whether all that comes to a statement ends there in what is neither autograd's, nor meant, nor caught.

    It is a key that is not there, sizes that do not fit, a call that torch no longer knows. What only a way meets of
    which nobody knows whether it is taken is no such thing: it tells that the way is not."""
    if exits.breaks or exits.continues or exits.returns or m.frame.library or m.extent.expecting:
        return False
    if m.config.ends_with_failure:
        return False
    if any(frame.handlers for frame in m.extent.frames):
        return False
    return all(_is_another_reason(raised) and not state.taken for state, raised in exits.raises)


def _is_another_reason(raised: PyRaise) -> bool:
    if raised.event is not None:
        note = raised.event.cause.note if isinstance(raised.event.cause, Plain) else ""
        return note == "sizes" or (note == "library" and raised.name != "RuntimeError")
    return raised.value is None and raised.name not in ON_PURPOSE


def _past_failure(m: Machine, statement: n.Stmt, state: State) -> State:
    """What follows is run as if the statement had done nothing but bind what it binds; nothing there is certain."""
    m.st = state.fork()
    m.st.doubtful = True
    m.frame.statement = m.frame.node = statement
    lose, before = LOSES.get(type(statement)), m.extent.path
    if lose is not None:
        m.extent.path = Path(())
        try:
            lose(m, statement)
        except (PyRaise, Infeasible):
            pass  # the target fails as well, and holds what it held
        finally:
            m.extent.path = before
    return m.st


LOSES: Final[dict[type[n.Node], Callable[..., None]]] = {}
"""What a kind of statement leaves that has failed."""


def loses(kind: type[n.Node]) -> Callable[[Simple], Simple]:
    """Register a function that gives unknown values to what such a statement binds."""

    def add(handler: Simple) -> Simple:
        enter(LOSES, kind, handler)
        return handler

    return add


def run_statement(m: Machine, statement: n.Stmt, state: State) -> Flow:
    m.spend()
    frame = m.frame
    frame.statement = frame.node = statement
    frame.visit = m.extent.visit
    compound = COMPOUND.get(type(statement))
    if compound is not None:
        return compound(m, statement, state)
    flow = run_simple(m, statement, state, SIMPLE[type(statement)])
    if isinstance(statement, DEFINITIONS) and len(flow.normal) > 1:
        flow.normal = [join_all(m, flow.normal)]
    return flow


DEFINITIONS = (n.FunctionHead, n.ClassDef, n.Import, n.ImportFrom)
"""Unknowns met in decorators, class bodies and imported modules are not worth keeping states apart for."""


def run_simple(m: Machine, node: n.Node, state: State, run: Callable[[Machine, n.Node], None]) -> Flow:
    """Run something once for each combination of choices it makes."""
    flow = Flow()

    def finish() -> None:
        flow.normal.append(m.st)
        if m.config.probe is not None:
            m.config.probe.done(m, node, state)

    run_choices(m, node, state, lambda: run(m, node), finish, flow)
    return flow
