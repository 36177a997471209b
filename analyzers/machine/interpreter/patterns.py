"""`match` patterns: whether a value fits, and the names it binds."""

from __future__ import annotations

from analyzers.domain import truth
from analyzers.domain.objects import DictObj, ListObj, SetObj
from analyzers.domain.state import State
from analyzers.domain.values import Const, Tup, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import is_foreign
from analyzers.machine.interpreter.dispatch import evaluate, leads, run_block
from analyzers.machine.interpreter.flow import Flow, reduce_states, run_choices
from analyzers.machine.interpreter.targets import assign
from analyzers.machine.objects.attributes import get_attribute
from analyzers.machine.objects.comparisons import compare
from analyzers.machine.objects.truth import truth_of
from analyzers.machine.objects.type_tests import is_instance
from analyzers.syntax import nodes as n


def match_pattern(m: Machine, pattern: n.Pattern, subject: Value, statement: n.Node) -> truth.Truth:
    match pattern:
        case n.MatchValue(value=expr):
            wanted = evaluate(m, expr)
            op = (
                "is" if isinstance(wanted, Const) and (wanted.value is None or isinstance(wanted.value, bool)) else "=="
            )
            return truth_of(m, compare(m, op, subject, wanted))[0]
        case n.MatchAs(pattern=inner, name=name):
            fits = True if inner is None else match_pattern(m, inner, subject, statement)
            if name is not None and fits is not False:
                assign(m, n.Name(pattern.start, pattern.end, name), subject, statement)
            return fits
        case n.MatchOr(patterns=patterns):
            verdict: truth.Truth = False
            for option in patterns:
                fits = match_pattern(m, option, subject, statement)
                if fits:
                    return True
                verdict = None if fits is None else verdict
            return verdict
        case n.MatchSequence(patterns=patterns):
            return _sequence(m, patterns, subject, statement)
        case n.MatchMapping(keys=keys, patterns=patterns, rest=rest):
            return _mapping(m, keys, patterns, rest, subject, statement)
        case n.MatchClass():
            return _class(m, pattern, subject, statement)
    return None


def _sequence(m: Machine, patterns: tuple[n.Pattern, ...], subject: Value, statement: n.Node) -> truth.Truth:
    found = m.obj(subject)
    items = subject.items if isinstance(subject, Tup) else found.items if isinstance(found, ListObj) else None
    if items is None or (isinstance(found, ListObj) and found.rest is not None):
        for p in patterns:
            if not isinstance(p, n.MatchStar):
                match_pattern(m, p, Unknown(), statement)
        return None if items is not None or isinstance(subject, Unknown) else False
    star = next((i for i, p in enumerate(patterns) if isinstance(p, n.MatchStar)), None)
    if star is None and len(items) != len(patterns):
        return False
    if star is not None and len(items) < len(patterns) - 1:
        return False
    verdict: truth.Truth = True
    tail = len(patterns) - (star if star is not None else len(patterns)) - 1
    for index, p in enumerate(patterns):
        if isinstance(p, n.MatchStar):
            if p.name is not None:
                middle = items[index : len(items) - tail]
                assign(m, n.Name(p.start, p.end, p.name), m.new(ListObj(tuple(middle))), statement)
            continue
        at = index if star is None or index < star else len(items) - (len(patterns) - index)
        verdict = truth.both(verdict, match_pattern(m, p, items[at], statement))
        if verdict is False:
            return False
    return verdict


def _mapping(
    m: Machine,
    keys: tuple[n.Expr, ...],
    patterns: tuple[n.Pattern, ...],
    rest: str | None,
    subject: Value,
    statement: n.Node,
) -> truth.Truth:
    found = m.obj(subject)
    verdict: truth.Truth = True if isinstance(found, DictObj) else None
    if isinstance(subject, Const | Tup) or isinstance(found, ListObj | SetObj) or is_foreign(found):
        return False
    for key_node, p in zip(keys, patterns, strict=True):
        key = evaluate(m, key_node)
        item = found.items.get(key) if isinstance(found, DictObj) else None
        if item is None:
            if (
                isinstance(found, DictObj)
                and found.rest is None
                and not any(isinstance(k, Unknown) for k in found.order)
            ):
                return False
            verdict = None
            item = Unknown()
        verdict = truth.both(verdict, match_pattern(m, p, item, statement))
    if rest is not None:
        assign(m, n.Name(0, 0, rest), Unknown(), statement)
    return verdict


def _class(m: Machine, pattern: n.MatchClass, subject: Value, statement: n.Node) -> truth.Truth:
    verdict = is_instance(m, subject, evaluate(m, pattern.cls))
    if verdict is False:
        return False
    for name, p in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
        verdict = truth.both(verdict, match_pattern(m, p, get_attribute(m, subject, name), statement))
    for p in pattern.patterns:
        simple = len(pattern.patterns) == 1
        inner = subject if simple and isinstance(subject, Const) else Unknown()
        verdict = truth.both(verdict, match_pattern(m, p, inner, statement))
    return verdict


@leads(n.Match)
def _match(m: Machine, s: n.Match, state: State) -> Flow:
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
            # Each case with a guard is left in two ways: the states would double with each.
            open_states = reduce_states(m, falling) if len(falling) > 1 else falling
        flow.normal += open_states
    m.frame.statement = s
    return flow
