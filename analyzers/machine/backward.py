"""Backward: the walk over the graph that accumulates gradients, meets what was freed or changed, and frees.

Nodes run in the order of their making, the latest first, as torch's engine runs them. A node that kept something and
was freed raises; a kept tensor whose version counter moved on raises; nodes that ran before are freed even then.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from analyzers.domain import truth
from analyzers.domain.join import versions_equal
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Counter, Edge, Node, Operand, Saved, Storage, Tensor, Write
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.core import Machine
from analyzers.machine.dead_ends import met_again, note_cut_leaves
from analyzers.machine.derivatives import Term, gradients, opaque_gradient
from analyzers.machine.events import UNUSED, BackwardCall, Freed, HiddenWrite, Modified, NoGraph, NonScalar, Plain
from analyzers.machine.followers import note_followers
from analyzers.machine.gathered import arrived, held_by
from analyzers.machine.grads import take
from analyzers.machine.hooks import call_after_hooks, pass_hooks, table_of
from analyzers.machine.memory import ITSELF
from analyzers.machine.packing import unpack
from analyzers.machine.regressions import look_at_losses
from analyzers.machine.sparse import gradient_is_sparse, summed
from analyzers.machine.tensors import blur_tensor, is_stale, refreshed, requires_grad_of, tensor_at, view_error
from analyzers.machine.uses import all_met, kept, met
from analyzers.ops.infer import numel

TWICE = "Trying to backward through the graph a second time"
MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"
DETACHED = "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"
NON_SCALAR = "grad can be implicitly created only for scalar outputs"


GIVEN = Const(True)
"""A gradient that is there and has no graph, where nobody looks at it."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a backward with named inputs goes: the nodes that run, and the nodes and leaves whose gradient is asked."""

    nodes: frozenset[int]
    targets: frozenset[int]
    leaves: frozenset[int]

    def wants(self, edge: Edge) -> bool:
        if edge.node is None:
            return edge.leaf is None or edge.leaf in self.leaves
        return edge.node in self.nodes or edge.node in self.targets


class Walk:
    """One pass of the engine, to everything or to what `aim` names.

    What flows along an edge is a gradient, or None where a custom function gave none. Gradients are tensors with
    `create`, since then they can have a graph, and where somebody looks at them, as hooks do; else it is enough that
    they are there.
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
        self.create = create is True
        self.computes = self.create or watched or m.watched
        self.aim = aim
        self.leaves: dict[int, bool] = {}
        self.reached: dict[int, bool] = {}
        self.unknown = False
        self.executed: list[int] = []
        self.sure: dict[int, bool] = {}
        self.met: set[int] = set()
        self.users: dict[int, int] = {}
        """A node from which each leaf was reached."""
        self.arriving: dict[int, dict[int, Value]] = {}
        self.at_leaf: dict[int, Value] = {}
        self.sparse: dict[tuple[int | None, int | None], truth.Truth] = {}
        """Whether the gradient is sparse that comes to a node, or to a leaf."""

    def run(self, roots: Sequence[tuple[Edge, Value]]) -> None:
        """Run from `roots`, with their gradients."""
        self.m.walks.append((self.m.next_sequence(), self.aim is not None))
        try:
            self.m.in_mode(self.create, lambda: self._run(roots))
        finally:
            self.m.walks.pop()

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
            if node.kind == "custom":
                from analyzers.machine.custom import run_user_backward

                flowing = run_user_backward(self.m, ident, node, certain, grads)
            else:
                self.check(node, certain)
                flowing = self.computed(node, grads)
            self.reached[ident] = certain
            met(self.m, ident, node)
            self.unknown = self.unknown or node.hidden
            if self.retain is False and certain:
                self.m.walked.setdefault(ident, []).append(self.m.st.assumed)
            self.free(ident, node, certain)
            if node.kind == "unknown" and sum(edge is not None for edge in node.edges) != 1:
                certain = False
            for onward, gradient in zip(node.edges, flowing, strict=True):
                if onward is not None and onward.leaf is not None and certain:
                    self.users.setdefault(onward.leaf, ident)
                    met_again(self.m, ident, onward.leaf)
                follow(onward, certain, gradient, gradient_is_sparse(node, self.sparse[ident, None]))

    def _meet_hooks(self, ident: int, node: Node, certain: bool) -> None:
        """Gradients pass the hooks of what the node computed; nobody knows what comes of those that may not run."""
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
        """The gradients of a node's results, by output; None for those that nothing came to."""
        found = self.arriving.get(ident, {})
        return [found.get(output, NONE) for output in range(max(found, default=0) + 1)]

    def computed(self, node: Node, grads: Sequence[Value]) -> list[Value]:
        """What a node of torch's own gives along each of its edges."""
        if not self.computes:
            there = NONE if all(g == NONE for g in grads) else GIVEN
            return [there for _ in node.edges]
        return gradients(self.m, node, grads, [self._asks(edge) for edge in node.edges])

    def came_to(self, ident: int, tensor: Tensor) -> Value:
        """The gradient that arrived at a tensor, behind its hooks."""
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
        """Two gradients that arrive at one place."""
        if one == NONE or other == NONE:
            return other if one == NONE else one
        if self.computes and isinstance(one, Ref) and isinstance(other, Ref):
            return (Term(self.m, one) + Term(self.m, other)).value
        return GIVEN if GIVEN in {one, other} else Unknown()

    def check(self, node: Node, certain: bool) -> None:
        keeps = [s for s in node.saved if not s.maybe]
        if node.freed is not False and (node.saved or node.kind == "copy-slices"):
            cause = Freed(node, node.loc, self.root)
            if node.freed and certain and (keeps or node.kind == "copy-slices"):
                raise self.m.throw("RuntimeError", TWICE, cause)
            if node.freed:
                self.m.warn("RuntimeError", TWICE, cause)
        if node.kind == "unimplemented" and certain:
            made = Lineage(node.what, node.loc, (), None, node.via)
            name = str(node.payload.value) if isinstance(node.payload, Const) else ""
            if node.names == ("Error",):
                raise self.m.throw("RuntimeError", name, Plain("no-derivative", made))
            if name.startswith("aten::"):
                message = f"derivative for {name} is not implemented"
                raise self.m.throw("RuntimeError", message, Plain("no-derivative", made))
            name = f"inplace version of {name[:-1]}" if name.endswith("_") else name
            message = f"the derivative for '{name}' is not implemented."
            raise self.m.throw("NotImplementedError", message, Plain("no-derivative", made))
        for saved in node.saved:
            unpack(self.m, saved, certain)
            self.check_saved(node, saved, certain)
        if node.overlapping and certain and self._asks(node.edges[0]):
            made = Lineage(node.what, node.loc, (), None, node.via)
            raise self.m.throw("RuntimeError", ITSELF, Plain("overlap-in-backward", made))

    def _asks(self, edge: Edge | None) -> bool:
        """Whether what flows along an edge is asked for."""
        return edge is not None and (self.aim is None or self.aim.wants(edge))

    def check_saved(self, node: Node, saved: Saved, certain: bool) -> None:
        if saved.counter is None:
            return
        if saved.attached and certain and not saved.maybe and saved.tensor is not None:
            kept = refreshed(self.m, saved.tensor)
            if kept.edge is None:
                raise self.m.throw("RuntimeError", DETACHED, Plain("detached-saved", kept.lineage))
        counter = self.m.st.get(saved.counter)
        assert isinstance(counter, Counter)
        same = versions_equal(saved.version, counter.version)
        if same and certain and not saved.maybe and saved.storage is not None:
            storage = self.m.st.get(saved.storage)
            if isinstance(storage, Storage) and storage.count > saved.writes and storage.last is not None:
                self.m.note(HiddenWrite(self.m.site(), node, saved, storage.last))
        if same is not False:
            return
        cause = Modified(node, saved, tuple(writes_since(counter, saved.version or 0)), saved.lineage)
        if certain and not saved.maybe and node.kind != "unknown":
            self._check_stale(saved)
            raise self.m.throw("RuntimeError", MODIFIED, cause)
        self.m.warn("RuntimeError", MODIFIED, cause)

    def _check_stale(self, saved: Saved) -> None:
        """Torch asks for the `grad_fn` of what was saved before it compares versions, which a stale view refuses."""
        if saved.is_output or saved.tensor is None:
            return
        found = self.m.st.find(saved.tensor)
        if isinstance(found, Tensor) and is_stale(self.m, found) and requires_grad_of(self.m, saved.tensor):
            raise view_error(self.m, found, self.root, indirect=True)

    def keeps_graph(self) -> bool:
        """Whether the gradients may have a graph themselves: those of linear functions have none."""
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
    """The writes that came after `version`, earliest first."""
    out = []
    step = counter.writes
    while step is not None and step.version > version:
        out.append(step)
        step = step.previous
    return out[::-1]


def nodes_toward(m: Machine, roots: Sequence[Edge], targets: set[int], leaves: set[int]) -> tuple[set[int], set[int]]:
    """The nodes on some way from `roots` to a target, and which targets and leaves are reached."""
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
    return useful, met


def check_root(m: Machine, value: Value, gradient: Value, name: str) -> Tensor | None:
    """The checks on a root, in torch's order: the gradient's sizes, a graph, one element; None when not known."""
    if not isinstance(value, Ref):
        return None
    tensor = refreshed(m, value.id)
    if gradient != NONE:
        _check_gradient_shape(m, tensor, gradient)
    if tensor.requires_grad is False:
        raise m.throw("RuntimeError", NO_GRAPH, NoGraph(name, tensor.lineage, tensor.dtype))
    if is_stale(m, tensor) and tensor.requires_grad:
        raise view_error(m, tensor, "backward", indirect=True)
    if gradient == NONE and tensor.shape is not None and tensor.requires_grad:
        size = numel(tensor.shape)
        # A presumed batch has more than one item.
        if size != 1 and (size is not None or m.presumes):
            raise m.throw("RuntimeError", NON_SCALAR, NonScalar(name, tensor.shape, tensor.lineage))
        if tensor.dtype is not None and tensor.dtype.startswith("complex"):
            raise m.throw(
                "RuntimeError", "grad can be implicitly created only for real scalar outputs but got",
                NonScalar(name, tensor.shape, tensor.lineage),
            )  # fmt: skip
    return tensor


def _check_gradient_shape(m: Machine, tensor: Tensor, gradient: Value) -> None:
    given = m.tensor(gradient)
    if given is None or given.shape is None or tensor.shape is None:
        return
    if None in given.shape or None in tensor.shape:
        return
    if given.shape != tensor.shape:
        raise m.throw("RuntimeError", "Mismatch in shape: grad_output[0]", Plain("gradient-shape", given.lineage))


def run_backward(
    m: Machine,
    roots: Sequence[tuple[Value, Value]],
    retain: truth.Truth,
    create: truth.Truth,
    inputs: Sequence[Value] | None,
    name: str,
) -> None:
    """`roots` are tensors with the gradients given for them (None: none given)."""
    m.trains = True
    if inputs is not None and not inputs:
        raise m.throw("RuntimeError", "`inputs` argument to `backward()` cannot be empty.", Plain("empty-inputs"))
    checked = [(value, check_root(m, value, gradient, name)) for value, gradient in roots]
    _check_inputs(m, inputs or (), "can't retain_grad on Tensor that has requires_grad=False")
    known = [(value, tensor) for value, tensor in checked if tensor is not None]
    if any(tensor is None for _, tensor in checked):
        blur_after_unknown(m)
    edges = [root_edge(value, tensor) for value, tensor in known]
    aim: Aim | None = None
    if inputs is not None:
        targets, leaves = target_ids(m, inputs)
        wanted, _ = nodes_toward(m, edges, targets, leaves)
        aim = Aim(frozenset(wanted | targets), frozenset(targets), frozenset(leaves))
    if inputs is None:
        look_at_losses(m, edges)
    walk = Walk(m, retain, name, create, aim)
    walk.run(_rooted(m, walk, edges, known, roots))
    for leaf, certain in walk.leaves.items():
        gradient = walk.came_to(leaf, tensor_at(m, leaf))
        if gradient != NONE:
            held = tensor_at(m, leaf).grad
            accumulate(m, leaf, certain, create, gradient)
            _note_sparse(m, leaf, walk.sparse.get((None, leaf)), held == NONE)
            m.in_mode(walk.create, partial(call_after_hooks, m, leaf, certain))
    _retained(m, walk)
    if retain is True and create is False and all(tensor.requires_grad is True for _, tensor in known):
        # Of a graph that may lie below an unknown value nobody sees who else goes through it.
        kept(m, walk.reached)
    if walk.unknown:
        blur_after_unknown(m)
    elif m.presumes:
        _perhaps_filled(m)
    note_cut_leaves(m, walk.leaves)
    note_followers(m, walk.users)
    lineage = known[0][1].lineage if known else None
    root_is_leaf = any(t.edge is None and t.requires_grad for _, t in known)
    m.note(
        BackwardCall(
            m.site(), name, lineage, root_is_leaf, tuple(walk.leaves), retain, walk.unknown or not known,
            m.st.assumed, create,
        )
    )  # fmt: skip


def _rooted(
    m: Machine,
    walk: Walk,
    edges: Sequence[Edge],
    known: Sequence[tuple[Value, Tensor]],
    roots: Sequence[tuple[Value, Value]],
) -> list[tuple[Edge, Value]]:
    """The roots' edges with the gradients to begin with: ones, where none are given."""
    if not walk.computes:
        return [(edge, GIVEN) for edge in edges]
    given = dict(roots)
    out: list[tuple[Edge, Value]] = []
    for edge, (value, tensor) in zip(edges, known, strict=True):
        gradient = given.get(value, NONE)
        if m.tensor(gradient) is None:
            gradient = m.new_tensor(tensor.shape, tensor.dtype, what="grad") if gradient == NONE else m.unknown_tensor()
        out.append((edge, gradient))
    return out


def root_edge(value: Value, tensor: Tensor) -> Edge:
    assert isinstance(value, Ref)
    if tensor.edge is None:
        return Edge(leaf=value.id, maybe=tensor.requires_grad is None)
    return replace(tensor.edge, maybe=tensor.requires_grad is None)


def _check_inputs(m: Machine, inputs: Sequence[Value], message: str) -> None:
    for value in inputs:
        tensor = m.tensor(value)
        if tensor is not None and isinstance(value, Ref) and refreshed(m, value.id).requires_grad is False:
            raise m.throw("RuntimeError", message, Plain("input-without-grad", tensor.lineage))


def target_ids(m: Machine, inputs: Sequence[Value]) -> tuple[set[int], set[int]]:
    """The nodes and leaves at which a backward with `inputs=` ends."""
    targets: set[int] = set()
    leaves: set[int] = set()
    for value in inputs:
        if isinstance(value, Ref) and m.tensor(value) is not None:
            tensor = refreshed(m, value.id)
            if tensor.edge is not None and tensor.edge.node is not None:
                targets.add(tensor.edge.node)
            else:
                leaves.add(value.id)
    return targets, leaves


def accumulate(m: Machine, leaf: int, certain: bool, create: truth.Truth, gradient: Value) -> None:
    """Add to a leaf's `.grad`; with `create`, out of place and with the gradient's graph."""
    tensor = tensor_at(m, leaf)
    if not (isinstance(gradient, Ref) or gradient == GIVEN):
        m.st.put(leaf, replace(tensor, grad=Unknown("grad", reach=(leaf,))))
        return
    if tensor.grad == NONE:
        if not certain:
            m.st.put(leaf, replace(tensor, grad=Unknown("grad", reach=(leaf,))))
            return
        grad = m.new_tensor(tensor.shape, tensor.dtype, lineage=_trail(m, tensor, create))
        # It may be what came, or a copy that was written.
        blur_tensor(m, grad.id)
        if create and isinstance(gradient, Ref):
            m.in_mode(True, lambda: Term(m, grad).method("copy_", Term(m, gradient)))
        elif create is not False:
            made = tensor_at(m, grad.id)
            made.requires_grad = None
            made.edge = Edge()
        m.st.put(leaf, replace(tensor_at(m, leaf), grad=grad))
        m.leaf_storages.add(tensor.storage)
        arrived(m, grad.id, None, first=True)
        return
    if create and certain and isinstance(gradient, Ref) and m.tensor(tensor.grad) is not None:
        total = m.in_mode(True, lambda: (Term(m, tensor.grad) + Term(m, gradient)).value)
        m.st.put(leaf, replace(tensor_at(m, leaf), grad=total))
        return
    if isinstance(tensor.grad, Ref) and m.tensor(tensor.grad) is not None:
        from analyzers.machine.tensors import bump

        if create is False:
            held = tensor_at(m, tensor.grad.id)
            if held.inference and m.st.inference is False and certain:
                raise m.throw(
                    "RuntimeError", "Inplace update to inference tensor outside InferenceMode is not allowed",
                    Plain("inference", held.lineage),
                )  # fmt: skip
            m.leaf_storages.add(tensor.storage)
            before = held_by(m, tensor.grad.id)
            bump(m, tensor.grad.id, "backward")
            arrived(m, tensor.grad.id, before, first=False)


def _note_sparse(m: Machine, leaf: int, came: truth.Truth, first: bool) -> None:
    """Whether the gradient that a leaf has by now is sparse."""
    held = tensor_at(m, leaf).grad
    found = m.tensor(held)
    if found is not None and isinstance(held, Ref):
        m.st.put(held.id, replace(found, sparse=came if first else summed(found.sparse, came)))


def _trail(m: Machine, tensor: Tensor, create: truth.Truth) -> Lineage:
    """That of a tensor's gradient, which has a graph only if one is asked for."""
    behind = (tensor.lineage,) if tensor.lineage is not None else ()
    return Lineage("grad", m.here(), behind, "no-grad" if create is False else None, m.via())


def _retained(m: Machine, walk: Walk) -> None:
    """Tensors that keep their gradient though they are no leaves."""
    for ident, tensor in m.retaining():
        if tensor.edge is None or tensor.edge.node not in walk.arriving:
            continue
        gradient = walk.arriving[tensor.edge.node].get(tensor.edge.output, NONE)
        if gradient == NONE:
            continue
        if tensor.retains_grad is None:
            m.st.put(ident, replace(tensor_at(m, ident), grad=Unknown("grad", reach=(ident,))))
            continue
        grad: Value = m.new_tensor(tensor.shape, tensor.dtype, lineage=_trail(m, tensor, walk.create))
        if walk.create and isinstance(gradient, Ref):
            grad = m.in_mode(True, partial(_added, m, tensor.grad, gradient))
        m.st.put(ident, replace(tensor_at(m, ident), grad=grad))


def _added(m: Machine, old: Value, gradient: Value) -> Value:
    copied = Term(m, gradient).method("clone")
    return copied.value if old == NONE else (Term(m, old) + copied).value


def _perhaps_filled(m: Machine) -> None:
    """A backward may have reached what nobody sees it reach."""
    for ident, found in m.st.since(m.st.filled):
        if isinstance(found, Tensor):
            perhaps_leaf = found.edge is None or found.edge.node is None
            if (
                found.requires_grad is not False
                and found.grad == NONE
                and (perhaps_leaf or found.retains_grad is not False)
            ):
                m.st.put(ident, replace(found, grad=Unknown("grad", reach=(ident,))))
    m.st.filled = m.st.log


def blur_after_unknown(m: Machine) -> None:
    """A backward ran through a graph that the machine does not see: it may have reached and freed anything."""
    _perhaps_filled(m)
    all_met(m)
    for ident, found in m.st.since(m.st.freed):
        if isinstance(found, Node) and found.freed is False and (found.saved or found.kind != "op"):
            m.st.put(ident, replace(found, freed=None, freed_at=m.here(), freed_via=m.via()))
    m.st.freed = m.st.log


def differentiate(
    m: Machine,
    outputs: Sequence[tuple[Value, Value]],
    inputs: Sequence[Value],
    retain: truth.Truth,
    create: truth.Truth,
    allow_unused: truth.Truth,
    materialize: bool,
    name: str,
) -> list[Value]:
    """`torch.autograd.grad`: the gradients of `inputs`, one each."""
    checked = [(value, check_root(m, value, gradient, name)) for value, gradient in outputs]
    _check_inputs(m, inputs, "One of the differentiated Tensors does not require grad")
    known = [(value, tensor) for value, tensor in checked if tensor is not None]
    edges = [root_edge(value, tensor) for value, tensor in known]
    targets, leaves = target_ids(m, inputs)
    for leaf in leaves:
        take(m, leaf)
    wanted, met = nodes_toward(m, edges, targets, leaves)
    aim = Aim(frozenset(wanted), frozenset(targets), frozenset(leaves))
    walk = Walk(m, retain, name, create, aim, watched=True)
    walk.run(_rooted(m, walk, edges, known, outputs))
    blurred = walk.unknown or len(known) < len(checked) or any(e.maybe for e in edges)
    blurred = blurred or any(m.node(i).kind == "unknown" or m.node(i).hidden for i in wanted)
    results: list[Value] = []
    for index, value in enumerate(inputs):
        tensor = m.tensor(value)
        if tensor is None or not isinstance(value, Ref):
            results.append(m.unknown_tensor())
            continue
        tensor = refreshed(m, value.id)
        key = tensor.edge.node if tensor.edge is not None else value.id
        came = walk.came_to(value.id, tensor)
        if isinstance(came, Ref) and not blurred and create is not None:
            results.append(came)
            continue
        if (key in met and came != NONE) or blurred or key is None:
            results.append(_gradient(m, tensor, create, walk, blurred))
            continue
        if materialize:
            results.append(m.new_tensor(tensor.shape, tensor.dtype, requires_grad=create, what="grad"))
        elif allow_unused is False:
            raise m.throw(
                "RuntimeError", f"The differentiated Tensor at index {index}", Plain("unused-input", tensor.lineage)
            )
        else:
            trail = Lineage(UNUSED, m.here(), (tensor.lineage,) if tensor.lineage else (), None, m.via())
            results.append(Const(None, trail) if allow_unused else Unknown())
    return results


def _gradient(m: Machine, tensor: Tensor, create: truth.Truth, walk: Walk, blurred: bool) -> Ref:  # noqa: FBT001
    """A gradient of which no more is known than its sizes; `blurred`: it came through what nobody sees."""
    grad = m.new_tensor(tensor.shape, tensor.dtype, lineage=_trail(m, tensor, create))
    made = tensor_at(m, grad.id)
    made.creation = "unknown"
    made.overlapping = False if tensor.shape is not None and numel(tensor.shape) == 1 else None
    if create is not False and (blurred or walk.keeps_graph()):
        made.requires_grad = None
        made.contiguous = None
        node = Node(
            (), tuple(Edge(node=i, maybe=True) for i in walk.reached), kind="unknown", loc=m.here(), what="grad",
            seq=m.next_sequence(), epoch=tuple(m.iterations), via=m.via(),
        )  # fmt: skip
        made.edge = Edge(m.new(node).id, maybe=True)
    return grad


def truth_value(m: Machine, value: Value) -> truth.Truth:
    from analyzers.machine.expressions import truth_of

    return truth_of(m, value)[0]


__all__ = ["Const", "differentiate", "run_backward", "truth_value"]
