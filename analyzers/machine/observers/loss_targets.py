"""What a loss compares: an output with another output of the same network, or with one that is not being trained.

Read from the graph when a backward runs. A *difference* is a node with gradients flowing to two sides: `a - b`, or a
loss between a prediction and a target.

    td = r + 0.9 * q(s2) - q(s1)      # the side r + 0.9 * q(s2) is a reward and a discounted value of the same q
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analyzers.domain.objects import Edge, Node, Tensor
from analyzers.domain.values import Const
from analyzers.machine.core.events import Compared
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import BackwardBegins, hears
from analyzers.machine.observers.looks import Looks

LOSSES = frozenset({"MseLossBackward0", "SmoothL1LossBackward0", "HuberLossBackward0", "KlDivBackward0"})


SUMS = frozenset({"AddBackward0", "SubBackward0", "RsubBackward0"})


PRODUCTS = frozenset({"MulBackward0", "CosineSimilarityBackward0", "DotBackward0"})


LINEAR = frozenset({"MulBackward0", "DivBackward0", "NegBackward0", "MeanBackward0", "MeanBackward1", "SumBackward0",
                    "SumBackward1"})  # fmt: skip


SHAPING = frozenset({"SqueezeBackward0", "SqueezeBackward1", "UnsqueezeBackward0", "ViewBackward0", "SelectBackward0",
                     "ReshapeAliasBackward0", "UnsafeViewBackward0", "CloneBackward0", "ExpandBackward0"})  # fmt: skip


WEIGHTED = frozenset({"AddmmBackward0", "MmBackward0", "MvBackward0", "ConvolutionBackward0", "BmmBackward0",
                      "LinearBackward0", "AddmvBackward0", "EmbeddingBackward0"})  # fmt: skip


LAYERS = frozenset({"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
"""Operators with weights whose node depends on the rank of their input."""


NEAR = 40


MOST = 3000
LOOKS = 24
"""The most backwards of one place that are examined."""


@dataclass(frozen=True, slots=True)
class Side:
    """The graph behind one edge. `presumed`: part of it is what a model that nobody sees may make."""

    nodes: frozenset[int]
    leaves: frozenset[int]
    weighted: bool
    presumed: bool


class LossTargets:
    def __init__(self) -> None:
        self.looks = Looks(LOOKS)


@hears(BackwardBegins)
def _look_at_losses(m: Machine, signal: BackwardBegins) -> None:
    """Report suspicious differences near the root of a backward."""
    roots = signal.roots
    if not m.notebook(LossTargets).looks.take((m.via(), m.here())):
        return
    for node in [m.node(ident) for ident in near(m, roots)]:
        if name_of(node) in SUMS | LOSSES and len(node.edges) == 2 and None not in node.edges:
            _look_at_difference(m, node)
    _look_at_branches(m, roots)


def near(m: Machine, roots: Sequence[Edge]) -> Iterator[int]:
    """The nodes next to the root of a backward, nearest first."""
    queue = [edge.node for edge in roots if edge.node is not None]
    seen: set[int] = set()
    for ident in queue:
        if ident in seen or len(seen) >= NEAR:
            continue
        seen.add(ident)
        yield ident
        queue += [edge.node for edge in m.node(ident).edges if edge is not None and edge.node is not None]


def name_of(node: Node) -> str:
    return node.names[0] if len(node.names) == 1 else ""


def behind(m: Machine, edge: Edge | None) -> Side | None:
    """What is behind an edge; None if not all of it is known."""
    nodes: set[int] = set()
    leaves: set[int] = set()
    weighted = presumed = False
    stack = [edge]
    while stack:
        step = stack.pop()
        if step is None:
            continue
        if step.maybe or (step.node is None and step.leaf is None) or len(nodes) > MOST:
            return None
        if step.node is None:
            assert step.leaf is not None
            leaves.add(step.leaf)
        elif step.node not in nodes:
            nodes.add(step.node)
            node = m.node(step.node)
            weighted = weighted or name_of(node) in WEIGHTED or node.what in LAYERS
            presumed = presumed or not node.names
            stack += node.edges
    return Side(frozenset(nodes), frozenset(leaves), weighted, presumed)


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a sum: its edge, its sign, the node that scales it, and whether that discounts it."""

    edge: Edge
    sign: int
    scale: Node | None
    discounts: bool


def _look_at_difference(m: Machine, node: Node) -> None:
    plain: list[Node] = []
    terms = [*_terms(m, node.edges[0], 1, plain)]
    second = 1 if name_of(node) == "AddBackward0" else -1
    terms += _terms(m, node.edges[1], second, plain)
    scaled = [term for term in terms if term.scale is not None]
    bare = [term for term in terms if term.scale is None]
    if name_of(node) in LOSSES:
        target = behind(m, node.edges[1])
        if target is not None and target.weighted and all_parameters(m, target.leaves):
            m.note(Compared(m.site(), "target", node, target.leaves))
    if len(scaled) != 1 or len(bare) != 1 or not scaled[0].discounts or scaled[0].sign == bare[0].sign or not plain:
        return
    value, other = behind(m, bare[0].edge), behind(m, scaled[0].edge)
    if value is None or other is None or not value.weighted or not value.leaves <= other.leaves:
        return
    if value.nodes.isdisjoint(other.nodes):
        m.note(Compared(m.site(), "discounted", plain[-1], other.leaves))


def _terms(m: Machine, edge: Edge | None, sign: int, plain: list[Node], depth: int = 0) -> Iterator[Term]:
    """The terms of a sum that have a graph; nodes that add something without a graph go to `plain`."""
    if edge is None:
        return
    node = m.node(edge.node) if edge.node is not None else None
    if node is None or depth > 8:
        yield Term(edge, sign, None, False)
        return
    name = name_of(node)
    if name in SHAPING and len(node.edges) == 1:
        yield from _terms(m, node.edges[0], sign, plain, depth + 1)
    elif name == "NegBackward0":
        yield from _terms(m, node.edges[0], -sign, plain, depth + 1)
    elif name in SUMS:
        first, second = (*node.edges, None)[:2]
        if first is None or second is None:
            plain.append(node)
        signs = (sign, sign) if name == "AddBackward0" else (sign, -sign) if name == "SubBackward0" else (-sign, sign)
        yield from _terms(m, first, signs[0], plain, depth + 1)
        yield from _terms(m, second, signs[1], plain, depth + 1)
    elif name == "MulBackward0" and sum(e is not None for e in node.edges) == 1:
        inner = next(e for e in node.edges if e is not None)
        yield Term(inner, sign, node, _discounts(m, node))
    else:
        yield Term(edge, sign, None, False)


def _discounts(m: Machine, node: Node) -> bool:
    """Whether the factors are a number between a half and one, or data."""
    for _ in range(4):
        numbers = [v.value for _, v in node.scalars if isinstance(v, Const) and isinstance(v.value, float)]
        if any(isinstance(number, float) and 0.5 <= number < 1 for number in numbers):
            return True
        inner = [m.node(e.node) for e in node.edges if e is not None and e.node is not None]
        if len(inner) != 1 or name_of(inner[0]) not in {"MulBackward0"} | SHAPING:
            return not numbers and any(e is None for e in node.edges) and not node.scalars
        node = inner[0]
    return False


def _look_at_branches(m: Machine, roots: Sequence[Edge]) -> None:
    """Report a loss that consists only of comparing a network's output with what another part has made of it."""
    compared: list[Node] = []
    for edge in _parts(m, list(roots)):
        node = m.node(edge.node) if edge.node is not None else None
        if node is None or name_of(node) not in PRODUCTS | LOSSES or len(node.edges) != 2 or None in node.edges:
            return
        one, other = behind(m, node.edges[0]), behind(m, node.edges[1])
        if one is None or other is None or not (one.leaves < other.leaves or other.leaves < one.leaves):
            return
        if not (one.weighted and other.weighted) or not one.nodes.isdisjoint(other.nodes):
            return
        compared.append(node)
    if compared:
        m.note(Compared(m.site(), "branches", compared[0], frozenset()))


def _parts(m: Machine, queue: list[Edge]) -> Iterator[Edge]:
    for count, edge in enumerate(queue):
        node = m.node(edge.node) if edge.node is not None else None
        there = [e for e in node.edges if e is not None] if node is not None else []
        linear = node is not None and (name_of(node) in LINEAR and len(there) == 1)
        if count < NEAR and (linear or (node is not None and name_of(node) in SUMS | SHAPING)):
            queue += there
        else:
            yield edge


def all_parameters(m: Machine, leaves: Iterable[int]) -> bool:
    found = [m.st.find(leaf) for leaf in leaves]
    return all(isinstance(leaf, Tensor) and leaf.parameter for leaf in found)
