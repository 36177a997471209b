"""Which operators saved a tensor for backward, and whether it was modified since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from analyzers.domain.join import versions_equal
from analyzers.domain.objects import VERSION_BASE, Counter, Node, Tensor
from analyzers.graph.build import Places, place_of
from analyzers.machine.core.machine import Machine
from analyzers.report import Remark

MOST = 4
"""Nodes that are named."""

MOST_NODES = 3_000
"""Nodes that are gone through."""


def keepers(
    m: Machine, ident: int, tensor: Tensor, names: Mapping[int, str], places: Places, *, at_version: bool
) -> Iterator[Remark]:
    """The nodes that have saved a tensor, or one that shares its versions, and that somebody can still reach.

    `at_version`: say at which version. What only a variable of another function holds is not looked for.
    """
    counter = m.st.get(tensor.counter)
    now = counter.version if isinstance(counter, Counter) else None
    found = 0
    for node in _reachable(m, (ident, *names)):
        if node.freed:
            continue
        for saved in node.saved:
            if saved.counter != tensor.counter or saved.maybe or found >= MOST:
                continue
            found += 1
            same = versions_equal(saved.version, now)
            label = " | ".join(node.names) or node.what
            since = "" if same else ": modified since, so its backward raises" if same is False else ""
            is_known = at_version and saved.version is not None and saved.version < VERSION_BASE
            at = f" at version {saved.version}" if is_known else ""
            yield Remark(f"`{label}` saved it as `{saved.name}`{at}{since}", place_of(places, node.loc))
            break


def _reachable(m: Machine, idents: tuple[int, ...]) -> Iterator[Node]:
    """The nodes of the graphs of some tensors, the latest first."""
    edges = [t.edge for t in map(m.st.find, idents) if isinstance(t, Tensor) and t.edge is not None]
    stack = [edge.node for edge in edges if edge.node is not None]
    seen: dict[int, Node] = {}
    while stack and len(seen) < MOST_NODES:
        ident = stack.pop()
        node = m.st.find(ident)
        if ident in seen or not isinstance(node, Node):
            continue
        seen[ident] = node
        stack += [edge.node for edge in node.edges if edge is not None and edge.node is not None]
    yield from sorted(seen.values(), key=lambda node: -node.seq)
