"""Graphs that outlive their iteration: running totals and lists that keep every step's graph alive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analyzers.domain.lineage import Lineage, Round, graph_trail
from analyzers.domain.objects import DictObj, ListObj, Node
from analyzers.domain.state import may_meet
from analyzers.domain.values import Ref, Tup, Unknown, Value
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import BackwardCall, GraphGrew, ListEmptied
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import Assigned, Bound, Emptied, ItemStored, Kept, NodeSpent, hears
from analyzers.machine.observers.graph_liveness import GraphUses
from analyzers.maps import Map
from analyzers.syntax import nodes as n

NEAR = 60
"""The most steps of a trail, or nodes of a graph, examined."""


ADDING = frozenset({
    "add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "div", "truediv", "itruediv", "lerp", "cat",
    "stack",
})  # fmt: skip
"""What makes the next value of a total out of its last one."""


def _note_accumulation(m: Machine, name: str, earlier: Lineage, new: Value) -> None:
    """`total += loss`: whether the total carries graphs into the next iteration that a backward has already finished
    with, or none goes through."""
    tensor = m.tensor(new)
    if tensor is None or tensor.requires_grad is False or tensor.lineage is None or not m.extent.iterations:
        return
    lineage, node = tensor.lineage, tensor.edge.node if tensor.edge is not None else None
    if earlier is lineage or not m.test(_own_past, (lineage, earlier)):
        return
    if (node is not None and m.test(_reaches_walked, node)) or m.test(_holds_backwarded, lineage):
        m.note(GraphGrew(m.site(), name, "accumulated", tensor.lineage, m.st.assumed))
    elif tensor.requires_grad is True and node is not None:
        if m.extent.in_module or not m.test(_is_total, (lineage, earlier)):
            return  # a sum of what layers return is no total of rounds
        # Data that nobody knows may have a graph that backward goes through; most likely they have none.
        m.record.unresolved.data = m.record.unresolved.data or not m.config.presumes
        number = m.node(node).seq
        m.notebook(GraphUses).sums[number] = GraphGrew(m.site(), name, "summed", tensor.lineage, m.st.assumed)


@hears(Kept)
def _kept(m: Machine, signal: Kept) -> None:
    _note_kept(m, signal.name, signal.earlier, signal.new, signal.holder)


@hears(Emptied)
def _emptied(m: Machine, signal: Emptied) -> None:
    if m.extent.loops:
        m.note(ListEmptied(m.site(), signal.holder))


def _note_kept(
    m: Machine, name: str, earlier: Iterable[Value], new: Iterable[Value], holder: int | None = None
) -> None:
    """`losses.append(loss)` and the like: `repeated` if the container already has a loss from an earlier iteration."""
    if not m.extent.loops or m.frame.library:
        return
    kept = [one for value in _flat(m, earlier) for one in _perhaps_held(m, value)]
    for value in _flat(m, new):
        tensor = m.tensor(value)
        if tensor is None or tensor.requires_grad is False or tensor.is_leaf or tensor.lineage is None:
            continue
        if tensor.parameter:
            # Unknown code may have done anything to it, but nobody keeps a graph with it.
            continue
        if tensor.requires_grad is None and tensor.edge is not None and tensor.edge.maybe:
            # With a graph on one path and without on another: where it has one, a backward need not happen.
            continue
        steps = tuple([step for step in map(m.lineage, kept) if step is not None])
        repeated = m.test(_are_some_alike, (tensor.lineage, steps))
        done = repeated and m.test(_is_some_walked, (tensor.lineage, tuple(_nodes(m, kept))))
        m.effect(_note_grown, (m.site(), name, tensor.lineage, repeated, done, holder))


def _note_grown(m: Machine, grown: tuple[Site, str, Lineage, bool, bool, int | None]) -> None:
    site, name, lineage, repeated, done, holder = grown
    m.record.events.append(GraphGrew(site, name, "appended", lineage, m.st.assumed, repeated, done, holder))


def _nodes(m: Machine, kept: Iterable[Value]) -> Iterator[tuple[Lineage, int]]:
    for value in kept:
        tensor = m.tensor(value)
        if tensor is not None and tensor.lineage is not None and tensor.edge is not None:
            if tensor.edge.node is not None:
                yield tensor.lineage, tensor.edge.node


def _are_some_alike(m: Machine, asked: tuple[Lineage, tuple[Lineage, ...]]) -> bool:
    """Whether one of the trails that were kept before ends at the same place."""
    del m
    lineage, kept = asked
    return any(step is not lineage and step.loc == lineage.loc for step in kept)


def _is_some_walked(m: Machine, asked: tuple[Lineage, tuple[tuple[Lineage, int], ...]]) -> bool:
    """Whether backward has since been called through one of the tensors created at this place."""
    lineage, kept = asked
    return any(step.loc == lineage.loc and _went_through(m, node) for step, node in kept)


def _flat(m: Machine, values: Iterable[Value]) -> Iterator[Value]:
    """The values, including those inside tuples and dictionaries."""
    for value in values:
        held = m.obj(value)
        if isinstance(held, DictObj):
            yield from held.values
        else:
            yield from value.items if isinstance(value, Tup) else (value,)


def _perhaps_held(m: Machine, value: Value) -> Sequence[Value]:
    """A value or, of an unknown one in a presumed run, the objects that it may be."""
    if m.config.presumes and isinstance(value, Unknown):
        return [Ref(ident) for ident in value.reach]
    return [value]


def _own_past(m: Machine, asked: tuple[Lineage, Lineage]) -> bool:
    """Whether a value is computed from what its name held before, and that from the same expression."""
    del m
    lineage, earlier = asked
    return earlier in (trail := graph_trail(lineage)) and any(
        step is not lineage and step.loc == lineage.loc and step.what == lineage.what for step in trail
    )


def _is_total(m: Machine, asked: tuple[Lineage, Lineage]) -> bool:
    """Whether a value is what its name held before and something else, as `total + loss` is, and `layer(x)` is not."""
    del m
    step, earlier = asked
    for _ in range(NEAR):
        if step is earlier:
            return True
        if step.what not in ADDING:
            return False
        leading: list[Lineage] = []
        for parent in step.parents:
            follows = parent is earlier or earlier in graph_trail(parent)
            if follows and not any(parent is other for other in leading):
                leading.append(parent)
        if len(leading) != 1:
            return False  # `x + layer(x)` is the next value of a network
        step = leading[0]
    return False


def _reaches_walked(m: Machine, node: int) -> bool:
    """Whether a node leads to one that a backward of this loop has gone through and freed."""
    queue, seen = [node], set[int]()
    for ident in queue:
        found = m.st.peek(ident)
        if ident in seen or len(seen) > NEAR or not isinstance(found, Node):
            continue
        seen.add(ident)
        if _went_through(m, ident) and _in_this_loop(m, found.epoch):
            return True
        queue.extend(e.node for e in found.edges if e is not None and e.node is not None)
    return False


def _in_this_loop(m: Machine, iterations: Sequence[Round]) -> bool:
    """Whether something happened in some round of the innermost loop, begun in the round of the others that is running.

    What an inner loop computes of something older, round by round, holds no more of it in each round."""
    now, then = _own(m.extent.iterations), _own(iterations)
    depth = len(now) - 1
    return 0 <= depth < len(then) and then[:depth] == now[:depth] and then[depth][0] == now[depth][0]


def _own(iterations: Sequence[Round]) -> list[Round]:
    """Without those of a library: a loader begins one for each round of the loop that it feeds."""
    return [(loc, index) for loc, index in iterations if not loc.module.startswith("<")]


def _went_through(m: Machine, ident: int) -> bool:
    """Whether a backward on the current path has gone through a node and freed it."""
    spent = m.notebook(SpentNodes, told=True).assumed.get(ident, ())
    return any(may_meet(assumed, m.st.assumed) for assumed in spent)


def _holds_backwarded(m: Machine, lineage: Lineage) -> bool:
    calls = [e for e in m.record.events[-400:] if isinstance(e, BackwardCall) and may_meet(e.assumed, m.st.assumed)]
    roots = {call.lineage for call in calls if call.lineage is not None and _in_this_loop(m, call.site.iterations)}
    return any(step in roots for step in graph_trail(lineage))


class SpentNodes:
    """Per node, the assumptions under which a backward went through it and freed it."""

    def __init__(self) -> None:
        self.assumed: dict[int, list[Map[object, bool]]] = {}


@hears(NodeSpent)
def _spent(m: Machine, signal: NodeSpent) -> None:
    m.notebook(SpentNodes).assumed.setdefault(signal.ident, []).append(m.st.assumed)


@hears(Bound)
def _bound(m: Machine, signal: Bound) -> None:
    if m.extent.loops and not m.frame.library and signal.earlier is not None:
        _note_accumulation(m, signal.name, signal.earlier, signal.value)


@hears(ItemStored)
def _stored(m: Machine, signal: ItemStored) -> None:
    """`by_epoch[k] = loss`, in addition to what is stored under other keys: a count, as names come again each time."""
    target, index, value = signal.target, signal.index, signal.value
    match m.obj(signal.owner):
        case DictObj() if isinstance(index, Unknown) and index.type != "int":
            return
        case DictObj(items=items, values=values, rest=rest) if index not in items:
            _note_kept(m, m.source(target), (*values, *((rest,) if rest is not None else ())), (value,))
        case ListObj(items=items, rest=rest):
            _note_kept(m, m.source(target), (*items, *((rest,) if rest is not None else ())), (value,))


@hears(Assigned)
def _joined(m: Machine, signal: Assigned) -> None:
    """`losses = losses + [loss]`."""
    s, value = signal.statement, signal.value
    found = m.obj(value)
    items = value.items if isinstance(value, Tup) else found.items if isinstance(found, ListObj) else ()
    if items and isinstance(s.value, n.BinOp):
        m.frame.node = s
        _note_kept(m, m.source(s.targets[0]), items[:-1], items[-1:])
