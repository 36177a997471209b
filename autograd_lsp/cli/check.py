"""`autograd-lsp check`: the findings of files and folders."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TextIO

from analyzers.report import Finding
from autograd_lsp.cli.exits import CLEAN, FOUND, USAGE, UsageError
from autograd_lsp.cli.levels import LEVELS, fails
from autograd_lsp.cli.output import output
from autograd_lsp.cli.progress import with_progress
from autograd_lsp.cli.reports import Report, make_reports, warn_of_internal_error
from autograd_lsp.cli.sources import STDIN, Source, UnreadableError, decode, discover, shown_path
from autograd_lsp.config import ConfigError, Configuration, Layer
from autograd_lsp.config.rules import matching

FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit")


def add(commands: Any) -> None:
    parser: argparse.ArgumentParser = commands.add_parser("check", help="report autograd faults", description=__doc__)
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="file, folder, or - for standard input")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--output-file", metavar="FILE", help="write there, not to standard output")
    parser.add_argument(
        "--select", metavar="RULE,...", type=_names, help="report only these: names, codes, beginnings of codes, or ALL"
    )
    parser.add_argument("--ignore", metavar="RULE,...", type=_names, default=(), help="leave these rules out")
    parser.add_argument("--config", metavar="FILE", help="read this configuration file, and no other")
    parser.add_argument("--no-config", action="store_true", help="read no configuration file")
    parser.add_argument("--fail-on", choices=tuple(LEVELS), default="warning", help="exit 1 from this severity on")
    parser.add_argument("--stdin-filename", metavar="NAME", help="the path that standard input stands for")
    parser.add_argument("--statistics", action="store_true", help="count the findings of each rule")
    parser.add_argument("--no-cache", action="store_true", help="neither use nor keep findings of earlier checks")
    parser.add_argument("--jobs", metavar="N", type=_positive, help="number of processes")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with output(options.output_file) as stream:
        try:
            reports = _reports(options, _configuration(options))
        except ConfigError as error:
            raise UsageError(str(error)) from error
        _write(stream, reports, options)
    if any(report.failure for report in reports):
        return USAGE
    failing = any(fails(finding, options.fail_on) for report in reports for finding in report.findings)
    return FOUND if failing else CLEAN


def _write(stream: TextIO, reports: list[Report], options: argparse.Namespace) -> None:
    """Each format's module is loaded for it alone; rich is slow to import."""
    if options.format == "json":
        from autograd_lsp.cli import check_json

        check_json.write(stream, reports, options.statistics)
    elif options.format == "sarif":
        from autograd_lsp.cli import check_sarif

        check_sarif.write(stream, reports, options.statistics)
    elif options.format == "github":
        from autograd_lsp.cli import check_github

        check_github.write(stream, reports, options.statistics)
    elif options.format == "gitlab":
        from autograd_lsp.cli import check_gitlab

        check_gitlab.write(stream, reports, options.statistics)
    elif options.format == "junit":
        from autograd_lsp.cli import check_junit

        check_junit.write(stream, reports, options.statistics, options.fail_on)
    else:
        from autograd_lsp.cli import check_text

        check_text.write(stream, reports, options.statistics)


def _reports(options: argparse.Namespace, configuration: Configuration) -> list[Report]:
    sources = discover(options.paths, _stdin_source(options), configuration)
    for source in sources:
        configuration.choice(source.path)  # what is wrong with it is said before the work begins
    cached = not options.no_cache and all(source.text is None for source in sources)
    made = make_reports(sources, "findings", options.jobs, configuration, cached=cached)
    return _by_file(list(_watched(made, len(sources))), configuration)


def _configuration(options: argparse.Namespace) -> Configuration:
    if options.config is not None and options.no_config:
        raise UsageError("--config and --no-config contradict each other")
    for word in (*(options.select or ()), *options.ignore):
        if not matching(word):
            raise UsageError(f"there is no rule `{word}`; `autograd-lsp rule` lists them")
    over = Layer(root=os.getcwd(), select=options.select, ignore=options.ignore)
    return Configuration(over=over, file=options.config, isolated=options.no_config)


def _watched(reports: Iterator[Report], count: int) -> Iterator[Report]:
    for report in with_progress(reports, count):
        if report.failure == "internal":
            warn_of_internal_error(report)
        yield report


def _by_file(reports: list[Report], configuration: Configuration) -> list[Report]:
    """Each finding under the file that it points into, once, whichever file's run came upon it.

    Nothing is said of a file that was not asked for and is excluded.
    """
    own = {report.source.path: report for report in reports}
    placed: dict[str, dict[tuple[object, ...], Finding]] = {path: {} for path in own}
    texts: dict[str, dict[str, str]] = {path: dict(report.texts) for path, report in own.items()}
    notebooks = {path: notebook for report in reports for path, notebook in report.notebooks.items()}
    for report in reports:
        for finding in report.findings:
            path = finding.place.path
            if path not in own and configuration.excludes(path):
                continue
            key = (finding.code, finding.place, finding.raises and finding.raises.place, finding.effect)
            known = placed.setdefault(path, {})
            if key not in known or LEVELS[finding.severity] < LEVELS[known[key].severity]:
                known[key] = finding
            texts.setdefault(path, {}).update(report.texts)
    return [
        replace(
            own.get(path) or Report(Source(shown_path(path), path)),
            findings=tuple(sorted(found.values(), key=lambda f: (f.place, f.code))),
            texts=texts[path],
            notebooks=notebooks,
        )
        for path, found in placed.items()
    ]


def _stdin_source(options: argparse.Namespace) -> Source | None:
    if STDIN not in options.paths:
        if options.stdin_filename is not None:
            raise UsageError("--stdin-filename needs `-` among the paths")
        return None
    shown = options.stdin_filename or "<stdin>"
    try:
        return Source(shown, os.path.abspath(shown), decode(sys.stdin.buffer.read()))
    except UnreadableError as error:
        raise UsageError(f"standard input: {error}") from error


def _names(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number
