"""What the analyzer says that a case leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzers.domain.objects import VERSION_BASE, Counter, DictObj, Edge, ListObj, Tensor
from analyzers.domain.values import Const, Ref, Tup, Unknown, Value
from analyzers.drafting.base import Facts
from analyzers.host import Host
from analyzers.host.places import Positions
from analyzers.host.runs import Program, module_run
from analyzers.machine.autograd.graph import edge_to, refreshed
from analyzers.machine.autograd.tensors import tensor_at
from analyzers.machine.core.causes import Raised
from analyzers.machine.core.machine import Machine
from analyzers.machine.core.places import Frame
from analyzers.machine.core.program import ModuleRun
from analyzers.syntax import nodes as n
from tests.ops.cases import Case, Flags
from tests.ops.seen import UNKNOWN, GraphNode, Seen, SeenTensor

PATH = "/nowhere/program.py"
DEPTH = 64


class Analyzer:
    """One host for many programs."""

    def __init__(self) -> None:
        self.host = Host()

    def observe(self, case: Case, flags: Flags) -> Seen:
        """Interpret the case's program, and look at the state that it ends in."""
        self.host.set_text(PATH, case.program(flags))
        with self.host.lock, self.host.world.snapshot(None):
            run = module_run(self.host.world, PATH)
            facts = Facts(run, Positions(self.host.world))
            certain = [event for event in facts.of(Raised) if facts.is_certain(event)]
            if certain:
                return Seen(certain[0].message, {}, [])
            return _Reader(self._machine(run), run, flags, len(case.operands)).read()

    def _machine(self, run: ModuleRun) -> Machine:
        machine = Machine(Program(self.host.world), run.block, run.next_id)
        machine.st = run.state.fork()
        root = n.Pass(0, 0)
        machine.extent.frames.append(Frame(run.path, "", "<module>", run.env, None, False, root, root))
        return machine


class _Reader:
    def __init__(self, m: Machine, run: ModuleRun, flags: Flags, operands: int) -> None:
        self.m = m
        self.names = m.env(run.env).vars
        self.operands = [self.names[f"t{i}"] for i in range(operands)]
        self.leaves: dict[int, str] = {}
        for i in flags.requires:
            leaf = self.names[f"t{i}" if flags.leaf else f"leaf{i}"]
            assert isinstance(leaf, Ref)
            self.leaves[leaf.id] = f"leaf{i}"
        self.reached: dict[int, bool] = {}

    def read(self) -> Seen:
        seen = Seen(None, {}, [])
        value = self.names.get("r", Unknown())
        results = dict(self.flat("r", value))
        tensors = [v for v in (*results.values(), *self.operands) if self.m.tensor(v) is not None]
        for name, found in results.items():
            seen.results[name] = self.look(name, found, self.operands)
        for i, operand in enumerate(self.operands):
            there = self.look(f"t{i}", operand, []) or SeenTensor(f"t{i}")
            there.written = self.written(operand)
            seen.operands.append(there)
        del tensors
        sure = self.walk(list(results.values()))
        for name, found in results.items():
            if (there2 := seen.results[name]) is not None:
                there2.saved = self.saved(found, sure)
        for there3, operand in zip(seen.operands, self.operands, strict=True):
            there3.saved = self.saved(operand, sure)
        seen.keeps = self.keeps(sure)
        seen.refuses = self.refuses(sure)
        return seen

    def flat(self, name: str, value: Value) -> Iterator[tuple[str, Value]]:
        found = self.m.obj(value)
        items = value.items if isinstance(value, Tup) else None
        if isinstance(found, ListObj) and found.rest is None:
            items = found.items
        if items is None:
            yield name, value
            return
        for i, item in enumerate(items):
            yield from self.flat(f"{name}[{i}]", item)

    def look(self, name: str, value: Value, operands: list[Value]) -> SeenTensor | None:
        found = self.m.tensor(value)
        if found is None or not isinstance(value, Ref):
            return SeenTensor(name) if isinstance(value, Unknown) else None
        tensor = refreshed(self.m, value.id)
        seen = SeenTensor(name, _truth(tensor.requires_grad), _truth(tensor.is_leaf))
        seen.shape = UNKNOWN if tensor.shape is None else tensor.shape
        seen.dtype = tensor.dtype or UNKNOWN
        seen.contiguous = _truth(tensor.contiguous)
        seen.graph = self.graph(value.id, tensor)
        if operands:
            self.relate(seen, value, tensor, operands)
        return seen

    def relate(self, seen: SeenTensor, value: Ref, tensor: Tensor, operands: list[Value]) -> None:
        ids = [v.id if isinstance(v, Ref) else -1 for v in operands]
        others = [tensor_at(self.m, i) for i in ids]
        if value.id in ids:
            seen.same_as = ids.index(value.id)
        else:
            seen.same_as = UNKNOWN if tensor.aliases else -1
        perhaps = tensor.perhaps_of is not None and any(t.storage == tensor.storage for t in others)
        if value.id in ids or not tensor.aliases:
            seen.shares = next((k for k, t in enumerate(others) if t.counter == tensor.counter), -1)
            if seen.shares == -1 and perhaps:
                seen.shares = UNKNOWN
        if tensor.base is not None:
            seen.view_of = ids.index(tensor.base) if tensor.base in ids else -1
        elif value.id in ids or seen.shares != UNKNOWN:
            seen.view_of = -1

    def graph(self, ident: int, tensor: Tensor) -> Any:
        if tensor.requires_grad is None:
            return UNKNOWN
        return self.edge(edge_to(self.m, ident), DEPTH)

    def edge(self, edge: Edge | None, depth: int) -> Any:
        if edge is None:
            return None
        if edge.maybe or depth == 0:
            return UNKNOWN
        if edge.leaf is not None:
            return GraphNode((self.leaves.get(edge.leaf, "another leaf"),), ())
        if edge.node is None:
            return UNKNOWN
        node = self.m.node(edge.node)
        if node.kind == "unknown" or not node.names:
            return GraphNode(node.names or None, None)
        return GraphNode(node.names, tuple(self.edge(child, depth - 1) for child in node.edges))

    def written(self, operand: Value) -> Any:
        tensor = self.m.tensor(operand)
        counter = self.m.st.get(tensor.counter) if tensor is not None else None
        if not isinstance(counter, Counter) or counter.version is None or counter.version >= VERSION_BASE:
            return UNKNOWN
        return counter.version > 0

    def walk(self, roots: list[Value]) -> bool:
        """Collect the nodes behind the results; False when some may be missing."""
        sure = True
        stack: list[tuple[Edge | None, bool]] = []
        for value in roots:
            tensor = self.m.tensor(value)
            if tensor is None or not isinstance(value, Ref):
                sure = sure and not isinstance(value, Unknown)
                continue
            if tensor.requires_grad is None:
                sure = False
            stack.append((edge_to(self.m, value.id), tensor.requires_grad is None))
        while stack:
            edge, maybe = stack.pop()
            if edge is None or edge.leaf is not None:
                continue
            maybe = maybe or edge.maybe
            if edge.node is None:
                sure = False
                continue
            if self.reached.get(edge.node, True) <= maybe and edge.node in self.reached:
                continue
            self.reached[edge.node] = maybe
            node = self.m.node(edge.node)
            if node.kind == "unknown" or not node.names:
                sure = False
            stack += [(child, maybe) for child in node.edges]
        return sure

    def saved(self, value: Value, sure: bool) -> Any:
        tensor = self.m.tensor(value)
        if tensor is None:
            return UNKNOWN
        found: Any = False
        for ident, maybe in self.reached.items():
            for saved in self.m.node(ident).saved:
                if saved.counter == tensor.counter:
                    if not (maybe or saved.maybe):
                        return True
                    found = UNKNOWN
                elif saved.storage is not None and saved.storage == tensor.storage:
                    found = UNKNOWN
        return found if sure else UNKNOWN

    def keeps(self, sure: bool) -> Any:
        found: Any = False
        for ident, maybe in self.reached.items():
            node = self.m.node(ident)
            if node.kind == "copy-slices" or any(not saved.maybe for saved in node.saved):
                if not maybe:
                    return True
                found = UNKNOWN
            elif node.saved:
                found = UNKNOWN
        return found if sure else UNKNOWN

    def refuses(self, sure: bool) -> Any:
        found: Any = False
        for ident, maybe in self.reached.items():
            if self.m.node(ident).kind == "unimplemented":
                if not maybe:
                    return True
                found = UNKNOWN
        return found if sure else UNKNOWN


def _truth(value: bool | None) -> Any:
    return UNKNOWN if value is None else value


__all__ = ["Analyzer", "Const", "DictObj"]
