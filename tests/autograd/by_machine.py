"""Scenarios on the machine's rooms of autograd and operators, with no text of a program and no interpreter.

python -m tests.autograd.by_machine             # the logs of all scenarios, and the rooms that were loaded, as JSON
python -m tests.autograd.by_machine NAME        # one scenario, to read
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from analyzers.domain.objects import VERSION_BASE, DictObj, ListObj, Tensor
from analyzers.domain.values import NONE, BoundBuiltin, Builtin, Const, GradMode, Native, Ref, SliceValue, Tup, Value
from analyzers.machine.autograd import backward, grad, hooks, requires_grad, views
from analyzers.machine.autograd.graph import grad_fn_names, refreshed
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.versions import bump, version_of
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine, apply_mode, restore_modes
from analyzers.machine.core.registries import CALLS
from analyzers.machine.operators import casts, composite_shapes, composites, derivatives
from analyzers.machine.operators.dispatch import call_torch
from analyzers.machine.operators.indexing import assign_index, index_tensor
from tests.autograd.api import UNKNOWN, Api, Entry, Handle
from tests.autograd.scenarios import SCENARIOS
from tests.support.alone import machine, rooms_loaded

TABLES_OF = (casts, composite_shapes, composites, derivatives)
"""What fills the tables of these rooms."""


def _method(m: Machine, called: Value, args: Args) -> Value:
    """Gradients are computed by calling methods of tensors, for which `libraries` answers in a whole machine."""
    assert isinstance(called, BoundBuiltin)
    return call_torch(m, f"Tensor.{called.name}", [called.receiver, *args.pos], args.kw)


class Rooms(Api):
    def __init__(self) -> None:
        super().__init__()
        self.m = machine()

    def raised_by(self, step: Callable[[], object]) -> Entry | None:
        try:
            step()
        except PyRaise as raised:
            cause = "" if raised.event is None else type(raised.event.cause).__name__
            return [raised.name, raised.message, cause]
        return None

    def described(self, tensor: Handle) -> dict[str, Any]:
        views.check_readable(self.m, tensor.id, "is_leaf")
        found = refreshed(self.m, tensor.id)
        names = grad_fn_names(self.m, found)
        version = version_of(self.m, found)
        return {
            "leaf": _known(found.is_leaf),
            "requires_grad": _known(found.requires_grad),
            "grad_fn": UNKNOWN if names is None else "|".join(names) or None,
            "version": UNKNOWN if version is None or version >= VERSION_BASE else None if found.inference else version,
            "shape": UNKNOWN if found.shape is None else [_known(size) for size in found.shape],
            "dtype": _known(found.dtype),
            "view": None if found.inference else found.base is not None,
            "inference": _known(found.inference),
        }

    def graph(self, tensor: Handle) -> Any:
        found = refreshed(self.m, tensor.id)
        if found.requires_grad and found.edge is None:
            return "AccumulateGrad"
        return self._tree(None if found.edge is None else found.edge.node)

    def _tree(self, ident: int | None) -> Any:
        if ident is None:
            return None
        node = self.m.node(ident)
        if node.kind == "unknown":
            return UNKNOWN
        edges = [edge for edge in node.edges if edge is not None]
        below = [self._tree(edge.node) if edge.node is not None else "AccumulateGrad" for edge in edges]
        return ["|".join(node.names), below]

    def grad_of(self, tensor: Handle) -> Any:
        held = refreshed(self.m, tensor.id).grad
        found = self.m.tensor(held)
        if found is None:
            return None if held == NONE else UNKNOWN
        assert found.shape is not None
        flag = found.requires_grad
        return [list(found.shape), _known(flag), UNKNOWN if flag is None else bool(flag and found.edge is not None)]

    def layout(self, tensor: Handle) -> Any:
        found = tensor_at(self.m, tensor.id)
        lies = views.layout_of(found)
        return UNKNOWN if lies is None else [list(lies.strides), lies.offset, found.contiguous]

    def same(self, one: Handle, other: Handle) -> Any:
        a, b = tensor_at(self.m, one.id), tensor_at(self.m, other.id)
        bump(self.m, one.id, "look")
        return [one == other, a.storage == b.storage, a.counter == b.counter]

    def missing(self, value: Handle) -> bool:
        return bool(value == NONE)

    def tensor(self, *sizes: int, grad: bool = False, dtype: str = "float32") -> Handle:
        return self.m.new_tensor(sizes, dtype, requires_grad=grad, what="ones")

    def dtype(self, name: str) -> Any:
        return Builtin(f"torch.{name}")

    def op(self, name: str, *args: Any, **named: Any) -> Any:
        name = name if name.startswith("torch.") else f"Tensor.{name}"
        made = call_torch(self.m, name, [self._value(a) for a in args], {k: self._value(v) for k, v in named.items()})
        return made.items if isinstance(made, Tup) else made

    def item(self, tensor: Handle, index: Any) -> Handle:
        return index_tensor(self.m, tensor, tensor_at(self.m, tensor.id), self._value(index))

    def set_item(self, tensor: Handle, index: Any, value: Any) -> None:
        assign_index(self.m, tensor, tensor_at(self.m, tensor.id), self._value(index), self._value(value))

    def flag(self, tensor: Handle, on: bool, *, method: bool = False) -> None:
        requires_grad.set_flag(self.m, tensor, on, method=method)

    def detach(self, tensor: Handle) -> Handle:
        return views.detach(self.m, tensor)

    def data(self, tensor: Handle) -> Handle:
        return views.data_of(self.m, tensor)

    def backward(
        self,
        *roots: Handle,
        gradient: Handle = None,
        retain: bool | None = None,
        create: bool = False,
        inputs: Sequence[Handle] | None = None,
    ) -> None:
        given = [(root, self._value(gradient)) for root in roots]
        backward.run_backward(self.m, given, create if retain is None else retain, create, inputs, "root")

    def grad(
        self,
        outputs: Sequence[Handle],
        inputs: Sequence[Handle],
        *,
        retain: bool | None = None,
        create: bool = False,
        unused: bool = False,
        materialize: bool = False,
    ) -> list[Handle]:
        return grad.differentiate(
            self.m, [(output, NONE) for output in outputs], inputs, create if retain is None else retain, create,
            unused or materialize, materialize, "root",
        )  # fmt: skip

    @contextmanager
    def mode(self, grad: bool, *, inference: bool = False) -> Iterator[None]:
        before = apply_mode(self.m, GradMode(grad, inference or "keep"))
        yield
        restore_modes(self.m.st, before)

    def hook(self, tensor: Handle, hook: Callable[[Handle], Handle]) -> None:
        self._enter(hooks.table_before(self.m, tensor), lambda given: hook(given) or NONE)

    def hook_after(self, leaf: Handle, hook: Callable[[Handle], None]) -> None:
        self._enter(hooks.table_after(self.m, leaf), lambda given: hook(given) or NONE)

    def _enter(self, table: Ref, hook: Callable[[Handle], Value]) -> None:
        self.m.indexes.gradients_are_seen = True
        found = self.m.obj(table)
        assert isinstance(found, DictObj)
        key = Const(len(found.order))
        self.m.st.put(table.id, replace(found, items=found.items.set(key, _native(hook)), order=(*found.order, key)))

    def retain_grad(self, tensor: Handle) -> None:
        self.m.st.update(tensor.id, Tensor, lambda t: replace(t, retains_grad=True))
        self.m.retain(tensor.id)

    @contextmanager
    def packing(self, pack: Callable[[Handle], Handle], unpack: Callable[[Handle], Handle]) -> Iterator[None]:
        before = self.m.st.saved_hooks, self.m.st.packing
        self.m.st.saved_hooks, self.m.st.packing = True, (_native(pack), _native(unpack))
        yield
        self.m.st.saved_hooks, self.m.st.packing = before

    def _value(self, given: Any) -> Value:
        match given:
            case tuple():
                return Tup(tuple(self._value(part) for part in given))
            case list():
                return self.m.new(ListObj(tuple(self._value(part) for part in given)))
            case slice():
                return SliceValue(self._value(given.start), self._value(given.stop), self._value(given.step))
            case None | bool() | int() | float() | str():
                return Const(given)
        if given is ...:
            return Const(given)
        made: Value = given
        return made


def _native(function: Callable[[Handle], Value]) -> Native:
    return Native("hook", lambda m, args: function(args.pos[0]), object())


def _known(value: Any) -> Any:
    return UNKNOWN if value is None else value


def main(names: Sequence[str]) -> None:
    CALLS.setdefault(BoundBuiltin, _method)
    logs = {name: Rooms().run(SCENARIOS[name]) for name in names or SCENARIOS}
    if names:
        for name, log in logs.items():
            print(name, *map(json.dumps, log), sep="\n  ")
    else:
        print(json.dumps({"rooms": rooms_loaded(), "logs": logs}))


if __name__ == "__main__":
    main(sys.argv[1:])
