"""Records one run: the value of every name, attribute, call and statement of a file.

States are persistent, so a *moment* costs no more than what was written since the one before. Of each spot in the text
two things are kept: what is known of its tensor over all visits, and one moment to look into when somebody asks, the
last that is known well. A round of a loop that stands for many others is less well known than a real one.

    for x in loader:
        h = torch.tanh(h @ w)      # of `h`: its facts in all rounds, and the moment of the last real round
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from analyzers.domain.join import join_shapes
from analyzers.domain.lineage import Loc, is_blurred
from analyzers.domain.objects import VERSION_BASE, Counter, Shape, Tensor
from analyzers.domain.state import State
from analyzers.domain.truth import Truth
from analyzers.domain.values import NONE, Builtin, Func, Ref, Tup, Unknown, Value
from analyzers.graph.counting import counts_as_torch
from analyzers.machine.assembly import Made, run_module, run_unknown
from analyzers.machine.autograd.graph import grad_fn_names, refreshed
from analyzers.machine.core.budget import Limits
from analyzers.machine.core.choices import Path
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame
from analyzers.machine.core.probe import Probe
from analyzers.machine.core.program import ModuleRun, Program
from analyzers.syntax import nodes as n

MOST = 12_000
"""Spots of which moments are kept; of those that a longer file has beyond, only facts are."""

Kind: TypeAlias = Literal["read", "bound", "call", "statement"]

Rank: TypeAlias = tuple[bool, bool, bool]
"""How well a moment is known: whether there is a tensor, in a real round, and with a graph."""

Mode: TypeAlias = Literal["on", "off", "inference", "?"]

LOWEST: Rank = (False, False, False)

Facts: TypeAlias = "tuple[Truth, Truth, tuple[str, ...] | None, Shape, str | None, int | None]"
"""`requires_grad`, `is_leaf`, `grad_fn`, shape, dtype and version; each None where it is not known."""

FIELDS = ("requires_grad", "is_leaf", "grad_fn", "shape", "dtype", "version")
NOTHING: Facts = (None, None, None, None, None, None)


@dataclass(slots=True)
class Moment:
    """A state, and where in the program it was: `value` is what the spot gave, `before` the state that led there.

    Of a call that has never returned it is the state in which it began, and there is nothing before.
    """

    state: State
    env: int
    value: Value
    func: Value | None = None
    before: State | None = None


@dataclass(slots=True)
class Spot:
    """A name, an attribute, a call or a statement. `known`, `differs` and `modes` are over all visits; `rank` is the
    moment's."""

    node: n.Node
    chunk: str
    scope: str
    known: Facts | None = None
    differs: frozenset[str] = frozenset()
    moment: Moment | None = None
    rank: Rank = LOWEST
    modes: set[Mode] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Recording:
    """What one run came by in the file `path`, by chunk and kind; the machine that made it reads its moments.

    `counted` is by version counter.
    """

    path: str
    machine: Machine | None = None
    spots: dict[tuple[str, Kind], dict[tuple[int, int], Spot]] = field(default_factory=dict)
    counted: dict[int, bool] = field(default_factory=dict)

    def is_counted(self, tensor: Tensor) -> bool:
        """Whether torch's version of a tensor is the machine's."""
        if tensor.counter not in self.counted:
            self.counted[tensor.counter] = tensor.inference is False and counts_as_torch(tensor.lineage)
        return self.counted[tensor.counter]

    def around(self, chunk: str, kind: Kind, offset: int) -> Spot | None:
        """The narrowest spot at a place in a chunk."""
        found = self.spots.get((chunk, kind), {})
        return min(
            (spot for (start, end), spot in found.items() if start <= offset <= end),
            key=lambda spot: spot.node.end - spot.node.start,
            default=None,
        )

    @contextmanager
    def at(self, spot: Spot, moment: Moment) -> Iterator[Machine]:
        """The machine as it was at a moment; what it does to that state is forgotten."""
        m = self.machine
        assert m is not None
        m.st = moment.state.fork()
        m.extent.frames = [Frame(self.path, spot.chunk, spot.scope, moment.env, None, False, spot.node, spot.node)]
        m.extent.path = Path(())
        yield m


UNCOUNTED = frozenset({"torch.autograd.grad", "copy.copy", "copy.deepcopy"})
"""What torch may have written by the time it gives it, so that nobody knows its version."""


class Recorder(Probe):
    """Writes down what a run comes by in one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.recording = Recording(path)
        self.kept = 0
        self.begun: dict[tuple[int, int, int], tuple[State, Value]] = {}

    def read(self, m: Machine, node: n.Node, value: Value) -> None:
        self._name(m, "read", node, value)

    def bound(self, m: Machine, target: n.Node, value: Value) -> None:
        self._name(m, "bound", target, value)

    def calls(self, m: Machine, node: n.Call, func: Value) -> None:
        here = self._is_here(m)
        if not here and not _is_uncounted(func):
            return
        begun = m.st.fork()
        self.begun[len(m.extent.frames), node.start, node.end] = begun, func
        if here:
            spot = self._spot(m, "call", node)
            if spot.moment is None:
                self._keep(m, spot, LOWEST, Moment(begun, m.frame.env, NONE, func))

    def called(self, m: Machine, node: n.Call, result: Value) -> None:
        begun = self.begun.pop((len(m.extent.frames), node.start, node.end), None)
        if begun is None:
            return
        before, func = begun
        if _is_uncounted(func):
            values = result.items if isinstance(result, Tup) else (result,)
            self.recording.counted.update(
                {found.counter: False for found in map(m.tensor, values) if found is not None}
            )
        if not self._is_here(m):
            return
        spot = self._spot(m, "call", node)
        self._note(m, spot, result)
        after = Moment(m.st.fork(), m.frame.env, result, func, before)
        self._keep(m, spot, (True, _is_real(m), True), after)

    def done(self, m: Machine, statement: n.Node, before: State) -> None:
        if self._is_here(m) and before.log is not m.st.log:
            spot = self._spot(m, "statement", statement)
            now = Moment(m.st.fork(), m.frame.env, NONE, None, before)
            self._keep(m, spot, (True, _is_real(m), True), now)

    def _is_here(self, m: Machine) -> bool:
        return not m.frame.library and m.frame.module == self.path

    def _name(self, m: Machine, kind: Kind, node: n.Node, value: Value) -> None:
        if not self._is_here(m):
            return
        spot = self._spot(m, kind, node)
        known = self._note(m, spot, value)
        rank = (known is not None, _is_real(m), known is not None and known[0] is not False)
        if rank >= spot.rank:
            self._keep(m, spot, rank, Moment(m.st.fork(), m.frame.env, value))

    def _spot(self, m: Machine, kind: Kind, node: n.Node) -> Spot:
        spots = self.recording.spots.setdefault((m.frame.chunk, kind), {})
        key = (node.start, node.end)
        found = spots.get(key)
        if found is None:
            found = spots[key] = Spot(node, m.frame.chunk, m.frame.qualname)
        found.modes.add(mode_in(m.st))
        return found

    def _keep(self, m: Machine, spot: Spot, rank: Rank, moment: Moment) -> None:
        self.recording.machine = m
        if rank < spot.rank or (spot.moment is None and self.kept >= MOST):
            return
        self.kept += spot.moment is None
        spot.moment, spot.rank = moment, rank

    def _note(self, m: Machine, spot: Spot, value: Value) -> Facts | None:
        known = facts_of(m, value, self.recording.is_counted)
        if known is None:
            # On this visit it may be anything.
            if isinstance(value, Unknown) and value.type is None:
                spot.known = NOTHING
            return None
        spot.known, differing = (known, ()) if spot.known is None else _joined(spot.known, known)
        spot.differs |= frozenset(differing)
        return known


def _is_uncounted(func: Value) -> bool:
    return isinstance(func, Builtin) and func.name in UNCOUNTED


def mode_in(state: State) -> Mode:
    if state.inference:
        return "inference"
    return "?" if state.grad is None or state.inference is None else "on" if state.grad else "off"


def _is_real(m: Machine) -> bool:
    return not any(is_blurred(index) for _, index in m.extent.iterations)


def facts_of(m: Machine, value: Value, is_counted: Callable[[Tensor], bool]) -> Facts | None:
    """What is known of a tensor now; None of anything else. A look leaves the state as it was."""
    tensor = m.tensor(value)
    if tensor is None or not isinstance(value, Ref):
        return None
    state, path = m.st, m.extent.path
    if tensor.base is not None:
        m.st, m.extent.path = state.fork(), Path(())
    try:
        return _facts(m, refreshed(m, value.id), is_counted)
    finally:
        m.st, m.extent.path = state, path


def _facts(m: Machine, tensor: Tensor, is_counted: Callable[[Tensor], bool]) -> Facts:
    counter = m.st.get(tensor.counter)
    version = counter.version if isinstance(counter, Counter) else None
    if version is not None and (version >= VERSION_BASE or not is_counted(tensor)):
        version = None
    names = grad_fn_names(m, tensor)
    return tensor.requires_grad, tensor.is_leaf, names, tensor.shape, tensor.dtype, version


def _joined(a: Facts, b: Facts) -> tuple[Facts, list[str]]:
    """What holds of both, and what is known of both and differs."""
    if a == b:
        return a, []
    differing = [name for name, x, y in zip(FIELDS, a, b, strict=True) if x is not None and y is not None and x != y]
    grad_fn = a[2] if a[2] == b[2] else tuple(sorted({*a[2], *b[2]})) if a[2] and b[2] else None
    if grad_fn is not None and "grad_fn" in differing:
        differing.remove("grad_fn")
    joined = (
        a[0] if a[0] is b[0] else None,
        a[1] if a[1] is b[1] else None,
        grad_fn,
        join_shapes(a[3], b[3]),
        a[4] if a[4] == b[4] else None,
        a[5] if a[5] == b[5] else None,
    )
    return joined, differing


def record_module(
    program: Program, path: str, *, presume: bool = False, attached: frozenset[Loc] = frozenset()
) -> Recording:
    """Run a file as a script, with a recorder."""
    recorder = Recorder(path)
    run_module(program, path, main=True, limits=Limits(), probe=recorder, presume=presume, attached=attached)
    return recorder.recording


def record_function(
    program: Program,
    run: ModuleRun,
    func: Func,
    made: Made | None,
    *,
    presume: bool = False,
    attached: frozenset[Loc] = frozenset(),
) -> Recording:
    """Run a function that nobody calls, with a recorder."""
    recorder = Recorder(func.module)
    run_unknown(program, run, func, made, probe=recorder, presume=presume, attached=attached)
    return recorder.recording
