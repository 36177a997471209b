"""Files in, reports out: the analysis behind `check` and `facts`, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from analyzers.program.disk import read_from_disk
from analyzers.report import Backward, Finding, Place
from autograd_lsp.config import Configuration, is_below
from autograd_lsp.environment import Environment, fingerprint
from autograd_lsp.files.sources import Source, UnreadableError, is_notebook, notebook_of, read_text
from autograd_lsp.notebooks.program import SUFFIX, Notebook
from autograd_lsp.process.loading import host_class
from autograd_lsp.process.memory import collect_seldom
from autograd_lsp.process.stack import in_roomy_frame
from autograd_lsp.process.workers import pool
from autograd_lsp.reports.cache import Cache
from autograd_lsp.reports.report import Report, in_order
from autograd_lsp.reports.surroundings import place_of

if TYPE_CHECKING:
    from analyzers.host import Host

_FEW_FILES = 8
_FILES_TO_REMEMBER = 50
"""What these import between them is not run again, however much memory it takes."""

T = TypeVar("T")


def make_reports(
    sources: Sequence[Source],
    want: Literal["findings", "facts"],
    jobs: int | None,
    configuration: Configuration,
    *,
    cached: bool = False,
    texts: Mapping[str, str] | None = None,
    grounds: bool = False,
    execute: Execute | None = None,
    within: str | None = None,
) -> Iterator[Report]:
    """In the order of `sources`, whoever makes them; none for a notebook in another language.

    `cached`: findings of earlier checks count as far as they hold, and new ones are kept. `texts`, by real path, count
    instead of what the disk has. With `grounds` reports say which files they rest on. `execute` makes the reports in
    the place of processes on this machine. With `within`, a real path, no program outside of that folder is read.
    """
    configuration, paths = configuration.lenient(), tuple(source.path for source in sources)
    task = Task(want, paths, configuration, os.getcwd(), cached, Reader(texts or {}, within), grounds)
    known: dict[str, Report] = {}
    cache = _cache(task) if cached else None
    if cache is not None:
        cache.sweep()
        for source in sources:
            if (report := _known(cache, source, task.read)) is not None:
                known[source.path] = replace(report, rests_on=cache.files(source.path)) if grounds else report
    rest = [source for source in sources if source.path not in known]
    made = _made(rest, jobs, task) if execute is None else execute(rest, task)
    for source in sources:
        report = known.get(source.path) or next(made)
        if report is None:
            continue
        if cache is not None and report.entry:
            cache.put(source.path, report.entry)
            report = replace(report, entry=b"")
        yield report


@dataclass(frozen=True, slots=True)
class Task:
    """What all the reports of one command have in common."""

    want: Literal["findings", "facts"]
    paths: tuple[str, ...]
    configuration: Configuration
    folder: str
    """The working directory of the command."""
    cached: bool
    read: Reader
    grounds: bool


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads files as they are analysed: of a notebook the program, which another file may import."""

    texts: Mapping[str, str]
    """By real path: what counts instead of the disk."""
    within: str | None = None
    """The real path of the folder that a file has to lie in; None for any file."""

    def __call__(self, path: str) -> bytes | None:
        if self.within is not None and not is_below(os.path.realpath(path), self.within):
            return None
        if not path.endswith(SUFFIX):
            instead = self.instead(path)
            return read_from_disk(path) if instead is None else instead
        try:
            notebook = notebook_of(self.as_it_is(Source(path, path)))
        except UnreadableError:
            return None
        return notebook.text.encode() if notebook is not None else None

    def as_it_is(self, source: Source) -> Source:
        """With the text that counts instead of what the disk holds."""
        text = self.texts.get(os.path.realpath(source.path)) if self.texts else None
        return source if text is None else replace(source, text=text)

    def instead(self, path: str) -> bytes | None:
        text = self.texts.get(os.path.realpath(path)) if self.texts else None
        return text.encode("utf-8", "surrogateescape") if text is not None else None


Execute: TypeAlias = Callable[[Sequence[Source], Task], Iterator[Report | None]]
"""Makes the reports of some files, in their order."""


def _made(sources: Sequence[Source], jobs: int | None, task: Task) -> Iterator[Report | None]:
    count = _job_count(jobs, len(sources))
    if count == 1:
        work = Work(task, 1)
        yield from map(work.report, sources)
        return
    with pool(count, _start_worker, (task, count)) as workers:
        for made in workers.map(_reports_in_worker, shares(sources, count)):
            yield from made


def shares(sources: Sequence[Source], processes: int) -> Iterator[tuple[Source, ...]]:
    """What a process is given at a time: neighbours, as these import the same, and towards the end one file after the
    other, so that all processes are busy until then."""
    start = 0
    while start < len(sources):
        size = max(1, min(16, (len(sources) - start) // (processes * 4)))
        yield tuple(sources[start : start + size])
        start += size


def _cache(task: Task) -> Cache:
    configuration, folder = task.configuration, task.folder
    return Cache(
        task.read,
        configuration.choice,
        lambda: task.paths,
        lambda: fingerprint(configuration.python(folder), folder),
        Environment(lambda: place_of(configuration, folder)).torch_release,
    )


def _known(cache: Cache, source: Source, read: Reader) -> Report | None:
    """What an earlier check has said of a file, if that holds."""
    kept = cache.kept(source.path)
    if kept is None:
        return None
    findings, backwards = kept
    notebooks: dict[str, Notebook] = {}
    if is_notebook(source):
        try:
            notebook = notebook_of(source)
        except UnreadableError:
            return None
        if notebook is None:
            return None
        notebooks[source.path] = notebook
    texts: dict[str, str] = {}
    for path in _paths(findings, backwards):
        data = read(path)
        if not cache.agrees(path, data):
            return None
        texts[path] = (data or b"").decode("utf-8", "surrogateescape")
    return Report(source, findings, backwards=backwards, texts=texts, notebooks=notebooks)


def _job_count(jobs: int | None, files: int) -> int:
    if jobs is not None:
        return min(jobs, max(files, 1))
    return 1 if files <= _FEW_FILES else min(os.cpu_count() or 1, files)


class Work:
    """One process' share, with one host: files share what they import."""

    def __init__(self, task: Task, processes: int, *, is_away: bool = False) -> None:
        """`is_away`: what the cache is to keep comes with the reports, as its disk may be on another machine."""
        collect_seldom()
        configuration, folder = task.configuration, task.folder
        self._environment = Environment(lambda: place_of(configuration, folder))
        self._read = task.read
        self._host = host_class()(
            task.read, configuration.choice, self._environment.kind, self._environment.torch_release
        )
        self._host.look_at_together(task.paths)
        self._want = task.want
        self._cache = _cache(task) if task.cached else None
        self._grounds = task.grounds
        self._processes = processes
        self._is_away = is_away
        self._since = 0
        """Files since the host has forgotten."""

    def report(self, source: Source) -> Report | None:
        if self._since >= _FILES_TO_REMEMBER and self._host.forget_if_large(self._processes):
            self._since = 0
            if self._cache is not None:
                self._cache.forget()
        self._since += 1
        report = in_roomy_frame(lambda: _report(self._host, self._environment, self._want, source, self._read))
        if report is None or report.failure is not None:
            return report
        if self._cache is not None:
            is_open = self._environment.has_failed or not self._environment.is_settled
            told = report.findings, report.backwards
            entry = self._cache.entry(source.path, told, self._host.snapshot(), is_open=is_open)
            if self._is_away:
                report = replace(report, entry=entry)
            elif entry:
                self._cache.put(source.path, entry)
        if self._grounds:
            grounds = self._host.snapshot().grounds(source.path)
            report = replace(report, rests_on=grounds.files if grounds is not None else frozenset())
        return report


_work: list[Work] = []
"""In a worker process, its share."""


def _start_worker(task: Task, processes: int) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work.append(Work(task, processes))


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reports_in_worker(sources: Sequence[Source]) -> list[Report | None]:
    return [_work[0].report(source) for source in sources]


def _report(
    host: Host, environment: Environment, want: Literal["findings", "facts"], source: Source, read: Reader
) -> Report | None:
    try:
        notebooks: dict[str, Notebook] = {}
        if is_notebook(source):
            notebook = notebook_of(read.as_it_is(source))
            if notebook is None:
                return None
            notebooks[source.path] = notebook
            host.set_text(source.path, notebook.text)
        elif source.text is not None:
            host.set_text(source.path, source.text)
        elif read.instead(source.path) is None:
            read_text(source.path)
        snapshot = host.snapshot()
        if want == "facts":
            facts = settled(host, environment, lambda: snapshot.facts(source.path))
            lost = snapshot.lost(source.path)
            texts = {path: snapshot.text(path) for path in {source.path, *(one.since.path for one in lost)}}
            return Report(source, facts=facts, lost=lost, texts=texts, notebooks=notebooks)
        found = settled(host, environment, lambda: snapshot.findings(source.path))
        findings = in_order(found)
        backwards = snapshot.backwards(source.path)
        texts = {path: snapshot.text(path) for path in _paths(findings, backwards)}
        return Report(source, findings, backwards=backwards, texts=texts, notebooks=notebooks)
    except UnreadableError as error:
        return Report(source, (_unreadable(source.path, str(error)),), texts={source.path: ""}, failure="unreadable")
    except Exception:
        return Report(source, failure="internal", traceback=traceback.format_exc())


def settled(host: Host, environment: Environment, ask: Callable[[], T]) -> T:
    """The answer once it is known what lies outside of the files, as far as anybody waits for that."""
    answer = ask()
    while environment.has_news or (environment.is_asking and environment.patience > 0):
        host.outside_known(environment.wait())
        answer = ask()
    return answer


def _unreadable(path: str, reason: str) -> Finding:
    return Finding("AG001", "unreadable-file", "error", f"cannot read this file: {reason}", Place(path, 0, 0))


def _paths(findings: Sequence[Finding], backwards: Sequence[Backward]) -> list[str]:
    """The files that a report points into."""
    paths = {place.path for one in backwards for place in (one.place, one.since) if place is not None}
    for finding in findings:
        paths.add(finding.place.path)
        paths.update(step.place.path for step in (*finding.related, *finding.assumes))
        paths.update(edit.place.path for fix in finding.fixes for edit in fix.edits)
        if finding.raises:
            paths.add(finding.raises.place.path)
    return sorted(paths)
