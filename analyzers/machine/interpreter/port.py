"""The interpreter's interface to lower rooms."""

from __future__ import annotations

from analyzers.domain.truth import Truth
from analyzers.domain.values import Func, Ref, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS, Python
from analyzers.machine.interpreter.closures import give_away, havoc_captured, reached_from, run_callbacks
from analyzers.machine.interpreter.linking import library_value
from analyzers.machine.objects.havoc import methods_may_have_run
from analyzers.machine.objects.truth import truth_of


class Interpreter(Python):
    def library_value(self, m: Machine, place: tuple[str, str]) -> Value:
        return library_value(m, place)

    def truth(self, m: Machine, value: Value) -> Truth:
        return truth_of(m, value)[0]

    def escaped(self, m: Machine, func: Func) -> None:
        havoc_captured(m, func)

    def given_away(self, m: Machine, func: Func) -> None:
        give_away(m, func)

    def methods_may_have_run(self, m: Machine, ident: int) -> None:
        methods_may_have_run(m, ident)

    def reached_from(self, m: Machine, func: Func) -> tuple[list[Func], list[Ref]]:
        return reached_from(m, func)

    def run_callbacks(self, m: Machine) -> None:
        run_callbacks(m)


PORTS.python = Interpreter()
