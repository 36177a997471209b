"""What nobody counts: in the likely world there are three.

    self.layers = nn.ModuleList([Layer(width) for _ in range(args.layers)])

A network with three layers shows what one with any number of them does, and a list of three is known whole where one of
unknown length is not.
"""

from __future__ import annotations

from analyzers.domain.values import Const, RangeValue, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.streams import Stream, Supposed

LIKELY = 3


def note_supposed(m: Machine, stream: Stream, index: int, before: int) -> None:
    """A round for the element at `index` has ended; `before` is the last heap id that there was when it began."""
    if stream.supposed is not None and index >= stream.supposed:
        m.notebook(Supposed).made.append((before, m.ids.last))


def counted(m: Machine, source: Value, stream: Stream) -> Stream:
    """The elements of `source`; three of them where values are presumed and nobody knows how many there are. Whoever
    keeps as many says so by `suppose`."""
    if stream.rest is None or len(stream.items) >= LIKELY:
        return stream
    m.record.unresolved.counts = True
    if not m.config.presumes:
        return stream
    items: list[Value]
    match source:
        case RangeValue(start=Const(value=int() as first), step=Const(value=int() as step)):
            items = [Const(first + step * index) for index in range(LIKELY)]
        case _:
            make = stream.make(m)
            items = [*stream.items, *[make() for _ in range(LIKELY - len(stream.items))]]
    return Stream(tuple(items), supposed=max(len(stream.items), 1))


def suppose(m: Machine) -> None:
    """It is presumed that there are three of what nobody counts."""
    m.presume("there are three of them", of_data=True)
    m.record.supposes_counts = True


def is_part(m: Machine, value: Value, *, alone: bool) -> bool:
    """Whether a value is part of a network: what learns, and unless only that counts `alone`, any tensor."""
    return PORTS.likely.learns(m, value) or (not alone and m.tensor(value) is not None)


def is_building(m: Machine) -> bool:
    """Whether an object of the program's is being constructed."""
    return any(f.func is not None and f.func.node_name == "__init__" and not f.library for f in m.extent.frames)
