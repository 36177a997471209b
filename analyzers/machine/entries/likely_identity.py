"""What an unknown call returns of what it was passed.

`model = compile(model)`, `net = wrap(Net())`, `model, optimizer = prepare(model, optimizer)`: whatever such calls do,
in a presumed run their result is used as the module or optimizer that they were passed.
"""

from __future__ import annotations

from collections.abc import Callable

from analyzers.domain.objects import DictObj, Instance
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.machine.autograd.trainables import is_module, members, unseen
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import GUESSES, Guess
from analyzers.machine.objects.attributes import call_method, get_attribute, set_attribute
from analyzers.machine.objects.classes import find_in_class


def module_of(m: Machine, value: Unknown) -> Ref | None:
    """The module that an unknown value was taken for before, or the only one with weights that the call which gave the
    value was passed: it is presumed to be that. One without is a setting, such as an activation."""
    return _taken_for(m, value) or _only(m, value, _has_weights, "model")


def _taken_for(m: Machine, value: Unknown) -> Ref | None:
    known = m.standing_for(value.symbol) if value.symbol is not None and m.config.presumes else None
    return Ref(known) if known is not None and is_module(m, Ref(known)) else None


def _has_weights(m: Machine, value: Value) -> bool:
    return is_module(m, value) and (bool(members(m, value, "_parameters")) or unseen(m, value) is not None)


def optimizer_of(m: Machine, value: Unknown) -> Ref | None:
    """The same of an optimizer."""
    return _only(m, value, is_optimizer, "optimizer")


def passed_on(m: Machine, value: Unknown, count: int) -> list[Value] | None:
    """As many items of what a call returned as it was passed arguments, if these are modules or optimizers: they are
    what it was passed."""
    given = m.passed_to(value.symbol)
    kept = [isinstance(one, Ref) and (is_module(m, one) or is_optimizer(m, one)) for one in given]
    if len(given) != count or count < 2 or not any(kept):
        return None
    if not m.config.presumes:
        m.record.unresolved.data = True
        return None
    m.presume("these are the model and the optimizer that were passed", m.here())
    lineage, reach = value.lineage, value.reach
    return [one if keep else Unknown(None, m.fresh(), lineage, reach) for one, keep in zip(given, kept, strict=True)]


def _only(m: Machine, value: Unknown, fits: Callable[[Machine, Value], bool], kind: str) -> Ref | None:
    found = _passed(m, value, fits) if value.type is None and value.reach else []
    if len(found) != 1:
        return None
    if not m.config.presumes:
        m.record.unresolved.data = True
        return None
    m.presume(f"this is the {kind} that was passed", m.here() if value.lineage is None else value.lineage.loc)
    return found[0]


def _passed(m: Machine, value: Value, fits: Callable[[Machine, Value], bool]) -> list[Ref]:
    """What such a call was passed that fits, through calls of calls."""
    match value:
        case Ref() if fits(m, value):
            return [value]
        case Unknown(symbol=symbol) if symbol is not None:
            given = m.passed_to(symbol)
            return [one for part in given for one in _passed(m, part, fits) if one.id in value.reach]
    return []


def is_optimizer(m: Machine, value: Value) -> bool:
    found = m.obj(value)
    return isinstance(found, Instance) and isinstance(found.cls, int) and "param_groups" in found.attrs


def _has(m: Machine, value: Ref, name: str) -> bool:
    """Whether a module has such an attribute."""
    found = m.obj(value)
    if not isinstance(found, Instance) or not isinstance(found.cls, int):
        return False
    tables = [m.obj(found.attrs[table]) for table in ("_modules", "_parameters", "_buffers") if table in found.attrs]
    held = any(isinstance(table, DictObj) and Const(name) in table.items for table in tables)
    return held or name in found.attrs or find_in_class(m, found.cls, name) is not None


class ModuleGuess(Guess):
    def get_attribute(self, m: Machine, owner: Unknown, name: str) -> Value | None:
        found = self._found(m, owner, name)
        return None if found is None else get_attribute(m, found, name)

    def call_method(self, m: Machine, owner: Unknown, name: str, args: Args) -> Value | None:
        found = self._found(m, owner, name)
        return None if found is None else call_method(m, found, name, args)

    def _found(self, m: Machine, owner: Unknown, name: str) -> Ref | None:
        found = module_of(m, owner)
        return found if found is not None and (found == _taken_for(m, owner) or _has(m, found, name)) else None

    def set_attribute(self, m: Machine, owner: Unknown, name: str, value: Value) -> bool:
        found = module_of(m, owner)
        if found is not None:
            set_attribute(m, found, name, value)
        return found is not None


GUESSES.insert(0, ModuleGuess())
