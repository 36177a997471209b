"""Graphs that outlive their iteration: running totals and lists that keep every step's graph alive."""

from __future__ import annotations

from analyzers.domain.objects import Tensor
from analyzers.domain.values import Ref, Value
from analyzers.machine.core import Machine
from analyzers.machine.events import GraphGrew
from analyzers.syntax import nodes as n


def note_accumulation(m: Machine, s: n.Node, name: str, old: Value, new: Value) -> None:
    """`total += loss`: whether the total carries a graph into the next iteration."""
    del s, old
    found = m.obj(new)
    if isinstance(found, Tensor) and isinstance(new, Ref) and found.requires_grad and m.iterations:
        m.note(GraphGrew(m.site(), name, "accumulated"))


def note_appended(m: Machine, name: str, value: Value) -> None:
    found = m.obj(value)
    if m.loops and isinstance(found, Tensor) and found.requires_grad and found.edge is not None:
        m.note(GraphGrew(m.site(), name, "appended"))
