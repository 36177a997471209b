"""Events: exceptions, and the moments of a training step that rules read.

An event has a `Site`: the expression, the enclosing statement in the innermost user function, the calls that led there,
and the *visit*, which distinguishes one pass over a statement from another (second iteration, other caller). An
exception is certain if some visit ends in it on every path that reaches the statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Node, Saved, Shape, Tensor, Write
from analyzers.domain.truth import Truth
from analyzers.machine.core.causes import Raised, Site
from analyzers.maps import Map


@dataclass(slots=True)
class GradRead:
    """The `.grad` of a tensor was read and is None; torch warns if the tensor is not a leaf."""

    site: Site
    name: str
    tensor: Tensor
    ident: int


@dataclass(slots=True)
class BackwardCall:
    """A backward that ran. `lineage` is the trail of its root; `reached` holds the heap ids of the leaves that got a
    gradient, `flat` those of them that surely got zeros, each with the operator that lets nothing else through.

    `assumed`: the assumptions made on the path to it.
    """

    site: Site
    root: str
    lineage: Lineage | None
    root_is_leaf: bool
    reached: tuple[int, ...]
    retain: Truth
    unknown: bool
    assumed: Map[object, bool]
    creates: Truth = False
    flat: tuple[tuple[int, Loc], ...] = ()


@dataclass(frozen=True, slots=True)
class Presumption:
    """Something that a run goes on as if it knew, and where. That data have no graph matters only to what raises."""

    loc: Loc
    message: str
    of_data: bool = False


@dataclass(slots=True)
class StepCall:
    """`optimizer.step()`: how many of its parameters had a gradient, none, possibly one, or a cleared one.

    `mixtures` lists the distinct sums of backwards held in the gradients, each with one parameter; `still`: the
    learning rate is zero. `parameters` are those that it moves; `known`: there are no others.
    """

    site: Site
    optimizer: int
    with_grad: int = 0
    without_grad: int = 0
    unknown: int = 0
    cleared: int = 0
    mixtures: tuple[tuple[int, tuple[Site, ...]], ...] = ()
    still: bool = False
    parameters: tuple[int, ...] = ()
    known: bool = True


@dataclass(slots=True)
class OptimizerMade:
    """An optimizer over `parameters`, with the trail of each; `known`: there are no others."""

    site: Site
    optimizer: int
    parameters: tuple[int, ...]
    known: bool
    trails: tuple[Lineage, ...] = ()


@dataclass(slots=True)
class ClipCall:
    """Gradients are clipped: how many parameters are passed, how many have nothing to clip, how many have a fresh
    gradient.

    `used` is the step that has already used the other gradients.
    """

    site: Site
    parameters: int = 0
    without_grad: int = 0
    fresh: int = 0
    used: Site | None = None
    unknown: bool = False


@dataclass(slots=True)
class LeftOut:
    """A step leaves out something it should train. `how`:

    `container`: a parameter with a gradient, of a module in the plain container `owner.attr`;
    `late`: a parameter with a gradient, created after the optimizer, in a module that the optimizer trains;
    `unreached`: a parameter of the optimizer that backward never reached, though it reached others;
    `nowhere`: a leaf with a gradient that no optimizer holds;
    `beside`: the same of a parameter that is new, where an optimizer holds those of a model that the program did not
    make.
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
    """A module attribute was set to the result of an operation on a parameter that nothing else holds."""

    site: Site
    owner: str
    attr: str
    lineage: Lineage | None


@dataclass(slots=True)
class ZeroCall:
    """`optimizer.zero_grad()`."""

    site: Site
    optimizer: int


@dataclass(slots=True)
class ScalerCall:
    """A method of a `GradScaler`, disabled or not: `scale` of a tensor, `unscale` or `step` of an optimizer."""

    site: Site
    what: str
    subject: int


@dataclass(slots=True)
class GradAccumulated:
    """A step used gradients that the step at `step` had already used and the backward at `site` had then added to."""

    site: Site
    step: Site
    again: Site


@dataclass(slots=True)
class Cleared:
    """A gradient was cleared before any step used it; `backward` is the last backward that filled it."""

    site: Site
    backward: Site


@dataclass(slots=True)
class ClearedUse:
    """A step used a gradient that had been filled by `backward` and then cleared at `cleared`, but is still there."""

    site: Site
    cleared: Site
    backward: Site


@dataclass(slots=True)
class HandStep:
    """A leaf was written with a value computed from its own or another leaf's gradient; `fresh`: that gradient had not
    been cleared."""

    site: Site
    storage: int
    fresh: bool


@dataclass(slots=True)
class EndedAtCut:
    """A backward ended at a leaf that had been silently cut off from the leaves `sources`."""

    site: Site
    leaf: int
    lineage: Lineage
    sources: tuple[int, ...]


@dataclass(slots=True)
class TermsLeftOut:
    """A backward began at a term of `name`, which has the trail `total`; none went through it, nor through `terms`."""

    site: Site
    name: str
    total: Lineage
    terms: tuple[Loc | None, ...]


@dataclass(slots=True)
class CopiedOntoItself:
    """A tensor is copied to, or averaged with, memory that is its own; `made` is how what is written came by that."""

    site: Site
    what: str
    made: Lineage | None


@dataclass(slots=True)
class StaleBackward:
    """A backward went through `node`, as the one at `first` had, although `write` had changed a leaf in between."""

    site: Site
    first: Site
    write: Write
    node: Node


@dataclass(slots=True)
class OutputReplaced:
    """A forward hook returned something, which replaces the module's output; `hook` is its definition."""

    site: Site
    hook: Loc
    lineage: Lineage | None


@dataclass(slots=True)
class OptimizerEscaped:
    """An optimizer was passed to code the machine does not know."""

    site: Site
    optimizer: int


@dataclass(slots=True)
class GradTaken:
    """The program itself reads a leaf's gradient."""

    site: Site
    leaf: int


@dataclass(slots=True)
class FollowerReached:
    """A backward reached parameters of a network that is a copy of a trained one or tracks it, each from a node.

    `trained`: they track others that the same backward reached, and an optimizer holds both.
    """

    site: Site
    leaves: tuple[int, ...]
    nodes: tuple[Node, ...]
    trained: bool = False


@dataclass(slots=True)
class Compared:
    """What a loss compares. `how`:

    `discounted`: a network's value with data plus a discounted value of its own; the two meet at `node`;
    `branches`: a network's output with what another part makes of its output for a different input;
    `target`: anything with a target that has a graph, which leads to `leaves`;
    `taught`: a distribution with a target that has a graph, through which alone the backward reaches `leaves`.
    """

    site: Site
    how: str
    node: Node
    leaves: frozenset[int]


@dataclass(slots=True)
class FlagSet:
    """`requires_grad` was set to True on a tensor; the trail says how the tensor was computed.

    `of_some`: on some of those that the tensor stands for, nobody knows which.
    """

    site: Site
    tensor: int
    lineage: Lineage | None
    of_some: bool = False


@dataclass(slots=True)
class Rewrapped:
    """A new leaf was created from numbers or data that came out of a graph."""

    site: Site
    name: str
    lineage: Lineage
    how: str


@dataclass(slots=True)
class HiddenWrite:
    """Backward used a saved tensor whose memory was written without a version bump: the gradient is wrong."""

    site: Site
    node: Node
    saved: Saved
    write: Write


@dataclass(slots=True)
class GradModeSet:
    """The program itself calls what switches grad mode, for all that follows."""

    site: Site
    on: Truth


@dataclass(slots=True)
class GraphGrew:
    """The graph of an iteration is kept alive by something that outlives it: `how` is `accumulated`, `appended` or
    `carried`; `summed` where no backward goes through the total.

    `done`: backward has already gone through what an earlier iteration appended; `assumed`: the assumptions made on the
    path; `holder`: the list that holds it.
    """

    site: Site
    name: str
    how: str
    lineage: Lineage
    assumed: Map[object, bool]
    repeated: bool = True
    done: bool = False
    holder: int | None = None


@dataclass(slots=True)
class ListEmptied:
    """A loop empties a list of the program's."""

    site: Site
    holder: int


@dataclass(slots=True)
class Misspelt:
    """A new attribute was set whose name nearly matches `requires_grad`, or `requires_grad` itself on a module.

    `compared`: nothing was set, because `==` was written for `=`.
    """

    site: Site
    owner: str
    attr: str
    module: bool
    compared: bool = False


@dataclass(slots=True)
class Dropped:
    """A statement computed a tensor with `what` and discarded it.

    `source` says what it was computed from: a `leaf`, a `gradient`, or a tensor with a `graph` leading to `leaves`; it
    is `arithmetic` for operators on other tensors.
    """

    site: Site
    what: str
    source: str
    lineage: Lineage
    leaves: frozenset[int] = frozenset()


@dataclass(slots=True)
class NotCalled:
    """A statement names a method of a `tensor`, a `module` or another torch `object` without calling it."""

    site: Site
    method: str
    owner: str
    lineage: Lineage | None = None
    leaves: frozenset[int] = frozenset()


@dataclass(slots=True)
class StepWithoutLoss:
    """A framework skipped a step because the method ending at `end` returned no loss."""

    site: Site
    end: Loc


@dataclass(slots=True)
class RetainedInVain:
    """A backward retained its graph, and no later one used it."""

    site: Site


@dataclass(slots=True)
class GraphUnused:
    """A module was called in a loop and its output has a graph, but no backward reached it from any iteration."""

    site: Site


@dataclass(slots=True)
class GraphUsed:
    """Beside unused ones: a backward reached, in some iteration, what a call of a module created here."""

    site: Site


@dataclass(slots=True)
class CustomBypassed:
    """A backward went through the operations of custom function `name`, whose `forward` was called directly."""

    site: Site
    name: str
    takes_context: bool


@dataclass(slots=True)
class KeptOnContext:
    """A custom function stored a tensor, an `input` or an `output`, as `ctx.attr`. `methods` are its other methods."""

    site: Site
    attr: str
    role: str
    methods: tuple[Loc, ...]


@dataclass(slots=True)
class CutShort:
    """An exception that is not told of: the way that ends in it need not exist. What comes after it was not seen."""

    site: Site


Event = (
    Raised | GradRead | BackwardCall | StepCall | ZeroCall | GradAccumulated | Rewrapped | GraphGrew
    | ListEmptied | Misspelt | HiddenWrite | LeftOut | ParameterLost | Cleared | ClearedUse | HandStep
    | OptimizerMade | ClipCall | ScalerCall | Dropped | NotCalled
    | EndedAtCut | StaleBackward | OutputReplaced | OptimizerEscaped | GradTaken | FollowerReached
    | Compared | FlagSet | StepWithoutLoss | RetainedInVain | CopiedOntoItself | GraphUnused | GraphUsed
    | CustomBypassed | TermsLeftOut | KeptOnContext | CutShort | GradModeSet
)  # fmt: skip


def doubt(events: Iterable[Event]) -> None:
    """A run that stopped early did not explore the other paths of its statements, so nothing in it is certain."""
    for event in events:
        if isinstance(event, Raised):
            event.sure = False


@dataclass(slots=True, frozen=True)
class Hidden:
    """Something unknown that a statement bound, in the function `scope`."""

    scope: str
    lineage: Lineage | None


@dataclass(slots=True)
class Binding:
    """What is known about a tensor bound by a statement, over all visits."""

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
