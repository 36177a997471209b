"""Programs of plain Python, run by the rooms that run Python: nothing of torch, numpy or the standard library is there.

python -m tests.interpreter.by_machine            # what every program leaves, and the rooms that were loaded, as JSON
python -m tests.interpreter.by_machine NAME       # one program, to read
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from analyzers.domain.objects import ClassObj, DictObj, Instance, ListObj, SetObj
from analyzers.domain.values import Const, Func, Method, Ref, Tup, Value
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.registries import MODELLED
from analyzers.machine.interpreter import (
    calls,
    classes,
    comprehensions,
    conditions,
    decorators,
    expressions,
    generators,
    handlers,
    imports,
    linking,
    loops,
    names,
    patterns,
    port,
    statements,
    targets,
    with_blocks,
)  # fmt: skip
from analyzers.machine.interpreter.dispatch import run_block
from analyzers.machine.objects import attributes, containers, instances, strings, unknown_values
from tests.interpreter.programs import PROGRAMS
from tests.support.alone import PATH, machine, rooms_loaded

TABLES_OF = (
    calls, classes, comprehensions, conditions, decorators, expressions, generators, handlers, imports, linking, loops,
    names, patterns, port, statements, targets, with_blocks, attributes, containers, instances, strings, unknown_values,
)  # fmt: skip
"""What fills the tables of these rooms."""

UNKNOWN = "?"


def ending(text: str) -> dict[str, object]:
    """What the names of a program hold at its end, and what it raised."""
    m = machine(text)
    flow = run_block(m, m.config.program.body(PATH), [m.st])
    (m.st, raised), *others = [*((state, None) for state in flow.normal), *flow.raises]
    if others:
        return {"ways": 1 + len(others)}
    held = m.env(m.frame.env).vars
    found = {name: spelled(m, value) for name, value in sorted(held.items()) if not name.startswith("_")}
    return {"names": found, "raised": None if raised is None else raised.name}


def spelled(m: Machine, value: Value) -> object:
    """A value as JSON can say it, the same as `tests.interpreter.test_programs` says CPython's."""
    found = m.obj(value)
    match value, found:
        case Const(value=complex() | bytes() as plain), _:
            return repr(plain)
        case Const(value=plain), _:
            return [type(plain).__name__, plain]
        case Tup(items=items), _:
            return ["tuple", [spelled(m, item) for item in items]]
        case Ref(), ListObj(items=items, rest=None):
            return ["list", [spelled(m, item) for item in items]]
        case Ref(), SetObj(items=items, rest=None):
            return ["set", sorted((spelled(m, item) for item in items), key=repr)]
        case Ref(), DictObj(entries=entries, rest=None):
            return ["dict", [[spelled(m, key), spelled(m, item)] for key, item in entries]]
        case Ref(), Instance(attrs=attrs):
            return ["object", {name: spelled(m, held) for name, held in sorted(attrs.items())}]
        case (Func() | Method(), _) | (Ref(), ClassObj()):
            return "callable"
    return UNKNOWN


def main(chosen: Sequence[str]) -> None:
    MODELLED.add("builtins")
    endings = {name: ending(PROGRAMS[name]) for name in chosen or PROGRAMS}
    print(json.dumps(endings, indent=2) if chosen else json.dumps({"rooms": rooms_loaded(), "endings": endings}))


if __name__ == "__main__":
    main(sys.argv[1:])
