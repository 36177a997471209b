"""Runs of modules and of functions that are never called, and the recorded runs that answer questions about a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from analyzers.domain.lineage import Loc
from analyzers.domain.values import Func
from analyzers.graph.record import Recording, record_function, record_module
from analyzers.graph.watch import Watched, together, watched_function, watched_module
from analyzers.host.concern import concerns
from analyzers.host.files import body, chunk, find_import, head, may_import, module
from analyzers.host.names import (
    attributes_set,
    captured,
    habits,
    roles_in_methods,
    worth_running,
)
from analyzers.host.world import is_too_large, outside_kind, world_of
from analyzers.machine.assembly import Made, make_instance, run_module, run_unknown
from analyzers.machine.core.program import Captured, ModuleRun, Release
from analyzers.machine.entries.attached import settled
from analyzers.machine.entries.frameworks import DRIVEN, TRAINED
from analyzers.machine.entries.functions import (
    FunctionRun,
    calls_backward,
    later,
    presumed_limits,
    takes_instance,
)
from analyzers.machine.entries.modules import IMPORTED, NARROW, PRESUMED
from analyzers.machine.entries.roles import fills_names
from analyzers.program import prelude
from analyzers.queries.engine import Database, query
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import Role

KEPT_MODULES, KEPT_SCRIPTS, KEPT_FUNCTIONS = 4_000, 60, 1_000
"""Runs whose whole memory is kept, the latest used; an older one that is asked for again runs again."""


FORMER_SCRIPTS, FORMER_FUNCTIONS = 4, 16
"""Former runs that are kept: whoever takes an edit back, or types what does not parse yet, comes back to one."""


KEPT_RECORDINGS, KEPT_FUNCTION_RECORDINGS = 2, 24
"""Runs that are kept with what each name in them came to, for those who point at it."""


WHOLE, FURTHER = -1, -2
"""Stand for the runs of a module where others are runs of its functions, by their order; `FURTHER` is one on presumed
values that goes further than the first of them, and less carefully."""


class Program:
    """The machine's view of the world, through queries, so that what a run reads is known."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def body(self, path: str) -> Sequence[n.Stmt]:
        return body(self.db, path)

    def chunk(self, path: str, key: str) -> n.Chunk:
        self.db.make_way()
        return chunk(self.db, path, key)

    def head(self, path: str, key: str) -> n.Chunk:
        self.db.make_way()
        return chunk(self.db, path, key) if prelude.is_prelude(path) else head(self.db, path, key)

    def captured(self, path: str, key: str) -> Captured:
        return captured(self.db, path, key)

    def attributes_set(self, path: str, key: str) -> frozenset[str]:
        return attributes_set(self.db, path, key)

    def roles_in_methods(self, methods: tuple[tuple[str, str], ...], of_module: bool) -> Mapping[str, Role]:
        return roles_in_methods(self.db, methods, of_module)

    def habits(self, path: str) -> tuple[frozenset[str], bool]:
        return habits(self.db, path)

    def find_import(self, path: str, name: str, level: int) -> str | None:
        return find_import(self.db, path, name, level)

    def module_name(self, path: str) -> str:
        name = path.rsplit("/", 1)[-1].removesuffix(".py")
        return path.rsplit("/", 2)[-2] if name == "__init__" and "/" in path else name

    def run_module(self, path: str, importer: str | None) -> ModuleRun | None:
        if importer is None or prelude.is_prelude(path) or may_import(self.db, importer, path):
            return imported(self.db, path)
        return None

    def library(self, dotted: str) -> tuple[str, str] | None:
        return prelude.find(dotted)

    def outside_kind(self, dotted: str) -> str:
        return outside_kind(self.db, dotted)

    def torch_release(self) -> Release | None:
        return world_of(self.db).torch_release()

    def block(self, path: str, main: bool) -> int:
        blocks = world_of(self.db).blocks
        return blocks.setdefault((path, main), len(blocks) + 1)


def _nothing(path: str) -> ModuleRun | None:
    """What an import is worth that leads back to itself."""
    del path
    return None


@query(on_cycle=_nothing, capacity=KEPT_MODULES)
def imported(db: Database, path: str) -> ModuleRun | None:
    """The run of an imported module; None on an import cycle."""
    return run_module(Program(db), path, main=False, limits=IMPORTED)


@query(capacity=KEPT_SCRIPTS, remembers=FORMER_SCRIPTS)
def module_run(db: Database, path: str) -> ModuleRun:
    """The run of a file as a script."""
    return run_module(Program(db), path, main=True)


@query(capacity=KEPT_SCRIPTS, remembers=FORMER_SCRIPTS)
def later_run(db: Database, path: str) -> ModuleRun:
    """The run of a file as a script, and what its functions may find of it when somebody calls them."""
    return later(Program(db), module_run(db, path))


@query(capacity=KEPT_FUNCTIONS, remembers=FORMER_FUNCTIONS)
def function_run(db: Database, path: str, index: int) -> FunctionRun:
    run = later_run(db, path)
    func = run.functions[index]
    return run_unknown(Program(db), run, func, made_for(db, path, func))


@query(capacity=KEPT_FUNCTIONS, remembers=FORMER_FUNCTIONS)
def instance(db: Database, path: str, cls: int) -> Made:
    """An instance of a class of the file, made of unknown arguments, for its methods to run on."""
    return make_instance(Program(db), later_run(db, path), cls)


@query(capacity=KEPT_FUNCTIONS, remembers=FORMER_FUNCTIONS)
def presumed_instance(db: Database, path: str, cls: int) -> Made:
    """The same, with what the roles of names say."""
    return make_instance(Program(db), presumed_before(db, path), cls, presume=True)


def made_for(db: Database, path: str, func: Func, *, presume: bool = False) -> Made | None:
    if not takes_instance(func) or func.owner is None:
        return None
    return presumed_instance(db, path, func.owner) if presume else instance(db, path, func.owner)


@query
def presumed_before(db: Database, path: str) -> ModuleRun:
    """The run that left what functions find that run on presumed values: of the module on such values, where these
    stand in for something at its top level."""
    run = module_run(db, path)
    if run.out_of_fuel or not fills_names(Program(db), run.unresolved, run.state.find, partial(outside_kind, db), path):
        return run
    presumed = presumed_module_run(db, path)
    return run if presumed.out_of_fuel else presumed


def presumed_function(db: Database, path: str, index: int) -> tuple[ModuleRun, Func]:
    """A function of a file as it is run on presumed values, and the run before it."""
    func = module_run(db, path).functions[index]
    place = func.module, func.chunk, func.qualname
    before = presumed_before(db, path)
    same = (each for each in before.functions if (each.module, each.chunk, each.qualname) == place)
    found = next(same, None)
    return (module_run(db, path), func) if found is None else (before, found)


@query(capacity=KEPT_FUNCTIONS, remembers=FORMER_FUNCTIONS)
def presumed_run(db: Database, path: str, index: int) -> FunctionRun:
    run, func = presumed_function(db, path, index)
    made = made_for(db, path, func, presume=True)
    limits = presumed_limits(presumed_runs(db, path))
    return settled(lambda attached: run_unknown(Program(db), run, func, made, limits, presume=True, attached=attached))


@query(capacity=KEPT_SCRIPTS, remembers=FORMER_SCRIPTS)
def presumed_module_run(db: Database, path: str) -> ModuleRun:
    return settled(
        lambda attached: run_module(Program(db), path, main=True, limits=PRESUMED, presume=True, attached=attached)
    )


@query(capacity=KEPT_SCRIPTS, remembers=FORMER_SCRIPTS)
def further_module_run(db: Database, path: str) -> ModuleRun:
    return settled(
        lambda attached: run_module(Program(db), path, main=True, limits=NARROW, presume=True, attached=attached)
    )


@query
def presumed_runs(db: Database, path: str) -> int:
    """How many functions of a file are run on presumed values."""
    return len(training(db, path))


def training(db: Database, path: str) -> list[int]:
    return [index for index in uncalled(db, path, False) if _may_train(db, path, index)]


def run_of(db: Database, path: str, index: int, presume: bool) -> ModuleRun | FunctionRun:
    if index == FURTHER:
        return further_module_run(db, path)
    if index == WHOLE:
        return presumed_module_run(db, path) if presume else module_run(db, path)
    return presumed_run(db, path, index) if presume else function_run(db, path, index)


def _may_train(db: Database, path: str, index: int) -> bool:
    """Whether a function runs a backward, or never came to the one it has, or is a part of a class through which others
    do."""
    func, alone = module_run(db, path).functions[index], function_run(db, path, index)
    if alone.trains or func.node_name in DRIVEN or func.node_name == TRAINED:
        return True
    return alone.out_of_fuel and calls_backward(Program(db), func)


@query
def uncalled(db: Database, path: str, everything: bool) -> tuple[int, ...]:
    """The functions of a file, by their order, that are run on unknown arguments: those that no other run enters.

    Callers stand below what they call more often than not, so the last function goes first; before all of them go
    constructors, as parts of one can seldom be called again. Unless `everything` is asked for, functions are left out
    of which no run could say anything.
    """
    run = module_run(db, path)
    worth = frozenset() if everything else worth_running(db, path)
    entered = set(run.entered)
    chosen: list[int] = []
    last_first = list(reversed(range(len(run.functions))))
    for index in sorted(last_first, key=lambda i: run.functions[i].node_name != "__init__"):
        func = run.functions[index]
        if func.module != path or (func.module, func.chunk, func.qualname) in entered:
            continue
        if not everything and func.chunk not in worth:
            continue
        chosen.append(index)
        alone = function_run(db, path, index)
        if not alone.out_of_fuel:
            entered |= alone.entered
    return tuple(sorted(chosen))


@query
def looked_at(db: Database, path: str) -> tuple[int, ...]:
    """The runs of a file of which rules are told: of the module as `WHOLE`, and of functions that no other run enters;
    none where nothing that they may come by concerns autograd."""
    return (WHOLE, *uncalled(db, path, False)) if concerns(db, path) else ()


def runs_of(db: Database, path: str, *, everything: bool = False) -> list[ModuleRun | FunctionRun]:
    """The runs of which rules are told, or those of all functions that no other enters."""
    indices = (WHOLE, *uncalled(db, path, True)) if everything else looked_at(db, path)
    return [run_of(db, path, index, False) for index in indices]


@query(capacity=KEPT_RECORDINGS)
def recorded_module(db: Database, path: str, presume: bool) -> Recording:
    attached = presumed_module_run(db, path).attached if presume else frozenset[Loc]()
    return record_module(Program(db), path, presume=presume, attached=attached)


@query(capacity=KEPT_FUNCTION_RECORDINGS)
def recorded_function(db: Database, path: str, index: int, presume: bool) -> Recording:
    if presume:
        run, func = presumed_function(db, path, index)
    else:
        run = later_run(db, path)
        func = run.functions[index]
    made = made_for(db, path, func, presume=presume)
    attached = presumed_run(db, path, index).attached if presume else frozenset[Loc]()
    return record_function(Program(db), run, func, made, presume=presume, attached=attached)


@query
def watched_run(db: Database, path: str, index: int) -> Watched:
    """What the run of a file comes by, or that of one of its functions."""
    if index == WHOLE:
        return watched_module(Program(db), path)
    run = later_run(db, path)
    func = run.functions[index]
    return watched_function(Program(db), run, func, made_for(db, path, func))


@query
def watched(db: Database, path: str) -> Watched:
    """What all runs of a file come by."""
    if is_too_large(db, path):
        return Watched()
    return together([watched_run(db, path, index) for index in (WHOLE, *uncalled(db, path, True))])


def recorded_at(db: Database, path: str, offset: int, *, presume: bool = False) -> Iterator[tuple[Recording, str, int]]:
    """The runs that came by a place, recorded, with the chunk and the place in it: the script's own run first."""
    located = module(db, path).locate(offset)
    if located is None or is_too_large(db, path):
        return
    key, inside = located
    run = module_run(db, path)
    own = [index for index, func in enumerate(run.functions) if (func.module, func.chunk) == (path, key)]
    if not own or _enters(run.entered, path, key):
        yield recorded_module(db, path, presume), key, inside
        return
    callers = [i for i in uncalled(db, path, False) if _enters(function_run(db, path, i).entered, path, key)]
    for index in callers or own:
        yield recorded_function(db, path, index, presume), key, inside


def _enters(entered: Iterable[tuple[str, str, str]], path: str, key: str) -> bool:
    return any((file, chunk) == (path, key) for file, chunk, _ in entered)
