"""Causes of exceptions, as data: where it happened, and what autograd knew there."""

from __future__ import annotations

from dataclasses import dataclass

from analyzers.domain.lineage import Lineage, Loc, Round
from analyzers.domain.objects import Node, Saved, Shape, Tensor, Write

UNMATERIALIZED = "unmaterialized-gradient"
"""What the trail of a None says that `backward` is given for an output to which no gradient came."""


@dataclass(frozen=True, slots=True)
class Site:
    loc: Loc
    statement: Loc
    via: tuple[Loc, ...]
    visit: int
    iterations: tuple[Round, ...] = ()
    in_try: bool = False


@dataclass(frozen=True, slots=True)
class NoGraph:
    """The root of a backward has no graph: `lineage` tells what it was made of."""

    name: str
    lineage: Lineage | None
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class NonScalar:
    name: str
    shape: Shape
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class Freed:
    """`node` was freed at `node.freed_at` by an earlier backward; `epoch` is the loop iteration of this one."""

    node: Node
    carried: Loc | None
    root: str


@dataclass(frozen=True, slots=True)
class Modified:
    node: Node
    saved: Saved
    writes: tuple[Write, ...]
    source: Lineage | None


@dataclass(frozen=True, slots=True)
class LeafWritten:
    """`view`: of a leaf; `late`: a view whose base got a graph after it was made, which torch takes for a leaf."""

    name: str
    what: str
    view: bool
    lineage: Lineage | None
    late: bool = False


@dataclass(frozen=True, slots=True)
class ViewWritten:
    name: str
    what: str
    creation: str
    made_by: str
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class NumpyOnGraph:
    """An array of a tensor that requires grad; `by_operator` where one was to be computed of both."""

    name: str
    lineage: Lineage | None
    by_operator: bool = False


@dataclass(frozen=True, slots=True)
class IntegerFlag:
    name: str
    dtype: str | None
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class NumberWanted:
    """A parameter of an operator takes a number, and was given a tensor that requires grad."""

    parameter: str
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class FlagOnNonLeaf:
    name: str
    lineage: Lineage | None


@dataclass(slots=True, eq=False)
class NoneGrad(Lineage):
    """The trail of a None that was the `.grad` of `tensor`, as it was then, which the program calls `name`."""

    name: str = ""
    tensor: Tensor | None = None
    ident: int = 0


@dataclass(frozen=True, slots=True)
class NoneGradUsed:
    """A `.grad` that is None was used as a tensor."""

    grad: NoneGrad


UNUSED = "unused-gradient"
"""What the trail of a None says that `torch.autograd.grad` gave for an input outside the graph."""


@dataclass(frozen=True, slots=True)
class Plain:
    """Any other exception of torch's or Python's."""

    note: str = ""
    lineage: Lineage | None = None


Cause = (
    NoGraph | NonScalar | Freed | Modified | LeafWritten | ViewWritten | NumpyOnGraph | IntegerFlag | NumberWanted
    | FlagOnNonLeaf | NoneGradUsed | Plain
)  # fmt: skip


@dataclass(slots=True)
class Raised:
    """An exception. `sure` is False where the machine itself only knows that it may be raised.

    `outside`: it is raised in code that nobody shows, which calls the user's.
    """

    site: Site
    exception: str
    message: str
    cause: Cause
    sure: bool = True
    caught: bool = False
    expected: bool = False
    outside: bool = False
