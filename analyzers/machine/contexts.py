"""Context managers: what entering one changes, and what leaving it puts back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from immutables import Map

from analyzers.domain.objects import Generator, Instance
from analyzers.domain.state import State
from analyzers.domain.values import NONE, Builtin, Const, GradMode, Ref, Tup, Unknown, Value
from analyzers.machine.core import Machine, PyRaise

if TYPE_CHECKING:
    from analyzers.machine.statements import Flow

MODES: dict[str, GradMode] = {
    "torch.no_grad": GradMode(grad=False),
    "torch.enable_grad": GradMode(grad=True),
    "torch.inference_mode": GradMode(grad=False, inference=True),
}
"""The grad modes that a manager's class alone decides."""

EXPECTING = frozenset({"pytest.raises", "unittest.assertRaises"})


Modes: TypeAlias = "tuple[bool | None, bool | None, str | None]"
"""Grad mode, inference mode, and what autocast converts to."""


@dataclass(slots=True)
class Guard:
    """What to undo when the block is left: `restore` are the modes before; `manager` has an `__exit__` to call."""

    restore: Modes | None = None
    manager: Value | None = None
    hooks: tuple[bool | None, tuple[Value, Value] | None] | None = None
    swallows: bool = False
    only: tuple[str, ...] = ()
    expects: bool = False
    generator: Generator | None = None
    attrs: dict[str, Value] = field(default_factory=dict)


def mode_of(m: Machine, manager: Value) -> GradMode | None:
    """The grad mode that a manager stands for."""
    found = m.obj(manager)
    if isinstance(found, Instance) and isinstance(found.cls, str):
        own = found.attrs.get("mode")
        if found.cls == "torch.inference_mode":
            if isinstance(own, Const):
                return MODES[found.cls] if own.value else GradMode(grad=True, inference=False)
            return MODES[found.cls] if own is None else GradMode(grad=None, inference=None)
        if found.cls in {"torch.set_grad_enabled", "torch.autograd.set_grad_enabled"}:
            return GradMode(grad=bool(own.value) if isinstance(own, Const) else None)
        if found.cls == "torch.autocast":
            casting = found.attrs.get("casting")
            known = casting.value if isinstance(casting, Const) else "?"
            return GradMode(casting=known if known is None or isinstance(known, str) else "?")
        return MODES.get(found.cls)
    return None


def apply_mode(m: Machine, mode: GradMode) -> Modes:
    """Switch the modes; gives those before."""
    before = (m.st.grad, m.st.inference, m.st.casting)
    if mode.inference != "keep":
        m.st.inference = mode.inference
    if mode.grad != "keep":
        m.st.grad = mode.grad
    if mode.casting != "keep":
        m.st.casting = mode.casting
    return before


def restore_modes(state: State, before: Modes) -> None:
    """Back to the modes before; what autocast has kept goes with the outermost one."""
    state.grad, state.inference, state.casting = before
    if state.casting is None:
        state.casts = Map()


def enter_context(m: Machine, manager: Value) -> tuple[Guard, Value]:
    mode = mode_of(m, manager)
    found = m.obj(manager)
    if mode is not None and isinstance(found, Instance):
        before = apply_mode(m, mode)
        previous = found.attrs.get("previous")
        if isinstance(previous, Tup):
            first, second = previous.items
            before = (_truth(first), _truth(second), m.st.casting)
        return Guard(restore=before), NONE
    if isinstance(found, Generator):
        return Guard(generator=found), NONE
    if isinstance(found, Instance):
        if isinstance(found.cls, str):
            return _library_context(m, found)
        from analyzers.machine.attributes import find_in_class
        from analyzers.machine.calls import Args, call_method

        if find_in_class(m, found.cls, "__enter__") is not None:
            value = call_method(m, manager, "__enter__", Args([], {}))
            return Guard(manager=manager), value
        return Guard(), manager
    if isinstance(manager, Builtin) and manager.name in {"torch.no_grad", "torch.enable_grad", "torch.inference_mode"}:
        raise m.throw("TypeError", "'type' object does not support the context manager protocol")
    return Guard(), manager if isinstance(manager, Ref) else Unknown()


def _truth(value: Value) -> bool | None:
    return bool(value.value) if isinstance(value, Const) else None


def _library_context(m: Machine, found: Instance) -> tuple[Guard, Value]:
    cls = str(found.cls)
    if cls == "contextlib.nullcontext":
        return Guard(), found.attrs.get("value", NONE)
    if cls in EXPECTING:
        return Guard(expects=True, swallows=True), Unknown()
    if cls == "contextlib.suppress":
        return Guard(swallows=True), NONE
    if cls == "torch.saved_tensors_hooks":
        outside = (m.st.saved_hooks, m.st.packing)
        m.st.saved_hooks = True
        pack, unpack = found.attrs.get("pack"), found.attrs.get("unpack")
        m.st.packing = None if pack is None or unpack is None else (pack, unpack)
        return Guard(hooks=outside), NONE
    return Guard(), Unknown()


def leave_context(m: Machine, guard: Guard, step: Flow) -> Flow:
    """Undo what entering did, on every way out of the block."""
    from analyzers.machine.statements import Flow

    out = Flow()

    def leave(state: State) -> State:
        m.st = state.fork()
        if guard.restore is not None:
            restore_modes(m.st, guard.restore)
        if guard.hooks is not None:
            m.st.saved_hooks, m.st.packing = guard.hooks
        if guard.manager is not None:
            from analyzers.machine.calls import Args, call_method

            try:
                call_method(m, guard.manager, "__exit__", Args([NONE, NONE, NONE], {}))
            except PyRaise as raised:
                out.raises.append((m.st, raised.drop_frames()))
        return m.st

    out.normal += [leave(x) for x in step.normal]
    out.breaks += [leave(x) for x in step.breaks]
    out.continues += [leave(x) for x in step.continues]
    out.returns += [(leave(x), v) for x, v in step.returns]
    for state, raised in step.raises:
        if guard.swallows:
            if raised.event is not None:
                raised.event.caught = not guard.expects
            out.normal.append(leave(state))
        else:
            out.raises.append((leave(state), raised))
    return out
