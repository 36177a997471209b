"""What the machine needs from outside, and the result of running a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import HeapObject
from analyzers.domain.state import State, Taken
from analyzers.domain.values import Func, Unknown, Value, is_absent
from analyzers.machine.core.events import Binding, Event, Hidden, Presumption
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import Role

Release = tuple[int, int]


class Captured(NamedTuple):
    """`used`: names from enclosing scopes, and paths from them; `bare`: the names that stand for themselves, too, and
    not only begin a path; `rebound`: those that it binds anew. `writes`: it may write in place what it is passed;
    `walks`: it calls a `backward`."""

    used: frozenset[str]
    bare: frozenset[str]
    rebound: frozenset[str]
    writes: bool
    walks: bool


class Program(Protocol):
    """What the machine needs from outside."""

    def body(self, module: str) -> Sequence[n.Stmt]:
        """The statements of a module, as references to chunks."""

    def chunk(self, module: str, key: str) -> n.Chunk: ...

    def head(self, module: str, key: str) -> n.Chunk:
        """The part of a chunk that its definition needs: a function without its body, anything else in full."""

    def captured(self, module: str, key: str) -> Captured:
        """What a function that is a chunk may do when others call it; of its module it names variables only."""

    def attributes_set(self, module: str, key: str) -> frozenset[str]:
        """The names of the attributes that a function that is a chunk sets, of whatever object."""

    def roles_in_methods(self, methods: tuple[tuple[str, str], ...], of_module: bool) -> Mapping[str, Role]:
        """The roles of the attributes of an object, as these chunks use them, its methods."""

    def habits(self, module: str) -> tuple[frozenset[str], bool]:
        """The names declared `global` in a module's functions, and whether any of them freezes tensors."""

    def find_import(self, module: str, name: str, level: int) -> str | None:
        """The path of the workspace module that `name` refers to in `module`, if there is one."""

    def module_name(self, module: str) -> str: ...

    def run_module(self, path: str, importer: str | None) -> ModuleRun | None:
        """The finished run of a module imported by the run of `importer`, or by a script; None for a circular
        import."""

    def library(self, dotted: str) -> tuple[str, str] | None:
        """The prelude module and symbol that model `dotted`."""

    def outside_kind(self, dotted: str) -> str:
        """What calling a name of an installed library returns, as far as is known by now: `module`, `optimizer`,
        `scheduler`, `dataset`, `tensor` or `unknown`; `missing` if the package is not installed."""

    def torch_release(self) -> Release | None:
        """Major and minor version of the torch that the program runs on; None if nobody knows."""

    def block(self, path: str, main: bool) -> int: ...


@dataclass(slots=True)
class Unresolved:
    """`names` were bound to unknown values, by module and function (None: at module level); `calls` are calls to
    unmodelled library functions; `data`: the items of a loader are unknown; `counts`: so are numbers of layers."""

    names: dict[tuple[str, Func | None], set[str]] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    data: bool = False
    counts: bool = False

    def note(self, module: str, func: Func | None, name: str) -> None:
        self.names.setdefault((module, func), set()).add(name)


def says_nothing(value: Value) -> bool:
    return isinstance(value, Unknown) and value.type is None and not is_absent(value)


@dataclass(slots=True)
class ModuleRun:
    """A module that has run to its end: its heap, and the environment that holds its names.

    `trains`: it computes gradients. `presumptions`: what was made up from the roles of names. `late` are modules that
    it imports and that could not run before it. `default_dtype` is set if the module set one. `unresolved` is what this
    run did not know and a presumed run might; `hidden_facts` are the names that held something unknown at a place, None
    where anything may have been bound on calls that nobody sees. `attached` are calls of a presumed run that must keep
    a graph.
    """

    path: str
    block: int
    state: State
    env: int
    events: tuple[Event, ...]
    bindings: tuple[Binding, ...]
    entered: frozenset[tuple[str, str, str]]
    next_id: int
    passed: Mapping[tuple[Loc, int], Taken] = field(default_factory=dict)
    out_of_fuel: bool = False
    functions: tuple[Func, ...] = ()
    trains: bool = False
    presumptions: tuple[Presumption, ...] = ()
    late: tuple[str, ...] = ()
    default_dtype: str | None = None
    unresolved: Unresolved = field(default_factory=Unresolved)
    hidden_facts: Mapping[tuple[Loc, str], Hidden | None] = field(default_factory=dict)
    attached: frozenset[Loc] = frozenset()
    effects: dict[int, HeapObject] | None = None
