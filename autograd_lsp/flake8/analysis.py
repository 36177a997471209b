"""What flake8 is told of each file: what fails `autograd-lsp check`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

from flake8.exceptions import ExecutionError

from analyzers.host import Host
from analyzers.report import Finding
from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment
from autograd_lsp.files.sources import STDIN, discover, shown_path
from autograd_lsp.process.memory import collect_seldom
from autograd_lsp.process.stack import in_roomy_frame
from autograd_lsp.reports.levels import fails
from autograd_lsp.reports.make import Reader, settled
from autograd_lsp.reports.surroundings import place_of
from autograd_lsp.text.positions import LineIndex


@cache
def analysis(paths: tuple[str, ...]) -> Callable[[str, str | None], list[tuple[int, int, str]]]:
    """Of the files that flake8 was given; the result tells what one of them has, with the disk's text or another."""
    collect_seldom()
    configuration, folder = Configuration(on_error=_end), os.getcwd()
    lenient = configuration.lenient()
    environment = Environment(lambda: place_of(lenient, folder))
    host = Host(Reader({}), lenient.choice, environment.kind, environment.torch_release)
    sources = discover([path for path in paths if path != STDIN], None, configuration)
    together = {source.path for source in sources}
    host.look_at_together(together)

    def message(finding: Finding, path: str) -> str:
        place = finding.place
        if place.path == path:
            return finding.message
        line = LineIndex(host.snapshot().text(place.path)).position(place.start).line
        return f"{finding.message}, at {shown_path(place.path)}:{line}"

    def lines_of(path: str, text: str | None) -> list[tuple[int, int, str]]:
        if configuration.excludes(path):
            return []
        host.forget_if_large(os.cpu_count() or 1)
        if text is not None:
            host.set_text(path, text)
        snapshot = host.snapshot()
        index = LineIndex(snapshot.text(path))
        told = []
        for sighting in settled(host, environment, lambda: in_roomy_frame(lambda: snapshot.sightings(path))):
            finding, elsewhere = sighting.finding, sighting.finding.place.path != path
            if not fails(finding, "warning"):
                continue
            # A cause in another file is told there, if flake8 comes to that file.
            if elsewhere and (finding.place.path in together or lenient.excludes(finding.place.path)):
                continue
            at = index.position(sighting.place.start)
            told.append((at.line, at.column - 1, f"{finding.code} {message(finding, path)}"))
        return told

    return lines_of


def _end(error: Exception) -> None:
    """flake8 tells it and exits with 1."""
    raise ExecutionError(f"autograd-lsp: {error}") from error
