"""Context managers: what entering one changes, and what leaving it restores."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.domain.objects import Generator, Instance
from analyzers.domain.state import State
from analyzers.domain.truth import Truth
from analyzers.domain.values import NONE, Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import used_unseen
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine, Modes, apply_mode, lose_modes, restore_modes
from analyzers.machine.core.registries import EXPECTING, MODES, mode_of, packing_of
from analyzers.machine.interpreter.flow import Flow, run_choices
from analyzers.machine.objects.attributes import call_method, get_attribute
from analyzers.machine.objects.classes import find_in_class
from analyzers.machine.objects.exceptions import exception_object
from analyzers.machine.objects.truth import truth_of
from analyzers.syntax import nodes as n


@dataclass(slots=True)
class Guard:
    """What to undo on leaving the block: `restore` are the previous modes; `manager` has an `__exit__` to call."""

    restore: Modes | None = None
    manager: Value | None = None
    hooks: tuple[bool | None, tuple[Value, Value] | None] | None = None
    swallows: Truth = False
    only: tuple[str, ...] = ()
    expects: bool = False
    generator: Generator | None = None
    attrs: dict[str, Value] = field(default_factory=dict)


def enter_context(m: Machine, manager: Value) -> tuple[Guard, Value]:
    mode = mode_of(m, manager)
    found = m.obj(manager)
    if mode is not None and isinstance(found, Instance):
        before = apply_mode(m, mode)
        return Guard(restore=_previous(m, manager) or before), NONE
    if isinstance(found, Generator):
        return Guard(generator=found), NONE
    if isinstance(found, Instance):
        if isinstance(found.cls, str):
            return _library_context(m, found)
        if find_in_class(m, found.cls, "__enter__") is not None:
            value = call_method(m, manager, "__enter__", Args([], {}))
            return Guard(manager=manager), value
        return Guard(), manager
    if isinstance(manager, Builtin) and manager.name in MODES:
        raise m.throw("TypeError", "'type' object does not support the context manager protocol")
    if isinstance(manager, Unknown):
        used_unseen(m, manager, "__enter__", "__exit__")
        outside = lose_modes(m) if m.st.switches_out else None
        if any(_previous(m, Ref(ident)) is not None for ident in manager.reach):
            outside = (m.st.grad, m.st.inference, m.st.casting)
        return Guard(restore=outside, hooks=_perhaps_packing(m, manager), swallows=None), Unknown()
    return Guard(), manager if isinstance(manager, Ref) else Unknown()


def _perhaps_packing(m: Machine, manager: Unknown) -> tuple[bool | None, tuple[Value, Value] | None] | None:
    """An unknown manager may be, or use, a known one that puts something else in the place of what is saved."""
    held = [m.st.find(ident) for ident in manager.reach]
    known = [
        found
        for found in held
        if isinstance(found, Generator) or (isinstance(found, Instance) and packing_of(found) is not None)
    ]
    if not known or m.config.presumes:
        return None
    outside = (m.st.saved_hooks, m.st.packing)
    m.st.saved_hooks = None
    return outside


def _previous(m: Machine, manager: Value) -> Modes | None:
    """The modes that a `set_grad_enabled` found when it was made: leaving it restores these, not those at its entry."""
    found = m.obj(manager)
    match found.attrs.get("previous") if isinstance(found, Instance) and mode_of(m, manager) is not None else None:
        case Tup(items=(grad, inference)):
            return _truth(grad), _truth(inference), m.st.casting
        case Unknown():
            return None, None, m.st.casting
    return None


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
    packing = packing_of(found)
    if packing is not None:
        outside = (m.st.saved_hooks, m.st.packing)
        m.st.saved_hooks = True
        pack, unpack = packing
        m.st.packing = None if pack is None or unpack is None else (pack, unpack)
        return Guard(hooks=outside), NONE
    return Guard(), Unknown()


def leave_context(m: Machine, node: n.Node, guard: Guard, step: Flow) -> Flow:
    """Undo the effects of entering `node`, on every way out of the block. Where `__exit__` raises, a way ends."""
    out = Flow()

    def leave(state: State, raised: PyRaise | None = None) -> list[tuple[State, Truth]]:
        """The states outside, and whether the exception is swallowed there."""
        state = state.fork()
        if guard.restore is not None:
            restore_modes(state, guard.restore)
        if guard.hooks is not None:
            state.saved_hooks, state.packing = guard.hooks
        manager = guard.manager
        if manager is None:
            return [(state, guard.swallows)]
        results: list[Value] = []
        left: list[tuple[State, Truth]] = []

        def run() -> None:
            results.append(call_method(m, manager, "__exit__", Args(_described(m, raised))))

        run_choices(m, node, state, run, lambda: left.append((m.st, truth_of(m, results[-1])[0])), out)
        return left

    for inside, outside in ((step.normal, out.normal), (step.breaks, out.breaks), (step.continues, out.continues)):
        outside += [left for state in inside for left, _ in leave(state)]
    out.returns += [(left, value) for state, value in step.returns for left, _ in leave(state)]
    kinds: set[str] = set()
    for state, raised in step.raises:
        for left, swallows in leave(state, raised):
            if swallows is not True:
                out.raises.append((left.fork() if swallows is None else left, raised))
            if swallows is not False:
                if raised.event is not None and (swallows or guard.manager is not None):
                    raised.event.caught = not guard.expects
                # It is hardly meant that whoever nobody sees swallows anything: of each class, one way goes on.
                if swallows or guard.manager is not None or raised.name not in kinds:
                    out.normal.append(left)
                kinds.add(raised.name)
    return out


def _described(m: Machine, raised: PyRaise | None) -> list[Value]:
    """What `__exit__` is told of an exception: its class, the exception, the traceback."""
    if raised is None:
        return [NONE, NONE, NONE]
    value = exception_object(m, raised)
    return [get_attribute(m, value, "__class__"), value, Unknown()]
