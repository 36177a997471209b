"""What coding agents are answered: what the commands say, as plain data that is no longer than an agent can take in.

Programs come as paths, or as text that lies in no file. Unless `anywhere` was said, only programs below the root are
read, links followed, and an import of one that lies elsewhere is unknown. The root is the working directory.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeVar

from analyzers.host import Host
from analyzers.report import Severity
from autograd_lsp.cli.checked import by_file
from autograd_lsp.cli.commands import facts as facts_command
from autograd_lsp.cli.commands import graph as graph_command
from autograd_lsp.cli.commands import why as why_command
from autograd_lsp.cli.explanations.json import answer_json
from autograd_lsp.cli.formats.json import Encoder
from autograd_lsp.cli.places import Location
from autograd_lsp.config import Configuration, Layer, is_below
from autograd_lsp.config.selectors import matching, no_rule
from autograd_lsp.files.sources import Source, UnreadableError, discover, is_notebook, read_text
from autograd_lsp.process.exits import UsageError
from autograd_lsp.process.stack import start_with_room
from autograd_lsp.reports.make import Reader, make_reports
from autograd_lsp.reports.report import Report
from autograd_lsp.text.words import plural
from autograd_lsp.why.answer import answers, told_in
from autograd_lsp.why.program import Finder

PROGRAM = "program.py"
"""What a program is called that lies in no file."""
MOST_FINDINGS = 25
MOST_FACTS = 200

_AT_A_TIME = Lock()

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What may be read."""

    root: str
    anywhere: bool = False

    @property
    def within(self) -> str | None:
        return None if self.anywhere else self.root

    def inside(self, path: str) -> bool:
        return "\0" not in path and (self.anywhere or is_below(os.path.realpath(path), self.root))

    def checked(self, path: str) -> str:
        """The path, or a `UsageError` that says what is wrong with it."""
        if not self.inside(path):
            raise UsageError(f"{path!r} lies outside of {self.root}: the server was not started with --read-anywhere")
        if not os.path.exists(path):
            raise UsageError(f"{path}: no such file or folder below {self.root}")
        return path


def answered(work: Callable[[], T]) -> T:
    """What `work` returns or raises, on a thread with room for it, one after the other."""
    future: Future[T] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    with _AT_A_TIME:
        start_with_room(do)
        return future.result()


def findings(
    bounds: Bounds,
    paths: Sequence[str],
    program: str | None,
    name: str | None,
    select: Sequence[str] | None,
    ignore: Sequence[str] | None,
) -> dict[str, Any]:
    """As `check --output-format json`, of the files about which there is something to say."""
    for word in (*(select or ()), *(ignore or ())):
        if not matching(word):
            raise UsageError(no_rule(word))
    over = Layer(root=bounds.root, select=tuple(select) if select else None, ignore=tuple(ignore or ()))
    configuration = Configuration(over=over)
    sources = _sources(bounds, paths, program, name, configuration)
    for source in sources:
        configuration.choice(source.path)  # what is wrong with it is said before the work begins
    reports = by_file(_reports(bounds, sources, "findings", configuration), configuration)
    files: list[dict[str, Any]] = []
    room = MOST_FINDINGS
    for report in reports:
        encoder = Encoder(report)
        shown = report.findings[:room]
        room -= len(shown)
        doubtful = [encoder.backward(backward) for backward in report.backwards if backward.grasp != "followed"]
        if shown or doubtful:
            told = [encoder.finding(finding) for finding in shown]
            files.append({"path": report.source.shown, "findings": told, "backwards": doubtful})
    count = Counter(finding.severity for report in reports for finding in report.findings)
    return {
        "version": 1,
        "summary": _summary(count, len(sources)),
        "files": files,
        "left_out": max(count.total() - MOST_FINDINGS, 0),
    }


def _summary(count: Counter[Severity], files: int) -> str:
    severities: tuple[Severity, ...] = ("error", "warning")
    kinds = [plural(count[kind], kind) for kind in severities if count[kind]]
    kinds += [f"{count['info']} info"] if count["info"] else []
    return f"{plural(count.total(), 'finding')} in {plural(files, 'file')}" + (f": {', '.join(kinds)}" if kinds else "")


def facts(bounds: Bounds, path: str | None, program: str | None, name: str | None, line: int | None) -> dict[str, Any]:
    """As `facts --output-format json`."""
    configuration = Configuration(isolated=True)
    sources = _sources(bounds, [path] if path is not None else [], program, name, configuration)
    files: list[dict[str, Any]] = []
    left_out, room = 0, MOST_FACTS
    for report in _reports(bounds, sources, "facts", configuration):
        told = facts_command.facts_of(report, None if line is None else {line})
        left_out += len(told[room:])
        files.append(facts_command.file_json(report, told[:room]))
        room -= len(told[:room])
    return {"version": 1, "files": files, "left_out": left_out}


def graph(
    bounds: Bounds,
    path: str | None,
    program: str | None,
    line: int,
    tensor: str | None,
    form: Literal["text", "mermaid", "dot"],
) -> str:
    """As `graph` prints it."""
    [source] = _sources(
        bounds, [path] if path is not None else [], program, None, Configuration(isolated=True), one=True
    )
    if is_notebook(source):
        raise UsageError(f"{source.shown}: graphs are not available for notebooks, whose lines belong to cells")
    host = Host(Reader({}, bounds.within))
    if source.text is not None:
        host.set_text(source.path, source.text)
    else:
        read_text(source.path)
    snapshot = host.snapshot()
    location = Location(source.shown, line, tensor)
    found = graph_command.find(snapshot, source.path, location)
    if found is None:
        raise UsageError(graph_command.nothing_known(location))
    return graph_command.render(found, form, snapshot, source)


def why(bounds: Bounds, traceback: str, program: str | None) -> dict[str, Any]:
    """As `why --output-format json`; with `said` in its place if the text has no exception of autograd's."""
    if program is not None:
        bounds.checked(program)
    told = told_in(traceback)
    finder = Finder((), program, bounds.anywhere)
    configuration = Configuration(isolated=True, heeds_comments=False)
    found = [*answers(told, finder, configuration, every=False, cached=False, within=bounds.within)]
    if not found:
        return {"version": 1, "found": False, "said": why_command.nothing_found(told, traceback, "the text")}
    return {"version": 1, "found": True, "said": "", **answer_json(found[-1])}


def _sources(
    bounds: Bounds,
    paths: Sequence[str],
    program: str | None,
    name: str | None,
    configuration: Configuration,
    *,
    one: bool = False,
) -> list[Source]:
    """What is asked about: one text, or files that may be read."""
    if (program is None) == (not paths):
        raise UsageError("give either a path or the text of a program")
    if program is not None:
        shown = name or PROGRAM
        if not bounds.inside(shown):
            raise UsageError(f"{shown!r} lies outside of {bounds.root}")
        return [Source(shown, os.path.abspath(shown), program)]
    for path in paths:
        bounds.checked(path)
        if one and os.path.isdir(path):
            raise UsageError(f"{path} is a folder")
    found = discover([*paths], None, configuration, tell=_unsaid)
    return [source for source in found if bounds.inside(source.path)]


def _reports(
    bounds: Bounds, sources: Sequence[Source], want: Literal["findings", "facts"], configuration: Configuration
) -> list[Report]:
    # One process: to fork beside the threads that speak the protocol may stop a child for ever.
    reports = [*make_reports(sources, want, 1, configuration, within=bounds.within)]
    for report in reports:
        if report.failure == "unreadable" and len(sources) == 1:
            raise UnreadableError(f"{report.source.shown}: {report.findings[0].message}")
    if broken := [report.source.shown for report in reports if report.failure == "internal"]:
        raise UsageError(f"an internal error in {', '.join(broken)}: please report it")
    return reports


def _unsaid(words: str) -> None:
    """That a folder has no files shows in the count."""
