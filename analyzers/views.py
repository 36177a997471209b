"""What an editor shows of a whole file, beyond its findings: where its facts hold, and what each backward reaches.

    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()                 reaches 12 of 14 parameters: not `head.weight`, `head.bias`

What a backward reached is in the run's events; which parameters there are, and what they are called, in the memory that
the run left behind. A run of a function leaves none, so that one is run again, once, if it knows what it reached.

A fact is about a statement; which of its words is the name that it binds is in the syntax tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from analyzers.domain.lineage import Loc
from analyzers.domain.objects import DictObj, Env, HeapObject, Instance, Tensor, by_name
from analyzers.domain.state import BLOCK_BITS, State
from analyzers.domain.values import Const, Ref, Value
from analyzers.host import Snapshot
from analyzers.host.answers import facts
from analyzers.host.files import chunk, reach, texts
from analyzers.host.places import Positions
from analyzers.host.runs import WHOLE, Program, function_run, later_run, looked_at, made_for, module_run
from analyzers.host.world import looked_at_together
from analyzers.machine.assembly import run_unknown
from analyzers.machine.core.events import BackwardCall, Event, OptimizerMade
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.probe import Probe
from analyzers.program.prelude import is_prelude
from analyzers.queries.engine import Database, query
from analyzers.report import Bound, Leaf, Place, Reach
from analyzers.syntax import nodes as n

MOST_EVENTS = 200
"""Backwards of one run that are looked at."""


def reaches(snapshot: Snapshot, path: str) -> tuple[Reach, ...]:
    """What the backwards in a file reach, as far as that is known; of one that is called for several models, each."""
    return snapshot.ask(lambda db: _reaches(db, path))


def bound(snapshot: Snapshot, path: str) -> tuple[Bound, ...]:
    """The facts of a file, at the names that are bound."""
    return snapshot.ask(lambda db: _bound(db, path))


@query
def _bound(db: Database, path: str) -> tuple[Bound, ...]:
    targets: dict[tuple[Place, str], tuple[Place, bool]] = {}
    for statement, target, says_grad in _targets(db, path):
        name, place = target
        targets.setdefault((statement, name), (place, says_grad))
    known = ((fact, targets.get((fact.place, fact.name))) for fact in facts(db, path))
    return tuple(Bound(fact, *target) for fact, target in known if target is not None)


@query
def _targets(db: Database, path: str) -> tuple[tuple[Place, tuple[str, Place], bool], ...]:
    """Each statement of a file that binds, with what it binds as the source has it."""
    places = Positions(db)
    found: list[tuple[Place, tuple[str, Place], bool]] = []
    for key in texts(db, path):
        for node in n.walk(chunk(db, path, key).body):
            for target, value in _bindings_of(node):
                name = places.text(loc := Loc(path, key, target.start, target.end))
                statement = places.place(Loc(path, key, node.start, node.end))
                found.append((statement, (name, places.place(loc)), _says_grad(value)))
    return tuple(found)


def _bindings_of(node: n.Node) -> Iterator[tuple[n.Node, n.Node | None]]:
    """What a statement binds, each with what is bound to it."""
    match node:
        case n.Assign(targets=targets, value=value):
            yield from ((name, value) for target in targets for name in _names_in(target))
        case n.AugAssign(target=target, value=value) | n.AnnAssign(target=target, value=value):
            yield target, value
        case n.NamedExpr(target=target, value=value):
            yield target, value
        case n.For(target=target):
            yield from ((name, None) for name in _names_in(target))
        case n.With(items=items):
            yield from ((name, None) for item in items if item.target is not None for name in _names_in(item.target))


def _names_in(target: n.Node) -> Iterator[n.Node]:
    match target:
        case n.TupleExpr(elts=elts) | n.ListExpr(elts=elts):
            for element in elts:
                yield from _names_in(element)
        case n.Starred(value=value):
            yield from _names_in(value)
        case _:
            yield target


def _says_grad(value: n.Node | None) -> bool:
    for node in n.walk([value] if value is not None else []):
        match node:
            case n.Keyword(arg="requires_grad", value=n.Constant(value=True)):
                return True
            case n.Attribute(attr="requires_grad_" | "Parameter") | n.Name(id="Parameter"):
                return True
    return False


@query
def _reaches(db: Database, path: str) -> tuple[Reach, ...]:
    """As seen by the file's own runs, and by those that are looked at with it and import it."""
    importers = [other for other in sorted(looked_at_together(db) - {path}) if path in reach(db, other)]
    places = Positions(db)
    found: dict[Reach, None] = {}
    for there in (path, *importers):
        for index in looked_at(db, there):
            found.update((_placed(places, one), None) for one in _reached(db, there, index) if one.loc.module == path)
    return tuple(sorted(found, key=lambda one: one.place))


_Leaves: TypeAlias = tuple[tuple[str, Loc | None], ...]


@dataclass(frozen=True, slots=True)
class _Reached:
    """A `Reach` in the machine's own places, which text that only moves leaves as they are."""

    loc: Loc
    always: _Leaves
    sometimes: _Leaves
    never: _Leaves
    besides: _Leaves
    frozen: int


def _placed(places: Positions, found: _Reached) -> Reach:
    def leaves(mine: _Leaves) -> tuple[Leaf, ...]:
        return tuple(Leaf(name, places.place(loc) if loc is not None else None) for name, loc in mine)

    always, sometimes = leaves(found.always), leaves(found.sometimes)
    never, besides = leaves(found.never), leaves(found.besides)
    return Reach(places.place(found.loc), always, sometimes, never, besides, found.frozen)


@query
def _reached(db: Database, path: str, index: int) -> tuple[_Reached, ...]:
    """What the backwards reach that one run of a file calls, in whichever file."""
    run = module_run(db, path) if index == WHOLE else function_run(db, path, index)
    called = [event for event in run.events if isinstance(event, BackwardCall)]
    unknown = {event.site.loc for event in called if event.unknown}
    known = [event for event in called if event.reached and event.site.loc not in unknown][:MOST_EVENTS]
    if run.out_of_fuel or not known:
        return ()
    made = [event for event in run.events if isinstance(event, OptimizerMade)]
    names = Names([module_run(db, path).state] if index == WHOLE else _states_after(db, path, index))
    by_model: dict[tuple[Loc, frozenset[int]], list[frozenset[int]]] = {}
    for event in known:
        trained = names.trained_with(event.reached, made)
        if trained is not None:
            by_model.setdefault((event.site.loc, frozenset(trained)), []).append(frozenset(event.reached))
    found = (_sorted_out(names, loc, trained, reached) for (loc, trained), reached in by_model.items())
    return tuple(one for one in found if one is not None)


def _sorted_out(names: Names, loc: Loc, trained: frozenset[int], reached: Sequence[frozenset[int]]) -> _Reached | None:
    """None where not everything has a name, or is known to require grad or not."""
    ever = frozenset[int]().union(*reached)
    always = frozenset.intersection(*reached)
    frozen = {ident for ident in trained - ever if names.tensor(ident).requires_grad is False}
    asked = (trained | ever) - frozen
    if any(ident not in names.by_id or names.tensor(ident).requires_grad is not True for ident in asked):
        return None

    several = len({names.model_of(ident) for ident in asked} - {None}) > 1

    def leaves(idents: Iterable[int]) -> _Leaves:
        ordered = sorted(idents, key=lambda ident: (names.rank(ident), ident))
        return tuple((names.name(ident, in_full=several), _made_at(names.tensor(ident))) for ident in ordered)

    never = trained - ever - frozen
    return _Reached(
        loc,
        leaves(trained & always),
        leaves(trained & ever - always),
        leaves(never),
        leaves(ever - trained),
        len(frozen),
    )


def _made_at(tensor: Tensor) -> Loc | None:
    loc = tensor.lineage.loc if tensor.lineage is not None else None
    return loc if loc is not None and not is_prelude(loc.module) else None


def _states_after(db: Database, path: str, index: int) -> list[State]:
    """The memory after each backward of a function's run, and at its end."""
    module = later_run(db, path)
    func = module.functions[index]
    watch = _Watch()
    run_unknown(Program(db), module, func, made_for(db, path, func), probe=watch)
    return [*watch.states.values(), *([watch.machine.st] if watch.machine is not None else [])]


@dataclass
class _Watch(Probe):
    """Keeps the memory as it is when the first value is seen after a backward, for each place the last time."""

    machine: Machine | None = None
    states: dict[Loc, State] = field(default_factory=dict)
    _seen: int = 0

    def read(self, m: Machine, node: n.Node, value: Value) -> None:
        del node, value
        self.machine = m
        news: Sequence[Event] = m.record.events[self._seen :]
        self._seen = len(m.record.events)
        for event in news:
            if isinstance(event, BackwardCall):
                self.states[event.site.loc] = m.st.fork()


class Names:
    """What the leaves are called that the memory holds, and which of them are trained together.

    A parameter has the name that it has in the outermost module that holds it, its model; any other leaf that of a
    variable.
    """

    def __init__(self, states: Sequence[State]) -> None:
        self.by_id: dict[int, str] = {}
        self._tensors: dict[int, Tensor] = {}
        self._models: list[frozenset[int]] = []
        self._rank: dict[int, int] = {}
        self._model_of: dict[int, int] = {}
        self._called: dict[int, str] = {}
        """By model, the variable that holds it."""
        self._partly_known: set[int] = set()
        for state in reversed(states):
            self._read(state)

    def tensor(self, ident: int) -> Tensor:
        return self._tensors[ident]

    def model_of(self, ident: int) -> int | None:
        return self._model_of.get(ident)

    def name(self, ident: int, *, in_full: bool) -> str:
        """`in_full`: with the name of its model in front, where that has one."""
        model = self._called.get(self._model_of.get(ident, 0), "") if in_full else ""
        return f"{model}.{self.by_id[ident]}" if model else self.by_id[ident]

    def rank(self, ident: int) -> int:
        """Parameters in the order of their modules."""
        return self._rank.get(ident, len(self._rank))

    def trained_with(self, reached: Iterable[int], made: Sequence[OptimizerMade]) -> set[int] | None:
        """The parameters of the models that are reached, and of their optimizers; None where that is not known."""
        leaves = set(reached)
        groups = [*self._models, *(frozenset(event.parameters) for event in made)]
        found = {ident for group in groups if group & leaves for ident in group}
        unknown = any(not event.known and leaves.intersection(event.parameters) for event in made)
        if unknown or found & self._partly_known or not (found | leaves) <= self._tensors.keys():
            return None
        return found

    def _read(self, state: State) -> None:
        objects = dict(_everything(state))
        modules = {ident: found for ident, found in objects.items() if _is_module(found)}
        held: set[int] = set()
        for found in modules.values():
            held.update(child for _, child in _members(state, found, "_modules"))
        for ident, found in objects.items():
            if isinstance(found, Tensor):
                self._tensors.setdefault(ident, found)
        for ident in modules:
            if ident not in held:
                self._read_model(state, ident)
        # The variables of a module before those of functions, which may hold it under another name for a while.
        environments = [found for found in objects.values() if isinstance(found, Env) and _is_of_the_user(state, found)]
        for found in sorted(environments, key=lambda env: env.module is None):
            for name, value in by_name(found.vars):
                if isinstance(value, Ref) and value.id in self._tensors:
                    self.by_id.setdefault(value.id, name)
                elif isinstance(value, Ref) and value.id in modules:
                    self._called.setdefault(value.id, name)

    def _read_model(self, state: State, root: int) -> None:
        seen: set[int] = set()
        mine: dict[int, str] = {}
        is_known = True
        stack: list[tuple[str, int]] = [("", root)]
        while stack:
            prefix, ident = stack.pop()
            found = state.find(ident)
            if ident in seen or not isinstance(found, Instance) or not _is_module(found):
                continue
            seen.add(ident)
            for name, child in _members(state, found, "_parameters"):
                mine.setdefault(child, prefix + name)
            stack += [(f"{prefix}{name}.", child) for name, child in reversed([*_members(state, found, "_modules")])]
            is_known = is_known and all(_is_whole(state, found, table) for table in ("_parameters", "_modules"))
        if frozenset(mine) in self._models:
            return
        self._models.append(frozenset(mine))
        for ident, name in mine.items():
            self.by_id.setdefault(ident, name)
            self._rank.setdefault(ident, len(self._rank))
            self._model_of.setdefault(ident, root)
        if not is_known:
            self._partly_known.update(mine)


def _everything(state: State) -> Iterator[tuple[int, HeapObject]]:
    for block, heap in state.frozen.items():
        yield from ((ident, heap[ident]) for ident in sorted(heap) if ident >> BLOCK_BITS == block)
    yield from ((ident, state.heap[ident]) for ident in state.in_order(state.heap))


def _is_of_the_user(state: State, env: Env) -> bool:
    """Whether these are variables of a file, and not of what stands for torch's own Python."""
    at: HeapObject | None = env
    while isinstance(at, Env) and at.module is None and at.parent is not None:
        at = state.find(at.parent)
    return isinstance(at, Env) and at.module is not None and not is_prelude(at.module)


def _is_module(found: HeapObject) -> bool:
    return isinstance(found, Instance) and "_modules" in found.attrs and "_parameters" in found.attrs


def _members(state: State, owner: HeapObject, table: str) -> Iterator[tuple[str, int]]:
    entries = _table(state, owner, table)
    for key in entries.order if entries is not None else ():
        value = entries.items.get(key) if entries is not None else None
        if isinstance(key, Const) and isinstance(key.value, str) and isinstance(value, Ref):
            yield key.value, value.id


def _is_whole(state: State, owner: HeapObject, table: str) -> bool:
    """Whether nothing stands in a module's table but what is known."""
    entries = _table(state, owner, table)
    if entries is None or entries.rest is not None:
        return False
    return all(isinstance(value, Ref) or value == Const(None) for value in entries.items.values())


def _table(state: State, owner: HeapObject, table: str) -> DictObj | None:
    held = owner.attrs.get(table) if isinstance(owner, Instance) else None
    found = state.find(held.id) if isinstance(held, Ref) else None
    return found if isinstance(found, DictObj) else None
