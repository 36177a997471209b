"""What a list holds at an index that nobody knows.

    h[i] = h[i].detach()
    h[i] = cell(x, h[i])    # whichever it is, it is the one that was detached

A list forgets which of its elements a store like that has replaced. What it was is kept beside it, while the list is as
the store left it: by the same unknown number the same element.
"""

from __future__ import annotations

from analyzers.domain.objects import ListObj
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.parts import Cell
from analyzers.machine.core.ranges import whole


def note_cell(m: Machine, owner: Ref, index: Value, value: Value) -> None:
    """A list was stored into, at an index that is no number."""
    found, at = m.st.get(owner.id), _number(index)
    if at is not None and isinstance(found, ListObj):
        m.opaque()
        m.indexes.cells[owner.id] = Cell(found, at, value)


def cell(m: Machine, owner: Value, index: Value) -> Value | None:
    """What was stored into a list last, if it was at the same index."""
    at = _number(index)
    if at is None or not isinstance(owner, Ref) or not m.test(_is_kept, (owner.id, at)):
        return None
    m.opaque()
    return m.indexes.cells[owner.id].value


def _number(index: Value) -> Value | None:
    """What tells one index from another: a number that is known, or one that is known by its symbol."""
    if isinstance(index, Unknown):
        return None if index.symbol is None else Unknown(None, index.symbol)
    at = whole(index)
    return None if at is None else Const(at)


def _is_kept(m: Machine, asked: tuple[int, Value]) -> bool:
    ident, at = asked
    kept = m.indexes.cells.get(ident)
    return kept is not None and kept.at == at and kept.held is m.st.find(ident)
