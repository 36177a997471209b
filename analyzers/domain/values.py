"""What a name may hold.

A *value* is immutable and has no identity of its own; whatever Python can change in place lies on the heap and is
held by a `Ref`. `Unknown` stands for any value at all, and never makes an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from analyzers.domain.lineage import Lineage

if TYPE_CHECKING:
    from analyzers.syntax.nodes import FunctionHead, Lambda


@dataclass(slots=True, eq=False)
class Const:
    """A Python value that is known and immutable: None, a bool, a number, a string, bytes, Ellipsis."""

    value: object | None
    lineage: Lineage | None = None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Const)
            and type(self.value) is type(other.value)
            and (self.value == other.value or self.value is other.value)
        )

    def __hash__(self) -> int:
        return hash(self.value)


@dataclass(slots=True, eq=False)
class Unknown:
    """Any value of the Python type `type` (any at all when None); `number` is any of the real ones.

    `symbol` is equal for two unknowns that are surely the same value. `reach` are heap objects that the value may be,
    or may hold: whoever changes the unknown may change them. Where it is `among` them, it is one of them.
    """

    type: str | None = None
    symbol: object | None = None
    lineage: Lineage | None = None
    reach: tuple[int, ...] = ()
    among: bool = False

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Unknown)
            and self.type == other.type
            and self.symbol == other.symbol
            and self.reach == other.reach
            and self.among == other.among
        )

    def __hash__(self) -> int:
        return hash((self.type, self.symbol))


ABSENT = "absent"


def is_absent(value: Value) -> bool:
    """Whether an unknown value stands for what is not there, such as an attribute that nobody has set, for a part of
    it, or for what it would have returned: whoever uses it runs nobody's code."""
    symbol = value.symbol if isinstance(value, Unknown) else None
    while isinstance(symbol, tuple):
        symbol = symbol[0]
    return symbol == ABSENT


@dataclass(slots=True, frozen=True)
class Ref:
    """The heap object `id`."""

    id: int


@dataclass(slots=True, frozen=True)
class Tup:
    """A tuple. `kind` is its class where that is not `tuple`: a named tuple's, `torch.Size`; `names` are its fields."""

    items: tuple[Value, ...]
    kind: str = "tuple"
    names: tuple[str, ...] = ()
    cls: int | None = None


@dataclass(slots=True, frozen=True)
class SliceValue:
    lower: Value
    upper: Value
    step: Value


@dataclass(slots=True, frozen=True)
class RangeValue:
    start: Value
    stop: Value
    step: Value


@dataclass(slots=True, frozen=True)
class Builtin:
    """Something that lives outside the program, by its dotted name: `torch.relu`, `builtins.len`, `torch.nn`."""

    name: str


@dataclass(slots=True, frozen=True)
class BoundBuiltin:
    """The method `name` of a value whose class lies outside the program: `x.sum`, `losses.append`."""

    receiver: Value
    name: str


@dataclass(slots=True, frozen=True)
class Func:
    """A function of the program, closed over the environment `env`.

    `module` and `chunk` say where its body stands, `defaults` are by parameter name, `owner` is the class whose body
    defined it. `modes` are set by decorators such as `@torch.no_grad()`, `setter` by `@name.setter` on a property.
    """

    node: FunctionHead | Lambda
    module: str
    chunk: str
    qualname: str
    env: int
    defaults: tuple[tuple[str, Value], ...] = ()
    owner: int | None = None
    modes: tuple[GradMode, ...] = ()
    kind: str = "function"
    setter: Func | None = None

    @property
    def node_name(self) -> str:
        return self.qualname.rsplit(".", 1)[-1]

    def __hash__(self) -> int:
        return hash((self.module, self.chunk, self.qualname, self.env))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Func)
            and self.node is other.node
            and self.env == other.env
            and self.defaults == other.defaults
            and self.modes == other.modes
            and self.owner == other.owner
            and self.kind == other.kind
            and self.setter == other.setter
        )


@dataclass(slots=True, frozen=True)
class GradMode:
    """What a scope does to the grad mode: `grad` and `inference` are set where not "keep"; None is "not known".

    `casting` is what autocast converts to; None is nothing.
    """

    grad: bool | Literal["keep"] | None = "keep"
    inference: bool | Literal["keep"] | None = "keep"
    casting: str | None = "keep"


@dataclass(slots=True, frozen=True)
class Method:
    """A function of the program bound to `receiver`."""

    receiver: Value
    func: Func


@dataclass(slots=True, frozen=True)
class Partial:
    """`functools.partial(func, *args, **kwargs)`."""

    func: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]


@dataclass(slots=True, frozen=True)
class Native:
    """A callable made by the machine itself, such as the function that `itemgetter(1)` returns."""

    name: str
    call: Callable[..., Value] = field(compare=False)
    key: object | None = None


@dataclass(slots=True, frozen=True)
class SuperValue:
    """`super()`: look `name` up behind the class `owner` in the order of `receiver`'s class."""

    owner: int
    receiver: Value


Value: TypeAlias = (
    Const | Unknown | Ref | Tup | SliceValue | RangeValue | Builtin | BoundBuiltin | Func | Method | Partial | Native
    | SuperValue
)  # fmt: skip

NONE = Const(None)
TRUE = Const(True)
FALSE = Const(False)
UNKNOWN = Unknown()


def lineage_of(value: Value) -> Lineage | None:
    """The trail that a plain value carries; a heap object's trail lies in the object."""
    return value.lineage if isinstance(value, Const | Unknown) else None


def identity(value: Value | None) -> object:
    """What tells a value from others, by whatever name it goes; None where nothing does."""
    match value:
        case Ref(id=ident):
            return ident
        case Unknown(symbol=symbol, type=kind, lineage=lineage) if symbol is not None or lineage is not None:
            return (kind, lineage) if symbol is None else value
    return None
