"""Gradient that comes where it is of no use: to a copy that looks like a part of the graph, or to an outdated leaf."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.objects import Storage, Tensor
from analyzers.machine.core import Machine
from analyzers.machine.events import EndedAtCut, StaleBackward

COPIES = frozenset({"leaf-copy", "no-grad", "inference", "rewrapped"})
"""Cuts after which a tensor says that it requires grad."""


def note_cut_leaves(m: Machine, leaves: Iterable[int]) -> None:
    """A backward has come to `leaves`: tell of those that were cut off from leaves of their own."""
    starts: dict[int, list[int]] = {}
    for leaf in leaves:
        tensor = m.st.find(leaf)
        if isinstance(tensor, Tensor) and tensor.lineage is not None and tensor.lineage.cut in COPIES:
            starts = starts or _leaves_by_trail(m)
            lineage = tensor.lineage
            steps = {id(step) for step in lineage.walk() if step is not lineage}
            sources = sorted(ident for step in steps for ident in starts.get(step, ()))
            if sources:
                m.note(EndedAtCut(m.site(), leaf, lineage, tuple(sources)))


def _leaves_by_trail(m: Machine) -> dict[int, list[int]]:
    """The leaves with gradient, by the identity of the trail that each starts."""
    found: dict[int, list[int]] = {}
    for ident, tensor in m.st.heap.items():
        if isinstance(tensor, Tensor) and tensor.requires_grad is True and tensor.edge is None:
            found.setdefault(id(tensor.lineage), []).append(ident)
    return found


def met_again(m: Machine, node: int, leaf: int) -> None:
    """A backward comes to a leaf from a node: note it when the leaf was written since an earlier one came so."""
    tensor = m.st.find(leaf)
    storage = m.st.find(tensor.storage) if isinstance(tensor, Tensor) else None
    if not isinstance(tensor, Tensor) or not isinstance(storage, Storage):
        return
    now = (tensor.storage, storage.count)
    before = m.met_leaves.get((node, leaf))
    if before is None:
        m.met_leaves[node, leaf] = (now, m.site())
    elif before[0] != now and storage.last is not None:
        m.note(StaleBackward(m.site(), before[1], storage.last, m.node(node)))
