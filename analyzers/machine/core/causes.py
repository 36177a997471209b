"""Causes of exceptions, as data: where each happened, and what autograd knew at that point."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.domain.lineage import Lineage, Loc, Round
from analyzers.domain.objects import Node, Saved, Shape, Tensor, Write
from analyzers.domain.state import Taken
from analyzers.maps import Map

UNMATERIALIZED = "unmaterialized-gradient"
"""In the trail of a None: `backward` got it for an output that received no gradient."""


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
    """The root of a backward has no graph; `lineage` is the trail of how it was computed."""

    name: str
    lineage: Lineage | None
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class NonScalar:
    """`gathered`: there is a number from each device."""

    name: str
    shape: Shape
    lineage: Lineage | None
    gathered: bool = False


@dataclass(frozen=True, slots=True)
class Freed:
    """`node` was freed at `node.freed_at` by an earlier backward.

    `root` is what the program calls the root of this one, `carried` where the node was made.
    """

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
    """`view`: a view of a leaf; `late`: a view whose base got a graph only after the view was made, so torch still
    treats it as a leaf."""

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
    """A tensor that requires grad was converted to an array; `by_operator`: an operator combining it with an array
    tried to."""

    name: str
    lineage: Lineage | None
    by_operator: bool = False


@dataclass(frozen=True, slots=True)
class IntegerFlag:
    """`name` is empty where the tensor has none yet."""

    name: str
    dtype: str | None
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class NumberWanted:
    """An operator parameter that takes a number was given a tensor that requires grad."""

    parameter: str
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class FlagOnNonLeaf:
    name: str
    lineage: Lineage | None


@dataclass(slots=True, eq=False)
class NoneGrad(Lineage):
    """The trail of a None read from the `.grad` of `tensor`, as that was at the time; `name` is the tensor's name in
    the program."""

    name: str = ""
    tensor: Tensor | None = None
    ident: int = 0


@dataclass(frozen=True, slots=True)
class NoneGradUsed:
    """A `.grad` that is None was used as a tensor."""

    grad: NoneGrad


UNUSED = "unused-gradient"
"""In the trail of a None: `torch.autograd.grad` returned it for an input outside the graph."""


@dataclass(frozen=True, slots=True)
class Plain:
    """Any other exception from torch or Python."""

    note: str = ""
    lineage: Lineage | None = None


Cause = (
    NoGraph | NonScalar | Freed | Modified | LeafWritten | ViewWritten | NumpyOnGraph | IntegerFlag | NumberWanted
    | FlagOnNonLeaf | NoneGradUsed | Plain
)  # fmt: skip


@dataclass(slots=True)
class Raised:
    """An exception. `sure` is False if the machine only knows that it may be raised.

    `outside`: it is raised in code we cannot see that calls the user's. `taken`: how undecided conditions came out on
    the way to it. `contested`: torch may raise for another reason first, so that what it says is not known.
    """

    site: Site
    exception: str
    message: str
    cause: Cause
    sure: bool = True
    caught: bool = False
    expected: bool = False
    outside: bool = False
    taken: Taken = field(default_factory=Map)
    contested: bool = False
