"""Linking modules: the memory of a finished module becomes part of the run that imports it.

Each module is run by itself, once, no matter who imports it. What such a run did to objects of other modules - a class
added to a registry, a parameter frozen, a setting changed - is in its own heap, overlaying theirs. These are its
*effects*, and an importing run merges them into what it already knows, in import order:

    # registry.py: MODELS = {}
    from registry import MODELS
    MODELS["net"] = Net        # an effect of this module's run on `MODELS`

In an import cycle, one file is run first and sees nothing of the other. Names of such a module are *late*: they are
resolved on use, in a run in which both are present. The run of the file being analyzed has all of them; the run of a
module it imports has those it uses, so that the files of a package do not all wait for each other.
"""

from __future__ import annotations

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, DictObj, Env, HeapObject, Instance, ListObj, ModuleObj, SetObj, by_name
from analyzers.domain.state import BLOCK_BITS
from analyzers.domain.values import Const, Ref, Unknown, Value
from analyzers.machine.core.arguments import Args
from analyzers.machine.core.calling import call
from analyzers.machine.core.havoc import havoc_object
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.program import ModuleRun
from analyzers.machine.core.registries import MODELS, ObjectModel
from analyzers.machine.core.tables import enter
from analyzers.maps import Map


def attach(m: Machine, run: ModuleRun) -> None:
    """Make a finished module's heap readable here, and merge its effects."""
    m.st.frozen = {**m.st.frozen, **run.state.frozen, run.block: run.state.heap}
    m.st.modules = m.st.modules.update(run.state.modules)
    if run.path.startswith("<"):
        return
    for ident, theirs in effects(run).items():
        _take_over(m, ident, theirs)
    m.st.give_away(run.state)
    if run.state.grad is not True:
        m.st.grad = run.state.grad
    if run.default_dtype is not None:
        m.indexes.default_dtype = run.default_dtype
    for path in run.late:
        if m.config.main:
            import_path(m, path)
        else:
            m.record.deferred[path] = None


def effects(run: ModuleRun) -> dict[int, HeapObject]:
    """The objects of other runs, as this run left them, in order."""
    if run.effects is None:
        run.effects = {
            ident: run.state.heap[ident]
            for ident in run.state.in_order(ident for ident in run.state.heap if ident >> BLOCK_BITS != run.block)
        }
    return run.effects


def import_path(m: Machine, path: str) -> Ref | None:
    """The module object of a workspace module, which is run if it has not been yet; None if it cannot run yet."""
    known = m.module(path)
    if known is not None:
        return Ref(known)
    run = m.config.program.run_module(path, None if m.config.main else m.extent.frames[0].module)
    if run is None:
        m.record.deferred[path] = None
        return None
    module = m.new(ModuleObj(path, m.config.program.module_name(path), run.env))
    m.st.modules = m.st.modules.set(path, module.id)
    attach(m, run)
    m.st.modules = m.st.modules.set(path, module.id)
    return module


def package_without_file(m: Machine, path: str) -> Ref:
    """The module object of a folder without an `__init__`; `path` is where that would be."""
    known = m.module(path)
    if known is not None:
        return Ref(known)
    module = m.new(ModuleObj(path, m.config.program.module_name(path), m.new(Env(Map(), None, path)).id))
    m.st.modules = m.st.modules.set(path, module.id)
    return module


def deferred(path: str, name: str | None = None) -> Unknown:
    """A module that cannot run yet, or one of its names."""
    return Unknown(symbol=("deferred", path, name))


def resolved(m: Machine, value: Value) -> Value:
    """What a late name currently refers to."""
    if not isinstance(value, Unknown) or not isinstance(value.symbol, tuple) or value.symbol[:1] != ("deferred",):
        return value
    _, path, name = value.symbol
    module = import_path(m, path)
    if module is None or name is None:
        return module or value
    return member(m, module, name) or value


def member(m: Machine, module: Ref, name: str) -> Value | None:
    """A name of a module: one that its code binds, or an imported submodule."""
    found = m.st.get(module.id)
    if not isinstance(found, ModuleObj):
        return None
    value = m.variables(found.env, name).vars.get(name)
    if value is not None:
        return value if value == deferred(found.path, name) else resolved(m, value)
    inner = m.config.program.find_import(found.path, name, 1) or found.path.rsplit("/", 1)[0] + f"/{name}/__init__.py"
    ident = m.module(inner)
    return None if ident is None else Ref(ident)


def namespace(m: Machine, env: int) -> Ref:
    """A dict of a module's names, as of now."""
    found = m.env(env)
    items: dict[Value, Value] = {Const(name): resolved(m, value) for name, value in by_name(found.vars)}
    return m.new(DictObj(Map(items), tuple(items), Unknown() if found.open else None))


def _take_over(m: Machine, ident: int, theirs: HeapObject) -> None:
    ours = m.st.find(ident)
    if ours is theirs or ours == theirs:
        return
    block = m.st.frozen.get(ident >> BLOCK_BITS)
    base = None if block is None else block.get(ident)
    if ours is base or ours is None:
        m.st.put(ident, theirs)
    elif theirs != base:
        _merge(m, ident, base, ours, theirs)


def _merge(m: Machine, ident: int, base: HeapObject | None, ours: HeapObject, theirs: HeapObject) -> None:
    """Both sides have changed `base`: first ours, then theirs."""
    match base, ours, theirs:
        case DictObj(), DictObj(), DictObj():
            added = {k: v for k, v in theirs.entries if base.items.get(k) != v}
            order = (*ours.order, *(k for k in theirs.order if k not in ours.items))
            rest = ours.rest if theirs.rest == base.rest else theirs.rest
            m.st.put(ident, replace(ours, items=ours.items.update(added), order=order, rest=rest, keys=None))
        case ListObj(), ListObj(), ListObj():
            m.st.put(ident, _merged_lists(base, ours, theirs))
        case SetObj(), SetObj(), SetObj():
            rest = ours.rest if theirs.rest == base.rest else theirs.rest
            m.st.put(ident, SetObj(tuple(dict.fromkeys((*ours.items, *theirs.items))), rest))
        case Env(), Env(), Env():
            m.st.put(ident, replace(ours, vars=_merged_names(base.vars, ours.vars, theirs.vars)))
        case Instance(), Instance(), Instance():
            m.st.put(ident, replace(ours, attrs=_merged_names(base.attrs, ours.attrs, theirs.attrs)))
        case ClassObj(), ClassObj(), ClassObj():
            m.st.put(ident, replace(ours, attrs=_merged_names(base.attrs, ours.attrs, theirs.attrs)))
        case _:
            havoc_object(m, ident, set())


def _merged_names(base: Map[str, Value], ours: Map[str, Value], theirs: Map[str, Value]) -> Map[str, Value]:
    return ours.update({name: value for name, value in theirs.items() if base.get(name) != value})


def _merged_lists(base: ListObj, ours: ListObj, theirs: ListObj) -> ListObj:
    """If one side saw the other's changes, its list is the longer one; otherwise both have appended."""
    if ours.items[: len(theirs.items)] == theirs.items:
        return ours
    if theirs.items[: len(ours.items)] == ours.items:
        return theirs
    known = len(base.items)
    if base.rest is None and ours.rest is None and ours.items[:known] == theirs.items[:known] == base.items:
        return replace(theirs, items=(*ours.items, *(v for v in theirs.items[known:] if v not in ours.items[known:])))
    return replace(theirs, items=(), rest=Unknown(None, None, None, reach_of(*ours.items, *theirs.items)))


def library_value(m: Machine, place: tuple[str, str]) -> Value:
    """The value of a prelude symbol: `place` is its prelude module and name."""
    path, symbol = place
    if m.module(path) is None:
        run = m.config.program.run_module(path, None)
        if run is None:
            return Unknown()
        attach(m, run)
        m.st.modules = m.st.modules.set(path, run.env)
    return m.variables(m.st.modules[path], symbol).vars.get(symbol, Unknown())


def library_call(m: Machine, dotted: str, args: Args) -> Value:
    """Call a function or class of the prelude."""
    place = m.config.program.library(dotted)
    return Unknown() if place is None else call(m, library_value(m, place), args)


class WorkspaceModule(ObjectModel):
    def get_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str) -> Value:
        assert isinstance(found, ModuleObj)
        if name == "__dict__":
            return namespace(m, found.env)
        if name in {"__name__", "__file__"}:
            return Const(found.name if name == "__name__" else found.path)
        return member(m, owner, name) or Unknown()

    def set_attribute(self, m: Machine, owner: Ref, found: HeapObject, name: str, value: Value) -> None:
        assert isinstance(found, ModuleObj)
        m.bind(found.env, name, value)


enter(MODELS, ModuleObj, WorkspaceModule())
