"""`autograd-lsp graph`: the autograd graph of a tensor at one line."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from analyzers.host import Host, Snapshot
from analyzers.report import Graph, Place
from autograd_lsp.cli.formats.json import range_json
from autograd_lsp.cli.places import Location, parse_location
from autograd_lsp.cli.telling import tell
from autograd_lsp.files.sources import Source, UnreadableError, is_notebook, read_text, shown_path
from autograd_lsp.process.exits import CLEAN, FOUND, UsageError
from autograd_lsp.render.dot import render_dot
from autograd_lsp.render.graph_json import graph_json
from autograd_lsp.render.mermaid import render_mermaid
from autograd_lsp.render.svg import render_svg
from autograd_lsp.render.tree import render_tree
from autograd_lsp.reports.report import Report, Texts
from autograd_lsp.text.positions import LineIndex, Position
from autograd_lsp.text.sinks import json_of, printable

_WORD = re.compile(r"[^\W\d]\w*")


def run(options: argparse.Namespace) -> int:
    location = parse_location(options.location)
    if location is None:
        raise UsageError(f"`{options.location}` is not FILE:LINE[:NAME]")
    path = os.path.abspath(location.file)
    if is_notebook(Source(location.file, path)):
        raise UsageError(f"{location.file}: graphs are not available for notebooks, whose lines belong to cells")
    try:
        read_text(path)
    except UnreadableError as error:
        raise UsageError(f"{location.file}: {error}") from error
    snapshot = Host().snapshot()
    graph = find(snapshot, path, location)
    if graph is None:
        tell(nothing_known(location))
        return FOUND
    print(render(graph, options.format, snapshot, Source(location.file, path)))
    return CLEAN


def nothing_known(location: Location) -> str:
    subject = f"`{location.name}`" if location.name else "a tensor"
    return f"nothing is known about {subject} at {location.file}:{location.line}"


def render(graph: Graph, form: str, snapshot: Snapshot, source: Source) -> str:
    if form == "json":
        paths = {node.place.path for node in graph.nodes if node.place is not None}
        texts = Texts(Report(source, texts={path: snapshot.text(path) for path in paths}))

        def locate(place: Place) -> dict[str, Any]:
            shown = source.shown if place.path == source.path else shown_path(place.path)
            return {"path": shown, "range": range_json(texts, place)}

        return json_of({"version": 1, **graph_json(graph, locate)})
    if form in {"text", "svg"}:
        where = _namer(snapshot, source)
        return render_svg(graph, where) if form == "svg" else render_tree(graph, where=where)
    return {"dot": render_dot, "mermaid": render_mermaid}[form](graph)


def _namer(snapshot: Snapshot, source: Source) -> Callable[[Place], str]:
    """Lines, with the file where that is another."""
    indexes: dict[str, LineIndex] = {}

    def where(place: Place) -> str:
        if place.path not in indexes:
            indexes[place.path] = LineIndex(snapshot.text(place.path))
        line = f"line {indexes[place.path].position(place.start).line}"
        return line if place.path == source.path else printable(f"{shown_path(place.path)} {line}")

    return where


def find(snapshot: Snapshot, path: str, location: Location) -> Graph | None:
    index = LineIndex(snapshot.text(path))
    if location.line > index.line_count:
        raise UsageError(f"{location.file} has {index.line_count} lines")
    offsets = list(_offsets(snapshot, path, index, location.line))
    if location.name is not None:
        return snapshot.graph(path, offsets[0], location.name)
    return next((graph for offset in offsets if (graph := snapshot.graph(path, offset, None)) is not None), None)


def _offsets(snapshot: Snapshot, path: str, index: LineIndex, line: int) -> Iterator[int]:
    """Where to look on a line for the tensor that it is about: what it binds, then each of its words."""
    text = index.line_text(line - 1)
    yield index.offset(Position(line, len(text) - len(text.lstrip()) + 1))
    for fact in snapshot.facts(path):
        if index.position(fact.place.start).line == line:
            yield fact.place.start
    for word in _WORD.finditer(text):
        yield index.offset(Position(line, word.start() + 1))
