"""What is known about a spot in a recorded run: the tensor or module there, or what a call did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analyzers.domain.lineage import Lineage, Loc, lost_at
from analyzers.domain.objects import Instance, Tensor
from analyzers.domain.values import NONE, BoundBuiltin, Builtin, Ref, Tup, Unknown, Value
from analyzers.graph.build import Places, graph_of
from analyzers.graph.changes import changes_between, last_backward, made_at, unreached
from analyzers.graph.keepers import keepers
from analyzers.graph.names import names_at
from analyzers.graph.record import Moment, Recording, Spot
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.trainables import all_known, members, parameters_of
from analyzers.machine.core.events import BackwardCall, OptimizerMade
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import mode_of
from analyzers.report import Card, Change, Fact, Graph, Held, Place, Remark
from analyzers.syntax import nodes as n

LONGEST_NAME = 60

MOST_STEPS = 60
"""Steps of a trail that are searched for one in which gradients were off."""


def card_at(recording: Recording, chunk: str, offset: int, places: Places) -> Card | None:
    """What is known at a place in a chunk; None where there is nothing to say."""
    spot = name_at(recording, chunk, offset)
    if spot is None or spot.moment is None:
        return None if spot is None else _bare_card(recording, spot, places)
    with recording.at(spot, spot.moment) as m:
        card = _Reader(recording, m, places, names_at(m), spot, spot.moment).card()
    if card is None:
        lost = _lost_card(recording, spot, spot.moment.value, places)
        call = _call_of(recording, spot)
        if call is None or call.moment is None:
            return lost
        with recording.at(call, call.moment) as m:
            return _Reader(recording, m, places, names_at(m), call, call.moment).call(spot) or lost
    done = _statement_around(recording, spot)
    if done is None or done.moment is None:
        return card
    with recording.at(done, done.moment) as m:
        return replace(card, changes=_Reader(recording, m, places, names_at(m), done, done.moment).changes())


def graph_of_spot(recording: Recording, spot: Spot, places: Places) -> Graph | None:
    """The graph of the tensor that a name or an attribute gives."""
    if spot.moment is None:
        return None
    with recording.at(spot, spot.moment) as m:
        value = spot.moment.value
        if m.tensor(value) is None or not isinstance(value, Ref):
            return None
        return graph_of(m, value.id, m.source(spot.node), places, names_at(m))


def name_at(recording: Recording, chunk: str, offset: int) -> Spot | None:
    """The narrowest name or attribute at a place; what it is bound to there, where it is."""
    bound, read = recording.around(chunk, "bound", offset), recording.around(chunk, "read", offset)
    if bound is None or read is None:
        return bound or read
    return read if read.node.end - read.node.start < bound.node.end - bound.node.start else bound


def bound_at(recording: Recording, chunk: str, offset: int) -> Spot | None:
    """The target at a place."""
    return recording.around(chunk, "bound", offset)


def _call_of(recording: Recording, spot: Spot) -> Spot | None:
    """The call whose function a name is."""
    calls = recording.spots.get((spot.chunk, "call"), {}).values()
    return next((c for c in calls if isinstance(c.node, n.Call) and _same(c.node.func, spot.node)), None)


def _statement_around(recording: Recording, spot: Spot) -> Spot | None:
    return recording.around(spot.chunk, "statement", spot.node.start)


def _same(a: n.Node, b: n.Node) -> bool:
    return (a.start, a.end) == (b.start, b.end)


def _is_cut_by_mode(trail: Lineage) -> bool:
    return any(step.cut in {"no-grad", "inference"} for step in trail.walk(MOST_STEPS))


def _bare_card(recording: Recording, spot: Spot, places: Places) -> Card | None:
    """Of a spot of which no moment was kept."""
    if spot.known is None:
        return None
    loc = Loc(recording.path, spot.chunk, spot.node.start, spot.node.end)
    place, name = places.place(loc), places.text(loc)
    return Card("tensor", name, place, None, Fact(place, spot.scope, name, *spot.known), tuple(sorted(spot.differs)))


def _lost_card(recording: Recording, spot: Spot, value: Value, places: Places) -> Card | None:
    """Of something of which nothing is known, since some place."""
    since = lost_at(value.lineage) if isinstance(value, Unknown) and value.type is None else None
    if since is None:
        return None
    loc = Loc(recording.path, spot.chunk, spot.node.start, spot.node.end)
    remark = Remark(f"nothing is known of it since `{places.text(since)}`", places.place(since))
    return Card("unknown", places.text(loc), places.place(loc), None, remarks=(remark,))


@dataclass(slots=True)
class _Reader:
    """A moment under the lens: the machine in its state, and what things are called there."""

    recording: Recording
    m: Machine
    places: Places
    names: Mapping[int, str]
    spot: Spot
    moment: Moment

    def card(self) -> Card | None:
        """Of what a name gives."""
        value, name = self.moment.value, self.text(self.spot.node)
        found = self.m.obj(value)
        card = Card("tensor", name, self.place(self.spot.node), self.mode())
        if isinstance(found, Tensor) and isinstance(value, Ref):
            return self.of_tensor(card, value)
        if isinstance(found, Instance) and "_parameters" in found.attrs:
            return replace(card, kind="module", held=tuple(self.held(members(self.m, value, "_parameters"))))
        if isinstance(found, Instance) and "param_groups" in found.attrs:
            known = [(self.names.get(ident, "?"), Ref(ident)) for ident in parameters_of(self.m, value)]
            held = tuple(replace(one, optimizer=None, settled=False) for one in self.held(known))
            remarks = () if all_known(self.m, value) else (Remark("it may hold others that are unknown"),)
            return replace(card, kind="optimizer", held=held, remarks=remarks)
        return None

    def call(self, name: Spot) -> Card | None:
        """Of a call, for a reader who points at the `name` of its function."""
        changes, returned = self.changes(), self.moment.before is not None
        given = replace(self.card() or Card("call", self.text(self.spot.node), self.place(name.node), self.mode()))
        card = replace(given, place=self.place(name.node), changes=changes, returned=returned)
        mode = mode_of(self.m, self.moment.value)
        if mode is not None and mode.grad != "keep":
            off: Literal["off", "inference"] = "inference" if mode.inference is True else "off"
            inside = None if mode.grad is None else "on" if mode.grad is True else off
            return replace(card, kind="mode", mode=inside, remarks=tuple(self.cut_inside()))
        if card.kind != "call":
            return card
        loc = self.m.loc_of(self.m.frame, self.spot.node)
        backward = last_backward(self.m, loc) if returned else None
        if backward is not None:
            missed = tuple(unreached(self.m, backward, self.names, self.places))
            card = replace(card, changes=(*changes, *missed), remarks=tuple(self.beyond(backward)))
        receiver = self.moment.func.receiver if isinstance(self.moment.func, BoundBuiltin) else NONE
        if isinstance(receiver, Ref) and (card.changes or not returned):
            subject = name.node.value if isinstance(name.node, n.Attribute) else name.node
            card = replace(card, graph=self.graph(receiver, self.text(subject)))
        if self.moment.func == Builtin("torch.autograd.grad"):
            card = replace(card, remarks=(*card.remarks, *self.differentiated()))
        return card if card.changes or card.remarks or not returned else None

    def of_tensor(self, card: Card, value: Ref) -> Card:
        graph = self.graph(value, card.name)
        fact = None
        if self.spot.known is not None:
            fact = Fact(card.place, self.spot.scope, card.name, *self.spot.known)
        remarks = tuple(self.remarks(value, graph))
        return replace(card, fact=fact, differs=tuple(sorted(self.spot.differs)), graph=graph, remarks=remarks)

    def remarks(self, value: Ref, graph: Graph | None) -> Iterator[Remark]:
        tensor = refreshed(self.m, value.id)
        if tensor.requires_grad and tensor.edge is None:
            held = tensor.grad
            known = "has a gradient" if isinstance(held, Ref) else "has no gradient yet" if held == NONE else ""
            if known:
                yield Remark(f"{known} (`.grad` is {'a tensor' if isinstance(held, Ref) else 'None'})")
        yield from self.shared(value, tensor)
        at_version = self.recording.is_counted(tensor)
        yield from keepers(self.m, value.id, tensor, self.names, self.places, at_version=at_version)
        freed = {node.freed_at for node in graph.nodes if node.freed and node.freed_at} if graph is not None else ()
        yield from (Remark("part of its graph was freed here", place) for place in sorted(freed))

    def shared(self, value: Ref, tensor: Tensor) -> Iterator[Remark]:
        if tensor.base is not None and tensor.base in self.names:
            yield Remark(f"is a view of `{self.names[tensor.base]}`")
            return
        for ident, name in self.names.items():
            other = self.m.st.find(ident)
            if ident != value.id and isinstance(other, Tensor) and other.storage == tensor.storage:
                counted = "" if other.counter == tensor.counter else ", but each counts only its own writes"
                yield Remark(f"shares its memory with `{name}`{counted}")
                return

    def held(self, parameters: Sequence[tuple[str, Value]]) -> Iterator[Held]:
        made = [event for event in self.m.record.events if isinstance(event, OptimizerMade)]
        settled = bool(made) and all(event.known for event in made)
        for name, value in parameters:
            found = self.m.tensor(value)
            if found is not None and isinstance(value, Ref):
                holder = next((event.optimizer for event in made if value.id in event.parameters), None)
                place = None if holder is None else made_at(self.m, holder, self.places)
                yield Held(name, found.shape, found.requires_grad, place, settled)

    def cut_inside(self) -> Iterator[Remark]:
        """What lost its graph in the block, or the function, that a grad mode is entered for."""
        module, chunk = self.m.frame.module, self.spot.chunk
        for node in n.walk(self.m.config.program.chunk(module, chunk).body):
            managers = [i.context for i in node.items] if isinstance(node, n.With) else []
            managers += node.decorators if isinstance(node, n.FunctionDef) else []
            if not any(_same(manager, self.spot.node) for manager in managers):
                continue
            for binding in self.m.record.bindings.values():
                loc, trail = binding.loc, binding.lineage
                if (loc.module, loc.chunk) != (module, chunk) or not node.start <= loc.start < node.end:
                    continue
                if binding.requires_grad is False and trail is not None and _is_cut_by_mode(trail):
                    yield Remark(f"`{binding.name}` has no graph", self.places.place(loc))

    def changes(self) -> tuple[Change, ...]:
        before = self.moment.before
        if before is None:
            return ()
        return changes_between(before, self.moment.state, self.names, self.recording.is_counted)

    def beyond(self, backward: BackwardCall) -> Iterator[Remark]:
        """What a backward reaches, or may, and no name tells of."""
        nameless = sum(ident not in self.names for ident in backward.reached)
        if nameless:
            yield Remark(f"reaches leaves that no variable here leads to: {nameless}")
        if backward.unknown:
            yield Remark("goes through unknown code, and may reach and free more")

    def differentiated(self) -> Iterator[Remark]:
        """What `torch.autograd.grad` gives, which adds to no `.grad`."""
        results = self.moment.value.items if isinstance(self.moment.value, Tup) else ()
        if results:
            yield Remark(f"gives {len(results)} gradients" if len(results) > 1 else "gives one gradient")
        for index, result in enumerate(results):
            if result == NONE:
                yield Remark(f"does not reach input {index}: its gradient is None")

    def graph(self, value: Ref, name: str) -> Graph | None:
        """None where a tensor is all there is of it, as of a leaf."""
        if self.m.tensor(value) is None:
            return None
        found = graph_of(self.m, value.id, name, self.places, self.names)
        return found if any(node.kind != "leaf" for node in found.nodes[1:]) else None

    def mode(self) -> Literal["on", "off", "inference"] | None:
        modes = self.spot.modes
        only = next(iter(modes)) if len(modes) == 1 else "?"
        return None if only == "?" else only

    def place(self, node: n.Node) -> Place:
        return self.places.place(self.m.loc_of(self.m.frame, node))

    def text(self, node: n.Node) -> str:
        line = " ".join(self.m.source(node).split())
        return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"
