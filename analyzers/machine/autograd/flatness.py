"""Operators that are flat: their derivative is zero wherever there is one, so what is behind them gets zeros."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import Edge, Node
from analyzers.machine.core.machine import Machine

FLAT = frozenset(
    f"{name}Backward{number}"
    for name, numbers in {
        "Bernoulli": (0,), "Ceil": (0,), "Div": (2,), "Floor": (0,), "Normal": (1, 2, 3), "Poisson": (0,),
        "Round": (0, 1), "Sign": (0,), "Trunc": (0,),
    }.items()
    for number in numbers
)  # fmt: skip


def flat_leaves(
    m: Machine, roots: Sequence[Edge], reached: Iterable[int], leaves: Collection[int]
) -> tuple[tuple[int, Loc], ...]:
    """Of the leaves that a backward from `roots` has reached through nodes, those that are behind flat ones alone, each
    with the place of one of these."""
    flat = [(node, node.loc) for ident in reached if _is_flat(node := m.node(ident)) and node.loc is not None]
    if not flat:
        return ()
    left = set(leaves) - _leaves_behind(m, roots)
    found: list[tuple[int, Loc]] = []
    for node, loc in flat:
        behind = left & _leaves_behind(m, node.edges)
        found += [(leaf, loc) for leaf in sorted(behind)]
        left -= behind
    return tuple(found)


def _is_flat(node: Node) -> bool:
    return bool(node.names) and FLAT.issuperset(node.names)


def _leaves_behind(m: Machine, edges: Iterable[Edge | None]) -> set[int]:
    """The leaves that edges lead to, through none that is flat."""
    leaves: set[int] = set()
    stack = [edge for edge in edges if edge is not None]
    seen: set[int] = set()
    while stack:
        edge = stack.pop()
        if edge.leaf is not None:
            leaves.add(edge.leaf)
        if edge.node is None or edge.node in seen:
            continue
        seen.add(edge.node)
        node = m.node(edge.node)
        if not _is_flat(node):
            stack += [onward for onward in node.edges if onward is not None]
    return leaves
