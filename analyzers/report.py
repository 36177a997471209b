"""What the analyzer tells its faces: findings, facts and graphs as plain data.

A *place* is a half-open range of byte offsets into the UTF-8 text of one file. Faces turn places into lines and
columns; nothing here knows how an editor counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info"]
Effect: TypeAlias = Literal[
    "grad-none",
    "no-gradient-flows",
    "param-not-updated",
    "wrong-gradient",
    "grad-accumulates",
    "graph-grows",
    "no-effect-assignment",
]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is reported of one file, by code: rules that are switched off, and severities other than the rule's own;
    and whether its comments may silence any."""

    off: frozenset[str] = frozenset()
    severities: tuple[tuple[str, Severity], ...] = ()
    heeds_comments: bool = True


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Bytes `start` to `end` of the file at `path`."""

    path: str
    start: int
    end: int


CALLED = "called from here"
"""What a trace says of a call through which it goes."""


@dataclass(frozen=True, slots=True)
class Related:
    """One step of a finding's trace."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text at `place` by `text`."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """`safe`: the program, fixed, computes what its author evidently meant."""

    title: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Raises:
    """What torch raises, at `place` (innermost line of the user's own files); `message` is its constant start, empty
    where nobody knows which of two it is.

    `iteration`, from 1: of the loops around it, the furthest on.
    """

    place: Place
    exception: str
    message: str
    certain: bool
    caught: bool
    expected: bool
    iteration: int = 1

    @property
    def said(self) -> str:
        """What follows the exception's name: `: element 0 of tensors ...`."""
        return f": {self.message}" if self.message else ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: `place` is what a person would edit.

    `assumes` is what it rests on that nothing in the program says; nothing for an error. `advice` says what to do where
    there are no fixes, if that is known.
    """

    code: str
    name: str
    severity: Severity
    message: str
    place: Place
    raises: Raises | None = None
    effect: Effect | None = None
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    assumes: tuple[Related, ...] = ()
    advice: str = ""


def told_better(findings: Iterable[Finding]) -> Callable[[Finding], bool]:
    """Which findings say less than another of these: that whoever uses a module gets an exception, where a program that
    is at hand does."""
    raised = {(finding.code, finding.place) for finding in findings if finding.raises is not None}
    return lambda one: one.raises is None and one.effect is None and (one.code, one.place) in raised


Grasp: TypeAlias = Literal["followed", "in part", "lost"]
"""How far a backward is understood: by what the program says, with something presumed or left out, or not at all."""

RANKS: dict[Grasp, int] = {"followed": 0, "in part": 1, "lost": 2}


@dataclass(frozen=True, slots=True)
class Backward:
    """A call of `backward()`. `about` says what is not known, `since` where that begins, if there is such a place."""

    place: Place
    grasp: Grasp
    about: str = ""
    since: Place | None = None


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finding as one file shows it: at its own place, or, where that is in another file, at a step of its trace."""

    finding: Finding
    place: Place


@dataclass(frozen=True, slots=True)
class Listed:
    """A word in the list of a comment that silences findings, in capitals as far as it is `typed`.

    `others` stand in the list beside it. In a list that is `shared` with other linters, rules have their codes alone.
    """

    place: Place
    typed: str
    others: frozenset[str]
    shared: bool
    wants_space: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of the tensor that the statement at `place` binds to `name`, over all visits of that statement.

    None means "not known"; an empty `grad_fn` means there is none.
    """

    place: Place
    scope: str
    name: str
    requires_grad: bool | None
    is_leaf: bool | None
    grad_fn: tuple[str, ...] | None
    shape: tuple[int | None, ...] | None
    dtype: str | None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at `place` that gives a tensor on every visit, with what is sure of it on each.

    A leaf here is one that requires grad. One that is detached does not, though what it was made from did.
    """

    place: Place
    requires_grad: bool
    is_leaf: bool
    is_detached: bool


@dataclass(frozen=True, slots=True)
class Routine:
    """What calls and is called: a function with its name, or the statements of the file at `path`, which have neither
    place nor name."""

    path: str
    qualname: str
    place: Place | None
    name: Place | None
    is_method: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A call that ran, where it names what it calls."""

    caller: Routine
    place: Place
    callee: Routine


@dataclass(frozen=True, slots=True)
class Lost:
    """What the statement at `place` binds to `name` is not known, and neither is what came of `since`."""

    place: Place
    scope: str
    name: str
    since: Place


@dataclass(frozen=True, slots=True)
class Bound:
    """A fact with the place of the name that is bound, where its statement has one; `says_grad`: the statement itself
    asks for `requires_grad`."""

    fact: Fact
    place: Place
    says_grad: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf tensor by the name that it has in its module, or as a variable; `place` is where it was made."""

    name: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Reach:
    """Which leaves the backward at `place` gives gradients to, of those that are trained together.

    `sometimes` holds those that some of its calls reach and others do not; `frozen` counts those that require no grad.
    `besides` are reached too, and belong to no module and no optimizer.
    """

    place: Place
    always: tuple[Leaf, ...]
    sometimes: tuple[Leaf, ...]
    never: tuple[Leaf, ...]
    besides: tuple[Leaf, ...]
    frozen: int


@dataclass(frozen=True, slots=True)
class GraphNode:
    """`kind`: `tensor` (the one asked for), `operator`, `leaf` (a leaf's gradient accumulator), `cut`, `unknown`,
    or `presumed` (an input of which nobody knows more than that it most likely is data without a graph).

    `freed_at` is the backward that freed it.
    """

    id: str
    kind: Literal["tensor", "operator", "leaf", "cut", "unknown", "presumed"]
    label: str
    requires_grad: bool | None
    is_leaf: bool | None
    saved: tuple[str, ...]
    freed: bool | None
    place: Place | None
    freed_at: Place | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """`source` was computed from `target`: gradients flow from `source` to `target`."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The autograd graph of one tensor at one point of the program; `nodes[0]` is the tensor itself."""

    name: str
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    notes: tuple[str, ...] = field(default=())


ChangeKind: TypeAlias = Literal[
    "gradient",
    "accumulated",
    "cleared",
    "gradient-written",
    "written",
    "hidden-write",
    "requires-grad",
    "requires-no-grad",
    "attached",
    "freed",
    "unreached",
    "grad-on",
    "grad-off",
]


@dataclass(frozen=True, slots=True)
class Change:
    """What a call or a statement did, to tensors or graph nodes as they are called there.

    `how` is what wrote them, or from which version to which; `place` the optimizer that holds what is `unreached`.
    """

    kind: ChangeKind
    subjects: tuple[str, ...]
    sure: bool = True
    how: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to know of a tensor, and where in the program it comes from."""

    message: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Of the tensor that `name` gives at `place`: the step that made it, and those that `changed` what it has, as they
    cut, freed or saved it, in this order."""

    name: str
    scope: str
    place: Place
    made: Place | None
    changed: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A parameter of a module or an optimizer.

    `optimizer` is where one was made that holds it; None where none does, or, unless `settled`, where none is seen to.
    """

    name: str
    shape: tuple[int | None, ...] | None
    requires_grad: bool | None
    optimizer: Place | None
    settled: bool


@dataclass(frozen=True, slots=True)
class Card:
    """What is known where a reader points: of a tensor, a module, an optimizer, a grad mode, or of what a call does; or
    since where nothing is, which the first remark tells.

    A `fact` holds over all visits, and `differs` are its attributes that are now this and now that; all else is of the
    last visit that is known well. `mode` is the grad mode: `on`, `off`, `inference`, or None. `returned` says that a
    call has.
    """

    kind: Literal["tensor", "module", "optimizer", "mode", "call", "unknown"]
    name: str
    place: Place
    mode: Literal["on", "off", "inference"] | None
    fact: Fact | None = None
    differs: tuple[str, ...] = ()
    graph: Graph | None = None
    remarks: tuple[Remark, ...] = ()
    changes: tuple[Change, ...] = ()
    held: tuple[Held, ...] = ()
    returned: bool = True
