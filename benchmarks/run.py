"""One run: its cases in order, with progress on standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.cases import Case, CheckCase, EditCase, StartCase, TypingCase
from benchmarks.checks import measure_checks
from benchmarks.client import Failed
from benchmarks.measure import Effort, Tick, measure_edits, measure_start, measure_typing
from benchmarks.report import brief
from benchmarks.results import Result, Run
from benchmarks.servers import Tool


async def measure(
    run: Run,
    cases: Sequence[Case],
    tools: Sequence[Tool],
    effort: Effort,
    folder: Path,
    told: Console,
    keep: Callable[[], None],
    quick: bool,
) -> None:
    """Adds to the run what each case gives, and keeps it; a case that cannot be set up is told and left out."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=told) as progress:
        for case in cases:
            task = progress.add_task(case.name, total=_steps(case, tools, effort))

            try:
                results = await _measured(case, tools, effort, folder, partial(progress.advance, task), quick)
            except (LookupError, OSError, Failed) as error:
                progress.console.print(f"{case.name}: {error}", highlight=False)
                continue
            finally:
                progress.remove_task(task)
            run.results += results
            keep()
            for result in results:
                progress.console.print(brief(result), highlight=False, soft_wrap=True)


async def _measured(
    case: Case, tools: Sequence[Tool], effort: Effort, folder: Path, tick: Tick, quick: bool
) -> list[Result]:
    match case:
        case TypingCase():
            return [await measure_typing(case, tools, effort, folder, tick)]
        case EditCase():
            return [await measure_edits(case, tools, effort, folder, tick)]
        case StartCase():
            return await measure_start(case, tools, effort, folder, tick)
        case CheckCase():
            return measure_checks(case, tools, effort, folder, tick, quick)


def _steps(case: Case, tools: Sequence[Tool], effort: Effort) -> int:
    match case:
        case TypingCase():
            return effort.warm_up + effort.keystrokes
        case EditCase():
            return effort.edits
        case StartCase():
            return effort.starts
        case CheckCase():
            return effort.checks * sum(len(tool.checks()) for tool in tools)
