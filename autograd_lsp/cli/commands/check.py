"""`autograd-lsp check`: the findings of files and folders."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from autograd_lsp.cli import formats, showing
from autograd_lsp.cli.checked import Checked, by_file, unsteady, with_text
from autograd_lsp.cli.fixing.outcome import Outcome
from autograd_lsp.cli.formats.beside import Beside
from autograd_lsp.cli.output import output
from autograd_lsp.cli.progress import warn_of_internal_error, with_progress
from autograd_lsp.cli.telling import tell
from autograd_lsp.cli.watch import watch
from autograd_lsp.config import ConfigError, Configuration, Layer
from autograd_lsp.config.layer import read_patterns
from autograd_lsp.config.selectors import matching, no_rule
from autograd_lsp.files.sources import STDIN, Source, UnreadableError, decode, discover
from autograd_lsp.process.exits import CLEAN, FOUND, USAGE, UsageError
from autograd_lsp.process.loading import load
from autograd_lsp.reports.baseline import Baseline, read_baseline, write_baseline
from autograd_lsp.reports.cache import lies_below
from autograd_lsp.reports.levels import fails
from autograd_lsp.reports.make import Execute, Task, make_reports
from autograd_lsp.reports.report import Report
from autograd_lsp.reports.surroundings import remark_here

if TYPE_CHECKING:
    from autograd_lsp.cli.fixing.fix import Fixed

_CONTRADICTIONS = (
    ("config", "no_config"),
    ("baseline", "write_baseline"),
    ("diff", "write_baseline"),
    ("diff", "output_file"),
    ("watch", "write_baseline"),
    ("watch", "fix"),
    ("watch", "diff"),
    ("add_ignore", "fix"),
    ("add_ignore", "watch"),
    ("add_ignore", "write_baseline"),
    ("quiet", "verbose"),
)


def run(options: argparse.Namespace) -> int:
    options.paths = options.paths or ([STDIN] if options.stdin_filename is not None else ["."])
    if options.watch:
        watch(lambda: _files(options), lambda: _run(options)[1])
    return _run(options)[0]


def _files(options: argparse.Namespace) -> list[str]:
    """What is asked for by now, as far as the configuration can be read."""
    try:
        return [source.path for source in _discovered(options, None, _configuration(options))]
    except ConfigError:
        return []


def _discovered(options: argparse.Namespace, stdin: Source | None, configuration: Configuration) -> list[Source]:
    return discover(
        options.paths,
        stdin,
        configuration,
        respect_gitignore=not options.no_respect_gitignore,
        force_exclude=options.force_exclude,
        tell=tell,
    )


def _run(options: argparse.Namespace) -> tuple[int, frozenset[str]]:
    """The exit code; and, where somebody watches, the files that it follows from beside those that are asked for."""
    options = argparse.Namespace(**vars(options))
    try:
        configuration = _configuration(options)
        sources = _discovered(options, _stdin_source(options), configuration)
        for source in sources:
            configuration.choice(source.path)  # what is wrong with it is said before the work begins
        _settle(options, configuration)
    except ConfigError as error:
        raise UsageError(str(error)) from error
    if options.show_files or options.show_settings:
        here = next((os.path.abspath(path) for path in options.paths if path != STDIN), os.getcwd())
        told = showing.files(sources) if options.show_files else showing.settings(configuration, here)
        print(*told, sep="\n")
        return CLEAN, frozenset()
    for line in showing.grounds(configuration, sources, os.getcwd()) if options.verbose else ():
        tell(line)
    baseline = None
    if options.baseline:
        baseline = read_baseline(options.baseline)
    others = configuration.looked_for() | ({os.path.abspath(options.baseline)} if baseline else set())

    def check(texts: Mapping[str, str]) -> Checked:
        return _checked(options, sources, configuration, baseline, texts)

    with output(options.output_file) as stream:
        if options.fix or options.diff or options.add_ignore:
            return _fix(check, sources, configuration, options, stream), frozenset()
        checked = check({})
        return _conclude(checked, options, stream), checked.rests_on | others


def _fix(
    check: Callable[[Mapping[str, str]], Checked],
    sources: Sequence[Source],
    configuration: Configuration,
    options: argparse.Namespace,
    stream: TextIO,
) -> int:
    if options.add_ignore or options.unsafe_fixes:
        others = load("autograd_lsp.cli.fixing.others")
        as_asked = others.with_comments if options.add_ignore else others.with_any_fix
        plainly, check = check, lambda texts: as_asked(plainly(texts))
    fixed: Fixed = load("autograd_lsp.cli.fixing.fix").make_fixes(check, sources, configuration, write=not options.diff)
    for line in fixed.complaints:
        tell(line)
    if options.diff:
        load("autograd_lsp.cli.fixing.diff").write(sys.stdout.buffer, fixed.changes)
        verb = "ignore" if options.add_ignore else "fix"
        print(f"Would {verb} {fixed.said}." if fixed.changes else _nothing(fixed, options), file=sys.stderr)
        failed = any(report.failure for report in fixed.checked.reports)
        return USAGE if failed else FOUND if fixed.changes else CLEAN
    if fixed.stdin is not None:  # the text takes the place of the report
        sys.stdout.buffer.write(fixed.stdin)
        stream = sys.stderr if stream is sys.stdout else stream
    verb = "Ignored" if options.add_ignore else "Fixed"
    notes = (f"{verb} {fixed.said}.",) if fixed.changes else ()
    return _conclude(fixed.checked, options, stream, notes, fixed.outcome)


def _conclude(
    checked: Checked,
    options: argparse.Namespace,
    stream: TextIO,
    notes: Sequence[str] = (),
    outcome: Outcome | None = None,
) -> int:
    """Say what was found, and what there is to say beside it; the exit code."""
    reports = checked.reports
    if options.write_baseline:
        notes = (*notes, write_baseline(options.write_baseline, reports))
        reports = [report if report.failure else replace(report, findings=()) for report in reports]
    beside = Beside(
        options.statistics,
        options.fail_on,
        (*notes, *checked.notes),
        options.coverage,
        options.color,
        options.quiet,
        outcome,
    )
    formats.write(options.format, stream, reports, beside)
    if any(report.failure for report in checked.reports):
        return USAGE
    failing = any(fails(finding, options.fail_on) for report in reports for finding in report.findings)
    return FOUND if failing else CLEAN


def _checked(
    options: argparse.Namespace,
    sources: Sequence[Source],
    configuration: Configuration,
    baseline: Baseline | None,
    texts: Mapping[str, str],
) -> Checked:
    """`texts`, by real path, count instead of what the files hold."""
    sources = [with_text(source, texts) for source in sources]
    cached = not options.no_cache and all(source.text is None for source in sources)
    if cached and (inside := lies_below(options.paths)):
        tell(f"the cache {inside} lies inside what is checked, and is not used")
        cached = False
    made = make_reports(
        sources,
        "findings",
        options.jobs,
        configuration,
        cached=cached,
        texts=texts,
        grounds=options.watch,
        execute=_execute(options),
    )
    raw = list(_watched(made, len(sources)))
    reports = by_file(raw, configuration)
    notes: tuple[str, ...] = ()
    if baseline is not None:
        asked = {source.path for source in sources}
        reports, notes = baseline.without_known(reports, asked, configuration.choice)
    remark = remark_here(os.getcwd(), configuration)
    notes = notes if remark is None else (*notes, f"{remark}.")
    return Checked(reports, unsteady(raw), notes, frozenset().union(*(report.rests_on for report in raw)))


def _nothing(fixed: Fixed, options: argparse.Namespace) -> str:
    """With a word on what `--unsafe-fixes` would do."""
    more = sum(bool(finding.fixes) for report in fixed.checked.reports for finding in report.findings)
    if options.unsafe_fixes or options.add_ignore or not more:
        return "Nothing to fix."
    return f"Nothing to fix safely; {more} fixable with `--unsafe-fixes`."


def _execute(options: argparse.Namespace) -> Execute | None:
    if options.executor == "process":
        return None

    def execute(sources: Sequence[Source], task: Task) -> Iterator[Report | None]:
        if sources:
            try:
                cluster = load("autograd_lsp.reports.cluster")
            except ImportError as error:
                raise UsageError(f"--executor dask needs `pip install distributed`: {error}") from error
            yield from cluster.make_on_cluster(options.dask_scheduler, sources, task)

    return execute


def _settle(options: argparse.Namespace, configuration: Configuration) -> None:
    """What is not said on the command line is as the folder is configured in which it runs."""
    folder = os.getcwd()
    options.format = options.format or configuration.output_format(folder) or "text"
    options.fail_on = options.fail_on or configuration.fail_on(folder) or "warning"
    if options.jobs is None and (jobs := configuration.jobs(folder)) is not None and options.executor != "dask":
        options.jobs = min(jobs, os.cpu_count() or 1)
    if options.baseline is None and not options.write_baseline:
        options.baseline = configuration.baseline(folder)


def _configuration(options: argparse.Namespace) -> Configuration:
    for one, other in _CONTRADICTIONS:
        if getattr(options, one) and getattr(options, other):
            raise UsageError(f"--{one} and --{other.replace('_', '-')} contradict each other")
    if options.executor == "dask" and options.jobs is not None:
        raise UsageError(
            "--jobs and --executor dask contradict each other: the cluster determines the number of workers"
        )
    if options.executor != "dask" and options.dask_scheduler is not None:
        raise UsageError("--dask-scheduler needs --executor dask")
    if options.watch and STDIN in options.paths:
        raise UsageError("standard input cannot be watched")
    if (options.fix or options.diff) and STDIN in options.paths and len(options.paths) > 1:
        raise UsageError("standard input can only be fixed on its own, without other paths")
    for word in (*(options.select or ()), *options.extend_select, *options.ignore):
        if not matching(word):
            raise UsageError(no_rule(word))
    over = Layer(
        root=os.getcwd(),
        select=options.select,
        extend_select=options.extend_select,
        ignore=options.ignore,
        exclude=read_patterns(list(options.exclude), "--exclude"),
    )
    return Configuration(over=over, file=options.config, isolated=options.no_config)


def _watched(reports: Iterator[Report], count: int) -> Iterator[Report]:
    for report in with_progress(reports, count):
        if report.failure == "internal":
            warn_of_internal_error(report)
        yield report


def _stdin_source(options: argparse.Namespace) -> Source | None:
    if STDIN not in options.paths:
        if options.stdin_filename is not None:
            raise UsageError("--stdin-filename is for standard input: give no paths, or include `-`")
        return None
    shown = options.stdin_filename or "<stdin>"
    try:
        data = sys.stdin.buffer.read()
        return Source(shown, os.path.abspath(shown), decode(data), data)
    except UnreadableError as error:
        raise UsageError(f"standard input: {error}") from error
