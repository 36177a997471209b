"""Writes down what backward and steps do in a running script, and stops it when it has done enough of them.

Nothing here changes what the script computes. What a backward leads to is read from the graph before it runs; the sizes
of gradients and what moved are read after it, or after the step.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from tests.mutants.record import Run


class Enough(BaseException):
    """Raised in the script once it has taken its number of steps."""


def watch(run: Run, steps: int) -> None:
    """From now on, until this process ends."""
    _Watch(run, steps)


class _Watch:
    def __init__(self, run: Run, steps: int) -> None:
        self.run = run
        self.steps = steps
        self.optimizers: list[Any] = []
        self.before: list[torch.Tensor] = []
        self.backward = torch.autograd.backward
        torch.autograd.backward = self._backward
        started = torch.optim.Optimizer.__init__

        def start(optimizer: Any, *arguments: Any, **named: Any) -> None:
            started(optimizer, *arguments, **named)
            self.optimizers.append(optimizer)

        torch.optim.Optimizer.__init__ = start
        register_optimizer_step_pre_hook(self._before)
        register_optimizer_step_post_hook(self._after)

    def _backward(self, tensors: Any, *arguments: Any, **named: Any) -> None:
        if len(self.run.backwards) >= self.steps:
            raise Enough
        roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        leaves = _leaves(roots)
        self.backward(tensors, *arguments, **named)
        self.run.backwards.append([("x".join(map(str, leaf.shape)), _size(leaf.grad) or 0.0) for leaf in leaves])

    def _before(self, optimizer: Any, arguments: Any, named: Any) -> None:
        del arguments, named
        if len(self.run.updates) >= self.steps:
            raise Enough
        self.before = [parameter.detach().clone() for parameter in _parameters(optimizer)]

    def _after(self, optimizer: Any, arguments: Any, named: Any) -> None:
        del arguments, named
        number = next((i for i, known in enumerate(self.optimizers) if known is optimizer), -1)
        pairs = zip(self.before, _parameters(optimizer), strict=False)
        rows = [(_size(now.grad), not torch.equal(before, now.detach())) for before, now in pairs]
        self.run.updates.append((number, rows))
        self.run.alive.append(_alive())


def _parameters(optimizer: Any) -> Iterator[torch.Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _size(gradient: torch.Tensor | None) -> float | None:
    return None if gradient is None else float(gradient.detach().double().abs().sum())


def _nodes(roots: Iterable[torch.Tensor]) -> list[Any]:
    """All nodes that the graphs of `roots` lead to."""
    stack = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = set(stack)
    found = list(stack)
    while stack:
        for following, _ in stack.pop().next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                found.append(following)
                stack.append(following)
    return found


def _leaves(roots: list[torch.Tensor]) -> list[torch.Tensor]:
    found = [node.variable for node in _nodes(roots) if hasattr(node, "variable")]
    return found + [root for root in roots if root.is_leaf and root.requires_grad]


def _alive() -> int:
    return len(_nodes(thing for thing in gc.get_objects() if isinstance(thing, torch.Tensor)))
