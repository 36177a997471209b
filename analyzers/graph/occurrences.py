"""The names of a file that give tensors, wherever they stand, with what is sure of these over all visits.

    x = torch.ones(3, requires_grad=True)       `x`: a leaf
    h = (x * 2).detach()                        `x` again, and `h`: detached
    loss = (h + 1).sum()                        `h`, and `loss`: detached, as what it is made of was

A run leaves no trace of what it reads, so that it is watched for this alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.domain.lineage import Cut, Lineage, Loc
from analyzers.domain.objects import Tensor
from analyzers.domain.values import Func, Value
from analyzers.graph.record import facts_of
from analyzers.machine.assembly import Made, run_module, run_unknown
from analyzers.machine.core.budget import Limits
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.probe import Probe
from analyzers.machine.core.program import ModuleRun, Program
from analyzers.syntax import nodes as n

_DETACHING: frozenset[Cut] = frozenset(
    {"detach", "data", "no-grad", "inference", "left-torch", "rewrapped", "leaf-copy"}
)
"""How a graph ends without need: a result of integers, say, could have none."""

_MOST_STEPS = 100
"""Steps of a trail that are searched for such an end."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What is sure of a tensor on every visit."""

    requires_grad: bool
    is_leaf: bool
    is_detached: bool

    def joined(self, other: Traits) -> Traits:
        return Traits(
            self.requires_grad and other.requires_grad,
            self.is_leaf and other.is_leaf,
            self.is_detached and other.is_detached,
        )


Seen = dict[Loc, Traits | None]
"""By the place of a name; None where it gave something else, too."""


def seen_in_module(program: Program, path: str) -> Seen:
    """In the run of a file as a script."""
    watch = _Watch(path)
    run_module(program, path, main=True, limits=Limits(), probe=watch)
    return watch.seen


def seen_in_function(program: Program, run: ModuleRun, func: Func, made: Made | None) -> Seen:
    """In the run of a function that nobody calls."""
    watch = _Watch(func.module)
    run_unknown(program, run, func, made, probe=watch)
    return watch.seen


def joined(a: Seen, b: Seen) -> Seen:
    """Of two runs."""
    out = dict(a)
    for loc, traits in b.items():
        out[loc] = traits if loc not in out else _joined(out[loc], traits)
    return out


def _joined(a: Traits | None, b: Traits | None) -> Traits | None:
    return None if a is None or b is None else a.joined(b)


class _Watch(Probe):
    def __init__(self, path: str) -> None:
        self.path = path
        self.seen: Seen = {}

    def read(self, m: Machine, node: n.Node, value: Value) -> None:
        self._see(m, node, value)

    def bound(self, m: Machine, target: n.Node, value: Value) -> None:
        self._see(m, target, value)

    def _see(self, m: Machine, node: n.Node, value: Value) -> None:
        if m.frame.library or m.frame.module != self.path or not isinstance(node, n.Name):
            return
        loc, traits = m.loc_of(m.frame, node), _traits(m, value)
        self.seen[loc] = traits if loc not in self.seen else _joined(self.seen[loc], traits)


def _traits(m: Machine, value: Value) -> Traits | None:
    tensor = m.tensor(value)
    known = facts_of(m, value, lambda _: False)
    if tensor is None or known is None:
        return None
    requires_grad, is_leaf = known[:2]
    is_detached = requires_grad is False and _is_detached(tensor)
    return Traits(requires_grad is True, requires_grad is True and is_leaf is True, is_detached)


def _is_detached(tensor: Tensor) -> bool:
    seen: set[int] = set()
    queue: list[Lineage] = [] if tensor.lineage is None else [tensor.lineage]
    for step in queue:
        if id(step) in seen or len(seen) >= _MOST_STEPS:
            continue
        seen.add(id(step))
        if step.cut in _DETACHING:
            return True
        if step.cut is None:
            queue += step.parents
    return False
