"""Loops that only look at what they go through: at the norms of gradients, or at weights that are logged.

    for name, p in net.named_parameters():
        histograms[name] = Histogram(p.grad)

Any other loop over parameters has to be run in full whenever it is met: each round leaves something of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.objects import DictObj, Env, HeapObject, Instance, ListObj, Tensor
from analyzers.domain.state import State, written_since
from analyzers.domain.values import Ref, Value


def only_looks(start: State, ends: Iterable[State]) -> bool:
    """Whether what was there as a loop began is as it was, but for variables and for what was noted of others than
    tensors. Nodes that were made are not seen."""
    return all(end.modes() == start.modes() and _is_as_it_was(start, end) for end in ends)


def _is_as_it_was(start: State, end: State) -> bool:
    written = written_since(end.log, start.log)
    if written is None:
        return False
    for ident in written:
        before, after = start.heap.get(ident), end.heap.get(ident)
        if before is None or after is None or before == after or isinstance(before, Env):
            continue
        noted = _held(after)
        if type(before) is not type(after) or noted is None:
            return False
        known = set(_held(before) or ())
        if any(isinstance(value, Ref) and isinstance(end.heap.get(value.id), Tensor) for value in noted - known):
            return False
    return True


def _held(found: HeapObject) -> set[Value] | None:
    match found:
        case ListObj():
            return {*found.items, *([] if found.rest is None else [found.rest])}
        case DictObj():
            return {*found.values, *([] if found.rest is None else [found.rest])}
        case Instance():
            return set(found.attrs.values())
    return None
