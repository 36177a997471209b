"""Events: exceptions, and the moments of a training step that rules read.

An event stands at a `Site`: the expression, the statement around it in the innermost function of the user's own, the
calls that led there, and the *visit*, which tells one pass over a statement from another (second iteration, other
caller). An exception is certain when some visit ends in it on every path that reaches the statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from immutables import Map

from analyzers.domain.lineage import Lineage, Loc
from analyzers.domain.objects import Node, Saved, Shape, Tensor, Write
from analyzers.domain.truth import Truth
from analyzers.machine.core.causes import Raised, Site


@dataclass(slots=True)
class GradRead:
    """`.grad` was read of a tensor, and is None; of one that is no leaf, torch warns."""

    site: Site
    name: str
    tensor: Tensor
    ident: int


@dataclass(slots=True)
class BackwardCall:
    """A backward that ran. `roots` are the tensors' trails; `reached` the leaves, by heap id, that got gradient.

    `assumed` is what had been assumed on the way there.
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


@dataclass(slots=True)
class StepCall:
    """`optimizer.step()`: how many of its parameters had a gradient, a cleared one, none, or perhaps one.

    `mixtures` are the different sums of backwards that the gradients hold, each with a parameter; `still` says that
    the learning rate is zero.
    """

    site: Site
    optimizer: int
    with_grad: int = 0
    without_grad: int = 0
    unknown: int = 0
    cleared: int = 0
    mixtures: tuple[tuple[int, tuple[Site, ...]], ...] = ()
    still: bool = False


@dataclass(slots=True)
class OptimizerMade:
    """An optimizer over `parameters`; `known` where there are no others."""

    site: Site
    optimizer: int
    parameters: tuple[int, ...]
    known: bool


@dataclass(slots=True)
class ClipCall:
    """Gradients are clipped: how many parameters are given, have none to clip, or a fresh one.

    `used` is the step that has used the others.
    """

    site: Site
    parameters: int = 0
    without_grad: int = 0
    fresh: int = 0
    used: Site | None = None
    unknown: bool = False


@dataclass(slots=True)
class LeftOut:
    """A step leaves out what it should train. `how`:

    `container`: a parameter that got a gradient, of a module in the plain container `owner.attr`;
    `late`: a parameter that got a gradient, made after the optimizer, in a module that the optimizer trains;
    `unreached`: a parameter of the optimizer, which backward never reached though it reached others;
    `nowhere`: a leaf that got a gradient, and that no optimizer holds.
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
    """`optimizer.zero_grad()`."""

    site: Site
    optimizer: int


@dataclass(slots=True)
class ScalerCall:
    """A method of a `GradScaler`, disabled or not: `scale` with a tensor, `unscale` or `step` with an optimizer."""

    site: Site
    what: str
    subject: int


@dataclass(slots=True)
class GradAccumulated:
    """A step used gradients to which the backward at `site` had added what the step at `step` had already used."""

    site: Site
    step: Site
    again: Site


@dataclass(slots=True)
class Cleared:
    """A gradient was cleared that no step had used; `backward` is the last that had filled it."""

    site: Site
    backward: Site


@dataclass(slots=True)
class ClearedUse:
    """A step used a gradient that is there but was cleared, at `cleared`, after `backward` had filled it."""

    site: Site
    cleared: Site
    backward: Site


@dataclass(slots=True)
class HandStep:
    """A leaf was written with what its gradient, or another's, was computed into; `fresh`: that was not cleared."""

    site: Site
    storage: int
    fresh: bool


@dataclass(slots=True)
class EndedAtCut:
    """A backward ended at a leaf that was cut off, without saying so, from the leaves `sources`."""

    site: Site
    leaf: int
    lineage: Lineage
    sources: tuple[int, ...]


@dataclass(slots=True)
class StaleBackward:
    """A backward went through `node`, as the one at `first` had, though `write` had changed a leaf in between."""

    site: Site
    first: Site
    write: Write
    node: Node


@dataclass(slots=True)
class OutputReplaced:
    """A forward hook returned something, which takes the place of the module's output; `hook` is its definition."""

    site: Site
    hook: Loc
    lineage: Lineage | None


@dataclass(slots=True)
class OptimizerEscaped:
    """An optimizer was handed to what the machine does not know."""

    site: Site
    optimizer: int


@dataclass(slots=True)
class GradTaken:
    """The program itself reads the gradient of a leaf."""

    site: Site
    leaf: int


@dataclass(slots=True)
class FollowerReached:
    """A backward came, from `node`, to parameters of a network that was copied from a trained one, or follows it."""

    site: Site
    leaves: tuple[int, ...]
    node: Node


@dataclass(slots=True)
class Compared:
    """What a loss holds against what. `how`:

    `discounted`: a network's value against data and a discounted value of its own, which come together at `node`;
    `branches`: all of it a network's output against what another part makes of its output for something else;
    `target`: something against a target that has a graph, with the `leaves` behind it.
    """

    site: Site
    how: str
    node: Node
    leaves: frozenset[int]


@dataclass(slots=True)
class FlagSet:
    """`requires_grad` of a tensor was switched on; the trail says what it was made of."""

    site: Site
    tensor: int
    lineage: Lineage | None


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
    """What outlives an iteration kept that iteration's graph alive: `how` is `accumulated`, `appended` or `carried`.

    `done` says that backward has gone through what an earlier iteration appended, `assumed` what was on the way there.
    """

    site: Site
    name: str
    how: str
    lineage: Lineage
    assumed: Map[object, bool]
    repeated: bool = True
    done: bool = False


@dataclass(slots=True)
class Misspelt:
    """A new attribute was set whose name is almost `requires_grad`, or `requires_grad` of a module.

    `compared`: nothing was set, as `==` stands where `=` was meant.
    """

    site: Site
    owner: str
    attr: str
    module: bool
    compared: bool = False


@dataclass(slots=True)
class Dropped:
    """A statement computed a tensor by `what` and let it go.

    `source` says from what: a `leaf`, a `gradient`, or a tensor with a `graph`, behind which `leaves` lie. Of operators
    between other tensors it is `arithmetic`.
    """

    site: Site
    what: str
    source: str
    lineage: Lineage
    leaves: frozenset[int] = frozenset()


@dataclass(slots=True)
class NotCalled:
    """A statement names a method of a `tensor`, a `module` or another `object` of torch's, and does not call it."""

    site: Site
    method: str
    owner: str
    lineage: Lineage | None = None
    leaves: frozenset[int] = frozenset()


@dataclass(slots=True)
class StepWithoutLoss:
    """A framework left a step out, as the method that ends at `end` gave it no loss."""

    site: Site
    end: Loc


@dataclass(slots=True)
class RetainedInVain:
    """A backward kept its graph, and none came to it again."""

    site: Site


@dataclass(slots=True)
class GraphUnused:
    """A module was called in a loop, its output has a graph, and no backward came to it from any round."""

    site: Site


@dataclass(slots=True)
class CustomBypassed:
    """A backward went through what `forward` of the custom function `name` did when it was called itself."""

    site: Site
    name: str
    takes_context: bool


@dataclass(slots=True)
class KeptOnContext:
    """A custom function kept a tensor as `ctx.attr`: an `input` or an `output`. `methods` are its other methods."""

    site: Site
    attr: str
    role: str
    methods: tuple[Loc, ...]


Event = (
    Raised | GradRead | BackwardCall | StepCall | ZeroCall | GradAccumulated | Rewrapped | GraphGrew | Misspelt
    | HiddenWrite | LeftOut | ParameterLost | Cleared | ClearedUse | HandStep
    | OptimizerMade | ClipCall | ScalerCall | Dropped | NotCalled
    | EndedAtCut | StaleBackward | OutputReplaced | OptimizerEscaped | GradTaken | FollowerReached
    | Compared | FlagSet | StepWithoutLoss | RetainedInVain | GraphUnused | CustomBypassed | KeptOnContext
)  # fmt: skip


def doubt(events: Iterable[Event]) -> None:
    """A run that stopped half-way never went the other ways that its statements may go: nothing in it is certain."""
    for event in events:
        if isinstance(event, Raised):
            event.sure = False


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
