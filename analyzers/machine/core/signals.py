"""Signals: what happens during a run (a write, a node that backward reaches), for observers to hear.

The room in which it happens tells, and does not know who hears. Observers hear, in the order in which they were
registered, and only note what they make of it.

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
from analyzers.domain.values import Ref, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame
from analyzers.syntax import nodes as n

# --- tensors and graphs -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class WriteBegins:
    """An operator is about to write the tensor `ident`, with what was computed along `parents`."""

    ident: int
    parents: tuple[Lineage, ...]


@dataclass(slots=True)
class Written:
    """A storage was written, which had been written `count` times before."""

    storage: int
    count: int
    what: str


@dataclass(slots=True)
class MultipliedByZero:
    """A tensor is multiplied by zero in place."""

    ident: int


@dataclass(slots=True)
class DataReplaced:
    """`t.data = ...`: the tensor gets the memory of another, which was computed along `parents`."""

    ident: int
    parents: tuple[Lineage, ...]


@dataclass(slots=True)
class GraphDropped:
    """The program itself takes a tensor out of its graph, by `detach` or `data`."""

    tensor: Tensor


@dataclass(slots=True)
class Escaped:
    """Code that the machine does not see has these tensors, and may send them backward."""

    tensors: Sequence[Tensor]


# --- backward and steps -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class BackwardBegins:
    """A backward to all leaves begins at these edges."""

    roots: Sequence[Edge]


@dataclass(slots=True)
class NodeReached:
    """A backward goes through a node, or may."""

    ident: int
    node: Node


@dataclass(slots=True)
class LeafReached:
    """A backward surely comes to a leaf from a node."""

    node: int
    leaf: int


@dataclass(slots=True)
class GradientArrived:
    """A backward has made a gradient of the leaf in `storage`, or, unless it is the `first`, has added to it."""

    grad: int
    storage: int
    first: bool


@dataclass(slots=True)
class NodeSpent:
    """A backward that keeps no graph has surely gone through a node."""

    ident: int


@dataclass(slots=True)
class GradientRead:
    """The program asks for the gradient of a leaf."""

    leaf: int


@dataclass(slots=True)
class GraphRetained:
    """A backward has kept the graph of these nodes."""

    nodes: Iterable[int]


@dataclass(slots=True)
class BackwardUnseen:
    """A backward went where the machine does not see."""


@dataclass(slots=True)
class LeavesReached:
    """A backward is over that came to leaves; `users` are nodes from which it came to them."""

    leaves: Iterable[int]
    users: Mapping[int, int]


@dataclass(slots=True)
class GradientDropped:
    """`t.grad` is set to None, and was `grad`."""

    grad: int


@dataclass(slots=True)
class OptimizerDid:
    """The prelude tells of an optimizer, a scaler or of tensors that are clipped."""

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
    """A statement has bound a value to `name`, as the program writes it: what is known of it there is a fact."""

    frame: Frame
    statement: n.Node
    name: str
    value: Value


@dataclass(slots=True)
class Bound:
    """A name or target, as the program writes it, now holds a value that may have grown out of the one before."""

    name: str
    value: Value


@dataclass(slots=True)
class Kept:
    """A container called `name` holds `new` beside what it held before."""

    name: str
    earlier: Sequence[Value]
    new: Sequence[Value]


@dataclass(slots=True)
class ItemStored:
    """`owner[index] = value` is about to happen."""

    target: n.Expr
    owner: Value
    index: Value
    value: Value


@dataclass(slots=True)
class Assigned:
    """An assignment is done."""

    statement: n.Assign
    value: Value


@dataclass(slots=True)
class LeftAlone:
    """An expression is a statement, and its value goes nowhere."""

    node: n.Expr
    value: Value


@dataclass(slots=True)
class OwnAttributeSet:
    """An attribute is set that is none of torch's own, on a tensor or a module."""

    name: str
    module: bool


@dataclass(slots=True)
class TensorStored:
    """A module gets a tensor as an attribute that is not registered."""

    owner: Instance
    name: str
    value: Ref


@dataclass(slots=True)
class CallBegins:
    """A module is called; or, by name, the `forward` of the custom function `custom`."""

    custom: str = ""
    takes_context: bool = False


@dataclass(slots=True)
class CallEnded:
    """The call that began last is over; `result` is None where it has raised."""

    result: Value | None


# --- who hears --------------------------------------------------------------------------------------------------

Hearer: TypeAlias = Callable[[Machine, Any], None]
HearerT = TypeVar("HearerT", bound=Callable[..., None])

HEARERS: Final[dict[type, list[Hearer]]] = {}


def hears(kind: type) -> Callable[[HearerT], HearerT]:
    """Enter a function as one that is told of signals of this kind."""

    def add(hearer: HearerT) -> HearerT:
        HEARERS.setdefault(kind, []).append(hearer)
        return hearer

    return add


def tell(m: Machine, signal: object) -> None:
    for hearer in HEARERS.get(type(signal), ()):
        hearer(m, signal)
