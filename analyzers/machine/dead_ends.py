"""Gradient that comes where it is of no use: to a copy that looks like a part of the graph, or to an outdated leaf."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Storage, Tensor
from analyzers.machine.core import Machine
from analyzers.machine.events import EndedAtCut, StaleBackward

COPIES = frozenset({"leaf-copy", "no-grad", "inference", "rewrapped"})
"""Cuts after which a tensor says that it requires grad."""


def note_cut_leaves(m: Machine, leaves: Iterable[int]) -> None:
    """A backward has come to `leaves`: tell of those that were cut off from leaves of their own."""
    for leaf in leaves:
        tensor = m.st.find(leaf)
        if isinstance(tensor, Tensor) and tensor.lineage is not None and tensor.lineage.cut in COPIES:
            sources = _leaves_in(m, tensor.lineage)
            if sources:
                m.note(EndedAtCut(m.site(), leaf, tensor.lineage, sources))


def _leaves_in(m: Machine, lineage: Lineage) -> tuple[int, ...]:
    """The leaves with gradient that a trail starts from."""
    trail = {id(step) for step in lineage.walk()}
    return tuple(
        ident
        for ident, found in m.st.heap.items()
        if isinstance(found, Tensor)
        and found.requires_grad is True
        and found.edge is None
        and found.lineage is not lineage
        and id(found.lineage) in trail
    )


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
