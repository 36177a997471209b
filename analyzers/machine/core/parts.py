"""The parts of a run besides its state: configuration, ids, budget, extent, record.

Each part has one way in which it changes, which tells what happens to it when a call is replayed or a state is left:

- the configuration never changes;
- ids are only handed out, and a budget is only used up;
- the extent is a stack: whoever pushes pops;
- the record is only added to, over all the ways that a run takes;
- indexes are folds over what was recorded that the analysis itself asks, and notebooks are those of observers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from analyzers.domain.lineage import Loc, Round
from analyzers.domain.state import BLOCK_BITS
from analyzers.domain.values import Func
from analyzers.machine.core.budget import Limits
from analyzers.machine.core.causes import Site
from analyzers.machine.core.choices import Path
from analyzers.machine.core.events import Binding, Event
from analyzers.machine.core.places import Frame
from analyzers.machine.core.probe import Probe
from analyzers.machine.core.program import Program, Unresolved
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import Role


@dataclass(slots=True)
class Config:
    """How the run was asked for. `main`: as a script; `presumes`: names may hold what their role says."""

    program: Program
    main: bool = True
    presumes: bool = False
    probe: Probe | None = None


class Ids:
    """Numbers for heap objects, graph nodes and visits: each is handed out once."""

    def __init__(self, block: int, after: int) -> None:
        self.block = block << BLOCK_BITS
        self.first = self.next = after
        self.sequence = 0
        """The number of the last graph node."""
        self.made: dict[tuple[Loc, int], int] = {}
        """What a place has made on a visit."""
        self.visits: dict[tuple[int, object], int] = {}

    @property
    def last(self) -> int:
        return self.block + self.next

    def begin_after(self, ident: int) -> None:
        """Go on where another run has ended."""
        self.first = self.next = ident

    def is_own(self, ident: int) -> bool:
        """Whether this run made it, and not one before, of which it only knows the outcome."""
        return self.block + self.first < ident <= self.last


@dataclass(slots=True)
class Budget:
    """Statements that the run has taken, and may take."""

    steps: int = 0
    patience: int = 0
    """The steps after which it counts whether what is under way makes tensors."""
    last_before: int = 0
    """The last id before what is under way, where it may take no longer than that."""


@dataclass(slots=True)
class Extent:
    """Where the run is."""

    limits: Limits
    frames: list[Frame] = field(default_factory=list)
    path: Path = field(default_factory=lambda: Path(()))
    visit: int = 0
    iterations: list[Round] = field(default_factory=list)
    loops: list[n.Node] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    """The last id before each iteration of the user's loops that is under way."""
    expecting: int = 0
    """How many blocks around expect an exception."""
    hypothetical: int = 0
    """How many handlers around run for an exception that was only possible."""
    enclosing_operator: str = ""
    compared_with_none: bool = False
    """Whether the attribute at hand is only compared with None."""
    walks: list[tuple[int, bool]] = field(default_factory=list)
    """The backwards under way: a number, and whether its inputs are named."""
    forgets: Literal["", "state", "all"] = ""
    """What is being made unknown: not the parameters of modules, or these too."""


@dataclass(slots=True)
class Record:
    """What the run has noted, in the order in which it came by."""

    events: list[Event] = field(default_factory=list)
    bindings: dict[tuple[Loc, str], Binding] = field(default_factory=dict)
    hidden_facts: set[tuple[Loc, str]] = field(default_factory=set)
    """Where something was bound of which nothing is known, on one visit at least."""
    passed: set[tuple[Loc, int]] = field(default_factory=set)
    """The statements that have reached their end, with the visit."""
    entered: set[tuple[str, str, str]] = field(default_factory=set)
    functions: list[Func] = field(default_factory=list)
    deferred: dict[str, None] = field(default_factory=dict)
    """Modules of the workspace that are imported here, and that cannot run before this one."""
    unresolved: Unresolved = field(default_factory=Unresolved)
    trains: bool = False
    """Whether a backward was called."""
    presumed_any: bool = False
    imprecisions: int = 0
    """How often something was met that the machine does not know."""


@dataclass(slots=True)
class Indexes:
    """What the analysis asks of what was recorded."""

    versions_kept: set[int] = field(default_factory=set)
    """Blurred versions that something kept: a saved tensor, a view, a number read from a tensor."""
    counters_kept: set[int] = field(default_factory=set)
    """The counters and storages of which something kept how often they had been written."""
    retaining: set[int] = field(default_factory=set)
    """Tensors that keep their gradient though they are no leaves, or may."""
    gradients_are_seen: bool = False
    """Whether a hook or a custom function looks at gradients."""
    finished: set[object] = field(default_factory=set)
    """Loops that have come to their end once."""
    context_sites: dict[tuple[int, str], Site] = field(default_factory=dict)
    """Where attributes of a custom function's `ctx` were set."""
    default_dtype: str = "float32"
    captured: dict[object, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    """By function, the names from around it that it uses, and those that it rebinds."""
    roles: dict[object, dict[str, Role]] = field(default_factory=dict)
    """By function, what the uses of its names say."""
