"""Harm that shows in memory, not in a gradient: torch keeps what the rules say it keeps."""

from __future__ import annotations

import gc
import warnings
import weakref

import torch


def _outlives(create_graph: bool, *, cleared: bool) -> bool:
    """Whether a leaf stays in memory when the program has let go of it."""
    leaf = torch.ones(3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (leaf.exp() ** 3).sum().backward(create_graph=create_graph)
    if cleared:
        leaf.grad = None
    seen = weakref.ref(leaf)
    del leaf
    gc.collect()
    return seen() is not None


def test_create_graph_cycle() -> None:
    assert _outlives(True, cleared=False)
    assert not _outlives(True, cleared=True)
    assert not _outlives(False, cleared=False)


def _nodes_behind_total(rounds: int, *, detached: bool) -> int:
    """How many nodes a running total of losses keeps alive."""
    weight = torch.ones(3, requires_grad=True)
    total = torch.zeros(())
    for _ in range(rounds):
        loss = (weight * weight).sum()
        loss.backward()
        total = total + (loss.detach() if detached else loss)
    seen: set[object] = set()
    stack: list[object] = [total.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [below for below, _ in getattr(node, "next_functions", ())]
    return len(seen)


def test_graph_kept_across_iterations() -> None:
    assert _nodes_behind_total(4, detached=False) > _nodes_behind_total(2, detached=False)
    assert _nodes_behind_total(4, detached=True) == 0
