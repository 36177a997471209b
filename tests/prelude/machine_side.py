"""What the machine knows of a program: facts by key, the same keys as `torch_side` has.

`UNKNOWN` stands for what it does not know. Where the program may go several ways, what they differ in is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from analyzers.domain import truth
from analyzers.domain.objects import Counter, DictObj, Edge, Env, Instance, ListObj, Tensor
from analyzers.domain.values import Builtin, Const, Ref, Tup, Unknown, Value
from analyzers.host import Host
from analyzers.host.runs import Program as Door
from analyzers.machine.assembly import run_module
from analyzers.machine.autograd.backward import run_backward
from analyzers.machine.autograd.graph import grad_fn_names, refreshed
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.autograd.trainables import members as members_of
from analyzers.machine.autograd.versions import version_of
from analyzers.machine.core.causes import Raised
from analyzers.machine.core.exceptions import PyRaise
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.probe import Probe
from analyzers.maps import Map
from analyzers.syntax import nodes as n
from tests.prelude.programs import Facts, Program, lines

PATH = "/nowhere/program.py"


class _Unknown:
    def __repr__(self) -> str:
        return "?"


UNKNOWN = _Unknown()


class Analyzer:
    """A host that has read the prelude already."""

    def __init__(self) -> None:
        self.host = Host()

    def run(self, program: Program) -> Facts:
        self.host.set_text(PATH, program.text)
        probe = _Probe()
        with self.host.snapshot()._held() as db:
            run = run_module(Door(db), PATH, main=True, probe=probe)
        if run.out_of_fuel:
            return {("outcome",): "out of fuel"}
        raised = [event for event in run.events if isinstance(event, Raised)]
        if not probe.found:
            return {("outcome",): raised[-1].exception if raised else "?"}
        if raised and all(found["outcome",] is UNKNOWN for found in probe.found):
            # The run has gone on as if nothing had been raised; the program does not.
            return {("outcome",): raised[0].exception}
        return merged(probe.found)


def merged(found: list[Facts]) -> Facts:
    first, *others = found
    return {
        key: value if all(o.get(key, UNKNOWN) == value for o in others) else UNKNOWN for key, value in first.items()
    }


class _Probe(Probe):
    """Looks when the program binds `start`, and again when it binds `end`."""

    def __init__(self) -> None:
        self.found: list[Facts] = []
        self.before: dict[int, int | None] = {}

    def bound(self, m: Machine, node: n.Node, value: Value) -> None:
        if m.frame.library or not isinstance(node, n.Name) or not isinstance(m.frame.statement, n.Assign):
            return
        if node.id == "start":
            for _, ident in watched(m):
                self.before[ident] = version_of(m, tensor_at(m, ident))
        elif node.id == "end":
            state = m.st
            m.st = state.fork()
            self.found.append({("outcome",): UNKNOWN if state.doubtful else "ends", **facts(m, self.before)})
            m.st = state


def names_of(m: Machine) -> Map[str, Value]:
    env = m.st.get(m.frame.env)
    assert isinstance(env, Env)
    return env.vars


def watched(m: Machine) -> list[tuple[str, int]]:
    """The tensors that the program knows by name: operands, and the parameters and buffers of `module`."""
    names = names_of(m)
    found = [(key, names[key]) for key in names if key.startswith("operand")]
    found.sort(key=lambda item: int(item[0].removeprefix("operand")))
    if "module" in names:
        found += members_of(m, names["module"], "_parameters") + members_of(m, names["module"], "_buffers")
    return [(key, value.id) for key, value in found if isinstance(value, Ref) and m.tensor(value) is not None]


def facts(m: Machine, before: dict[int, int | None]) -> Facts:
    names = names_of(m)
    found: Facts = {}
    if "module" in names:
        found |= members(m, names["module"])
    tensors = watched(m)
    known = {ident: name for name, ident in tensors}
    outputs = list(paths(m, names["output"], "output")) if "output" in names else []
    found["outputs",] = UNKNOWN if any(ident is None for _, ident in outputs) else [path for path, _ in outputs]
    for path, ident in outputs:
        if ident is not None:
            found |= {(path, key): value for key, value in describe(m, ident, known).items()}
    for name, ident in tensors:
        found[name, "written"] = written(m, ident, before)
    found |= {(key,): concrete(m, names[key]) for key in names if key.startswith("seen")}
    made = [(path, ident) for path, ident in outputs if ident is not None]
    roots = [ident for _, ident in made if refreshed(m, ident).requires_grad]
    if roots:
        found |= backward(m, roots, [*tensors, *made])
    return found


def written(m: Machine, ident: int, before: dict[int, int | None]) -> Any:
    now = version_of(m, tensor_at(m, ident))
    then = before.get(ident)
    return UNKNOWN if now is None or then is None else now != then


def members(m: Machine, module: Value) -> Facts:
    tables = {
        "parameters": members_of(m, module, "_parameters"),
        "buffers": members_of(m, module, "_buffers"),
        "modules": members_of(m, module, "_modules"),
    }
    found: Facts = {(key,): [name for name, _ in table] for key, table in tables.items()}
    for name, value in [*tables["parameters"], *tables["buffers"]]:
        if isinstance(value, Ref) and m.tensor(value) is not None:
            seen = describe(m, value.id, {})
            found |= {(name, key): seen[key] for key in ("shape", "dtype", "requires_grad", "leaf")}
    return found


def paths(m: Machine, value: Value, path: str) -> Iterator[tuple[str, int | None]]:
    """The tensors in a value, each with the expression that leads to it; None for what is not known."""
    found = m.obj(value)
    match value, found:
        case (Ref(id=ident), Tensor()):
            yield path, ident
        case (Tup(items=items), _) | (_, ListObj(items=items, rest=None)):
            for index, inner in enumerate(items):
                yield from paths(m, inner, f"{path}[{index}]")
        case (_, DictObj(items=items, order=order, rest=None)):
            for key in order:
                yield from paths(m, items[key], f"{path}[{concrete(m, key)!r}]")
        case (Unknown(), _) | (_, ListObj() | DictObj()):
            yield path, None


def describe(m: Machine, ident: int, known: dict[int, str]) -> dict[str, Any]:
    tensor = refreshed(m, ident)
    shape = tensor.shape
    return {
        "shape": UNKNOWN if shape is None or None in shape else shape,
        "dtype": UNKNOWN if tensor.dtype is None else tensor.dtype,
        "requires_grad": known_truth(tensor.requires_grad),
        "leaf": known_truth(tensor.is_leaf),
        "view": UNKNOWN if tensor.aliases else tensor.base is not None,
        "is": UNKNOWN if tensor.aliases else known.get(ident),
        "graph": graph(m, ident, known),
    }


def known_truth(value: truth.Truth) -> Any:
    return UNKNOWN if value is None else value


def graph(m: Machine, ident: int, known: dict[int, str]) -> Any:
    """The graph behind a tensor, unknown as soon as one node of it is."""
    tensor = refreshed(m, ident)
    if grad_fn_names(m, tensor) is None:
        return UNKNOWN
    sure = True

    def label(edge: tuple[int | None, int | None]) -> str:
        nonlocal sure
        node, leaf = edge
        if node is None:
            sure = sure and leaf is not None
            return f"leaf {known.get(leaf or 0)}"
        found = m.node(node)
        sure = sure and len(found.names) == 1 and found.kind != "unknown"
        return found.names[0] if found.names else "?"

    def children(edge: tuple[int | None, int | None]) -> list[tuple[int | None, int | None]]:
        nonlocal sure
        if edge[0] is None:
            return []
        edges = [e for e in m.node(edge[0]).edges if e is not None]
        sure = sure and not any(e.maybe for e in edges)
        return [(e.node, e.leaf) for e in edges]

    root = None if tensor.edge is None else (tensor.edge.node, tensor.edge.leaf)
    found = lines(root, label, children)
    return found if sure else UNKNOWN


def backward(m: Machine, roots: list[int], tensors: list[tuple[str, int]]) -> Facts:
    """What a backward from all outputs gives a gradient to, and of which tensors a write would make it raise."""
    found: Facts = {}
    state = m.st
    m.st = state.fork()
    for _, ident in tensors:
        m.st.put(ident, replace(tensor_at(m, ident), grad=Const(None)))
    try:
        run_backward(m, [(Ref(r), Unknown()) for r in roots], True, False, None, "output")
    except PyRaise as error:
        m.st = state
        return {("backward",): error.name}
    found["backward",] = None
    for name, ident in tensors:
        if not name.startswith("output"):
            grad = tensor_at(m, ident).grad
            found[name, "grad"] = UNKNOWN if isinstance(grad, Unknown) else grad != Const(None)
    m.st = state
    kept = saved(m, roots)
    for name, ident in tensors:
        found[name, "saved"] = kept.get(tensor_at(m, ident).counter, kept[0])
    return found


def saved(m: Machine, roots: list[int]) -> dict[int, Any]:
    """Of each version counter that some node keeps, whether it surely does; under 0, what holds for all others."""
    found: dict[int, Any] = {0: False}
    seen: set[int] = set()
    stack: list[Edge | None] = [refreshed(m, r).edge for r in roots]
    while stack:
        edge = stack.pop()
        if edge is None or (edge.node is None and edge.leaf is not None) or edge.node in seen:
            continue
        if edge.node is None or m.node(edge.node).kind == "unknown":
            found[0] = UNKNOWN
        if edge.node is None:
            continue
        seen.add(edge.node)
        node = m.node(edge.node)
        stack += node.edges
        for kept in node.saved:
            if kept.unpack is not None:
                # What the program's own hook does is not looked into.
                found[0] = UNKNOWN
            if kept.counter is not None:
                sure = not kept.maybe and kept.version is not None
                found[kept.counter] = True if sure or found.get(kept.counter) is True else UNKNOWN
    return found


def concrete(m: Machine, value: Value) -> Any:
    """A plain Python value, with `UNKNOWN` for each part that is not known."""
    found = m.obj(value)
    match value, found:
        case (Const(value=plain), _):
            return plain
        case (Tup(items=items), _):
            return tuple(concrete(m, i) for i in items)
        case (_, ListObj(items=items, rest=None)):
            return [concrete(m, i) for i in items]
        case (_, DictObj(items=items, order=order, rest=None)):
            return {concrete(m, key): concrete(m, items[key]) for key in order}
        case (Builtin(name=name), _):
            return name
        case (Ref(id=ident), Tensor()):
            return describe(m, ident, {})
        case (_, Instance() | Counter() | None):
            return UNKNOWN
    return UNKNOWN
