"""Signals: what happens during a run (a write, a node that backward reaches), for observers to hear.

The room in which something happens emits the signal without knowing who listens. Observers run in registration order
and only make notes.

    @hears(Written)
    def carry(m, signal): ...             # an observer

    tell(m, Written(storage, count, what))  # where tensors are written
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from analyzers.domain.lineage import Lineage
from analyzers.domain.objects import Edge, Instance, Node, Tensor
from analyzers.domain.values import Func, Ref, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame
from analyzers.syntax import nodes as n

# --- tensors and graphs -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class WriteBegins:
    """An operator is about to write the tensor `ident`, with values computed along `parents`."""

    ident: int
    parents: tuple[Lineage, ...]


@dataclass(slots=True)
class WrittenFrom:
    """The operator `what` writes values of the tensor `source`, None if of a number, into the tensor `target`."""

    target: int
    source: int | None
    what: str


@dataclass(slots=True)
class Written:
    """A storage was written that had been written `count` times before."""

    storage: int
    count: int
    what: str


@dataclass(slots=True)
class MultipliedByZero:
    """A tensor is multiplied by zero in place."""

    ident: int


@dataclass(slots=True)
class DataReplaced:
    """`t.data = ...`: the tensor takes over the memory of another, which was computed along `parents`."""

    ident: int
    parents: tuple[Lineage, ...]


@dataclass(slots=True)
class GraphDropped:
    """The program itself takes a tensor out of its graph, through `detach` or `data`."""

    tensor: Tensor


@dataclass(slots=True)
class Escaped:
    """Code that the machine cannot see has these tensors, and may call backward on them."""

    tensors: Sequence[Tensor]


# --- backward and steps -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class BackwardBegins:
    """A backward to all leaves begins at these edges."""

    roots: Sequence[Edge]


@dataclass(slots=True)
class NodeReached:
    """A backward goes, or may go, through a node."""

    ident: int
    node: Node


@dataclass(slots=True)
class LeafReached:
    """A backward definitely reaches a leaf from a node."""

    node: int
    leaf: int


@dataclass(slots=True)
class GradientArrived:
    """A backward created the gradient of the leaf in `storage` or, unless `first`, added to it."""

    grad: int
    storage: int
    first: bool


@dataclass(slots=True)
class NodeSpent:
    """A backward that does not retain its graph has definitely gone through a node."""

    ident: int


@dataclass(slots=True)
class GradientRead:
    """The program reads the gradient of a leaf."""

    leaf: int


@dataclass(slots=True)
class GraphRetained:
    """A backward retained the graph of these nodes."""

    nodes: Iterable[int]


@dataclass(slots=True)
class BackwardUnseen:
    """A backward went where the machine cannot follow."""


@dataclass(slots=True)
class LeavesReached:
    """A backward that reached `leaves`, surely or perhaps, has finished; `users` are the nodes from which it did."""

    leaves: Mapping[int, bool]
    users: Mapping[int, int]


@dataclass(slots=True)
class GradientDropped:
    """`t.grad` is set to None; it was `grad`."""

    grad: int


@dataclass(slots=True)
class OptimizerDid:
    """The prelude reports an action of an optimizer or a scaler, or the clipping of tensors."""

    what: str
    subject: Value


@dataclass(slots=True)
class Loaded:
    """A parameter is loaded from another."""

    target: Value
    source: Value


# --- names, values and calls ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Named:
    """A statement has bound a value to `name`, as written in the program: what is known of it there is recorded as a
    fact."""

    frame: Frame
    statement: n.Node
    name: str
    value: Value


@dataclass(slots=True)
class Bound:
    """A name or target, as written in the program, now holds a value; `earlier` is the trail of what it held before."""

    name: str
    value: Value
    earlier: Lineage | None


@dataclass(slots=True)
class Kept:
    """A container called `name` now holds `new` in addition to its previous content."""

    name: str
    earlier: Sequence[Value]
    new: Sequence[Value]
    holder: int


@dataclass(slots=True)
class Emptied:
    """A list loses all that it held."""

    holder: int


@dataclass(slots=True)
class ItemStored:
    """`owner[index] = value` is about to happen."""

    target: n.Expr
    owner: Value
    index: Value
    value: Value


@dataclass(slots=True)
class Assigned:
    """An assignment has been executed."""

    statement: n.Assign
    value: Value


@dataclass(slots=True)
class LeftAlone:
    """The value of an expression statement is discarded."""

    node: n.Expr
    value: Value


@dataclass(slots=True)
class OwnAttributeSet:
    """An attribute that torch does not define is set on a tensor or a module."""

    name: str
    module: bool


@dataclass(slots=True)
class TensorStored:
    """A tensor is stored as an unregistered attribute of a module."""

    owner: Instance
    name: str
    value: Ref


@dataclass(slots=True)
class CalledUnseen:
    """Something unknown is called that may be one of these objects or functions, or call them; if `methods` are named,
    one of those of the objects."""

    reach: tuple[int, ...]
    functions: tuple[Func, ...]
    methods: tuple[str, ...] = ()


@dataclass(slots=True)
class GivenAway:
    """Unknown code was passed a function, and may call it."""

    func: Func


@dataclass(slots=True)
class CallBegins:
    """The object `module` is called; or, if `custom` is set, the `forward` of that custom function, directly."""

    module: int | None
    custom: str = ""
    takes_context: bool = False


@dataclass(slots=True)
class CallEnded:
    """The most recently started call is over; `result` is None if it raised."""

    result: Value | None


# --- who hears --------------------------------------------------------------------------------------------------

Hearer: TypeAlias = Callable[[Machine, Any], None]
HearerT = TypeVar("HearerT", bound=Callable[..., None])

HEARERS: Final[dict[type, list[Hearer]]] = {}


def hears(kind: type) -> Callable[[HearerT], HearerT]:
    """Register a function as a listener for signals of this kind."""

    def add(hearer: HearerT) -> HearerT:
        HEARERS.setdefault(kind, []).append(hearer)
        return hearer

    return add


def tell(m: Machine, signal: object) -> None:
    for hearer in HEARERS.get(type(signal), ()):
        hearer(m, signal)
