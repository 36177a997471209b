"""What is compiled does what the sources do: data classes whose methods are written out are those that Python makes."""

from __future__ import annotations

import ast
import runpy
import sys
import types
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
SETUP: dict[str, Any] = runpy.run_path(str(REPOSITORY / "setup.py"), run_name="setup")

SOURCE = '''\
from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Two lines
    of text."""

    file: str
    at: int = 0

    def end(self) -> int:
        return self.at + 1


@dataclass(slots=True)
class Bag:
    name: str
    held: list[int] = field(default_factory=list)
    by: dict[str, int | None] = field(default_factory=dict)
    note: object = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    value: float | None


@dataclass(slots=True)
class Doubled:
    value: int

    def __post_init__(self) -> None:
        self.value *= 2


@dataclass(frozen=True, eq=False)
class Same:
    value: int


@dataclass(slots=True)
class Own:
    value: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 7


@dataclass(slots=True)
class Base:
    value: int


@dataclass(slots=True)
class Further(Base):
    more: int = 1


@dataclass(slots=True)
class Counted:
    count: ClassVar[int] = 3
    value: int = 1


@dataclass(slots=True)
class Sized:
    value: list[int] = field(default_factory=lambda: [1])
'''
BASES = SETUP["bases_in"](SOURCE)
WRITTEN: str = SETUP["written_out"](SOURCE, BASES)


def loaded(name: str, source: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, name, "exec"), module.__dict__)
    return module


PLAIN, OWN = loaded("plain_classes", SOURCE), loaded("written_out_classes", WRITTEN)


def methods(name: str) -> set[str]:
    (found,) = (node for node in ast.parse(WRITTEN).body if isinstance(node, ast.ClassDef) and node.name == name)
    return {one.name for one in found.body if isinstance(one, ast.FunctionDef)}


def test_what_is_written_out() -> None:
    order = {"__lt__", "__le__", "__gt__", "__ge__"}
    assert methods("Place") == {"end", "__init__", "copied", "__eq__", "__hash__", *order}
    assert methods("Bag") == {"__init__", "copied", "__eq__"}
    assert methods("Doubled") == {"__post_init__", "__init__", "__eq__"}
    assert methods("Same") == {"__init__", "copied"}
    assert methods("Own") == {"__init__", "copied", "__eq__", "__hash__"}


@pytest.mark.parametrize("name", ["Base", "Further", "Counted", "Sized"])
def test_what_is_not_simple_is_left_alone(name: str) -> None:
    """mypyc takes the `__init__` of a base class for that of its subclasses."""
    assert methods(name) == set()


@pytest.mark.parametrize("module", [PLAIN, OWN])
def test_objects_are_what_they_were(module: Any) -> None:
    one, other = module.Place("a", 1), module.Place("a", at=1)
    assert one == other
    assert hash(one) == hash(other) == hash(("a", 1))
    assert module.Place("a") < one <= other < module.Place("b")
    assert one != ("a", 1)
    assert repr(one) == "Place(file='a', at=1)"
    assert [field.name for field in fields(one)] == ["file", "at"]
    bags = module.Bag("a"), module.Bag("a", note=3)
    assert bags[0] == bags[1]
    assert bags[0].held is not bags[1].held
    assert bags[0] != module.Bag("a", [1])
    empty: list[int] = []
    assert module.Bag("a", empty).held is empty
    nan = float("nan")
    assert module.Number(nan) == module.Number(nan) != module.Number(float("nan"))
    assert module.Doubled(2).value == 4
    assert module.Same(1) != module.Same(1)
    assert module.Own(1) == module.Own(2)
    assert hash(module.Own(1)) == 7
    with pytest.raises(TypeError):
        module.Place()


def test_a_copy_has_the_same_fields() -> None:
    bag = OWN.Bag("a", [1], note="n")
    copy = bag.copied()
    assert copy == bag
    assert copy is not bag
    assert copy.held is bag.held
    assert copy.note == "n"


def test_all_that_is_compiled_can_be_written_out() -> None:
    """And much of it is: what takes part in a run most, above all."""
    sources = {module: Path(module).read_text(encoding="utf-8") for module in SETUP["modules"](REPOSITORY)}
    bases = frozenset[str]().union(*map(SETUP["bases_in"], sources.values()))
    written = {module: SETUP["written_out"](source, bases) for module, source in sources.items()}
    for module, text in written.items():
        compile(text, module, "exec")
    assert sum(text.count("def copied(self)") for text in written.values()) > 150
    objects = next(text for module, text in written.items() if module.endswith("domain/objects.py"))
    assert "def copied(self) -> Tensor:" in objects
