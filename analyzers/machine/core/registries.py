"""The tables in which rooms register their knowledge, so that whoever asks need not know who answers.

A question costs one look by the type of an object, or by a name. All tables are full once `assembly` is imported.

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
    """What objects of one kind answer; unless a model says otherwise, what is common to all.

    `owner` is the value that is asked, `found` what it points to. None stands for "not mine to answer": an operator
    then asks the other operand, and Python's own way goes on.
    """

    rank = 0
    """Of two operands the one of the higher rank is asked; above that of instances, before Python looks at them."""

    is_key = False
    """Whether such an object is told from others as the key of a dict."""

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

    def stream(self, m: Machine, owner: Ref, found: HeapObject, unpack: int | None) -> Stream:
        return Stream((), Unknown())

    def is_true(self, m: Machine, owner: Ref, found: HeapObject) -> truth.Truth:
        return True

    def identical(self, found: HeapObject, other: HeapObject) -> truth.Truth:
        """Whether two objects that are known by different ids are one."""
        return False

    def is_instance(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> truth.Truth:
        """Whether it is of the class outside that has this dotted name."""
        return None

    def is_of(self, m: Machine, owner: Ref, found: HeapObject, cls: Ref) -> truth.Truth:
        """Whether it is of a class of the program or the prelude."""
        return False

    def havoc(self, m: Machine, ident: int, found: HeapObject, seen: set[int]) -> None:
        """Code that is not known can reach it."""


class ValueModel:
    """What values of one type answer that do not lie on the heap."""

    def get_attribute(self, m: Machine, owner: Value, name: str) -> Value:
        return BoundBuiltin(owner, name)

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value | None:
        return None


class ClassModel:
    """What a class that lies outside gives its instances, and classes of the program that inherit from it."""

    stateless = False
    """Whether it gives instances no state of its own."""

    def get_attribute(self, m: Machine, owner: Ref, found: Instance, name: str) -> Value | None:
        return None

    def call_method(self, m: Machine, owner: Ref, found: Instance, name: str, args: Args) -> Value | None:
        return None

    def call(self, m: Machine, owner: Ref, found: Instance, args: Args) -> Value | None:
        return None

    def mode(self, m: Machine, owner: Ref, found: Instance) -> GradMode | None:
        """The grad mode that such an object switches to, as a context manager or a decorator."""
        return None

    def packing(self, found: Instance) -> tuple[Value | None, Value | None] | None:
        """The hooks by which such a manager packs and unpacks what is saved in its block."""
        return None

    def make(self, m: Machine, cls: Ref, found: ClassObj, args: Args) -> Value | None:
        """An instance of an inheriting class."""
        return None

    def class_attribute(self, m: Machine, cls: Ref, found: ClassObj, name: str) -> Value | None:
        """An attribute that inheriting classes have."""
        return None

    def call_class_method(self, m: Machine, cls: Ref, name: str, args: Args) -> Value | None:
        return None

    def store(self, m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> bool:
        """Whether setting an attribute is done by this."""
        return False

    def check_store(self, m: Machine, owner: Ref, found: Instance, name: str, value: Value) -> None:
        """What is refused of an inheriting class's instance that this has not made ready."""

    def delete(self, m: Machine, owner: Ref, found: Instance, name: str) -> None:
        """Delete an attribute that is none of the instance's own."""

    def holds(self, name: str) -> bool:
        """Whether an attribute is a table of the library's, in which what is registered stays registered."""
        return False

    def doubted(self, m: Machine, ident: int, found: Instance) -> dict[str, Value] | None:
        """The attributes that unknown code may have changed; None: any."""
        return None


class TupleModel:
    """What a tuple of a kind of its own answers."""

    sliced = False
    """Whether its slices are of that kind too."""

    def call_method(self, m: Machine, owner: Value, name: str, args: Args) -> Value | None:
        return None

    def misused(self, m: Machine, owner: Value, exception: str, message: str) -> None:
        """Python raises, as this is a tuple."""


class Guess:
    """What a library makes of the name of an attribute or a method, where the value is not known."""

    def get_attribute(self, m: Machine, owner: Unknown, name: str) -> Value | None:
        return None

    def call_method(self, m: Machine, owner: Unknown, name: str, args: Args) -> Value | None:
        return None


OF_INSTANCES: Final = 2
"""The rank of instances."""

PLAIN_OBJECT: Final = ObjectModel()
PLAIN_VALUE: Final = ValueModel()

MODELS: Final[dict[type, ObjectModel]] = dict.fromkeys((Counter, Env, Node, Storage), PLAIN_OBJECT)
"""By type of the object on the heap."""

VALUES: Final[dict[type, ValueModel]] = {}
"""By type of the value."""

CLASSES: Final[dict[str, ClassModel]] = {}
"""By the dotted name of a class that lies outside."""

MARKERS: Final[dict[str, ClassModel]] = {}
"""By an attribute that instances have whose class inherits from one of the prelude's."""

TUPLES: Final[dict[str, TupleModel]] = {}
"""By the kind of tuple."""

GUESSES: Final[list[Guess]] = []

BUILTIN_ITEMS: Final[dict[str, Callable[[Machine, Value], Value]]] = {}
"""What an item is of a library's object, by its dotted name."""

CALLS: Final[dict[type, Callable[[Machine, Value, Args], Value]]] = {}
"""By the type of the value that is called."""

NAMED_FUNCTIONS: Final[dict[str, Callable[[Machine, Func, Callable[[], Value]], Value]]] = {}
"""Functions of the program whose calls somebody looks at, by their own name."""

NAMED_METHODS: Final[dict[str, Callable[[Machine, Func, Value, Args], Value]]] = {}
"""Methods whose result somebody marks, by their own name."""

ANSWERS: Final[dict[str, Answer]] = {}
"""What a call of a dotted name gives that is modelled by hand."""

FALLBACKS: Final[dict[str, Callable[[Machine, str, Args], Value]]] = {}
"""What a call of any other name of a library gives, by the name's first word."""

CONSTANTS: Final[dict[str, Value]] = {}
"""Dotted names that stand for a value."""

MODELLED: Final[set[str]] = set()
"""The first words of names that are the machine's own to answer for."""

STAR: Final[dict[str, tuple[str, ...]]] = {}
"""What a star import of a library's module binds."""

TYPE_TESTS: Final[dict[str, Callable[[Machine, Value], truth.Truth]]] = {}
"""Whether a value is of a class outside that says more than its type, by dotted name."""

FOREIGN_TYPES: Final[set[str]] = set()
"""Classes outside of which only objects are that have a model of their own."""

WHOLE_LIBRARIES: Final[set[str]] = set()
"""Libraries whose classes are all told by their names: what is known to be of another class is of none of theirs."""

TRANSPARENT: Final[set[str]] = set()
"""Decorators that leave what a function does with tensors as it is, by dotted name."""

MODES: Final[dict[str, GradMode]] = {}
"""The grad mode that a decorator without a call stands for, by dotted name."""

EXPECTING: Final[set[str]] = set()
"""Context managers that expect an exception, by the class of the manager."""


def answers(*names: str) -> Callable[[Answer], Answer]:
    """Enter a function as the one that answers calls of these dotted names."""

    def add(handler: Answer) -> Answer:
        for name in names:
            enter(ANSWERS, name, handler)
        return handler

    return add


def model_of(found: HeapObject | None) -> ObjectModel:
    return MODELS.get(type(found), PLAIN_OBJECT)


def is_foreign(found: HeapObject | None) -> bool:
    """Whether an object has operators of its own, which Python does not look into."""
    return model_of(found).rank > OF_INSTANCES


def stronger(m: Machine, left: Value, right: Value) -> ObjectModel:
    """The model that answers for an operator on two values."""
    first, second = model_of(m.obj(left)), model_of(m.obj(right))
    return second if second.rank > first.rank else first


def class_model(found: Instance) -> ClassModel | None:
    """That of the outside class of an instance, or of the one that has marked it with attributes."""
    if isinstance(found.cls, str):
        return CLASSES.get(found.cls)
    for marker, model in MARKERS.items():
        if marker in found.attrs:
            return model
    return None


def mode_of(m: Machine, manager: Value) -> GradMode | None:
    """The grad mode that a manager stands for."""
    found = m.obj(manager)
    if not isinstance(found, Instance) or not isinstance(found.cls, str) or not isinstance(manager, Ref):
        return None
    model = CLASSES.get(found.cls)
    return None if model is None else model.mode(m, manager, found)


def packing_of(found: Instance) -> tuple[Value | None, Value | None] | None:
    model = CLASSES.get(found.cls) if isinstance(found.cls, str) else None
    return None if model is None else model.packing(found)


def misused(m: Machine, value: Value, exception: str, message: str) -> None:
    """Python raises because a value is a tuple: told by whoever knows what tuple that is."""
    kind = getattr(value, "kind", None)
    if isinstance(kind, str) and kind in TUPLES:
        TUPLES[kind].misused(m, value, exception, message)
