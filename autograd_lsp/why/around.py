"""Finds likely causes for messages that no finding explains, likeliest first.

If the machine knows the graph of a tensor on the failing line, it is asked first: it shows where the graph was cut,
what was freed, and which saved tensors were modified. The text comes second: a `detach()` on the way to the loss, an
in-place write, a tensor made before the loop. For other messages the failing line itself is reported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.report import Graph, Place, Related
from autograd_lsp.files.sources import Source, UnreadableError, is_notebook, notebook_of, read_text
from autograd_lsp.process.loading import host_class
from autograd_lsp.reports.report import Report
from autograd_lsp.text.positions import LineIndex, Position
from autograd_lsp.why.flow import Flow, Step, dotted, own_nodes, written_in_place
from autograd_lsp.why.messages import Reading, node_of
from autograd_lsp.why.page import page_of
from autograd_lsp.why.program import Located

_MOST = 4
_MOST_WORDS = 6
_CUTS = {
    "detach": "cuts the graph", "item": "returns a plain number", "tolist": "returns plain numbers",
    "numpy": "returns plain numbers", "argmax": "has no derivative", "tensor": "makes a copy without the graph",
    "as_tensor": "may lose the graph", "from_numpy": "has no graph", "long": "makes integers, which have no gradient",
    "int": "makes integers, which have no gradient", "detach_": "cuts the graph",
}  # fmt: skip
_SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Found:
    """One place and what it has to do with the message."""

    report: Report
    place: Place
    message: str
    trace: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    source: Source
    report: Report
    index: LineIndex

    def place(self, node: ast.AST) -> Place:
        """Of an expression, or of the first line of a statement."""
        begin, end = self._offset(node, "lineno", "col_offset"), self._offset(node, "end_lineno", "end_col_offset")
        stop = self.index.text.find("\n", self.index.start(getattr(node, "lineno", 1) - 1))
        line_end = len(self.index.text[: stop if stop >= 0 else None].encode("utf-8", "surrogateescape"))
        return Place(self.source.path, begin, min(end, line_end) if isinstance(node, ast.stmt) else end)

    def _offset(self, node: ast.AST, line: str, column: str) -> int:
        """Python counts the bytes of a line."""
        return self.index.offset(Position(getattr(node, line) or 1, 1)) + (getattr(node, column) or 0)

    def line(self, number: int) -> Place:
        text = self.index.line_text(number - 1)
        begin = self.index.offset(Position(number, len(text) - len(text.lstrip()) + 1))
        return Place(self.source.path, begin, max(self.index.offset(Position(number, len(text.rstrip()) + 1)), begin))


def look(reading: Reading, way: Sequence[Located], forward: Sequence[Located], *, line_itself: bool) -> list[Found]:
    """`line_itself`: report the failing line if there is no suspect."""
    inner = way[-1]
    file = _open(inner.source)
    if file is None:
        return []
    seen = dict.fromkeys(_suspects(reading, file, inner, forward))
    found = [Found(file.report, place, f"{message}; this may be the cause") for place, message in seen]
    distinct = {item.place: item for item in reversed(found)}
    ranked = [item for item in found if distinct[item.place] is item][:_MOST]
    page = page_of(reading.code)
    if not ranked and line_itself and page is not None:
        here = file.line(inner.line)
        ranked = [
            Found(file.report, here, f"`{_cut(_said(file, here))}` is the line where torch raises: {page.summary}")
        ]
    steps = [Related(file.line(at.line), "the forward call whose gradient failed") for at in forward[-1:]
             if at.source.path == file.source.path]  # fmt: skip
    raised_at = Related(file.line(inner.line), "torch raises here")
    return [Found(item.report, item.place, item.message, (*steps, raised_at)) for item in ranked]


def _open(source: Source) -> _File | None:
    try:
        if is_notebook(source):
            notebook = notebook_of(source)
            if notebook is None:
                return None
            report = Report(source, texts={source.path: notebook.text}, notebooks={source.path: notebook})
            return _File(source, report, LineIndex(notebook.text))
        text = read_text(source.path)
    except UnreadableError:
        return None
    return _File(source, Report(source, texts={source.path: text}), LineIndex(text))


def _suspects(reading: Reading, file: _File, inner: Located, forward: Sequence[Located]) -> Iterator[tuple[Place, str]]:
    if reading.code not in ("AG101", "AG102", "AG104"):
        return
    yield from _in_graphs(reading, file, inner.line)
    try:
        flow = Flow(ast.parse(file.index.text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    here = flow.statement_at(inner.line)
    if here is None:
        return
    steps = sorted(flow.into(*here).values(), key=lambda step: (step.distance, -step.statement.lineno))
    match reading.code:
        case "AG101":
            yield from _cuts(flow, steps, file)
        case "AG102":
            yield from _shared(flow, steps, file, here[0])
        case "AG104":
            yield from _writes(steps, file, reading, forward)


def _in_graphs(reading: Reading, file: _File, line: int) -> Iterator[tuple[Place, str]]:
    """What the machine knows about the tensors on the failing line."""
    if is_notebook(file.source):
        return
    snapshot = host_class()().snapshot()
    text = file.index.line_text(line - 1)
    words = [word for word in _WORD.finditer(text) if word[0] not in ("self", "backward", "torch", "autograd", "grad")]
    for word in words[:_MOST_WORDS]:
        graph = snapshot.graph(file.source.path, file.index.offset(Position(line, word.start() + 1)), None)
        if graph is not None:
            yield from _in_graph(graph, reading, file)


def _in_graph(graph: Graph, reading: Reading, file: _File) -> Iterator[tuple[Place, str]]:
    wanted = node_of(reading.message)
    for node in graph.nodes:
        if node.place is None or node.place.path != file.source.path:
            continue
        said = f"`{_cut(_said(file, node.place))}`"
        if reading.code == "AG101" and node.kind == "cut":
            yield node.place, f"{said} is where the graph of `{graph.name}` ends"
        elif reading.code == "AG102" and node.freed:
            yield node.place, f"{said} is part of the graph of `{graph.name}`, and a backward freed it"
        elif reading.code == "AG104" and any("modified since" in saved for saved in node.saved):
            if wanted is None or node.label.startswith(wanted):
                yield node.place, f"{said} saved a tensor that has been modified since"


def _cuts(flow: Flow, steps: Sequence[Step], file: _File) -> Iterator[tuple[Place, str]]:
    for step in steps:
        for around in (*flow.around[step.statement], step.statement):
            switches = (item.context_expr for item in around.items) if isinstance(around, ast.With) else (
                around.decorator_list if isinstance(around, ast.FunctionDef) else ()
            )  # fmt: skip
            for switch in switches:
                if dotted(switch).rpartition(".")[2] in _SWITCHES:
                    yield file.place(switch), f"`{ast.unparse(switch)}` disables gradients"
        for node in own_nodes(step.statement):
            name = dotted(node).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            given = isinstance(node, ast.Call) and (name not in ("tensor", "as_tensor") or not _is_data(node))
            if name in _CUTS and given:
                yield file.place(node), f"`{_cut(ast.unparse(node))}` {_CUTS[name]}"
            elif isinstance(node, ast.Attribute) and node.attr == "data":
                yield file.place(node), f"`{_cut(ast.unparse(node))}` has no graph"


def _is_data(call: ast.Call) -> bool:
    """Whether a tensor is made from literal numbers."""
    return bool(call.args) and not any(isinstance(node, ast.Name) for node in ast.walk(call.args[0]))


def _shared(flow: Flow, steps: Sequence[Step], file: _File, here: ast.stmt) -> Iterator[tuple[Place, str]]:
    loops = {
        around for step in steps for around in flow.around[step.statement] if isinstance(around, ast.For | ast.While)
    }
    for step in steps:
        statement = step.statement
        if statement is here or not any(isinstance(node, ast.Call) for node in own_nodes(statement)):
            continue
        inside = [around for around in flow.around[statement] if around in loops]
        if not isinstance(statement, ast.Assign | ast.AugAssign):
            continue
        said = f"`{_cut(_said(file, file.place(statement)))}`"
        read = {dotted(node) for node in own_nodes(statement) if isinstance(node, ast.Name | ast.Attribute)
                and isinstance(node.ctx, ast.Load)}  # fmt: skip
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        bound = {dotted(node) for target in targets for node in ast.walk(target)}
        if inside and bound & read:
            yield file.place(statement), f"{said} carries its graph from one iteration to the next"
        elif loops and not inside and not _makes_a_leaf(statement):
            yield file.place(statement), f"{said} is computed once, outside the loop"
    for statement in (other for others in flow.statements.values() for other in others):
        for node in own_nodes(statement):
            if isinstance(node, ast.Call) and dotted(node.func).endswith(".backward") and statement is not here:
                yield file.place(node), f"`{_cut(ast.unparse(node))}` frees its graph"


def _makes_a_leaf(statement: ast.stmt) -> bool:
    """Whether the call is of a class or of a factory, which have no graph yet."""
    calls = [dotted(node.func).rpartition(".")[2] for node in own_nodes(statement) if isinstance(node, ast.Call)]
    return any(not name.islower() for name in calls) or bool({"randn", "rand", "zeros", "ones", "tensor"} & set(calls))


def _writes(
    steps: Sequence[Step], file: _File, reading: Reading, forward: Sequence[Located]
) -> Iterator[tuple[Place, str]]:
    """Writes to what the forward call in question made come first."""
    node = node_of(reading.message)
    known = {at.line for at in forward if at.source.path == file.source.path}
    found: list[tuple[bool, Place, str]] = []
    texts = {step.statement: ast.unparse(step.statement) for step in steps}
    for step in steps:
        for name, written in written_in_place(step.statement):
            makers = [other for other in steps if texts[other.statement].startswith(f"{name} =")]
            is_it = any(
                maker.statement.lineno in known or (node is not None and node.lower() in texts[maker.statement].lower())
                for maker in makers
            )
            place = file.place(written)
            found.append((not is_it, place, f"`{_cut(_said(file, place))}` writes to `{name}` in place"))
        for call in own_nodes(step.statement):
            if isinstance(call, ast.Call) and any(
                keyword.arg == "inplace" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                for keyword in call.keywords
            ):
                found.append((node != "Relu", file.place(call), f"`{_cut(ast.unparse(call))}` writes to its input"))
    yield from ((place, words) for _, place, words in sorted(found, key=lambda item: item[0]))


def _said(file: _File, place: Place) -> str:
    data = file.index.text.encode("utf-8", "surrogateescape")[place.start : place.end]
    return " ".join(data.decode("utf-8", "replace").split())


def _cut(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
