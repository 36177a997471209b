"""What a run did not know, and a presumed one might: without any, the presumed run would be the same once more.

net = build(args)          # a gap: of `net` nothing is known, and its uses say that it is a model
loss = net(x).sum()
loss.backward()
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from analyzers.domain.objects import ClassObj, HeapObject, by_name
from analyzers.domain.values import Func, Unknown, Value
from analyzers.syntax import nodes as n
from analyzers.syntax.roles import Role, aliases_in, roles_in

if TYPE_CHECKING:
    from analyzers.machine.core import Program

Find: TypeAlias = "Callable[[int], HeapObject | None]"

KINDS = frozenset({"module", "optimizer", "tensor"})
"""Things that libraries make, as far as a presumed run makes them too."""


@dataclass(slots=True)
class Gaps:
    """`names` were bound to values of which nothing is known, by module and function (None: on the module's level);
    `calls` are the functions of libraries that were called unseen, `data` says that a loader's items are."""

    names: dict[tuple[str, Func | None], set[str]] = field(default_factory=dict)
    calls: set[str] = field(default_factory=set)
    data: bool = False

    def note(self, module: str, func: Func | None, name: str) -> None:
        self.names.setdefault((module, func), set()).add(name)


def says_nothing(value: Value) -> bool:
    return isinstance(value, Unknown) and value.type is None


def may_be_filled(program: Program, gaps: Gaps, find: Find, outside_kind: Callable[[str], str]) -> bool:
    """Whether the role of some name, or what is known of a library, stands in for what a run did not know."""
    return (
        gaps.data
        or any(not names.isdisjoint(_roles(program, *place, find)) for place, names in gaps.names.items())
        or any(outside_kind(name) in KINDS for name in gaps.calls)
    )


def _roles(program: Program, module: str, func: Func | None, find: Find) -> dict[str, Role]:
    return roles_in_module(program, module) if func is None else roles_in_function(program, func, find)


def roles_in_module(program: Program, module: str) -> dict[str, Role]:
    """The roles of the names in a module's own statements."""
    keys = [reference.key for reference in program.body(module) if isinstance(reference, n.ChunkRef)]
    statements = (statement for key in keys for statement in program.head(module, key).body)
    return roles_in([s for s in statements if not isinstance(s, n.FunctionHead | n.ClassDef)])


def roles_in_function(program: Program, func: Func, find: Find) -> dict[str, Role]:
    """The roles of the names in a function, those of its class's attributes too; `find` gives what an id stands for."""
    from analyzers.machine.core import whole

    node = whole(program, func)
    own = roles_in([node])
    of_class = _roles_in_class(program, func.owner, find) if func.owner is not None else {}
    if isinstance(node, n.FunctionDef):
        for name, attribute in aliases_in(node).items():
            if attribute in of_class:
                own.setdefault(name, of_class[attribute])
    return {**own, **of_class}


def _roles_in_class(program: Program, cls: int, find: Find) -> dict[str, Role]:
    from analyzers.machine.core import whole

    found = find(cls)
    if not isinstance(found, ClassObj):
        return {}
    classes = [find(ancestor) for ancestor in found.ancestry if isinstance(ancestor, int)]
    return roles_in(
        [
            whole(program, value)
            for each in classes
            if isinstance(each, ClassObj) and not each.module.startswith("<")
            for _, value in by_name(each.attrs)
            if isinstance(value, Func)
        ]
    )
