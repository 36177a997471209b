"""The interpreter, as rooms below and beside it reach it."""

from __future__ import annotations

from analyzers.domain.values import Func, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS, Python
from analyzers.machine.interpreter.closures import havoc_captured
from analyzers.machine.interpreter.linking import library_value


class Interpreter(Python):
    def library_value(self, m: Machine, place: tuple[str, str]) -> Value:
        return library_value(m, place)

    def escaped(self, m: Machine, func: Func) -> None:
        havoc_captured(m, func)


PORTS.python = Interpreter()
