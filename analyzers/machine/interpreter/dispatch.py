"""Finding the function that runs a syntax node; running blocks statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from analyzers.domain.state import State
from analyzers.domain.values import Value
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
        for state in states:
            step = run_statement(m, statement, state)
            after += step.normal
            flow.take_exits(step)
        # States that were apart stay apart; look for equivalent ones only if new ones appeared.
        states = (
            reduce_states(m, after)
            if len(after) > len(states) or len(after) > m.apart(m.extent.limits.states)
            else after
        )
    flow.normal = states
    return flow


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
