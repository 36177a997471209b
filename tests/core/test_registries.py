"""Who is asked: by type, by name, by rank; and who hears a signal."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from analyzers.domain.objects import Instance, ListObj, SetObj
from analyzers.domain.values import Builtin, Const, GradMode, Partial, Unknown, Value
from analyzers.machine.core import registries
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.library_names import outside
from analyzers.machine.core.machine import Machine, apply_mode, restore_modes
from analyzers.machine.core.registries import ClassModel, ObjectModel
from analyzers.machine.core.signals import HEARERS, hears, tell
from analyzers.maps import Map
from tests.support.alone import machine


class Strong(ObjectModel):
    rank = 3


def test_the_stronger_of_two_operands_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    strong = Strong()
    monkeypatch.setitem(registries.MODELS, SetObj, strong)
    monkeypatch.setitem(registries.MODELS, ListObj, ObjectModel())
    m = machine()
    weak, other = m.new(ListObj(())), m.new(SetObj(()))
    assert registries.stronger(m, weak, other) is strong
    assert registries.stronger(m, other, weak) is strong
    assert registries.stronger(m, Const(1), other) is strong
    assert registries.stronger(m, weak, Const(1)) is not strong
    assert registries.is_foreign(m.obj(other))
    assert not registries.is_foreign(m.obj(weak))


def test_an_instance_is_known_by_its_class_or_by_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    by_class, by_mark = ClassModel(), ClassModel()
    monkeypatch.setitem(registries.CLASSES, "lib.Thing", by_class)
    monkeypatch.setitem(registries.MARKERS, "_mark", by_mark)
    assert registries.class_model(Instance("lib.Thing", Map())) is by_class
    assert registries.class_model(Instance(7, Map({"_mark": Const(1)}))) is by_mark
    assert registries.class_model(Instance(7, Map())) is None
    assert registries.class_model(Instance("lib.Other", Map({"_mark": Const(1)}))) is None


def test_a_name_is_answered_by_its_own_function_before_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def own(m: Machine, args: Args) -> Value:
        return Const(args.called)

    def fallback(m: Machine, rest: str, args: Args) -> Value:
        return Const(("rest", rest, args.called))

    monkeypatch.setitem(registries.ANSWERS, "lib.own", own)
    monkeypatch.setitem(registries.FALLBACKS, "lib", fallback)
    m = machine()
    assert call(m, Builtin("lib.own"), Args()) == Const("lib.own")
    assert call(m, Builtin("lib.part.other"), Args()) == Const(("rest", "part.other", "lib.part.other"))
    assert m.record.imprecisions == 0
    assert isinstance(call(m, Builtin("nobody.knows"), Args()), Unknown)
    assert m.record.imprecisions > 0


def test_a_partial_call_puts_its_own_arguments_first(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Args] = []
    monkeypatch.setitem(registries.ANSWERS, "lib.f", lambda m, args: given.append(args) or Const(None))
    partial = Partial(Builtin("lib.f"), (Const(1),), (("a", Const(2)), ("b", Const(3))))
    call(machine(), partial, Args([Const(4)], {"b": Const(5)}))
    assert given[0].pos == [Const(1), Const(4)]
    assert given[0].kw == {"a": Const(2), "b": Const(5)}


def test_names_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registries, "MODELLED", registries.MODELLED)
    registries.MODELLED.add("lib")
    monkeypatch.setitem(registries.CONSTANTS, "lib.one", Const(1))
    m = machine()
    assert outside(m, "lib.one") == Const(1)
    assert outside(m, "lib.two") == Builtin("lib.two")
    assert outside(m, "stranger.two") == Unknown(symbol=("import", "stranger.two"))
    registries.MODELLED.discard("lib")


def test_a_signal_is_heard_in_the_order_of_registering() -> None:
    @dataclass
    class Rang:
        times: int

    heard: list[object] = []
    hears(Rang)(lambda m, signal: heard.append(("first", signal.times)))
    hears(Rang)(lambda m, signal: heard.append(("second", signal.times)))
    tell(machine(), Rang(3))
    tell(machine(), "nobody listens to strings")
    assert heard == [("first", 3), ("second", 3)]
    del HEARERS[Rang]


def test_modes_are_switched_and_restored() -> None:
    m = machine()
    before = apply_mode(m, GradMode(grad=False))
    inner = apply_mode(m, GradMode(inference=True, casting="bfloat16"))
    assert (m.st.grad, m.st.inference, m.st.casting) == (False, True, "bfloat16")
    m.st.casts = Map({1: 2})
    restore_modes(m.st, inner)
    assert (m.st.grad, m.st.inference, m.st.casting, len(m.st.casts)) == (False, False, None, 0)
    restore_modes(m.st, before)
    assert m.st.grad is True
    assert m.in_mode(False, lambda: m.st.grad) is False
    assert m.st.grad is True
