"""Hooks on tensors: `register_hook` and related methods."""

from __future__ import annotations

from analyzers.domain.values import Ref, Value
from analyzers.machine.autograd.graph import refreshed
from analyzers.machine.autograd.hooks import table_after, table_before
from analyzers.machine.autograd.likely_tensors import has_no_graph
from analyzers.machine.autograd.views import check_readable
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.causes import Plain
from analyzers.machine.core.library_names import outside
from analyzers.machine.core.machine import Machine
from analyzers.machine.libraries.torch.tensor_attributes import method
from analyzers.machine.objects.attributes import get_attribute
from analyzers.machine.objects.subscripts import set_item


def add_hook(m: Machine, table: Ref, hook: Value) -> Value:
    """Add a hook to a table; returns the handle that removes it."""
    m.indexes.gradients_are_seen = True
    handle = call(m, outside(m, "torch.utils.hooks.RemovableHandle"), Args([table]))
    set_item(m, table, get_attribute(m, handle, "id"), hook)
    return handle


@method("register_hook")
def _register_hook(m: Machine, owner: Ref, args: Args) -> Value:
    _check_hookable(m, owner)
    return add_hook(m, table_before(m, owner), args.get(0, "hook"))


@method("register_post_accumulate_grad_hook")
def _register_hook_after(m: Machine, owner: Ref, args: Args) -> Value:
    _check_hookable(m, owner)
    tensor = refreshed(m, owner.id)
    if tensor.is_leaf is False:
        raise m.throw(
            "RuntimeError",
            "post accumulate grad hooks cannot be registered on non-leaf tensors",
            Plain("", tensor.lineage),
        )
    return add_hook(m, table_after(m, owner), args.get(0, "hook"))


def _check_hookable(m: Machine, owner: Ref) -> None:
    tensor = refreshed(m, owner.id)
    if has_no_graph(m, tensor):
        raise m.throw(
            "RuntimeError",
            "cannot register a hook on a tensor that doesn't require gradient",
            Plain("", tensor.lineage),
        )
    check_readable(m, owner.id, "register_hook")
