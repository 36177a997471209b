"""Data parallel training: which parameters the last backward brought a gradient for.

Once one has arrived, the processes wait for all, and the next forward pass raises if some did not come:

    net = DistributedDataParallel(Net())     # Net has a layer that its forward pass does not use
    net(x).sum().backward()
    net(x)                                   # raises
"""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.objects import ListObj, Tensor
from analyzers.domain.values import FALSE, NONE, TRUE, Ref, Unknown, Value
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import answers
from analyzers.machine.core.signals import BackwardUnseen, LeavesReached, hears

_ARRIVED = "<arrived>"
"""The attribute of a parameter that tells whether a backward reached it since the last forward pass."""

UNFINISHED = "Expected to have finished reduction in the prior iteration before starting a new one."


@answers("autograd_machine.begin_reduction")
def _begin_reduction(m: Machine, args: Args) -> Value:
    """A forward pass of all `parameters` begins; with `checks` it refuses to if the last backward left some out."""
    found = m.obj(args.get(0, "parameters"))
    parameters = [item.id for item in found.items if isinstance(item, Ref)] if isinstance(found, ListObj) else []
    arrived = [tensor_at(m, ident).attrs.get(_ARRIVED, FALSE) for ident in parameters]
    missing = [ident for ident, came in zip(parameters, arrived, strict=True) if came == FALSE]
    if args.get(1, "checks") == TRUE and TRUE in arrived and missing:
        raise m.throw("RuntimeError", UNFINISHED, Plain(lineage=tensor_at(m, missing[0]).lineage))
    for ident in parameters:
        _set_arrived(m, ident, FALSE)
    return NONE


@hears(LeavesReached)
def _reached(m: Machine, signal: LeavesReached) -> None:
    for leaf, certain in signal.leaves.items():
        if tensor_at(m, leaf).shared_grad:
            _set_arrived(m, leaf, TRUE if certain else Unknown("bool"))


@hears(BackwardUnseen)
def _perhaps_reached(m: Machine, signal: BackwardUnseen) -> None:
    del signal
    for ident, tensor in m.st.made(Tensor):
        if tensor.shared_grad:
            _set_arrived(m, ident, Unknown("bool"))


def _set_arrived(m: Machine, ident: int, came: Value) -> None:
    m.st.update(ident, Tensor, lambda t: replace(t, attrs=t.attrs.set(_ARRIVED, came)))
