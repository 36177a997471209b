"""Simple statements, and `break` and `continue`."""

from __future__ import annotations

from analyzers.domain.state import State
from analyzers.domain.values import NONE, Unknown
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import Assigned, LeftAlone, tell
from analyzers.machine.interpreter.conditions import note_picking, refine
from analyzers.machine.interpreter.declared import annotated
from analyzers.machine.interpreter.dispatch import evaluate, leads, loses, run_block, runs
from analyzers.machine.interpreter.flow import Flow, ReturnSignal, passed
from analyzers.machine.interpreter.targets import assign, delete, note_annotation, store_name
from analyzers.machine.objects.truth import truth_of
from analyzers.syntax import nodes as n
from analyzers.syntax.paths import names_bound


@runs(n.Pass, n.Global, n.Nonlocal, n.ErrorStmt)
def _pass(m: Machine, s: n.Node) -> None:
    del m, s


@runs(n.ExprStmt)
def _expr_stmt(m: Machine, s: n.ExprStmt) -> None:
    match s.value:
        case n.Call(func=n.Attribute(attr="requires_grad_"), args=(flag, *_)):
            _note_picking(m, flag)
    tell(m, LeftAlone(s.value, evaluate(m, s.value)))


def _note_picking(m: Machine, flag: n.Expr) -> None:
    """`p.requires_grad = name in wanted` picks some of those that a loop goes over, as an `if` does."""
    if isinstance(flag, n.BoolOp | n.Call | n.Compare | n.UnaryOp):
        note_picking(m)


@runs(n.Assign)
def _assign(m: Machine, s: n.Assign) -> None:
    if any(isinstance(target, n.Attribute) and target.attr == "requires_grad" for target in s.targets):
        _note_picking(m, s.value)
    value = evaluate(m, s.value)
    for target in s.targets:
        assign(m, target, value, s)
    tell(m, Assigned(s, value))


@loses(n.Assign)
def _lose_targets(m: Machine, s: n.Assign) -> None:
    for target in s.targets:
        assign(m, target, Unknown(), s)


@loses(n.AugAssign)
@loses(n.For)
@loses(n.If)
@loses(n.While)
@loses(n.With)
def _lose_names(m: Machine, s: n.Node) -> None:
    for name in sorted(names_bound([s])):
        store_name(m, name, Unknown())


@runs(n.AnnAssign)
def _ann_assign(m: Machine, s: n.AnnAssign) -> None:
    if s.value is not None:
        assign(m, s.target, annotated(m, evaluate(m, s.value), s.annotation), s)
    note_annotation(m, s)


@runs(n.Return)
def _return(m: Machine, s: n.Return) -> None:
    raise ReturnSignal(NONE if s.value is None else evaluate(m, s.value))


@runs(n.Delete)
def _delete(m: Machine, s: n.Delete) -> None:
    for target in s.targets:
        delete(m, target)


@runs(n.Assert)
def _assert(m: Machine, s: n.Assert) -> None:
    value = evaluate(m, s.test)
    known, symbol = truth_of(m, value)
    if known is False:
        raise PyRaise("AssertionError")
    if known is None and symbol is not None:
        m.assume(symbol, True)
    if known is None:
        m.guard(s.test, True)
        refine(m, s.test, True)


@leads(n.ChunkRef)
def _chunk_ref(m: Machine, s: n.ChunkRef, state: State) -> Flow:
    frame = m.frame
    chunk = m.config.program.head(frame.module, s.key)
    before = frame.chunk
    frame.chunk = s.key
    try:
        return run_block(m, chunk.body, [state])
    finally:
        # What is presumed where states are joined between two statements of a module is told at the one before.
        frame.chunk = before or frame.chunk


@leads(n.Break)
def _break(m: Machine, s: n.Node, state: State) -> Flow:
    passed(m, s)
    return Flow(breaks=[state])


@leads(n.Continue)
def _continue(m: Machine, s: n.Node, state: State) -> Flow:
    passed(m, s)
    return Flow(continues=[state])
