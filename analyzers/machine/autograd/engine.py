"""The backward engine: which nodes run, in what order, and what each checks before it runs."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Counter, Edge, Node, Operand, Saved, Storage, Tensor, Write
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.autograd.gradients import gradient_is_sparse, gradients, opaque_gradient, summed
from analyzers.machine.autograd.graph import refreshed, requires_grad_of
from analyzers.machine.autograd.hooks import pass_hooks, table_of
from analyzers.machine.autograd.likely_tensors import leads_anywhere, may_be_apart
from analyzers.machine.autograd.saved_tensors import unpack
from analyzers.machine.autograd.tensor_arithmetic import Term
from analyzers.machine.autograd.views import ITSELF, is_stale, view_error
from analyzers.machine.autograd.writes import contested
from analyzers.machine.core.causes import Cause, Freed, Modified, Plain
from analyzers.machine.core.events import HiddenWrite
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import LeafReached, NodeReached, NodeSpent, tell

TWICE = "Trying to backward through the graph a second time"


MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"


DETACHED = "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."


GIVEN = Const(True)
"""A gradient that exists but is not computed, because nothing looks at it."""


Runner: TypeAlias = Callable[[Machine, int, Node, bool, Sequence[Value]], list[Value]]

NODES: Final[dict[str, Runner]] = {}
"""Runners for nodes other than torch's own, by kind; each returns the gradient along each edge."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a backward with named inputs goes: the nodes to run, and the nodes and leaves whose gradients are
    requested."""

    nodes: frozenset[int]
    targets: frozenset[int]
    leaves: frozenset[int]

    def wants(self, edge: Edge) -> bool:
        if edge.node is None:
            return edge.leaf is None or edge.leaf in self.leaves
        return edge.node in self.nodes or edge.node in self.targets


class Walk:
    """One pass of the engine, to everything or to what `aim` names.

    A gradient flows along each edge, or None if a custom function returned none. Gradients are real tensors with
    `create`, because they can then have a graph, and if something such as a hook looks at them; otherwise only their
    presence is tracked.
    """

    def __init__(
        self,
        m: Machine,
        retain: truth.Truth,
        root: str,
        create: truth.Truth = False,
        aim: Aim | None = None,
        *,
        watched: bool = False,
    ) -> None:
        self.m = m
        self.retain = retain
        self.root = root
        self.create = create
        self.computes = create is True or watched or m.indexes.gradients_are_seen
        self.aim = aim
        self.leaves: dict[int, bool] = {}
        self.reached: dict[int, bool] = {}
        self.unknown = False
        self.may_have_raised = False
        """Whether it may have ended earlier, in something else."""
        self.executed: list[int] = []
        self.sure: dict[int, bool] = {}
        self.met: set[int] = set()
        self.users: dict[int, int] = {}
        """For each leaf, a node from which it was reached."""
        self.arriving: dict[int, dict[int, Value]] = {}
        self.at_leaf: dict[int, Value] = {}
        self.sparse: dict[tuple[int | None, int | None], truth.Truth] = {}
        """For each node or leaf, whether the gradient arriving there is sparse."""

    def run(self, roots: Sequence[tuple[Edge, Value]]) -> None:
        """Run from `roots`, with their gradients."""
        self.m.extent.walks.append((self.m.next_sequence(), self.aim is not None))
        try:
            self.m.in_mode(self.create, lambda: self._run(roots))
        finally:
            self.m.extent.walks.pop()

    def _run(self, roots: Sequence[tuple[Edge, Value]]) -> None:
        queue: list[tuple[int, int]] = []
        sure = self.sure

        def follow(edge: Edge | None, certain: bool, gradient: Value, sparse: truth.Truth) -> None:
            if edge is None or (self.aim is not None and not self.aim.wants(edge)):
                return
            certain = certain and not edge.maybe
            to = (edge.node, edge.leaf)
            self.sparse[to] = summed(self.sparse[to], sparse) if to in self.sparse else sparse
            if edge.node is None:
                if edge.leaf is None:
                    self.unknown = True
                else:
                    self.at_leaf[edge.leaf] = self.summed(self.at_leaf.get(edge.leaf, NONE), gradient)
                    self.leaves[edge.leaf] = self.leaves.get(edge.leaf, False) or certain
                return
            place = self.arriving.setdefault(edge.node, {})
            place[edge.output] = self.summed(place.get(edge.output, NONE), gradient)
            met = edge.node in sure
            sure[edge.node] = sure.get(edge.node, False) or certain
            if not met and (self.aim is None or edge.node in self.aim.nodes):
                heapq.heappush(queue, (-self.m.node(edge.node).seq, edge.node))

        for edge, gradient in roots:
            follow(edge, True, gradient, False)
        while queue:
            _, ident = heapq.heappop(queue)
            certain = sure[ident]
            node = self.m.node(ident)
            self._meet_hooks(ident, node, certain)
            grads = self.given(ident)
            runs = NODES.get(node.kind)
            if runs is not None:
                flowing = runs(self.m, ident, node, certain, grads)
            elif node.freed and may_be_apart(self.m, ident, node):
                certain, flowing = False, self.computed(node, grads)
            else:
                self.check(node, certain)
                flowing = self.computed(node, grads)
            self.reached[ident] = certain
            tell(self.m, NodeReached(ident, node))
            self.unknown = self.unknown or node.hidden
            if self.retain is False and certain:
                tell(self.m, NodeSpent(ident))
            self.free(ident, node, certain)
            if node.kind == "unknown" and sum(edge is not None for edge in node.edges) != 1:
                certain = False
            for onward, gradient in zip(node.edges, flowing, strict=True):
                if onward is not None and onward.leaf is not None and certain:
                    self.users.setdefault(onward.leaf, ident)
                    tell(self.m, LeafReached(ident, onward.leaf))
                follow(onward, certain, gradient, gradient_is_sparse(node, self.sparse[ident, None]))

    def _meet_hooks(self, ident: int, node: Node, certain: bool) -> None:
        """Pass gradients through the hooks of a node's results; if the hooks may not run, the outcome is unknown."""
        self.met.add(ident)
        if not node.hooks:
            return
        place = self.arriving.get(ident, {})
        for output, value in place.items():
            place[output] = self._hooked(table_of(node, output), value, certain)

    def _hooked(self, table: int | None, value: Value, certain: bool) -> Value:
        found = self.m.tensor(value)
        if table is None:
            return value
        if value != NONE and (found is None or not isinstance(value, Ref)):
            return Unknown()
        passed = self.m.in_mode(self.create, lambda: pass_hooks(self.m, table, value, certain))
        if passed is not None:
            return passed
        return self._replaced(value, found) if isinstance(value, Ref) and found is not None else Unknown()

    def _replaced(self, value: Ref, found: Tensor) -> Value:
        unknown = Node((), (Edge(node=None),), kind="unknown")
        return opaque_gradient(self.m, unknown, [value], Operand(found.shape, found.dtype))

    def given(self, ident: int) -> list[Value]:
        """The gradients of a node's results, by output; None for outputs that received none."""
        found = self.arriving.get(ident, {})
        return [found.get(output, NONE) for output in range(max(found, default=0) + 1)]

    def computed(self, node: Node, grads: Sequence[Value]) -> list[Value]:
        """The gradient that one of torch's own nodes computes along each edge."""
        if not self.computes:
            there = NONE if all(g == NONE for g in grads) else GIVEN
            return [there for _ in node.edges]
        return gradients(self.m, node, grads, [self._asks(edge) for edge in node.edges])

    def came_to(self, ident: int, tensor: Tensor) -> Value:
        """The gradient that arrived at a tensor, after its hooks."""
        if tensor.edge is None:
            return self._hooked(tensor.hooks, self.at_leaf.get(ident, NONE), self.leaves.get(ident, False))
        node = tensor.edge.node
        if node is None:
            return Unknown()
        arrived = self.arriving.get(node, {}).get(tensor.edge.output, NONE)
        if node in self.met:
            return arrived
        table = table_of(self.m.node(node), tensor.edge.output)
        return self._hooked(table, arrived, self.sure.get(node, False))

    def summed(self, one: Value, other: Value) -> Value:
        """The sum of two gradients that arrive at the same place."""
        if NONE in {one, other}:
            return other if one == NONE else one
        if self.computes and isinstance(one, Ref) and isinstance(other, Ref):
            return (Term(self.m, one) + Term(self.m, other)).value
        return GIVEN if GIVEN in {one, other} else Unknown()

    def _refused(self, exception: str, message: str, cause: Cause) -> PyRaise:
        """What the walk ends in here; it may have ended in something else before."""
        with contested(self.m, self.unknown or self.may_have_raised):
            return self.m.throw(exception, message, cause)

    def check(self, node: Node, certain: bool) -> None:
        keeps = [s for s in node.saved if not s.maybe]
        if node.freed is not False and (node.saved or node.kind == "copy-slices"):
            cause = Freed(node, node.loc, self.root)
            if node.freed and certain and (keeps or node.kind == "copy-slices"):
                raise self._refused("RuntimeError", TWICE, cause)
            self.may_have_raised = True
            if node.freed:
                self.m.warn("RuntimeError", TWICE, cause)
            else:
                self.m.record.imprecisions += 1
        if node.kind == "unimplemented" and certain:
            made = Lineage(node.what, node.loc, (), None, node.via)
            name = str(node.payload.value) if isinstance(node.payload, Const) else ""
            if node.names == ("Error",):
                raise self._refused("RuntimeError", name, Plain("no-derivative", made))
            if name.startswith("aten::"):
                message = f"derivative for {name} is not implemented"
                raise self._refused("RuntimeError", message, Plain("no-derivative", made))
            name = f"inplace version of {name[:-1]}" if name.endswith("_") else name
            message = f"the derivative for '{name}' is not implemented."
            raise self._refused("NotImplementedError", message, Plain("no-derivative", made))
        for saved in node.saved:
            unpack(self.m, saved, certain)
            self.check_saved(node, saved, certain)
        if node.overlapping and certain and self._asks(node.edges[0]):
            made = Lineage(node.what, node.loc, (), None, node.via)
            raise self._refused("RuntimeError", ITSELF, Plain("overlap-in-backward", made))

    def _asks(self, edge: Edge | None) -> bool:
        """Whether the gradient along an edge is requested."""
        return edge is not None and (self.aim is None or self.aim.wants(edge))

    def check_saved(self, node: Node, saved: Saved, certain: bool) -> None:
        if saved.counter is None:
            for one, version in saved.among:
                now = self.m.st.get(one)
                is_same = isinstance(now, Counter) and versions_equal(version, now.version)
                self.may_have_raised = self.may_have_raised or not is_same
            return
        if saved.attached and certain and not saved.maybe and saved.tensor is not None:
            kept = refreshed(self.m, saved.tensor)
            if kept.edge is None:
                raise self._refused("RuntimeError", DETACHED, Plain("detached-saved", kept.lineage))
        counter = self.m.st.get(saved.counter)
        assert isinstance(counter, Counter)
        same = versions_equal(saved.version, counter.version)
        if same and certain and not saved.maybe and saved.storage is not None:
            storage = self.m.st.get(saved.storage)
            last = storage.last if isinstance(storage, Storage) and storage.count > saved.writes else None
            if last is not None and last.what != "?":  # what unknown code was passed, it has perhaps only read
                self.m.note(HiddenWrite(self.m.site(), node, saved, last))
        if same is not False:
            self.may_have_raised = self.may_have_raised or same is None
            return
        cause = Modified(node, saved, tuple(writes_since(counter, saved.version or 0)), saved.lineage)
        if certain and not saved.maybe and node.kind != "unknown":
            self._check_stale(saved)
            raise self._refused("RuntimeError", MODIFIED, cause)
        self.may_have_raised = True
        if not saved.unseen:
            self.m.warn("RuntimeError", MODIFIED, cause)

    def _check_stale(self, saved: Saved) -> None:
        """Raise for a stale view: torch reads a saved tensor's `grad_fn` before comparing versions, which fails for
        one."""
        if saved.is_output or saved.tensor is None:
            return
        found = self.m.st.find(saved.tensor)
        if isinstance(found, Tensor) and is_stale(self.m, found) and requires_grad_of(self.m, saved.tensor):
            raise view_error(self.m, found, self.root, indirect=True)

    def keeps_graph(self) -> bool:
        """Whether the gradients may have a graph of their own: those of linear functions do not."""
        if self.unknown:
            return True
        for ident in self.reached:
            node = self.m.node(ident)
            if node.kind not in {"op", "copy-slices", "inside"}:
                return True
            for saved in node.saved:
                if saved.name == "original_self":
                    return True
                if saved.tensor is not None:
                    found = self.m.st.find(saved.tensor)
                    if not isinstance(found, Tensor) or refreshed(self.m, saved.tensor).requires_grad is not False:
                        return True
        return False

    def free(self, ident: int, node: Node, certain: bool) -> None:
        if self.retain is True or (not node.saved and node.kind not in {"copy-slices", "unknown"}):
            return
        freed: truth.Truth = True if self.retain is False and certain else None
        if node.freed:
            freed = True
        self.m.st.put(ident, replace(node, freed=freed, freed_at=self.m.here(), freed_via=self.m.via()))
        self.executed.append(ident)


def writes_since(counter: Counter, version: int) -> list[Write]:
    """The writes made after `version`, earliest first."""
    out = []
    step = counter.writes
    while step is not None and step.version > version:
        out.append(step)
        step = step.previous
    return out[::-1]


@dataclass(frozen=True, slots=True)
class Ways:
    """The nodes on the ways from some roots to some targets, and the targets and leaves that are reached.

    `unseen`: some way leads to where the machine cannot see, and so perhaps to any target.
    """

    nodes: set[int]
    reached: set[int]
    unseen: bool


def ways_toward(m: Machine, roots: Sequence[Edge], targets: set[int], leaves: set[int]) -> Ways:
    """The ways from `roots` to the nodes `targets` and to `leaves`."""
    order: list[int] = []
    seen: set[int] = set()
    stack = [e.node for e in roots if e.node is not None]
    children: dict[int, list[Edge]] = {}
    while stack:
        ident = stack.pop()
        if ident in seen:
            continue
        seen.add(ident)
        order.append(ident)
        children[ident] = [e for e in m.node(ident).edges if e is not None]
        stack += [e.node for e in children[ident] if e.node is not None]
    useful: set[int] = set()
    met: set[int] = {e.leaf for e in roots if e.leaf is not None and e.leaf in leaves}
    changed = True
    while changed:
        changed = False
        for ident in reversed(order):
            for edge in children[ident]:
                hit = (edge.leaf is not None and edge.leaf in leaves) or (
                    edge.node is not None and (edge.node in targets or edge.node in useful)
                )
                if edge.leaf is not None and edge.leaf in leaves:
                    met.add(edge.leaf)
                if edge.node is not None and edge.node in targets:
                    met.add(edge.node)
                if hit and ident not in useful:
                    useful.add(ident)
                    changed = True
    met |= {e.node for e in roots if e.node is not None and e.node in targets}
    onward = [*roots, *(edge for edges in children.values() for edge in edges)]
    unseen = any(e.node is None and e.leaf is None for e in onward)
    unseen = unseen or any(m.node(i).hidden or leads_anywhere(m.node(i)) for i in order)
    return Ways(useful, met, unseen)
