"""What one run comes by that leaves no trace in it: the names that give tensors, and the calls.

    x = torch.ones(3, requires_grad=True)       `x`: a leaf
    h = (x * 2).detach()                        `x` again, and `h`: detached
    loss = f(h + 1)                             `h`, and `loss`: detached, as what it is made of was; a call of `f`

A run is watched for this alone. A tensor is told of only as far as it is sure on every visit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from analyzers.domain.lineage import Cut, Lineage, Loc
from analyzers.domain.objects import Tensor
from analyzers.domain.values import Func, Value
from analyzers.graph.record import facts_of
from analyzers.machine.assembly import Made, run_module, run_unknown
from analyzers.machine.core.budget import Limits
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import whole
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


@dataclass(frozen=True, slots=True)
class Body:
    """What calls and is called: a function, or the statements of a module, which have no place and no name."""

    module: str
    qualname: str
    loc: Loc | None = None
    name: Loc | None = None
    is_method: bool = False


@dataclass(frozen=True, slots=True)
class Called:
    """A call that ran, at `loc`; of one that is written as such, that is the part that names what is called."""

    caller: Body
    loc: Loc
    callee: Body


@dataclass(slots=True)
class Watched:
    """`seen` is by the place of a name; None where it gave something other than a tensor, too."""

    seen: dict[Loc, Traits | None] = field(default_factory=dict)
    calls: dict[Called, None] = field(default_factory=dict)


def watched_module(program: Program, path: str) -> Watched:
    """The run of a file as a script."""
    watch = _Watch(path)
    run_module(program, path, main=True, limits=Limits(), probe=watch)
    return watch.watched


def watched_function(program: Program, run: ModuleRun, func: Func, made: Made | None) -> Watched:
    """The run of a function that nobody calls."""
    watch = _Watch(func.module)
    run_unknown(program, run, func, made, probe=watch)
    return watch.watched


def together(runs: list[Watched]) -> Watched:
    """What holds of all runs, and all that was called in one."""
    return reduce(_added, runs, Watched())


def _added(a: Watched, b: Watched) -> Watched:
    for loc, traits in b.seen.items():
        a.seen[loc] = traits if loc not in a.seen else _joined(a.seen[loc], traits)
    a.calls.update(b.calls)
    return a


def _joined(a: Traits | None, b: Traits | None) -> Traits | None:
    return None if a is None or b is None else a.joined(b)


class _Watch(Probe):
    def __init__(self, path: str) -> None:
        self.path = path
        self.watched = Watched()
        self.begun: set[tuple[int, int, int]] = set()
        """Calls in progress, by how many are around them."""

    def read(self, m: Machine, node: n.Node, value: Value) -> None:
        self._see(m, node, value)

    def bound(self, m: Machine, target: n.Node, value: Value) -> None:
        self._see(m, target, value)

    def calls(self, m: Machine, node: n.Call, func: Value) -> None:
        del func
        self.begun.add((len(m.extent.frames), node.start, node.end))

    def called(self, m: Machine, node: n.Call, result: Value) -> None:
        del result
        self.begun.discard((len(m.extent.frames), node.start, node.end))

    def enters(self, m: Machine) -> None:
        *frames, frame = m.extent.frames
        depth = next((at for at in range(len(frames), 0, -1) if not frames[at - 1].library), 0)
        caller = frames[depth - 1] if depth else None
        if caller is None or caller.stands_in or isinstance(caller.node, n.Pass) or frame.func is None:
            return
        node = caller.node
        if isinstance(node, n.Call):
            # The next item of a loop is asked for behind the last call in its body.
            if (depth, node.start, node.end) not in self.begun:
                return
            node = node.func
        above = Body(caller.module, caller.qualname) if caller.func is None else _body(m, caller.func)
        self.watched.calls[Called(above, m.loc_of(caller, node), _body(m, frame.func))] = None

    def _see(self, m: Machine, node: n.Node, value: Value) -> None:
        if m.frame.library or m.frame.module != self.path or not isinstance(node, n.Name):
            return
        seen, loc, traits = self.watched.seen, m.loc_of(m.frame, node), _traits(m, value)
        seen[loc] = traits if loc not in seen else _joined(seen[loc], traits)


def _body(m: Machine, func: Func) -> Body:
    node = whole(m.config.program, func)
    loc = Loc(func.module, func.chunk, node.start, node.end)
    if isinstance(node, n.Lambda):
        return Body(func.module, func.qualname, loc, loc)
    name = Loc(func.module, func.chunk, node.name_start, node.name_start + len(node.name.encode()))
    return Body(func.module, func.qualname, loc, name, func.owner is not None)


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
