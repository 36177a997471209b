"""A run as tables: on the terminal, and as the page that the documentation keeps."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.results import Result, Run
from benchmarks.servers import BEFORE, OURS, SERVERS

_TITLES = {
    "typing": "Typing",
    "edits": "Whole edits",
    "size": "By the size of the file",
    "project": "By the size of the project",
    "start": "Start",
    "check": "On the command line",
    "repositories": "On the command line, repositories of training code",
}

_OPENING = """\
`python -m benchmarks` wrote this page. It compares this server with others for Python. They do not do each other's
work; what they share is the text, and the user who waits. What counts is the ratio within one run, on the same files
and by turns; milliseconds are those of one machine."""

_TEXTS = {
    "typing": """\
One keystroke is one incremental `didChange`; its answer is the diagnostics for exactly that version. All servers have
the same workspace open, and each gets a keystroke before anyone gets the next, so that whatever else the machine does
hits all alike. What is typed are whole statements, character by character: many of the versions do not parse. Our
times are of two kinds: a few milliseconds where nothing has to run again, which is so for half a statement, a comment,
or what is taken back, and what the function or the script takes to run where it does. The median may be of the one
kind and the 95th percentile of the other.""",
    "edits": """\
Edits that mean something, at random places of scripts that people train models with: another number, one more
statement, one statement less. Timed is the answer to each; it is then taken back.""",
    "size": "Generated classes and functions, typed into in the middle of the file: more lines are more of the same.",
    "project": """\
Modules that import each other in chains, and a script at their end; what is edited is the module that all chains lead
to. Timed is the answer for the edited file.""",
    "start": """\
A new process each time: from its start to the answer to `initialize`, and then from opening torch's `optim/adam.py`
to its first diagnostics.""",
    "check": """\
Folders of the installed torch, copied. Each tool may use all {cores} cores, and is told so in its own way. Warm is the
same command once more, when nothing has changed.""",
    "repositories": "Public repositories, each at one commit, copied. Cold and warm as above.",
}


IN_SECONDS = {"check", "repositories"}
_RUNS = {"start", *IN_SECONDS}


def show(run: Run, console: Console) -> None:
    for group, title in _TITLES.items():
        results = run.of(group)
        if not results:
            continue
        table = Table(title=f"{title}: {_unit(group)}", title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("case")
        table.add_column("server")
        for name in ("count", "median", "p95", "ours over theirs"):
            table.add_column(name, justify="right")
        for result in results:
            for at, name in enumerate(names_of([result])):
                table.add_row("" if at else result.case, name, *_row(result, name, group))
            table.add_section()
        console.print(table)
    for line in _remarks(run):
        console.print(line, highlight=False)


def brief(result: Result) -> str:
    """One line: the medians."""
    unit, factor = ("s", 1.0) if result.group in IN_SECONDS else ("ms", 1000.0)
    known = [name for name in names_of([result]) if result.seconds.get(name)]
    medians = ", ".join(f"{name} {_number(factor * result.median(name))} {unit}" for name in known)
    failed = "".join(f"; {name} failed: {reason}" for name, reason in result.failed.items())
    return f"{result.case}: {medians}{failed}"


def page(run: Run, figures: Sequence[str]) -> str:
    """Markdown; `figures` are paths relative to it, each named as its group is."""
    machine = run.machine
    parts = [
        "# Performance",
        "",
        _OPENING,
        "",
        f"- {machine['cores']} cores, {machine['architecture']}, {machine['gigabytes']} GB, {machine['system']}.",
        f"- Python {machine['python']}, torch {machine['torch']}. Measured on {run.day}.",
        f"- Versions: {', '.join(f'{name} {number}' for name, number in run.versions.items())}.",
        *(f"- {line}" for line in _remarks(run)),
        "",
        "By server: the median and the 95th percentile, after our median over theirs: ×0.5 means that we take half as",
        "long, ×2 that we take twice as long.",
    ]
    for group, title in _TITLES.items():
        results = run.of(group)
        if results:
            text = _TEXTS[group].format(cores=machine["cores"])
            parts += ["", f"## {title}", "", text, ""]
            parts += [f"![{title}]({figure})\n" for figure in figures if Path(figure).stem == group]
            parts += _markdown(results, group)
    parts += ["", "## How each is asked", "", *_asked(run)]
    return "\n".join(parts) + "\n"


def compared(now: Run, then: Run) -> list[str]:
    """Our ratios to the peers of two runs, where both have them."""
    old = {result.case: result for result in then.results}
    lines = []
    for result in now.results:
        for name in result.seconds:
            before = old[result.case].ratio(name) if result.case in old else None
            ratio = result.ratio(name)
            if name != OURS and ratio is not None and before is not None:
                change = f"{_times(before):>7} then, {_times(ratio):>7} now ({ratio / before:.2f})"
                lines.append(f"{result.case:<24} over {name:<20} {change}")
    return lines


def against(run: Run) -> list[str]:
    """How long each case takes here, relative to the other checkout in the same run, plain and compiled.

    What counts is each keystroke relative to the same one there: most cost nothing and some run a program, so that the
    median of either alone lies now here and now there.
    """
    lines = []
    for result in run.results:
        for now, then in BEFORE.items():
            ours, theirs = result.seconds.get(now, []), result.seconds.get(then, [])
            if ours and theirs:
                each = statistics.median(one / other for one, other in zip(ours, theirs, strict=False))
                every = sum(ours) / sum(theirs)
                lines.append(f"{result.case:<24} {now:<14} each {each:.3f}, all {every:.3f} of {then}")
    return lines


def names_of(results: Sequence[Result]) -> list[str]:
    found = dict.fromkeys(name for result in results for name in [*result.seconds, *result.failed])
    return sorted(found, key=lambda name: name != OURS)


def _markdown(results: Sequence[Result], group: str) -> list[str]:
    names = names_of(results)
    count = "runs" if group in _RUNS else "edits" if group == "edits" else "keystrokes"
    rows = [f"| {_unit(group)} | {count} | {' | '.join(names)} |", "|---|--:|" + "--:|" * len(names)]
    for result in results:
        cells = " | ".join(_cell(result, name, group) for name in names)
        rows.append(f"| {result.title} | {max(map(len, result.seconds.values()), default=0)} | {cells} |")
    return rows


def _row(result: Result, name: str, group: str) -> list[str]:
    if not result.seconds.get(name):
        return ["failed" if name in result.failed else "-"]
    unit, ratio = _factor(group), result.ratio(name)
    numbers = [_number(unit * result.median(name)), _number(unit * result.p95(name))]
    return [str(len(result.seconds[name])), *numbers, "" if name == OURS or ratio is None else _times(ratio)]


def _cell(result: Result, name: str, group: str) -> str:
    if name in result.failed:
        return "failed"
    if not result.seconds.get(name):
        return "-"
    unit = _factor(group)
    numbers = f"{_number(unit * result.median(name))} / {_number(unit * result.p95(name))}"
    ratio = result.ratio(name)
    return numbers if name == OURS or ratio is None else f"{_times(ratio)} ({numbers})"


def _remarks(run: Run) -> list[str]:
    found = []
    if run.missing:
        found.append(f"Not installed, so not measured: {', '.join(run.missing)}.")
    if run.parts > 1:
        found.append(f"From {run.parts} runs, each case from one of them.")
    if run.push:
        found.append("Every server pushed its diagnostics, also where it can be asked for them.")
    for result in run.results:
        found += [f"{name} failed in {result.case}: {reason}." for name, reason in result.failed.items()]
    return found


def _asked(run: Run) -> list[str]:
    ways = {
        "pull": "it is asked for diagnostics right after the change (`textDocument/diagnostic`).",
        "push": "it publishes diagnostics with the number of their version.",
        "never": "it is only started.",
    }
    lines = []
    for server in SERVERS:
        if server.name in run.versions:
            answers = "push" if run.push and server.answers == "pull" else server.answers
            lines.append(f"- **{server.name}**: {ways[answers]} {server.note}".rstrip())
    return lines


def _unit(group: str) -> str:
    return "seconds" if group in IN_SECONDS else "milliseconds"


def _factor(group: str) -> float:
    return 1.0 if group in IN_SECONDS else 1000.0


def _times(ratio: float) -> str:
    return f"×{_number(ratio)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
