"""Every rule about silent harm is shown on torch; here, harm in memory: torch keeps what the rules say it keeps."""

from __future__ import annotations

import gc
import warnings
import weakref
from pathlib import Path
from typing import Any

import torch

import analyzers.rules
from analyzers.rules import RULES
from tests.mdtest.snippets import in_rule

FOLDER = Path(analyzers.rules.__file__).parent


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


def _saved_after_backward(*, retain: bool) -> bool:
    """Whether what a graph saved outlives its backward, as long as the loss is held."""
    weight = torch.ones(3, requires_grad=True)
    saved = weight + 1
    seen = weakref.ref(saved)
    loss = (saved * saved).sum()
    loss.backward(retain_graph=retain)
    del saved
    gc.collect()
    return seen() is not None


def test_needless_retain_graph() -> None:
    assert _saved_after_backward(retain=True)
    assert not _saved_after_backward(retain=False)


def _saved_for_evaluation(*, grad: bool) -> int:
    """How many tensors the forward passes of an evaluation save for a backward."""
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()).eval()
    saved: list[torch.Tensor] = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        saved.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), torch.set_grad_enabled(grad):
        for x in torch.ones(3, 1, 2):
            net(x).argmax().item()
    return len(saved)


def test_graph_built_for_evaluation() -> None:
    assert _saved_for_evaluation(grad=True) > 0
    assert _saved_for_evaluation(grad=False) == 0


class _OnContext(torch.autograd.Function):
    """Doubles, and keeps its input, its output or neither as it is told."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, kept: str) -> torch.Tensor:
        y = x * 2
        if kept == "saved":
            ctx.save_for_backward(x, y)
        else:
            ctx.kept = {"input": x, "output": y}[kept]
        return y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:  # type: ignore[override]
        return grad * 2, None


def _kept_by_context(kept: str) -> tuple[bool, bool]:
    """Whether the input outlives backward, and the output all that led to it."""
    leaf = torch.ones(3, requires_grad=True)
    given = leaf * 1
    made = _OnContext.apply(given, kept)
    loss = made.sum()
    loss.backward()
    inside, outside = weakref.ref(given), weakref.ref(made)
    gc.disable()
    try:
        del given, made
        outlives_backward = inside() is not None
        del loss
        return outlives_backward, outside() is not None
    finally:
        gc.enable()


def test_context_attribute_leak() -> None:
    assert _kept_by_context("input") == (True, False)
    assert _kept_by_context("output") == (False, True)
    assert _kept_by_context("saved") == (False, False)


def _shows_harm(path: Path) -> bool:
    """Whether a rule's page has a program that torch learns something else from when it is set right."""
    return any(snippet.wrong is not None or snippet.fixes for snippet in in_rule(path))


def test_every_silent_rule_is_shown() -> None:
    """Harm is shown by torch: in gradients and parameters on the rule's page, or in memory here."""
    silent = [rule for rule in RULES if rule.code.startswith(("AG2", "AG3", "AG4"))]
    names = [rule.name.replace("-", "_") for rule in silent]
    files = {path.stem: path for path in FOLDER.rglob("*.py")}
    assert [name for name in names if f"test_{name}" not in globals() and not _shows_harm(files[name])] == []
