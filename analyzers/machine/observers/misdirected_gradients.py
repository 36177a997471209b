"""Gradients that arrive in the wrong place: in target networks, and in leaves that were cut off.

A target network, such as a teacher that is a running mean, is not trained, so it should receive no gradient.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Storage, Tensor
from analyzers.machine.autograd.tensors import Moment
from analyzers.machine.core.causes import Site
from analyzers.machine.core.events import EndedAtCut, FollowerReached, StaleBackward
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.signals import LeafReached, LeavesReached, Loaded, WriteBegins, hears

NEAR = 12
MIXING = frozenset({"mul", "*", "rmul", "add", "+", "sub", "lerp", "div", "/", "detach", "data", "to", "clone"})
"""Operators that the values of a weighted mean go through."""


class TargetNetworks:
    """Networks that follow trained ones, and where backwards reached leaves."""

    def __init__(self) -> None:
        self.trained: set[Lineage] = set()
        """The trails of parameters held by optimizers."""
        self.storages: set[int] = set()
        """The memory of parameters that were written from trained ones."""
        self.leaders: dict[int, set[Lineage]] = {}
        """By the memory of a parameter that an optimizer holds: the other ones from which it is written as well, after
        some backward."""
        self.reached: dict[tuple[int, int], tuple[Moment, Site]] = {}
        """The state of a leaf's memory when a backward first reached it from a node, and that backward."""


@hears(WriteBegins)
def _look_at_copy(m: Machine, signal: WriteBegins) -> None:
    """A tensor is written: if it shares a parameter's memory, and a trained parameter went into the new value, it is a
    follower. What an optimizer holds itself, and is written from itself, follows nobody."""
    tensor = m.st.find(signal.ident)
    if not isinstance(tensor, Tensor):
        return
    if m.test(_is_trained, tensor.lineage):
        _look_for_leaders(m, tensor, signal.parents)
    elif m.test(_copies, signal.parents):
        m.effect(_add_storage, tensor.storage)


def _is_trained(m: Machine, lineage: Lineage | None) -> bool:
    return lineage in m.notebook(TargetNetworks, told=True).trained


def _copies(m: Machine, parents: tuple[Lineage, ...]) -> bool:
    """Whether a trained parameter went into a value a few steps back."""
    trained = m.notebook(TargetNetworks, told=True).trained
    queue = list(parents) if trained else []
    for step in queue:
        if step in trained:
            return True
        if len(queue) < NEAR:
            queue.extend(step.parents)
    return False


def _add_storage(m: Machine, storage: int) -> None:
    m.notebook(TargetNetworks, told=True).storages.add(storage)


def _look_for_leaders(m: Machine, tensor: Tensor, parents: Iterable[Lineage]) -> None:
    """A parameter that an optimizer holds is written: another one whose values are mixed into it is its leader. One
    that is known to follow is not looked at again."""
    notebook = m.notebook(TargetNetworks)
    if tensor.storage in notebook.storages:
        return
    queue = list(parents) if notebook.reached else []
    for step in queue:
        if step in notebook.trained:
            if step is not tensor.lineage:
                notebook.leaders.setdefault(tensor.storage, set()).add(step)
        elif step.what in MIXING and len(queue) < NEAR:
            queue.extend(step.parents)


@hears(Loaded)
def _follow(m: Machine, signal: Loaded) -> None:
    tensor, lineage = m.tensor(signal.target), m.lineage(signal.source)
    if tensor is not None and lineage is not None and lineage is not tensor.lineage:
        m.notebook(TargetNetworks).storages.add(tensor.storage)


@hears(LeavesReached)
def _leaves_reached(m: Machine, signal: LeavesReached) -> None:
    _note_cut_leaves(m, signal.leaves)
    _note_followers(m, signal.users)


def _note_followers(m: Machine, users: Mapping[int, int]) -> None:
    """A backward has reached leaves, from the nodes `users`: report the followers among them."""
    reached = {leaf: tensor for leaf in users if isinstance(tensor := m.st.find(leaf), Tensor) and tensor.parameter}
    storages, leaders = m.notebook(TargetNetworks).storages, m.notebook(TargetNetworks).leaders
    found: list[int] = []
    for leaf, tensor in reached.items():
        copied = tensor.lineage is not None and tensor.lineage.what == "deepcopy"
        if copied or tensor.storage in storages:
            found.append(leaf)
    trails = {tensor.lineage for tensor in reached.values() if tensor.lineage is not None} if leaders else set()
    led = [leaf for leaf, tensor in reached.items() if not trails.isdisjoint(leaders.get(tensor.storage, ()))]
    for leaves, trained in ((found, False), (led, True)):
        if leaves:
            m.note(FollowerReached(m.site(), tuple(leaves), tuple(m.node(users[leaf]) for leaf in leaves), trained))


COPIES = frozenset({"leaf-copy", "no-grad", "inference", "rewrapped"})
"""Cuts after which a tensor says that it requires grad."""


def _note_cut_leaves(m: Machine, leaves: Iterable[int]) -> None:
    """A backward has reached `leaves`: report those that were cut off from other leaves."""
    starts: dict[Lineage, list[int]] = {}
    for leaf in leaves:
        tensor = m.st.find(leaf)
        if isinstance(tensor, Tensor) and tensor.lineage is not None and tensor.lineage.cut in COPIES:
            starts = starts or _leaves_by_trail(m)
            lineage = tensor.lineage
            steps = {step for step in lineage.walk() if step is not lineage}
            sources = sorted(ident for step in steps for ident in starts.get(step, ()))
            if sources:
                m.note(EndedAtCut(m.site(), leaf, lineage, tuple(sources)))


def _leaves_by_trail(m: Machine) -> dict[Lineage, list[int]]:
    """The leaves that require grad, by their trails."""
    found: dict[Lineage, list[int]] = {}
    for ident, tensor in m.st.made(Tensor):
        if tensor.requires_grad is True and tensor.edge is None and tensor.lineage is not None:
            found.setdefault(tensor.lineage, []).append(ident)
    return found


@hears(LeafReached)
def _met_again(m: Machine, signal: LeafReached) -> None:
    """Report a leaf that was written after an earlier backward reached it from the same node."""
    node, leaf = signal.node, signal.leaf
    tensor = m.st.find(leaf)
    storage = m.st.find(tensor.storage) if isinstance(tensor, Tensor) else None
    if not isinstance(tensor, Tensor) or not isinstance(storage, Storage):
        return
    now = (tensor.storage, storage.count)
    before = m.notebook(TargetNetworks).reached.get((node, leaf))
    if before is None:
        m.notebook(TargetNetworks).reached[node, leaf] = (now, m.site())
    elif before[0] != now and storage.last is not None:
        m.note(StaleBackward(m.site(), before[1], storage.last, m.node(node)))
