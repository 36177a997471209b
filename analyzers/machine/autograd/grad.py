"""`torch.autograd.grad`: gradients are returned to the caller instead of accumulated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analyzers.domain import truth
from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Edge, Node, Tensor
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.autograd.accumulation import trail
from analyzers.machine.autograd.backward import are_open, check_inputs, check_root, root_edge, rooted, target_ids
from analyzers.machine.autograd.engine import GIVEN, Aim, Walk, ways_toward
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.likely_tensors import PresumedParameters
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.writes import contested
from analyzers.machine.core.causes import UNUSED, Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import GradientRead, tell
from analyzers.ops.infer import numel


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
    check_inputs(m, inputs, "One of the differentiated Tensors does not require grad")
    known = [(value, tensor) for value, tensor in checked if tensor is not None]
    edges = [root_edge(value, tensor) for value, tensor in known]
    targets, leaves = target_ids(m, inputs)
    for leaf in (*leaves, *_reshaped(m, targets)):
        tell(m, GradientRead(leaf))
    ways = ways_toward(m, edges, targets, leaves)
    aim = Aim(frozenset(ways.nodes), frozenset(targets), frozenset(leaves))
    walk = Walk(m, retain, name, create, aim, watched=True)
    walk.may_have_raised = are_open(checked, outputs)
    walk.run(rooted(m, walk, edges, known, outputs))
    blurred = walk.unknown or ways.unseen or len(known) < len(checked) or any(e.maybe for e in edges)
    blurred = blurred or any(m.node(i).kind == "unknown" for i in ways.nodes)
    results: list[Value] = []
    for index, value in enumerate(inputs):
        tensor = m.tensor(value)
        if tensor is None or not isinstance(value, Ref) or refreshed(m, value.id).requires_grad is False:
            results.append(m.unknown_tensor())
            continue
        tensor = refreshed(m, value.id)
        key = tensor.edge.node if tensor.edge is not None else value.id
        came = walk.came_to(value.id, tensor)
        if isinstance(came, Ref) and not blurred and create is not None:
            results.append(came)
            continue
        if blurred and key not in ways.reached and not (allow_unused is False or materialize or m.config.presumes):
            # None, or a gradient by a way that nobody sees.
            results.append(Unknown(None, m.fresh(), m.trail("grad", m.parents([v for v, _ in outputs]))))
            continue
        if (key in ways.reached and came != NONE) or blurred or key is None:
            if create is False or not (blurred or walk.keeps_graph() or _may_have_graph(m, came)):
                results.append(_plain_gradient(m, tensor, create))
            else:
                results.append(_gradient_in_graph(m, tensor, create, walk, blurred=blurred))
            continue
        if materialize:
            results.append(m.new_tensor(tensor.shape, tensor.dtype, requires_grad=create, what="grad"))
        elif allow_unused is False:
            # An output that is no scalar is refused first; a presumed model may have any number of parameters.
            stands_in = any(isinstance(i, Ref) and i.id in m.notebook(PresumedParameters).made for i in inputs[:index])
            with contested(m, walk.may_have_raised or stands_in):
                raise m.throw(
                    "RuntimeError", f"The differentiated Tensor at index {index}", Plain("unused-input", tensor.lineage)
                )
        else:
            trail = Lineage(UNUSED, m.here(), (tensor.lineage,) if tensor.lineage else (), None, m.via())
            results.append(Const(None, trail) if allow_unused else Unknown())
    return results


def _reshaped(m: Machine, targets: Iterable[int]) -> Iterator[int]:
    """The leaves of which the nodes make another form: nothing else goes into them."""
    for ident in targets:
        node = m.st.find(ident)
        while isinstance(node, Node):
            edges = [edge for edge in node.edges if edge is not None]
            if len(edges) != 1:
                break
            if edges[0].leaf is not None:
                yield edges[0].leaf
            node = m.st.find(edges[0].node) if edges[0].node is not None else None


def _may_have_graph(m: Machine, came: Value) -> bool:
    """Of a gradient that hooks may have computed."""
    found = m.tensor(came)
    return came not in (NONE, GIVEN) if found is None else found.requires_grad is not False


def _plain_gradient(m: Machine, tensor: Tensor, create: truth.Truth) -> Ref:
    """A gradient without a graph, known only by its sizes."""
    grad = m.new_tensor(tensor.shape, tensor.dtype, lineage=trail(m, tensor, create))
    made = tensor_at(m, grad.id)
    made.creation = "unknown"
    made.overlapping = False if tensor.shape is not None and numel(tensor.shape) == 1 else None
    return grad


def _gradient_in_graph(m: Machine, tensor: Tensor, create: truth.Truth, walk: Walk, *, blurred: bool) -> Ref:
    """A gradient that may have a graph, to all that backward came by; to anything, if it is not known what that was."""
    grad = _plain_gradient(m, tensor, create)
    made = tensor_at(m, grad.id)
    made.requires_grad = None
    made.contiguous = None
    edges = [Edge(node=ident, maybe=True) for ident in walk.reached]
    node = Node(
        (), (*edges, *([Edge(maybe=True)] if blurred else [])), kind="unknown", loc=m.here(), what="grad",
        seq=m.next_sequence(), epoch=tuple(m.extent.iterations), via=m.via(),
    )  # fmt: skip
    made.edge = Edge(m.new(node).id, maybe=True)
    return grad
