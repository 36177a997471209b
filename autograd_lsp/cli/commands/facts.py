"""`autograd-lsp facts`: what is known of every tensor bound on every line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from analyzers.report import Fact, Lost
from autograd_lsp.cli.formats.json import Encoder, cell_json
from autograd_lsp.cli.places import parse_location
from autograd_lsp.cli.progress import warn_of_internal_error
from autograd_lsp.cli.telling import tell
from autograd_lsp.config import Configuration
from autograd_lsp.files.sources import discover
from autograd_lsp.process.exits import CLEAN, USAGE
from autograd_lsp.render.tensor import fact_words
from autograd_lsp.reports.make import make_reports
from autograd_lsp.reports.report import Report, Spot, Texts
from autograd_lsp.text.sinks import first_printable, json_of, printable


def run(options: argparse.Namespace) -> int:
    lines: dict[str, set[int]] = {}
    paths: list[str] = []
    for word in options.paths:
        location = parse_location(word)
        paths.append(location.file if location else word)
        if location:
            lines.setdefault(location.file, set()).add(location.line)
    failed = False
    rows: list[tuple[Report, list[tuple[Spot, Fact | Lost]]]] = []
    configuration = Configuration(isolated=True)
    for report in make_reports(discover(paths, None, configuration), "facts", None, configuration):
        if report.failure == "internal":
            warn_of_internal_error(report)
        elif report.failure == "unreadable":
            tell(f"{report.source.shown}: {report.findings[0].message}")
        failed = failed or report.failure is not None
        rows.append((report, facts_of(report, lines.get(report.source.shown))))
    if options.format == "json":
        print(json_of({"version": 1, "files": [file_json(report, told) for report, told in rows]}))
    else:
        for report, told in rows:
            for spot, fact in told:
                words = _since(report, fact) if isinstance(fact, Lost) else "  ".join(fact_words(fact))
                words = words or "nothing is known"
                where = f"cell {spot.cell}:{spot.begins.line}" if spot.cell is not None else spot.begins.line
                print(f"{first_printable(report.source.shown)}:{where}: {printable(f'{fact.name}  {words}')}")
    return USAGE if failed else CLEAN


def _since(report: Report, lost: Lost) -> str:
    spot = Texts(report).spot(lost.since)
    line = f"cell {spot.cell}:{spot.begins.line}" if spot.cell is not None else f"line {spot.begins.line}"
    here = lost.since.path == report.source.path
    return f"unknown since {line if here else f'{lost.since.path}:{spot.begins.line}'}"


def facts_of(report: Report, wanted: set[int] | None) -> list[tuple[Spot, Fact | Lost]]:
    """With the place of each, in the order of the text; only the 1-based lines asked for, if any were."""
    texts = Texts(report)
    told: list[Fact | Lost] = [*report.facts, *report.lost]
    told.sort(key=lambda one: (one.place, one.name))
    rows = [(texts.spot(one.place), one) for one in told]
    return [row for row in rows if wanted is None or row[0].begins.line in wanted]


def file_json(report: Report, told: Sequence[tuple[Spot, Fact | Lost]]) -> dict[str, Any]:
    return {
        "path": report.source.shown,
        "facts": [_json(spot, fact) for spot, fact in told if isinstance(fact, Fact)],
        "unknown": [_lost_json(report, spot, one) for spot, one in told if isinstance(one, Lost)],
    }


def _json(spot: Spot, fact: Fact) -> dict[str, Any]:
    return {
        **cell_json(spot),
        "line": spot.begins.line,
        "scope": fact.scope,
        "name": fact.name,
        "requires_grad": fact.requires_grad,
        "is_leaf": fact.is_leaf,
        "grad_fn": None if fact.grad_fn is None else list(fact.grad_fn),
        "shape": None if fact.shape is None else list(fact.shape),
        "dtype": fact.dtype,
    }


def _lost_json(report: Report, spot: Spot, lost: Lost) -> dict[str, Any]:
    return {
        **cell_json(spot),
        "line": spot.begins.line,
        "scope": lost.scope,
        "name": lost.name,
        "since": Encoder(report).where(lost.since),
    }
