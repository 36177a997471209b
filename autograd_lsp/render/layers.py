"""Where the nodes of a graph lie in a picture: in layers, every edge from a higher one to a lower.

A node is one layer below the lowest node that leads to it. An edge over several layers gets a *bend* in each layer
between, which takes part like a node without width. Within a layer, nodes go where their neighbours are.

```text
loss          layer 0
 |  \\
Mul   .       layer 1, and the bend of the edge from `loss` to `x`
 |   /
 x            layer 2
```
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 6
"""Passes over the layers, downwards and upwards by turns, in which nodes move towards their neighbours."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Size:
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Way:
    """The points that an edge passes, its ends included."""

    source: str
    target: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The centre of each node, and the ways of the edges; one that would close a circle has none."""

    size: Size
    centres: Mapping[str, Point]
    ways: tuple[Way, ...]


def lay_out(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]], gap: Size) -> Layout:
    """Edges are between keys of `sizes`; `gap` is left free between nodes and between layers."""
    forward = _without_cycles(list(sizes), edges)
    depth = _depths(list(sizes), forward)
    boxes = dict(sizes)
    chains: list[tuple[str, ...]] = []
    for number, (source, target) in enumerate(forward):
        bends = [f"\0{number}.{level}" for level in range(depth[source] + 1, depth[target])]
        for level, bend in enumerate(bends, depth[source] + 1):
            boxes[bend], depth[bend] = Size(0, 0), level
        chains.append((source, *bends, target))
    links = [link for chain in chains for link in pairwise(chain)]
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for node, level in depth.items():
        layers[level].append(node)
    across = _across(layers, links, boxes, gap.width)
    down: dict[str, float] = {}
    top = 0.0
    for layer in layers:
        height = max(boxes[node].height for node in layer)
        down.update(dict.fromkeys(layer, top + height / 2))
        top += height + gap.height
    centres = {node: (across[node], down[node]) for node in boxes}
    width = max((across[node] + boxes[node].width / 2 for node in boxes), default=0)
    ways = tuple(_way(chain, centres, boxes) for chain in chains)
    return Layout(Size(width, max(top - gap.height, 0)), {node: centres[node] for node in sizes}, ways)


def _without_cycles(nodes: list[str], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges, each once, less those that lead back to where a walk from the first nodes has come from."""
    below: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in dict.fromkeys(edges):
        below[source].append(target)
    kept: list[tuple[str, str]] = []
    done: set[str] = set()
    for root in nodes:
        stack, under_way = [(root, iter(below[root]))] if root not in done else [], {root}
        while stack:
            node, rest = stack[-1]
            target = next(rest, "")
            if not target:
                stack.pop()
                under_way.discard(node)
                done.add(node)
                continue
            if target not in under_way:
                kept.append((node, target))
                if target not in done:
                    under_way.add(target)
                    stack.append((target, iter(below[target])))
    return kept


def _depths(nodes: list[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    above = dict.fromkeys(nodes, 0)
    below: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in edges:
        above[target] += 1
        below[source].append(target)
    depth = dict.fromkeys(nodes, 0)
    ready = deque(node for node in nodes if not above[node])
    while ready:
        node = ready.popleft()
        for target in below[node]:
            depth[target] = max(depth[target], depth[node] + 1)
            above[target] -= 1
            if not above[target]:
                ready.append(target)
    return depth


def _across(
    layers: list[list[str]], links: Sequence[tuple[str, str]], boxes: Mapping[str, Size], gap: float
) -> dict[str, float]:
    """The horizontal centre of each node; the leftmost one begins at zero."""
    up: dict[str, list[str]] = {}
    down: dict[str, list[str]] = {}
    for source, target in links:
        down.setdefault(source, []).append(target)
        up.setdefault(target, []).append(source)
    at: dict[str, float] = {}
    for layer in layers:
        _spread(layer, {node: float(place) for place, node in enumerate(layer)}, boxes, gap, at)
    for sweep in range(SWEEPS):
        neighbours = down if sweep % 2 else up
        for layer in reversed(layers) if sweep % 2 else layers:
            wanted = {node: _mean([at[other] for other in neighbours.get(node, ())], at[node]) for node in layer}
            layer.sort(key=lambda node: wanted[node])
            _spread(layer, wanted, boxes, gap, at)
    left = min((at[node] - boxes[node].width / 2 for node in at), default=0)
    return {node: centre - left for node, centre in at.items()}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _spread(
    layer: list[str], wanted: Mapping[str, float], boxes: Mapping[str, Size], gap: float, at: dict[str, float]
) -> None:
    """Put a layer's nodes where they want to be as far as they leave room for each other.

    Pushed to the right they overlap no more, and so they do pushed to the left: the middle of both does not either.
    """
    right, edge = [], float("-inf")
    for node in layer:
        half = boxes[node].width / 2
        right.append(max(wanted[node], edge + half))
        edge = right[-1] + half + gap
    left, edge = [], float("inf")
    for node in reversed(layer):
        half = boxes[node].width / 2
        left.append(min(wanted[node], edge - half))
        edge = left[-1] - half - gap
    for node, a, b in zip(layer, right, reversed(left), strict=True):
        at[node] = (a + b) / 2


def _way(chain: Sequence[str], centres: Mapping[str, Point], boxes: Mapping[str, Size]) -> Way:
    (x, y), (to_x, to_y) = centres[chain[0]], centres[chain[-1]]
    first, last = (x, y + boxes[chain[0]].height / 2), (to_x, to_y - boxes[chain[-1]].height / 2)
    return Way(chain[0], chain[-1], (first, *(centres[bend] for bend in chain[1:-1]), last))
