"""The tables in which rooms register their knowledge, so that callers need not know who answers.

Each query is a single lookup by an object's type or by a name. All tables are full once `assembly` is imported.

    enter(MODELS, Array, ArrayModel())           # libraries/numpy: what arrays answer
    MODELS[type(found)].get_attribute(...)       # objects/attributes: asks whatever it is
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from analyzers.domain import truth
from analyzers.domain.objects import ClassObj, Counter, Env, HeapObject, Instance, Node, Storage
from analyzers.domain.values import BoundBuiltin, Func, GradMode, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.streams import Stream
from analyzers.machine.core.tables import enter

Answer: TypeAlias = Callable[[Machine, Args], Value]


class ObjectModel:
    """How objects of one kind behave; the methods here are the common defaults.

    `owner` is the value being asked, `found` what it points to. None means "not handled here": an operator then tries
    the other operand, and the generic Python behavior applies.
    """

    rank = 0
    """The operand with the higher rank is asked first; if it ranks above instances, before Python looks at either."""

    is_key = False
    """Whether such an object can be told apart from others as a dict key."""

    def get_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
        return BoundBuiltin(owner, name)

    def set_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        pass

    def store(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        """`object.__setattr__`."""

    def call_method(self, m: Machine, owner: Ref, found: HeapObject, name: str, args: Args) -> Value | None:
        return None

    def call(self, m: Machine, owner: Ref, found: HeapObject, args: Args) -> Value | None:
        return None

    def unary(self, m: Machine, op: str, owner: Ref, found: HeapObject) -> Value | None:
        return None

    def binary(self, m: Machine, op: str, left: Value, right: Value) -> Value | None:
        return None

    def written_or_made(self, m: Machine, old: Unknown, made: Value) -> Value:
        """The result of `old op= value`: perhaps `old`, written in place, and otherwise `made`."""
        return made

    def augmented(self, m: Machine, op: str, old: Ref, found: HeapObject, value: Value) -> Value | None:
        return None

    def compare(self, m: Machine, op: str, left: Value, right: Value) -> Value | None:
        return None

    def get_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value) -> Value:
        return Unknown()

    def set_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value, value: Value) -> None:
        pass

    def delete_item(self, m: Machine, owner: Ref, found: HeapObject, index: Value) -> None:
        pass

    def another(self, m: Machine, owner: Ref, found: HeapObject) -> Value:
        """One more object like this, which stands for all of a kind."""
        return owner

    def stream(self, m: Machine, owner: Ref, found: HeapObject, unpack: int | None) -> Stream:
        return Stream((), Unknown())

    def grant(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        """Take it for known that the attribute `name` of an object, or what its method `name` returns, is `value`."""

    def is_true(self, m: Machine, owner: Ref, found: HeapObject) -> truth.Truth:
        return True

    def identical(self, found: HeapObject, other: HeapObject) -> truth.Truth:
        """Whether two objects with different ids are the same object."""
        return False

    def is_instance(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> truth.Truth:
        """Whether it is an instance of the outside class with this dotted name."""
        return None

    def is_of(self, m: Machine, owner: Ref, found: HeapObject, cls: Ref) -> truth.Truth:
        """Whether it is an instance of a class of the program or the prelude."""
        return False

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        """Unknown code can reach it."""


class ValueModel:
    """How values of one type that are not on the heap behave."""

    def get_attribute(self, m: Machine, owner: Value, name: str) -> Value:
        return BoundBuiltin(owner, name)

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value | None:
        return None


class ClassModel:
    """How an outside class affects its instances and the program's classes that inherit from it."""

    stateless = False
    """Whether it adds no state of its own to instances."""

    left_alone = False
    """Whether unknown code is presumed to keep such an object as it is."""

    marks_written = False
    """Whether a call of such a class may write its arguments, and give them another place in the graph."""

    def get_attribute(self, m: Machine, owner: Ref, found: Instance, name: str) -> Value | None:
        return None

    def lacks(self, m: Machine, found: Instance, name: str) -> bool:
        """Whether an attribute that was not found is surely not there, for all that this class could add."""
        return False

    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value | None:
        return None

    def call(self, m: Machine, owner: Ref, found: Instance, args: Args) -> Value | None:
        return None

    def mode(self, m: Machine, owner: Ref, found: Instance) -> GradMode | None:
        """The grad mode that such an object switches to, as a context manager or decorator."""
        return None

    def packing(self, found: Instance) -> tuple[Value | None, Value | None] | None:
        """The hooks with which such a manager packs and unpacks the tensors saved in its block."""
        return None

    def make(self, m: Machine, cls: Ref, found: ClassObj, args: Args) -> Value | None:
        """Create an instance of an inheriting class."""
        return None

    def class_attribute(self, m: Machine, cls: Ref, found: ClassObj, name: str) -> Value | None:
        """An attribute of inheriting classes."""
        return None

    def call_class_method(self, m: Machine, cls: Ref, name: str, args: Args) -> Value | None:
        return None

    def store(self, m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> bool:
        """Set an attribute; returns whether it was handled here."""
        return False

    def store_perhaps(self, m: Machine, found: Instance, name: str | None, value: Value) -> None:
        """Perhaps an attribute is set on it, by a name that perhaps nobody knows."""

    def check_store(self, m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> None:
        """Raise for what an instance of an inheriting class refuses until this class has initialized it."""

    def delete(self, m: Machine, owner: Ref, found: Instance, name: str) -> None:
        """Delete an attribute that is not the instance's own."""

    def holds(self, name: str) -> bool:
        """Whether an attribute is one of the library's registries, whose entries stay registered."""
        return False

    def may_fill(self, m: Machine, found: Instance, name: str) -> bool:
        """Whether others enter things into such a registry, so that an empty one is only empty so far."""
        return False

    def doubted(self, m: Machine, ident: int, found: Instance) -> dict[str, Value] | None:
        """The attributes that unknown code may have changed; None: any of them."""
        return None


class TupleModel:
    """How a special kind of tuple behaves."""

    sliced = False
    """Whether its slices are of the same kind."""

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value | None:
        return None

    def misused(self, m: Machine, owner: Value, exception: str, message: str) -> None:
        """Python raises because this is a tuple."""


class Guess:
    """What a library infers from the name of an attribute or method of an unknown value."""

    def get_attribute(self, m: Machine, owner: Unknown, name: str) -> Value | None:
        return None

    def call_method(self, m: Machine, owner: Unknown, name: str, args: Args) -> Value | None:
        return None

    def set_attribute(self, m: Machine, owner: Unknown, name: str, value: Value) -> bool:
        """Whether the attribute was set here."""
        return False


OF_INSTANCES: Final = 2
"""The rank of instances."""

PLAIN_OBJECT: Final = ObjectModel()
PLAIN_VALUE: Final = ValueModel()

MODELS: Final[dict[type, ObjectModel]] = dict.fromkeys((Counter, Env, Node, Storage), PLAIN_OBJECT)
"""By type of the heap object."""

VALUES: Final[dict[type, ValueModel]] = {}
"""By type of the value."""

CLASSES: Final[dict[str, ClassModel]] = {}
"""By dotted name of an outside class."""

MARKERS: Final[dict[str, ClassModel]] = {}
"""By an attribute that marks instances of classes inheriting from a certain prelude class."""

TUPLES: Final[dict[str, TupleModel]] = {}
"""By the kind of tuple."""

GUESSES: Final[list[Guess]] = []

BUILTIN_ITEMS: Final[dict[str, Callable[[Machine, Value], Value]]] = {}
"""The result of subscripting a library object, by its dotted name."""

CALLS: Final[dict[type, Callable[[Machine, Value, Args], Value]]] = {}
"""By the type of the callee."""

NAMED_FUNCTIONS: Final[dict[str, Callable[[Machine, Func, Callable[[], Value]], Value]]] = {}
"""Wrappers around calls to functions of the program, by the function's own name."""

NAMED_METHODS: Final[dict[str, Callable[[Machine, Func, Value, Args], Value]]] = {}
"""Functions that mark the results of methods, by the method's own name."""

ANSWERS: Final[dict[str, Answer]] = {}
"""The functions that answer calls to hand-modelled dotted names."""

FALLBACKS: Final[dict[str, Callable[[Machine, str, Args], Value]]] = {}
"""The functions that answer calls to all other names of a library, by the name's first component."""

CONSTANTS: Final[dict[str, Value]] = {}
"""Dotted names that stand for a value."""

MODELLED: Final[set[str]] = set()
"""First components of the dotted names that the machine itself models."""

STAR: Final[dict[str, tuple[str, ...]]] = {}
"""The names bound by a star import of a library module."""

TYPE_TESTS: Final[dict[str, Callable[[Machine, Value], truth.Truth]]] = {}
"""Tests for outside classes that need more than the value's type, by dotted name."""

DECLARED: Final[dict[str, Callable[[Machine, Unknown], Value | None]]] = {}
"""What an unknown value is once the program says that it is an instance of an outside class; None if that helps
nothing. By the class's dotted name."""

TYPE_GUARDS: Final[dict[str, str]] = {}
"""Functions that tell whether their argument is an instance of a class, and that class, by dotted names."""

FOREIGN_TYPES: Final[set[str]] = set()
"""Outside classes whose instances all have a model of their own."""

WHOLE_LIBRARIES: Final[set[str]] = set()
"""Libraries all of whose classes are known by name: an object of a known other class is not an instance of any of
them."""

TRANSPARENT: Final[set[str]] = set()
"""Decorators that do not change what a function does with tensors, by dotted name."""

MODES: Final[dict[str, GradMode]] = {}
"""The grad mode set by a decorator used without a call, by dotted name."""

SWITCHES: Final[set[str]] = set()
"""The dotted names through which a program changes grad mode, and those of the modules that hold them."""

PACKERS: Final[set[str]] = set()
"""The dotted names of what puts something else in the place of saved tensors, and of the modules that hold them."""

EXPECTING: Final[set[str]] = set()
"""Context managers that expect an exception, by their class."""


def answers(*names: str) -> Callable[[Answer], Answer]:
    """Register a function as the one that answers calls to these dotted names."""

    def add(handler: Answer) -> Answer:
        for name in names:
            enter(ANSWERS, name, handler)
        return handler

    return add


def model_of(found: HeapObject | None) -> ObjectModel:
    return MODELS.get(type(found), PLAIN_OBJECT)


def is_foreign(found: HeapObject | None) -> bool:
    """Whether an object has operators of its own, which bypass Python's dispatch."""
    return model_of(found).rank > OF_INSTANCES


def stronger(m: Machine, left: Value, right: Value) -> ObjectModel:
    """The model that handles a binary operator on two values."""
    first, second = model_of(m.obj(left)), model_of(m.obj(right))
    return second if second.rank > first.rank else first


def class_model(found: Instance) -> ClassModel | None:
    """The model of an instance's outside class, or of the class that marked the instance with an attribute."""
    if isinstance(found.cls, str):
        return CLASSES.get(found.cls)
    for marker, model in MARKERS.items():
        if marker in found.attrs:
            return model
    return None


def mode_of(m: Machine, manager: Value) -> GradMode | None:
    """The grad mode that a context manager stands for."""
    found = m.obj(manager)
    if not isinstance(found, Instance) or not isinstance(found.cls, str) or not isinstance(manager, Ref):
        return None
    model = CLASSES.get(found.cls)
    return None if model is None else model.mode(m, manager, found)


def packing_of(found: Instance) -> tuple[Value | None, Value | None] | None:
    model = CLASSES.get(found.cls) if isinstance(found.cls, str) else None
    return None if model is None else model.packing(found)


def misused(m: Machine, value: Value, exception: str, message: str) -> None:
    """Python raises because a value is a tuple; reported by the model of that kind of tuple."""
    kind = getattr(value, "kind", None)
    if isinstance(kind, str) and kind in TUPLES:
        TUPLES[kind].misused(m, value, exception, message)
