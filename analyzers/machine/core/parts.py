"""The parts of a run besides its state: configuration, ids, budget, extent, record.

Each part changes in only one way, which determines what happens to it when a call is replayed or a state is dropped:

- the configuration never changes;
- ids are only allocated, and a budget is only used up;
- the extent is a stack: whoever pushes pops;
- the record is append-only, across all paths of a run;
- indexes are folds over the record that the analysis itself needs; notebooks are the same for observers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from analyzers.domain.lineage import Loc, Round
from analyzers.domain.looking import Looking
from analyzers.domain.objects import Env, HeapObject, ListObj
from analyzers.domain.settling import Left
from analyzers.domain.state import BLOCK_BITS, Log, Taken
from analyzers.domain.values import Func, Value
from analyzers.machine.core.budget import Limits
from analyzers.machine.core.causes import Site
from analyzers.machine.core.choices import Path
from analyzers.machine.core.events import Binding, Event, Hidden, Presumption
from analyzers.machine.core.places import Frame
from analyzers.machine.core.probe import Probe
from analyzers.machine.core.program import Captured, Program, Unresolved
from analyzers.machine.core.replay.records import Recording, Shelf
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import Role


@dataclass(slots=True)
class Config:
    """What kind of run was requested. `main`: as a script; `presumes`: names may hold what their role suggests.

    `takes_defaults`: nothing is given on the command line.
    `receiver` is the object that a method is run on with nobody having called it: it may be of a subclass.
    `ends_with_failure`: nothing is run behind an exception of Python's own that nobody catches. `attached` are calls
    that nobody can see of which an earlier run has shown that they keep a graph.
    """

    program: Program
    main: bool = True
    presumes: bool = False
    takes_defaults: bool = False
    receiver: int | None = None
    ends_with_failure: bool = False
    probe: Probe | None = None
    attached: frozenset[Loc] = frozenset()


class Ids:
    """Numbers for heap objects, graph nodes and visits; none is used twice."""

    def __init__(self, block: int, after: int) -> None:
        self.block = block << BLOCK_BITS
        self.first = self.next = after
        self.sequence = 0
        """The sequence number of the last graph node."""
        self.made: dict[tuple[Loc, int], int] = {}
        """The id of what each place created, per visit."""
        self.visits: dict[tuple[int, object], int] = {}

    @property
    def last(self) -> int:
        return self.block + self.next

    def begin_after(self, ident: int) -> None:
        """Continue after the last id of another run."""
        self.first = self.next = ident

    def is_own(self, ident: int) -> bool:
        """Whether this run created it, as opposed to an earlier run of which only the outcome is known."""
        return self.block + self.first < ident <= self.last


@dataclass(slots=True)
class Budget:
    """Statements that the run has executed, and may execute."""

    steps: int = 0
    patience: int = 0
    """The number of steps after which the run checks whether the current work creates tensors."""
    last_before: int = 0
    """The last id before the current work, if that has a step limit of its own."""
    doubted: int = 0
    """How many objects were gone through because unknown code may have changed them."""


@dataclass(slots=True)
class Extent:
    """Where the run currently is."""

    limits: Limits
    frames: list[Frame] = field(default_factory=list)
    path: Path = field(default_factory=lambda: Path(()))
    visit: int = 0
    iterations: list[Round] = field(default_factory=list)
    loops: list[n.Node] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    """The last id before each current iteration of the user's loops."""
    in_module: bool = False
    """Whether a module is being called, whose nodes are seen as one segment of the graph."""
    expecting: int = 0
    """How many enclosing blocks expect an exception."""
    contested: bool = False
    """Whether torch may refuse the current operator for another reason first, in other words."""
    picking: set[tuple[Round, ...]] = field(default_factory=set)
    """The rounds of the program's loops in which an `if` was met, or a flag was computed, where values are presumed."""
    told_apart: tuple[n.Node, str] | None = None
    """An `elif`, and the name whose cases the `if` before it tells apart."""
    hypothetical: int = 0
    """How many enclosing handlers run for an exception that was only possible."""
    enclosing_operator: str = ""
    compared_with_none: bool = False
    """Whether the current attribute is only compared with None."""
    walks: list[tuple[int, bool]] = field(default_factory=list)
    """The backwards in progress: a number, and whether its inputs are named."""
    recordings: list[Recording] = field(default_factory=list)
    """The calls in progress that may be replayed later."""
    forgets: Literal["", "state", "all"] = ""
    """What is being made unknown: everything except module parameters (`state`), or those too (`all`)."""


@dataclass(slots=True)
class Record:
    """What the run has recorded, in order of occurrence."""

    events: list[Event] = field(default_factory=list)
    bindings: dict[tuple[Loc, str], Binding] = field(default_factory=dict)
    hidden_facts: dict[tuple[Loc, str], Hidden | None] = field(default_factory=dict)
    """Bindings whose value was unknown on at least one visit."""
    used: dict[tuple[int, tuple[str, ...]], HeapObject] = field(default_factory=dict)
    """The objects that unknown code has used, all of them or by these methods, as they last were then."""
    given_away: set[tuple[str, str]] = field(default_factory=set)
    """The modules and qualified names of functions that unknown code was passed."""
    visited_unseen: set[tuple[str, str]] = field(default_factory=set)
    """The functions, and classes with their methods, that may have had visits that the run did not make: by module and
    qualified name."""
    passed: dict[tuple[Loc, int], Taken] = field(default_factory=dict)
    """The statements that completed, with the visit, and how undecided conditions came out on all ways that did."""
    entered: set[tuple[str, str, str]] = field(default_factory=set)
    functions: list[Func] = field(default_factory=list)
    deferred: dict[str, None] = field(default_factory=dict)
    """Workspace modules imported here that cannot run before this one."""
    unresolved: Unresolved = field(default_factory=Unresolved)
    trains: bool = False
    """Whether a backward was called, an optimizer made, or a tensor asked to require grad."""
    presumptions: dict[Presumption, None] = field(default_factory=dict)
    supposes_counts: bool = False
    """Whether it is presumed of something how many there are, so that no exact number is a fault."""
    imprecisions: int = 0
    """How often the run met something the machine does not model."""


@dataclass(frozen=True, slots=True)
class Doubted:
    """What was gone through for unknown code without a change: when, what was asked and told, what was read and
    visited, the versions of its counters, the tensors that retained gradients then, and what else unknown code had."""

    log: Log
    recording: Recording
    read: set[int]
    visited: frozenset[int]
    versions: set[int | None]
    retaining: set[int]
    had: tuple[object, ...]


class Cell(NamedTuple):
    """A list as a store left it that may have replaced any of its elements, the index of that, and what was stored."""

    held: ListObj
    at: Value
    value: Value


@dataclass(slots=True)
class Indexes:
    """Lookups over the record that the analysis itself needs."""

    looking: Looking
    versions_kept: set[int] = field(default_factory=set)
    """Blurred versions remembered by something: a saved tensor, a view, a number read from a tensor."""
    counters_kept: set[int] = field(default_factory=set)
    """The counters and storages whose write count something remembers."""
    retaining: set[int] = field(default_factory=set)
    """Non-leaf tensors that retain, or may retain, their gradient."""
    gradients_are_seen: bool = False
    """Whether a hook or a custom function sees gradients."""
    doubted: dict[tuple[int, ...], Doubted] = field(default_factory=dict)
    """What unknown code had that has changed nothing any more."""
    left: dict[object, list[Left]] = field(default_factory=dict)
    """The states that each training loop has left."""
    finished: set[object] = field(default_factory=set)
    """Loops that have run to their end at least once."""
    context_sites: dict[tuple[int, str], Site] = field(default_factory=dict)
    """Where each attribute of a custom function's `ctx` was set."""
    default_dtype: str = "float32"
    held: dict[object, tuple[Func, ...]] = field(default_factory=dict)
    """By the symbols of unknown values, the functions of the program that unknown code made these of."""
    loaded: set[object] = field(default_factory=set)
    """The symbols of unknown items of loops, and of what is in them."""
    unrecorded: dict[object, bool] = field(default_factory=dict)
    """By the symbols of what unknown calls computed from arguments without gradients: whether in inference mode."""
    passed: dict[object, tuple[Value, ...]] = field(default_factory=dict)
    """By the symbols of what unknown calls returned, what they were passed."""
    runs_again: dict[Func, None] = field(default_factory=dict)
    """The functions that a backward may run again."""
    touched_by: tuple[tuple[Func, ...], tuple[tuple[int, str, bool], ...], bool] | None = None
    """What the functions that unknown code has may fill or rebind: paths from environments."""
    walks: dict[Func, tuple[list[Env], bool]] = field(default_factory=dict)
    """Per function, whether it runs a backward, and the environments around it for which that was found."""
    captured: dict[object, Captured] = field(default_factory=dict)
    """Per function, what it may do when others call it."""
    named: dict[object, list[str]] = field(default_factory=dict)
    """Per function, the names and paths that its text mentions, in order."""
    attributes_set: dict[object, frozenset[str]] = field(default_factory=dict)
    """Per function, the names of the attributes that it sets, of whatever object."""
    cells: dict[int, Cell] = field(default_factory=dict)
    """Per list, the last such store into it."""
    lent: set[int] = field(default_factory=set)
    """Objects that unknown code had, and is presumed to have left as they were."""
    parts: dict[object, dict[str, frozenset[str]]] = field(default_factory=dict)
    """Per function or class, the attributes of its names that are modules."""
    summaries: dict[object, Shelf] = field(default_factory=dict)
    """Calls that ran, for those that are entered alike."""
    roles: dict[object, dict[str, Role]] = field(default_factory=dict)
    """Per function, the roles inferred from how its names are used."""
