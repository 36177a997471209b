"""In-place writes: what torch refuses, and how the graph of a base and its views continues after a write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from analyzers.domain import truth
from analyzers.domain.copies import replace
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Edge, Node, Saved, Tensor
from analyzers.domain.values import Ref
from analyzers.machine.autograd.graph import Step, edge_to, make_node, operand, refreshed, requires_grad_of
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.views import attr_version, view_error
from analyzers.machine.core.causes import LeafWritten, Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.naming import subject_name


def check_write(m: Machine, ident: int, step: Step) -> bool:
    """The checks torch makes before writing to a tensor; returns whether it may have refused.

    They look at whether the tensor already has a `grad_fn`. A view made before its base got one has none until it is
    used, so torch takes it for a leaf.
    """
    tensor = replace(tensor_at(m, ident), requires_grad=requires_grad_of(m, ident))
    if tensor.inference and m.st.inference is False and tensor.creation != "detached":
        raise m.throw(
            "RuntimeError", "Inplace update to inference tensor outside InferenceMode is not allowed",
            Plain("inference", tensor.lineage),
        )  # fmt: skip
    requires = truth.any_of((step.requires, tensor.requires_grad))
    recorded = truth.both(requires, m.st.grad)
    if recorded is False:
        return False
    sure = recorded is True
    known = step.kind != "unknown"  # `w[unknown] = 1` writes to `w`, or to a view of it
    if tensor.requires_grad and m.st.grad is None:
        # A leaf refuses where gradients are recorded, and what else is wrong with the write is not what torch says.
        m.may_raise()
    if tensor.creation == "unknown" and sure:
        # It raises if the tensor is a view of a certain kind, and for a different reason otherwise.
        m.may_raise()
        return True
    if tensor.base is not None:
        if tensor.creation not in {"default", "unknown"} and sure:
            raise view_error(m, tensor, step.what, indirect=False, known=known)
        base = refreshed(m, tensor.base)
        of_leaf = base.is_leaf or (base.is_leaf is None and tensor.is_leaf)
        if tensor.requires_grad and of_leaf and m.st.grad is True:
            cause = LeafWritten(subject_name(m, Ref(ident)), step.what, True, base.lineage)
            message = "a view of a leaf Variable that requires grad is being used in an in-place operation"
            raise m.throw("RuntimeError", message if base.is_leaf else "a ", cause)
    if tensor.requires_grad and tensor.edge is None and m.st.grad is True:
        cause = LeafWritten(subject_name(m, Ref(ident)), step.what, False, tensor.lineage, late=tensor.base is not None)
        message = "a leaf Variable that requires grad is being used in an in-place operation" if known else "a "
        raise m.throw("RuntimeError", message, cause)
    return not sure and _may_be_refused(tensor)


@contextmanager
def contested(m: Machine, by: bool) -> Iterator[None]:
    """`by`: torch may raise for another reason first, so that nobody knows what it says of what is wrong here."""
    m.extent.contested, before = by, m.extent.contested
    try:
        yield
    finally:
        m.extent.contested = before


def _may_be_refused(tensor: Tensor) -> bool:
    """Whether autograd may refuse to record a write to a tensor: a leaf, or a view of some kinds."""
    if tensor.creation != "default":
        return True
    return tensor.requires_grad is not False and (tensor.base is not None or tensor.is_leaf is not False)


RESHAPING = frozenset({"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_", "as_strided_"})
"""Operators that count as writes but change no element: only the tensor itself gets a new place in the graph."""


def rebase(
    m: Machine, ident: int, step: Step, saved: Sequence[Saved], edges: tuple[Edge | None, ...], base_edge: Edge | None
) -> None:
    """After a write recorded by autograd: give the written tensor its new place in the graph.

    `edges` lead to the operands as they were before the write, `base_edge` to the base of a view.
    """
    tensor = tensor_at(m, ident)
    requires = truth.both(m.st.grad, step.requires)
    if requires is False:
        return
    if requires is None or tensor.perhaps_of is not None:
        _rebase_unknown(m, ident, tensor)
        return
    if tensor.base is None and tensor.creation == "unknown":
        # It may be a view of something unknown, whose place in the graph changes in a different way.
        m.st.put(ident, replace(tensor_at(m, ident), requires_grad=True, edge=Edge()))
        return
    if tensor.base is None or step.name in RESHAPING:
        if tensor.edge is not None and tensor.edge.node is not None and not m.node(tensor.edge.node).names:
            # What came of an operator with an unknown node may be a view, which gets another node.
            step = replace(step, names=())
        edge = Edge(make_node(m, step, saved, edges))
        current = tensor_at(m, ident)
        version = current.attr_version if current.base is None else attr_version(m, current)
        trail = _written(m, step, current.lineage)
        m.st.put(ident, replace(current, requires_grad=True, edge=edge, attr_version=version, lineage=trail))
        return
    base = tensor.base
    # The first edge of the written part's node is replaced by the base's.
    rest = 1 if step.differentiable[:1] == ("self",) or step.names == ("NotImplemented",) else 0
    operands = tuple(operand(m, i) for i in step.operands())
    slices = Node(
        ("CopySlices",),
        (base_edge, *edges[rest:]),
        tuple(saved),
        loc=m.here(),
        what=step.what,
        kind="unimplemented" if step.kind == "unimplemented" else "copy-slices",
        seq=m.next_sequence(),
        epoch=tuple(m.extent.iterations),
        payload=step.payload,
        via=m.via(),
        operands=(operand(m, base), *operands[rest:]),
        overlapping=tensor.overlapping is True,
    )
    made = m.new(slices)
    base_tensor = tensor_at(m, base)
    m.st.put(
        base,
        replace(base_tensor, requires_grad=True, edge=Edge(made.id), lineage=_written(m, step, base_tensor.lineage)),
    )
    _regenerate(m, ident, base)


def _regenerate(m: Machine, ident: int, base: int) -> None:
    tensor = tensor_at(m, ident)
    node = Node(
        ("AsStridedBackward0",), (edge_to(m, base),), loc=m.here(), what="view", seq=m.next_sequence(),
        epoch=tuple(m.extent.iterations), via=m.via(),
    )  # fmt: skip
    made = m.new(node)
    m.st.put(ident, replace(tensor, requires_grad=True, edge=Edge(made.id), attr_version=attr_version(m, tensor)))


def _rebase_unknown(m: Machine, ident: int, tensor: Tensor) -> None:
    for target in (ident, tensor.base, tensor.perhaps_of):
        if target is None:
            continue
        found = tensor_at(m, target)
        requires = True if found.requires_grad and found.edge is not None else None
        m.st.put(target, replace(found, requires_grad=requires, edge=Edge()))


def _written(m: Machine, step: Step, before: Lineage | None) -> Lineage:
    parents = step.parents if before is None else (before, *step.parents)
    return Lineage(step.what, m.here(), parents, None, m.via(), True)
