"""What a module's memory may look like when one of its functions is called.

A function that no run enters is run in its module's final state, but anything in that state may have changed by then: a
name that some function declares `global`, the contents of lists and dicts, the attributes of objects and classes, which
tensors require grad. What stays is what programs hardly ever change: functions, classes, modules, and leaves that
require grad, unless the file mentions `requires_grad` in a function.

    _kernel = None
    def load():
        global _kernel
        _kernel = build()
    def use():
        _kernel.backward()  # perhaps None, perhaps not
"""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.domain.copies import replace
from analyzers.domain.join import reach_of
from analyzers.domain.objects import ClassObj, Tensor, by_name
from analyzers.domain.values import NONE, Const, Ref, Unknown, Value
from analyzers.machine.autograd.accumulation import with_gradient_perhaps
from analyzers.machine.core.havoc import havoc_value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.program import ModuleRun
from analyzers.maps import Map
from analyzers.syntax import nodes as n


def havoc_globals(m: Machine, run: ModuleRun, values: Iterable[Value] = ()) -> None:
    """Keep only what holds whenever the module's functions are called, in its names and in `values`."""
    names = m.env(run.env).vars
    rebound, freezes = m.config.program.habits(run.path)
    for name in sorted(rebound):
        if name in names:
            m.bind(run.env, name, Unknown(None, None, None, reach_of(names[name])))
    m.extent.forgets = "all" if freezes else "state"
    seen: set[int] = set()
    for value in (*(value for _, value in by_name(m.env(run.env).vars)), *values):
        found = m.obj(value)
        if isinstance(found, ClassObj) and isinstance(value, Ref):
            if not found.module.startswith("<"):
                _forget_class(m, value, found, seen)
        else:
            havoc_value(m, value, seen)
    m.extent.forgets = ""


def forget_gradients(m: Machine) -> None:
    """A function that somebody calls later finds leaves that a backward has filled since, perhaps."""
    for ident, tensor in m.st.made(Tensor):
        if tensor.is_leaf is not False:
            m.st.put(ident, with_gradient_perhaps(ident, tensor))


def forget_empty(m: Machine, cls: int) -> None:
    """An attribute of a class that is None is there to be filled."""
    found = m.st.find(cls)
    attrs = found.attrs if isinstance(found, ClassObj) else Map[str, Value]()
    empty = {name: Unknown() for name, value in by_name(attrs) if value == NONE}
    if isinstance(found, ClassObj) and empty:
        m.st.put(cls, replace(found, attrs=found.attrs.update(empty)))


FREEZING = ("requires_grad", "requires_grad_")


def habits_of(chunk: n.Chunk) -> tuple[frozenset[str], bool]:
    """The names declared `global` by functions in a chunk, and whether any function freezes tensors."""
    if b"global" not in chunk.text and b"requires_grad" not in chunk.text:
        return frozenset(), False
    functions = [node for node in n.walk(chunk.body) if isinstance(node, n.FunctionDef)]
    names = frozenset(name for node in n.walk(functions) if isinstance(node, n.Global) for name in node.names)
    return names, n.mentions(tuple(functions), *FREEZING)


def _forget_class(m: Machine, cls: Ref, found: ClassObj, seen: set[int]) -> None:
    attrs = found.attrs
    for name, value in by_name(found.attrs):
        if isinstance(value, Const) and not isinstance(value.value, str):
            attrs = attrs.set(name, Unknown())
        elif isinstance(value, Ref):
            havoc_value(m, value, seen)
    m.st.put(cls.id, replace(found, attrs=attrs))
