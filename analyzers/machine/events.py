"""What the machine leaves behind: raises, and the moments of a training step that rules read.

An event stands at a `Site`: the expression, the statement around it in the innermost function of the user's own, the
calls that led there, and the *visit*, which tells one pass over a statement from another (second iteration, other
caller). An exception is certain when some visit ends in it on every path that reaches the statement.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Node, Saved, Shape, Tensor, Write
from analyzers.domain.truth import Truth


@dataclass(frozen=True, slots=True)
class Site:
    loc: Loc
    statement: Loc
    via: tuple[Loc, ...]
    visit: int
    iterations: tuple[int, ...] = ()
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
    name: str
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class IntegerFlag:
    name: str
    dtype: str | None
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class FlagOnNonLeaf:
    name: str
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class NoneGradUsed:
    """A `.grad` that is None was used as a tensor; `tensor` is the one whose it is."""

    name: str
    tensor: Tensor
    lineage: Lineage | None


@dataclass(frozen=True, slots=True)
class Plain:
    """Any other exception of torch's or Python's."""

    note: str = ""
    lineage: Lineage | None = None


Cause = (
    NoGraph | NonScalar | Freed | Modified | LeafWritten | ViewWritten | NumpyOnGraph | IntegerFlag | FlagOnNonLeaf
    | NoneGradUsed | Plain
)  # fmt: skip


@dataclass(slots=True)
class Raised:
    """An exception. `sure` is False where the machine itself only knows that it may be raised."""

    site: Site
    exception: str
    message: str
    cause: Cause
    sure: bool = True
    caught: bool = False
    expected: bool = False


@dataclass(slots=True)
class GradRead:
    """`.grad` was read of a tensor that requires grad, and is None; of one that is no leaf, torch warns."""

    site: Site
    name: str
    tensor: Tensor


@dataclass(slots=True)
class BackwardCall:
    """A backward that ran. `roots` are the tensors' trails; `reached` the leaves, by heap id, that got gradient."""

    site: Site
    root: str
    lineage: Lineage | None
    root_is_leaf: bool
    reached: tuple[int, ...]
    retain: Truth
    unknown: bool
    leaf_root_lineage: Lineage | None = None


@dataclass(slots=True)
class StepCall:
    """`optimizer.step()`: how many of its parameters had a gradient, lacked one, or may have had one."""

    site: Site
    optimizer: int
    with_grad: int
    without_grad: int
    unknown: int
    stale: tuple[int, ...] = ()


@dataclass(slots=True)
class LeftOut:
    """A step leaves out what it should train. `how`:

    `container`: a parameter that got a gradient, of a module in the plain container `owner.attr`;
    `late`: a parameter that got a gradient, made after the optimizer, in a module that the optimizer trains;
    `unreached`: a parameter of the optimizer, which backward never reached though it reached others.
    """

    site: Site
    optimizer: int
    how: str
    owner: str
    attr: str
    parameter: int
    lineage: Lineage | None


@dataclass(slots=True)
class ParameterLost:
    """A module was given, as an attribute, what was computed of a parameter that no one else holds."""

    site: Site
    owner: str
    attr: str
    lineage: Lineage | None


@dataclass(slots=True)
class ZeroCall:
    site: Site
    optimizer: int | None
    cleared: tuple[int, ...]


@dataclass(slots=True)
class GradAccumulated:
    """A step used gradients to which the backward at `site` had added what the step at `step` had already used."""

    site: Site
    step: Site
    again: Site


@dataclass(slots=True)
class Rewrapped:
    """A new leaf was made of numbers or data that came out of a graph."""

    site: Site
    name: str
    lineage: Lineage
    how: str


@dataclass(slots=True)
class HiddenWrite:
    """Backward used a kept tensor whose memory was written past its version counter: the gradient is wrong."""

    site: Site
    node: Node
    saved: Saved
    write: Write


@dataclass(slots=True)
class GraphGrew:
    """What outlives an iteration kept that iteration's graph alive: `how` is `accumulated`, `appended` or `carried`."""

    site: Site
    name: str
    how: str
    lineage: Lineage | None = None
    repeated: bool = True


@dataclass(slots=True)
class Misspelt:
    """A new attribute was set whose name is almost `requires_grad`, or `requires_grad` of a module."""

    site: Site
    owner: str
    attr: str
    module: bool


Event = (
    Raised | GradRead | BackwardCall | StepCall | ZeroCall | GradAccumulated | Rewrapped | GraphGrew | Misspelt
    | HiddenWrite | LeftOut | ParameterLost
)  # fmt: skip


@dataclass(slots=True)
class Binding:
    """What is known of a tensor that a statement binds, over all its visits."""

    loc: Loc
    scope: str
    name: str
    requires_grad: Truth
    is_leaf: Truth
    grad_fn: tuple[str, ...] | None
    shape: Shape
    dtype: str | None
    version: int | None = None
    lineage: Lineage | None = field(default=None, compare=False)
