"""Files in, reports out: the analysis behind `check` and `facts`, in this process or in several.

A report carries the texts it points into, so that whoever prints it needs neither the disk nor the analyzer.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from analyzers.report import Fact, Finding, Place
from autograd_lsp.cli.sources import Source, UnreadableError, is_notebook, notebook_of, read_text
from autograd_lsp.config import Configuration
from autograd_lsp.environment import Environment
from autograd_lsp.memory import collect_seldom
from autograd_lsp.notebooks import SUFFIX, Notebook, position_in
from autograd_lsp.positions import LineIndex, Position

if TYPE_CHECKING:
    from analyzers.host import Host, Snapshot

_FEW_FILES = 8
_FILES_TO_REMEMBER = 50
"""What these import between them is not run again, however much memory it takes."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Report:
    source: Source
    findings: tuple[Finding, ...] = ()
    facts: tuple[Fact, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    """By absolute path, for every file that a finding points into."""
    notebooks: dict[str, Notebook] = field(default_factory=dict)
    """By absolute path: what texts were made of."""
    failure: Literal["unreadable", "internal"] | None = None
    traceback: str = ""


def make_reports(
    sources: Sequence[Source], want: Literal["findings", "facts"], jobs: int | None, configuration: Configuration
) -> Iterator[Report]:
    """In the order of `sources`, whatever the number of jobs; none for a notebook in another language."""
    count = _job_count(jobs, len(sources))
    paths = [source.path for source in sources]
    configuration = configuration.lenient()
    if count == 1:
        work = _Work(paths, configuration, 1)
        yield from (report for source in sources if (report := work.report(want, source)) is not None)
        return
    chunk = max(1, min(16, len(sources) // (count * 4)))
    with ProcessPoolExecutor(count, initializer=_start_worker, initargs=(paths, configuration, count)) as pool:
        made = pool.map(partial(_report_in_worker, want), sources, chunksize=chunk)
        yield from (report for report in made if report is not None)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place as a person finds it: bytes `start` to `end` of the text of a file, or of one cell of a notebook."""

    path: str
    cell: int | None
    index: LineIndex
    start: int
    end: int

    @property
    def begins(self) -> Position:
        return self.index.position(self.start)

    @property
    def ends(self) -> Position:
        return self.index.position(self.end)


class Texts:
    """Line indexes of the texts of one report, made when asked for."""

    def __init__(self, report: Report) -> None:
        self._texts = report.texts
        self._notebooks = report.notebooks
        self._indexes: dict[tuple[str, int], LineIndex] = {}

    def __getitem__(self, path: str) -> LineIndex:
        """Of the whole file; of a notebook, of the program that it makes."""
        return self._index(path, 0, self._texts.get(path, ""))

    def spot(self, place: Place) -> Spot:
        whole = self[place.path]
        begin, end = whole.position(place.start), whole.position(place.end)
        notebook = self._notebooks.get(place.path)
        cell = notebook.cell_at(begin.line - 1) if notebook is not None else None
        if cell is None:
            return Spot(place.path, None, whole, place.start, place.end)
        index = self._index(place.path, cell.number, cell.source)
        return Spot(place.path, cell.number, index, position_in(cell, index, begin), position_in(cell, index, end))

    def _index(self, path: str, cell: int, text: str) -> LineIndex:
        """`cell` 0 for the whole file."""
        if (path, cell) not in self._indexes:
            self._indexes[path, cell] = LineIndex(text)
        return self._indexes[path, cell]


def _job_count(jobs: int | None, files: int) -> int:
    if jobs is not None:
        return min(jobs, max(files, 1))
    return 1 if files <= _FEW_FILES else min(os.cpu_count() or 1, files)


def _new_host(paths: Sequence[str], configuration: Configuration) -> tuple[Host, Environment]:
    from analyzers.host import Host, read_from_disk

    def read(path: str) -> bytes | None:
        """Of a notebook, the program: another file may be there for it."""
        if not path.endswith(SUFFIX):
            return read_from_disk(path)
        try:
            notebook = notebook_of(Source(path, path))
        except UnreadableError:
            return None
        return notebook.text.encode() if notebook is not None else None

    folder = os.getcwd()
    environment = Environment(lambda: (configuration.python(folder), folder))
    host = Host(read, configuration.choice, environment.kind)
    host.look_at_together(paths)
    return host, environment


class _Work:
    """One process' share, with one host: files share what they import."""

    def __init__(self, paths: Sequence[str], configuration: Configuration, processes: int) -> None:
        collect_seldom()
        self._host, self._environment = _new_host(paths, configuration)
        self._processes = processes
        self._since = 0
        """Files since the host has forgotten."""

    def report(self, want: Literal["findings", "facts"], source: Source) -> Report | None:
        if self._since >= _FILES_TO_REMEMBER and self._host.forget_if_large(self._processes):
            self._since = 0
        self._since += 1
        return _report(self._host, self._environment, want, source)


_work: list[_Work] = []
"""In a worker process, its share."""


def _start_worker(paths: Sequence[str], configuration: Configuration, processes: int) -> None:
    _work.append(_Work(paths, configuration, processes))


def _report_in_worker(want: Literal["findings", "facts"], source: Source) -> Report | None:
    return _work[0].report(want, source)


def _report(host: Host, environment: Environment, want: Literal["findings", "facts"], source: Source) -> Report | None:
    try:
        notebooks: dict[str, Notebook] = {}
        if is_notebook(source):
            notebook = notebook_of(source)
            if notebook is None:
                return None
            notebooks[source.path] = notebook
            host.set_text(source.path, notebook.text)
        elif source.text is None:
            read_text(source.path)
        else:
            host.set_text(source.path, source.text)
        snapshot = host.snapshot()
        if want == "facts":
            facts = _settled(host, environment, lambda: snapshot.facts(source.path))
            texts = {source.path: snapshot.text(source.path)}
            return Report(source, facts=facts, texts=texts, notebooks=notebooks)
        found = _settled(host, environment, lambda: snapshot.findings(source.path))
        findings = tuple(sorted(found, key=_by_place))
        return Report(source, findings, texts=_texts(snapshot, findings), notebooks=notebooks)
    except UnreadableError as error:
        return Report(source, (_unreadable(source.path, str(error)),), texts={source.path: ""}, failure="unreadable")
    except Exception:
        return Report(source, failure="internal", traceback=traceback.format_exc())


def _settled(host: Host, environment: Environment, ask: Callable[[], T]) -> T:
    """The answer once it is known what lies outside of the files, as far as anybody waits for that."""
    answer = ask()
    while environment.is_asking and environment.patience > 0:
        host.outside_known(environment.wait())
        answer = ask()
    return answer


def _by_place(finding: Finding) -> tuple[Place, str, str]:
    return finding.place, finding.code, finding.message


def _unreadable(path: str, reason: str) -> Finding:
    return Finding("AG001", "unreadable-file", "error", f"cannot read this file: {reason}", Place(path, 0, 0))


def _texts(snapshot: Snapshot, findings: Sequence[Finding]) -> dict[str, str]:
    paths: set[str] = set()
    for finding in findings:
        paths.add(finding.place.path)
        paths.update(step.place.path for step in finding.related)
        paths.update(edit.place.path for fix in finding.fixes for edit in fix.edits)
        if finding.raises:
            paths.add(finding.raises.place.path)
    return {name: snapshot.text(name) for name in sorted(paths)}


def warn_of_internal_error(report: Report) -> None:
    print(f"autograd-lsp: internal error in {report.source.shown}\n{report.traceback}", file=sys.stderr)
