"""The roles of names, inferred from how they are used: a model, an optimizer, a loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from analyzers.domain.copies import replace
from analyzers.domain.lineage import Loc
from analyzers.domain.objects import ClassObj, HeapObject, Instance, by_name
from analyzers.domain.values import NONE, Func
from analyzers.machine.core.events import BackwardCall, Event, StepCall
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame, whole
from analyzers.machine.core.program import Program, Unresolved
from analyzers.machine.entries.known_makers import made_by
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import Role, aliases_in, parts_in, roles_in

Find: TypeAlias = Callable[[int], HeapObject | None]


KINDS = frozenset({"module", "optimizer", "tensor"})
"""The kinds of library results that a presumed run can create."""


def may_be_filled(program: Program, unresolved: Unresolved, find: Find, outside_kind: Callable[[str], str]) -> bool:
    """Whether a name's role, or knowledge about a library, could stand in for something that a run did not know."""
    return (
        unresolved.data
        or any(not names.isdisjoint(_roles(program, *place, find)) for place, names in unresolved.names.items())
        or any(made_by(name) or outside_kind(name) in KINDS for name in unresolved.calls)
    )


def fills_names(
    program: Program, unresolved: Unresolved, find: Find, outside_kind: Callable[[str], str], module: str
) -> bool:
    """The same for what a module's top level did not know, apart from data."""
    at_top = Unresolved({k: v for k, v in unresolved.names.items() if k == (module, None)}, unresolved.calls)
    return may_be_filled(program, at_top, find, outside_kind)


def loses_a_backward(events: Iterable[Event]) -> bool:
    """Whether some `backward()` has never met a graph that is known whole."""
    calls: dict[Loc, list[BackwardCall]] = {}
    for event in events:
        if isinstance(event, BackwardCall):
            calls.setdefault(event.site.loc, []).append(event)
    return any(all(one.unknown for one in met) for met in calls.values())


def hangs_on_data(events: Iterable[Event]) -> bool:
    """Whether some `step()` has never met a gradient for sure, and perhaps has met some."""
    steps: dict[Loc, list[StepCall]] = {}
    for event in events:
        if isinstance(event, StepCall):
            steps.setdefault(event.site.loc, []).append(event)
    return any(all(one.unknown and not one.with_grad for one in calls) for calls in steps.values())


def _roles(program: Program, module: str, func: Func | None, find: Find) -> dict[str, Role]:
    return roles_in_module(program, module) if func is None else roles_in_function(program, func, find)


def roles_in_module(program: Program, module: str) -> dict[str, Role]:
    """The roles of names in a module's top-level statements; its functions use them too."""
    statements, functions = _written(program, module)
    return roles_in(statements, functions=functions)


def _written(program: Program, module: str) -> tuple[list[n.Stmt], list[n.FunctionDef]]:
    """The statements of a module, and its functions."""
    keys = [reference.key for reference in program.body(module) if isinstance(reference, n.ChunkRef)]
    heads = [(key, statement) for key in keys for statement in program.head(module, key).body]
    statements: list[n.Stmt] = [s for _, s in heads if not isinstance(s, n.FunctionHead | n.ClassDef)]
    bodies = (program.chunk(module, key).body for key, s in heads if isinstance(s, n.FunctionHead))
    return statements, [s for body in bodies for s in body if isinstance(s, n.FunctionDef)]


def parts_of(m: Machine, module: str, func: Func | None, name: str, env: int) -> tuple[str, ...]:
    """The attributes of a name that are modules, as far as the function around it tells, or the class of its `self`."""
    owner = _class_of_self(m, func, env) if func is not None and name.startswith("self.") else None
    key = (module, owner, None if func is None else (func.chunk, func.qualname))
    if key not in m.indexes.parts:
        program = m.config.program
        trees: Sequence[n.Node] = _written(program, module)[0] if func is None else [whole(program, func)]
        m.indexes.parts[key] = parts_in(
            trees if owner is None else [whole(program, each) for each in _methods(owner, m.st.find)]
        )
    return tuple(sorted(m.indexes.parts[key].get(name, ())))


def roles_in_function(program: Program, func: Func, find: Find, owner: int | None = None) -> dict[str, Role]:
    """The roles of names in a function, including the attributes of `owner`, or of its own class; `find` looks up an
    id."""
    node = whole(program, func)
    own = roles_in([node])
    owner = func.owner if owner is None else owner
    of_class = _roles_in_class(program, owner, find) if owner is not None else {}
    if isinstance(node, n.FunctionDef):
        for name, attribute in aliases_in(node).items():
            if attribute in of_class:
                own.setdefault(name, of_class[attribute])
    return {**own, **of_class}


def _roles_in_class(program: Program, cls: int, find: Find) -> dict[str, Role]:
    is_module = any(each.module.startswith("<") and each.qualname == "Module" for each in _classes(cls, find))
    methods = _methods(cls, find)
    if all(isinstance(each.node, n.FunctionHead) for each in methods):
        return {**program.roles_in_methods(tuple([(each.module, each.chunk) for each in methods]), is_module)}
    return roles_in([whole(program, each) for each in methods], of_module=is_module)


def _classes(cls: int, find: Find) -> list[ClassObj]:
    """A class and those that it inherits from."""
    found = find(cls)
    ancestry = found.ancestry if isinstance(found, ClassObj) else ()
    classes = [find(ancestor) for ancestor in ancestry if isinstance(ancestor, int)]
    return [each for each in classes if isinstance(each, ClassObj)]


def _methods(cls: int, find: Find) -> list[Func]:
    """The methods of a class that the program wrote."""
    own = [each for each in _classes(cls, find) if not each.module.startswith("<")]
    return [value for each in own for _, value in by_name(each.attrs) if isinstance(value, Func)]


Roles = dict[str, Role]


def roles_of(m: Machine, frame: Frame) -> Roles:
    """The roles of names used by the code in this frame."""
    if frame.func is not None:
        return roles_of_function(m, frame.func, frame.env)
    return _remembered(m, frame.module, lambda: roles_in_module(m.config.program, frame.module))


def roles_of_function(m: Machine, func: Func, env: int) -> Roles:
    """The roles of names in a function that runs in `env`: a method of a base class knows what the subclass does."""
    owner = _class_of_self(m, func, env)
    key = (func.module, func.chunk, func.qualname, owner)
    return _remembered(m, key, lambda: roles_in_function(m.config.program, func, m.st.find, owner))


def of_self(m: Machine, func: Func | None, env: int) -> Func | None:
    """A method as one of the class of its `self`."""
    return None if func is None else replace(func, owner=_class_of_self(m, func, env))


def _class_of_self(m: Machine, func: Func, env: int) -> int | None:
    """The class of the object whose method a function is, or that in which it is written."""
    found = m.obj(m.env(env).vars.get("self", NONE)) if func.owner is not None else None
    if isinstance(found, Instance) and isinstance(found.cls, int) and func.owner != found.cls:
        cls = m.st.find(found.cls)
        if isinstance(cls, ClassObj) and func.owner in cls.ancestry:
            return found.cls
    return func.owner


def _remembered(m: Machine, key: object, find: Callable[[], Roles]) -> Roles:
    if key not in m.indexes.roles:
        m.indexes.roles[key] = find()
    return m.indexes.roles[key]
