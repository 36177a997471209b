"""The variables from enclosing scopes that a function reads and rebinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import is_

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, DictObj, Env, HeapObject, Instance, ListObj, SetObj, by_name
from analyzers.domain.values import Builtin, Func, Ref, Unknown, Value
from analyzers.machine.core.havoc import havoc_object, havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.ports import PORTS
from analyzers.machine.core.program import Captured
from analyzers.machine.core.registries import SWITCHES
from analyzers.machine.core.signals import GivenAway, tell
from analyzers.machine.interpreter.captured import captured_by
from analyzers.machine.objects.havoc import havoc_instance, some
from analyzers.maps import Map
from analyzers.syntax.nodes import FunctionDef, Lambda

MOST_ALIKE = 16
"""The most functions of one definition that are known to be in the hands of unknown code."""


def havoc_captured(m: Machine, func: Func) -> None:
    """Unknown code was passed a function and may call it, now or later: havoc what it fills and rebinds."""
    if func.module.startswith("<") or m.extent.forgets:
        return
    give_away(m, func)
    tell(m, GivenAway(func))
    if _may_walk(m, func):
        PORTS.autograd.walked_unseen(m)
    _havoc_captured(m, func)


def give_away(m: Machine, func: Func) -> None:
    """Unknown code has a function, such as the one it decorates, and may call it whenever it runs."""
    m.opaque()
    alike = [known for known in m.st.callbacks if known.node is func.node]
    around = _around(m, func)
    dropped = {*(known for known in alike if _around(m, known) == around), *alike[:-MOST_ALIKE]}
    m.st.callbacks = (*(known for known in m.st.callbacks if known not in dropped), func)
    m.st.writes_out = m.st.writes_out or writes_what_it_is_passed(m, func)
    m.st.switches_out = m.st.switches_out or _switches_modes(m, func)


def _around(m: Machine, func: Func) -> tuple[object, ...]:
    """What tells apart functions of one definition: the objects that they use, and where they rebind names."""
    captured = _captured(m, func)
    held: list[object] = [func.env] if captured.rebound else []
    for name in sorted({path.partition(".")[0] for path in captured.used}):
        at = _holder(m, func.env, name)
        value = m.variables(at, name).vars[name] if at is not None else None
        held += [value] if isinstance(value, Ref) else []
    return tuple(held)


def writes_what_it_is_passed(m: Machine, func: Func) -> bool:
    return _captured(m, func).writes


def _may_walk(m: Machine, func: Func) -> bool:
    """Whether a function runs a backward, itself or in what it calls."""
    around = list(_scopes(m, func))
    known = m.indexes.walks.get(func)
    if known is None or len(known[0]) != len(around) or not all(map(is_, known[0], around)):
        walks = any(calls_backward(m, callee) for callee in reached_from(m, func)[0])
        known = m.indexes.walks[func] = around, walks
    return known[1]


def _scopes(m: Machine, func: Func) -> Iterator[Env]:
    """The environments around a function as they are: each that is bound in is another object."""
    at: int | None = func.env
    while at is not None and isinstance(found := m.st.find(at), Env):
        yield found
        at = found.parent


def calls_backward(m: Machine, func: Func) -> bool:
    """Whether the body of a function of the program calls a `backward`."""
    return not func.module.startswith("<") and _captured(m, func).walks


def run_callbacks(m: Machine) -> None:
    """Unknown code runs: it may call any function that unknown code was ever passed."""
    if m.test(_are_there, None):
        m.opaque()
        known = m.indexes.touched_by
        if known is None or known[0] is not m.st.callbacks:
            # Many functions of a module touch the same names.
            everything = dict.fromkeys(each for func in m.st.callbacks for each in _touched(m, func))
            walks = any(_may_walk(m, func) for func in m.st.callbacks)
            known = m.indexes.touched_by = (m.st.callbacks, tuple(everything), walks)
        _havoc_touched(m, known[1])
        if known[2]:
            PORTS.autograd.walked_unseen(m)


def _are_there(m: Machine, asked: None) -> bool:
    """Whether unknown code was passed any."""
    del asked
    return bool(m.st.callbacks)


def _havoc_captured(m: Machine, func: Func) -> None:
    _havoc_touched(m, _touched(m, func))


def _touched(m: Machine, func: Func) -> Iterator[tuple[int, str, bool]]:
    """What a function may fill or rebind: paths from names around its environment, and whether it rebinds the name."""
    used, _, rebound, *_ = _captured(m, func)
    for path in sorted(used, reverse=True):
        yield func.env, path, path.partition(".")[0] in rebound


def _havoc_touched(m: Machine, touched: Iterable[tuple[int, str, bool]]) -> None:
    for env, path, is_rebound in touched:
        name, _, attributes = path.partition(".")
        at = _holder(m, env, name)
        if at is None:
            continue
        value = m.variables(at, name).vars[name]
        if is_rebound:
            m.bind(at, name, Unknown(None, None, None, reach_of(value)))
        elif attributes:
            _havoc_container(m, value, attributes.split("."))
        elif isinstance(value, Ref):
            _havoc_contents(m, value)


def _switches_modes(m: Machine, func: Func) -> bool:
    """Whether a function names what changes grad mode: unknown code may make a context manager of it."""
    used, bare, *_ = _captured(m, func)
    for path in used:
        name, _, rest = path.partition(".")
        at = _holder(m, func.env, name)
        value = m.variables(at, name).vars[name] if at is not None else None
        if isinstance(value, Builtin) and (path in bare or not any(other.startswith(path + ".") for other in used)):
            dotted = f"{value.name}.{rest}" if rest else value.name
            if dotted in SWITCHES:
                return True
    return False


def _havoc_container(m: Machine, holder: Value, attributes: list[str]) -> None:
    """The list or dict that an object holds under a path of attributes: what is filled there may be filled now."""
    for attribute in attributes:
        found = m.obj(holder)
        if not isinstance(found, Instance) or attribute not in found.attrs:
            return
        holder = found.attrs[attribute]
    if isinstance(holder, Ref) and isinstance(m.obj(holder), ListObj | DictObj | SetObj):
        _havoc_contents(m, holder)


def havoc_written_by(m: Machine, written: Iterable[tuple[int, HeapObject]]) -> None:
    """Havoc what an abandoned call was seen to write."""
    seen: set[int] = set()
    for ident, theirs in written:
        match m.st.find(ident), theirs:
            case Env(vars=ours), Env(vars=new):
                for name in _differing(ours, new):
                    values = [held[name] for held in (ours, new) if name in held]
                    m.bind(ident, name, Unknown(None, None, None, reach_of(*values)))
            case ClassObj(attrs=ours) as found, ClassObj(attrs=new):
                doubted = {name: Unknown() for name in _differing(ours, new)}
                m.st.put(ident, replace(found, attrs=ours.update(doubted)))
            case None, _:
                pass
            case known, _ if known is not theirs:
                havoc_object(m, ident, seen)


def havoc_named(m: Machine, func: Func) -> None:
    """Havoc what a call that nobody has followed may have done to what it, and the functions it calls, name."""
    callees, objects = reached_from(m, func)
    for callee in callees:
        if not callee.module.startswith("<"):
            _havoc_captured(m, callee)
    for named in objects:
        havoc_value(m, named)


def _differing(ours: Map[str, Value], theirs: Map[str, Value]) -> list[str]:
    return sorted(name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name))


def reached_from(m: Machine, func: Func) -> tuple[list[Func], list[Ref]]:
    """A function, the functions it names, the functions those name, and so on; and the objects that they name."""
    found = [func]
    known = {func}
    objects: dict[Ref, None] = {}
    for callee in found:
        if callee.module.startswith("<"):
            continue
        for name in _named_by(m, callee):
            at = _holder(m, callee.env, name)
            if at is None:
                continue
            value = m.variables(at, name).vars[name]
            named = m.obj(value)
            if isinstance(value, Ref) and isinstance(named, Instance):
                objects[value] = None
            parts = [part for _, part in by_name(named.attrs)] if isinstance(named, ClassObj) else [value]
            new = dict.fromkeys(part for part in parts if isinstance(part, Func) and part not in known)
            found += new
            known.update(new)
    return found, list(objects)


def _named_by(m: Machine, func: Func) -> list[str]:
    """The names and paths that the whole text of a function mentions, in order."""
    key = (func.module, func.chunk, func.qualname, func.node.start)
    known = m.indexes.named.get(key)
    if known is None:
        known = m.indexes.named[key] = sorted(captured_by(m.whole(func)).used)
    return known


def _holder(m: Machine, env: int, name: str) -> int | None:
    """The nearest environment, from one outwards, that binds a name."""
    at: int | None = env
    while at is not None and name not in (scope := m.variables(at, name)).vars:
        at = scope.parent
    return at


def _captured(m: Machine, func: Func) -> Captured:
    node = func.node
    if not isinstance(node, FunctionDef | Lambda):
        return m.config.program.captured(func.module, func.chunk)
    key = (func.module, func.chunk, func.qualname, node.start)
    known = m.indexes.captured.get(key)
    if known is None:
        known = m.indexes.captured[key] = captured_by(node)
    return known


def _havoc_contents(m: Machine, holder: Ref) -> None:
    """Make a container's contents unknown; the objects in it are unchanged."""
    match m.obj(holder):
        case ListObj(items=items, rest=rest, kind=kind) if kind != "fixed":
            m.st.put(holder.id, ListObj((), Unknown(None, None, None, reach_of(*items, *some(rest))), kind))
        case DictObj(rest=rest) as found:
            everything = Unknown(None, None, None, reach_of(*found.values, *some(rest)))
            held = {key: Unknown(None, None, None, reach_of(value)) for key, value in found.entries}
            m.st.put(holder.id, replace(found, items=Map(held), rest=everything, keys=None))
        case SetObj(items=items) if items:
            m.st.put(holder.id, SetObj((), Unknown(None, None, None, reach_of(*items))))
        case Instance() as found if not m.st.is_library(found):
            havoc_instance(m, holder.id, found)
