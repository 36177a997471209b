"""Modules and parameters kept where `nn.Module` does not look for them."""

from __future__ import annotations

from analyzers.domain.values import Ref, Value
from analyzers.machine.core import Machine


def note_unregistered(m: Machine, owner: Ref, name: str, value: Value) -> None:
    """An attribute of a module that is neither parameter, buffer nor module: nothing to note of plain values."""
    del m, owner, name, value
