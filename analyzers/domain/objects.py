"""The objects on the heap. They are never changed: a write puts another object at the same id.

Torch's own words: a *leaf* has no `grad_fn`; a *version counter* is shared by a tensor, its views and its `detach()`;
a *saved tensor* is what a graph node keeps for its backward, together with the version it had then.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias

from analyzers.domain.lineage import Lineage, Loc, Round
from analyzers.domain.truth import Truth
from analyzers.domain.values import NONE, Func, Value
from analyzers.maps import Map

Shape: TypeAlias = "tuple[int | None, ...] | None"

VERSION_BASE = 1 << 32
"""Versions below count writes from the tensor's birth; others count from a point that a loop has blurred."""


WRITES_KEPT = 24
"""The most recent writes are remembered, so that a long loop does not grow an endless chain."""


NO_ATTRS: Map[str, Value] = Map()


@dataclass(slots=True, frozen=True)
class Edge:
    """To a graph node's output, or to the gradient accumulator of the leaf `leaf`; both None: not known where to.

    `maybe`: the edge is there only if a tensor, of which that is not known, requires grad. `onward`: to one of the
    outputs from `output` on, not known which.
    """

    node: int | None = None
    output: int = 0
    leaf: int | None = None
    maybe: bool = False
    onward: bool = False


@dataclass(slots=True, eq=True)
class Tensor:
    """A tensor handle.

    `edge` is its place in the graph: None for a leaf, `Edge()` when not known. `base` and `creation` are set for views:
    `creation` is one of `default`, `no-grad`, `inference`, `multi`, `custom`, `unknown`; that
    of what `detach` made outside inference mode is `detached`: torch lets it be written, even if it is an inference
    tensor. `perhaps_of` is the base of what may be a view or a copy. `attr_version` is the version at which a view's
    edge was made. `aliases` are tensors that this one may be the same object as; `wrapper` tells apart those who own
    the same memory, as after `from_numpy`: torch sees no overlap across. `shared_grad` says that other processes add
    to the gradient. `hooks` is the table of those that a leaf's gradient passes, `after_hooks` of those that are called
    once it was added. `strides` are None where they follow from the sizes, as the elements lie row by row
    (`contiguous`), or are not known. `presumed` is what a model returned of which
    only its role is known: perhaps something that holds tensors. `moved`: it came from `.to(device)` or the like, was
    made on a device, or of what was, so that a move is presumed to leave it where it is.
    """

    storage: int
    counter: int
    requires_grad: Truth = False
    edge: Edge | None = None
    base: int | None = None
    perhaps_of: int | None = None
    creation: str = "default"
    view_op: str = ""
    attr_version: int = 0
    shape: Shape = None
    dtype: str | None = None
    grad: Value = NONE
    retains_grad: Truth = False
    inference: Truth = False
    parameter: bool = False
    hooks: int | None = None
    after_hooks: int | None = None
    shared_grad: bool = False
    wrapper: int = 0
    overlapping: Truth = False
    contiguous: Truth = True
    strides: tuple[int, ...] | None = None
    offset: int | None = 0
    sparse: Truth = False
    attrs: Map[str, Value] = NO_ATTRS
    cls: int | None = None
    aliases: tuple[int, ...] = ()
    presumed: bool = False
    moved: bool = False
    lineage: Lineage | None = None

    @property
    def is_leaf(self) -> Truth:
        if self.requires_grad is False:
            return True
        if self.edge is None:
            return True
        if self.edge.node is not None and self.requires_grad and not self.edge.maybe:
            return False
        return None


@dataclass(slots=True, frozen=True)
class Write:
    """One write to a version counter, and those before it."""

    version: int
    loc: Loc | None
    what: str
    hidden: bool
    previous: Write | None
    via: tuple[Loc, ...] = ()

    def length(self) -> int:
        """How many are remembered, this one among them, up to those that a counter keeps and one more."""
        count, step = 0, self.previous
        while step is not None and count < WRITES_KEPT:
            count, step = count + 1, step.previous
        return count + 1


def short_of(write: Write | None) -> Write | None:
    """What is remembered of a write and those before it by the next one: nothing where there are too many."""
    return write if write is None or write.length() <= WRITES_KEPT else None


@dataclass(slots=True)
class Counter:  # noqa: PLW1641  (it changes, and is never hashed)
    """A version counter: `version` is None when unknown writes may have happened."""

    version: int | None = 0
    writes: Write | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counter) and self.version == other.version


@dataclass(slots=True, frozen=True)
class Storage:
    """The memory behind tensors: its writes are counted too, as not all of them pass every version counter."""

    last: Write | None = None
    count: int = 0


@dataclass(slots=True, frozen=True)
class Saved:
    """A tensor kept for backward. `counter` is None for a private copy, which nobody can write.

    `packed` and `unpack` are what a hook has put in its place, and what gets the tensor back from that.
    `writes` counts the writes to its storage when it was kept; `maybe` says that it is kept only if a tensor, of which
    that is not known, requires grad, and `unseen` that no known tensor may be that one; `attached` that it is an
    operand which had a place in the graph when it was kept. `among` are the counters and versions of the tensors of
    which it may be one, where nobody knows the operand.
    """

    name: str
    counter: int | None
    version: int | None
    tensor: int | None = None
    is_output: bool = False
    storage: int | None = None
    writes: int = 0
    maybe: bool = False
    unseen: bool = False
    lineage: Lineage | None = None
    attached: bool = False
    packed: Value | None = None
    unpack: Value | None = None
    among: tuple[tuple[int, int | None], ...] = ()


@dataclass(slots=True, frozen=True)
class Operand:
    """What is known of a tensor that an edge leads to: its gradient has the same shape and dtype."""

    shape: Shape = None
    dtype: str | None = None
    contiguous: Truth = None


@dataclass(slots=True, eq=True)
class Node:
    """A node of the autograd graph. Several `names` when it is not known which operator made it.

    `kind` is `op`, `copy-slices`, `custom`, `inside` (the border of what `torch.func` differentiates), `unknown` or
    `unimplemented`; `payload` is what a custom function keeps. `operands` are as many as `edges`; `scalars` are the
    arguments that are plain numbers, by name; `hooks` are the tables of what the gradients of its results pass, by
    output. `hidden`: it may have edges that nobody sees, to the graph of an unknown value. `overlapping`: a copy-slices
    node whose gradient would be written into elements that share memory.
    """

    names: tuple[str, ...]
    edges: tuple[Edge | None, ...]
    saved: tuple[Saved, ...] = ()
    freed: Truth = False
    freed_at: Loc | None = None
    freed_via: tuple[Loc, ...] = ()
    loc: Loc | None = None
    what: str = ""
    kind: str = "op"
    seq: int = 0
    epoch: tuple[Round, ...] = ()
    payload: Value | None = None
    via: tuple[Loc, ...] = ()
    operands: tuple[Operand, ...] = ()
    scalars: tuple[tuple[str, Value], ...] = ()
    hooks: tuple[tuple[int, int], ...] = ()
    hidden: bool = False
    overlapping: bool = False


@dataclass(slots=True)
class ListObj:
    """A list, or a `deque`: `items` are its first elements; `rest` stands for any number more, None for no more. Where
    it is `distinct`, each of those is an object of its own, of which `rest` is like any."""

    items: tuple[Value, ...]
    rest: Value | None = None
    kind: str = "list"
    limit: int | None = None
    distinct: bool = False


@dataclass(slots=True)
class DictObj:
    """A dict: `rest` stands for the values under other keys, None for none; `keys` are the only ones that these may be,
    None for any."""

    items: Map[Value, Value]
    order: tuple[Value, ...]
    rest: Value | None = None
    kind: str = "dict"
    factory: Value | None = None
    keys: frozenset[Value] | None = None

    @property
    def entries(self) -> list[tuple[Value, Value]]:
        """In the order in which they came."""
        return [(key, self.items[key]) for key in self.order]

    @property
    def values(self) -> list[Value]:
        return [self.items[key] for key in self.order]

    @property
    def perhaps(self) -> frozenset[Value] | None:
        """The keys that it may have beside `items`; None for any."""
        return frozenset() if self.rest is None else self.keys


@dataclass(slots=True)
class SetObj:
    items: tuple[Value, ...]
    rest: Value | None = None


@dataclass(slots=True)
class Env:
    """The variables of one function call, module or class body; `parent` is the environment it is closed over."""

    vars: Map[str, Value]
    parent: int | None = None
    module: str | None = None
    open: bool = False
    """Names may be bound here that the machine did not see (a star import of unknown contents)."""


@dataclass(slots=True)
class ClassObj:
    """A class of the program: `ancestry` are heap ids of classes and dotted names of outside classes, itself first."""

    name: str
    qualname: str
    module: str
    bases: tuple[Value, ...]
    ancestry: tuple[int | str, ...]
    attrs: Map[str, Value]
    known: bool = True
    """False when some base is not known."""
    fields: tuple[tuple[str, Value | None, bool], ...] = ()
    """The fields of a dataclass: name, default, and whether the default is a factory."""
    kind: str = "class"
    plain: bool = False
    """Whether its attributes are those that its body and its bases show: nobody unseen had a hand in making it."""


@dataclass(slots=True)
class Instance:
    """An object of the class `cls` (a heap id, or the dotted name of an outside class)."""

    cls: int | str
    attrs: Map[str, Value]
    open: bool = False
    """True when it may have attributes that the machine does not know."""


@dataclass(slots=True)
class Iterator:
    """A half-used iterator over `source`; `position` None: somewhere.

    `counted` is the number in the first pair of an `enumerate`, which goes on counting where the items end.
    """

    source: Value
    position: int | None = 0
    items: tuple[Value, ...] | None = None
    rest: Value | None = None
    counted: int | None = None


@dataclass(slots=True)
class Generator:
    """A generator that has not been started: its function and the environment with its arguments."""

    func: Func
    env: int
    started: bool = False


@dataclass(slots=True)
class Array:
    """A numpy array: shares `storage` with a tensor when it came from one, and lies in it as that does.

    `solid`: it surely has a dimension, so that arithmetic with it gives no plain number.
    """

    storage: int
    shape: Shape = None
    dtype: str | None = None
    contiguous: Truth = None
    strides: tuple[int, ...] | None = None
    overlapping: Truth = False
    lineage: Lineage | None = None
    solid: bool = False


@dataclass(slots=True)
class ModuleObj:
    """A module of the workspace, with its environment."""

    path: str
    name: str
    env: int


def by_name(held: Map[str, Value]) -> list[tuple[str, Value]]:
    """Variables or attributes in the order of their names: a map's own follows hashes, which no two processes share."""
    return sorted(held.items(), key=itemgetter(0))


HeapObject: TypeAlias = (
    Tensor | Counter | Storage | Node | ListObj | DictObj | SetObj | Env | ClassObj | Instance | Iterator | Generator
    | Array
    | ModuleObj
)  # fmt: skip
