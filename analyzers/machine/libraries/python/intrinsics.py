"""What prelude code needs but Python cannot express: unknown numbers, unknown values."""

from __future__ import annotations

from collections.abc import Callable

from analyzers.domain.join import NUMBERS, one_of, reach_of
from analyzers.domain.objects import DictObj, Instance, ListObj
from analyzers.domain.values import FALSE, NONE, TRUE, Const, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import CLASSES, ClassModel, answers
from analyzers.machine.core.tables import enter
from analyzers.machine.objects.truth import truth_of
from analyzers.maps import Map


@answers("autograd_machine.presumably")
def _presumably(m: Machine, args: Args) -> Value:
    """A condition; where nobody can tell, a presumed run takes it to come out as `outcome`."""
    condition = args.get(0, "condition")
    known = truth_of(m, condition)[0]
    return args.get(1, "outcome") if known is None and m.config.presumes else condition


@answers("autograd_machine.surely")
def _surely(m: Machine, args: Args) -> Value:
    holds = truth_of(m, args.get(0, "condition"))[0]
    if holds is None:
        m.record.imprecisions += 1
    return Const(holds is True)


@answers("autograd_machine.known")
def _known(m: Machine, args: Args) -> Value:
    """Whether all of these are known numbers."""
    return Const(not args.open and all(isinstance(value, Const) for value in args.all()))


@answers("autograd_machine.says_nothing")
def _says_nothing(m: Machine, args: Args) -> Value:
    """Whether a value is entirely unknown."""
    value = args.get(0, "value")
    return Const(isinstance(value, Unknown) and value.type is None)


@answers("autograd_machine.presumes")
def _presumes(m: Machine, args: Args) -> Value:
    """Whether the run goes on as if this were so."""
    if not m.config.presumes:
        m.record.unresolved.data = True
        return FALSE
    message = args.get(0, "message")
    m.presume(str(message.value) if isinstance(message, Const) else "")
    return TRUE


@answers("autograd_machine.takes_defaults")
def _takes_defaults(m: Machine, args: Args) -> Value:
    """Whether the run goes on as if nothing were given on the command line."""
    del args
    return Const(m.config.takes_defaults)


@answers("autograd_machine.note_defaults")
def _note_defaults(m: Machine, args: Args) -> Value:
    del args
    if m.config.takes_defaults:
        m.presume("options of the command line have their defaults")
    return NONE


@answers("autograd_machine.note_training")
def _note_training(m: Machine, args: Args) -> Value:
    """The program trains, if out of sight."""
    del args
    m.record.trains = True
    return NONE


@answers("autograd_machine.unknown")
def _unknown(m: Machine, args: Args) -> Value:
    """Anything, made of what is passed."""
    return Unknown(None, m.fresh(), None, reach_of(*args.all()))


@answers("autograd_machine.either")
def _either(m: Machine, args: Args) -> Value:
    return one_of(args.get(0, "left"), args.get(1, "right"))


def _unknown_of(kind: str) -> Callable[[Machine, Args], Value]:
    return lambda m, args: Unknown(kind, m.fresh())


for _kind in sorted(NUMBERS - {"complex"} | {"str"}):
    answers(f"autograd_machine.unknown_{_kind}")(_unknown_of(_kind))


class Namespace(ClassModel):
    """What was given on the command line: who logs it or is configured by it is presumed to leave it alone."""

    left_alone = True


enter(CLASSES, "argparse.Namespace", Namespace())


@answers("autograd_machine.namespace")
def _namespace(m: Machine, args: Args) -> Value:
    """The result of parsing a command line: an object with these attributes, and possibly more."""
    found = m.obj(args.get(0, "values"))
    if not isinstance(found, DictObj) or found.rest is not None or args.get(1, "whole") != Const(True):
        return Unknown(None, m.fresh())
    values = {str(name.value): value for name, value in found.items.items() if isinstance(name, Const)}
    return m.new(Instance("argparse.Namespace", Map(values), True))


@answers("autograd_machine.several")
def _several(m: Machine, args: Args) -> Value:
    """A list of one or more such values."""
    value = args.get(0, "value")
    return m.new(ListObj((value,), value))
