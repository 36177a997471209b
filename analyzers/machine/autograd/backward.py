"""Backward: checks the roots, walks the graph, accumulates gradients, frees.

Nodes run in reverse order of creation, as in torch's engine. A node that saved something and was freed raises, as does
a saved tensor whose version counter has advanced; nodes that ran before the error are freed anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.objects import Edge, Tensor
from analyzers.domain.values import NONE, Ref, Unknown, Value
from analyzers.machine.autograd.accumulation import (
    accumulate,
    blur_after_unknown,
    filled_since_joined,
    keep_grad,
    note_sparse,
    perhaps_filled,
    retained,
)
from analyzers.machine.autograd.engine import GIVEN, Aim, Walk, ways_toward
from analyzers.machine.autograd.flatness import flat_leaves
from analyzers.machine.autograd.gathered import is_gathered
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.hooks import call_after_hooks
from analyzers.machine.autograd.likely_tensors import has_no_graph, leads_anywhere, note_walked
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.views import is_stale, view_error
from analyzers.machine.core.causes import NoGraph, NonScalar, Plain
from analyzers.machine.core.events import BackwardCall
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.signals import BackwardBegins, CalledUnseen, GraphRetained, LeavesReached, tell
from analyzers.ops.infer import numel

NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"


NON_SCALAR = "grad can be implicitly created only for scalar outputs"


def check_root(m: Machine, value: Value, gradient: Value, name: str) -> Tensor | None:
    """Check a root, in torch's order: the gradient's sizes, a graph, a single element; returns None if it is
    unknown."""
    if not isinstance(value, Ref):
        m.record.unresolved.data = True
        return None
    tensor = refreshed(m, value.id)
    m.record.unresolved.data = m.record.unresolved.data or tensor.requires_grad is None
    if gradient != NONE:
        _check_gradient_shape(m, tensor, gradient)
    if tensor.requires_grad is False:
        if not has_no_graph(m, tensor):
            return None
        raise m.throw("RuntimeError", NO_GRAPH, NoGraph(name, tensor.lineage, tensor.dtype))
    if is_stale(m, tensor) and tensor.requires_grad:
        raise view_error(m, tensor, "backward", indirect=True)
    if gradient == NONE and tensor.requires_grad:
        size = numel(tensor.shape)
        m.record.unresolved.data = m.record.unresolved.data or size is None
        if size != 1 and (size is not None or _has_many(m, value.id, tensor)):
            raise m.throw("RuntimeError", NON_SCALAR, NonScalar(name, tensor.shape, tensor.lineage))
        if is_gathered(m, tensor.lineage):
            m.presume("there are several devices")
            m.warn("RuntimeError", NON_SCALAR, NonScalar(name, (None,), tensor.lineage, gathered=True))
        if tensor.shape is not None and (tensor.dtype or "").startswith("complex"):
            raise m.throw(
                "RuntimeError", "grad can be implicitly created only for real scalar outputs but got",
                NonScalar(name, tensor.shape, tensor.lineage),
            )  # fmt: skip
    return tensor


def _has_many(m: Machine, ident: int, tensor: Tensor) -> bool:
    """Whether a tensor has more than one element, or none, however large it is in the directions that are not known."""
    if m.config.presumes:
        # A presumed batch has more than one item.
        return tensor.shape is not None or PORTS.likely.has_several(m, ident)
    return any(size is not None and size != 1 for size in tensor.shape or ())


def are_open(checked: Sequence[tuple[Value, Tensor | None]], roots: Sequence[tuple[Value, Value]]) -> bool:
    """Whether torch, which looks at the roots first, may refuse one for its size."""
    for (_, tensor), (_, gradient) in zip(checked, roots, strict=True):
        if tensor is not None and gradient == NONE and numel(tensor.shape) is None:
            return True
    return False


def _check_gradient_shape(m: Machine, tensor: Tensor, gradient: Value) -> None:
    given = m.tensor(gradient)
    if given is None or given.shape is None or tensor.shape is None or None in given.shape or None in tensor.shape:
        if tensor.requires_grad is False:
            # Of the two reasons to refuse this one would come first.
            m.may_raise()
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
    """`roots` are tensors, each with the gradient given for it (None if not given)."""
    m.record.trains = True
    if inputs is not None and not inputs:
        raise m.throw("RuntimeError", "`inputs` argument to `backward()` cannot be empty.", Plain("empty-inputs"))
    checked = [(value, check_root(m, value, gradient, name)) for value, gradient in roots]
    check_inputs(m, inputs or (), "can't retain_grad on Tensor that has requires_grad=False")
    for value in inputs or ():
        if isinstance(value, Ref) and m.tensor(value) is not None:
            keep_grad(m, value.id)
    known = [(value, tensor) for value, tensor in checked if tensor is not None]
    if any(tensor is None for _, tensor in checked):
        m.record.imprecisions += 1
        blur_after_unknown(m, create)
    note_walked(m, [tensor.lineage for _, tensor in known])
    edges = [root_edge(value, tensor) for value, tensor in known]
    aim: Aim | None = None
    if inputs is not None:
        targets, leaves = target_ids(m, inputs)
        ways = ways_toward(m, edges, targets, leaves)
        aim = Aim(frozenset(ways.nodes | targets), frozenset(targets), frozenset(leaves))
        for leaf in sorted(leaves - ways.reached) if ways.unseen else ():
            m.st.put(leaf, replace(tensor_at(m, leaf), grad=Unknown("grad", reach=(leaf,))))
    if inputs is None:
        tell(m, BackwardBegins(edges))
    walk = Walk(m, retain, name, create, aim)
    walk.may_have_raised = are_open(checked, roots)
    walk.run(rooted(m, walk, edges, known, roots))
    _fill(m, walk, create)
    retained(m, walk)
    if retain is True and create is False and all(t.requires_grad is True and not t.presumed for _, t in known):
        # If the graph may continue below an unknown value, we cannot see who else goes through it.
        tell(m, GraphRetained(walk.reached))
    # A backward that does not raise reaches something.
    unseen = walk.unknown or (inputs is None and not walk.leaves and any(t.requires_grad is None for _, t in known))
    if unseen:
        m.record.imprecisions += 1
        tell(m, CalledUnseen((), tuple(m.indexes.runs_again)))
        blur_after_unknown(m, create)
    elif m.config.presumes:
        perhaps_filled(m, only_presumed=not any(leads_anywhere(m.node(ident)) for ident in walk.reached))
    tell(m, LeavesReached(walk.leaves, walk.users))
    lineage = known[0][1].lineage if known else None
    root_is_leaf = any(t.edge is None and t.requires_grad for _, t in known)
    m.note(
        BackwardCall(
            m.site(), name, lineage, root_is_leaf, tuple(walk.leaves), retain, unseen or not known,
            m.st.assumed, create, () if unseen else flat_leaves(m, edges, walk.reached, walk.leaves),
        )
    )  # fmt: skip


def _fill(m: Machine, walk: Walk, create: truth.Truth) -> None:
    for leaf, certain in walk.leaves.items():
        gradient = walk.came_to(leaf, tensor_at(m, leaf))
        if gradient != NONE:
            held = tensor_at(m, leaf).grad
            accumulate(m, leaf, certain, create, gradient)
            note_sparse(m, leaf, walk.sparse.get((None, leaf)), held == NONE)
            m.in_mode(walk.create, partial(call_after_hooks, m, leaf, certain))
    filled_since_joined(m, walk.leaves)


def rooted(
    m: Machine,
    walk: Walk,
    edges: Sequence[Edge],
    known: Sequence[tuple[Value, Tensor]],
    roots: Sequence[tuple[Value, Value]],
) -> list[tuple[Edge, Value]]:
    """The roots' edges with their initial gradients: ones, unless given."""
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


def check_inputs(m: Machine, inputs: Sequence[Value], message: str) -> None:
    for value in inputs:
        tensor = m.tensor(value)
        if tensor is not None and isinstance(value, Ref) and has_no_graph(m, refreshed(m, value.id)):
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
