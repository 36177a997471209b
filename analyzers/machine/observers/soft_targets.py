"""Networks that nothing trains but being the target of a loss.

A cross entropy of two distributions, `-(p * log q).sum()`, is not symmetric: `q` predicts and `p` is what it should be.
`F.kl_div`, `F.cross_entropy` of probabilities and a sum by hand all come to it in the graph. Parameters that a backward
reaches through `p` alone are those of a teacher.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analyzers.domain.objects import Edge, Node
from analyzers.machine.core.events import Compared
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import BackwardBegins, hears
from analyzers.machine.observers.looks import Looks
from analyzers.machine.observers.loss_targets import (
    LINEAR,
    LOOKS,
    MOST,
    SHAPING,
    Side,
    all_parameters,
    behind,
    name_of,
    near,
)

LOGS = frozenset({"LogSoftmaxBackward0", "LogSigmoidBackward0", "LogBackward0"})


PROBABILITIES = frozenset({"SoftmaxBackward0", "SigmoidBackward0", "ExpBackward0"})


Way = tuple[int, int]
"""A node and which of its edges."""


class SoftTargets:
    def __init__(self) -> None:
        self.looks = Looks(LOOKS)


@hears(BackwardBegins)
def _look_at_soft_targets(m: Machine, signal: BackwardBegins) -> None:
    if not m.notebook(SoftTargets).looks.take((m.via(), m.here())):
        return
    close = {ident: m.node(ident) for ident in near(m, signal.roots)}
    targets: list[tuple[Node, Side]] = []
    closed: set[Way] = set()
    for ident, node in close.items():
        ways = _ways_to_target(m, ident, node)
        target = behind(m, m.node(ways[0][0]).edges[ways[0][1]]) if ways else None
        if target is not None and (target.weighted or target.presumed) and all_parameters(m, target.leaves):
            targets.append((node, target))
            closed.update(ways, _beside(close, ways[0]))
    if targets:
        otherwise = _reached(m, signal.roots, closed)
        for node, target in targets:
            if otherwise and target.leaves.isdisjoint(otherwise):
                m.note(Compared(m.site(), "taught", node, target.leaves))


def _ways_to_target(m: Machine, ident: int, node: Node) -> list[Way]:
    """The edges that lead to `p` where a node is `p * log q`, `p * (log p - log q)`, or the difference in it."""
    if len(node.edges) != 2:
        return []
    if _is_of_logs(m, node) and node.what == "kl_div":
        return [(ident, 0)]
    for at in (0, 1) if name_of(node) == "MulBackward0" else ():
        target, logs = node.edges[at], node.edges[1 - at]
        if _head(m, target) not in PROBABILITIES or logs is None or logs.node is None:
            continue
        if _head(m, logs) in LOGS:
            return [(ident, at)]
        if _is_of_logs(m, m.node(logs.node)):
            return [(ident, at), (logs.node, 0)]
    return []


def _is_of_logs(m: Machine, node: Node) -> bool:
    return (
        name_of(node) == "SubBackward0" and len(node.edges) == 2 and all(_head(m, edge) in LOGS for edge in node.edges)
    )


def _beside(close: Mapping[int, Node], way: Way) -> Iterator[Way]:
    """The other edges from the same call of a loss to the same target, as those of `xlogy(p, p)`."""
    from_, at = way
    of = close[from_]
    for ident, node in close.items():
        if (node.what, node.loc) == (of.what, of.loc):
            yield from ((ident, to) for to, edge in enumerate(node.edges) if edge == of.edges[at])


def _head(m: Machine, edge: Edge | None) -> str:
    """The first node behind an edge that does more than move or scale."""
    for _ in range(8):
        if edge is None or edge.node is None:
            return ""
        node = m.node(edge.node)
        there = [e for e in node.edges if e is not None]
        if name_of(node) not in SHAPING | LINEAR or len(there) != 1:
            return name_of(node)
        edge = there[0]
    return ""


def _reached(m: Machine, roots: Sequence[Edge], closed: set[Way]) -> frozenset[int]:
    """The leaves to which the graph leads other than by the edges `closed`; none where it is too large to tell."""
    leaves: set[int] = set()
    nodes: set[int] = set()
    stack = list(roots)
    while stack and len(nodes) <= MOST:
        edge = stack.pop()
        if edge.node is None:
            leaves.update(() if edge.leaf is None else (edge.leaf,))
        elif edge.node not in nodes:
            nodes.add(edge.node)
            edges = enumerate(m.node(edge.node).edges)
            stack += [e for at, e in edges if e is not None and (edge.node, at) not in closed]
    return frozenset(leaves) if not stack else frozenset()
