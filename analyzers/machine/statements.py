"""Statements: from the states before to the states after.

A block runs on several states side by side. Each statement leads a state to a `Flow`: the states that go on, and those
that leave by `break`, `continue`, `return` or an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from analyzers.domain.state import State
from analyzers.domain.values import NONE, Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core import Infeasible, Machine, Outcome, Path, PyRaise
from analyzers.machine.events import Plain
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
        """Everything of `other` but the states that go on."""
        self.breaks += other.breaks
        self.continues += other.continues
        self.returns += other.returns
        self.raises += other.raises


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
        # States that were apart stay apart: only where new ones came up is it worth looking for equals.
        states = reduce_states(m, after) if len(after) > len(states) or len(after) > m.apart(m.limits.states) else after
    flow.normal = states
    return flow


def reduce_states(m: Machine, states: list[State], limit: int | None = None) -> list[State]:
    """Join states that autograd cannot tell apart, then the last ones until few enough are left."""
    kept: list[State] = []
    for state in states:
        for index, other in enumerate(kept):
            if m.interchangeable(other, state):
                kept[index] = m.join(other, state)
                break
        else:
            kept.append(state)
    limit = limit or m.apart(m.limits.states)
    while len(kept) > limit:
        last = kept.pop()
        kept[-1] = m.join(kept[-1], last)
    return kept


def join_all(m: Machine, states: Sequence[State]) -> State:
    joined = states[0]
    for other in states[1:]:
        joined = m.join(joined, other)
    return joined


def run_statement(m: Machine, statement: n.Stmt, state: State) -> Flow:
    m.spend()
    frame = m.frame
    frame.statement = frame.node = statement
    frame.visit = m.visit
    compound = COMPOUND.get(type(statement))
    if compound is not None:
        return compound(m, statement, state)
    flow = run_simple(m, statement, state, SIMPLE[type(statement)])
    if isinstance(statement, DEFINITIONS) and len(flow.normal) > 1:
        flow.normal = [join_all(m, flow.normal)]
    return flow


DEFINITIONS = (n.FunctionHead, n.ClassDef, n.Import, n.ImportFrom)
"""What decorators, class bodies and imported modules find unknown is not worth keeping apart."""


def run_simple(m: Machine, node: n.Node, state: State, run: Callable[[Machine, n.Node], None]) -> Flow:
    """Run something once for every combination of choices it makes."""
    flow = Flow()

    def finish() -> None:
        flow.normal.append(m.st)
        if m.probe is not None:
            m.probe.done(m, node, state)

    run_choices(m, node, state, lambda: run(m, node), finish, flow)
    return flow


def run_choices(
    m: Machine, node: n.Node, state: State, run: Callable[[], None], finish: Callable[[], None], flow: Flow
) -> None:
    frame = m.frame
    statement = frame.statement
    before = m.path
    memo: dict[tuple[object, ...], list[Outcome]] = {}
    pending: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), ())]
    passes = 0
    try:
        while pending:
            passes += 1
            prefix, replay = pending.pop()
            if passes > 24:
                break
            m.path = Path(prefix, replay, memo=memo)
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
                _passed(m, node)
            else:
                finish()
                _passed(m, node)
            pending += reversed(m.path.open)
    finally:
        m.path = before


def _passed(m: Machine, node: n.Node) -> None:
    frame = m.frame
    if not frame.library:
        m.passed.add((m.loc_of(frame, node), frame.visit))


class ReturnSignal(Exception):  # noqa: N818
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


# --- simple statements ------------------------------------------------------------------------------------------


def _pass(m: Machine, s: n.Node) -> None:
    del m, s


def _expr_stmt(m: Machine, s: n.ExprStmt) -> None:
    from analyzers.machine.discards import look_at_statement
    from analyzers.machine.expressions import evaluate

    look_at_statement(m, s.value, evaluate(m, s.value))


def _assign(m: Machine, s: n.Assign) -> None:
    from analyzers.machine.expressions import evaluate
    from analyzers.machine.targets import assign, note_joined

    value = evaluate(m, s.value)
    for target in s.targets:
        assign(m, target, value, s)
    note_joined(m, s, value)


def _ann_assign(m: Machine, s: n.AnnAssign) -> None:
    from analyzers.machine.expressions import evaluate
    from analyzers.machine.targets import assign, note_annotation

    if s.value is not None:
        assign(m, s.target, evaluate(m, s.value), s)
    note_annotation(m, s)


def _aug_assign(m: Machine, s: n.AugAssign) -> None:
    from analyzers.machine.targets import augmented_assign

    augmented_assign(m, s)


def _return(m: Machine, s: n.Return) -> None:
    from analyzers.machine.expressions import evaluate

    raise ReturnSignal(NONE if s.value is None else evaluate(m, s.value))


def _delete(m: Machine, s: n.Delete) -> None:
    from analyzers.machine.targets import delete

    for target in s.targets:
        delete(m, target)


def _assert(m: Machine, s: n.Assert) -> None:
    from analyzers.machine.expressions import evaluate, truth_of

    value = evaluate(m, s.test)
    known, symbol = truth_of(m, value)
    if known is False:
        raise PyRaise("AssertionError")
    if known is None and symbol is not None:
        m.st.assumed = m.st.assumed.set(symbol, True)


def _raise(m: Machine, s: n.Raise) -> None:
    from analyzers.machine.exceptions import exception_name, fault_of, message_of
    from analyzers.machine.expressions import evaluate

    if s.exc is None:
        raise PyRaise("Exception")
    value = evaluate(m, s.exc)
    name = exception_name(m, value)
    if m.frame.library:
        raise m.throw(name, message_of(m, value), Plain("library", fault_of(m, value)))
    raise PyRaise(name, "", value)


def _import(m: Machine, s: n.Import) -> None:
    from analyzers.machine.imports import run_import

    run_import(m, s)


def _import_from(m: Machine, s: n.ImportFrom) -> None:
    from analyzers.machine.imports import run_import_from

    run_import_from(m, s)


def _function_def(m: Machine, s: n.FunctionHead) -> None:
    from analyzers.machine.classes import define_function

    define_function(m, s)


def _class_def(m: Machine, s: n.ClassDef) -> None:
    from analyzers.machine.classes import define_class

    define_class(m, s)


# --- compound statements ----------------------------------------------------------------------------------------


def _chunk_ref(m: Machine, s: n.ChunkRef, state: State) -> Flow:
    frame = m.frame
    chunk = m.program.head(frame.module, s.key)
    before = frame.chunk
    frame.chunk = s.key
    try:
        return run_block(m, chunk.body, [state])
    finally:
        frame.chunk = before


def condition(m: Machine, test: n.Expr, state: State) -> tuple[list[State], list[State], Flow]:
    """The states in which `test` holds, those in which it does not, and what evaluating it led to otherwise."""
    from analyzers.machine.expressions import evaluate, truth_of

    yes: list[State] = []
    no: list[State] = []
    flow = Flow()
    result: list[bool] = []

    def run() -> None:
        known, symbol = truth_of(m, evaluate(m, test))
        result.append(m.decide(known, symbol))
        refine(m, test, result[-1])

    def finish() -> None:
        (yes if result[-1] else no).append(m.st)

    run_choices(m, test, state, run, finish, flow)
    return yes, no, flow


def refine(m: Machine, test: n.Expr, outcome: bool) -> None:
    """Learn from a condition's outcome what plain names hold: `x is None`, `flag`, `not flag`."""
    from analyzers.machine.expressions import evaluate

    match test:
        case n.UnaryOp(op="not", operand=operand):
            refine(m, operand, not outcome)
        case n.BoolOp(op="and", values=values) if outcome:
            for value in values:
                refine(m, value, True)
        case n.BoolOp(op="or", values=values) if not outcome:
            for value in values:
                refine(m, value, False)
        case n.Compare(left=left, ops=(("is" | "is not" | "==" | "!=") as op,), comparators=(n.Constant(value=None),)):
            if outcome == (op in {"is", "=="}):
                _narrow(m, left, NONE)
        case n.Call(func=n.Name() as func, args=(n.Name(id=name), cls)) if outcome:
            if evaluate(m, func) == Builtin("builtins.isinstance"):
                _widen(m, name, cls)
        case n.Name() | n.Attribute():
            _narrow(m, test, Const(outcome) if outcome else None)


def _widen(m: Machine, name: str, cls: n.Expr) -> None:
    """Where a value of a plain type is an instance of a class of which nothing is known, its type is not that one."""
    from analyzers.machine.builtins import is_instance
    from analyzers.machine.expressions import evaluate, lookup_env

    env = lookup_env(m, name)
    old = m.env(env).vars.get(name) if env is not None else None
    if env is not None and isinstance(old, Unknown) and old.type is not None:
        if is_instance(m, old, evaluate(m, cls)) is None:
            m.bind(env, name, replace(old, type=None))


def _narrow(m: Machine, target: n.Expr, value: Value | None) -> None:
    from analyzers.machine.expressions import evaluate, lookup_env

    match target:
        case n.Name(id=name):
            env = lookup_env(m, name)
            if env is None:
                return
            old = m.env(env).vars.get(name)
            if isinstance(old, Unknown) and value is not None and (value is NONE or _plain_flag(old)):
                m.bind(env, name, value)
        case n.Attribute(value=n.Name() as owner, attr=attr) if value is not None:
            from analyzers.domain.objects import Instance

            holder = evaluate(m, owner)
            found = m.obj(holder)
            if isinstance(found, Instance) and isinstance(holder, Ref):
                old = found.attrs.get(attr)
                if isinstance(old, Unknown) and (value is NONE or _plain_flag(old)):
                    m.st.put(holder.id, Instance(found.cls, found.attrs.set(attr, value), found.open))


def _plain_flag(value: Unknown) -> bool:
    """A flag whose outcome is not noted by what it stands for: its name would keep two ways apart for no other use."""
    return value.type == "bool" and value.symbol is None


def _if(m: Machine, s: n.If, state: State) -> Flow:
    yes, no, flow = condition(m, s.test, state)
    # A statement of a branch is a visit of its own; the statement itself has been passed by then.
    for branch, states in ((s.body, yes), (s.orelse, no)):
        if states:
            step = run_block(m, branch, states)
            flow.normal += step.normal
            flow.take_exits(step)
    m.frame.statement = s
    return flow


def _with(m: Machine, s: n.With, state: State) -> Flow:
    flow = _with_items(m, s, 0, state)
    m.frame.statement = s
    return flow


def _with_items(m: Machine, s: n.With, index: int, state: State) -> Flow:
    """`with a, b: body` is `with a: with b: body`."""
    from analyzers.machine.contexts import Guard, enter_context, leave_context
    from analyzers.machine.expressions import evaluate
    from analyzers.machine.generators import run_as_context
    from analyzers.machine.targets import assign

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
            m.expecting += guard.expects
            try:
                step = _with_items(m, s, index + 1, inside)
            finally:
                m.expecting -= guard.expects
            step = leave_context(m, guard, step)
        flow.normal += step.normal
        flow.take_exits(step)
    return flow


def _try(m: Machine, s: n.Try, state: State) -> Flow:
    from analyzers.machine.exceptions import handler_for

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
            before, doubts = states[0], m.doubts
            step = run_block(m, (statement,), states)
            if s.handlers and m.doubts != doubts:
                possible.append(before)
            inner.take_exits(step)
            states = step.normal
        inner.normal = states
    finally:
        frame.handlers -= bool(s.handlers)
    # Where the machine met something that it does not know, an exception may have come from there.
    caught_surely = False
    for after, raised in inner.raises:
        handler = handler_for(m, s.handlers, raised, after)
        if handler is None:
            flow.raises.append((after, raised))
            continue
        if raised.event is not None and not _reraises(handler):
            raised.event.caught = True
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


def _reraises(handler: n.ExceptHandler) -> bool:
    return bool(handler.body) and isinstance(handler.body[-1], n.Raise)


def _run_handler(
    m: Machine, handler: n.ExceptHandler, state: State, raised: PyRaise | None, flow: Flow, handled: list[State]
) -> None:
    m.st = state.fork()
    if handler.name is not None:
        from analyzers.machine.exceptions import exception_object

        m.bind(m.frame.env, handler.name, exception_object(m, raised))
    if raised is None:
        m.tolerant += 1
    try:
        step = run_block(m, handler.body, [m.st])
    finally:
        if raised is None:
            m.tolerant -= 1
    handled += step.normal
    if raised is None:
        # The exception itself was only possible: that the handler passes it on proves nothing.
        step.raises = []
    else:
        step.raises = [(x, raised if r.name == "Exception" and r.event is None else r) for x, r in step.raises]
    flow.take_exits(step)


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


def _match(m: Machine, s: n.Match, state: State) -> Flow:
    from analyzers.machine.expressions import evaluate, truth_of
    from analyzers.machine.patterns import match_pattern

    flow = Flow()
    subjects: list[Value] = []
    started: list[tuple[State, Value]] = []

    def run() -> None:
        subjects.append(evaluate(m, s.subject))

    run_choices(m, s.subject, state, run, lambda: started.append((m.st, subjects[-1])), flow)
    for begin, subject in started:
        open_states = [begin]
        for case in s.cases:
            falling: list[State] = []
            for current in open_states:
                verdict: list[bool] = []
                taken: list[State] = []

                def try_case(case: n.MatchCase = case, verdict: list[bool] = verdict, subject: Value = subject) -> None:
                    outcome = m.decide(match_pattern(m, case.pattern, subject, s))
                    if outcome and case.guard is not None:
                        known, symbol = truth_of(m, evaluate(m, case.guard))
                        outcome = m.decide(known, symbol)
                    verdict.append(outcome)

                def settle(
                    verdict: list[bool] = verdict, taken: list[State] = taken, falling: list[State] = falling
                ) -> None:
                    (taken if verdict[-1] else falling).append(m.st)

                run_choices(m, case, current, try_case, settle, flow)
                if taken:
                    step = run_block(m, case.body, taken)
                    flow.normal += step.normal
                    flow.take_exits(step)
            open_states = falling
        flow.normal += open_states
    m.frame.statement = s
    return flow


def _break(m: Machine, s: n.Node, state: State) -> Flow:
    _passed(m, s)
    return Flow(breaks=[state])


def _continue(m: Machine, s: n.Node, state: State) -> Flow:
    _passed(m, s)
    return Flow(continues=[state])


def _for(m: Machine, s: n.For, state: State) -> Flow:
    from analyzers.machine.loops import run_for

    return run_for(m, s, state)


def _while(m: Machine, s: n.While, state: State) -> Flow:
    from analyzers.machine.loops import run_while

    return run_while(m, s, state)


SIMPLE: dict[type[n.Node], Callable[..., None]] = {
    n.Pass: _pass,
    n.Global: _pass,
    n.Nonlocal: _pass,
    n.ErrorStmt: _pass,
    n.ExprStmt: _expr_stmt,
    n.Assign: _assign,
    n.AnnAssign: _ann_assign,
    n.AugAssign: _aug_assign,
    n.Return: _return,
    n.Delete: _delete,
    n.Assert: _assert,
    n.Raise: _raise,
    n.Import: _import,
    n.ImportFrom: _import_from,
    n.FunctionHead: _function_def,
    n.FunctionDef: _function_def,
    n.ClassDef: _class_def,
}

COMPOUND: dict[type[n.Node], Callable[..., Flow]] = {
    n.ChunkRef: _chunk_ref,
    n.If: _if,
    n.With: _with,
    n.Try: _try,
    n.Match: _match,
    n.Break: _break,
    n.Continue: _continue,
    n.For: _for,
    n.While: _while,
}

__all__ = ["Flow", "Plain", "ReturnSignal", "Tup", "join_all", "reduce_states", "run_block", "run_choices"]
