"""Networks that follow a trained one: deep copies of it, and those whose parameters are written with its parameters.

A target network, a teacher that is a running mean: nobody trains them, so no gradient should come to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Tensor
from analyzers.domain.values import Value
from analyzers.machine.core import Machine
from analyzers.machine.events import FollowerReached

NEAR = 12


def look_at_copy(m: Machine, ident: int, parents: Sequence[Lineage]) -> None:
    """A tensor is written: if that is a parameter's memory, and a trained parameter is in it, the one follows."""
    tensor = m.st.find(ident)
    if not m.trained_trails or not isinstance(tensor, Tensor) or tensor.storage in m.followers:
        return
    queue = list(parents)
    for step in queue:
        if id(step) in m.trained_trails:
            m.followers.add(tensor.storage)
            return
        if len(queue) < NEAR:
            queue.extend(step.parents)


def follow(m: Machine, target: Value, source: Value) -> None:
    """A parameter is loaded from another."""
    tensor, lineage = m.tensor(target), m.lineage(source)
    if tensor is not None and lineage is not None and lineage is not tensor.lineage:
        m.followers.add(tensor.storage)


def note_followers(m: Machine, users: Mapping[int, int]) -> None:
    """A backward has come to leaves, from the nodes `users`: tell of the followers among them."""
    found: list[int] = []
    for leaf in users:
        tensor = m.st.find(leaf)
        if isinstance(tensor, Tensor) and tensor.parameter:
            copied = tensor.lineage is not None and tensor.lineage.what == "deepcopy"
            if copied or tensor.storage in m.followers:
                found.append(leaf)
    if found:
        m.note(FollowerReached(m.site(), tuple(found), m.node(users[found[-1]])))
