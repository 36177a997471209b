"""Using None where a value is needed: reported as a missing gradient if it is one."""

from __future__ import annotations

from analyzers.domain.values import Value
from analyzers.machine.core.causes import NoneGrad, NoneGradUsed, Plain
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine


def none_used(m: Machine, value: Value, exception: str, message: str) -> PyRaise:
    """The exception raised by using None; reported as a missing gradient if the None is one."""
    lineage = m.lineage(value)
    if isinstance(lineage, NoneGrad):
        return m.throw(exception, message, NoneGradUsed(lineage))
    return (
        m.throw(exception, message, Plain("none", lineage))
        if m.extent.hypothetical == 0
        else PyRaise(exception, message)
    )
