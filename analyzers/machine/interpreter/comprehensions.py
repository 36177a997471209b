"""Comprehensions and generator expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analyzers.domain.join import reach_of
from analyzers.domain.objects import DictObj, Env, Generator, ListObj, SetObj
from analyzers.domain.values import Func, RangeValue, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.interpreter.dispatch import evaluate, evaluates
from analyzers.machine.interpreter.flow import blurred_element
from analyzers.machine.interpreter.targets import assign
from analyzers.machine.objects.counting import counted, is_part, note_supposed, suppose
from analyzers.machine.objects.iteration import stream_of
from analyzers.machine.objects.subscripts import is_exact_key, is_key
from analyzers.machine.objects.truth import truth_of
from analyzers.maps import Map
from analyzers.syntax import nodes as n
from analyzers.syntax.paths import names_in

_ELEMENTS = 128
"""The most elements built by a comprehension with several clauses; the rest are summarized."""


_MANY = 64


_PLAIN = 1024
"""The most elements a single clause iterates over if they are plain values; of many others, all after the first few are
summarized."""


@dataclass(slots=True)
class _Rounds:
    """The rounds of a comprehension. `loose`: some round stands for an unknown number of rounds; `open`: some condition
    was not known, so that such a round may give elements though it gave none."""

    generators: tuple[n.Comprehension, ...]
    emit: Callable[[], None]
    outer: int
    count: int = 0
    loose: bool = False
    open: bool = False
    supposed: bool = False
    over_data: bool = False

    def run(self, m: Machine, index: int) -> None:
        """Run the clauses from `index` on; after the last one, emit an element."""
        if index == len(self.generators):
            self.count += 1
            m.spend()
            self.emit()
            return
        generator = self.generators[index]
        single = len(self.generators) == 1
        source = evaluate(m, generator.iter)
        stream = stream_of(m, source, most=_PLAIN if single else _MANY).drained(m)
        if not generator.ifs:
            stream = counted(m, source, stream)
            self.supposed = self.supposed or stream.supposed is not None
            self.over_data = self.over_data or not isinstance(source, RangeValue)
        if index == 0:
            m.frame.env = m.new(Env(Map(), self.outer, m.frame.module)).id
        items = list(stream.items)
        many = len(items) > _MANY
        if many and not single:
            items = items[:4]
            self.loose = True
        if stream.rest is not None:
            items.append(stream.rest)
        most = _PLAIN if single else _ELEMENTS
        made = len(m.extent.path.allocated)
        for at, item in enumerate(items):
            if self.count >= most:
                self.loose = True
                return
            last = many and at == 4 and len(m.extent.path.allocated) != made
            if last:
                self.loose = True
                if stream.rest is None:
                    return
                item = stream.rest
            before, made_before = m.enter((m.loc_of(m.frame, generator), at)), m.ids.last
            try:
                assign(m, generator.target, item, None)
                was_open, self.open = self.open, False
                keeps = self._keeps(m, generator)
                # None of the rest passes if what stands for it surely does not.
                is_rest = stream.rest is not None and at == len(items) - 1
                self.loose = self.loose or (is_rest and (keeps or self.open))
                self.open = self.open or was_open
                if keeps:
                    self.run(m, index + 1)
            finally:
                m.extent.visit = before
            note_supposed(m, stream, at, made_before)
            if last:
                return

    def _keeps(self, m: Machine, generator: n.Comprehension) -> bool:
        """Whether an element passes the conditions of its clause."""
        for test in generator.ifs:
            known, symbol = truth_of(m, evaluate(m, test))
            self.open = self.open or known is None
            self.loose = self.loose or (known is None and symbol is None)
            outcome = (known is None and symbol is None) or m.decide(known, symbol)
            if known is None:
                m.guard(test, outcome)
            if not outcome:
                return False
        return True


def _rounds(m: Machine, generators: tuple[n.Comprehension, ...], items: list[Value], emit: Callable[[], None]) -> bool:
    """Run a comprehension's clauses, which fill `items`; returns whether some round stands for an unknown number of
    elements: of what nobody counts, if the elements are no parts of a network. Data have a number of their own, on
    which more depends."""
    frame = m.frame
    rounds = _Rounds(generators, emit, frame.env)
    try:
        rounds.run(m, 0)
    finally:
        frame.env = rounds.outer
    if rounds.supposed and not all(is_part(m, item, alone=rounds.over_data) for item in items):
        del items[1:]
        return True
    if rounds.supposed:
        suppose(m)
    return rounds.loose and (rounds.count > 0 or rounds.open)


def _elements(m: Machine, node: n.ListComp | n.SetComp) -> tuple[list[Value], bool]:
    items: list[Value] = []
    loose = _rounds(m, node.generators, items, lambda: items.append(evaluate(m, node.elt)))
    return items, loose


def _summary(m: Machine, items: list[Value]) -> Value:
    return blurred_element(m, items)


@evaluates(n.ListComp)
def list_comp(m: Machine, node: n.ListComp) -> Value:
    items, loose = _elements(m, node)
    m.frame.node = node
    return m.new(ListObj(tuple(items), _summary(m, items) if loose else None))


@evaluates(n.GeneratorExp)
def generator_exp(m: Machine, node: n.GeneratorExp) -> Value:
    """A generator expression is a generator function called immediately with its first iterable."""
    first = evaluate(m, node.generators[0].iter)
    func = Func(_as_function(node), m.frame.module, m.frame.chunk, m.frame.qualname, m.frame.env)
    env = m.new(Env(Map({".0": first}), m.frame.env, m.frame.module))
    return m.new(Generator(func, env.id))


def _as_function(node: n.GeneratorExp) -> n.FunctionDef:
    at, end = node.start, node.end
    body: n.Stmt = n.ExprStmt(at, end, n.Yield(node.elt.start, node.elt.end, node.elt))
    names: set[str] = set()
    for index, clause in reversed(list(enumerate(node.generators))):
        for test in reversed(clause.ifs):
            body = n.If(test.start, test.end, test, (body,), ())
        source: n.Expr = n.Name(at, at, ".0") if index == 0 else clause.iter
        names |= set(names_in(clause.target))
        body = n.For(at, end, clause.target, source, (body,), (), clause.is_async)
    arguments = n.Arguments((), (), None, (), None)
    return n.FunctionDef(
        at, end, "<genexpr>", at, arguments, (), None, False, (body,), True, frozenset(names), frozenset(), frozenset()
    )


@evaluates(n.SetComp)
def set_comp(m: Machine, node: n.SetComp) -> Value:
    items, loose = _elements(m, node)
    return m.new(SetObj(tuple(dict.fromkeys(items)), _summary(m, items) if loose else None))


@evaluates(n.DictComp)
def dict_comp(m: Machine, node: n.DictComp) -> Value:
    items: dict[Value, Value] = {}
    others: list[Value] = []
    made: list[Value] = []

    def emit() -> None:
        key = evaluate(m, node.key)
        value = evaluate(m, node.value)
        made.append(value)
        if is_key(m, key):
            items[key] = value
        else:
            others.append(value)

    if loose := _rounds(m, node.generators, made, emit):
        others += items.values()
    rest = _summary(m, others) if others else (Unknown() if loose else None)
    of_data = bool(others) and all(_is_data(m, value) for value in others)
    if m.config.presumes and loose and of_data and not any(map(is_exact_key, items)):
        rest = Unknown(None, m.fresh(), m.trail("?", m.parents(others)), reach_of(*others))
        PORTS.likely.loaded(m, rest, others)
        items = {}
    return m.new(DictObj(Map(items), tuple(items), rest))


def _is_data(m: Machine, value: Value) -> bool:
    """Whether this is a tensor without a graph, and of its own memory."""
    tensor = m.tensor(value)
    return tensor is not None and not tensor.parameter and tensor.requires_grad is False and tensor.base is None
